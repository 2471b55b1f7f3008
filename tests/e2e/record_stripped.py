"""Recordings of programs without symbols: their functions are known by where they begin."""

import shutil

import harness
import recording


def strip(program, *options):
	"""Makes the program lose its symbols: {what was a function's name: what stands for it}."""
	for tool in ("nm", "strip"):
		if not shutil.which(tool):
			raise harness.Skip(f"there is no {tool}")
	symbols = harness.check(harness.run("nm", "--defined-only", program)).out
	harness.check(harness.run("strip", *options, program))
	rows = [line.split() for line in symbols.splitlines()]
	return {name: f"[{program.name}+0x{int(start, 16):x}]"
		for start, kind, name in rows if kind in "tT"}


def rename(truth, starts):
	"""What a program printed, with starts instead of names."""
	rows = [line.split(None, 1) for line in truth.splitlines()]
	return "".join(f"{starts[name]} {shares}\n" for name, shares in rows)


def record_stripped(folder, name, *arguments, flags=()):
	"""A recording of the stripped program, checked against the truth, and its functions' starts."""
	program = recording.program(folder, name, *flags)
	starts = strip(program)
	r = recording.record(folder, program, *arguments)
	r.check_truth(rename(r.done.out, starts))
	r.check_whole()
	return r, starts


def check_told(r, module):
	"""What has no names is said, though it has functions."""
	told = [line for line in r.done.err.splitlines() if "without symbols: " in line]
	# Where its symbols are not installed, the C library is another.
	assert len(told) == 1 and module in told[0].rpartition(": ")[2].split(", "), r.done
	assert any(note["kind"] == "no-symbols" and module in note["text"] and "by their start"
		in note["text"] for note in r.notes), r.notes
	assert r.stats["foreign"] <= 0.01 * r.stats["counted"], r.stats


@harness.takes_long
def test_functions_of_a_stripped_program(folder):
	r, starts = record_stripped(folder, "shares", harness.work(640))
	check_told(r, "shares")
	rows = r.json("--view", "functions", "--limit", "0")["rows"]
	named = [row["name"] for row in rows if row["module"] == "shares"]
	assert sorted(named) == sorted(set(named))
	for name in ("own_a", "own_b", "own_c", "own_d", "shared", "via_a", "via_d", "own", "main"):
		assert starts[name] in named, (name, named)
	# Some of the start-up code has no unwind rules, and so no known start: its first writes to a page
	# take the kernel long enough to be sampled now and then.
	unknown_ns = sum(row["exclusive"] for row in rows
		if row["module"] == "shares" and row["name"] == "[unknown]")
	assert unknown_ns <= 5 * recording.INTERVAL_NS, unknown_ns
	# All that it has: no function is taken for two, nor start-up code for many.
	assert set(named) <= {*starts.values(), "[shares+plt]", "[unknown]"} \
		| {n for n in named if "@plt" in n}, named


@harness.takes_long
def test_a_program_of_fixed_address(folder):
	record_stripped(folder, "shares", harness.work(320), flags=("-no-pie",))


@harness.takes_long
def test_without_an_index_of_the_unwind_rules(folder):
	r, _ = record_stripped(folder, "shares", harness.work(320), flags=("-Wl,--no-eh-frame-hdr",))
	check_told(r, "shares")


@harness.takes_long
def test_some_functions_alone_have_unwind_rules(folder):
	"""As in browsers, whose own code is built without exceptions: the others begin where their code does."""
	text = "".join(f"__attribute__((used, noinline)) int filler_{i}(int x)\n{{\n\treturn x * {i + 3};\n}}\n" for i in range(40))
	filler = harness.compile_c(folder, text, "-O2", "-fasynchronous-unwind-tables", "-c", name="filler.o")
	r, starts = record_stripped(folder, "shares", harness.work(640), flags=("-fno-asynchronous-unwind-tables", str(filler)))
	named = {row["name"] for row in r.json("--view", "functions", "--limit", "0")["rows"] if row["module"] == "shares"}
	assert "[unknown]" not in named and starts["main"] in named, named
	# All of the program's places are such, and the start-up code's at most.
	guessed = [note for note in r.notes if note["kind"] == "guessed" and "no unwind rules" in note["text"]]
	assert len(guessed) == 1 and guessed[0]["count"] >= 10, r.notes
	assert named <= {*starts.values(), "[shares+plt]"} | {n for n in named if "@plt" in n}, named


@harness.takes_long
def test_recursion_of_a_stripped_program(folder):
	"""The collapsed tree has the cycle of three functions, and no other recursion."""
	r, starts = record_stripped(folder, "mutual", harness.work(900))
	rows = r.json("--view", "tree", "--collapse", "full", "--limit", "0")["rows"]
	stubs = {row["name"] for row in rows if row["kind"] == "stub"}
	members = {starts[name] for name in ("first", "second", "third")}
	assert stubs & set(starts.values()) <= members, stubs
	assert stubs & members, rows


def test_static_functions_of_a_library(folder):
	"""An exported function keeps its name, and does not take in those that are not exported."""
	library = recording.program(folder, "one.so", "-shared", "-fPIC", "-fvisibility=hidden",
		"-DCALLED_NAME=called", source="plugin")
	starts = strip(library)
	program = recording.program(folder, "plugins", "-ldl")
	r = recording.record(folder, program, harness.work(800), library, library)
	r.check_truth(f"use_plugin 0 1\nplugin_entry 0 1\n{starts['called']} 1 1\n")


harness.main()
