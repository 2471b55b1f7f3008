"""What recording costs: the target, the recorder, starting, attaching."""
import signal
import statistics
import subprocess
import time

from harness import SINK, SONDE, Skip
from rows_samples import facts, tools_for
from tools import ENGINES, GPERFTOOLS, GPROFNG, PERF_8, PERF_64, PERF_FP, PRELOAD, SNAPSHOT, each

# Stack below the spinning thread: levels of about 130 bytes.
STACKS = {"shallow": 3, "16 KB": 120, "120 KB": 900, "1 MB": 8000}
GAP_SECONDS = 0.4
# A gap this long was another task or another machine's turn.
GAP_MOST_NS = 1e6


def gaps(bench, prefix, environment, levels):
	"""Lengths of the gaps that a spinning thread saw, in ns; what follows at once belongs to the gap before."""
	command = [*prefix, *bench.realtime(), *(["env", *environment] if environment else []), bench.path("gap"),
		str(GAP_SECONDS), str(levels), "100"]
	bench.note(command)
	text = subprocess.run(command, stdin=SINK, stdout=subprocess.PIPE, stderr=SINK, text=True, check=False).stdout
	found, end = [], -1e9
	for line in text.splitlines():
		at, length = map(float, line.split())
		if at - end < 1500 and found:
			found[-1] += length
		else:
			found.append(length)
		end = at + length
	return [length for length in found if length < GAP_MOST_NS]


def stolen_by(bench, tool, levels):
	"""(median, 99th percentile) in µs of one round's samples: the longest gaps, as many as samples were due."""
	prefix, environment, path = [], [], bench.path("gap.out")
	if tool:
		tool.check(bench)
		prefix = tool.command(path, 1000)
		environment = [f"{k}={v}" for k, v in tool.environment(path, 1000).items()]
	found = sorted(gaps(bench, prefix, environment, levels), reverse=True)
	due = int(GAP_SECONDS * 1000)
	del found[tool.taken(path, due) if tool else due:]
	if not found:
		raise Skip("saw nothing")
	return statistics.median(found) / 1000, found[len(found) // 100] / 1000


STOLEN_TOOLS = ENGINES + [PERF_FP, PERF_8, PERF_64, GPERFTOOLS]


def stolen(bench, size):
	"""Rounds go tool by tool, so that a noisy minute is noisy to all; the best round of each counts."""
	seen = {"no profiler": []}
	for _ in range(max(bench.rounds, 3)):
		seen["no profiler"].append(stolen_by(bench, None, STACKS[size])[0])
		for label, value in each(STOLEN_TOOLS, lambda tool: stolen_by(bench, tool, STACKS[size])[0]).items():
			seen.setdefault(label, []).append(value)
	return {label: values[0] if isinstance(values[0], str) else f"{min(values):.1f} µs = {min(values) / 10:.2f} %"
		for label, values in seen.items()}


def handler(bench, size):
	if not bench.sonde_can("--engine"):
		raise Skip("not there yet")
	rounds = [stolen_by(bench, PRELOAD, STACKS[size]) for _ in range(max(bench.rounds, 3))]
	return {PRELOAD.label: f"{min(p99 for _, p99 in rounds):.1f} µs"}


def slowdown(bench, name):
	"""The target's CPU time under each tool over that of a run before and one after it, without; the median."""
	target = bench.program(name, 3000) if name == "shares" else bench.program(name)

	def plain():
		return bench.run(target).cpu

	def once(tool):
		recording = tool.record(bench, target)
		recording.remove()
		return recording.cpu_s
	ratios, before = {}, plain()
	for _ in range(3 if bench.is_quick else 11):
		for tool in STOLEN_TOOLS:
			value = each([tool], once)[tool.label]
			if not isinstance(value, str):
				after = plain()
				value, before = 2 * value / (before + after), after
			ratios.setdefault(tool.label, []).append(value)
	return {label: values[0] if isinstance(values[0], str) else f"{100 * (statistics.median(values) - 1):+.1f} %"
		for label, values in ratios.items()}


def pingpong(bench, clock):
	target = bench.program("pingpong", 30000)
	perf = ["perf", "record", "-q", "--no-bpf-event", "-o", bench.path("pp.data")]
	sonde = [SONDE, "record", "-q", "--clock", clock, "-o", bench.path("pp.prof")]
	commands = {
		"nothing": [],
		"sonde": [*sonde, "--"],
		"exact": [*sonde, "--engine", "exact", "--"],
		"preload": [*sonde, "--engine", "preload", "--"],
		"perf, CPU clock and switches, fp": [*perf, "-e", "cpu-clock", "-F", "1000", "-g", "--switch-events", "--"],
		"perf, stack of each switch, 8 KB": [*perf, "-e", "context-switches", "-c", "1", "--call-graph", "dwarf,8192", "--"],
	}
	seen = {}
	for _ in range(max(bench.rounds, 3)):
		for label, prefix in commands.items():
			if prefix and (reason := lacks(bench, prefix)):
				seen[label] = reason
				continue
			bench.note([*prefix, *target])
			told = subprocess.run([*prefix, *target], stdin=SINK, stdout=subprocess.PIPE, stderr=SINK, text=True, check=False)
			if told.stdout.strip():
				seen.setdefault(label, []).append(float(told.stdout))
			else:
				seen[label] = f"exit {told.returncode}"
	plain = min(seen["nothing"])
	return {label: values if isinstance(values, str) else
		f"{min(values) / 1000:.1f} µs" + ("" if label == "nothing" else f" = {min(values) / plain:.2f} ×")
		for label, values in seen.items()}


def lacks(bench, command):
	"""Why a command of sonde's cannot be run yet; None: it can."""
	if command[0] == SONDE:
		if "--engine" in command and not bench.sonde_can("--engine"):
			return "not there yet"
		if "both" in command and not bench.sonde_can("both"):
			return "not there yet"
	return None


def own(bench, name):
	def measure(tool):
		if tool.in_target:
			raise Skip("in the target")
		found = facts(bench, tool, name)
		return f"{found.own_s:.2f} s, {found.own_mb:.0f} MB ({found.cpu_s:.1f} s of target)"
	return each(tools_for(bench, name), measure)


def start(bench, _):
	def measure(command):
		return f"{bench.wall_ms(command, 5):.0f} ms"
	found = {"nothing": measure(["/bin/true"])}
	for tool in ENGINES + [PERF_FP, GPERFTOOLS, GPROFNG]:
		def once(tool):
			tool.check(bench)
			path = bench.path(f"start.{tool.suffix}")
			environment = [f"{k}={v}" for k, v in tool.environment(path, 1000).items()]
			# gprofng does not write over an experiment.
			prefix = tool.command(path, 1000)
			clean = ["sh", "-c", f'rm -rf {path}; exec "$@"', "sh"] if tool is GPROFNG else []
			return measure([*clean, *prefix, *(["env", *environment] if environment else []), "/bin/true"])
		found |= each([tool], once)
	if "ms" in found[PERF_FP.label]:
		found["perf as it comes"] = measure(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-o",
			bench.path("start.data"), "--", "/bin/true"])
	return found


