"""Recordings of uftrace, heaptrack and gprofng, against what those tools themselves say of them.

What differs on purpose is in docs/formats/: uftrace.md, heaptrack.md, gprofng.md.
"""

import json
import re
import shutil

import harness
from attaching import wait_until
from harness import SOURCE_ROOT, check, compile_c, run, sonde

PROGRAM = SOURCE_ROOT / "tests" / "programs" / "traced.c"
UNITS = {"us": 10**3, "ms": 10**6, "s": 10**9}


def need(tool):
	if not shutil.which(tool):
		raise harness.Skip(f"there is no {tool}")


def report(profile, *options):
	"""{function: row}"""
	rows = json.loads(check(sonde("report", profile, "--format", "json", "--limit", "0", *options)).out)["rows"]
	return {row["name"]: row for row in rows}


def folded(profile, metric):
	"""{(names, root first): weight}"""
	stacks = {}
	text = check(sonde("convert", profile, "--to", "folded", "-o", "-", "--metric", metric)).out
	for line in text.splitlines():
		names, _, weight = line.rpartition(" ")
		stacks[tuple(names.split(";"))] = int(weight)
	return stacks


def same_as_uftrace(data):
	text = check(run("uftrace", "report", "-d", data, "-f", "total,self,call", "--no-pager")).out
	rows = re.findall(r"^ +(\S+) +(us|ms|s) +(\S+) +(us|ms|s) +(\d+)  (\S+)$", text, re.M)
	times, calls = report(data), report(data, "--metric", "calls")
	assert len(rows) > 5, text
	for total, total_unit, own, own_unit, count, name in rows:
		if name.startswith("linux:"):
			continue
		assert calls[name]["exclusive"] == int(count), (name, calls[name], count)
		for key, number, unit in (("inclusive", total, total_unit), ("exclusive", own, own_unit)):
			assert abs(times[name][key] - float(number) * UNITS[unit]) <= UNITS[unit] / 1000, (name, key, times[name], number)


def test_uftrace_pg(folder):
	need("uftrace")
	program = compile_c(folder, PROGRAM, "-O1", "-g", "-pg", "-pthread")
	check(run("uftrace", "record", "-d", folder / "data", program, cwd=folder))
	same_as_uftrace(folder / "data")


def test_uftrace_arguments(folder):
	"""Arguments and return values stand between the records."""
	need("uftrace")
	program = compile_c(folder, PROGRAM, "-O1", "-g", "-pg", "-pthread")
	check(run("uftrace", "record", "-a", "-d", folder / "data", program, cwd=folder))
	same_as_uftrace(folder / "data")


def test_uftrace_instrumented(folder):
	need("uftrace")
	program = compile_c(folder, PROGRAM, "-O1", "-g", "-finstrument-functions", "-pthread")
	check(run("uftrace", "record", "-d", folder / "data", program, cwd=folder))
	same_as_uftrace(folder / "data")


def heaptrack_stacks(file, cost, folder):
	"""What heaptrack_print says, of stacks that have a main.

	Names in order of their letters: it has inlined frames the other way round.
	"""
	check(run("heaptrack_print", "-f", file, "-F", folder / "flame", "--flamegraph-cost-type", cost))
	stacks = {}
	for line in (folder / "flame").read_text().splitlines():
		names, _, weight = line.rpartition(" ")
		key = tuple(re.sub(r" \([^()]*\)$", "", name) for name in names.split(";") if name)
		if int(weight) and key[:1] == ("main",):
			key = tuple(sorted(key))
			stacks[key] = stacks.get(key, 0) + int(weight)
	return stacks


@harness.takes_long
def test_heaptrack(folder):
	need("heaptrack")
	need("heaptrack_print")
	program = compile_c(folder, PROGRAM, "-O1", "-g", "-fno-inline", "-pthread")
	check(run("heaptrack", "-o", folder / "heap", program, cwd=folder))
	file = next(f for f in folder.iterdir() if f.name.startswith("heap."))
	for cost in ("allocations", "temporary", "leaked", "peak"):
		found = {}
		for names, weight in folded(file, cost).items():
			if "main" in names:
				key = tuple(sorted(names[names.index("main"):]))
				found[key] = found.get(key, 0) + weight
		wanted = heaptrack_stacks(file, cost, folder)
		assert found == wanted and wanted, (cost, found, wanted)


def test_gprofng(folder):
	need("gprofng")
	program = compile_c(folder, PROGRAM, "-O1", "-g", "-fno-inline", "-pthread")
	done = run("gprofng", "collect", "app", "-H", "on", "-o", folder / "run.er", program, str(harness.work(600)), cwd=folder)
	if not (folder / "run.er" / "profile").exists():
		raise harness.Skip(f"gprofng does not record here: {done.err}")
	# Copies of the program and its libraries, from which names come, may be made after that.
	image = program.read_bytes()
	wait_until(lambda: any(copy.read_bytes() == image for copy in (folder / "run.er" / "archives").glob("program_*")))
	text = check(run("gprofng", "display", "text", "-metrics", "i.totalcpu:e.totalcpu:name", "-functions",
		folder / "run.er")).out
	rows = report(folder / "run.er", "--metric", "Total CPU Time")
	seen = 0
	for inclusive, exclusive, name in re.findall(r"^([\d.]+) +([\d.]+) +(main|spin|work|fibonacci)$", text, re.M):
		seen += 1
		row = rows.get(name, {"inclusive": 0, "exclusive": 0})
		assert abs(row["inclusive"] / 1e9 - float(inclusive)) <= 0.0006, (name, row, inclusive)
		assert abs(row["exclusive"] / 1e9 - float(exclusive)) <= 0.0006, (name, row, exclusive)
	assert seen >= 2, text
	# The copy's name ends in a hash, whose digits can be underscores.
	copy, = (folder / "run.er" / "archives").glob("program_*")
	copy.rename(copy.with_name("program__b-c_d-e_f0"))
	assert report(folder / "run.er", "--metric", "Total CPU Time") == rows
	for metric, short in (("Bytes Allocated", "heapallocbytes"), ("Allocations", "heapalloccnt"),
			("Bytes Leaked", "heapleakbytes"), ("Leaks", "heapleakcnt")):
		text = check(run("gprofng", "display", "text", "-metrics", f"i+{short}:name", "-functions",
			folder / "run.er")).out
		wanted = int(re.search(r"^(\d+) +<Total>$", text, re.M)[1])
		found = json.loads(check(sonde("report", folder / "run.er", "--metric", metric, "--format", "json")).out)["total"]
		assert found == wanted, (metric, found, wanted)


if __name__ == "__main__":
	harness.main()
