"""gmon.out: programs compiled with -pg, against what GNU gprof says of them, line by line.

Where gprof rounds to hundredths of a second, so does the comparison. What differs on purpose is in
docs/formats/gmon.md: gprof counts self calls of a cycle's members nowhere, and calls between members
in the primary lines.
"""

import json
import pathlib
import re
import shutil
import struct
import sys

import harness
from harness import SOURCE_ROOT, check, compile_c, run, sonde

sys.path.insert(0, str(SOURCE_ROOT / "tests" / "golden" / "in"))
import gmon  # noqa: E402

PROGRAM = SOURCE_ROOT / "tests" / "programs" / "gmon.c"
# No clones: gprof takes them for parts of whatever stands in front of them.
FLAGS = ("-O1", "-g", "-pg", "-fno-inline", "-fno-optimize-sibling-calls", "-fno-ipa-cp", "-fno-ipa-sra")
# gprof prints hundredths.
HALF = 0.005 + 1e-6


def gprof(program, file, *options):
	if not shutil.which("gprof"):
		raise harness.Skip("there is no gprof")
	return check(run("gprof", "-b", *options, program, file)).out


def profiled(folder, *flags, milliseconds=harness.work(400)):
	"""The program and the gmon.out of a run of it, which uses so much CPU time."""
	program = compile_c(folder, PROGRAM, *FLAGS, *flags)
	check(run(program, milliseconds, cwd=folder))
	return program, folder / "gmon.out"


def report(program, file, view, *options):
	result = check(sonde("report", file, "--exe", program, "--view", view, "--format", "json",
		*options))
	return json.loads(result.out)


def flat(text):
	"""{name: (self seconds, calls or None)} of a flat profile."""
	rows = {}
	for line in text.splitlines():
		found = re.match(r" *[\d.]+ +[\d.]+ +([\d.]+)(?: +(\d+) +[\d.]+ +[\d.]+)?  +(\S+)$", line)
		if found:
			rows[found[3]] = (float(found[1]), int(found[2]) if found[2] else None)
	assert rows, text
	return rows


def symbols(program):
	"""[(address, name)] of the program's functions."""
	rows = check(run("nm", program)).out.splitlines()
	found = [row.split() for row in rows if re.match(r"[0-9a-f]+ [Tt] ", row)]
	return sorted((int(addr, 16), name) for addr, _, name in found)


def same_flat(program, file, slack=lambda seconds: 0):
	"""Compares functions with a flat profile; slack(seconds): by how much more they may differ."""
	rows = {row["name"]: row for row in report(program, file, "functions")["rows"]}
	theirs = flat(gprof(program, file, "-p"))
	for name, (seconds, calls) in theirs.items():
		ours = rows[name]["exclusive"] / 1e9
		assert abs(ours - seconds) <= HALF + slack(seconds), (name, ours, seconds)
		assert rows[name]["calls"] == calls, (name, rows[name], calls)
	for name, row in rows.items():
		if name not in theirs:
			assert row["exclusive"] == 0 and not row["calls"], row
	return rows


def with_ticks(program, file, place, ticks_at):
	"""The same calls with other ticks: ticks_at(address) in bins of four bytes; the new file."""
	words = gmon.Words()
	data = file.read_bytes()
	low, high, count = struct.unpack_from("<QQI", data, 21)
	calls = data[21 + 8 + 8 + 4 + 4 + 16 + 2 * count:]
	addrs = [addr for addr, name in symbols(program)]
	low, high = min(addrs) & ~3, next(addr for addr, name in symbols(program) if name == "etext") & ~3
	bins = [ticks_at(addr) for addr in range(low, high, 4)]
	new = place / "made.out"
	new.write_bytes(gmon.gmon(words, [gmon.histogram(words, low, bins), calls]))
	return new


@harness.takes_long
def test_flat_position_independent(folder):
	program, file = profiled(folder, "-pie", "-fPIE")
	# A bin of real files is a little narrower than gprof takes it for, some by a half.
	same_flat(program, file, slack=lambda seconds: 0.01 + 0.003 * seconds)


def test_flat_fixed_place(folder):
	program, file = profiled(folder, "-no-pie", "-fno-pie")
	same_flat(program, file, slack=lambda seconds: 0.01 + 0.003 * seconds)


