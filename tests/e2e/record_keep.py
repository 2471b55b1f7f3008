"""The flight recorder: --keep TIME, and dumps of what is kept."""

import json
import os
import signal
import time

import harness
import recording
from attaching import wait_until
from controlled import Controlled, times

# The stretch begins at one of the moments at which figures are noted, at most a half second apart.
STEP_MS = 600

# 600 frames of 2 ms, but for number 400, which takes SLOW ms.
FRAMES = """
#define Prof_ENABLED
#include <prof.h>
#include <time.h>
Prof_Define(slow_zone);
Prof_Define(quick_zone);
static void spin(long ms)
{
	struct timespec t;
	long end;
	clock_gettime(CLOCK_MONOTONIC, &t);
	end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end);
}
static void slow(void) { Prof_Begin(slow_zone) spin(SLOW); Prof_End }
static void quick(void) { Prof_Begin(quick_zone) spin(2); Prof_End }
int main(void)
{
	for (int i = 0; i < 600; i++) {
		if (i == 400)
			slow();
		else
			quick();
		Prof_update(1);
	}
	return 0;
}
"""


def kept_ms(r):
	"""How much of the recording was kept, by its note."""
	words = next(note["text"] for note in r.notes if " were kept" in note["text"]).split()
	assert words[0] == "of" and words[3:5] == ["the", "last"], words
	return float(words[1]) * 1000, float(words[5]) * 1000


def check_stretch(r, keep_ms):
	"""A program that works all the time: samples are of the last stretch, and are all of it."""
	ran, kept = kept_ms(r)
	assert keep_ms <= kept <= keep_ms + STEP_MS, (ran, kept)
	all_times = times(r)
	assert ran - kept - 1 <= min(all_times) and max(all_times) <= ran + 1, (ran, kept, all_times[:3])
	r.check_captured()
	used, weighs = r.stats["cpu_ns"], r.json()["total"]
	assert abs(weighs - used) < 0.02 * used + 5e6, (weighs, used)


@harness.takes_long
def test_the_last_stretch_is_kept(folder):
	controlled = Controlled(folder, "--keep", "700ms")
	recording.wait_for_work(controlled.process.pid, 2)
	r = controlled.end()
	check_stretch(r, 700)
	assert "the last " in controlled.err and " are kept" in controlled.err, controlled.err


@harness.takes_long
def test_what_was_forgotten_leaves_nothing(folder):
	"""Not even the names of its functions."""
	recording.needs_sampling()
	program = harness.compile_c(folder, """
#include <time.h>
static void spin(long ms)
{
	struct timespec t;
	volatile unsigned x = 0;
	do
		for (int i = 0; i < 10000; i++)
			x += i;
	while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}
__attribute__((noinline)) void long_ago(void) { spin(500); __asm__ volatile(""); }
__attribute__((noinline)) void just_now(void) { spin(2500); __asm__ volatile(""); }
int main(void) { long_ago(); just_now(); return 0; }
""", "-O1", "-g", name="twice")
	r = recording.record(folder, program, options=["--keep", "500ms"])
	dump = harness.check(harness.sonde("convert", r.path, "-o", "-", "--to", "dump")).out
	assert 'function "just_now"' in dump and "long_ago" not in dump, dump[:2000]


def test_a_short_recording_is_kept_whole(folder):
	r = recording.record(folder, recording.program(folder, "shares"), harness.work(1000), options=["--keep", "10s"])
	r.check_captured()
	assert not [n for n in r.notes if "kept" in n["text"]], r.notes


def whole(path):
	"""A dump, once it is finished: names come last."""
	def is_finished():
		done = harness.sonde("report", path, "--view", "stats", "--format", "json")
		return done.status == 0 and not any(n["kind"] == "incomplete" for n in json.loads(done.out)["notes"])
	wait_until(lambda: path.exists() and is_finished())
	return recording.Recording(path)


