"""The recorders that are measured, sonde's engines and the peers, behind one interface.

To add one: a class with `label`, `check`, `command` and `stacks`, and a row in TOOLS.
"""
import os
import re
import shutil
import struct
import subprocess

from harness import SINK, SONDE, Skip, capture, lines, run, sonde_report

ROOT_FRAMES = {"_start", "clone", "clone3", "__clone3", "start_thread", "_dl_start_user", "__libc_start_main",
	"__libc_start_main_impl", "__libc_start_main@@GLIBC_2.34"}


class Recording:
	"""One run of a target under a tool. cpu_s: the target's CPU time; own_s, own_mb: the tool's own."""

	def __init__(self, tool, path, target, cost):
		self.tool, self.path, self.target, self.stderr = tool, path, target, cost.stderr
		self.own_s, self.own_mb = cost.own, cost.peak
		self.cpu_s = cost.cpu if tool.in_target else cost.cpu - cost.own
		self.summary = None

	def summarize(self):
		if self.summary is None:
			self.summary = self.tool.summarize(self)
		return self.summary

	def remove(self):
		if os.path.isdir(self.path):
			shutil.rmtree(self.path)
		elif os.path.exists(self.path):
			os.unlink(self.path)


class Summary:
	def __init__(self, samples, whole, deepest):
		self.samples, self.whole, self.deepest = samples, whole, deepest


class Tool:
	root_only = False
	has_stacks = True
	in_target = False  # all its work is done in the target

	def check(self, bench):
		"""Raises Skip where the tool cannot be had."""

	def environment(self, path, rate):
		return {}

	def command(self, path, rate):
		"""What goes before the target's command."""
		return []

	def record(self, bench, target, rate=1000, user=None):
		self.check(bench)
		if user is not None and self.root_only:
			raise Skip("needs root")
		bench.count = getattr(bench, "count", 0) + 1
		path = bench.path(f"{bench.count}.{self.suffix}")
		prefix = self.command(path, rate)
		environment = self.environment(path, rate)
		inside = ["env", *(f"{k}={v}" for k, v in environment.items())] if environment else []
		bench.note([*inside, *prefix, *target])
		home = dict(os.environ, HOME=bench.path("home")) if user is not None else None
		cost = run([*prefix, *inside, *target], user=user, env=home, watch=True)
		return Recording(self, path, target[0], cost)

	def first_report(self, bench, recording):
		"""Milliseconds until the tool's own report is there."""
		return bench.wall_ms(self.report_command(recording))

	def stacks(self, recording):
		"""Each stack: names from the outermost frame on, how many samples, whether it reaches the root."""
		raise Skip("tells no stacks")

	def taken(self, path, due):
		"""How many samples a run has that was due so many."""
		return due

	def summarize(self, recording):
		samples = whole = deepest = 0
		for names, count, is_whole in self.stacks(recording):
			samples += count
			whole += count * is_whole
			deepest = max(deepest, len(names))
		return Summary(samples, whole, deepest)

	def sample_count(self, recording):
		return recording.summarize().samples

	def time_s(self, recording, rate):
		"""Seconds that its samples stand for, taken at a rate."""
		return self.sample_count(recording) / rate

	def shares(self, recording, names):
		"""Of each function: its exclusive and inclusive part of all samples. A frame that is not named is its caller's."""
		counts = {name: [0, 0] for name in names}
		total = 0
		for stack, count, _ in self.stacks(recording):
			known = [name for name in stack if name in counts]
			total += count
			for name in set(known):
				counts[name][1] += count
			if known:
				counts[known[-1]][0] += count
		return {name: (own / max(total, 1), all_ / max(total, 1)) for name, (own, all_) in counts.items()}