def test_flat_of_made_ticks(folder):
	"""Ticks everywhere, in bins that gprof knows the width of: to the last digit."""
	program, file = profiled(folder, "-no-pie", "-fno-pie", "-falign-functions=1")
	made = with_ticks(program, file, folder, lambda addr: addr * 7919 // 4 % 23)
	rows = same_flat(program, made)
	assert sum(row["exclusive"] for row in rows.values()) > 1e9


@harness.takes_long
def test_static(folder):
	"""The program and its C library in one: gprof leaves out the counting itself, sonde does not."""
	try:
		program, file = profiled(folder, "-static")
	except AssertionError as error:
		raise harness.Skip("there is no static libc") from error
	rows = {row["name"]: row for row in report(program, file, "functions")["rows"]}
	theirs = flat(gprof(program, file, "-p"))
	for name in ("even", "odd", "round_a", "round_b", "round_c", "recurse", "hidden", "leaf"):
		assert abs(rows[name]["exclusive"] / 1e9 - theirs[name][0]) < 0.03, name
		assert rows[name]["calls"] == theirs[name][1], name


def entries(text):
	"""The entries of a call graph: {name: (own, callers, callees)}; a line is (name, self, children,
	calls, of or self calls), a cycle's members are its callees."""
	found = {}
	graph = text.split("index % time")[1].split("Index by function name")[0]
	for block in graph.split("-----------------------------------------------\n"):
		own, above, below = None, [], []
		for line in block.splitlines():
			row = re.match(r"(?:(\[\d+\])( +[\d.]+))? +(?:([\d.]+) +([\d.]+) +)?(?:(\d+)(?:[+/](\d+))? +)?"
				r"([A-Za-z_<].*?)(?: <cycle (\d+)>)?(?: \[\d+\])?$", line)
			if not row or line.startswith("index") or "self  children" in line:
				continue
			times = (float(row[3]), float(row[4])) if row[3] else (None, None)
			item = (row[7], *times, *(int(n) if n else None for n in (row[5], row[6])))
			if row[1]:
				own = item
			else:
				(above if own is None else below).append(item)
		if own:
			found[own[0]] = (own, above, below)
	return found


def near(ours, theirs, where):
	assert (ours is None) == (theirs is None), where
	assert ours is None or abs(ours / 1e9 - theirs) <= HALF, where


def same_lines(name, ours, theirs):
	"""Lines of an entry; gprof has a line for a function's calls to itself, sonde none."""
	theirs = {line[0]: line for line in theirs if line[0] != name}
	assert {line["name"] for line in ours} == set(theirs), (name, ours, theirs)
	for line in ours:
		if line["name"] == "<spontaneous>":
			continue  # gprof says how much nowhere
		_, self_time, children, calls, of = theirs[line["name"]]
		near(line["self"], self_time, (name, line))
		near(line["children"], children, (name, line))
		assert (line["calls"], line["of"]) == (calls, of), (name, line, theirs[line["name"]])


def same_entry(row, theirs, inner):
	"""inner: calls between members to this one, which gprof counts in the member's own line."""
	own, callers, callees = theirs
	near(row["self"], own[1], row)
	near(row["children"], own[2], row)
	called = row["called"]
	if called:
		assert called["outside"] + inner == (own[3] or 0), (row, own)
		assert called["inside"] == (own[4] or 0), (row, own)
	else:
		assert own[3] is None, (row, own)
	same_lines(row["name"], row["callers"], callers)
	same_lines(row["name"], row["callees"], callees)


def same_cycle(row, theirs, self_calls):
	"""A cycle's own entry: what gprof has of it."""
	own, _, members = theirs
	near(row["self"], own[1], row)
	near(row["children"], own[2], row)
	assert row["called"]["outside"] == own[3], (row, own)
	assert row["called"]["inside"] - sum(self_calls[m["name"]] for m in row["members"]) == own[4]
	assert {m["name"] for m in row["members"]} == {m[0] for m in members}
	for caller in row["callers"]:
		assert caller["of"] == row["called"]["outside"], caller


def same_graph(program, file):
	rows = report(program, file, "graph")["rows"]
	theirs = entries(gprof(program, file, "-q"))
	self_calls = {row["name"]: (row["called"] or {"inside": 0})["inside"] for row in rows}
	assert {row["name"] for row in rows} == set(theirs)
	for row in rows:
		if row["kind"] == "cycle":
			continue
		inner = sum(c["calls"] for c in row["callers"] if c["self"] is None)
		same_entry(row, theirs[row["name"]], inner)
	cycles = [row for row in rows if row["kind"] == "cycle"]
	by_members = {frozenset(m[0] for m in entry[2]): entry for name, entry in theirs.items()
		if name.startswith("<cycle")}
	for row in cycles:
		same_cycle(row, by_members[frozenset(m["name"] for m in row["members"])], self_calls)
	return rows


def test_graph_of_made_ticks(folder):
	program, file = profiled(folder, "-no-pie", "-fno-pie")
	made = with_ticks(program, file, folder, lambda addr: addr * 7919 // 4 % 23)
	rows = same_graph(program, made)
	assert sum(row["kind"] == "cycle" for row in rows) == 2
	assert max(row["called"]["inside"] for row in rows if row["name"] == "recurse") > 10000


def test_graph_of_many_cycles(folder):
	"""400 functions, a third of them in cycles of four that are reached from everywhere."""
	source = folder / "calls.c"
	check(run(sys.executable, SOURCE_ROOT / "bench" / "make_calls.py", source, "400"))
	program = compile_c(folder, source, "-O0", "-pg", "-no-pie", "-fno-pie", "-falign-functions=1")
	check(run(program, "20000", cwd=folder))
	made = with_ticks(program, folder / "gmon.out", folder, lambda addr: addr * 7919 // 4 % 23)
	rows = same_graph(program, made)
	cycles = sum(row["kind"] == "cycle" for row in rows)
	assert cycles > 20, cycles  # those of 33 that are reached


def test_worked_figure(folder):
	"""That of the gprof manual, which gprof itself prints in part."""
	gmon.write(folder, {"start": 0, "main": 16, "a": 75, "b": 102, "c": 0}, {("start", "main"): 1,
		("main", "a"): 1, ("a", "b"): 3, ("b", "a"): 2, ("a", "c"): 3, ("b", "c"): 3}, gmon.Words())
	rows = same_graph(folder / "program", folder / "gmon.out")
	cycle = next(row for row in rows if row["kind"] == "cycle")
	assert cycle["percent"] == 91.7098 and cycle["called"] == {"outside": 1, "inside": 5}


def test_any_machine(folder):
	"""Words of either size and order say the same."""
	seen = []
	for bits in 32, 64:
		for big_endian in False, True:
			gmon.write(folder, {"main": 7, "f": 5, "g": 0}, {("main", "f"): 3, ("f", "g"): 9},
				gmon.Words(bits, big_endian))
			seen.append(report(folder / "program", folder / "gmon.out", "graph")["rows"])
	assert seen[0] == seen[1] == seen[2] == seen[3] and len(seen[0]) == 3, seen


def test_calls_are_exact(folder):
	program = compile_c(folder, PROGRAM, *FLAGS)
	rounds = int(check(run(program, harness.work(100), cwd=folder)).out)
	file = folder / "gmon.out"
	rows = {row["name"]: row for row in report(program, file, "functions")["rows"]}
	assert rounds > 0 and rows["pointed"]["calls"] == rounds
	assert rows["hidden"]["calls"] == rounds
	assert rows["recurse"]["calls"] == 1  # those to itself are in the graph


def test_other_program(folder):
	"""Another program has other functions there, or none: never a crash."""
	program, file = profiled(folder)
	other = compile_c(folder, "int main(void) { return 0; }", "-no-pie", name="other")
	result = sonde("report", file, "--exe", other)
	assert result.status == 1, result
	assert "is it the program that wrote the file?" in result.err


def test_no_program(folder):
	_, file = profiled(folder)
	result = sonde("report", file)
	assert result.status == 1 and result.err.count("\n") == 1, result
	assert "--exe PROGRAM" in result.err
	stripped = compile_c(folder, PROGRAM, *FLAGS, "-s", name="stripped")
	result = sonde("report", file, "--exe", stripped)
	assert result.status == 1 and "has no symbol table" in result.err, result


def test_what_needs_stacks(folder):
	program, file = profiled(folder)
	for options in (["--view", "tree"], ["--spread"], ["--format", "folded"], ["--when", "*"]):
		result = sonde("report", file, "--exe", program, *options)
		assert result.status == 1 and result.err.count("\n") == 1, result
		assert "needs call stacks" in result.err, result


def test_annotated_with_exclusive_figures_alone(folder):
	# The clock ticks a hundred times each second, and a third of the time is spent in `odd`: that none
	# falls into it in a second is as likely as 1 in 10^16.
	program, file = profiled(folder, milliseconds=harness.work(1000, least=1000))
	options = ("annotate", file, "odd", "--exe", program)
	text = check(sonde(*options)).out
	assert "exclusive" in text and "inclusive" not in text.split("note:")[0], text
	document = json.loads(check(sonde(*options, "--format", "json")).out)
	assert document["function"]["exclusive"] > 0 and document["function"]["inclusive"] is None
	assert {row["inclusive"] for row in document["rows"]} == {None}
	assert sum(row["exclusive"] for row in document["rows"] if row["kind"] == "instruction") == \
		document["function"]["exclusive"]
	assert "Stacks" not in check(sonde("report", file, "--exe", program, "--view", "stats")).out


def test_program_is_for_gmon(folder):
	(folder / "a.folded").write_text("a;b 1\n")
	result = sonde("report", folder / "a.folded", "--exe", "/bin/sh")
	assert result.status == 2 and "--exe is for gmon.out" in result.err, result


def test_converted(folder):
	"""A dump needs the program no more."""
	program, file = profiled(folder)
	dump = folder / "out.dump"
	check(sonde("convert", file, "--exe", program, "-o", dump))
	ours = report(program, file, "functions")["rows"]
	program.unlink()
	again = json.loads(check(sonde("report", dump, "--format", "json")).out)["rows"]
	assert again == ours, (again, ours)


harness.main()
