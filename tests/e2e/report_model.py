"""Every view of small random profiles, figure by figure, against the plain model in model.py.

Profiles have few functions and deep stacks, so that all kinds of recursion occur, with load objects,
weights of 0 and below, lines that are malformed; options are drawn at random too. A round that fails
prints its profile and its command. SONDE_MODEL_ROUNDS=N asks for N rounds, SONDE_MODEL_SEED=S begins
with round S.
"""

import csv
import io
import json
import os

import harness
import model
from harness import sonde
from model_case import Case

ROUNDS = int(os.environ.get("SONDE_MODEL_ROUNDS", 0)) or (
	1000 if harness.LONG else 10 if harness.SANITIZED else 30)
SEED = int(os.environ.get("SONDE_MODEL_SEED", 1))
DEGREES = ("none", "direct", "conservative", "full")


def figures(row, *keys):
	"""The figures of a row or line, as the model has them: of each key (w,) or (new - old, old, new)."""
	if "old" not in row:
		return tuple((row[key],) for key in keys)
	return tuple((row[key], row["old"][key], row["new"][key]) for key in keys)


def entity(row):
	return model.Frame(row["name"], row["module"])


def by_entity(rows, value):
	"""{entity: value(row)}, each entity once."""
	table = {entity(row): value(row) for row in rows}
	assert len(table) == len(rows), rows
	return table


def same(got, expected):
	"""Compares two dicts, naming what differs."""
	wrong = {k: (got.get(k), expected.get(k)) for k in {**got, **expected} if got.get(k) != expected.get(k)}
	assert not wrong, "sonde has, the model has:\n" + "\n".join(f"{k}: {v}" for k, v in wrong.items())


def descending(values):
	values = list(values)
	assert values == sorted(values, reverse=True), values


def check_head(case, data, selection):
	total = selection.total()
	assert data["total"] == total[0], (data["total"], total)
	if case.diff:
		assert (data["old"]["total"], data["new"]["total"]) == total[1:]
	assert [f["kept"] for f in data["filters"]] == selection.kept, (data["filters"], selection.kept)
	check_remarks(data, selection)


def check_remarks(data, selection):
	"""A note reports weight that is in no row."""
	texts = " ".join(note["text"] for note in data["notes"])
	hidden = sum(w[0] for stack, w, matched in selection.left if matched and stack is None)
	assert (hidden != 0) == ("no frame of its stacks" in texts), (hidden, texts)
	if data["view"] in ("tree", "graph", "callers"):
		nobody = sum(w[0] for w in selection.spontaneous())
		assert (nobody != 0) == ("charges it to <spontaneous>" in texts), (nobody, texts)


# ---- The views


def check_functions(case):
	args, selection, samples = case.entities()
	view = case.random.choice(("functions", "deep"))
	data = case.report("--view", view, *args)
	check_head(case, data, selection)
	keys = ("exclusive", "inclusive")
	same(by_entity(data["rows"], lambda row: figures(row, *keys)),
		model.functions(samples, selection.spontaneous()))
	if view == "deep":
		for row in data["rows"]:
			assert figures(row, "shallow", "deep") == figures(row, *keys)
	if not case.diff:
		descending(row["exclusive"] for row in data["rows"])


def check_modules(case):
	args, selection = case.filters()
	data = case.report("--view", "modules", *args)
	check_head(case, data, selection)
	samples = [(model.at_level(stack, "module"), w) for stack, w in selection.samples()]
	same(by_entity(data["rows"], lambda row: figures(row, "exclusive", "inclusive")),
		model.functions(samples, selection.spontaneous()))


def lines_of(lines):
	return by_entity(lines, lambda line: (*figures(line, "attributed"), line["recursive"]))


def centre_of(row):
	return (*figures(row, "exclusive", "inclusive"), lines_of(row["callers"]), lines_of(row["callees"]))


def check_callers(case):
	args, selection, samples = case.entities()
	data = case.report("--view", "callers", *args)
	check_head(case, data, selection)
	same(by_entity(data["rows"], centre_of), model.callers(samples))


def check_center(case):
	args, selection = case.filters()
	samples = selection.samples()
	run = [case.random.choice(case.frames) for _ in range(case.random.choice((1, 1, 2, 3)))]
	here = {frame for stack, _ in case.samples for frame in stack}
	sets, names = [], []
	for frame in run:
		alone = frame.module and case.random.random() < 0.5
		names.append(f"{frame.module}`{frame.name}" if alone else frame.name)
		sets.append({f for f in here if f.name == frame.name and (not alone or f.module == frame.module)})
	result = case.run("--format", "json", "--center", ";".join(names), *args)
	expected = model.callers_of(samples, sets, case.width)
	if result.status:
		assert result.status == 1 and not any(expected[1]), (result, expected)
		return
	rows = json.loads(result.out)["rows"]
	if not rows:
		assert not any(map(any, expected[:2])) and not any(expected[2:]), expected
		return
	assert len(rows) == 1
	assert rows[0]["name"] == ";".join(frame.name for frame in run)
	assert centre_of(rows[0]) == expected, (rows[0], expected)


