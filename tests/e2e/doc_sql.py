"""The SQL of docs/fleet.md: each statement runs on an old and on a current ClickHouse, and its figures are sonde's."""

import json
import re
import time

import clickhouse
import harness
import shards
from harness import SOURCE_ROOT, check, sonde

# cpu-time of each function that is a leaf, in ns; inner is inlined into outer.
LEAVES = {"main": 250_000_000, "parse": 1_500_000_000, "inner": 750_000_000}
LOST = 7
AGO_S = 600
PROFILE = """sonde-dump 1
start-unix-ns {start}
metric "cpu-time" "ns" default
metric "samples" "count"
object user "/usr/bin/app" "ab12"
function "main" object "/usr/bin/app" file "/build/app/main.c" line 1
frame file "/build/app/main.c" line 3 addr 0x1000
function "parse" object "/usr/bin/app"
frame addr 0x1200
function "outer" object "/usr/bin/app"
frame addr 0x1300
function "inner" object "/usr/bin/app"
frame addr 0x1300 inline
stack 0
stack 1 "main"
stack 2 "parse"
stack 2 "outer"
stack 3 "inner"
sample 1 time 1000000 weight 250000000 1
sample 2 time 2000000 weight 1000000000 1
sample 2 time 61000000000 weight 500000000 1
sample 4 time 62000000000 weight 750000000 1
note lost {lost} "samples were lost: a test"
end
"""


def statements():
	"""Those of each block of SQL in the page."""
	blocks = re.findall(r"^```sql\n(.*?)^```$", (SOURCE_ROOT / "docs" / "fleet.md").read_text(), re.MULTILINE | re.DOTALL)
	return [[one.strip() for one in block.split(";") if one.strip()] for block in blocks]


def selects():
	"""{what the columns are called: statement} of the blocks that read."""
	found = {tuple(re.findall(r"AS (\w+)", block[0].partition("\nFROM")[0])): block[0]
		for block in statements() if block[0].startswith("SELECT")}
	assert len(found) == 6, found
	return found


def macros(sql):
	"""A statement as a user of Grafana writes it, and as the ClickHouse data source sends it: pkg/macros of
	grafana/clickhouse-datasource."""
	now = int(time.time())
	written = sql.replace("time >= now() - 86400", "$__timeFilter(time)")
	assert written != sql or "now() - 86400" not in sql
	sent = re.sub(r"\$__timeFilter\((\w+)\)", rf"\1 >= toDateTime({now - 86400}) AND \1 <= toDateTime({now})", written)
	assert "$__" not in sent, sent
	return sent


def folded(rows):
	"""{stack: weight} of a nested set: (level, label, value, self) in the order of a flame graph's boxes."""
	path, values, found = [], [], {}
	for level, label, value, own in rows:
		level, value, own = int(level), int(value), int(own)
		assert level <= len(path) and (level > 0) == bool(path), rows
		path[level:], values[level:] = [label], [value]
		# What is called takes no more than its caller has left.
		if level:
			values[level - 1] -= value
			assert values[level - 1] >= 0, rows
		values[level] -= own
		if own:
			found[";".join(path[1:])] = own
	return found


def filled(server, folder):
	"""A database with a profile of the service that the page asks for."""
	database = clickhouse.fresh_database()
	store = f"clickhouse://127.0.0.1:{server.port}/{database}"
	start = (time.time_ns() // 60_000_000_000 - AGO_S // 60) * 60_000_000_000
	(folder / "app.dump").write_text(PROFILE.format(start=start, lost=LOST))
	check(sonde("fleet", "init", "--store", store))
	check(sonde("push", "--store", store, "--service", "api", "--host", "web1", "--label", "version=1.4", folder / "app.dump"))
	return database, store


def agrees(server, folder, expand=lambda sql: sql):
	database, store = filled(server, folder)
	rows = {columns: server.rows(expand(sql), database=database, max_block_size=256) for columns, sql in selects().items()}
	assert [round(float(cores) * 60e9) for _, cores in rows["t", "cores"]] == [1_250_000_000, 1_250_000_000], rows
	assert {version for _, version, _ in rows["t", "version", "cores"]} == {"1.4"}, rows
	exclusive = {name: round(float(seconds) * 1e9) for name, seconds in rows["seconds",]}
	report = json.loads(check(sonde("report", "--store", store, "--format", "json", "--limit", "0")).out)
	assert exclusive == LEAVES, rows
	assert exclusive == {row["name"]: row["exclusive"] for row in report["rows"] if row["exclusive"]}, report
	flame = rows["level", "label", "value", "self"]
	assert flame[0] == ["0", "all", str(report["total"]), "0"], flame
	lines = check(sonde("report", "--store", store, "--format", "folded")).out.splitlines()
	assert folded(flame) == {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}, flame
	kinds = [row[1] for row in server.rows(f"DESCRIBE TABLE ({expand(selects()['level', 'label', 'value', 'self'])})", database=database)]
	assert kinds == ["UInt32", "String", "Int64", "Int64"], kinds
	((host, _, seconds_ago),) = rows["last_interval", "seconds_ago"]
	assert host == "web1" and int(seconds_ago) > AGO_S - 180, rows
	# The notes of a recording are in each of its minutes.
	assert [row[3] for row in rows[()]] == [str(LOST)] * 2, rows


def test_selects_on_an_old_version(folder):
	agrees(shards.shared(), folder)


def test_selects_on_a_current_version(folder):
	agrees(shards.current(), folder)


def test_selects_with_the_macros_of_grafana(folder):
	"""In the range of a dashboard, which is given in seconds since 1970."""
	agrees(shards.shared(), folder, macros)


def test_selects_with_the_macros_of_grafana_on_a_current_version(folder):
	agrees(shards.current(), folder, macros)


def test_other_statements_on_a_current_version(folder):
	server = shards.current()
	database, _ = filled(server, folder)
	for block in statements():
		for statement in block:
			# Users are not for a library: these are parsed here, and doc_users.py tries what they grant.
			words = "EXPLAIN AST " if re.match("CREATE USER|GRANT", statement) else ""
			server.sql(words + statement, database=database)


if __name__ == "__main__":
	harness.main()
