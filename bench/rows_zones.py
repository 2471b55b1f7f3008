"""
What zones cost, compared with IProf's own algorithm, spall and Tracy: ratios to two bare reads of the clock in the same run
(zones_bench.c), the exact count of instructions by callgrind, and what is no time in a zone (zones_costs.c).

A row is name, what it measures, the mark, measure(bench) → Row.
"""
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from harness import HERE, ROOT, SINK, Skip, capture

BUILD = os.environ.get("SONDE_BUILD", os.path.join(ROOT, "build"))
PROGRAMS = ["zones_bench", "zones_bench_shared", "zones-bench-client.so", "zones_reader", "zones_costs"]
HEAD = ["| what | mark | sonde | met | best peer | other peers | the least there can be |", "|---|---|---|---|---|---|---|"]
TRACY_PORT = 18086
# Tracy's events of a run of the undrained client stay in memory, 64 to 128 bytes a zone.
TRACY_ROUNDS, TRACY_PAIRS = 60, 4096


class Row:
	"""The cells after the mark; met: None where there is no mark."""

	def __init__(self, sonde, met=None, peers=None, least=""):
		self.sonde, self.met, self.least = sonde, met, least
		# Ratios, best first; what is no number says why in words, and is last.
		self.peers = sorted((peers or {}).items(), key=lambda peer: (isinstance(peer[1], str), peer[1]))

	def cells(self):
		told = [f"{label} {value if isinstance(value, str) else f'{value:.2f}'}" for label, value in self.peers]
		met = {None: "", True: "yes", False: "**no**"}[self.met]
		return [self.sonde, met, told[0] if told else "", ", ".join(told[1:]), self.least]


def newest_input():
	"""The time of the newest file that build.ninja is made from."""
	with open(os.path.join(BUILD, "build.ninja")) as file:
		rule = re.search(r"^build build\.ninja: \S+ (.*)$", file.read(), re.M)
	paths = (os.path.join(BUILD, re.sub(r"\$(.)", r"\1", path)) for path in re.split(r"(?<!\$) ", rule.group(1)))
	return max(os.stat(path).st_mtime for path in paths if os.path.exists(path))


