"""Recordings of programs with zones: what they measured themselves, exactly, and where samples were.

tests/programs/zoned.c prints what it must be: for each stack of zones how often it was entered and how
long it was there, for each frame when it ended."""

import collections
import json
import pathlib
import re
import shutil
import signal
import subprocess
import time

import harness
from attaching import wait_until
from harness import check, sonde
from recording import wait_for_work
from zone_recording import STRING, Truth, ZoneRecording, names, zoned

# Of clocks that are read one after the other.
SLACK_NS = 20000


def record(folder, *command, options=(), status=0, env=None):
	done = check(sonde("record", *options, "-o", folder / "z.prof", *command, env=env), status)
	return done, ZoneRecording(folder / "z.prof"), Truth(done.out)


def assert_true_zones(recording, truth):
	zones = recording.zones()
	for path, (count, least_ns, most_ns) in truth.stacks.items():
		entries, ns = zones[path]
		assert entries == count, (path, entries, count)
		slack = SLACK_NS + 200 * count
		assert least_ns - slack <= ns <= most_ns + slack, (path, ns, least_ns, most_ns)


def test_counts_and_times_are_the_programs_own(folder):
	done, recording, truth = record(folder, zoned(folder), "frames", "60", "4")
	assert len(truth.stacks) == 7
	assert_true_zones(recording, truth)
	assert "60 frames; 0 lost" in done.err, done.err
	# Nothing but what was marked, the roots of two threads, and the cost of frames.
	assert set(recording.zones()) == set(truth.stacks) | {"_global", "_global/frame",
		"_global/prof_update"}
	assert {kind for stack, *_ in recording.rows for _, kind in stack} == {"zone"}


def test_frames_are_the_programs_own(folder):
	_, recording, truth = record(folder, zoned(folder), "frames", "60", "4")
	ticks = [t for t in recording.ticks if t[1] == "frame"]
	assert [t[2] for t in ticks] == list(range(60))
	assert all(start < end for _, _, _, start, end in ticks), ticks
	# Two clocks: the distances are the same, wherever they begin. Each frame ended between two looks at the
	# program's, and may have been preempted there: so one shift suits all.
	ends = [(tick[4], *looks) for tick, looks in zip(ticks, truth.frames)]
	least, most = max(before - end for end, before, _ in ends), min(after - end for end, _, after in ends)
	assert least - SLACK_NS <= most + 2 * 10**6, (least, most, ends)
	for (_, _, _, _, end), (_, _, _, start, _) in zip(ticks, ticks[1:]):
		assert start == end, "frames follow each other"
	# The rows of a tick are at its end: all but the last, which has what came after it.
	ends = {t[4] for t in ticks}
	late = [s for s in recording.rows if s[3] not in ends and s[3] < max(ends)]
	assert not late, late[:3]
	per_tick = [sum(s[4]["zone-entries"] for s in recording.rows
		if s[3] == t[4] and names(s[0]) == "_global/frame/physics") for t in ticks]
	assert per_tick == [1] * 60, per_tick


def test_a_worker_without_frames_is_in_no_share(folder):
	"""The last row has the time that the worker spends outside zones, and no sum of the view includes it."""
	_, recording, _ = record(folder, zoned(folder), "frames", "60", "4")
	spent = collections.Counter()
	for stack, _, thread, _, weight in recording.rows:
		spent[names(stack), thread] += weight["zone-time"]
	workers = {thread for (path, thread), ns in spent.items() if path == "_global/worker" and ns}
	assert len(workers) == 1, spent
	outside = spent["_global", workers.pop()]
	view = json.loads(check(sonde("report", folder / "z.prof", "--view", "zones", "--format", "json")).out)
	assert view["threads_without_frames"] == {"threads": 1, "weight": outside}, (view, spent)
	assert view["total"] == sum(spent.values()) - outside == sum(row["exclusive"] for row in view["rows"]), view
	text = check(sonde("report", folder / "z.prof", "--view", "zones")).out
	rows = text[text.index("exclusive  "):].split("\n\n")[0].splitlines()
	assert [line.endswith("[1 thread without frames, outside zones]") for line in rows if "note: " not in line][-1], text


