"""The JSON of every view at every level: exactly the keys that the manual page lists, whole numbers
where it says so, and the sums that hold in it, on small profiles and on a recording.
"""

import itertools
import json

import harness
import recording
from harness import SOURCE_ROOT, check, sonde

GOLDEN = SOURCE_ROOT / "tests" / "golden" / "in"
# Recursion of all kinds, cycles, truncated and unknown frames, threads, inlined and counted calls.
HAS_CALLS = ("cycle.dump",)
FILES = ("array.folded", "calc.folded", "conservative.folded", "cycle.dump", "events.dump",
	"list.dump", "modules.folded", "recursion.folded", "recording.dump", "shares.folded", "threads.dump")
HAS_THREADS = ("threads.dump",)
LEVELS = ("function", "module", "file", "line", "instruction", "thread", "process")
VIEWS = {view: LEVELS for view in ("functions", "deep", "callers", "graph", "tree")}
VIEWS.update(modules=("module",), lines=("line",), threads=("thread",), stats=("function",))

HEAD = ["sonde", "view", "level", "metric", "total", "filters", "notes", "rows"]
FLAT = ["name", "module", "file", "line", "exclusive", "inclusive"]
STATS = ["counted", "expected", "lost", "foreign", "critical", "guessed", "excluded", "duration_ns", "cpu_ns",
	"interval_ns", "fit"]
ROWS = {
	"deep": [*FLAT, "shallow", "deep"],
	"callers": ["name", "module", "exclusive", "inclusive", "callers", "callees"],
	"tree": ["level", "name", "module", "kind", "direct", "indirect", "in_only", "target"],
	"graph": ["index", "name", "module", "kind", "cycle", "percent", "self", "children", "called",
		"callers", "members", "callees"],
	"stats": STATS,
}
GRAPH_LINE = ["name", "module", "index", "self", "children", "calls"]
LINES = {
	("callers", "callers"): ["name", "module", "attributed", "recursive"],
	("callers", "callees"): ["name", "module", "attributed", "recursive"],
	("graph", "callers"): [*GRAPH_LINE, "of"],
	("graph", "members"): GRAPH_LINE,
	("graph", "callees"): [*GRAPH_LINE, "of"],
}
# Where calls were counted, which is between functions.
HAVE_CALLS = {"functions": ("function", "module", "file"), "modules": ("module",)}
# Where a line or an instruction is, in all rows and lines.
PLACES = {"line": ["file", "line"], "instruction": ["file", "line", "address"]}
INTEGERS = {"level", "exclusive", "inclusive", "shallow", "deep", "attributed", "self", "children", "index",
	"cycle", "direct", "indirect", "in_only"}
OR_NULL = {"line", "address", "target", "calls", "of", *STATS}
# A stub has no figures, a line between members no times, <spontaneous> no entry.
MAY_LACK = {"stub": {"direct", "indirect", "in_only"}, "graph": {"self", "children", "index"}}


def report(file, view, *options):
	"""Parsed; no name twice in an object, no NaN."""
	def once(pairs):
		keys = [key for key, _ in pairs]
		assert len(keys) == len(set(keys)), keys
		return dict(pairs)

	done = check(sonde("report", file, "--view", view, "--format", "json", *options))
	assert done.err == "", done
	return json.loads(done.out, object_pairs_hook=once, parse_constant=lambda word: 1 / 0)


def expect_keys(item, keys, level):
	wanted = set(keys) | set(PLACES.get(level, ()))
	assert set(item) == wanted, f"more {set(item) - wanted}, less {wanted - set(item)}: {item}"


def expect_types(item, may_lack=frozenset()):
	for key, value in item.items():
		if key == "fit":
			good = value is None or type(value) is bool
		elif key in INTEGERS | OR_NULL:
			good = type(value) is int or (value is None and key in OR_NULL | may_lack)
		elif key == "name":
			good = type(value) is str and value != ""
		elif key in ("module", "file"):
			good = value is None or (type(value) is str and value != "")
		elif key == "recursive":
			good = type(value) is bool
		elif key == "percent":
			good = type(value) is float or value is None
		else:
			continue
		assert good, f"{key}: {value!r} in {item}"


