"""ClickHouse servers that live as long as the program that starts them: for tests and the bench.

`Server` is Debian's clickhouse-server, 18.16; `Current` is the engine of npm's package chdb behind chdb_server.py. Both
have a temporary folder, a free port of 127.0.0.1 and the same methods. Without the program, or the memory, they raise
Missing. Nothing here needs the tests' harness, which has another one in bench/.

A server dies with the thread that started it, even if that is killed: start them in the main thread.
"""

import atexit
import contextlib
import functools
import gzip
import http.client
import itertools
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).parent
START_SECONDS = 120
# libchdb has 566 MB, and takes 200 MB of its own at first.
CURRENT_MEMORY_KB = 2 << 20
PASSWORD = "secret'\\ &%+"

CONFIG = """<yandex>
	<logger><level>warning</level><console>1</console></logger>
	<http_port>{port}</http_port>{tls}
	<listen_host>127.0.0.1</listen_host>
	<mark_cache_size>67108864</mark_cache_size>
	<uncompressed_cache_size>0</uncompressed_cache_size>
	<path>{folder}/data/</path>
	<tmp_path>{folder}/data/tmp/</tmp_path>
	<user_files_path>{folder}/data/user_files/</user_files_path>
	<format_schema_path>{folder}/data/format_schemas/</format_schema_path>
	<users_config>{folder}/users.xml</users_config>
	<default_profile>default</default_profile>
	<default_database>default</default_database>
	<timezone>UTC</timezone>{compression}
	<query_log><database>system</database><table>query_log</table></query_log>
</yandex>
"""
TLS = """
	<https_port>{port}</https_port>
	<openSSL><server>
		<certificateFile>{folder}/cert.pem</certificateFile><privateKeyFile>{folder}/key.pem</privateKeyFile>
		<verificationMode>none</verificationMode><loadDefaultCAFile>false</loadDefaultCAFile>
	</server></openSSL>"""
# 18.16 knows neither codecs of columns nor sizes of a table's blocks: what docs/fleet.md says for it.
ZSTD = """
	<compression><case>
		<min_part_size>0</min_part_size><min_part_size_ratio>0</min_part_size_ratio><method>zstd</method><level>3</level>
	</case></compression>"""
BIG_BLOCKS = """<min_compress_block_size>4194304</min_compress_block_size>
		<max_compress_block_size>4194304</max_compress_block_size>"""
USERS = """<yandex>
	<profiles><default><log_queries>{log_queries:d}</log_queries>{blocks}</default><reader><readonly>2</readonly></reader></profiles>
	<quotas><default/></quotas>
	<users>
		<default><password></password>{user}</default>
		<guarded><password><![CDATA[{password}]]></password>{user}</guarded>
		<reader><password></password><networks><ip>127.0.0.1</ip></networks><profile>reader</profile><quota>default</quota></reader>
	</users>
</yandex>
"""
USER = "<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>"


class Missing(Exception):
	"""What this machine lacks to run a server."""


class SqlError(Exception):
	"""What a server answers to a bad query."""

	def __init__(self, status, code, text):
		super().__init__(f"HTTP {status}, code {code}: {text[:1000]}")
		self.status, self.code, self.text = status, code, text


def fresh_database(numbers=itertools.count(1)):
	"""The name of a database that no server has yet, so that cases can share servers."""
	return f"sonde_{next(numbers)}"


def free_port():
	with socket.socket() as probe:
		probe.bind(("127.0.0.1", 0))
		return probe.getsockname()[1]


def available_kb():
	for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
		if line.startswith("MemAvailable:"):
			return int(line.split()[1])
	return 0


