"""
Whether what a tool says of a recursive function adds up: its inclusive figure, what its callers come to, and what
its own line and its callees come to, each in percent of all that was measured.
"""
import os
import re
import shutil
import subprocess
import sys

from harness import HERE, ROOT, SINK, SONDE, Skip, capture, run, sonde_report
from rows_views import POINTERS, need
from tools import GPROFNG, PERF_FP, SNAPSHOT

# Program, its arguments when it is sampled and when it is counted, the function that recurs.
PROGRAMS = {
	"a function that calls itself (deep, `level`)": ("deep", ["30", "20000"], ["30", "20"], "level"),
	"three in a cycle (mutual, `first`)": ("mutual", ["3000"], ["20"], "first"),
}
NUMBER = r"\d+\.\d+"


class Sums:
	"""In percent; None: the tool has no such figure."""

	def __init__(self, inclusive, callers=None, callees=None):
		self.inclusive, self.callers, self.callees = inclusive, callers, callees

	def __str__(self):
		return " / ".join("–" if part is None else f"{part:.1f}" for part in (self.inclusive, self.callers, self.callees))


def built(bench, name, *flags):
	def make():
		path = bench.path(f"{name}{''.join(flags)}")
		run(["cc", *POINTERS, *flags, os.path.join(ROOT, "tests/programs", name + ".c"), "-o", path])
		return path
	return bench.keep((name, flags), make)


def recording(bench, tool, program):
	name, arguments = program[:2]
	return bench.keep((tool.label, name, "sums"), lambda: tool.record(bench, [built(bench, name), *arguments]))


def noted(bench, command):
	bench.note(command)
	return capture(command).decode(errors="replace")


def sonde(bench, program):
	path = recording(bench, SNAPSHOT, program).path
	bench.note([SONDE, "report", path, "--view", "callers", "--format", "json"])
	report = sonde_report(path, "--view", "callers")
	row = next(row for row in report["rows"] if row["name"] == program[3])
	callers, callees = (sum(line["attributed"] for line in row[part]) for part in ("callers", "callees"))
	return Sums(*(100 * part / report["total"] for part in (row["inclusive"], callers, row["exclusive"] + callees)))


def perf(bench, program):
	path = recording(bench, PERF_FP, program).path
	text = noted(bench, ["perf", "report", "--stdio", "-f", "-i", path, "--children", "-g", "none"])
	return Sums(float(re.search(rf"^\s*({NUMBER})%.* {program[3]}\s*$", text, re.M).group(1)))


def pprof(bench, program):
	"""Of sonde's stacks, so that it has the same samples."""
	need("go", "golang-go")
	folded, path = bench.path("sums.folded"), bench.path("sums.pb.gz")
	with open(folded, "wb") as out:
		out.write(capture([SONDE, "report", recording(bench, SNAPSHOT, program).path, "--format", "folded"]))
	run([sys.executable, os.path.join(HERE, "make_pprof.py"), folded, path])
	text = noted(bench, ["go", "tool", "pprof", f"-peek=^{program[3]}$", "-nodefraction=0", "-edgefraction=0", path])
	total = int(re.search(r"(\d+) total", text).group(1))
	above, own, below = re.search(rf"-\n((?:\s+\d.*\|   .*\n)*)(.*\| {program[3]}\s*\n)((?:\s+\d.*\|   .*\n)*)", text).groups()
	exclusive, _, _, inclusive = own.split()[:4]
	callers, callees = (sum(int(line.split()[0]) for line in part.splitlines()) for part in (above, below))
	return Sums(*(100 * part / total for part in (int(inclusive), callers, int(exclusive) + callees)))


