"""Brief reports of every view of many files: bounded, with fitness and next commands that work, and
with the figures of the full report."""

import json
import pathlib
import shlex
import subprocess

import harness

IN = harness.SOURCE_ROOT / "tests" / "golden" / "in"
FILES = ["calc.folded", "cycle.dump", "threads.dump", "zones.dump", "unfit.dump", "waits.dump", "hostile.printf",
	"slices.trace.json", "deltas.folded"]
VIEWS = ["functions", "callers", "tree", "graph", "deep", "modules", "lines", "threads", "zones", "heat", "stats"]
BUDGET = 2000


def made(folder, name):
	"""The input, in a folder."""
	path = folder / name
	if name.endswith(".printf"):
		path.write_bytes(subprocess.run(["printf", (IN / name).read_text().replace("\n", "")],
			stdout=subprocess.PIPE, check=True).stdout)
	else:
		path.write_bytes((IN / name).read_bytes())
	return path


def deep(folder):
	"""A large profile with long names, many callers, many modules."""
	path = folder / "large.folded"
	with open(path, "w") as file:
		for i in range(3000):
			name = f"ns::type<{'int, ' * (i % 200)}int>::f{i}(std::vector<char> const&)"
			file.write(f"main;lib{i % 70}.so`g{i % 50};{name};hub;{name} {1 + i % 7}\n")
	return path


def reports(folder):
	"""(path, view) for all that the files have."""
	for name in [*FILES, None]:
		path = made(folder, name) if name else deep(folder)
		for view in VIEWS:
			if harness.sonde("report", path, "--view", view, "--limit", 1).status == 0:
				yield path, view


@harness.takes_long
def test_text_is_bounded(folder):
	count = 0
	for path, view in reports(folder):
		for budget in (None, 1000, 4000):
			more = ["--budget", budget] if budget else ["--brief"]
			out = harness.check(harness.sonde("report", path, "--view", view, *more, cwd=folder)).out
			assert len(out.encode()) <= (budget or BUDGET), (path, view, len(out.encode()))
			assert "\nrecording: " in out and ("\nnext:\n" in out or budget == 1000), out
		count += 1
	assert count > 60, count


@harness.takes_long
def test_next_commands_work(folder):
	done = set()
	for path, view in reports(folder):
		report = json.loads(harness.check(harness.sonde("report", path.name, "--view", view, "--brief", "--format", "json",
			cwd=folder)).out)
		assert report["next"], (path, view)
		for step in report["next"]:
			words = shlex.split(step["command"])
			assert words[0] == "sonde" and words[-1] == "--brief", words
			if tuple(words) not in done:
				harness.check(harness.sonde(*words[1:], cwd=folder))
			done.add(tuple(words))
	assert len(done) > 40, len(done)


def without(row):
	"""A row's figures; brief rows also have ids and margins, and shorter names and lists."""
	return {key: value for key, value in row.items()
		if key not in ("id", "name", "metrics") and "margin" not in key and not isinstance(value, list)}


@harness.takes_long
def test_json_has_the_figures_of_the_whole(folder):
	for path, view in reports(folder):
		args = ["report", path, "--view", view, "--format", "json"]
		whole = json.loads(harness.check(harness.sonde(*args)).out)
		out = harness.check(harness.sonde(*args, "--brief")).out
		brief = json.loads(out)
		assert len(out) < 5 * BUDGET + 2000, (path, view, len(out))
		for key in whole:
			assert key in brief, key
		assert brief["total"] == whole["total"]
		assert len(brief["rows"]) + brief["left_out"]["entries"] == len(whole["rows"]), (path, view)
		if view == "tree": # The heaviest rows, not the first.
			figures = [without({**row, "target": 0}) for row in whole["rows"]]
			assert all(without({**row, "target": 0}) in figures for row in brief["rows"]), (path, view)
		else:
			assert [without(row) for row in brief["rows"]] == [without(row) for row in whole["rows"]][:len(brief["rows"])], (path,
				view)


def test_ids_name_one_function(folder):
	"""Of several functions with one name, the id means one."""
	path = folder / "same.folded"
	path.write_text("main;a.so`f 3\nmain;b.so`f 5\n")
	rows = json.loads(harness.check(harness.sonde("report", path, "--brief", "--format", "json")).out)["rows"]
	assert [row["name"] for row in rows[:2]] == ["f", "f"] and rows[0]["id"] != rows[1]["id"], rows
	both = json.loads(harness.check(harness.sonde("report", path, "--center", "f", "--format", "json")).out)["rows"]
	assert both[0]["inclusive"] == 8, both
	for row in rows[:2]:
		one = json.loads(harness.check(harness.sonde("report", path, "--center", row["id"], "--format", "json")).out)
		assert one["rows"][0]["inclusive"] == row["inclusive"] and one["rows"][0]["module"] == row["module"], one
	again = json.loads(harness.check(harness.sonde("report", path, "--brief", "--format", "json", "--focus", "f")).out)
	assert [row["id"] for row in again["rows"]] == [row["id"] for row in rows]


harness.main()
