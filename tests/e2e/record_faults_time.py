"""Faults of time: target or recorder stopped, frozen, starved; clocks that step; a throttled kernel;
CPUs that come and go."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

import faults
import harness
import recording

STOP_S = 0.5


def start_fate(folder, milliseconds, **more):
	"""A recording that goes on: (it, the target's pid)."""
	program = recording.program(folder, "fate")
	pid_file = folder / "pid"
	running = recording.start(folder, "sh", "-c",
		f"echo $$ > {pid_file}; exec {program} {milliseconds} exit 5", **more)
	pid = faults.pid_from(pid_file)
	recording.wait_for_work(running.process.pid, 0.1)
	return running, pid


def check_gap(running):
	"""The time in which nothing ran is no CPU time, and nothing of it is lost."""
	r = running.recording
	assert r.stats["duration_ns"] > STOP_S * 1e9 + 0.8 * r.stats["cpu_ns"], r.stats
	faults.check_accounted(r, running.err)
	# No metric has more than there was time: one thread, from start to end.
	for name in ("real-time", "blocked-time", "preempted-time"):
		done = harness.sonde("report", r.path, "--metric", name, "--format", "folded")
		if done.status == 0:
			total = sum(int(line.rpartition(" ")[2]) for line in done.out.splitlines())
			assert total <= 1.05 * r.stats["duration_ns"], (name, total, r.stats)


@harness.takes_long
def test_a_target_that_is_stopped(folder):
	running, pid = start_fate(folder, harness.work(400, least=400))
	os.kill(pid, signal.SIGSTOP)
	time.sleep(STOP_S)
	assert running.process.poll() is None
	os.kill(pid, signal.SIGCONT)
	assert running.end() == 5, running.err
	check_gap(running)


@harness.takes_long
def test_a_target_in_a_frozen_group(folder):
	running, pid = start_fate(folder, harness.work(400, least=400))
	with faults.control_group("freezer") as (group, version):
		(group / "cgroup.procs").write_text(str(pid))
		name, frozen, thawed = [("freezer.state", "FROZEN", "THAWED"),
			("cgroup.freeze", "1", "0")][version - 1]
		try:
			(group / name).write_text(frozen)
			time.sleep(STOP_S)
			assert running.process.poll() is None
		finally:
			(group / name).write_text(thawed)
		assert running.end() == 5, running.err
	check_gap(running)


@harness.takes_long
def test_a_recorder_that_is_starved(folder):
	running, pid = start_fate(folder, harness.work(700, least=700), options=["-F", "10k"])
	hogs = []
	try:
		os.setpriority(os.PRIO_PROCESS, running.process.pid, 19)
		os.sched_setscheduler(running.process.pid, os.SCHED_IDLE, os.sched_param(0))
		hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
		assert faults.wait_until(lambda: not faults.is_alive(pid), "the target's end")
	finally:
		for hog in hogs:
			hog.kill()
			hog.wait()
		# It need not wait for others any more.
		with contextlib.suppress(OSError):
			os.sched_setscheduler(running.process.pid, os.SCHED_OTHER, os.sched_param(0))
	assert running.end() == 5, running.err
	stats = running.recording.stats
	faults.check_accounted(running.recording, running.err)
	if stats["lost"] * 100 > stats["counted"]:
		assert "samples were lost" in running.err, running.err


@harness.takes_long
def test_a_recorder_that_sleeps_for_seconds(folder):
	# With whole copies of stacks, and so many of them, the rings are full before the target has ended.
	running, pid = start_fate(folder, harness.work(1500, least=1500), options=["--engine", "snapshot", "-F", "4000"])
	os.kill(running.process.pid, signal.SIGSTOP)
	states = []

	def has_ended():
		states.append(faults.state(pid))
		return not faults.is_alive(pid)
	faults.wait_until(has_ended, "the target's end")
	# It was not held up: whenever we looked it ran, or could.
	assert states.count("R") >= 0.9 * (len(states) - 2), states
	os.kill(running.process.pid, signal.SIGCONT)
	assert running.end() == 5, running.err
	stats = running.recording.stats
	faults.check_accounted(running.recording, running.err)
	assert stats["lost"] > 0 and "samples were lost" in running.err, (stats, running.err)


@harness.takes_long
def test_clocks_that_are_elsewhere(folder):
	recording.needs_sampling()
	program = recording.program(folder, "fate")
	for number, shift in enumerate((["--monotonic", "50000"], ["--monotonic", "-50"],
			["--boottime", "86400"])):
		path = folder / f"{number}.prof"
		done = harness.run("unshare", "-T", *shift, "--fork", harness.SONDE, "record", "-o", path,
			program, harness.work(150, least=150), "exit", 3)
		if "unshare" in done.err:
			raise harness.Skip(f"time namespaces are not to be had: {done.err}")
		harness.check(done, 3)
		r = recording.Recording(path, done)
		faults.check_accounted(r, "")
		assert 0.1e9 < r.stats["duration_ns"] < 30e9, r.stats
	# The other way round: what the target thinks of time is its own affair.
	r = recording.record(folder, "unshare", "-T", "--monotonic", "70000", "--fork", program,
		harness.work(150, least=150), "exit", 3, status=3)
	r.check_time("work_for", harness.work(150, least=150))
	assert r.stats["duration_ns"] < 30e9, r.stats


def test_a_kernel_that_throttles(folder):
	recording.needs_sampling()
	program = recording.program(folder, "fate")
	with faults.setting("kernel/perf_event_max_sample_rate", 2000):
		r = recording.record(folder, program, harness.work(200), "exit", 0, options=["-F", "20k"])
	# It lets some through, and more on some machines; what is missing has its cause told.
	if r.stats["counted"] < 0.95 * r.stats["expected"]:
		assert "throttled" in r.done.err, r.done
		assert any("throttled" in note["text"] for note in r.notes), r.notes


@harness.takes_long
def test_a_cpu_that_goes_and_comes_back(folder):
	recording.needs_root()
	recording.needs_sampling()
	switch = pathlib.Path("/sys/devices/system/cpu/cpu1/online")
	if not switch.exists() or switch.read_text().strip() != "1" or not os.access(switch, os.W_OK):
		raise harness.Skip("no CPU can be taken away here")
	program = recording.program(folder, "threads")
	running = recording.start(folder, program, 4, harness.work(1000, least=1000))
	recording.wait_for_work(running.process.pid, 0.2)
	try:
		switch.write_text("0")
		time.sleep(0.1)
	except OSError as error:
		running.end()
		raise harness.Skip(f"no CPU can be taken away here: {error}")
	finally:
		switch.write_text("1")
	assert running.end() == 0, running.err
	r = running.recording
	faults.check_accounted(r, running.err)
	r.check_share("heavy", 0.75)


harness.main()
