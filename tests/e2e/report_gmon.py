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


def profiled(folder, *flags):
	"""The program and the gmon.out of a run of it."""
	program = compile_c(folder, PROGRAM, *FLAGS, *flags)
	check(run(program, cwd=folder))
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


def test_calls_are_exact(folder):
	program, file = profiled(folder)
	rows = {row["name"]: row for row in report(program, file, "functions")["rows"]}
	assert rows["pointed"]["calls"] == 300
	assert rows["hidden"]["calls"] == 300
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
