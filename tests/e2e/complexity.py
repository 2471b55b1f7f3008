"""How work and memory grow with the input: instructions, not time, at n, 4n and 16n, and bytes for each node.

For each view, filter and reader, on profiles of different shapes. valgrind counts the instructions of a
whole run; from one size to the next start-up stays the same, so the growth of the differences is that of
the work: with an exponent e they grow by 4^e. What sorts has n log n, which is an exponent of 1.1 at these
sizes. What is quadratic has 2.
"""

import functools
import math
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile

import harness
import otlp_shapes
import pprof_shapes
from harness import check, sonde

FOLDER = tempfile.TemporaryDirectory(prefix="sonde-test-")
EXPONENT_MAX = 1.15
SIZES = (1, 4, 16)
# docs/limits.md: what a view takes for each node of the stack tree, and for each function.
NODE_BYTES_MAX = 256
FUNCTION_BYTES_MAX = 1024
# Larger profiles, for differences of memory: so many times as large as n = 1.
MEMORY_SIZES = (75, 300)
COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")


# ---- profiles: lines of folded stacks, or of perf script where there are threads and load objects ----

def random_stacks(n):
	"""Random stacks of 400 functions, whose number grows by the logarithm, as programs' names do."""
	rng = random.Random(1)
	stack = []
	for _ in range(150 * n):
		del stack[rng.randint(0, len(stack)):]
		while len(stack) < 30 and rng.random() < 0.9:
			stack.append(f"f{int(400 * rng.random() ** 2)}")
		yield ";".join(["main", *stack]) + f" {rng.randint(1, 9)}\n"