def expect_head(document, view, level):
	assert list(document) == HEAD, list(document)
	assert document["sonde"] == 1 and document["view"] == view and document["level"] == level, document
	assert set(document["metric"]) == {"name", "unit"}
	assert type(document["total"]) is int
	for note in document["notes"]:
		assert set(note) == {"kind", "count", "text"} and type(note["count"]) is int, note


def expect_rows(document, has_calls=False):
	view, level = document["view"], document["level"]
	own_keys = [*ROWS.get(view, FLAT), *(["calls"] if has_calls and level in HAVE_CALLS.get(view, ()) else ())]
	for row in document["rows"]:
		expect_keys(row, own_keys, level if view != "stats" else None)
		expect_types(row, MAY_LACK["stub"] if row.get("kind") == "stub" else set())
		for (of, part), keys in LINES.items():
			for line in row[part] if of == view else ():
				expect_keys(line, keys, level)
				expect_types(line, MAY_LACK["graph"] if view == "graph" else set())


def times(line):
	return (line["self"] or 0) + (line["children"] or 0)


def flat_sums(document, total):
	assert sum(row["exclusive"] for row in document["rows"]) == total
	for row in document["rows"]:
		assert 0 <= row["exclusive"] <= row["inclusive"] <= total, row
		assert row.get("shallow", row["exclusive"]) == row["exclusive"], row
		assert row.get("deep", row["inclusive"]) == row["inclusive"], row


def callers_sums(document, total):
	for row in document["rows"]:
		assert sum(line["attributed"] for line in row["callers"]) == row["inclusive"], row
		assert row["exclusive"] + sum(line["attributed"] for line in row["callees"]) == row["inclusive"], row
		for line in row["callers"] + row["callees"]:
			assert line["attributed"] == 0 if line["recursive"] else line["attributed"] > 0, row
	flat_sums(document, total)


def graph_sums(document, total):
	rows = document["rows"]
	assert [row["index"] for row in rows] == list(range(1, len(rows) + 1))
	names = {row["index"]: row["name"] for row in rows}
	units = [row for row in rows if row["kind"] == "cycle" or row["cycle"] == 0]
	assert sum(row["self"] for row in units) == total
	for row in rows:
		assert times(row) <= total, row
		assert sum(map(times, row["callees"])) == row["children"], row
		assert (row["kind"] == "cycle") == bool(row["members"]), row
		assert row["called"] is None or set(row["called"]) == {"outside", "inside"}, row
		for line in row["callers"] + row["members"] + row["callees"]:
			assert names.get(line["index"], "<spontaneous>") == line["name"], line
	for row in units:
		members = [r for r in rows if r["cycle"] == row["cycle"] and r["kind"] == "function"] \
			if row["cycle"] else [row]
		assert sum(map(times, row["callers"])) == times(row), row
		assert sum(sum(map(times, m["callers"])) for m in members) == times(row), row
		assert sum(m["self"] for m in members) == row["self"], row
		assert sum(m["children"] for m in members) == row["children"], row


def tree_sums(document, total):
	rows, path = document["rows"], []
	assert sum(row["in_only"] or 0 for row in rows) == total
	for row in rows:
		assert 1 <= row["level"] <= len(path) + 1, row
		del path[row["level"] - 1:]
		path.append(row)
		if row["kind"] == "stub":
			target = rows[row["target"]]
			assert target["kind"] == "node" and target["name"] == row["name"], row
			assert row["direct"] is row["indirect"] is row["in_only"] is None, row
		else:
			assert row["kind"] == "node" and row["target"] is None, row
			assert row["direct"] + row["indirect"] <= total, row
			assert all(node["kind"] == "node" for node in path[:-1]), row


SUMS = {"callers": callers_sums, "graph": graph_sums, "tree": tree_sums, "stats": lambda *_: None}


def expect_view(file, view, level, *options, shown=None):
	"""shown: what stacks that are seen have together, where that is not the total."""
	document = report(file, view, *options, *(("--level", level) if len(VIEWS[view]) > 1 else ()))
	expect_head(document, view, level)
	expect_rows(document, getattr(file, "name", "") in HAS_CALLS)
	SUMS.get(view, flat_sums)(document, document["total"] if shown is None else shown)
	return document