def wrong_samples(recording):
	"""(right, [wrong]): samples whose innermost zone is not the innermost function that is a zone, but
	for those inside of prof.h's own code."""
	zones = {"physics", "contact", "render", "tree", "worker", "frame"}
	right, wrong = 0, []
	for stack, zone, _, _, weight in recording.taken:
		functions = [name for name, _ in stack]
		if zone is None or weight["samples"] == 0 or "main" not in functions and "worker" not in functions:
			continue
		if any(re.match("Prof_|zones?_", name) for name in functions):
			continue
		wanted = [name for name in functions if name in zones]
		found = zone[-1][0] if zone else "_global"
		if found == (wanted[-1] if wanted else "_global"):
			right += 1
		else:
			wrong.append((names(stack), names(zone)))
	return right, wrong


def test_samples_know_their_zones(folder):
	done, recording, _ = record(folder, zoned(folder), "frames", "150", "6", options=("-F", "2000"))
	right, wrong = wrong_samples(recording)
	assert right > 300, (right, wrong)
	# An instant of a zone's beginning or end in its own function, before or after the clock is read.
	assert len(wrong) <= 1 + right // 250, (right, wrong)
	assert "are unknown" not in done.err, done.err


@harness.takes_long
def test_samples_of_the_preloaded_library_know_their_zones(folder):
	_, recording, truth = record(folder, zoned(folder), "frames", "80", "6", options=("--engine", "preload"))
	assert_true_zones(recording, truth)
	right, wrong = wrong_samples(recording)
	assert right > 50 and len(wrong) <= 2 + right // 100, (right, wrong)


def test_blocked_time_keeps_its_zone(folder):
	_, recording, _ = record(folder, zoned(folder), "sleep", "120", options=("--clock", "real"))
	blocked = sum(s[4]["blocked-time"] for s in recording.taken if s[1] and s[1][-1][0] == "dozing")
	assert 0.11e9 < blocked < 1e9, blocked


def test_short_programs_lose_nothing(folder):
	program = zoned(folder)
	for _ in range(10):
		_, recording, _ = record(folder, program, "short")
		zones = recording.zones()
		assert zones["_global/contact"][0] == zones["_global/render"][0] == 1, zones
		assert zones["_global/contact"][1] >= 100000


def test_programs_without_frames(folder):
	# On a busy machine, the recorder may look at it late.
	for sleep_ms in 150, 10000:
		_, recording, _ = record(folder, zoned(folder), "plain", "20", str(sleep_ms))
		assert recording.ticks == []
		assert recording.zones()["_global/physics/contact"][0] == 1
		are_read_meanwhile = len({s[3] for s in recording.rows}) >= 2
		if are_read_meanwhile:
			break
	assert are_read_meanwhile, "its counters were not read while it slept"


def test_children_have_zones_of_their_own(folder):
	done, recording, _ = record(folder, zoned(folder), "children", "6")
	assert recording.zones()["_global/contact"][0] == 1 + 2 + 3 + 4 + 5 + 6
	by_thread = {}
	for stack, _, thread, _, weight in recording.rows:
		if names(stack) == "_global/contact":
			by_thread[thread] = by_thread.get(thread, 0) + weight["zone-entries"]
	assert sorted(by_thread.values()) == [1, 2, 3, 4, 5, 6]
	assert "of 6 programs" in done.err, done.err


NAMED = """
#define _GNU_SOURCE
#define Prof_ENABLED
#include <prof.h>
#include <pthread.h>
#include <time.h>
static void work(void)
{
	struct timespec t = {0, 30000000};
	Prof_Begin(work) nanosleep(&t, 0);
	Prof_End
}
static void *worker(void *unused) { work(); Prof_thread_name("the decoder's first thread"); work(); return unused; }
static void *other(void *unused) { work(); return unused; }
int main(void)
{
	pthread_t named, unnamed;
	Prof_thread_name("game loop");
	work();
	pthread_create(&named, 0, worker, 0);
	pthread_create(&unnamed, 0, other, 0);
	pthread_setname_np(unnamed, "kernel's");
	pthread_join(named, 0);
	pthread_join(unnamed, 0);
	return 0;
}
"""