def tree_rows(node):
	"""{path of names and modules: what is shown of it}, for nodes and stubs below a node of the model."""
	rows = {}
	for child in node.children.values():
		if not child.shown():
			continue
		path = tuple(n.entity for n in child.path())
		if child.target is not None:
			rows[path] = tuple(n.entity for n in child.target.path())
			continue
		rows[path] = (child.direct, child.indirect, child.in_only)
		rows.update(tree_rows(child))
	return rows


def tree_paths(rows):
	"""Rows of JSON as tree_rows has them."""
	paths, table, stack = [], {}, []
	for row in rows:
		stack = stack[:row["level"] - 1] + [entity(row)]
		assert len(stack) == row["level"], row
		paths.append(tuple(stack))
	for path, row in zip(paths, rows):
		keys = ("direct", "indirect", "in_only")
		assert path not in table, path
		if row["kind"] == "stub":
			assert all(row[key] is None for key in keys), row
			table[path] = paths[row["target"]]
		else:
			assert row["kind"] == "node" and row["target"] is None, row
			table[path] = figures(row, *keys)
	return table


def check_tree_order(rows):
	"""By weight, heaviest first, stubs last, among the children of each node."""
	last = {}
	for row in rows:
		level = row["level"]
		last = {above: key for above, key in last.items() if above <= level}
		weight = None if row["kind"] == "stub" else row["direct"] + row["indirect"]
		key = (weight is None, 0 if weight is None else -weight)
		assert last.get(level, key) <= key, rows
		last[level] = key


def check_tree(case):
	args, selection, samples = case.entities()
	degree = case.random.choice(DEGREES)
	args += ["--collapse", degree]
	if case.random.random() < 0.2:
		args.append("--invert")
		samples = [(stack[::-1], w) for stack, w in samples]
	first = case.random.random() < 0.3
	if first:
		args += ["--order", "first"]
	data = case.report("--view", "tree", *args)
	check_head(case, data, selection)
	got, expected = tree_paths(data["rows"]), tree_rows(model.tree(samples, degree, case.width))
	same(got, expected)
	if first and "--invert" not in args:
		assert list(got) == list(expected), (list(got), list(expected))
	elif not first and not case.diff:
		check_tree_order(data["rows"])


def graph_lines(lines):
	def times(line):
		if line["self"] is None:
			assert line["children"] is None
			return None
		return figures(line, "self", "children")
	for line in lines:
		assert line["calls"] is None and line.get("of") is None, line
	return by_entity(lines, times)


def expected_lines(lines):
	return {e: line and tuple(line) for e, line in lines.items()
		if line is None or any(line.self) or any(line.children)}


def check_graph(case):
	args, selection, samples = case.entities()
	data = case.report("--view", "graph", *args)
	check_head(case, data, selection)
	entries, units = model.graph(samples, case.width)
	rows = data["rows"]
	cycles = {row["cycle"]: frozenset(map(entity, row["members"])) for row in rows if row["kind"] == "cycle"}
	keys = {row["index"]: cycles[row["cycle"]] if row["kind"] == "cycle" else entity(row) for row in rows}
	assert [row["index"] for row in rows] == list(range(1, len(rows) + 1))
	assert sorted(cycles) == list(range(1, len(cycles) + 1)), cycles
	assert set(keys.values()) == {k for k, e in entries.items() if e.shown()}, (keys, entries)
	for row in rows:
		# A change is no part of the sum of all changes.
		check_entry(row, keys, entries, units, 0 if case.diff else data["total"])
	if not case.diff:
		check_graph_order(rows)


def check_entry(row, keys, entries, units, total):
	key = keys[row["index"]]
	entry = entries[key]
	unit = key if row["kind"] == "cycle" else units[key]
	assert figures(row, "self", "children") == (entry.self, entry.children), (row, entry.__dict__)
	assert row["called"] is None
	assert (row["cycle"] != 0) == (len(unit) > 1), row
	if row["kind"] == "cycle":
		assert row["name"] == f"<cycle {row['cycle']} as a whole>" and row["module"] is None, row
	elif row["cycle"]:
		assert any(k == unit for k in keys.values()), row
	same(graph_lines(row["callers"]), expected_lines(entry.callers))
	same(graph_lines(row["callees"]), expected_lines(entry.callees))
	members = {e: (entries[e].self, entries[e].children) for e in unit} if row["kind"] == "cycle" else {}
	same(graph_lines(row["members"]), members)
	for line in (*row["callers"], *row["members"], *row["callees"]):
		outside = entity(line) == model.SPONTANEOUS
		assert line["index"] is None if outside else keys[line["index"]] == entity(line), line
	if total == 0:
		assert row["percent"] is None or row["percent"] == 0, row
	else:
		percent = 100 * (row["self"] + row["children"]) / total
		assert abs(row["percent"] - percent) < 1e-4 * max(1, abs(percent)), row