def thread_cpu_s(pid):
	"""CPU seconds of a process's first thread."""
	with open(f"/proc/{pid}/task/{pid}/schedstat") as told:
		return int(told.read().split()[0]) / 1e9


def attach(bench, threads):
	"""
	How much of the working thread's CPU time since the recorder's start went by before its first sample: all that it
	used until the recorder was stopped, less what its samples stand for.
	"""
	target = bench.program("sleepers", threads, 40)

	def once(command, sampled_s):
		with subprocess.Popen(target, stdout=subprocess.PIPE) as process:
			try:
				process.stdout.readline()
				before = thread_cpu_s(process.pid)
				bench.note([*command[:-1], "PID"])
				with subprocess.Popen([*command, str(process.pid)], stdin=SINK, stdout=SINK, stderr=SINK) as recorder:
					time.sleep(1)
					after = thread_cpu_s(process.pid)
					recorder.send_signal(signal.SIGINT)
			finally:
				process.kill()
		return f"{1000 * (after - before - sampled_s()):.0f} ms"
	found = {}
	if bench.sonde_can("--pid"):
		path = bench.path("attach.prof")
		found["sonde"] = once([SONDE, "record", "-q", "--interval", "1ms", "-o", path, "-p"],
			lambda: SNAPSHOT.time_of(path))
	else:
		found["sonde"] = "not there yet"
	found["exact"] = found["preload"] = ""
	def perf(tool):
		tool.check(bench)
		path = bench.path("attach.data")
		return once(["perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-c", "1000000", "-g", "-o", path, "-p"],
			lambda: tool.count_of(path) / 1000)
	return found | each([PERF_FP], perf)


ROWS = [
	(f"stolen-{s.replace(' ', '-')}", f"time stolen from the target per sample, the timer's interrupt included, and that at 1 kHz; {s} of stack",
		"≤ 10 µs, ≤ 1 %", stolen, s) for s in STACKS
] + [
	("handler-120-KB", "preload: 99th percentile of the same, 120 KB of stack", "≤ 20 µs", handler, "120 KB"),
	("slowdown-shares", "CPU time of the target at 1 kHz, compared with runs without, shares", "≤ +1 %", slowdown, "shares"),
	("pingpong-virtual", "a byte through two pipes and back, CPU clock", "", pingpong, "virtual"),
	("pingpong-both", "a byte through two pipes and back, both clocks", "", pingpong, "both"),
	("own-lua", "recorder's own CPU and peak memory, 1 kHz, lua", "≤ 0.1 s in 5 s, ≤ 60 MB", own, "lua"),
	("own-sqlite", "recorder's own CPU and peak memory, 1 kHz, sqlite", "≤ 0.1 s in 5 s, ≤ 60 MB", own, "sqlite"),
	("own-clang", "recorder's own CPU and peak memory, 1 kHz, clang++", "≤ 0.1 s in 5 s, ≤ 60 MB", own, "clang++"),
	("start", "start and stop on /bin/true", "≤ 50 ms", start, None),
	("attach", "attach to 512 threads: until the first sample", "", attach, 512),
]