def test_threads_have_the_names_that_their_program_gives(folder):
	program = harness.compile_c(folder, NAMED, "-O1", "-I", harness.SOURCE_ROOT / "include",
		"-Wl,--no-as-needed", harness.BUILD_ROOT / "libsonde-zones.so",
		f"-Wl,-rpath,{harness.BUILD_ROOT}", "-pthread")
	_, recording, _ = record(folder, program)
	# Time of a thread that was sampled not even once is [lost]: it is no thread.
	found = sorted(re.search(STRING, thread).group(1) for thread in recording.threads if '"[lost]"' not in thread)
	assert found == ["game loop", "kernel's", "the decoder's first thread"], found


def test_threads_that_are_soon_over_are_told_apart(folder):
	"""Each has its own sums, and events that end with it, though all have the same work."""
	_, recording, truth = record(folder, zoned(folder), "threads", "40", options=("--zones=events",))
	assert_true_zones(recording, truth)
	entered, busy = collections.Counter(), collections.Counter()
	for stack, _, thread, _, weights in recording.rows:
		if names(stack) == "_global/worker":
			entered[thread] += weights["zone-entries"]
		busy[thread] += weights["zone-time"]
	assert sorted(entered.values()) == [3] * 40, entered
	events = collections.defaultdict(list)
	for thread, time_ns, stack in recording.events:
		events[thread].append((time_ns, names(stack)))
	assert events.keys() == entered.keys(), (events.keys(), entered.keys())
	for thread, seen in events.items():
		assert [name for _, name in seen].count("_global/worker") == 3 and seen[-1][1] == "", seen
		assert abs(seen[-1][0] - seen[0][0] - busy[thread]) < SLACK_NS * 10, (seen, busy[thread])
	assert not [note for note in recording.notes if "had their place" in note], recording.notes


@harness.takes_long
def test_threads_that_cannot_be_told_apart_are_counted(folder):
	"""Without events the next thread has the place of the last at once."""
	program = subprocess.Popen([zoned(folder), "threads", "500"], stdout=subprocess.PIPE, text=True, env={})
	time.sleep(0.3)
	check(sonde("record", "-o", folder / "z.prof", "-p", str(program.pid)))
	program.communicate()
	recording = ZoneRecording(folder / "z.prof")
	threads = {row[2] for row in recording.rows}
	entered = sum(row[4]["zone-entries"] for row in recording.rows if names(row[0]) == "_global/worker")
	notes = [note for note in recording.notes if "threads that took their places" in note]
	assert len(notes) == 1, recording.notes
	# As many as have worked, but for the first and the last, which may be incomplete.
	merged = int(re.search(r"\d+", notes[0]).group())
	assert abs(merged + len(threads) - entered / 3) <= 2 + len(threads), (merged, len(threads), entered)


@harness.takes_long
def test_programs_in_a_pid_namespace(folder):
	"""They know their threads by other ids than we do."""
	inside = ("unshare", "-Urpf")
	if not shutil.which("unshare") or harness.run(*inside, "true").status != 0:
		raise harness.Skip("no pid namespaces here")
	_, recording, truth = record(folder, *inside, zoned(folder), "frames", "60", "6")
	assert_true_zones(recording, truth)
	right, wrong = wrong_samples(recording)
	assert right > 50 and len(wrong) <= 1 + right // 50, (right, wrong)


def test_exec_ends_a_program_and_begins_another(folder):
	program = zoned(folder)
	done, recording, _ = record(folder, program, "exec", program)
	zones = recording.zones()
	assert zones["_global/before_exec"][0] == 1
	assert zones["_global/render"][0] == 2 and zones["_global/contact"][0] == 1, zones
	assert "of 2 programs" in done.err, done.err


def test_a_crash_loses_nothing(folder):
	done = sonde("record", "-o", folder / "z.prof", zoned(folder), "crash")
	assert done.status == -signal.SIGSEGV, done
	recording = ZoneRecording(folder / "z.prof")
	zones = recording.zones()
	assert zones["_global/crashing/render"][0] == zones["_global/crashing"][0] == 1, zones
	assert zones["_global/crashing/render"][1] >= 5 * 10**6, zones
	# Open zones end with their program, not when that is noticed.
	assert zones["_global/crashing"][1] < 0.5e9, zones


def test_zones_that_are_too_quick_are_told(folder):
	"""A ring of 65,536 events is overwritten in a few milliseconds."""
	done, recording, truth = record(folder, zoned(folder), "storm", "300")
	assert_true_zones(recording, truth)
	unknown = [s for s in recording.taken if s[1] and names(s[1]) == "[unknown]"]
	if unknown:
		assert re.search(rf"the zones of {len(unknown):,} samples?, on and off the CPU, are", done.err), \
			(len(unknown), done.err)
		assert any("shown as [unknown]" in note for note in recording.notes), recording.notes


