"""The exact engine: every stack whole, however deep and however short-lived; and how it is refused."""

import shutil

import harness
import recording

EXACT = ["--engine", "exact"]


def needs_exact():
	recording.needs_sampling()
	for line in harness.sonde("doctor").out.splitlines():
		name, verdict, text = line[:14].strip(), line[15:23].strip(), line[24:]
		if name == "exact stacks" and verdict != "ok":
			raise harness.Skip(text)


def record(folder, *command):
	needs_exact()
	r = recording.record(folder, *command, options=EXACT)
	assert "no exact stacks" not in r.done.err, r.done.err
	return r


def not_exact(r):
	"""Stacks for which there was no room, as the recorder got no CPU for long, and which it tells."""
	return sum(note["count"] for note in r.notes if "found no room" in note["text"])


def check_whole(r):
	assert r.stats["critical"] <= not_exact(r), (r.stats, r.notes)


def test_shares_are_what_was_programmed(folder):
	r = record(folder, recording.program(folder, "shares"), harness.work(640))
	r.check_truth(r.done.out)
	r.check_captured()
	check_whole(r)


def test_recursion_is_walked_to_its_root(folder):
	r = record(folder, recording.program(folder, "deep"), 10000, harness.work(1000))
	r.check_truth(r.done.out)
	check_whole(r)
	for frames, _ in r.stacks:
		if frames[-1] == "bottom":
			assert frames.count("level") == 10000, frames.count("level")
			assert "main" in frames


def test_recursion_of_65536_levels_is_walked_whole(folder):
	program = recording.program(folder, "deep")
	r = record(folder, "sh", "-c", f"ulimit -s unlimited && exec {program} 65536 {harness.work(1200)}")
	check_whole(r)
	rows = r.json("--view", "tree", "--collapse", "none", "--limit", "0")["rows"]
	assert sum(1 for row in rows if row["name"] == "level") >= 65536


def test_stacks_that_are_gone_a_moment_later(folder):
	r = record(folder, recording.program(folder, "plunge"), 5000, harness.work(1500))
	check_whole(r)
	deepest, mixed = 0, []
	for frames, samples in r.stacks:
		if "main" not in frames:
			continue
		below = frames[frames.index("main") + 1:]
		if {"odd", "even"} <= set(below) or len(below) > 5001:
			mixed += [f"{len(below)} frames: {below[:3]}…{below[-3:]}"] * samples
		deepest = max(deepest, len(below))
	assert len(mixed) <= not_exact(r), (mixed, r.notes)
	assert deepest > 4000


def test_threads_on_stacks_side_by_side(folder):
	r = record(folder, recording.program(folder, "threads"), 8, harness.work(1000))
	r.check_truth(r.done.out)
	check_whole(r)


def test_children_by_fork_exec_and_vfork(folder):
	r = record(folder, recording.program(folder, "processes"), harness.work(800))
	r.check_truth(r.done.out)
	check_whole(r)


def test_handlers_on_their_own_stack(folder):
	r = record(folder, recording.program(folder, "signal_stack"), harness.work(1000))
	r.check_truth(r.done.out)
	check_whole(r)


def test_without_the_rights_it_is_snapshot(folder):
	program = recording.program(folder, "deep")
	done = recording.as_nobody(folder, program, 1000, harness.work(250), options=EXACT).done
	harness.check(done)
	assert "no exact stacks, sampling as with --engine snapshot: " in done.err, done.err
	assert done.err.count("no exact stacks") == 1, done.err


def test_without_locked_memory_or_descriptors_for_it(folder):
	"""Some of the file descriptors that it takes are refused: it goes on without."""
	if not shutil.which("prlimit"):
		raise harness.Skip("there is no prlimit")
	needs_exact()
	program = recording.program(folder, "shares")
	path = folder / "test.prof"
	for files in (12, 16, 20):
		done = harness.run("prlimit", f"--nofile={files}", harness.SONDE, "record", *EXACT, "-o", path,
			"--", program, harness.work(160))
		assert done.status == 0 or (done.status == 125 and "sonde: " in done.err), done


harness.main()