class Sonde(Tool):
	suffix = "prof"

	def report_command(self, recording):
		return [SONDE, "report", recording.path]

	def __init__(self, engine):
		self.engine = engine
		self.label = "sonde" if engine == "snapshot" else engine
		self.root_only = engine == "exact"

	def check(self, bench):
		if self.engine != "snapshot" and not bench.sonde_can("--engine"):
			raise Skip("not there yet")

	def command(self, path, rate):
		engine = [] if self.engine == "snapshot" else ["--engine", self.engine]
		return [SONDE, "record", "-F", str(rate), *engine, "-o", path, "--"]

	def record(self, bench, target, rate=1000, user=None):
		recording = super().record(bench, target, rate, user)
		own = re.search(r"recorder used ([0-9.]+) (\w+) of CPU time and at most ([0-9.]+) MiB", recording.stderr)
		if own:
			unit = {"s": 1, "ms": 1e-3, "us": 1e-6}[own.group(2)]
			total_s = recording.own_s + recording.cpu_s
			recording.own_s, recording.own_mb = float(own.group(1)) * unit, float(own.group(3))
			recording.cpu_s = total_s - recording.own_s
		return recording

	def time_of(self, path):
		"""Samples may weigh more or less than an interval: what they stand for all together."""
		return sonde_report(path, "--view", "stats")["total"] / 1e9

	def time_s(self, recording, rate):
		return self.time_of(recording.path)

	def summarize(self, recording):
		stats = sonde_report(recording.path, "--view", "stats")["rows"][0]
		return Summary(stats["counted"], stats["counted"] - stats["critical"], None)

	def stacks(self, recording):
		for line in lines([SONDE, "report", recording.path, "--format", "folded"]):
			stack, _, weight = line.rpartition(" ")
			names = stack.split(";")
			yield names, int(weight), names[0] != "[truncated]"


class Perf(Tool):
	suffix = "data"

	def __init__(self, label, mode):
		self.label, self.mode = label, mode
		self.has_stacks = mode is not None

	def check(self, bench):
		if not shutil.which("perf"):
			raise Skip("not installed")

	def command(self, path, rate):
		graph = ["--call-graph", self.mode] if self.mode else []
		# Without its thread that polls for BPF programs, which takes a second to end.
		return ["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", str(rate), *graph, "-o", path, "--"]

	def stacks(self, recording):
		names = []
		for line in lines(["perf", "script", "--no-inline", "--max-stack", "100000", "-f", "-F", "ip,sym", "-i",
				recording.path]):
			frame = line.split(None, 1)
			if frame:
				names.append(frame[1].strip() if len(frame) > 1 else "")
			elif names:
				names.reverse()
				yield names, 1, names[0] in ROOT_FRAMES
				names = []

	def count_of(self, path):
		return sum(1 for _ in lines(["perf", "script", "-f", "-F", "tid", "-i", path]))

	def sample_count(self, recording):
		return recording.summary.samples if recording.summary else self.count_of(recording.path)

	def report_command(self, recording):
		return ["perf", "report", "--stdio", "-f", "-i", recording.path]


class Gperftools(Tool):
	"""Its file: words of 64 bits: a head of 5, then (count, depth, addresses from the innermost on), then the maps."""
	label = "gperftools"
	suffix = "cpu"
	in_target = True

	def check(self, bench):
		self.library = bench.keep("libprofiler", lambda: next((word.split()[-1] for word in capture(
			["/sbin/ldconfig", "-p"]).decode().splitlines() if "libprofiler.so" in word), None))
		if not self.library:
			raise Skip("not installed")

	def environment(self, path, rate):
		return {"LD_PRELOAD": self.library, "CPUPROFILE": path, "CPUPROFILE_FREQUENCY": min(rate, 4000)}

	def report_command(self, recording):
		return ["google-pprof", "--text", recording.target, recording.path]

	def taken(self, path, due):
		"""Its timer stops at the rate of the system's ticks, whatever it is asked."""
		return min(due, sum(count for _, count in self.raw_stacks(path)[0]))

	def raw_stacks(self, path):
		"""Addresses, outermost first, and counts; and the mappings of code."""
		if not os.path.exists(path):
			raise Skip("wrote no profile")
		with open(path, "rb") as file:
			data = file.read()
		at, found = 40, []
		while at + 16 <= len(data):
			count, depth = struct.unpack_from("<QQ", data, at)
			addresses = struct.unpack_from(f"<{depth}Q", data, at + 16)
			at += 16 + 8 * depth
			if count == 0:
				break
			# The first address is the pc; the others are where calls return to.
			found.append(([a - (i > 0) for i, a in enumerate(addresses)][::-1], count))
		maps = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) r.x\S* ([0-9a-f]+) \S+ +\d+ +(/\S+)",
			data[at:].decode(errors="replace"), re.M)
		return found, [(int(a, 16), int(b, 16), int(c, 16), d) for a, b, c, d in maps]

	def stacks(self, recording):
		found, maps = self.raw_stacks(recording.path)
		names = name_addresses({address for stack, _ in found for address in stack}, maps)
		for stack, count in found:
			named = [names.get(address, "") for address in stack]
			yield named, count, named[0] in ROOT_FRAMES


