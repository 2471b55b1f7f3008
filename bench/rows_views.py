"""
What views cost, compared with the peers' reports of the same work: CPU seconds and peak memory of the command.

A row is a list of jobs, (label, command), sonde's first; a job without a command says why in its label.
All print every row that they have, to /dev/null.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys

from harness import FLAGS, HERE, ROOT, SINK, SONDE, Skip, capture, run, sonde_report
from tools import GPERFTOOLS, GPROFNG, PERF_FP, SNAPSHOT

POINTERS = ["-fno-omit-frame-pointer" if flag == "-fomit-frame-pointer" else flag for flag in FLAGS]
PPROF = ["-nodecount=1000000000", "-nodefraction=0", "-edgefraction=0"]
# Short commands are measured this often, the least counts.
SHORT_S, SHORT_ROUNDS = 0.5, 5


class Measured:
	"""seconds: of CPU; megabytes: the peak."""

	def __init__(self, seconds, megabytes):
		self.seconds, self.megabytes = seconds, megabytes

	def __str__(self):
		return f"{self.seconds:.3f} s, {self.megabytes:.0f} MB" if self.seconds < 1 else \
			f"{self.seconds:.1f} s, {self.megabytes:.0f} MB"


def once(bench, command):
	path = bench.path("cost.told")
	run([bench.path("cost"), path, *command])
	with open(path) as told:
		seconds, peak = told.read().split()
	return Measured(float(seconds), int(peak) / 1e6)


def cost(bench, command):
	bench.note(command)
	found = [once(bench, command)]
	more = SHORT_ROUNDS if found[0].seconds < SHORT_S else bench.rounds
	found += [once(bench, command) for _ in range(more - 1)]
	return min(found, key=lambda one: one.seconds)


def need(program, package):
	if not shutil.which(program):
		raise Skip(f"{package} is not installed")


def views(path, *options):
	return [SONDE, "report", path, *options, "--limit", "0"]


def perf(recording, *options):
	return ["perf", "report", "--stdio", "-f", "-i", recording.path, *options]


def try_job(label, make):
	"""A job, or why it cannot be had."""
	try:
		return label, make()
	except (Skip, OSError, subprocess.SubprocessError) as why:
		return f"{label} not here: {why}", None


# --- a compiler's recording: tcc, with frame pointers so that perf need not unwind in its report ---

def tcc(bench):
	def make():
		folder = os.path.dirname(bench.program("tcc")[0])
		path = bench.path("tcc-fp")
		run(["gcc", *POINTERS, "-w", "-DONE_SOURCE=1", f"-I{folder}/src-tcc", "-o", path, f"{HERE}/tcc_driver.c",
			f"{folder}/src-tcc/libtcc.c", "-lm", "-ldl"])
		return [path, "20", f"{folder}/src-tcc", f"{folder}/sqlite3.c"]
	return bench.keep("tcc-fp", make)


def recorded(bench, tool, program, rate):
	return bench.keep(("views", tool.label, program.__name__), lambda: tool.record(bench, program(bench), rate))


def samples_of(bench, tool, program, rate):
	recording = recorded(bench, tool, program, rate)
	return f"{bench.keep(recording.path, lambda: tool.sample_count(recording)):,} samples"


def recordings(bench, program, rate, view, perf_options, gprofng=None, google=None):
	def gprofng_job():
		return ["gprofng", "display", "text", gprofng, recorded(bench, GPROFNG, program, rate).path]

	def google_job():
		recording = recorded(bench, GPERFTOOLS, program, rate)
		return ["google-pprof", google, recording.target, recording.path]
	jobs = [("sonde", views(recorded(bench, SNAPSHOT, program, rate).path, *view)),
		try_job("perf", lambda: perf(recorded(bench, PERF_FP, program, rate), *perf_options))]
	if gprofng:
		jobs.append(try_job("gprofng", gprofng_job))
	if google:
		jobs.append(try_job("google-pprof", google_job))
	counts = [f"sonde {samples_of(bench, SNAPSHOT, program, rate)}"] + [
		f"{tool.label} {samples_of(bench, tool, program, rate)}" for tool, (_, command) in
		zip([PERF_FP] + [GPROFNG] * bool(gprofng), jobs[1:]) if command]
	return jobs, ", ".join(counts), recorded(bench, SNAPSHOT, program, rate).path


def tcc_flat(bench):
	return recordings(bench, tcc, 5000, ["-v", "functions"], ["--no-children", "-g", "none"], "-functions", "--text")


def tcc_callers(bench):
	return recordings(bench, tcc, 5000, ["-v", "callers"], ["--no-children", "-g", "graph,0,callee"], "-callers-callees")


def tcc_graph(bench):
	return recordings(bench, tcc, 5000, ["-v", "graph"], ["--children", "-g", "graph,0,caller"])


def tcc_tree(bench):
	return recordings(bench, tcc, 5000, ["-v", "tree", "--collapse", "none"], ["--children", "-g", "graph,0,caller"],
		"-calltree")


# --- a program of 5,000 functions in cycles: counts of calls for gprof, and stacks that are hardly ever the same ---

def calls_program(bench, name, *flags):
	def make():
		source, path = bench.path("calls.c"), bench.path(name)
		run([sys.executable, os.path.join(HERE, "make_calls.py"), source])
		run(["gcc", *flags, "-fno-omit-frame-pointer", source, "-o", path])
		return path
	return bench.keep(name, make)


def calls(bench):
	return [calls_program(bench, "calls"), "200000"]


def counted(bench):
	"""The program and its gmon.out."""
	def make():
		path = calls_program(bench, "calls-pg", "-pg")
		bench.note([path, "100000"])
		subprocess.run([path, "100000"], cwd=bench.scratch, stdin=SINK, stdout=SINK, check=True)
		return path, bench.path("gmon.out")
	return bench.keep("gmon", make)


def gprof(bench, options, view):
	need("gprof", "binutils")
	program, path = counted(bench)
	return [("sonde", views(path, "--exe", program, *view)), ("gprof", ["gprof", "-b", *options, program, path])], \
		gprof_counts(bench, program, path), path


def gprof_counts(bench, program, path):
	def make():
		text = capture(["gprof", "-b", "-q", program, path]).decode()
		cycles = len(re.findall(r"cycle \d+ as a whole>", text))
		# An entry from its own line on: callees, and the line below them.
		entries = re.findall(r"^\[\d+\].*?^-{20}", text, re.M | re.S)
		arcs = sum(len(entry.splitlines()) - 2 for entry in entries)
		return f"{len(entries):,} entries, {cycles} cycles, some {arcs:,} arcs"
	return bench.keep("gprof counts", make)


def gprof_flat(bench):
	jobs, of, path = gprof(bench, ["-p"], ["-v", "functions"])
	return jobs, f"{of}; {gprof_agreement(*counted(bench))}", path


def gprof_agreement(program, path):
	"""How many functions of gprof's flat profile have the same self time, as gprof rounds it, and the same calls."""
	found = re.findall(r"^ *[\d.]+ +[\d.]+ +([\d.]+)(?: +(\d+) +[\d.]+ +[\d.]+)?  +(\S+)$",
		capture(["gprof", "-b", "-p", program, path]).decode(), re.M)
	ours = {row["name"]: row for row in sonde_report(path, "--exe", program)["rows"]}
	same = sum(name in ours and abs(ours[name]["exclusive"] / 1e9 - float(seconds)) < 0.0051
		and ours[name]["calls"] == (int(calls) if calls else None) for seconds, calls, name in found)
	return f"{same:,} of {len(found):,} functions say the same"


