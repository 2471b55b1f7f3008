"""What a store of many machines costs: Debian's ClickHouse with what bench/make_fleet.c says that hosts send, packed as
`sonde push` packs it, in tables that `sonde fleet init` has made."""
import contextlib
import gzip
import json
import os
import subprocess
import sys
import time

from harness import HERE, SONDE, Skip

sys.path.append(os.path.join(HERE, "..", "tests", "e2e"))
import clickhouse

DATABASE = "sonde"
# 10,000 hosts with 8 services each, for 60 minutes.
HOUR_HOSTS, HOUR_MINUTES, HOUR_SERVICES = 10_000, 60, 8


class Made:
	"""Files of make_fleet. counts: what is in them."""

	def __init__(self, bench, *numbers):
		program = bench.keep("make_fleet", lambda: self.compiled(bench))
		self.folder = bench.path("-".join(["fleet", *map(str, numbers)]))
		os.makedirs(self.folder)
		self.counts = json.loads(subprocess.run([program, self.folder, *map(str, numbers)], check=True, capture_output=True).stdout)

	@staticmethod
	def compiled(bench):
		path = bench.path("make_fleet")
		subprocess.run(["cc", "-O2", os.path.join(HERE, "make_fleet.c"), "-o", path, "-lm"], check=True)
		return path

	def bodies(self, table):
		"""The packed bodies of a table's files, one after the other."""
		for name in sorted(os.listdir(self.folder)):
			if name.startswith(table + "-"):
				with open(os.path.join(self.folder, name), "rb") as file:
					yield gzip.compress(file.read(), 1)


@contextlib.contextmanager
def servers(count=1, method="lz4", cpus=None):
	"""Servers with the store's tables."""
	with contextlib.ExitStack() as stack:
		try:
			made = [stack.enter_context(clickhouse.Server(method=method, log_queries=True)) for _ in range(count)]
		except clickhouse.Missing as missing:
			raise Skip(str(missing)) from None
		for server, cpu in zip(made, cpus or []):
			for task in os.listdir(f"/proc/{server.pid}/task"):
				os.sched_setaffinity(int(task), [cpu])
		done = subprocess.run([SONDE, "fleet", "init", "--store", address(made)], capture_output=True, text=True, check=False)
		if done.returncode:
			raise Skip(done.stderr.strip()[-80:])
		yield made


def address(shards):
	return f"clickhouse://{','.join(f'127.0.0.1:{s.port}' for s in shards)}/{DATABASE}"


def insert(server, table, packed):
	query = f"/?database={DATABASE}&query=INSERT+INTO+{table}+FORMAT+RowBinary"
	status, _, answer = server.request("POST", query, packed, {"Content-Encoding": "gzip"})
	if status != 200:
		raise Skip(answer.decode(errors="replace")[:80])
	return len(packed)


def settle(server):
	"""Waits until nothing is merged in the background any more."""
	quiet = 0
	while quiet < 5:
		quiet = quiet + 1 if server.sql("SELECT count() FROM system.merges") == "0" else 0
		time.sleep(0.2)


def fill(shards, made, tables=("frames", "stacks", "profiles", "commits")):
	"""{table: (CPU seconds of servers, bytes sent)}; bodies of profiles and commits go to the shards in turn."""
	costs = {}
	for table in tables:
		before, sent = sum(s.cpu_seconds() for s in shards), 0
		for i, packed in enumerate(made.bodies(table)):
			for server in [shards[i % len(shards)]] if table in ("profiles", "commits") else shards:
				sent += insert(server, table, packed)
		for server in shards:
			settle(server)
		costs[table] = sum(s.cpu_seconds() for s in shards) - before, sent
	return costs


def numbers(bench):
	"""Hosts and minutes of some 10 M pairs; with --quick 1 M."""
	return (80, 2) if bench.is_quick else (100, 15)


def filled(bench, method):
	"""What it costs to fill a server and what it takes then."""
	def make():
		made = Made(bench, *numbers(bench)) if "fleet" not in bench.kept else bench.kept["fleet"]
		bench.kept["fleet"] = made
		with servers(method=method) as (server,):
			costs = fill([server], made)
			for table in ("stacks", "profiles"):
				server.merged(table, DATABASE)
			stored = {table: server.stored_bytes(table, DATABASE) for table in ("frames", "stacks", "profiles", "commits")}
		return made.counts, costs, stored
	return bench.keep(("filled", method), make)


def inserted(bench, _):
	"""Pairs a second of the server's CPU time, with unpacking and all merges."""
	counts, costs, _ = filled(bench, "lz4")
	seconds, sent = costs["profiles"]
	return {"sonde": f"{counts['pairs'] / seconds / 1e6:.1f} M/s ({counts['pairs'] / 1e6:.1f} M pairs, {sent / counts['pairs']:.1f} B "
		f"a pair sent), {counts['stacks'] / costs['stacks'][0] / 1000:.0f},000 stacks/s"}