def expect_all(file, *options, has_threads=True):
	for view, levels in VIEWS.items():
		for level in levels:
			if level in ("thread", "process") and not has_threads:
				continue
			try:
				expect_view(file, view, level, *options)
			except AssertionError as error:
				raise AssertionError(f"{file}, {view}, {level}, {options}: {error}") from error


@harness.takes_long
def test_every_view_at_every_level():
	for file in FILES:
		expect_all(GOLDEN / file, has_threads=file in HAS_THREADS)


def test_under_filters_and_other_readings():
	for file, options in (
			("array.folded", ("--focus", "insert")),
			("array.folded", ("--spread",)),
			("calc.folded", ("--same", "^.=x")),
			("recording.dump", ("--hide", "eval")),
			("recursion.folded", ("--ignore", "^s$")),
			("threads.dump", ("--thread", "worker")),
			("threads.dump", ("--time", "15ms:35ms"))):
		for view in ("functions", "callers", "graph", "tree"):
			document = report(GOLDEN / file, view, *options)
			expect_rows(document)
			SUMS.get(view, flat_sums)(document, document["total"])


def test_when_keeps_the_total():
	pattern = ("--when", ".drawLine:->*")
	whole = report(GOLDEN / "array.folded", "functions")
	part = report(GOLDEN / "array.folded", "functions", *pattern)
	shown = sum(row["exclusive"] for row in part["rows"])
	assert part["total"] == whole["total"] and 0 < shown < whole["total"]
	assert [set(f) for f in part["filters"]] == [{"filter", "value", "kept"}], part["filters"]
	for view in ("functions", "deep", "callers", "graph", "tree"):
		expect_view(GOLDEN / "array.folded", view, "function", *pattern, shown=shown)


def test_trees_in_every_collapse_and_order():
	for file, collapse, order in itertools.product(("calc.folded", "recursion.folded", "conservative.folded"),
			("none", "direct", "conservative", "full"), ("weight", "first")):
		expect_view(GOLDEN / file, "tree", "function", "--collapse", collapse, "--order", order)


def test_inverted_trees():
	for file in FILES:
		document = report(GOLDEN / file, "tree", "--invert")
		expect_head(document, "tree", "function")
		expect_rows(document)
		roots = [row for row in document["rows"] if row["level"] == 1]
		assert sum(row["direct"] for row in roots) == document["total"], file


def test_callers_and_functions_agree():
	for file, level in itertools.product(FILES, LEVELS[:5]):
		figures = [sorted((row["name"], row["module"] or "", row["exclusive"], row["inclusive"])
			for row in report(GOLDEN / file, view, "--level", level)["rows"] if row["inclusive"])
			for view in ("functions", "callers")]
		assert figures[0] == figures[1], (file, level)


def test_further_metrics_are_in_each_row():
	document = report(GOLDEN / "threads.dump", "functions", "--metric", "cpu-time,samples")
	for row in document["rows"]:
		expect_keys(row, [*FLAT, "metrics"], None)
		assert [set(m) for m in row["metrics"]] == [{"exclusive", "inclusive"}] * 2, row
		assert row["metrics"][0] == {key: row[key] for key in ("exclusive", "inclusive")}, row


def test_differences_add_up():
	done = check(sonde("diff", GOLDEN / "diff-old.folded", GOLDEN / "diff-new.folded", "--format", "json"))
	document = json.loads(done.out)
	assert list(document) == [*HEAD[:5], "old", "new", *HEAD[5:]], list(document)
	assert document["total"] == document["new"]["total"] - document["old"]["total"]
	for row in document["rows"]:
		expect_keys(row, [*FLAT, "old", "new", "significant"], None)
		for key in ("exclusive", "inclusive"):
			assert row[key] == row["new"][key] - row["old"][key], row
	assert sum(row["exclusive"] for row in document["rows"]) == document["total"]


@harness.takes_long
def test_a_recording_of_mutual_recursion(folder):
	recording.needs_sampling()
	program = recording.program(folder, "mutual")
	expect_all(recording.record(folder, program, harness.work(20)).path)


harness.main()