def gprof_graph(bench):
	return gprof(bench, ["-q"], ["-v", "graph"])


def distinct_flat(bench):
	return recordings(bench, calls, 20000, ["-v", "functions"], ["--no-children", "-g", "none"])


def distinct_tree(bench):
	return recordings(bench, calls, 20000, ["-v", "tree", "--collapse", "none"], ["--no-children", "-g", "graph,0,caller"])


def distinct_graph(bench):
	return recordings(bench, calls, 20000, ["-v", "graph"], ["--children", "-g", "graph,0,caller"])


# --- the same folded stacks for sonde and, as profile.proto, for pprof ---

def pprof(bench, option, view):
	folded = bench.folded("wide", 100000, 20000)
	path, own = bench.path("wide.pb.gz"), bench.path("wide.prof")

	def make():
		run([sys.executable, os.path.join(HERE, "make_pprof.py"), folded, path])
		run([SONDE, "merge", "-q", "-o", own, folded] if "--quiet" in capture([SONDE, "merge", "--help"]).decode()
			else [SONDE, "merge", "-o", own, folded])
		with gzip.open(path) as packed:
			return len(packed.read())
	plain = bench.keep("pprof", make)

	def job():
		need("go", "golang-go")
		return ["go", "tool", "pprof", option, *PPROF, path]
	return [("sonde", views(own, "-v", view)), try_job("go pprof", job),
		("sonde, of the folded text", views(folded, "-v", view))], \
		f"20,000 distinct stacks of 9 to 34; recording {os.path.getsize(own) / 1e6:.1f} MB, profile.proto " \
		f"{plain / 1e6:.1f} MB, {os.path.getsize(path) / 1e6:.1f} MB packed, text {os.path.getsize(folded) / 1e6:.0f} MB", folded


