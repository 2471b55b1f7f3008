"""Both clocks: time that threads spend off the CPU, blocked and preempted, and where."""

import errno
import os
import signal
import time

import harness
import recording
from attaching import Target, wait_until
from recording import patiently

# Of some 50 ms each; and how long two threads share a CPU. Fewer or less say nothing of shares.
ROUNDS = round(30 * max(harness.WORK, 0.5))
HOGS_S = 1.5 * max(harness.WORK, 0.5)
OFF = "blocked-time", "preempted-time"


class Samples:
	"""The samples of a recording one by one, as a dump tells them."""

	def __init__(self, r, folder):
		dump = folder / "dump"
		harness.check(harness.sonde("convert", r.path, "--to", "dump", "-o", dump))
		self.metrics, self.names, self.samples = [], [], []
		for line in dump.read_text().splitlines():
			words = line.split()
			if line.startswith("metric "):
				self.metrics.append(words[1].strip('"'))
			elif line.startswith("thread "):
				self.names.append(words[-1].strip('"'))
			elif line.startswith("sample "):
				weights = [int(w) for w in words[words.index("weight") + 1:]]
				self.samples.append((int(words[words.index("thread") + 1]),
					dict(zip(self.metrics, weights))))

	def sum(self, metric, thread=None):
		"""In seconds; of all threads of that name."""
		return sum(weights[metric] for number, weights in self.samples
			if thread in (None, self.names[number])) / 1e9


def inclusive(r, metric):
	"""{function: seconds}"""
	rows = r.json("--view", "functions", "--metric", metric, "--limit", "0")["rows"]
	return {row["name"]: row["inclusive"] / 1e9 for row in rows}


def close(found, truth, part, slack=0.006):
	return abs(found - truth) <= part * truth + slack


def check_waits(r, folder, part):
	"""What `waits` has printed: how long it was in each function, how long its threads lived."""
	real = inclusive(r, "real-time")
	samples = Samples(r, folder)
	for line in r.done.out.splitlines():
		kind, name, seconds = line.split()
		if kind == "end":
			continue
		seconds = float(seconds)
		found = real.get(name, 0) if kind == "wall" else samples.sum("real-time", name)
		assert close(found, seconds, part), f"{line}, found {found}\n{r.done.out}{real}"
	for thread, w in samples.samples:
		# A row of CPU time that is in no sample: of the names these are the last words.
		is_row = samples.names[thread] in ("[lost]", "permitted]")
		assert w["real-time"] == w["cpu-time"] + w["blocked-time"] + w["preempted-time"], w
		assert min(w.values()) >= 0 and w["samples"] == (w["cpu-time"] > 0 and not is_row), w
	r.check_whole()
	blocked = r.json("--view", "tree", "--collapse", "none", "--limit", "0", "--metric",
		"blocked-time")["rows"]
	levels = [row["level"] for row in blocked if row["name"] == "level"]
	assert len(levels) >= 31 and max(levels) - min(levels) == 30, levels
	cut = sum(row["in_only"] for row in blocked if row["name"] == "[truncated]")
	assert cut <= 0.005 * samples.sum("blocked-time") * 1e9, cut


@harness.takes_long
def test_waits_are_below_their_system_calls(folder):
	recording.needs_root()
	recording.needs_sampling()
	program = recording.program(folder, "waits")
	r = recording.record(folder, program, harness.work(200))
	harness.check(r.done)
	rows = r.json("--view", "functions", "--metric", "blocked-time", "--limit", "0")["rows"]
	names = {row["name"]: row["exclusive"] for row in rows}
	assert "schedule" not in names, names
	assert sum(ns for name, ns in names.items() if "_sys_" in name or name.startswith("ksys_")) > 0.9 * sum(names.values()), names
	shown = r.json("--view", "functions", "--metric", "blocked-time", "--kernel", "all", "--limit", "0")
	assert shown["total"] == sum(names.values()) and "schedule" in {row["name"] for row in shown["rows"]}


def as_nobody(folder, program, *args):
	r = recording.as_nobody(folder, program, *args)
	harness.check(r.done)
	return r


def part_unprivileged():
	"""On a busy machine the recorder comes too late to look at some waits of a few milliseconds."""
	return 0.15 if os.getloadavg()[0] > os.cpu_count() else 0.05


@harness.takes_long
def test_waits_are_where_they_are(folder):
	program = recording.program(folder, "waits")
	patiently(lambda: check_waits(recording.record(folder, program, ROUNDS), folder, 0.02))


def test_waits_without_privileges(folder):
	program = recording.program(folder, "waits")
	patiently(lambda: check_waits(as_nobody(folder, program, ROUNDS), folder, part_unprivileged()))


def denied(folder, program, *args):
	"""Recorded where perf events are refused: by the preloaded library."""
	deny = recording.program(folder, "deny_perf")
	path = folder / "test.prof"
	done = harness.run(deny, str(errno.EPERM), harness.SONDE, "record", "-o", path, "--",
		program, *map(str, args))
	if done.status == 77:
		raise harness.Skip("seccomp is not to be had here")
	r = recording.Recording(path, harness.check(done))
	assert "preloaded library" in done.err, done
	return r


@harness.takes_long
def test_waits_where_perf_events_are_refused(folder):
	program = recording.program(folder, "waits")
	patiently(lambda: check_waits(denied(folder, program, ROUNDS), folder, part_unprivileged()))


@harness.takes_long
def test_preemption_where_perf_events_are_refused(folder):
	program = recording.program(folder, "hogs")
	patiently(lambda: check_hogs(denied(folder, program, HOGS_S), folder, 0.06))


