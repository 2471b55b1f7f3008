"""What reports cost: sonde's own recordings, and folded text."""
import os
import re
import shutil
import subprocess

from harness import SINK, SONDE, Skip
from rows_samples import facts
from tools import GPERFTOOLS, GPROFNG, PERF_8, PERF_FP, SNAPSHOT, each


def first_report(bench, name):
	def measure(tool):
		found = facts(bench, tool, name)
		return f"{found.report_ms:.0f} ms ({found.samples:,} samples)"
	return each([SNAPSHOT, PERF_8, GPERFTOOLS, GPROFNG], measure)


def million(bench, _):
	"""A recording of a million samples: 8 threads at 50 kHz, for as long as this machine needs."""
	def record(tool, work):
		recording = tool.record(bench, bench.program("threads", 8, work), 50000)
		return recording, tool.sample_count(recording)

	def measure(tool):
		if tool is not SNAPSHOT and bench.is_quick:
			raise Skip("takes a minute, left out by --quick")
		work = 8000
		recording, samples = record(tool, work)
		if samples < 1e6:
			recording.remove()
			recording, samples = record(tool, int(work * 1.1e6 / samples))
		text = f"{tool.first_report(bench, recording):.0f} ms ({samples:,} samples, {os.path.getsize(recording.path) / 1e6:.1f} MB)"
		recording.remove()
		return text
	return each([SNAPSHOT, PERF_FP], measure)


def perf_data(bench, _):
	"""A perf.data of some 400 MB: 48,000 samples with 8 KB of stack."""
	recording = PERF_8.record(bench, bench.program("shares", 25000), 10000)
	try:
		megabytes = os.path.getsize(recording.path) / 1e6
		command = [SONDE, "report", recording.path]
		try:
			found = {"sonde": f"{bench.wall_ms(command):.0f} ms ({megabytes:.0f} MB)"}
		except Skip:
			found = {"sonde": "not there yet"}
		if not bench.is_quick:
			found[PERF_8.label] = f"{PERF_8.first_report(bench, recording):.0f} ms ({megabytes:.0f} MB)"
		return found
	finally:
		recording.remove()


def deep_report(bench, view):
	path = bench.folded("deep")
	return {"sonde": f"{bench.wall_ms([SONDE, 'report', path, *view.split()], 3):.0f} ms"}


def distinct_report(bench, view):
	"""A recording of 1 M distinct stacks, 10 M nodes of the tree: CPU time, as reading it takes a part."""
	if bench.is_quick:
		raise Skip("takes minutes, left out by --quick")

	def convert():
		path = bench.path("distinct.prof")
		bench.run([SONDE, "convert", bench.folded("unique", 1_000_000), "-o", path])
		return path
	command = [SONDE, "report", bench.keep("distinct", convert), "--view", *view.split()]
	return {"sonde": f"{bench.median(lambda: bench.run(command).cpu, 3):.1f} s of CPU"}


def folded(bench, _):
	path = bench.folded("wide")
	awk = ["awk", "{n=$NF; $NF=\"\"; s[$0]+=n} END {for (k in s) t+=s[k]; print t}", path]
	found = {"sonde": f"{bench.wall_ms([SONDE, 'report', path, '--limit', '20'], 3) / 1000:.2f} s ({os.path.getsize(path) / 1e6:.0f} MB)",
		"awk sums the same": f"{bench.wall_ms(awk) / 1000:.2f} s"}
	if shutil.which("flamegraph.pl") and not bench.is_quick:
		found["flamegraph.pl"] = f"{bench.wall_ms(['flamegraph.pl', path]) / 1000:.1f} s"
	return found


def instructions(bench, what):
	"""Where time is noise, callgrind counts what a command executes; the same on each run."""
	if not shutil.which("valgrind"):
		raise Skip("valgrind is not installed")
	command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={bench.path('callgrind')}", SONDE, "report",
		bench.folded("deep"), "--view", what]
	bench.note(command)
	told = subprocess.run(command, stdin=SINK, stdout=SINK, stderr=subprocess.PIPE, text=True, check=False).stderr
	count = re.search(r"Collected : (\d+)", told)
	if not count:
		raise Skip("valgrind failed")
	return {"sonde": f"{int(count.group(1)) / 1e6:.0f} M"}


ROWS = [
	("report-sqlite", "first report, with inlined calls, sqlite", "≤ 150 ms", first_report, "sqlite"),
	("report-lua", "first report, with inlined calls, lua", "≤ 150 ms", first_report, "lua"),
	("report-million", "report of a recording of 1 M samples", "≤ 100 ms", million, None),
	("report-perf-data", "report of a perf.data of 400 MB", "≤ 1.5 s", perf_data, None),
	("deep-functions", "2,000-deep recursion, 1 M samples: functions", "≤ 1 s", deep_report, "--view functions"),
	("deep-none", "the same: tree, not collapsed", "≤ 1 s", deep_report, "--view tree --collapse none --limit 0"),
	("deep-conservative", "the same: tree, conservative", "≤ 1 s", deep_report, "--view tree --collapse conservative"),
	("deep-full", "the same: tree, full", "≤ 1 s", deep_report, "--view tree --collapse full"),
	("distinct-functions", "recording of 1 M distinct stacks: functions", "≤ 1 s", distinct_report, "functions"),
	("distinct-callers", "the same: callers", "≤ 1 s", distinct_report, "callers --limit 20"),
	("distinct-graph", "the same: graph", "≤ 1 s", distinct_report, "graph --limit 20"),
	("distinct-none", "the same: tree, not collapsed", "≤ 1 s", distinct_report, "tree --collapse none --limit 50"),
	("distinct-full", "the same: tree, full", "≤ 1 s", distinct_report, "tree --collapse full --limit 50"),
	("instructions-functions", "the same: functions, instructions executed", "", instructions, "functions"),
	("folded", "folded text, 500 k lines, 100 k distinct stacks", "≤ 0.6 s", folded, None),
]
