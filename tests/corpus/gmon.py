"""gmon.out compared with what gprof prints of it."""

import re

import corpus

ENTRY = re.compile(r"\[(\d+)\] +([\d.]+) +([\d.]+) +([\d.]+)(?: +(\d+)(?:\+(\d+))?)? +(\S+) \[\d+\]$")
ARC = re.compile(r" +([\d.]+) +([\d.]+) +(\d+)/(\d+) +(\S+) \[\d+\]$")
CENT = 10_000_000 # gprof prints hundredths of seconds


def near(ns, printed):
	"""Whether ns is the printed figure, by either rounding."""
	return abs(ns - float(printed) * 1e9) <= CENT / 2 + 1


@corpus.case("generated/c-small/gmon.out", "gprof -b")
def graph(file):
	text = corpus.expected(file, name="gprof.txt").decode()
	program = corpus.use(file.with_name("work_pg"))
	found = corpus.report(file, "--exe", program, "--view", "graph")
	rows = {row["name"]: row for row in found["rows"]}
	entries = arcs = 0
	for block in text.split("Call graph")[1].split("-----------------------------------------------"):
		lines = block.splitlines()
		place = next((i for i, line in enumerate(lines) if ENTRY.match(line)), None)
		if place is None:
			continue
		index, percent, self, children, calls, inside, name = ENTRY.match(lines[place]).groups()
		row = rows[name]
		entries += 1
		corpus.same(f"index of {name}", row["index"], int(index))
		assert near(row["self"], self) and near(row["children"], children), (row, lines[place])
		assert abs(row["percent"] - float(percent)) <= 0.051, (row, percent)
		if calls:
			corpus.same(f"calls of {name}", row["called"], {"outside": int(calls), "inside": int(inside or 0)})
		for i, line in enumerate(lines):
			match = ARC.match(line)
			if not match:
				continue
			arcs += 1
			of = {c["name"]: c for c in row["callers" if i < place else "callees"]}[match[5]]
			assert near(of["self"], match[1]) and near(of["children"], match[2]), (of, line)
			corpus.same(f"calls between {name} and {match[5]}", (of["calls"], of["of"]), (int(match[3]), int(match[4])))
	corpus.same("functions", entries, len(rows))
	return f"{entries} functions and {arcs} lines of callers and callees: order, times, counts"


corpus.leave_out("generated/c-small/work_pg", "the program")
corpus.main("gmon", ["generated/c-small/gmon.out", "generated/c-small/gprof.txt"])
