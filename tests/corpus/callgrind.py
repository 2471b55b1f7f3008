#!/usr/bin/env python3
"""callgrind files, and what callgrind_annotate makes of them; the manual's own example in other dresses."""

import re

import corpus

ROW = re.compile(r"^\s*([\d,]+) \([ \d.]+%\)\s+(?:\*\s+)?(\S.*?:)(.*?)(?: \[(.*)\])?$")

# The address is written in 16 digits.
NAMELESS = re.compile(r"^0x0{0,15}([0-9a-f]+)(?='|$)")


def rows(text, mark):
	"""[(weight, file, function)] of an annotation: the lines with that mark, or without any."""
	found = []
	for line in text.splitlines():
		row = ROW.match(line)
		if row and ("  *  " in line) == mark and not re.search(r"\s[<>]\s", line[:40]):
			found.append((int(row[1].replace(",", "")), row[2][:-1], known_as(row[3], row[4])))
	return found


def known_as(name, module):
	"""A function without a name is called by where in its load object it is."""
	if module in (None, "???") or not NAMELESS.match(name):
		return name
	return NAMELESS.sub(lambda found: f"[{module.rsplit('/', 1)[-1]}+0x{found[1]}]", name)


@corpus.case("generated/c-small/callgrind.out.work", "callgrind_annotate")
def annotate(file):
	own = corpus.expected(file, name="callgrind_annotate.txt").decode()
	inclusive = corpus.expected(file, name="callgrind_annotate_inclusive.txt").decode()
	report = corpus.report(file)
	total = int(re.search(r"^([\d,]+) .*PROGRAM TOTALS", own, re.M)[1].replace(",", ""))
	corpus.same("total", report["total"], total)
	exclusive = {row["name"]: row["exclusive"] for row in report["rows"]}
	for weight, _, name in rows(own, False):
		if name in exclusive:
			corpus.same(f"exclusive of {name}", exclusive[name], weight)
	names = [row["name"] for row in report["rows"]]
	figures = {row["name"]: row["inclusive"] for row in report["rows"] if names.count(row["name"]) == 1}
	equal = above = below = 0
	for weight, _, name in rows(inclusive, True):
		if name not in figures:
			continue
		# What calls itself, or is called by what it calls, is counted several times over there.
		if weight == figures[name]:
			equal += 1
		elif weight > figures[name]:
			above += 1
		else:
			# Its callers' costs, which callgrind_annotate adds up, are less than what it and its
			# callees cost by themselves: the loader's resolver jumps where others call.
			assert figures[name] - weight < total / 1000, (name, weight, figures[name])
			below += 1
	assert equal >= 8, equal
	return (f"total; inclusive of {equal} functions" +
		f"; {above} are more there, recursive ones counted several times; {below} by less than a "
		"thousandth less, as their callers' costs do not add up to their callees'")


@corpus.case("callgrind/jlfwong+speedscope/sample/profiles/callgrind/*.log", "the manual")
def example(file):
	report = corpus.report(file)
	figures = {row["name"]: (row["exclusive"], row["inclusive"]) for row in report["rows"]}
	if "reset" in file.name:
		# alpha calls gamma, of its own file again, after beta of another.
		corpus.same("total", report["total"], 40)
		corpus.same("exclusive", {n: v[0] for n, v in figures.items()}, dict.fromkeys(figures, 10))
		return "total and exclusive figures"
	scale = 10 if "multiple" in file.name else 1
	wanted = {"main": 20, "func1": 100, "func2": 700}
	corpus.same("total", report["total"], 820 * scale)
	corpus.same("exclusive", {n: v[0] for n, v in figures.items()}, {n: v * scale for n, v in wanted.items()})
	return "total and exclusive figures"


corpus.leave_out("callgrind/jlfwong+speedscope/src/import/__snapshots__/callgrind.test.ts.snap",
	"stacks that speedscope makes up, of calls: the files have none")
corpus.main("callgrind", ["callgrind", "generated/c-small/callgrind*"])