def name_addresses(addresses, maps):
	"""Addresses in a process → names, by addr2line; an entry point is _start where symbols are stripped."""
	names = {}
	for begin, end, offset, path in maps:
		inside = sorted(a for a in addresses if begin <= a < end)
		if not inside or not os.path.exists(path):
			continue
		entry, segments = elf_layout(path)
		found = [a - begin + offset + next((va - at for at, va, size in segments
			if at <= a - begin + offset < at + size), 0) for a in inside]
		told = outer_functions(path, found)
		for address, va, name in zip(inside, found, told):
			names[address] = "_start" if name == "??" and entry <= va < entry + 48 else name
	return names


def outer_functions(path, addresses):
	"""By addr2line, which tells an address, then a name and a line for each inlined call, the innermost first."""
	told = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", path], input="\n".join(map(hex, addresses)), text=True,
		stdout=subprocess.PIPE, stderr=SINK, check=False).stdout
	return [block.splitlines()[-2] for block in re.split(r"^(?=0x[0-9a-f]{16}$)", told, flags=re.M) if block]


def elf_layout(path):
	"""The entry point and the (file offset, address, size) of each segment."""
	text = capture(["readelf", "-W", "-h", "-l", path]).decode()
	entry = int(re.search(r"Entry point address:\s+(0x[0-9a-f]+)", text).group(1), 16)
	return entry, [tuple(int(x, 16) for x in load) for load in
		re.findall(r"LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+)", text)]


class Gprofng(Tool):
	"""It tells functions and seconds, no stacks; its clock is said to be 1 ms with -p hi."""
	label = "gprofng"
	suffix = "er"
	in_target = True
	has_stacks = False

	def check(self, bench):
		if not shutil.which("gprofng"):
			raise Skip("not installed")

	def command(self, path, rate):
		return ["gprofng", "collect", "app", "-p", "hi" if rate >= 1000 else "on", "-o", path]

	def functions(self, recording):
		"""name → (exclusive, inclusive) seconds."""
		found = {}
		for line in lines(["gprofng", "display", "text", "-functions", recording.path]):
			row = re.match(r"\s*([0-9.]+)\s+[0-9.]+\s+([0-9.]+)\s+[0-9.]+\s+(\S+)", line)
			if row:
				found[row.group(3)] = float(row.group(1)), float(row.group(2))
		return found

	def sample_count(self, recording):
		return round(1000 * self.functions(recording).get("<Total>", (0, 0))[0])

	def summarize(self, recording):
		return Summary(self.sample_count(recording), None, None)

	def report_command(self, recording):
		return ["gprofng", "display", "text", "-functions", recording.path]

	def shares(self, recording, names):
		functions = self.functions(recording)
		total = functions.get("<Total>", (0, 0))[0]
		if total == 0:
			raise Skip("no samples")
		return {name: tuple(x / total for x in functions.get(name, (0, 0))) for name in names}


SNAPSHOT, EXACT, PRELOAD = Sonde("snapshot"), Sonde("exact"), Sonde("preload")
PERF_PLAIN = Perf("perf, no stack", None)
PERF_FP, PERF_8, PERF_64 = Perf("perf fp", "fp"), Perf("perf 8 KB", "dwarf,8192"), Perf("perf 64 KB", "dwarf,65528")
GPERFTOOLS, GPROFNG = Gperftools(), Gprofng()
ENGINES = [SNAPSHOT, EXACT, PRELOAD]
PEERS = [PERF_FP, PERF_8, PERF_64, GPERFTOOLS, GPROFNG]
TOOLS = ENGINES + PEERS


def each(tools, measure):
	"""measure(tool) of each tool, or why not: label → text."""
	found = {}
	for tool in tools:
		try:
			found[tool.label] = measure(tool)
		except Skip as why:
			found[tool.label] = str(why)
	return found