def pprof_top(bench):
	return pprof(bench, "-top", "functions")


def pprof_peek(bench):
	return pprof(bench, "-peek=.", "callers")


def pprof_tree(bench):
	return pprof(bench, "-tree", "graph")


# --- callgrind's counts of one compilation ---

def callgrind(bench, options, view):
	need("callgrind_annotate", "valgrind")
	target = tcc(bench)
	path = bench.path("callgrind.out")

	def make():
		command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}", target[0], "1", *target[2:3],
			os.path.join(ROOT, "bench", "cost.c")]
		bench.note(command)
		run(command)
		with open(path) as told:
			text = told.read()
		functions = set(re.findall(r"^fn=(\(\d+\))", text, re.M))
		return f"{len(functions):,} functions, {len(re.findall('^calls=', text, re.M)):,} lines that call"
	counts = bench.keep("callgrind", make)
	return [("sonde", views(recorded(bench, SNAPSHOT, tcc, 5000).path, *view)),
		("callgrind_annotate", ["callgrind_annotate", *options, "--threshold=100", path])], \
		f"{counts}; sonde's {samples_of(bench, SNAPSHOT, tcc, 5000)} of the same program, not of the same run", path


def callgrind_flat(bench):
	return callgrind(bench, ["--inclusive=yes"], ["-v", "functions"])


def callgrind_tree(bench):
	return callgrind(bench, ["--inclusive=yes", "--tree=both"], ["-v", "callers"])


# --- a million distinct stacks: what a browser, a compiler or a fleet leaves ---

def million_recording(bench, folded):
	def make():
		path = folded.removesuffix(".folded") + ".sonde"
		run([SONDE, "convert", folded, "-o", path, "--to", "sonde"])
		return path
	return bench.keep(("recording", folded), make)


def million(bench, pprof_option, *view):
	"""The first rows of a view, as they are shown, of a recording; compared with pprof's of the same stacks."""
	folded = bench.folded("wide", 1000000, 1000000)
	path = million_recording(bench, folded)

	def packed():
		packed = bench.path("million.pb.gz")
		run([sys.executable, os.path.join(HERE, "make_pprof.py"), folded, packed])
		return packed

	def job():
		need("go", "golang-go")
		return ["go", "tool", "pprof", pprof_option, bench.keep("million.pb.gz", packed)]
	peers = [try_job("go pprof", job)] if pprof_option else []
	return [("sonde", [SONDE, "report", path, *view]), *peers], \
		f"1,000,000 distinct stacks; recording {os.path.getsize(path) / 1e6:.1f} MB", path


def million_functions(bench):
	return million(bench, "-top", "-v", "functions")


def million_tree(bench):
	return million(bench, "-tree", "-v", "tree", "--collapse", "none")


def million_collapsed(bench):
	"""No peer collapses recursion."""
	return million(bench, None, "-v", "tree")


def million_graph(bench):
	"""pprof's -peek has the same lines, and is compared with callers."""
	return million(bench, None, "-v", "graph")


def million_callers(bench):
	return million(bench, "-peek=.", "-v", "callers", "--limit", "20")


def million_callers_whole(bench):
	return million(bench, None, "-v", "callers", "--limit", "0")


def million_inverted(bench):
	return million(bench, "-tree", "-v", "tree", "--collapse", "none", "--invert")


