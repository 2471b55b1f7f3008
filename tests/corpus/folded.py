#!/usr/bin/env python3
"""Folded stacks of others: what speedscope's own tests say it reads, and files that add up by awk's rule."""

import re

import corpus

SNAPSHOT = "folded/jlfwong+speedscope/src/import/__snapshots__/bg-flamegraph.test.ts.snap"
TESTS = {
	"simple.txt": "importFromBGFlameGraph",
	"simple-crlf.txt": "importFromBGFlameGraph with CRLF",
	"simple-utf16-le.txt": "importFromBGFlameGraph with UTF-16, Little Endian",
	"simple-utf16-be.txt": "importFromBGFlameGraph with UTF-16, Big Endian",
	"simple-with-invalids.txt": "importFromBGFlameGraph with invalid lines",
}


def snapshot(test):
	"""{stack: weight} and {function: (self, total)} of a test."""
	text = corpus.use(corpus.FOLDER / SNAPSHOT).read_text()
	block = re.search(r"exports\[`" + re.escape(test) + r" 1`\] = `\n\{(.*?)\n\}\n`;", text, re.S)[1]
	stacks = {}
	for stack, weight in re.findall(r'^    "(.*) (\d+)",$', block[block.index('"stacks"'):], re.M):
		key = tuple(stack.split(";"))
		stacks[key] = stacks.get(key, 0) + int(weight)
	functions = {name: (int(own), int(total)) for name, own, total in
		re.findall(r'"name": "(.*)",\n\s*"selfWeight": (\d+),\n\s*"totalWeight": (\d+),', block)}
	return stacks, functions


def by_lines(file):
	"""The sums by the rule itself: all before the last blank, and the number behind it."""
	stacks = {}
	for line in file.read_text().splitlines():
		names, _, weight = line.rpartition(" ")
		stacks[tuple(names.split(";"))] = stacks.get(tuple(names.split(";")), 0) + int(weight)
	return stacks


@corpus.case("folded/jlfwong+speedscope/sample/profiles/stackcollapse/simple*.txt", "speedscope's snapshot")
def snapshots(file):
	stacks, functions = snapshot(TESTS[file.name])
	corpus.same_stacks(corpus.folded(file), stacks)
	rows = corpus.report(file)["rows"]
	corpus.same("functions", {r["name"]: (r["exclusive"], r["inclusive"]) for r in rows}, functions)
	return f"{len(stacks)} stacks, {len(functions)} functions, {sum(stacks.values())}"


@corpus.case("folded/jlfwong+speedscope/sample/profiles/stackcollapse/[art]*.txt", "its lines, summed up")
@corpus.case("folded/async-profiler+async-profiler/**/*.collapsed", "its lines, summed up")
def sums(file):
	stacks = by_lines(file)
	corpus.same_stacks(corpus.folded(file), stacks)
	return f"{len(stacks)} stacks, {sum(stacks.values())}"


corpus.main("folded", ["folded"])