class Store:
	"""A running server. url: where it listens; folder: its data and its log."""

	def __init__(self):
		self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sonde-clickhouse-"))
		self.process = self.port = None
		atexit.register(self.stop)
		try:
			self.start()
		except BaseException:
			self.stop()
			raise

	# ---- running ----

	def launch(self, command, **more):
		"""Starts the server's program; what it prints goes to its log."""
		with open(self.folder / "log", "ab") as log:
			self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, command)], stdin=subprocess.DEVNULL,
				**{"stdout": log, **more}, stderr=log, start_new_session=True, env={**os.environ, "TZ": "UTC"})

	def log(self):
		return (self.folder / "log").read_text(errors="replace")

	def wait_until_ready(self):
		"""Whether it answers; False if its process has ended."""
		deadline = time.monotonic() + START_SECONDS
		while self.process.poll() is None:
			with contextlib.suppress(OSError, http.client.HTTPException):
				if self.request("GET", "/ping")[0] == 200:
					return True
			if time.monotonic() > deadline:
				raise AssertionError(f"the server does not answer: {self.log()[-2000:]}")
			time.sleep(0.02)
		return False

	@property
	def pid(self):
		return self.process.pid

	@property
	def url(self):
		return f"http://127.0.0.1:{self.port}"

	def kill(self):
		"""kill -9, as if the machine had ended, but for what the kernel still writes to its disk."""
		self.process.kill()
		self.process.wait()

	def restart(self):
		"""Starts again after kill() or terminate(), on the same port with the same data."""
		self.start()

	def terminate(self):
		"""Ends the server as an administrator would."""
		self.process.terminate()
		try:
			self.process.wait(60)
		except subprocess.TimeoutExpired:
			self.kill()

	def stop(self):
		"""Ends it for good; its folder goes with it."""
		atexit.unregister(self.stop)
		if self.process:
			self.kill()
		shutil.rmtree(self.folder, ignore_errors=True)

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.stop()

	# ---- asking ----

	def request(self, method, target, body=b"", headers=None, timeout=300):
		"""(status, headers, body) of one HTTP request."""
		client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
		try:
			client.request(method, target, body=body, headers=headers or {})
			response = client.getresponse()
			return response.status, response.headers, response.read()
		finally:
			client.close()

	def bytes_of(self, query, data=None, database=None, packed=False, **settings):
		"""The bytes of a query's result; data: what an INSERT inserts. settings go into the URL."""
		options = {**({"database": database} if database else {}), **settings}
		headers, body = {}, query.encode() if isinstance(query, str) else query
		if data is not None:
			options["query"], body = body, gzip.compress(data, 1) if packed else data
			headers = {"Content-Encoding": "gzip"} if packed else {}
		status, headers, answer = self.request("POST", f"/?{urllib.parse.urlencode(options)}", body, headers)
		if status != 200:
			raise SqlError(status, int(headers.get("X-ClickHouse-Exception-Code") or code_of(answer)), answer.decode("utf-8", "replace"))
		return answer

	def sql(self, query, data=None, **more):
		"""The result of a query as text, without the last line's end."""
		return self.bytes_of(query, data, **more).decode("utf-8", "replace").rstrip("\n")

	def rows(self, query, **more):
		"""The result as lists of fields, as TabSeparated escapes them."""
		text = self.sql(query, **more)
		return [line.split("\t") for line in text.split("\n")] if text else []

	def count(self, table, database=None, final=False):
		"""How many rows a table has; final: without those that newer ones replace."""
		return int(self.sql(f"SELECT count() FROM {table}{' FINAL' if final else ''}", database=database))

	def version(self):
		return tuple(map(int, self.sql("SELECT version()").split(".")[:2]))

	def merged(self, table, database):
		"""Merges all parts of a table, so that its size depends on its rows alone."""
		self.sql(f"OPTIMIZE TABLE {table} FINAL", database=database)

	def stored_bytes(self, table, database):
		"""What the active parts of a table take on the disk."""
		return int(self.sql("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND "
			f"database = '{database}' AND table = '{table}'"))

	def cpu_seconds(self):
		"""CPU time that the server has used since it started, merges in the background included."""
		fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
		return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def code_of(answer):
	"""The number of an error: 18.16 sends no header for it."""
	begin, _, rest = answer.partition(b"Code: ")
	digits = rest.partition(b",")[0].partition(b".")[0]
	return int(digits) if not begin and digits.isdigit() else 0