def ninja(*targets):
	"""Builds these; what ninja says if it can't."""
	done = subprocess.run(["ninja", "-C", BUILD, *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
	return done.stdout.strip().splitlines()[-1:] if done.returncode else []


def build_programs():
	targets = [f"bench/{name}" for name in PROGRAMS]
	why = ninja(*targets)
	if why and "build.ninja" in why[0]:
		# It is older than what it is made from, or was when ninja wrote that down, and stays so however often it
		# is made anew: files from the future, of a machine whose clock was set back. `make` has just built all
		# the rest from it, so it is taken as it is.
		newest = max(newest_input(), time.time())
		os.utime(os.path.join(BUILD, "build.ninja"), (newest, newest))
		ninja("-t", "restat", "build.ninja")
		why = ninja(*targets)
	if why:
		raise Skip(why[0])


def folder(bench):
	"""Where the programs are, built as the project's build folder has it."""
	def make():
		if not os.path.exists(os.path.join(BUILD, "build.ninja")):
			raise Skip("no build folder")
		build_programs()
		return os.path.join(BUILD, "bench")
	return bench.keep("zones", make)


def peer_bench(bench, *peers):
	"""zones_bench with those peers' objects linked to it too."""
	def make():
		objects = os.path.join(folder(bench), "zones_bench.p")
		cache = capture([os.path.join(HERE, "peers.sh")]).decode().strip()
		linked = [os.path.join(cache, f"{peer}.o") for peer in peers]
		if missing := [os.path.basename(path) for path in linked if not os.path.exists(path)]:
			raise Skip(f"no {missing[0]} (see peers.log in {os.path.basename(cache)})")
		path = bench.path(peers[0] + "_bench")
		subprocess.run(["c++", *(os.path.join(objects, f"{own}.c.o") for own in ("zones_bench", "zones_own")), *linked,
			os.path.join(BUILD, "libsonde-zones.a"), "-lpthread", "-lm", "-ldl", "-o", path], check=True)
		return path
	return bench.keep(peers, make)


def table(text):
	"""name → (nanoseconds, ratio)"""
	found = {}
	for line in text.splitlines():
		name, ns, _, ratio = line.split()[:4]
		found[name] = float(ns), float(ratio)
	return found


def middle(tables):
	"""Of several runs the median of each figure."""
	return {name: tuple(statistics.median(one[name][i] for one in tables) for i in (0, 1)) for name in tables[0]}


def run_bench(bench, command, environment=None):
	bench.note(command)
	text = subprocess.run(command, stdin=SINK, stdout=subprocess.PIPE, check=True, text=True,
		env=os.environ | (environment or {})).stdout
	return table(text)


def own(bench, *options, shared=False):
	def make():
		where = folder(bench)
		command = [os.path.join(where, "zones_bench_shared" if shared else "zones_bench"), *options]
		if shared:
			command.append(f"--load={where}/zones-bench-client.so")
		return command, middle([run_bench(bench, command) for _ in range(bench.rounds * 3)])
	command, found = bench.keep(("own", options, shared), make)
	bench.note(command)
	return found


def small_peers(bench):
	"""IProf and spall, and sonde in the same run."""
	def make():
		command = [peer_bench(bench, "peer_iprof", "peer_spall")]
		return command, middle([run_bench(bench, command) for _ in range(bench.rounds * 3)])
	command, found = bench.keep("small peers", make)
	bench.note(command)
	return found


class Drain(threading.Thread):
	"""Takes all that Tracy's client has to say, as its capture tool would, and throws it away."""

	def __init__(self, header):
		super().__init__(daemon=True)
		with open(header) as text:
			self.version = int(re.search(r"ProtocolVersion = (\d+)", text.read()).group(1))
		self.taken = 0

	def run(self):
		for _ in range(200):
			try:
				with socket.create_connection(("127.0.0.1", TRACY_PORT)) as client:
					client.sendall(b"TracyPrf" + self.version.to_bytes(4, "little"))
					while data := client.recv(1 << 20):
						self.taken += len(data)
				return
			except OSError:
				time.sleep(0.05)


def tracy(bench, drained):
	def make():
		program = peer_bench(bench, "peer_tracy", "peer_tracy_c", "TracyClient")
		command = [program, f"--rounds={TRACY_ROUNDS}", f"--pairs={TRACY_PAIRS}", "--only=plain,tracy-c++,tracy-c"]
		cache = capture([os.path.join(HERE, "peers.sh")]).decode().strip()
		environment, runs = {"TRACY_PORT": str(TRACY_PORT)}, []
		for _ in range(bench.rounds):
			if drained:
				drain = Drain(os.path.join(cache, "src-tracy/public/common/TracyProtocol.hpp"))
				drain.start()
			runs.append(run_bench(bench, command, environment | ({"ZONES_DRAINED": "1"} if drained else {})))
			if drained and drain.taken < TRACY_ROUNDS * TRACY_PAIRS:
				raise Skip("nobody took Tracy's events")
		return command, middle(runs)
	command, found = bench.keep(("tracy", drained), make)
	bench.note(command)
	return found


def peers_of(bench, *names):
	"""Ratios of those of IProf's and spall's variants, and of Tracy's both APIs where names has "tracy"."""
	found = {}
	try:
		small = small_peers(bench)
		found |= {name: small[name][1] for name in names if name in small}
	except Skip as why:
		found |= {name: f"not measured: {why}" for name in names if name != "tracy"}
	for drained in (True, False) if "tracy" in names else ():
		label = "drained" if drained else "undrained"
		try:
			ratios = tracy(bench, drained)
			found |= {f"{name} {label}": ratios[name][1] for name in ("tracy-c++", "tracy-c")}
		except Skip as why:
			found[f"tracy {label}"] = f"not measured: {why}"
	return found


def ratio(variant, most, *peers, shared=False):
	def measure(bench):
		ns, found = own(bench, shared=shared)[variant]
		return Row(f"{found:.3f} ({ns:.1f} ns)", found <= most, peers_of(bench, *peers), "1.00: two bare reads of the clock")
	return measure


def unbounded(variant):
	def measure(bench):
		ns, found = own(bench)[variant]
		return Row(f"{found:.3f} ({ns:.1f} ns)")
	return measure


def off(variant):
	def measure(bench):
		ns = own(bench)[variant][0]
		return Row(f"{ns:.2f} ns", ns <= 0.5, least="0.2 ns: a flag looked at")
	return measure


def read(bench):
	found = own(bench)
	program = [os.path.join(folder(bench), "zones_reader"), "PID", "1000"]
	bench.note(program)
	with_reader, without = found["read"][1], found["unread"][1]
	return Row(f"{with_reader:.3f}, without {without:.3f}: {100 * (with_reader / without - 1):+.1f} %",
		with_reader / without <= 1.01, least="0 %")


def threads(bench):
	found = {count: own(bench, *([f"--threads={count}"] if count > 1 else []),
		"--only=plain,block,alternating")["plain"] for count in (1, 2, 8)}
	told = ", ".join(f"{count}: {one[1]:.3f} ({one[0]:.1f} ns)" for count, one in found.items())
	return Row(told, max(found[2][1], found[8][1]) <= found[1][1] * 1.02, least="the same for each thread")


def costs(bench, *arguments):
	command = [os.path.join(folder(bench), "zones_costs"), *map(str, arguments)]
	bench.note(command)
	return subprocess.run(command, stdin=SINK, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


def calls(bench):
	"""System calls and allocations of a few zones and of many."""
	if not shutil.which("strace"):
		raise Skip("strace is not installed")
	seen = {}
	for pairs in (1000, 10000000):
		out = bench.path("strace.out")
		command = ["strace", "-f", "-o", out, os.path.join(folder(bench), "zones_costs"), "pairs", str(pairs)]
		bench.note(command)
		mallocs = int(capture(command))
		with open(out) as told:
			seen[pairs] = sum("(" in line for line in told), mallocs
	(few, few_mallocs), (many, many_mallocs) = seen.values()
	return Row(f"{few} and {many} system calls, {few_mallocs} and {many_mallocs} allocations in runs of 1,000 and 10,000,000",
		few == many and few_mallocs == many_mallocs, least="0")


def leave(bench):
	"""From exec to the end of a process that calls exit() in two zones, compared with one that does nothing."""
	command = [os.path.join(folder(bench), "zones_costs"), "exit"]
	inside, nothing = bench.wall_ms(command, 11), bench.wall_ms(["/bin/true"], 11)
	return Row(f"{inside:.1f} ms", inside <= 50, least=f"{nothing:.1f} ms: /bin/true")


def memory(bench):
	kilobytes = int(costs(bench, "memory", 1000, 10))
	return Row(f"{kilobytes / 1024:.1f} MB", kilobytes <= 65536, least="1.2 MB: 10,000 nodes of 128 bytes")


def update(bench):
	small, large = (statistics.median(float(costs(bench, "update", 200, nodes)) for _ in range(3)) for nodes in (200, 100000))
	return Row(f"{small:.0f} µs of 200 nodes, {large:.0f} µs of 100,000")


def counted_calls(command):
	"""function → instructions in it and below, by callgrind."""
	with tempfile.TemporaryDirectory() as scratch:
		out = os.path.join(scratch, "out")
		subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], stdin=SINK, stdout=SINK,
			stderr=SINK, check=True)
		text = capture(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out]).decode()
	found = {}
	# A function has a line for each file that it has code of, and one for all.
	for count, name in re.findall(r"^\s*([\d,]+) (?:\([^)]*\))?\s+\S*:(run_\w+)", text, re.M):
		found[name] = max(found.get(name, 0), int(count.replace(",", "")))
	return found


