"""WHEN at record time: what does not match is counted, and its stacks are not kept."""

import re
import signal
import time

import harness
import recording


def excluded(done):
	return int(re.search(r"^sonde: ([\d,]+) samples? of these do", done.err, re.M)[1].replace(",", ""))


def matching(r):
	return sum(samples for frames, samples in r.stacks if "via_a" in frames)


def test_others_are_counted_and_their_stacks_not_kept(folder):
	program = recording.program(folder, "shares")
	r = recording.record(folder, program, harness.work(640), options=["--when", ".via_a->*"])
	assert matching(r) == r.stats["counted"]
	assert excluded(r.done) == r.stats["excluded"]
	assert not any("own_a" in frames or "via_b" in frames for frames, _ in r.stacks)
	# Its share of all samples, not of those that match.
	counted = r.stats["counted"] + r.stats["excluded"]
	share = matching(r) / counted
	assert abs(share - 0.2) < 4 * (0.2 * 0.8 / counted) ** 0.5 + 0.01, share
	r.check_captured()
	dump = harness.check(harness.sonde("convert", r.path, "-o", "-", "--to", "dump")).out
	assert 'when ".via_a->*\\x00"' in dump


@harness.takes_long
def test_the_file_is_smaller(folder):
	program = recording.program(folder, "mutual")
	whole = recording.record(folder, program, harness.work(340), name="whole.prof")
	some = recording.record(folder, program, harness.work(340), name="some.prof", options=["--when", ".nothing"])
	assert some.path.stat().st_size < whole.path.stat().st_size
	assert excluded(some.done) == some.stats["excluded"] and some.stats["counted"] == 0
	some.check_captured()


def test_patterns_stack(folder):
	program = recording.program(folder, "shares")
	r = recording.record(folder, program, harness.work(320),
		options=["--when", ".via->*", "--when", ".shared|.spin|*->.spin->*"])
	assert matching(r) > 0
	assert not any("own" in frames for frames, _ in r.stacks)


def test_a_bad_pattern_starts_nothing(folder):
	mark = folder / "mark"
	done = harness.sonde("record", "-o", folder / "x.prof", "--when", "a->->b", "touch", mark)
	assert done.status == 125
	assert done.err == ("sonde: record: --when: a name, '*' or '(' is missing; see 'sonde help when'\n"
		"    a->->b\n"
		"       ^\n"), done.err
	assert not mark.exists()


def test_a_pipe_has_all_stacks_and_says_so(folder):
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	path = folder / "piped.prof"
	done = harness.run("sh", "-c", f"{harness.SONDE} record -o - --when .via_a sh -c '{program} {harness.work(50)} >&2'"
		f" >{path}")
	assert "the recording has all stacks" in done.err, done.err
	dump = harness.check(harness.sonde("convert", path, "-o", "-", "--to", "dump")).out
	assert 'when ".via_a\\x00"' in dump and '"own_a"' in dump


def test_a_killed_recorder_leaves_all_stacks_and_the_pattern(folder):
	program = recording.program(folder, "shares")
	running = recording.start(folder, program, harness.work(2000, least=2000), options=["--when", ".via_a"])
	deadline = time.monotonic() + 60
	while not running.recording.path.exists() or running.recording.path.stat().st_size < 2000:
		assert time.monotonic() < deadline
		time.sleep(0.02)
	running.end(signal.SIGKILL)
	dump = harness.check(
		harness.sonde("convert", running.recording.path, "-o", "-", "--to", "dump")).out
	assert 'when ".via_a\\x00"' in dump and '"own_a"' in dump


harness.main()