def gprof(bench, program):
	need("gprof", "binutils")
	path = built(bench, program[0], "-pg")
	bench.note([path, *program[1]])
	subprocess.run([path, *program[1]], cwd=bench.scratch, stdin=SINK, stdout=SINK, check=True)
	text = noted(bench, ["gprof", "-b", "-q", path, bench.path("gmon.out")])
	total = float(re.search(rf"of ({NUMBER}) seconds", text).group(1))
	entry = next(entry for entry in text.split("-----\n")
		if re.search(rf"^\[\d+\].* {program[3]} (<cycle \d+> )?\[\d+\]$", entry, re.M))
	callers, own, callees = re.search(r"((?:^ .*\n)*)^\[\d+\]\s+\S+(.*)\n((?:^ .*\n)*)", entry, re.M).groups()
	callers, own, callees = (sum(map(float, re.findall(NUMBER, part))) for part in (callers, own, re.sub(r"^\s+\d+ .*", "",
		callees, flags=re.M)))
	self_s = float(re.search(rf"^\[\d+\]\s+\S+\s+({NUMBER})", entry, re.M).group(1))
	return Sums(*(100 * part / total for part in (own, callers, self_s + callees)))


def gprofng(bench, program):
	path = recording(bench, GPROFNG, program).path
	total = GPROFNG.functions(recording(bench, GPROFNG, program)).get("<Total>", (0, 0))[0]
	if total == 0:
		raise Skip("no samples: its timer hardly fires on this machine")
	text = noted(bench, ["gprofng", "display", "text", "-callers-callees", path])
	block = next(block for block in text.split("\n\n") if f"*{program[3]}\n" in block + "\n")
	lines = re.findall(r"^\d+\.\d*\s.*", block, re.M)
	parts = [float(line.split()[0]) for line in lines]
	own = next(i for i, line in enumerate(lines) if f"*{program[3]}" in line)
	inclusive = GPROFNG.functions(recording(bench, GPROFNG, program))[program[3]][1]
	return Sums(*(100 * part / total for part in (inclusive, sum(parts[:own]), sum(parts[own:]))))


def callgrind(bench, program):
	need("callgrind_annotate", "valgrind")
	path = bench.path(f"{program[0]}.callgrind")
	command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}", built(bench, program[0]), *program[2]]
	bench.note(command)
	run(command)
	tree = noted(bench, ["callgrind_annotate", "--inclusive=yes", "--tree=both", path])
	plain = noted(bench, ["callgrind_annotate", path])

	def percents(mark, block):
		return sum(float(part) for part in re.findall(rf"\(\s*({NUMBER})%\)  {mark} ", block))
	block = max((block for block in tree.split("\n\n") if re.search(rf"\*  .*:{program[3]}('\d+)?( |$)", block, re.M)),
		key=lambda block: percents(r"\*", block))
	# Recursive calls are a function of their own, NAME'2.
	name = re.search(rf"\*  .*:({program[3]}(?:'\d+)?)(?: |$)", block, re.M).group(1)
	own = sum(float(part) for part in re.findall(rf"\(\s*({NUMBER})%\)  \S*:{name}(?: |$)", plain, re.M))
	return Sums(percents(r"\*", block), percents("<", block), own + percents(">", block))


TOOLS = [("sonde, callers", sonde), ("perf report --children", perf), ("go pprof -peek", pprof), ("gprof", gprof),
	("gprofng -callers-callees", gprofng), ("callgrind_annotate --tree=both", callgrind)]
HEAD = ["| tool | " + " | ".join(PROGRAMS) + " |", "|---|" + "---|" * len(PROGRAMS)]


def told(bench, tool, program):
	try:
		return str(tool(bench, program))
	except (Skip, OSError, subprocess.SubprocessError) as why:
		return f"not here: {why}"
	except (AttributeError, StopIteration):
		return "does not show it"


def rows(bench):
	"""A line of the table for each tool, and what was run."""
	bench.commands = []
	found = []
	for label, tool in TOOLS:
		found.append(f"| {label} | {' | '.join(told(bench, tool, program) for program in PROGRAMS.values())} |")
		print(found[-1], flush=True)
	return found, "sums:\n" + "".join(f"  {command}\n" for command in bench.commands)