def stored(bench, what):
	"""Bytes that a row of a table takes once it is merged."""
	found = {}
	for label, method in (("sonde", "zstd"), ("sonde, LZ4", "lz4")):
		counts, _, taken = filled(bench, method)
		table, unit = {"pairs": ("profiles", "pairs"), "stacks": ("stacks", "stacks"), "frames": ("frames", "frames")}[what]
		found[label] = f"{taken[table] / counts[unit]:.1f} B"
	return found


def one_service(bench, pairs):
	"""A fleet of one service with so many pairs, 832 a profile."""
	minutes = max(1, pairs // 832 // 200)
	return bench.keep(("service", pairs), lambda: Made(bench, 200, minutes, 1, 1))


def statement_ms(shards):
	"""What the statement for stacks and their sums took at the slowest of the servers, the best time of each."""
	return max(server.statement_ms("RIGHT JOIN") for server in shards)


def report_s(bench, shards, total):
	"""(wall, CPU of sonde, CPU of the servers) in s of a report, the best of several, whose total must be exact."""
	command = [SONDE, "report", "--store", address(shards), "--service", "service-1", "--limit", "20"]
	found = json.loads(subprocess.run([*command, "--format", "json"], capture_output=True, check=True).stdout)
	if found["total"] != total:
		raise Skip(f"total {found['total']}, not {total}")
	best = None
	for _ in range(1 if bench.is_quick else 5):
		before = sum(s.cpu_seconds() for s in shards)
		cost = bench.run(command)
		taken = cost.wall, cost.cpu, sum(s.cpu_seconds() for s in shards) - before
		best = min(best or taken, taken)
	return best


def queried(bench, pairs):
	"""A report of one service, on a server that has one CPU."""
	made = one_service(bench, pairs)
	with servers(cpus=[0]) as shards:
		fill(shards, made)
		wall, own, theirs = report_s(bench, shards, made.counts["weight"])
		statement = statement_ms(shards)
	return {"sonde": f"{1000 * wall:.0f} ms, its statement for stacks and sums {statement} ms; "
		f"of CPU: sonde {1000 * own:.0f} ms, the server {1000 * theirs:.0f} ms "
		f"({made.counts['pairs'] / 1e6:.1f} M pairs, {made.counts['stacks']:,} stacks)"}


def sharded(bench, pairs):
	"""The same on two servers with half of the profiles each, and a CPU each."""
	if os.cpu_count() < 2:
		raise Skip("one CPU")
	made = one_service(bench, pairs // 10 if bench.is_quick else pairs)
	walls, statements = [], []
	for count in (1, 2):
		with servers(count, cpus=range(count)) as shards:
			fill(shards, made)
			walls.append(report_s(bench, shards, made.counts["weight"])[0])
			statements.append(statement_ms(shards))
	return {"sonde": f"{walls[0] / walls[1]:.2f} × ({1000 * walls[0]:.0f} ms, {1000 * walls[1]:.0f} ms), its statement for stacks and sums "
		f"{statements[0] / statements[1]:.2f} × ({statements[0]} ms, {statements[1]} ms; {made.counts['pairs'] / 1e6:.1f} M pairs)"}


def hour(bench, _):
	"""What 10,000 hosts send in an hour, by a part of it."""
	counts, costs, taken = filled(bench, "zstd")
	factor = HOUR_HOSTS * HOUR_MINUTES * HOUR_SERVICES / counts["profiles"]
	seconds, sent = (factor * sum(costs[table][i] for table in ("profiles", "commits")) for i in (0, 1))
	size = factor * (taken["profiles"] + taken["commits"])
	return {"sonde": f"{size / 1e9:.1f} GB, {seconds:.0f} s of the servers' CPU = {seconds / 3600:.2f} cores, "
		f"{sent / HOUR_HOSTS / 3600:.0f} B/s a host ({counts['pairs'] * factor / 1e9:.2f} G pairs; measured 1/{factor:.0f} of it)"}


def pushed(bench, lines):
	"""What `sonde push` itself takes for a profile of stacks that it has not sent before."""
	path = bench.folded("broad", lines)
	with servers() as shards:
		cost = bench.run([SONDE, "push", "-q", "--store", address(shards), "--service", "a", path])
	return {"sonde": f"{cost.cpu:.2f} s, {lines / cost.cpu / 1000:.0f},000 stacks/s"}


ROWS = [
	("store-insert", "pairs inserted into a store, for a second of its CPU", "≥ 4 M/s", inserted, None),
	("store-bytes", "bytes of a store for a pair of stack and weight, zstd", "≤ 5.5 B", stored, "pairs"),
	("store-bytes-stack", "bytes of a store for a distinct stack of 26 frames, zstd", "≤ 95 B", stored, "stacks"),
	("store-bytes-frame", "bytes of a store for a frame with its names, zstd", "", stored, "frames"),
	("store-query", "report from a store of 1 M pairs, on one CPU", "≤ 100 ms", queried, 1_000_000),
	("store-shards", "report from two shards instead of one, 10 M pairs", "≥ 1.6 ×", sharded, 10_000_000),
	("store-hour", "an hour of 10,000 hosts, 8 services each", "≤ 21 GB", hour, None),
	("store-push", "sonde push of 100,000 distinct stacks, of its own CPU", "", pushed, 100_000),
]
