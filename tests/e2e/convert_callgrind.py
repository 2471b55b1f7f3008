#!/usr/bin/env python3
"""What callgrind_annotate and Graphviz make of the files that sonde writes for them."""

import json
import re
import shutil
import subprocess

import harness
from harness import sonde

GOLDEN = harness.SOURCE_ROOT / "tests" / "golden" / "in"


def annotated(file, *options):
	"""(total, {function: weight}) as callgrind_annotate has them."""
	if not shutil.which("callgrind_annotate"):
		raise harness.Skip("no callgrind_annotate here")
	text = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", *options, str(file)],
		capture_output=True, text=True, check=True).stdout
	total = int(re.search(r"^\s*([\d,]+) .*PROGRAM TOTALS", text, re.M)[1].replace(",", ""))
	weights = {}
	for weight, name in re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+\S*?:(.*?)(?: \[.*\])?$", text, re.M):
		weights[name] = weights.get(name, 0) + int(weight.replace(",", ""))
	return total, weights


def compare(source, folder):
	written = folder / "out.callgrind"
	result = sonde("convert", str(GOLDEN / source), "-o", str(written))
	assert result.status == 0, result
	report = json.loads(sonde("report", str(GOLDEN / source), "--format", "json").out)
	total, exclusive = annotated(written)
	assert total == report["total"], (source, total)
	wanted = {row["name"]: row["exclusive"] for row in report["rows"] if row["exclusive"]}
	assert {n: w for n, w in exclusive.items() if w} == wanted, (source, exclusive, wanted)
	_, inclusive = annotated(written, "--inclusive=yes")
	wanted = {row["name"]: row["inclusive"] for row in report["rows"] if row["inclusive"]}
	assert inclusive == wanted, (source, inclusive, wanted)


def test_callgrind_annotate_has_the_same_figures(folder):
	for source in ("shares.folded", "recursion.folded", "diff-new.folded"):
		compare(source, folder)


INLINED = """sonde-dump 1
metric "cpu-time" "ns" default
function "main" file "m.c" line 1
frame file "m.c" line 2
frame file "inlined.h" line 7
function "next" file "m.c" line 20
frame file "m.c" line 21
function "other" file "m.c" line 30
frame file "m.c" line 31
stack 0
stack 1 "main"@2 100
stack 2 "next" 200
stack 3 "other" 400
end
"""


def test_functions_are_in_their_own_files(folder):
	"""The file of a place that was inlined is not that of the next function, nor of what is called there."""
	(folder / "inlined.dump").write_text(INLINED)
	assert sonde("convert", str(folder / "inlined.dump"), "-o", str(folder / "out.callgrind")).status == 0
	# The dump does not say how many samples there were: no costs of calls become a function's own.
	assert annotated(folder / "out.callgrind") == (700, {"main": 100, "next": 200, "other": 400})
	text = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--inclusive=yes",
		str(folder / "out.callgrind")], capture_output=True, text=True, check=True).stdout
	found = re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+(\S*?:\S+)", text, re.M)
	assert ("600", "m.c:next") in found and ("400", "m.c:other") in found, found
	assert not [name for _, name in found if name in ("inlined.h:next", "inlined.h:other")], found


def test_names_that_kcachegrind_lists(folder):
	"""callgrind.out* is recognized by how it begins, unless an extension says something else."""
	source = str(GOLDEN / "shares.folded")
	for name, begins in (("callgrind.out.7", "# callgrind"), ("callgrind.out", "# callgrind"), ("callgrind.out.dump", "sonde-dump")):
		assert sonde("convert", source, "-o", str(folder / name)).status == 0
		assert (folder / name).read_text().startswith(begins), name
	assert sonde("convert", source, "-o", str(folder / "x.pprof")).status == 0
	assert (folder / "x.pprof").read_bytes().startswith(b"\x1f\x8b")
	assert sonde("convert", source, "-o", str(folder / "my.callgrind.out.7")).status == 2


def test_graphviz_draws_the_call_graph(folder):
	if not shutil.which("dot"):
		raise harness.Skip("no dot of Graphviz here")
	for source in ("cycle.dump", "calls.callgrind", "shares.folded"):
		dot, svg = folder / "g.dot", folder / "g.svg"
		assert sonde("convert", str(GOLDEN / source), "-o", str(dot)).status == 0
		drawn = subprocess.run(["dot", "-Tsvg", str(dot), "-o", str(svg)], capture_output=True, text=True)
		assert drawn.returncode == 0 and not drawn.stderr, drawn.stderr
		assert "main" in svg.read_text()
		if shutil.which("xmllint"):
			subprocess.run(["xmllint", "--noout", "--nonet", str(svg)], check=True)


harness.main()