def million_text(bench):
	folded = bench.folded("wide", 1000000, 1000000)
	return [("sonde", [SONDE, "report", folded, "-v", "functions"])], \
		f"1,000,000 distinct stacks; text {os.path.getsize(folded) / 1e6:.0f} MB", folded


def chain_inverted(bench):
	"""Stacks whose inverted tree would have 32 million nodes."""
	folded = bench.folded("chain", 8000)
	path = million_recording(bench, folded)
	return [("sonde", [SONDE, "report", path, "-v", "tree", "--collapse", "none", "--invert"])], \
		f"8,000 functions that call the next, samples at each; recording {os.path.getsize(path) / 1e3:.0f} KB", path


def when_threads(bench):
	"""A pattern of 3^80 threads."""
	folded = bench.folded("letters", 2000, 300)
	return [("sonde", [SONDE, "report", folded, "--when", "->".join(["(.a|.b|:.a->.b:)"] * 80)])], \
		"2,000 stacks of 300 frames of two functions", folded


ROWS = [
	("views-tcc-flat", "flat, tcc", tcc_flat),
	("views-tcc-callers", "callers and callees (perf: callers alone), tcc", tcc_callers),
	("views-tcc-graph", "call graph (perf: trees under each function), tcc", tcc_graph),
	("views-tcc-tree", "call tree, not collapsed (perf: trees under each function), tcc", tcc_tree),
	("views-distinct-flat", "flat, stacks hardly ever the same", distinct_flat),
	("views-distinct-tree", "call tree, not collapsed, the same", distinct_tree),
	("views-distinct-graph", "call graph (perf: trees under each function), the same", distinct_graph),
	("views-gprof-flat", "gmon.out: flat", gprof_flat),
	("views-gprof-graph", "gmon.out: call graph", gprof_graph),
	("views-pprof-top", "pprof -top: functions", pprof_top),
	("views-pprof-peek", "pprof -peek=.: callers", pprof_peek),
	("views-pprof-tree", "pprof -tree: graph", pprof_tree),
	("views-callgrind-flat", "callgrind_annotate: functions", callgrind_flat),
	("views-callgrind-tree", "callgrind_annotate --tree=both: callers", callgrind_tree),
	("views-million-functions", "a million stacks: functions", million_functions),
	("views-million-tree", "a million stacks: call tree, not collapsed, first rows", million_tree),
	("views-million-collapsed", "a million stacks: call tree, recursion collapsed, first rows", million_collapsed),
	("views-million-graph", "a million stacks: call graph, first entries", million_graph),
	("views-million-callers", "a million stacks: callers, 20 rows", million_callers),
	("views-million-callers-whole", "a million stacks: callers, all rows", million_callers_whole),
	("views-million-inverted", "a million stacks: inverted tree, first rows", million_inverted),
	("views-million-text", "a million stacks of folded text: functions", million_text),
	("views-chain-inverted", "a chain of 8,000 levels: inverted tree", chain_inverted),
	("views-when", "WHEN (.a\\|.b\\|:.a->.b:) 80 times", when_threads),
]
# Where its timer does not fire, what gprofng prints is next to nothing.
NEVER_BEST = ("sonde", "gprofng")
HEAD = ["| view | of | sonde | best peer | × | others | reading the input |", "|---|---|---|---|---|---|---|"]


def cell(label, found):
	return f"{label} {found}" if found else label


def ratio(sonde, peer):
	by = peer.seconds / max(sonde.seconds, 1e-6)
	return f"{by:.1f}" if by < 10 else f"{by:.0f}"


def measure(bench, row):
	"""The row's cells."""
	name, what, make = row
	jobs, of, path = make(bench)
	found = []
	for label, command in jobs:
		try:
			found.append((label, cost(bench, command) if command else None))
		except Skip as why:
			found.append((f"{label} not here: {why}", None))
	mine, peers = found[0][1], [one for one in found[1:] if one[1] and not one[0].startswith(NEVER_BEST)]
	if not mine:
		raise Skip(found[0][0])
	best = min(peers, key=lambda one: one[1].seconds, default=("", None))
	others = ", ".join(cell(*one) for one in found[1:] if one is not best)
	return [what, of, str(mine), cell(*best), ratio(mine, best[1]) if best[1] else "", others,
		str(once(bench, ["cat", path]))]
