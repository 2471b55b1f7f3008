"""Recordings of programs that know where their time goes."""

import json

import harness
import recording


def test_shares_are_what_was_programmed(folder):
	program = recording.program(folder, "shares")
	r = recording.record(folder, program, harness.work(640))
	r.check_truth(r.done.out)
	r.check_whole()
	r.check_captured()


@harness.takes_long
def test_shares_hold_without_debug_information(folder):
	program = recording.program(folder, "shares", "-g0")
	r = recording.record(folder, program, harness.work(480))
	r.check_truth(r.done.out)
	r.check_whole()


@harness.takes_long
def test_shares_hold_at_ten_kilohertz(folder):
	program = recording.program(folder, "shares")
	r = recording.record(folder, program, harness.work(480), options=["-F", "10k"])
	r.check_truth(r.done.out)
	r.check_whole()
	r.check_captured()


def test_recursion_is_walked_to_its_root(folder):
	program = recording.program(folder, "deep")
	r = recording.record(folder, program, 1000, harness.work(600))
	r.check_truth(r.done.out)
	r.check_whole()
	for frames, _ in r.stacks:
		if frames[-1:] == ["bottom"]:
			assert frames.count("level") == 1000, frames.count("level")
			assert "main" in frames


@harness.takes_long
def test_recursion_of_65536_levels_is_walked_whole(folder):
	program = recording.program(folder, "deep")
	r = recording.record(folder, "sh", "-c", f"ulimit -s unlimited && exec {program} 65536 {harness.work(1200)}")
	r.check_whole()
	rows = r.json("--view", "tree", "--collapse", "none", "--limit", "0")["rows"]
	deepest = max((row for row in rows if row["name"] == "bottom"), key=lambda row: row["level"])
	assert sum(1 for row in rows if row["name"] == "level") >= 65536
	assert deepest["level"] > 65536


@harness.takes_long
def test_mutual_recursion(folder):
	program = recording.program(folder, "mutual")
	r = recording.record(folder, program, harness.work(560))
	r.check_truth(r.done.out)
	r.check_whole()


@harness.takes_long
def test_threads_have_their_shares_and_names(folder):
	program = recording.program(folder, "threads")
	r = recording.record(folder, program, 8, harness.work(1000))
	r.check_truth(r.done.out)
	r.check_whole()
	r.check_captured()
	# Also what they did while they ended is theirs: the kernel reports the end first.
	names = [row["name"] for row in json.loads(r.report("--view", "threads", "--format", "json"))["rows"]]
	assert len(names) == len(set(names)) and not any("thread -1" in name for name in names), names


@harness.takes_long
def test_threads_shorter_than_the_interval(folder):
	recording.needs_sampling()
	if "whole machine  ok" not in harness.sonde("doctor").out:
		raise harness.Skip("the clocks of the CPUs are not allowed here")
	program = recording.program(folder, "churn")
	r = recording.record(folder, program, harness.work(1800))
	# The rest is the kernel's: making and ending them.
	truth = float(r.done.out.split()[1])
	assert r.share("brief") > 0.9 * truth, (r.share("brief"), truth)
	r.check_whole()
	# Until that is noticed, some tens of milliseconds go by.
	assert r.stats["counted"] >= 0.95 * r.stats["expected"] - 50, r.stats


@harness.takes_long
def test_children_by_fork_exec_and_vfork(folder):
	program = recording.program(folder, "processes")
	r = recording.record(folder, program, harness.work(800))
	r.check_truth(r.done.out)
	r.check_whole()
	r.check_captured(0.9)


@harness.takes_long
def test_libraries_that_come_and_go(folder):
	one = recording.program(folder, "one.so", "-shared", "-fPIC", "-DCALLED_NAME=called_one",
		source="plugin")
	two = recording.program(folder, "two.so", "-shared", "-fPIC", "-DCALLED_NAME=called_two",
		source="plugin")
	program = recording.program(folder, "plugins", "-ldl")
	r = recording.record(folder, program, harness.work(800), one, two)
	r.check_truth(r.done.out + "called_one 0.5 0.5\ncalled_two 0.5 0.5\n")
	r.check_whole()


@harness.takes_long
def test_handlers_on_a_stack_of_their_own(folder):
	program = recording.program(folder, "signal_stack")
	r = recording.record(folder, program, harness.work(1200))
	r.check_truth(r.done.out)
	r.check_whole()
	handled = [frames for frames, _ in r.stacks
		if "handler_level" in frames and "[truncated]" not in frames]
	assert max(frames.count("handler_level") for frames in handled) == 50
	for frames in handled:
		assert frames.index("main") < frames.index("handler_level"), frames
	# One signal may come outside `repeat`, in the calls that start and stop the timer.
	outside = sum(samples for frames, samples in r.stacks
		if "handler_level" in frames and "[truncated]" not in frames and "repeat" not in frames)
	assert outside <= 10, outside


@harness.takes_long
def test_a_program_that_deletes_itself(folder):
	program = recording.program(folder, "shares")
	r = recording.record(folder, "sh", "-c", f"{program} {harness.work(500, least=500)} & "
		f"until [ /proc/$!/exe -ef {program} ]; do sleep 0.05; done; sleep 0.2; rm {program}; wait")
	r.check_whole()
	assert r.share("shared", exclusive=True) > 0.4


def test_programs_in_other_mount_namespaces(folder):
	recording.needs_root()
	recording.needs_sampling()
	if harness.run("unshare", "-m", "true").status != 0:
		raise harness.Skip("mount namespaces are not allowed here")
	program = recording.program(folder, "shares")
	hidden = folder / "hidden"
	hidden.mkdir()
	r = recording.record(folder, "unshare", "-m", "sh", "-c",
		f"mount -t tmpfs none {hidden} && cp {program} {hidden}/inside && {hidden}/inside {harness.work(320)}")
	r.check_whole()
	assert r.share("shared", exclusive=True) > 0.4


harness.main()
