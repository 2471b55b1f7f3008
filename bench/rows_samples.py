"""What was recorded: stacks that reach the root, samples captured, depth, size, error on known shares."""
import math
import os
import struct

from harness import NOBODY, Skip, sonde_report
from tools import (ENGINES, EXACT, GPERFTOOLS, GPROFNG, PERF_8, PERF_64, PERF_FP, PRELOAD, SNAPSHOT, TOOLS, each)

REAL = ("lua", "sqlite", "tcc", "quickjs", "stockfish", "cc1", "clang++")
MANY = {"1 thread": ("shares", 6000), "8 threads": ("threads", 8, 900), "0.5 ms threads": ("churn", 2400)}
SHARES = {"own_a": (.20, .20), "own_b": (.15, .15), "own_c": (.10, .10), "own_d": (.05, .05), "shared": (.50, .50),
	"via_a": (0, .20), "via_b": (0, .15), "via_c": (0, .10), "via_d": (0, .05)}


def percent(part, digits=2):
	return f"{100 * part:.{digits}f} %"


class Facts:
	"""What is asked of one recording by several rows; the recording itself, up to 600 MB, is not kept."""

	def __init__(self, bench, tool, name):
		recording = tool.record(bench, bench.program(name))
		summary = recording.summarize() if tool.has_stacks else None
		self.whole = summary.whole / max(summary.samples, 1) if summary else None
		self.samples = summary.samples if summary else tool.sample_count(recording)
		self.cpu_s, self.own_s, self.own_mb = recording.cpu_s, recording.own_s, recording.own_mb
		self.bytes = os.path.getsize(recording.path) if os.path.isfile(recording.path) else None
		self.symbol_bytes = symbol_bytes(recording.path) if tool in ENGINES else 0
		self.report_ms = tool.first_report(bench, recording) if name in ("lua", "sqlite") else None
		recording.remove()


def facts(bench, tool, name):
	"""Of a real program under a tool; recorded once, for all rows."""
	def make():
		before = len(bench.commands)
		try:
			found = Facts(bench, tool, name)
		except Skip as why:
			found = why
		return found, bench.commands[before:]
	found, commands = bench.keep((tool.label, name), make)
	bench.commands += [command for command in commands if command not in bench.commands]
	if isinstance(found, Skip):
		raise found
	return found


def whole_stacks(bench, name):
	def measure(tool):
		return percent(facts(bench, tool, name).whole)
	return each([tool for tool in tools_for(bench, name) if tool is not GPROFNG], measure)


def tools_for(bench, name):
	"""Real programs have no frame pointers: --quick shows on two only how little perf's `fp` sees then."""
	return [tool for tool in TOOLS if tool is not PERF_FP or not bench.is_quick or name in ("lua", "sqlite")]


def size(bench, name):
	def measure(tool):
		found = facts(bench, tool, name)
		return f"{(found.bytes - found.symbol_bytes) / max(found.samples, 1):.1f}"
	return each([tool for tool in tools_for(bench, name) if tool is not GPROFNG], measure)


def symbol_bytes(path):
	"""What the SYMBOLS chunks of a recording take: sonde-capture(5)."""
	with open(path, "rb") as file:
		data = file.read()
	total, at = 0, 16
	while at + 28 <= len(data):
		stored = struct.unpack_from("<I", data, at + 12)[0]
		if data[at + 4] == 10:
			total += 28 + stored
		at += 28 + stored
	return total


def captured(bench, argument):
	name, rate, user = argument
	target = bench.program(*MANY[name])

	def once(tool):
		recording = tool.record(bench, target, rate, user)
		share = tool.time_s(recording, rate) / recording.cpu_s
		recording.remove()
		return share

	def measure(tool):
		return percent(bench.median(lambda: once(tool)))
	tools = [SNAPSHOT, EXACT, PRELOAD, PERF_FP, PERF_8]
	return each(tools + [GPERFTOOLS, GPROFNG] if user is None else tools, measure)


def sonde_depth(path):
	"""Levels of the deepest stack: the tree, not collapsed."""
	return max(row["level"] for row in sonde_report(path, "--view", "tree", "--collapse", "none")["rows"])


def deepest(bench, levels):
	target = bench.program("deep", levels, 1200000 // levels)

	def measure(tool):
		recording = tool.record(bench, target)
		if tool in ENGINES:
			depth, whole = sonde_depth(recording.path), recording.summarize()
		else:
			whole = recording.summarize()
			depth = whole.deepest
		recording.remove()
		return f"{depth:,}; {percent(whole.whole / max(whole.samples, 1), 1)} whole"
	# Theirs end far above 10,000 already.
	return each(ENGINES + ([PERF_FP, PERF_8, PERF_64, GPERFTOOLS] if levels == 10000 else []), measure)


def error(bench, rate):
	"""The mean distance from the known shares in points, and what chance alone makes it on average."""
	target = bench.program("shares", 15000)

	def floor(samples):
		parts = [p for pair in SHARES.values() for p in pair if p]
		return sum(math.sqrt(2 / math.pi * p * (1 - p) / samples) for p in parts) / (2 * len(SHARES))

	def measure(tool):
		recording = tool.record(bench, target, rate)
		found = tool.shares(recording, SHARES)
		samples = max(tool.sample_count(recording), 1)
		recording.remove()
		distance = sum(abs(a - b) for name in SHARES for a, b in zip(found[name], SHARES[name]))
		return f"{100 * distance / 2 / len(SHARES):.2f} ({100 * floor(samples):.2f})"
	return each(TOOLS if rate == 1000 else ENGINES + [PERF_8], measure)


ROWS = [
	(f"whole-{p}", f"stacks that reach the root, {p}", "≥ 99.5 %", whole_stacks, p) for p in REAL
] + [
	(f"deepest-{n}", f"deepest stack of a recursion of {n:,} levels", "≥ 65,536, whole", deepest, n)
	for n in (10000, 65536)
] + [
	(f"captured-{name.replace(' ', '-')}-{rate // 1000}k-{who}",
		f"samples captured of CPU time × rate, {rate // 1000} kHz, {name}, {who}", "≥ 99.5 %", captured,
		(name, rate, user))
	for who, user in (("root", None), ("user", NOBODY)) for rate in (1000, 10000) for name in MANY
	if user is None or rate == 1000 or name != "1 thread"
] + [
	(f"error-{rate // 1000}k", f"mean error on known shares, points (what chance alone gives), {rate // 1000} kHz",
		"chance", error, rate) for rate in (1000, 10000)
] + [
	(f"size-{p}", f"bytes a sample in the file, without symbols, {p}", "≤ 20", size, p) for p in REAL
]
