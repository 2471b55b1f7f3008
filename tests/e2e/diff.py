"""sonde diff and sonde merge on recordings: what changed is marked, what did not is not, and sums are sums."""

import collections
import functools
import json
import os
import pathlib
import tempfile

import harness
import recording
from harness import check, sonde

FOLDER = tempfile.TemporaryDirectory(prefix="sonde-test-")


def rows_of(*args):
	data = json.loads(check(sonde(*args, "--format", "json")).out)
	return data, {row["name"]: row for row in data["rows"]}


@functools.lru_cache
def recordings():
	"""A program before and after one of its functions became slower: made once for all tests."""
	recording.needs_sampling()
	folder = pathlib.Path(FOLDER.name)
	program = recording.program(folder, "slowed")
	old, new = folder / "old.prof", folder / "new.prof"
	record_whole(old, program, "200")
	record_whole(new, program, "400")
	return old, new


def record_whole(path, *command):
	"""Records until no tick was lost: a host may take some from any machine, and what is lost is a row of its own.
	What is compared here are recordings without."""
	for _ in range(10):
		check(sonde("record", "-q", "-o", path, *command))
		if "[lost]" not in check(sonde("report", path, "--view", "threads")).out and not check(sonde("report", path)).err:
			return
	raise AssertionError("each of ten recordings lost ticks")


@harness.takes_long
def test_what_became_slower_is_marked():
	old, new = recordings()
	data, rows = rows_of("diff", old, new)
	slowed, steady, calm = rows["slowed"], rows["steady"], rows["calm"]
	assert slowed["significant"] is True, slowed
	assert steady["significant"] is False and calm["significant"] is False, (steady, calm)
	assert 130e6 < slowed["exclusive"] < 270e6, slowed
	assert abs(steady["exclusive"]) < 60e6, steady
	assert data["rows"][0]["name"] == "slowed"
	for row in data["rows"]:
		for key in ("exclusive", "inclusive"):
			assert row[key] == row["new"][key] - row["old"][key], row
	assert data["total"] == data["new"]["total"] - data["old"]["total"]
	assert data["old"]["source"] == str(old) and data["new"]["source"] == str(new)


@harness.takes_long
def test_differences_are_those_of_the_reports():
	old, new = recordings()
	for view in ("functions", "modules", "lines", "threads"):
		(before, _), (after, _) = rows_of("report", old, "--view", view), rows_of("report", new, "--view", view)
		data, _ = rows_of("diff", old, new, "--view", view)
		assert data["old"]["total"] == before["total"] and data["new"]["total"] == after["total"]
		# libc and the kernel's page for programs both have a clock_gettime.
		was = {(row["name"], row["module"]): row["exclusive"] for row in before["rows"]}
		for row in data["rows"]:
			key = (row["name"], row["module"])
			if view in ("functions", "modules") and key in was:
				assert row["old"]["exclusive"] == was[key], (view, key)


def test_nothing_differs_from_itself():
	old, _ = recordings()
	data, rows = rows_of("diff", old, old)
	assert data["total"] == 0 and rows
	assert all(row["exclusive"] == 0 and row["significant"] is False for row in rows.values())
	out = check(sonde("diff", old, old, "--view", "tree")).out
	assert "*" not in out.split("Call tree")[1], out


def test_threads_of_one_name_are_one_row():
	old, new = recordings()
	for args in (("--view", "threads"), ("--level", "process")):
		_, rows = rows_of("diff", old, new, *args)
		assert list(rows) == ["slowed"], (args, rows)
		row = rows["slowed"]
		assert row["old"]["inclusive"] > 0 and row["new"]["inclusive"] > 0, row


def test_callers_and_graph_mark_lines():
	old, new = recordings()
	for view, key in (("callers", "attributed"), ("graph", "self")):
		_, rows = rows_of("diff", old, new, "--view", view)
		callers = rows["slowed"]["callers"]
		assert callers[0]["significant"] is True and callers[0][key] > 0, (view, callers)
		assert rows["steady"]["callers"][0]["significant"] is False, (view, rows["steady"])


def test_a_merger_is_the_sum(folder):
	old, new = recordings()
	merged = folder / "sum.prof"
	check(sonde("merge", "-o", merged, old, new))
	sides = [rows_of("report", path)[0] for path in (old, new)]
	data, _ = rows_of("report", merged)
	assert data["total"] == sum(side["total"] for side in sides)
	parts = collections.Counter()
	for side in sides:
		for row in side["rows"]:
			parts[row["name"], row["module"]] += row["exclusive"]
	for row in data["rows"]:
		assert row["exclusive"] == parts[row["name"], row["module"]], row
	# As small as recordings, and as good as they.
	assert merged.stat().st_size < 2 * (old.stat().st_size + new.stat().st_size)
	threads = check(sonde("report", merged, "--view", "threads", "--format", "json"))
	assert len(json.loads(threads.out)["rows"]) == 2
	assert "note" not in check(sonde("report", merged)).err


def test_a_merger_less_one_part_is_the_other(folder):
	old, new = recordings()
	merged = folder / "sum.prof"
	check(sonde("merge", "-o", merged, old, new))
	data, rows = rows_of("diff", old, merged)
	after = rows_of("report", new)
	assert data["total"] == after[0]["total"]
	for name, row in after[1].items():
		assert rows[name]["exclusive"] == row["exclusive"], (name, row)


