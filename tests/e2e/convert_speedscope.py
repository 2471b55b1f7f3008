"""speedscope's own importer opens what sonde writes, to the same stacks and weights."""

import json
import pathlib

import harness
import npm

GOLDEN = harness.SOURCE_ROOT / "tests" / "golden" / "in"
IMPORT = pathlib.Path(__file__).with_name("speedscope_import.cjs")
UNITS = {"ns": "nanoseconds", "bytes": "bytes"}


def imported(path):
	"""What speedscope makes of a file."""
	release = npm.package("speedscope", "1.25.0") / "dist" / "release"
	# Its own code recurses as deep as stacks are.
	return json.loads(harness.check(harness.run("node", "--stack-size=30000", IMPORT, release, path)).out)


def by_metric(path):
	"""{metric: {stack: weight}} of speedscope's profiles of a file that sonde wrote."""
	written = json.loads(path.read_text())
	group = imported(path)
	assert group["name"] and group["index"] == 0, group
	assert len(group["profiles"]) == len(written["profiles"])
	metrics = {}
	for theirs, ours in zip(group["profiles"], written["profiles"]):
		assert theirs["name"] == ours["name"] and theirs["unit"] == ours["unit"]
		assert theirs["total"] == ours["endValue"] == sum(theirs["stacks"].values())
		assert ours["unit"] == UNITS.get(ours["sonde"]["unit"], "none")
		stacks = metrics.setdefault(ours["sonde"]["metric"], {})
		for stack, weight in theirs["stacks"].items():
			stacks[stack] = stacks.get(stack, 0) + weight
	return metrics


def folded(path, metric):
	out = harness.check(harness.sonde("convert", path, "-o", "-", "--to", "folded", "--metric", metric)).out
	return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in out.splitlines()}


def compare(path, folder):
	out = pathlib.Path(folder) / "out.speedscope.json"
	harness.check(harness.sonde("convert", path, "-o", out))
	metrics = by_metric(out)
	for metric, stacks in metrics.items():
		assert stacks == folded(path, metric), metric
	assert metrics
	return metrics


def test_totals(folder):
	metrics = compare(GOLDEN / "shares.folded", folder)
	assert sum(metrics["samples"].values()) == 32


def test_threads_and_metrics(folder):
	found = [compare(path, folder) for path in sorted(GOLDEN.glob("*.dump"))
		if b"\nsample " in path.read_bytes() and b"weight -" not in path.read_bytes()
		and b"\\x" not in path.read_bytes()]
	assert len(found) > 2 and any(len(metrics) > 1 for metrics in found)


def test_deep_recursion_as_events(folder):
	path = pathlib.Path(folder) / "deep.folded"
	path.write_text("".join(f"main;{'eval;' * (500 + i)}leaf {i + 1}\n" for i in range(50)))
	compare(path, folder)
	assert '"evented"' in (pathlib.Path(folder) / "out.speedscope.json").read_text()


def test_hostile_names(folder):
	path = pathlib.Path(folder) / "names.folded"
	path.write_bytes('a"b\\c;ä€😀;x\u2028y 3\n'.encode() + b"bad\xff\xfe 2\n")
	out = pathlib.Path(folder) / "out.speedscope.json"
	harness.check(harness.sonde("convert", path, "-o", out))
	stacks = by_metric(out)["samples"]
	assert stacks == {'a"b\\c;ä€😀;x\u2028y': 3, "bad\ufffd\ufffd": 2}, stacks


def test_no_weight_at_all(folder):
	path = pathlib.Path(folder) / "none.folded"
	path.write_text("main 0\n")
	out = pathlib.Path(folder) / "out.speedscope.json"
	harness.check(harness.sonde("convert", path, "-o", out))
	assert by_metric(out) == {"samples": {}}


def test_negative_weights_are_refused(folder):
	path = pathlib.Path(folder) / "delta.folded"
	path.write_text("main -1\n")
	result = harness.sonde("convert", path, "-o", pathlib.Path(folder) / "out.speedscope.json")
	assert result.status == 1 and "negative" in result.err, result


harness.main()