def instructions(bench):
	if not shutil.which("valgrind"):
		raise Skip("valgrind is not installed")
	rounds, pairs = 1, 80000
	try:
		program = peer_bench(bench, "peer_iprof", "peer_spall")
	except Skip:
		program = os.path.join(folder(bench), "zones_bench")
	only = "block,recursion,alternating,call,count,iprof,iprof-recursion,spall,plain"
	command = [program, f"--rounds={rounds}", f"--pairs={pairs}", f"--only={only}"]
	bench.note(["valgrind", "--tool=callgrind", *command])
	found = {name: count / (pairs + 64) for name, count in counted_calls(command).items()}
	empty = found.pop("run_empty")
	told = {name.removeprefix("run_").replace("_", "-"): count - empty for name, count in found.items()}
	mine = ", ".join(f"{name} {told[name]:.1f}" for name in ("plain", "block", "recursion", "alternating", "call", "count")
		if name in told)
	return Row(mine, None, {name: count for name, count in told.items() if name in ("iprof", "iprof-recursion", "spall")},
		f"{told.get('reference', 0):.1f}: two bare reads and two stores")


def compiled_out(bench):
	test = "test_disabled_is_the_same_program_without_zones"
	command = ["meson", "test", "-C", BUILD, "--no-rebuild", "zones_compile"]
	bench.note(command)
	done = subprocess.run(command, stdin=SINK, stdout=SINK, stderr=SINK, check=False)
	return Row(f"`{test}` of tests/e2e/zones_compile.py {'holds' if done.returncode == 0 else 'FAILS'}", done.returncode == 0,
		least="no code")