def ci_script():
	"""The script of docs/howto/ci.md."""
	page = (harness.SOURCE_ROOT / "docs" / "howto" / "ci.md").read_text()
	return page.partition("```sh\n")[2].partition("```")[0]


@harness.takes_long
def test_a_build_server_sees_what_became_slower(folder):
	recording.needs_sampling()
	program = recording.program(folder, "slowed")
	for side, milliseconds in (("old", harness.work(300, least=200)), ("new", harness.work(600, least=400))):
		(folder / side).mkdir()
		(folder / side / "bench").write_text(f"#!/bin/sh\nexec {program} {milliseconds}\n")
		(folder / side / "bench").chmod(0o755)
	(folder / "sonde").symlink_to(harness.SONDE)
	result = harness.run("sh", "-c", ci_script(), "compare.sh", "./bench", cwd=folder,
		env={"PATH": f"{folder}:{os.environ['PATH']}"})
	check(result, 3)
	assert "slowed: cpu-time +" in result.err and "5 runs in old, 5 in new" in result.out, result
	assert not any(line.startswith(("sonde: steady", "sonde: calm")) for line in result.err.splitlines()), result
	# The other way round it became faster, and of the same recordings nothing differs.
	runs = {side: sorted((folder / "profile").glob(f"{side}-?.prof")) for side in ("old", "new")}
	check(sonde("diff", "--old", *runs["new"], "--new", *runs["old"], "--fail-over", "2%"))
	check(sonde("diff", "--old", *runs["old"], "--new", *reversed(runs["old"]), "--fail-over", "0.01%"))
	data, rows = rows_of("diff", "--old", *runs["old"], "--new", *runs["new"])
	assert data["old"]["runs"] == 5 and rows["slowed"]["significant"] is True, data["old"]
	merged = folder / "sum.prof"
	check(sonde("merge", "-o", merged, *runs["old"]))
	assert rows_of("report", merged)[0]["total"] == data["old"]["total"]


@harness.takes_long
def test_rates_and_lengths_do_not_differ(folder):
	"""The same work, recorded at another rate and for longer: nothing is more than chance."""
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	paths = []
	for name, hertz, milliseconds in (("slow", 500, 2400), ("quick", 2000, 1200)):
		r = recording.record(folder, program, harness.work(milliseconds, least=1000), options=["-F", hertz],
			name=f"{name}.prof")
		paths.append(r.path)
	# Of the rows that are marked, one in twenty may be wrong: two of them hardly ever are. The kernel's work
	# at each tick does differ with the rate.
	data, rows = rows_of("diff", *paths, "--normalize", "--focus", "main")
	own = [name for name in ("own_a", "own_b", "own_c", "own_d", "shared") if name in rows]
	for name in own:
		row = rows[name]
		share = [row[side]["inclusive"] / data[side]["total"] for side in ("old", "new")]
		assert abs(share[0] - share[1]) < 0.08, (name, share)
	marked = [name for name in own if rows[name]["significant"]]
	assert own and len(marked) < 2, marked
	check(sonde("diff", *paths, "--normalize", "--focus", "main", "--fail-over", "8%"))


def test_unfit_recordings_are_no_evidence(folder):
	"""A recording of few samples, which is real, and of foreign files no judgement."""
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	few = recording.record(folder, program, 40, options=["-F", 100], name="few.prof")
	done = sonde("diff", few.path, few.path, "--fail-over", "5%")
	check(done, 1)
	assert "is not fit as evidence: it has " in done.err and "--unfit-ok" in done.err, done
	check(sonde("diff", few.path, few.path, "--fail-over", "5%", "--unfit-ok"))
	assert "not fit as evidence: it has " in check(sonde("report", "--view", "stats", few.path)).out
	foreign = folder / "foreign.folded"
	foreign.write_text("a;b 5\n")
	done = check(sonde("diff", foreign, foreign, "--fail-over", "5%"))
	assert "evidence" not in done.out + done.err, done


MOST = 2 ** 63 - 1


def test_changes_as_large_as_figures_can_be(folder):
	"""Each side, and each change, is as much as 63 bits hold; a change beyond them is refused."""
	old, new, less = folder / "old.folded", folder / "new.folded", folder / "less.folded"
	old.write_text(f"main;a {MOST}\n")
	new.write_text(f"main;b {MOST}\n")
	less.write_text("main;b -1\n")
	for view, figure in (("functions", "exclusive"), ("callers", "exclusive"), ("tree", "in_only")):
		data, rows = rows_of("diff", old, new, "--view", view)
		assert (data["total"], data["old"]["total"], data["new"]["total"]) == (0, MOST, MOST), data
		for name, was, now in (("a", MOST, 0), ("b", 0, MOST), ("main", 0, 0)):
			row = rows.get(name)
			got = (row[figure], row["old"][figure], row["new"][figure]) if row else (0, 0, 0)
			assert got == (now - was, was, now), (view, rows)
	for view in ("graph", "deep", "modules"):
		check(sonde("diff", old, new, "--view", view))
	assert f"now {MOST:,}, change {MOST:,}, 100.0%" in check(sonde("diff", old, new, "--format", "svg")).out
	check(sonde("diff", old, new, "--normalize"))
	for sides in ((less, old), (less, new)):
		done = check(sonde("diff", *sides), 1)
		assert "'samples' exceeds 64 bits" in done.err and done.out == "", done


harness.main()