def lost_ticks(said):
	return int(re.search(r"frames?; ([\d,]+) lost", said).group(1).replace(",", ""))


def stand_still(recorder, seconds):
	"""Meanwhile a program's ring of ticks is written over."""
	recorder.send_signal(signal.SIGSTOP)
	time.sleep(seconds)
	recorder.send_signal(signal.SIGCONT)


@harness.takes_long
def test_ticks_that_are_lost_are_counted(folder):
	"""From the first on, be it among them or not."""
	recorder = subprocess.Popen([harness.SONDE, "record", "-o", folder / "z.prof", zoned(folder), "ticks",
		"2500"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	wait_for_work(recorder.pid, 0.03)
	stand_still(recorder, 1.5)
	out, err = recorder.communicate()
	assert recorder.returncode == 0, err
	recording, truth = ZoneRecording(folder / "z.prof"), Truth(out)
	# The time of lost ticks is in the sums all the same.
	assert_true_zones(recording, truth)
	numbers = [t[2] for t in recording.ticks]
	frames = truth.stacks["_global/drip"][0]
	assert numbers == sorted(set(numbers)) and numbers[-1] == frames - 1
	lost = lost_ticks(err)
	assert lost + len(numbers) == frames, (lost, len(numbers), frames)
	if lost:
		assert any("their time is in no tick" in note for note in recording.notes), recording.notes
	else:
		raise harness.Skip("the ring was large enough")


@harness.takes_long
def test_lost_ticks_of_running_programs_are_counted(folder):
	"""What was before the recorder came is not lost."""
	program = subprocess.Popen([zoned(folder), "ticks", "2500"], stdout=subprocess.PIPE, text=True)
	time.sleep(0.3)
	recorder = subprocess.Popen([harness.SONDE, "record", "-o", folder / "z.prof", "-p", str(program.pid)],
		stderr=subprocess.PIPE, text=True)
	# The zones memory is seen, so their ring.
	wait_until(lambda: "memfd:sonde-zones" in pathlib.Path(f"/proc/{recorder.pid}/maps").read_text())
	stand_still(recorder, 1.5)
	err = recorder.communicate()[1]
	frames = Truth(program.communicate()[0]).stacks["_global/drip"][0]
	recording = ZoneRecording(folder / "z.prof")
	numbers = [t[2] for t in recording.ticks]
	missing, lost = numbers[-1] + 1 - numbers[0] - len(numbers), lost_ticks(err)
	assert numbers[-1] == frames - 1, (numbers[-1], frames)
	# The first that is there may be preceded by lost ones, but not all since the program began were lost.
	assert missing <= lost < frames - len(numbers), (missing, lost, len(numbers), frames)
	if not lost:
		raise harness.Skip("the ring was large enough")


def test_zones_without_end_and_ends_without_zone_are_told(folder):
	_, recording, _ = record(folder, zoned(folder), "broken")
	notes = "\n".join(recording.notes)
	assert "zones were left without Prof_End" in notes and "left_open was open" in notes, notes
	_, recording, _ = record(folder, zoned(folder), "extra")
	notes = "\n".join(recording.notes)
	assert '10 "Prof_Ends ended no zone' in notes and "where no zone was open" in notes, notes


@harness.takes_long
def test_running_programs_are_attached(folder):
	program = subprocess.Popen([zoned(folder), "wait"], stdout=subprocess.PIPE, text=True,
		env={"SONDE_ZONES": "events"})
	try:
		assert program.stdout.readline() == "ready\n"
		time.sleep(0.3)
		check(sonde("record", "-o", folder / "z.prof", "--duration", "1s", "-p", str(program.pid)))
	finally:
		program.send_signal(signal.SIGTERM)
		truth = Truth(program.communicate()[0])
	recording = ZoneRecording(folder / "z.prof")
	ticks = recording.ticks
	numbers = [t[2] for t in ticks]
	assert len(ticks) > 10 and numbers == list(range(numbers[0], numbers[0] + len(ticks))), numbers
	assert numbers[0] > 5, "what was before is not in it"
	physics, all_ = recording.zones()["_global/frame/physics"][0], truth.stacks["_global/frame/physics"][0]
	assert len(ticks) <= physics <= min(all_, len(ticks) + 2), (physics, len(ticks), all_)
	right, wrong = wrong_samples(recording)
	assert right > 20 and len(wrong) <= 1 + right // 100, (right, wrong)


def test_without_events_samples_say_so(folder):
	program = subprocess.Popen([zoned(folder), "wait"], stdout=subprocess.PIPE, text=True, env={})
	try:
		assert program.stdout.readline() == "ready\n"
		done = check(sonde("record", "-o", folder / "z.prof", "--duration", "500ms", "-p", str(program.pid)))
	finally:
		program.send_signal(signal.SIGTERM)
		program.communicate()
	recording = ZoneRecording(folder / "z.prof")
	assert recording.zones()["_global/frame"][0] > 5
	assert {names(s[1]) for s in recording.taken} <= {"[unknown]", ""}
	assert "are unknown" in done.err, done.err


def test_events_are_stored_if_asked_for(folder):
	_, recording, truth = record(folder, zoned(folder), "frames", "30", "3", options=("--zones=events",))
	for path, (count, _, _) in truth.stacks.items():
		assert any(names(e[2]) == path for e in recording.events), path
	# A thread is in a leaf once for each time it enters it.
	assert sum(names(e[2]) == "_global/frame/render" for e in recording.events) == 30
	for thread in {e[0] for e in recording.events}:
		times = [e[1] for e in recording.events if e[0] == thread]
		assert times == sorted(times)


@harness.takes_long
def test_events_that_are_lost_are_told(folder):
	"""The same number by the recorder and in what it wrote."""
	done, recording, truth = record(folder, zoned(folder), "storm", "300", options=("--zones=events",))
	assert_true_zones(recording, truth)
	said = re.search(r"; ([\d,]+) zone events? lost", done.err)
	noted = [note for note in recording.notes if "zone events were lost" in note or "zone event was lost" in note]
	assert len(noted) == (said is not None), (done.err, noted)
	# A storm is some hundred times as many as a ring has.
	assert said and int(said.group(1).replace(",", "")) > 65536, done.err


def test_switched_off_is_told(folder):
	check(sonde("record", "-o", folder / "z.prof", zoned(folder), "frames", "5", "3",
		env={"SONDE_ZONES": "off"}))
	notes = ZoneRecording(folder / "z.prof").notes
	assert any("were switched off" in note for note in notes), notes


def test_none_is_none(folder):
	_, recording, _ = record(folder, zoned(folder), "frames", "10", "3", options=("--zones=none",))
	assert not recording.rows and not recording.ticks and "zone-time" not in recording.metrics
	assert all(s[1] is None for s in recording.samples)


FUNCTIONS = """
#include <time.h>
static long ns(void) __attribute__((no_instrument_function));
static long ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
__attribute__((noinline)) void leaf(void) { long end = ns() + 500000; while (ns() < end) ; }
__attribute__((noinline)) void middle(void) { leaf(); leaf(); }
int main(void) { for (int i = 0; i < 20; i++) middle(); return 0; }
"""


def test_functions_are_zones(folder):
	program = harness.compile_c(folder, FUNCTIONS, "-O1", "-g", "-finstrument-functions")
	_, recording, _ = record(folder, program, options=("--zones=functions",))
	zones = recording.zones()
	assert zones["_global/main/middle/leaf"][0] == 40 and zones["_global/main/middle"][0] == 20, zones
	# They are the functions of samples, with calls that were counted.
	kinds = {kind for stack, *_ in recording.rows for name, kind in stack if name == "leaf"}
	assert kinds == {"user"}, kinds
	graph = check(sonde("report", folder / "z.prof", "--view", "graph")).out
	assert re.search(r"40/40\s+leaf", graph) and re.search(r"20/20\s+middle", graph), graph


def test_sums_survive_sondes_own_formats(folder):
	_, recording, _ = record(folder, zoned(folder), "frames", "20", "3")
	check(sonde("convert", folder / "z.prof", "-o", folder / "again.prof"))
	again = ZoneRecording(folder / "again.prof")
	assert again.zones() == recording.zones() and again.ticks == recording.ticks
	assert [s[1] for s in again.samples] == [s[1] for s in recording.samples]


harness.main()