class Server(Store):
	"""Debian's clickhouse-server. Users: default without a password, guarded with PASSWORD, reader who may not write.
	is_tls: it also listens for HTTPS, at tls_url; certificate is the file of the authority to trust. method: how parts
	are compressed, lz4 or zstd. log_queries: statement_ms can tell how long statements took. users: more of them, as a file of users.d."""

	def __init__(self, is_tls=False, method="lz4", log_queries=False, users=""):
		for program in ("clickhouse-server", "setpriv") + (("openssl",) if is_tls else ()):
			if not which(program):
				raise Missing(f"there is no {program}")
		self.is_tls, self.method, self.log_queries, self.users, self.tls_port = is_tls, method, log_queries, users, None
		super().__init__()

	@property
	def tls_url(self):
		return f"https://127.0.0.1:{self.tls_port}"

	@property
	def certificate(self):
		return self.folder / "cert.pem"

	def start(self):
		if self.is_tls and not self.certificate.exists():
			self_signed(self.folder)
		# Somebody else may take a port between its choice and its use.
		for _ in range(5 if self.port is None else 1):
			port, tls_port = self.port or free_port(), self.tls_port or free_port()
			self.configure(port, tls_port)
			self.launch([which("clickhouse-server"), f"--config-file={self.folder}/config.xml"], cwd=self.folder)
			self.port, before = port, self.port
			if self.wait_until_ready():
				self.tls_port = tls_port
				return
			self.port = before
		raise AssertionError(f"the server does not start: {self.log()[-2000:]}")

	def configure(self, port, tls_port):
		(self.folder / "data").mkdir(exist_ok=True)
		(self.folder / "config.xml").write_text(CONFIG.format(port=port, folder=self.folder,
			tls=TLS.format(port=tls_port, folder=self.folder) if self.is_tls else "", compression=ZSTD if self.method == "zstd" else ""))
		(self.folder / "users.xml").write_text(USERS.format(user=USER, password=PASSWORD,
			blocks=BIG_BLOCKS if self.method == "zstd" else "", log_queries=self.log_queries))
		if self.users:
			(self.folder / "users.d").mkdir(exist_ok=True)
			(self.folder / "users.d" / "more.xml").write_text(self.users)

	def statement_ms(self, part):
		"""The least time, in ms, that a statement with this text took."""
		self.bytes_of("SYSTEM FLUSH LOGS")
		return int(self.bytes_of("SELECT min(query_duration_ms) FROM system.query_log WHERE type = 2 AND "
			f"query NOT LIKE '%query_log%' AND position(query, '{part}') > 0 FORMAT TSV"))


CURRENT_CONFIG = "<clickhouse><users_config>{folder}/users.xml</users_config></clickhouse>\n"
CURRENT_USERS = """<clickhouse>
	<profiles><default/></profiles>
	<quotas><default/></quotas>
	<users><default><password></password>{user}<grants>{grants}</grants></default></users>
</clickhouse>
"""


class Current(Store):
	"""The engine of npm's chdb, whose folder this is. Users: default without a password, and guarded with PASSWORD, or
	those in users, a dictionary. After limit() they have the same rights."""

	def __init__(self, package):
		found = list(pathlib.Path(package).parent.glob("@chdb/lib-linux-*/libchdb.so"))
		if not found:
			raise Missing("chdb has no library for this machine")
		if available_kb() < CURRENT_MEMORY_KB:
			raise Missing("chdb needs 2 GB of free memory")
		self.shared_object, self.options, self.users = found[0], [], {"guarded": PASSWORD}
		super().__init__()

	def limit(self, grants):
		"""Starts again; users may do only what these GRANT statements say, which name nobody."""
		self.terminate()
		(self.folder / "config.xml").write_text(CURRENT_CONFIG.format(folder=self.folder))
		(self.folder / "users.xml").write_text(CURRENT_USERS.format(user=USER,
			grants="".join(f"<query>{grant}</query>" for grant in grants)))
		self.options = [f"--config-file={self.folder}/config.xml"]
		self.start()

	def start(self):
		command = [sys.executable, HERE / "chdb_server.py", self.shared_object, self.folder / "data", self.port or 0,
			*(f"{user}:{password}" for user, password in self.users.items()), *self.options]
		self.launch(command, stdout=subprocess.PIPE, text=True)
		line = self.process.stdout.readline()
		if not line.strip():
			raise AssertionError(f"chdb does not start, status {self.process.wait()}: {self.log()[-2000:]}")
		self.port = int(line)
		assert self.wait_until_ready(), self.log()[-2000:]


@functools.lru_cache
def which(program):
	"""Programs of administrators are not on everybody's PATH."""
	return shutil.which(program, path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin")


def self_signed(folder):
	"""Makes cert.pem and key.pem for this machine, good for a day."""
	subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
		folder / "key.pem", "-out", folder / "cert.pem", "-days", "1", "-subj", "/CN=localhost", "-addext",
		"subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)


def main():
	"""A server until the program that reads its port, or this one's parent, ends."""
	signal.signal(signal.SIGTERM, lambda *_: sys.exit())
	with Server() as server:
		print(server.port, flush=True)
		# The reader of a pipe is gone when it has an error.
		poll = select.poll()
		poll.register(sys.stdout, select.POLLERR)
		poll.poll()


if __name__ == "__main__":
	main()
