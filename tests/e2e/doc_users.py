"""The users of docs/fleet.md: each may do what it is for and nothing else, on an old and on a current ClickHouse.

A current server is an engine that knows one user, so the page's grants are given to it for one user after the other.
"""

import hashlib
import os
import re
import time

import clickhouse
import doc_sql
import harness
import shards
from harness import SOURCE_ROOT, check, sonde

PASSWORDS = {"sonde_admin": "ADMIN-PASSWORD", "sonde_sender": "SENDER-PASSWORD", "sonde_reader": "READER-PASSWORD"}
TABLES = ("frames", "stacks", "profiles", "commits", "hours", "hour_commits", "schema")
# Statements that no user needs.
WRONG = ("DROP TABLE profiles", "DROP DATABASE sonde", "CREATE TABLE other (x UInt8) ENGINE = Log", "CREATE DATABASE other")


def grants(user):
	"""The page's grants for a user, without the name."""
	found = [statement.removesuffix(f" TO {user}") for block in doc_sql.statements() for statement in block
		if statement.startswith("GRANT ") and statement.endswith(f" TO {user}")]
	assert found, user
	return found


def users_file():
	"""The page's users for versions without grants, with their passwords."""
	page = (SOURCE_ROOT / "docs" / "fleet.md").read_text()
	text, = (block for block in re.findall(r"^```xml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL) if "<users>" in block)
	for user in PASSWORDS:
		digest = hashlib.sha256(PASSWORDS[user].encode()).hexdigest()
		text, changes = re.subn(rf"(<{user}>\s*<password_sha256_hex>)…", rf"\g<1>{digest}", text)
		assert changes == 1, user
	return text


class Fleet:
	"""The commands that need a store, as its users run them."""

	def __init__(self, server, folder):
		self.server, self.url = server, f"clickhouse://127.0.0.1:{server.port}/sonde"
		self.files = {hours: self.profile(folder, hours) for hours in (3, 240)}
		self.credentials = {None: []}
		for user, password in PASSWORDS.items():
			path = folder / f"{user}.credentials"
			path.write_text(f"{user}:{password}\n")
			path.chmod(0o600)
			self.credentials[user] = ["--credentials", path]
		(folder / "symbols").mkdir()
		self.words = {"init": ("fleet", "init", "--keep", "20"), "keep": ("fleet", "init", "--keep", "30"),
			"push": ("push", "--service", "api", *self.files.values()),
			"symbols": ("push", "--symbols", folder / "symbols"), "report": ("report", "--service", "api", "--format", "folded"),
			"status": ("fleet", "status"), "rollup": ("fleet", "rollup"), "retain": ("fleet", "retain", "--keep", "5")}

	def profile(self, folder, hours):
		"""A file of so many hours ago, with a function that has no name."""
		path = folder / f"{hours}.folded"
		path.write_text("main;parse 7\n")
		then = time.time() - 3600 * hours
		os.utime(path, (then, then))
		return path

	def run(self, user, command):
		return sonde(*self.words[command], "--store", self.url, *self.credentials[user])

	def refused(self, user, *commands):
		"""Each fails with a line that names the server, and gives its words."""
		for command in commands:
			done = check(self.run(user, command), 1)
			line, = done.err.splitlines()
			assert re.fullmatch(rf"sonde: (\S+: )?127.0.0.1:{self.server.port}: (\w+: )?(Not enough privileges|Cannot).+"
				r" \(code \d+, HTTP status \d+\); --credentials can name a user who may do that", line), (command, done)
			assert "xception" not in line, done
			assert not done.out or command == "status", (command, done)

	def wrong(self, user, statements):
		"""What a user is not for is refused."""
		headers = {"X-ClickHouse-User": user, "X-ClickHouse-Key": PASSWORDS[user]}
		for statement in statements:
			status, _, answer = self.server.request("POST", "/?database=sonde", statement.encode(), headers)
			assert status != 200, (user, statement)
			assert re.search(rb"rivileges|readonly|prohibited|denied|[Cc]annot", answer), (user, statement, answer)


def unchanged(server):
	"""The tables have what was pushed, and are all there."""
	rows = {table: server.count(table, "sonde", final=True) for table in TABLES}
	assert rows == {"frames": 2, "stacks": 1, "profiles": 2, "commits": 2, "hours": 0, "hour_commits": 0, "schema": 1}, rows


def test_grants_on_a_current_version(folder):
	with shards.current_alone() as server:
		server.users = PASSWORDS
		server.limit(grants("sonde_admin"))
		fleet = Fleet(server, folder)
		check(fleet.run("sonde_admin", "init"))
		fleet.wrong("sonde_admin", ("DROP DATABASE sonde", "CREATE DATABASE other"))

		server.limit(grants("sonde_sender"))
		check(fleet.run("sonde_sender", "push"))
		fleet.refused("sonde_sender", "init", "symbols", "report", "status", "rollup", "retain")
		fleet.wrong("sonde_sender", (*WRONG, *(f"SELECT count() FROM {table}" for table in TABLES if table != "schema"), "INSERT INTO schema VALUES (9, now())",
			"TRUNCATE TABLE profiles", "ALTER TABLE profiles DELETE WHERE 1"))

		server.limit(grants("sonde_reader"))
		assert check(fleet.run("sonde_reader", "report")).out == "main;parse 14\n"
		assert "profiles has 2 rows" in check(fleet.run("sonde_reader", "status")).out
		fleet.refused("sonde_reader", "push", "init", "rollup", "retain")
		fleet.wrong("sonde_reader", (*WRONG, "INSERT INTO schema VALUES (9, now())", "TRUNCATE TABLE profiles", "ALTER TABLE profiles DELETE WHERE 1"))

		server.limit(grants("sonde_admin"))
		unchanged(server)
		for command, word in (("rollup", "summed 1 hour"), ("retain", "dropped 1 partition"), ("keep", "changed how long 1 table"), ("symbols", ""),
			("push", "sent 1 profile"), ("report", ""), ("status", "")):
			assert word in check(fleet.run("sonde_admin", command)).err, command


def test_users_on_an_old_version(folder):
	with shards.server(users=users_file()) as server:
		fleet = Fleet(server, folder)
		for user in ("sonde_sender", "sonde_reader"):
			fleet.refused(user, "init")
		check(fleet.run("sonde_admin", "init"))
		check(fleet.run("sonde_sender", "push"))
		fleet.refused("sonde_sender", "init", "retain")
		fleet.wrong("sonde_sender", (*WRONG, "TRUNCATE TABLE profiles", "ALTER TABLE profiles DROP PARTITION 20260101", "RENAME TABLE profiles TO p",
			"SELECT * FROM default.x"))
		assert check(fleet.run("sonde_reader", "report")).out == "main;parse 14\n"
		assert "profiles has 2 rows" in check(fleet.run("sonde_reader", "status")).out
		fleet.refused("sonde_reader", "push", "rollup", "retain")
		fleet.wrong("sonde_reader", (*WRONG, "INSERT INTO schema VALUES (9, now())", "TRUNCATE TABLE profiles", "SELECT * FROM default.x"))
		unchanged(server)
		for command, word in (("rollup", "summed 1 hour"), ("retain", "dropped 1 partition"), ("push", "sent 1 profile"), ("report", ""),
			("status", "")):
			assert word in check(fleet.run("sonde_admin", command)).err, command
		for user in PASSWORDS:
			bad = folder / "bad"
			bad.write_text(f"{user}:wrong\n")
			bad.chmod(0o600)
			done = check(sonde("report", "--store", fleet.url, "--credentials", bad), 1)
			assert "assword" in done.err, done


if __name__ == "__main__":
	harness.main()