def check_graph_order(rows):
	"""Heaviest first, of equals the caller first; a cycle stands before its members, also where weights
	below 0 make it lighter."""
	cycles, last = {}, None
	for row in rows:
		weight = row["self"] + row["children"]
		if row["kind"] == "cycle":
			cycles[row["cycle"]] = weight
		elif row["cycle"]:
			weight = min(weight, cycles[row["cycle"]])
		if last is not None:
			assert last[0] >= weight, (last, row)
			back = [line["self"] for line in row["callees"] if line["index"] == last[1]]
			assert last[0] > weight or back in ([], [None]), ("callee before its caller", last, row)
		last = (weight, row["index"])


# ---- What is the same for every view


def check_limit_and_sort(case):
	"""A limit keeps the first rows of all; numbers are sorted downwards, names upwards."""
	args, _, _ = case.entities()
	column, limit = case.random.choice(("exclusive", "inclusive", "name")), case.random.randint(1, 4)
	args += ["--view", "functions", "--sort", column]
	whole = case.report(*args, "--limit", "0")["rows"]
	assert case.report(*args)["rows"] == whole
	assert case.report(*args, "--limit", str(limit))["rows"] == whole[:limit]
	values = [row[column] for row in whole]
	if column == "name":
		# The k-th f'k stand with their f, of each load object.
		assert "--spread" in args or values == sorted(values), values
	elif not case.diff:
		descending(values)


def check_csv(case):
	"""CSV has the rows of JSON."""
	args, _, _ = case.entities()
	view = case.random.choice(("functions", "deep", "tree"))
	rows = case.report("--view", view, *args)["rows"]
	result = case.run("--view", view, *args, "--format", "csv")
	assert result.status == 0, result
	table = list(csv.DictReader(io.StringIO(result.out_bytes.decode(), newline="")))
	assert len(table) == len(rows), (table, rows)
	for got, row in zip(table, rows):
		for key, value in row.items():
			if not isinstance(value, (dict, bool)) and key in got:
				assert got[key] == ("" if value is None else str(value)), (key, got, row)


def check_folded(case):
	"""Folded output, read again, is what filters left; a stack that is hidden whole is [unknown]."""
	args, selection = case.filters()
	if case.diff:
		return
	result = case.run("--format", "folded", "--modules", *args)
	assert result.status == 0, result
	got, malformed = model.read_folded(result.out_bytes.decode())
	assert not malformed, result
	expected = model.Sums()
	for stack, weights, matched in selection.left:
		if matched and stack != ():
			expected.add(stack or (model.Frame("[unknown]", None),), weights)
	same(dict(model.summed(got)), {stack: w for stack, w in expected.of.items() if any(w)})


def check_merge(case):
	"""What is merged is what its parts are together."""
	out = case.folder / "merged.prof"
	merged = sonde("merge", "-o", out, *case.files, *case.files[:1])
	assert merged.status == 0, merged
	profiles = case.profiles()
	samples = model.summed([sample for profile in profiles + profiles[:1] for sample in profile])
	result = sonde("report", out, "--format", "json", "--view", "tree", "--collapse", "none")
	assert result.status == 0, result
	data = json.loads(result.out)
	assert data["total"] == sum(w[0] for _, w in samples)
	same(tree_paths(data["rows"]), tree_rows(model.tree(samples, "none")))
	out.unlink()


def check_notes(case):
	"""Each malformed line is counted, and its number told."""
	if case.diff:
		return
	_, malformed = model.read_folded(case.files[0].read_bytes().decode())
	notes = [note for note in case.report()["notes"] if note["kind"] == "bad-record"]
	assert sum(note["count"] for note in notes) == len(malformed), (notes, malformed)
	for note in notes:
		numbers = note["text"].rpartition("line")[2].lstrip("s ").split(", ")
		assert numbers == [str(number) for number in malformed], (notes, malformed)


CHECKS = (check_functions, check_modules, check_callers, check_center, check_tree, check_tree, check_graph,
	check_limit_and_sort, check_csv, check_folded, check_merge, check_notes)


def check_case(case):
	for check in CHECKS:
		try:
			check(case)
		except Exception:
			print(f"# SONDE_MODEL_SEED={case.seed} {check.__name__}: sonde {' '.join(case.asked)}")
			for path in case.files:
				print(f"# {path.name}: {path.read_bytes()}")
			raise


def test_reports_are_those_of_the_model(folder):
	for seed in range(SEED, SEED + ROUNDS):
		case = Case(folder, seed)
		check_case(case)
		for path in case.files:
			path.unlink()


if __name__ == "__main__":
	harness.main()