def between(found, least, most, part, slack):
	return least - part * least - slack <= found <= most + part * most + slack


def check_children(r, folder):
	"""Programs that only sleep: one that ends by itself, and one that is killed in its sleep. How long they took at
	most, start and end included, is what their shell has measured."""
	samples = Samples(r, folder)
	begin, killed, end = map(float, r.done.out.split())
	for name, life, most in ("sleep", 0.8, end - begin), ("tail", 0.5, killed - begin):
		found = samples.sum("real-time", name)
		assert between(found, life, most, 0.02, 0.06), (name, found, most)
		assert samples.sum("blocked-time", name) > 0.9 * life


def test_sleepers_that_end_asleep(folder):
	clock = "read %s _ < /proc/uptime;"
	command = f"{clock % 'a'} tail -f /dev/null & sleep 0.5; kill $!; wait $!; {clock % 'b'} sleep 0.3; {clock % 'c'} echo $a $b $c"
	patiently(lambda: check_children(denied(folder, "sh", "-c", command), folder))


@harness.takes_long
def test_waits_in_functions_with_frame_pointers(folder):
	program = recording.program(folder, "waits", "-O0", "-fno-omit-frame-pointer")
	patiently(lambda: check_waits(as_nobody(folder, program, ROUNDS), folder, part_unprivileged()))


def check_running(folder, program):
	path = folder / "test.prof"
	with Target(folder, program, 0) as target:
		wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 4)
		recorder = recording.start(folder, options=["-q", "-p", target.pid])
		wait_until(lambda: recording.is_attached(recorder.process.pid))
		time.sleep(0.6)
		os.kill(target.pid, signal.SIGTERM)
		assert target.process.wait() == 0 and recorder.end() == 0, recorder.err
		ends = {words[1]: float(words[2]) for words in map(str.split, target.out().splitlines())
			if words[0] == "end"}
	r = recorder.recording
	samples = Samples(r, folder)
	# A thread that never ran is there all the same, from its beginning to its end.
	asleep = samples.sum("blocked-time", "asleep")
	wait = inclusive(r, "blocked-time")["wait_for_end"]
	assert close(wait, asleep, 0.001), (wait, asleep)
	# All are recorded from one moment on, so what they have is as far apart as their ends.
	begins = [end - samples.sum("real-time", name) for name, end in ends.items()]
	assert min(ends.values()) - max(begins) > 0.3, (begins, ends)
	assert max(begins) - min(begins) < 0.02, (begins, ends)


def test_waits_of_a_running_process(folder):
	recording.needs_sampling()
	program = recording.program(folder, "waits")
	patiently(lambda: check_running(folder, program))


def check_hogs(r, folder, part=0.03):
	samples = Samples(r, folder)
	truth = float(r.done.out)
	preempted = samples.sum("preempted-time")
	assert close(preempted, truth, part, 0.03), f"{preempted}, truth {truth}"
	assert inclusive(r, "preempted-time")["work"] > 0.9 * truth


@harness.takes_long
def test_who_could_run_is_preempted(folder):
	program = recording.program(folder, "hogs")
	patiently(lambda: check_hogs(recording.record(folder, program, HOGS_S), folder))


def check_flood(r, folder):
	samples = Samples(r, folder)
	# Both processes live that long, the second a little less, and the first as long as the recording: before it
	# measures, it is started, on a busy machine for long.
	# The time of a switch itself is off the CPU, and CPU time by the system's account.
	switching = r.json("--metric", "cpu-time", "--kernel", "all", "--limit", "0")["rows"]
	switching = sum(row["inclusive"] for row in switching if row["name"] == "schedule") / 1e9
	life, most = float(r.done.out), r.stats["duration_ns"] / 1e9 + switching / 2
	assert between(samples.sum("real-time"), 2 * life, 2 * most, 0.04, 0.03), (samples.sum("real-time"), life, most)
	assert len(samples.samples) < 20000
	off = sum(samples.sum(metric) for metric in OFF)
	real = inclusive(r, "real-time")
	assert off > 0.5 * life
	# A stack next to times off the CPU has them, those of start-up, too.
	assert between(real["ask"] + real["answer"], 2 * life, 2 * most, 0.06, 0.03), (real, life, most)
	assert not any("switch" in note["text"] for note in r.notes), r.notes
	assert r.stats["lost"] == 0, r.stats


@harness.takes_long
def test_a_flood_of_switches(folder):
	program = recording.program(folder, "pingpong")
	patiently(lambda: check_flood(recording.record(folder, program, round(50000 * harness.WORK)), folder))


def test_the_clock_is_a_choice(folder):
	program = recording.program(folder, "hogs")
	r = recording.record(folder, program, 0.1, options=["--clock", "virtual"])
	metrics = [row["name"] for row in r.json("--view", "stats")["metrics"]] \
		if "metrics" in r.json("--view", "stats") else []
	assert "real-time" not in metrics
	assert harness.sonde("report", r.path, "--clock", "real").status == 2
	assert r.report("--clock", "virtual") == r.report()
	r = recording.record(folder, program, 0.1, options=["--clock", "real"])
	assert r.json()["metric"]["name"] == "real-time"
	assert "by the real clock" in r.report()
	assert r.json("--clock", "virtual")["metric"]["name"] == "cpu-time"
	r = recording.record(folder, program, 0.1)
	assert r.json()["metric"]["name"] == "cpu-time"
	assert r.json("--clock", "real")["metric"]["name"] == "real-time"
	both = harness.sonde("report", r.path, "--clock", "real", "--metric", "samples")
	assert both.status == 2 and "--clock and --metric" in both.err, both


harness.main()