def deep(n):
	"""A few stacks that are as deep as the profile is large, recursion of three functions and others."""
	rng = random.Random(2)
	frames = [rng.choice(("eval", "apply", "cons", f"g{rng.randint(0, 50)}")) for _ in range(1000 * n)]
	for k in range(1, 5):
		yield ";".join(frames[:len(frames) * k // 4]) + f" {k}\n"


def recursion(n):
	"""One recursion with a sample at each level, so that the stacks' length is the square of the tree's."""
	yield 'sonde-dump 1\nmetric "samples" "count" default\nfunction "f"\nframe\nstack 0 0 samples 0\n'
	for level in range(1, 1500 * n):
		yield f'stack {level} "f" 1 samples 1\n'
	yield "end\n"


def wide(n):
	"""A function that calls all others."""
	for i in range(400 * n):
		yield f"main;work;f{i} {i % 7 + 1}\n"


def script(samples):
	"""perf script's text of (thread, stack from the root, load object)"""
	for i, (tid, stack, module) in enumerate(samples):
		yield f"prog 1000/{1000 + tid} [000] {i / 1000:.6f}: 1000000 cpu-clock:\n"
		yield "".join(f"\t{0x1000 + int(name[1:] or 0):x} {name}+0x1 ({module})\n" for name in reversed(stack)) + "\n"


def samples(n):
	"""Random stacks with times, in four threads."""
	return script((i % 4, ["f", *line.rpartition(" ")[0].split(";")[1:]], "/usr/bin/prog")
		for i, line in enumerate(random_stacks(n)))


def threads(n):
	"""Each sample in a thread of its own."""
	return script((i, ["f", f"f{i % 50}"], "/usr/bin/prog") for i in range(200 * n))


def modules(n):
	"""Each sample in a load object of its own."""
	return script((0, ["f", f"f{i % 50}"], f"/usr/lib/lib{i}.so") for i in range(200 * n))


SHAPES = {"random": random_stacks, "samples": samples, "deep": deep, "recursion": recursion, "wide": wide,
	"threads": threads, "modules": modules}
# The last ones ask for all rows, as scripts do.
TREES = (*(f"tree --collapse {degree}" for degree in ("none", "direct", "conservative", "full")), "tree --invert",
	"tree --spread", "tree --order first", "tree --format json", "tree --format svg")
VIEWS = ("functions", "modules", "deep", "callers", "graph", *TREES, "callers --format csv", "graph --format json")
FILTERS = ("--focus f1[0-9]", "--ignore f1[0-9]", "--hide f1[0-9]", "--when (.f1|.f2)", "--when :f1->f2:",
	"--same f[0-9]*=f", "--level module", "--fold f1", "--view callers --center f1")
FORMATS = ("folded", "callgrind", "dump", "firefox", "perf-script", "otlp", "pprof", "speedscope", "chrome", "perfetto",
	"csv", "json")


@functools.lru_cache(maxsize=None)
def recording(shape, n):
	"""The profile as a recording of sonde's."""
	path = pathlib.Path(FOLDER.name) / f"{shape}-{n}"
	path.write_text("".join(SHAPES[shape](n)))
	check(sonde("convert", path, "-o", f"{path}.prof", "--to", "sonde", timeout=600))
	return f"{path}.prof"


@functools.lru_cache(maxsize=None)
def converted(kind, n):
	path = pathlib.Path(FOLDER.name) / f"{kind}-{n}"
	check(sonde("convert", recording("samples", n), "-o", path, "--to", kind, timeout=600))
	return str(path)


def instructions(*args):
	done = harness.run("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", harness.SONDE, *args,
		timeout=600, env={"DEBUGINFOD_URLS": ""})
	found = COLLECTED.search(done.err)
	assert done.status == 0 and found, (args, done)
	return int(found.group(1))


def exponent(commands):
	"""Of the growth over the sizes."""
	small, middle, large = (instructions(*command) for command in commands)
	return math.log(max(large - middle, 1) / max(middle - small, 1)) / math.log(4), large - middle


def check_growth(cases):
	"""cases: [(name, command by size)]"""
	if not shutil.which("valgrind"):
		raise harness.Skip("valgrind is not installed")
	bad = []
	for name, command in cases:
		value, steps = exponent([command(n) for n in SIZES])
		print(f"# {name}: {value:.2f}, {steps / 1e6:.1f} M instructions")
		# What takes little in all has differences that its noise decides.
		if value > EXPONENT_MAX and steps > 300_000:
			bad.append(f"{name}: {value:.2f}")
	assert not bad, bad


def reports(shape, asked):
	for n in SIZES:
		recording(shape, n)
	return [(f"{shape}: {text}", lambda n, text=text: ("report", recording(shape, n), *text.split())) for text in asked]


def views_of(shape, views):
	check_growth(reports(shape, [f"--view {view}" for view in views]))


@harness.takes_long
def test_views_of_random_stacks():
	views_of("random", VIEWS)


@harness.takes_hours
def test_views_of_samples():
	views_of("samples", ("functions", "lines", "threads", "heat", "stats", "tree --roots thread", "tree --time 10ms:"))


@harness.takes_hours
def test_views_of_deep_stacks():
	views_of("deep", VIEWS)


@harness.takes_hours
def test_views_of_a_recursion():
	views_of("recursion", VIEWS)


@harness.takes_hours
def test_views_of_many_functions():
	views_of("wide", ("functions", "callers", "graph", "tree", "tree --invert", "functions --format json"))


@harness.takes_hours
def test_views_of_many_threads():
	views_of("threads", ("functions", "threads", "heat", "stats", "tree --roots thread"))


@harness.takes_hours
def test_views_of_many_load_objects():
	views_of("modules", ("functions", "modules", "lines", "tree", "callers"))


@harness.takes_long
def test_filters():
	check_growth([case for shape in ("samples", "recursion") for case in reports(shape, FILTERS[:-1] if shape == "recursion" else
		FILTERS)])


@harness.takes_long
def test_readers():
	def read(kind):
		return lambda n: ("report", converted(kind, n), "--view", "stats")
	kinds = [kind for kind in FORMATS if kind not in ("csv", "json")]
	for kind in kinds:
		for n in SIZES:
			converted(kind, n)
	check_growth([(f"read {kind}", read(kind)) for kind in kinds])


@harness.takes_hours
def test_writers():
	for n in SIZES:
		recording("samples", n)
	check_growth([(f"write {kind}", lambda n, kind=kind: ("convert", recording("samples", n), "--to", kind, "-o",
		os.devnull)) for kind in FORMATS])


@functools.lru_cache(maxsize=None)
def sent_file(shape, n):
	path = pathlib.Path(FOLDER.name) / f"{shape.__module__}-{shape.__name__}-{n}.pb"
	path.write_bytes(shape(500 * n))
	return str(path)


def fresh_store():
	"""A folder that is a store."""
	path = tempfile.mkdtemp(dir=FOLDER.name)
	check(sonde("fleet", "init", "--store", path))
	return path


def check_shapes(shapes):
	"""What other programs send: read, summed, compared, and sent to a folder."""
	commands = {"report": lambda path: ("report", path), "stats": lambda path: ("report", path, "--view", "stats"),
		"merge": lambda path: ("merge", path, path, "-o", os.devnull), "diff": lambda path: ("diff", path, path),
		"push": lambda path: ("push", "-q", "--store", fresh_store(), path)}
	check_growth([(f"{shape.__name__}: {name}", lambda n, shape=shape, command=command: command(sent_file(shape, n)))
		for shape in shapes for name, command in commands.items()])


@harness.takes_hours
def test_shapes_of_pprof():
	check_shapes(pprof_shapes.SHAPES)


@harness.takes_hours
def test_shapes_of_otlp():
	check_shapes(otlp_shapes.SHAPES)


# A process' peak counts from before its exec, so it is started by a small one.
PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"""


def peak_bytes(*args):
	"""The most memory that a run had."""
	return int(check(harness.run(sys.executable, "-c", PEAK, harness.SONDE, *args, timeout=600)).out)


def row_counts(path):
	"""Nodes and functions."""
	dump = check(sonde("convert", path, "--to", "dump", "-o", "-", timeout=600)).out
	return dump.count("\nstack "), dump.count("\nfunction ")


def check_memory(shape, views):
	paths = [recording(shape, n) for n in MEMORY_SIZES]
	nodes, functions = (large - small for small, large in zip(*map(row_counts, paths)))
	most = NODE_BYTES_MAX * nodes + FUNCTION_BYTES_MAX * functions
	for view in views:
		small, large = (peak_bytes("report", path, "--view", *view.split()) for path in paths)
		print(f"# {shape}: {view}: {(large - small) / 1e6:.0f} MB for {nodes:,} nodes, {functions:,} functions; "
			f"at most {most / 1e6:.0f}")
		assert large - small <= most, view


@harness.takes_long
def test_memory_of_views():
	for shape in ("random", "recursion", "deep", "wide"):
		check_memory(shape, ("functions", "callers", "graph", "tree", "tree --invert", "tree --format json", "tree --format svg",
			"callers --format csv", "graph --format json", "tree --invert --format csv"))


harness.main()