@harness.takes_long
def test_dumps_while_it_goes_on(folder):
	controlled = Controlled(folder, "--keep", "500ms")
	pid = controlled.process.pid
	recording.wait_for_work(pid, 1.5)
	controlled.tell("dump")
	first = whole(folder / "test.1.prof")
	recording.wait_for_work(pid, 3)
	os.kill(pid, signal.SIGUSR2)
	second = whole(folder / "test.2.prof")
	recording.wait_for_work(pid, 4.5)
	last = controlled.end()
	for r in (first, second, last):
		check_stretch(r, 500)
		assert {"own_a", "own_b"} <= {name for frames, _ in r.stacks for name in frames}, r.stacks[:5]
	ends = [kept_ms(r)[0] for r in (first, second, last)]
	assert ends[0] < ends[1] < ends[2], ends
	assert controlled.err.count("detached") == 1, controlled.err # in the end
	assert controlled.err.count("wrote ") == 3, controlled.err


def test_a_dump_takes_the_place_of_no_file(folder):
	(folder / "test.1.prof").write_text("mine")
	controlled = Controlled(folder, "--keep", "1s")
	recording.wait_for_work(controlled.process.pid, 0.3)
	controlled.tell("dump")
	whole(folder / "test.2.prof")
	controlled.end()
	assert (folder / "test.1.prof").read_text() == "mine"
	assert sorted(p.name for p in folder.glob("*.prof*")) == ["test.1.prof", "test.2.prof", "test.prof"]


def test_time_off_the_cpu_is_cut_where_the_stretch_begins(folder):
	r = recording.record(folder, "sleep", "2.5", options=["--keep", "1s"])
	_, kept = kept_ms(r)
	blocked = r.json("--metric", "blocked-time")["total"] / 1e6
	assert 1000 <= kept <= 1000 + STEP_MS, kept
	assert kept - 20 <= blocked <= kept + 1, (blocked, kept)


@harness.takes_long
def test_events_are_of_what_is_kept(folder):
	r = recording.record(folder, "sh", "-c",
		"i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done; sleep 1.4", options=["--keep", "500ms", "-e", "page-faults"])
	assert r.json("--metric", "page-faults")["total"] == 0, r.report("--metric", "page-faults")


@harness.takes_long
def test_slow_frames_ask_for_a_dump(folder):
	recording.needs_sampling()
	library = harness.BUILD_ROOT / "libsonde-zones.a"
	program = harness.compile_c(folder, FRAMES, "-O2", "-g", f"-I{harness.SOURCE_ROOT / 'include'}", "-DSLOW=450", "-pthread",
		"-Wl,--whole-archive", str(library), "-Wl,--no-whole-archive", "-lm", name="frames")
	# A busy machine may stop a frame for a tenth of a second.
	done = harness.check(harness.sonde("record", "--keep", "20s", "--tick-over", "300ms", "-o", folder / "test.prof", "--",
		program))
	assert sorted(p.name for p in folder.glob("*.prof")) == ["test.1.prof", "test.prof"], done
	dump = harness.check(harness.sonde("convert", folder / "test.1.prof", "-o", "-", "--to", "dump")).out
	numbers = [int(line.split()[line.split().index('"frame"') + 1]) for line in dump.splitlines() if line.startswith("tick ")]
	assert 400 in numbers and 380 <= max(numbers) < 590, numbers[-5:]
	r = recording.Recording(folder / "test.1.prof")
	zones = {row["name"]: row for row in r.json("--view", "zones")["rows"]}
	assert "slow_zone" in zones and "quick_zone" in zones, zones


def test_what_makes_no_sense_is_refused(folder):
	for options, words in ((["--tick-over", "5ms"], "--keep"), (["--keep", "5s", "--zones", "events"], "--zones"),
			(["--keep", "never"], "never")):
		done = harness.check(harness.sonde("record", *options, "-o", folder / "x.prof", "true"), 125)
		assert words in done.err and not (folder / "x.prof").exists(), done


def test_a_dump_of_a_whole_recording_is_said_to_be_none(folder):
	controlled = Controlled(folder)
	controlled.tell("dump")
	time.sleep(0.2)
	controlled.end()
	assert "dump is for recordings with --keep" in controlled.err, controlled.err
	assert [p.name for p in folder.glob("*.prof")] == ["test.prof"]


harness.main()
