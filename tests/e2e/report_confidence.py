"""--confidence in every view: margins beside figures that stay the same, and the same margin for the same figure
wherever it is shown."""

import csv
import io
import json
import random

import harness
from harness import check, sonde

NAMES = ["main", "parse", "eval", "apply", "alloc", "lock", "hash", "read"]
VIEWS = ("functions", "modules", "lines", "threads", "callers", "tree", "graph", "deep")


def script(folder, count=3000, seed=5):
	"""perf script's text of samples of random, recursive stacks, in bursts, of three threads."""
	rng = random.Random(seed)
	stacks = [["main"] + [rng.choice(NAMES[1:]) for _ in range(rng.randrange(8))] for _ in range(120)]
	lines = []
	while len(lines) < count:
		stack, thread = rng.choice(stacks), rng.randrange(3)
		for _ in range(rng.randrange(1, 12)):
			frames = "".join(f"\t{0x401000 + 64 * NAMES.index(f) + 4 * (len(f) + i):x} {f}+0x{4 * (len(f) + i):x} (/bin/prog)\n"
				for i, f in reversed(list(enumerate(stack))))
			lines.append(f"prog 7/{7 + thread} [000] {len(lines) / 1000:.6f}: 1000000 cpu-clock: \n{frames}\n")
	path = folder / "samples.txt"
	path.write_text("".join(lines[:count]))
	return path


def rows(path, view, *options):
	"""The CSV of a view, a dictionary a row."""
	text = check(sonde("report", path, "--view", view, "--format", "csv", *options)).out
	return list(csv.DictReader(io.StringIO(text)))


def without_margins(table):
	return [{key: value for key, value in row.items() if not key.endswith("margin_percent")} for row in table]


def margins(table):
	return [value for row in table for key, value in row.items() if key.endswith("margin_percent")]


def test_figures_stay_as_they_are(folder):
	"""With the options that change a view's rows or their order."""
	path = script(folder)
	more = {"functions": ((), ("--sort", "inclusive", "--limit", "3"), ("--when", ".eval->*->.alloc"), ("--level", "process"),
			("--spread",), ("--time", "100ms:2s"), ("--thread", "prog"), ("--level", "instruction")),
		"tree": ((), ("--invert",), ("--collapse", "none", "--limit", "20"), ("--percent", "parent"), ("--spread",)),
		"callers": ((), ("--center", "eval"), ("--limit", "2"), ("--center", "eval;apply"), ("--percent", "parent")),
		"graph": ((), ("--limit", "3"), ("--same", "parse|eval=one"))}
	for view in VIEWS:
		for options in more.get(view, ((),)):
			plain, both = rows(path, view, *options), rows(path, view, "--confidence", *options)
			assert plain and without_margins(both) == plain, (view, options)
			shown = [m for m in margins(both) if m]
			assert shown and all(0 <= float(m) <= 100 for m in shown), (view, options, both[:2])


def test_a_figure_has_one_margin(folder):
	path = script(folder)
	flat = {row["name"]: row for row in rows(path, "functions", "--confidence")}
	for row in rows(path, "deep", "--confidence"):
		assert row["shallow_margin_percent"] == flat[row["name"]]["exclusive_margin_percent"], row
		assert row["deep_margin_percent"] == flat[row["name"]]["inclusive_margin_percent"], row
	callers = [row for row in rows(path, "callers", "--confidence") if row["name"] != "<Total>"]
	assert len(callers) > len(flat), callers
	for row in callers:
		assert row["exclusive_margin_percent"] == flat[row["name"]]["exclusive_margin_percent"], row
		assert row["inclusive_margin_percent"] == flat[row["name"]]["inclusive_margin_percent"], row
	graph = json.loads(check(sonde("report", path, "--view", "graph", "--format", "json", "--confidence")).out)
	own = [row for row in graph["rows"] if row["kind"] == "function"]
	assert own, graph
	for row in own:
		assert f"{row['self_margin_percent']:.4f}" == flat[row["name"]]["exclusive_margin_percent"], row
	root = rows(path, "tree", "--confidence")[0]
	assert root["name"] == "main" and root["in_or_under_margin_percent"] == flat["main"]["inclusive_margin_percent"], root


def test_bursts_widen_margins(folder):
	"""The same samples, in turns instead of bursts, give less: their order is all that differs."""
	path = script(folder)
	heads = path.read_text().split("\n\n")[:-1]
	times = [head.split(None, 3)[3].split(":", 1)[0] for head in heads]
	random.Random(9).shuffle(heads)
	mixed = folder / "mixed.txt"
	mixed.write_text("".join(f"{h.split(None, 3)[0]} {h.split(None, 3)[1]} [000] {t}:{h.split(None, 3)[3].split(':', 1)[1]}\n\n"
		for h, t in zip(heads, times)))
	wide, narrow = rows(path, "functions", "--confidence"), rows(mixed, "functions", "--confidence")
	assert without_margins(wide) == without_margins(narrow)
	assert sum(map(float, margins(wide))) > 1.5 * sum(map(float, margins(narrow))), (wide, narrow)


def test_text_shows_them(folder):
	path = script(folder)
	for view in VIEWS:
		text = check(sonde("report", path, "--view", view, "--confidence")).out
		assert "±" in text, (view, text)


def test_what_cannot_have_margins_is_refused(folder):
	path = script(folder)
	for view in ("stats", "heat", "zones"):
		result = check(sonde("report", path, "--view", view, "--confidence"), 2)
		assert f"--confidence is not for --view {view}" in result.err, result
	result = check(sonde("diff", path, path, "--confidence"), 2)
	assert "differences mark what is beyond chance" in result.err, result
	folded = folder / "a.folded"
	folded.write_text("a;b 3\n")
	result = check(sonde("report", folded, "--confidence"), 1)
	assert "a.folded does not say when its samples were taken" in result.err, result


if __name__ == "__main__":
	harness.main()
