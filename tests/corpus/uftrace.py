#!/usr/bin/env python3
"""uftrace's folders compared with uftrace report and uftrace dump --flame-graph."""

import re

import corpus
import harness

UNITS = {"us": 10**3, "ms": 10**6, "s": 10**9}
FOLDER = "generated/c-small/uftrace.data"


def in_ns(number, unit):
	"""The range that a rounded time stands for."""
	return float(number) * UNITS[unit]


@corpus.case(FOLDER + "/info", "uftrace report, dump --flame-graph")
def c_small(file):
	corpus.use(file.parent)
	expected = corpus.use(file.parent.parent / "uftrace_report.txt").read_text()
	found = {row["name"]: row for row in corpus.report(file.parent)["rows"]}
	calls = {row["name"]: row["exclusive"] for row in corpus.report(file.parent, "--metric", "calls")["rows"]}
	names = 0
	for total, total_unit, own, own_unit, count, name in re.findall(
			r"^ +(\S+) (us|ms|s) +(\S+) (us|ms|s) +(\d+)  (\S+)$", expected, re.M):
		names += 1
		for key, number, unit in (("inclusive", total, total_unit), ("exclusive", own, own_unit)):
			difference = found[name][key] - in_ns(number, unit)
			assert abs(difference) <= UNITS[unit] / 1000, f"{name}, {key}: {found[name][key]} and {number} {unit}"
		corpus.same(f"calls of {name}", calls[name], int(count))
	corpus.same("functions", len(found), names)
	stacks = corpus.folded(file.parent)
	wanted = {}
	for line in corpus.use(file.parent.parent / "uftrace.folded").read_text().splitlines():
		stack, _, weight = line.rpartition(" ")
		wanted[tuple(stack.split(";"))] = int(weight)
	left_out = set(stacks) - set(wanted)
	assert set(wanted) <= set(stacks) and all(stacks[s] < 1000 for s in left_out), left_out
	# Where a function calls others uftrace has more than its own report: the time of both is counted once.
	leaves = {s: w for s, w in wanted.items() if not any(o[:len(s)] == s and o != s for o in wanted)}
	corpus.same_stacks({s: stacks[s] // 1000 for s in leaves}, leaves)
	return f"{names} functions with times and calls, {len(wanted)} stacks, the weights of {len(leaves)} that call nothing"


@corpus.case("uftrace/2daeeun+SFUSE/uftrace.data/info", "uftrace, which refuses it")
def sfuse(file):
	corpus.use(file.parent)
	result = harness.sonde("report", str(file.parent))
	corpus.same("exit status", result.status, 1)
	assert "sid-8b024150c9e54bf3.map' is missing" in result.err, result
	return "refused: sid-8b024150c9e54bf3.map is missing"


corpus.leave_out("uftrace/**/*.txt", "uftrace's, of before the map was lost")
corpus.leave_out("generated/c-small/uftrace_replay_head.txt", "the calls that the report sums")
corpus.main("uftrace", ["uftrace", "generated/c-small/uftrace*"])