ROWS = [
	("zones-plain", "enter and leave, × two bare reads of the clock, executable and .a", "≤ 1.10",
		ratio("plain", 1.10, "iprof", "spall", "tracy")),
	("zones-block", "the same, a zone that ends with its block", "≤ 1.10", ratio("block", 1.10)),
	("zones-so", "the same, from a dlopen'ed shared object, and .so", "≤ 1.10", ratio("so-plain", 1.10, shared=True)),
	("zones-events", "with the event ring on", "≤ 1.15", ratio("events", 1.15, "spall")),
	("zones-events-block", "with the event ring on, a zone that ends with its block", "≤ 1.15", ratio("events-block", 1.15)),
	("zones-recursion", "recursion 8 deep", "≤ 1.20", ratio("recursion", 1.20, "iprof-recursion")),
	("zones-alternating", "two callers in turn", "≤ 1.20", ratio("alternating", 1.20, "iprof-alternate")),
	("zones-call", "out of line, executable and .a", "≤ 1.25", ratio("call", 1.25)),
	("zones-so-call", "out of line, from a shared object and through the PLT", "≤ 1.25", ratio("so-call", 1.25, shared=True)),
	("zones-off", "switched off, begin and end", "≤ 0.5 ns", off("off")),
	("zones-off-block", "switched off, a zone that ends with its block", "≤ 0.5 ns", off("off-block")),
	("zones-count", "a zone that only counts", "", unbounded("count")),
	("zones-hooked", "a function zoned by -finstrument-functions", "", unbounded("hooked")),
	("zones-read", "while a process reads 8,192 nodes 1,000 times a second", "no cost (≤ 1 %)", read),
	("zones-threads", "in 1, 2 and 8 threads at once", "no slowdown (≤ 2 %)", threads),
	("zones-instructions", "instructions a pair, by callgrind", "", instructions),
	("zones-calls", "system calls and allocations per zone", "0", calls),
	("zones-exit", "a process that calls exit() in a zone, from its start to its end", "≤ 50 ms", leave),
	("zones-memory", "resident memory of 1,000 zones in 10 threads", "≤ 64 MB", memory),
	("zones-update", "Prof_update, 200 zones active since the last", "", update),
	("zones-off-compiled", "compiled out", "identical", compiled_out),
]


def measure(bench, row):
	_, what, mark, how = row
	try:
		cells = how(bench).cells()
	except (Skip, KeyError, OSError, ValueError, subprocess.SubprocessError) as why:
		cells = [f"not measured: {why}", "", "", "", ""]
	return [what, mark, *cells]
