"""The Firefox Profiler opens what sonde writes, to the same functions and figures."""

import json
import pathlib

import harness
import profiler_cli
import recording

GOLDEN = harness.SOURCE_ROOT / "tests" / "golden" / "in"
NS_IN = {"tracing-ms": 1e6, "samples": 1, "bytes": 1}


def converted(path, folder, *options):
	out = pathlib.Path(folder) / "out.firefox.json"
	harness.check(harness.sonde("convert", path, "-o", out, *options))
	return out


def report(path, *options):
	return json.loads(harness.check(harness.sonde("report", path, "--format", "json", "--limit", "0", *options)).out)


def by_name(rows):
	"""Functions of one name, which the list of the front end has a row each of."""
	return {row["name"]: (row["exclusive"], row["inclusive"]) for row in rows if row["inclusive"]}


def same_functions(theirs, ours, scale):
	assert set(theirs) == set(ours), set(theirs) ^ set(ours)
	for name, figures in theirs.items():
		assert tuple(round(f * scale) for f in figures) == ours[name], (name, figures, ours[name])


def compare(path, folder, *options):
	out = converted(path, folder, *options)
	written = json.loads(out.read_text())
	scale = NS_IN[written["threads"][0]["samples"]["weightType"]]
	with profiler_cli.Session(folder, out) as session:
		threads = session.threads()
		assert len(threads) == len(written["threads"])
		for thread in threads:
			only = ["--thread", thread["name"]] if len(threads) > 1 else []
			same_functions(session.functions(thread), by_name(report(path, *options, *only)["rows"]), scale)
	return threads


def test_totals(folder):
	compare(GOLDEN / "shares.folded", folder)


@harness.takes_long
def test_recursion(folder):
	path = pathlib.Path(folder) / "deep.folded"
	path.write_text("".join(f"main;{'eval;' * (300 + i)}leaf {i + 1}\n" for i in range(20)))
	compare(path, folder)


@harness.takes_long
def test_metrics(folder):
	for metric in ("cpu-time", "samples"):
		compare(GOLDEN / "recording.dump", folder, "--metric", metric)


@harness.takes_long
def test_inlined_calls(folder):
	"""Its tree is ours, and shows which calls were inlined."""
	hash_call = ("hash", 10, True, [])
	with profiler_cli.Session(folder, converted(GOLDEN / "threads.dump", folder)) as session:
		trees = {thread["name"]: session.tree(thread) for thread in session.threads() if thread["processName"] == "app"}
	(main,), (work, cut) = trees["app"], trees["worker"]
	assert main[:3] == ("main", 40, False), main
	(under_main,) = main[3]
	assert under_main[:3] == ("compile", 40, False) and hash_call in under_main[3], under_main
	assert [call[0] for call in under_main[3] if call[2]] == ["hash"], under_main
	assert work == ("work", 30, False, [("compile", 30, False, [("compile", 20, False, [("hash", 20, True, [])])])]), work
	assert cut == ("[truncated]", 10, False, [("compile", 10, False, [])]), cut


@harness.takes_long
def test_timeline(folder):
	"""A part of its timeline has the functions and figures that the same part of ours has."""
	path = GOLDEN / "threads.dump"
	seen = set()
	with profiler_cli.Session(folder, converted(path, folder)) as session:
		for begin, end in ((0, 15), (15, 55), (55, 80)):
			session.zoom(begin, end)
			for thread in session.threads():
				name, process = thread["name"], thread["processName"]
				ours = report(path, "--thread", name, "--time", f"{begin}ms:{end}ms")["rows"]
				theirs = session.functions(thread)
				same_functions(theirs, by_name(ours), 1e6)
				seen |= {(process, name, begin)} if theirs else set()
	assert seen == {("app", "app", 0), ("app", "app", 15), ("app", "worker", 15), ("tool", "tool", 55)}, seen


@harness.takes_long
def test_hostile_names(folder):
	path = pathlib.Path(folder) / "names.folded"
	path.write_bytes('a"b\\c;ä€😀;x\u2028y 3\n'.encode() + b"bad\xff\xfe 2\n")
	with profiler_cli.Session(folder, converted(path, folder)) as session:
		assert session.functions(session.threads()[0]) == {'a"b\\c': (0, 3), "ä€😀": (0, 3), "x\u2028y": (3, 3),
			"bad\ufffd\ufffd": (2, 2)}


def test_same_bytes(folder):
	first = converted(GOLDEN / "recording.dump", folder).read_bytes()
	assert converted(GOLDEN / "recording.dump", folder).read_bytes() == first


@harness.takes_long
def test_recording_with_waits(folder):
	"""Threads with their names, CPU times and times off the CPU, as sonde has them itself."""
	recording.needs_sampling()
	program = recording.program(folder, "waits")
	recording.record(folder, program, "3", options=("--clock", "both"))
	path = pathlib.Path(folder) / "test.prof"
	cpu = {row["name"].split(" (")[0]: row["exclusive"] for row in report(path, "--view", "threads")["rows"]}
	with profiler_cli.Session(folder, converted(path, folder)) as session:
		threads = {thread["name"]: thread for thread in session.threads()}
		assert {"holder", "taker", "asleep"} <= set(threads), threads
		for name, thread in threads.items():
			assert abs(thread["cpuMs"] * 1e6 - cpu.get(name, 0)) < 1e6, (name, thread, cpu)
		taker = session.markers(threads["taker"])["blocked"]
		assert taker["count"] > 0 and taker["durationStats"]["max"] > 1, taker
		assert session.markers(threads["asleep"])["blocked"]["count"] > 0
	with profiler_cli.Session(folder, converted(path, folder, "--metric", "blocked-time")) as session:
		threads = {thread["name"]: thread for thread in session.threads()}
		names = session.functions(threads["taker"])
		assert "contend" in names and names["contend"][1] > 1, names


harness.main()
