"""Which locks threads wait for, and who holds them: record --locks."""

import os
import pathlib
import re
import signal
import time

import harness
import recording
from attaching import Target, wait_until


def close(found, truth, part=0.05, slack=0.01):
	return abs(found - truth) <= part * truth + slack


def needs_kernel(folder):
	"""Kernel frames with names; without them threads are looked at from outside."""
	recording.needs_sampling()
	if not os.access("/proc/kallsyms", os.R_OK) or "ffff" not in open("/proc/kallsyms").readline():
		raise harness.Skip("kernel addresses are hidden")
	if int(recording.PARANOID.read_text()) > 1 and os.geteuid() != 0:
		raise harness.Skip("the kernel may not be sampled")


def waited(r, label, *options):
	"""{value of the label, without numbers of threads and modules: seconds}; "": none is known."""
	sums = {}
	for line in r.report("-f", "folded", "--roots", f"label:{label}", "-m", "blocked-time", *options).splitlines():
		path, _, ns = line.rpartition(" ")
		found = re.match(rf"{label}=(.*?) ?[(\[]", path)
		value = found.group(1) if found else ""
		if value.startswith("0x") and "[heap]" in path.split(";")[0]:
			value = "heap"
		sums[value] = sums.get(value, 0) + int(ns) / 1e9
	return sums


def check_truth(r, text):
	locks = waited(r, "lock")
	for line in text.splitlines():
		lock, holder, seconds = line.split()
		assert close(locks[lock], float(seconds)), (line, locks)
		which = "^0x.*heap" if lock == "heap" else "^" + re.escape(lock)
		holders = waited(r, "holder", "--label", f"lock={which}")
		# Where the recorder came too late to read it while they waited, nobody is named, and never another.
		assert holders.keys() <= {holder, ""} and holders[holder] > 0.5 * float(seconds), (line, holders)


def test_truth(folder):
	needs_kernel(folder)
	r = recording.record(folder, recording.program(folder, "locks"), options=["--locks"])
	check_truth(r, r.done.out)
	locks = waited(r, "lock")
	# A condition variable has no holder; what waits for no lock has none.
	assert any(lock.startswith("news+") and seconds > 0.1 for lock, seconds in locks.items()), locks
	news = waited(r, "holder", "--label", "lock=^news\\+")
	assert set(news) == {""}, news
	assert waited(r, "lock", "--focus", "^rest$").keys() == {""}


def test_who_releases_a_lock_had_it(folder):
	needs_kernel(folder)
	done = harness.run(harness.SONDE, "record", "-q", "--wakers", "-o", os.devnull, "true")
	if done.status == 125:
		raise harness.Skip(done.err.strip())
	r = recording.record(folder, recording.program(folder, "locks"), options=["--locks", "--wakers"])
	wakers = waited(r, "waker", "--label", "lock=^gate")
	assert wakers["keeper"] > 0.95 * sum(wakers.values()), wakers


def check_deadlock(r):
	for mine, theirs in (("left", "one"), ("right", "two")):
		holders = waited(r, "holder", "--label", f"lock=^{mine} ")
		assert holders[theirs] > 0.95 * sum(holders.values()) > 0.1, holders


def wait_for_deadlock(pid):
	tasks = f"/proc/{pid}/task"
	wait_until(lambda: len(os.listdir(tasks)) == 3 and all(
		open(f"{tasks}/{tid}/syscall").read().startswith("202 ") for tid in os.listdir(tasks)))


def test_deadlock(folder):
	needs_kernel(folder)
	control = folder / "control"
	run = recording.start(folder, recording.program(folder, "locks"), "deadlock",
		options=["--locks", "--control", control])
	try:
		children = pathlib.Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children")
		wait_for_deadlock(wait_until(lambda: control.exists() and children.read_text()).strip())
		time.sleep(0.4)
		control.write_text("stop\n")
		assert run.end() == 0, run.err
		check_deadlock(run.recording)
	finally:
		harness.run("pkill", "-f", f"^{folder}/locks deadlock")


def test_deadlock_of_a_running_program(folder):
	"""Nobody leaves a CPU any more: all are looked at from outside."""
	recording.needs_sampling()
	with Target(folder, recording.program(folder, "locks"), "deadlock") as target:
		wait_for_deadlock(target.pid)
		run = recording.start(folder, options=["--locks", "-p", target.pid])
		wait_until(lambda: recording.is_attached(run.process.pid))
		time.sleep(0.5)
		assert run.end(signal.SIGINT) == 0, run.err
		check_deadlock(run.recording)


def test_as_a_user(folder):
	"""Without the kernel's frames."""
	program = recording.program(folder, "locks")

	def attempt():
		r = recording.as_nobody(folder, program, options=["--locks"])
		locks = waited(r, "lock")
		for line in r.done.out.splitlines():
			lock, holder, seconds = line.split()
			assert 0.5 * float(seconds) < locks[lock] < 1.1 * float(seconds) + 0.01, (line, locks)
	# Between a wait and the clock by which the program measures it a thread may be preempted.
	recording.patiently(attempt)


def test_refusals(folder):
	for options, word in ((["--clock", "virtual"], "--clock virtual"), (["--engine", "preload"], "--engine preload")):
		done = harness.run(harness.SONDE, "record", "--locks", *options, "-o", folder / "x", "true")
		assert done.status == 125 and word in done.err, done


harness.main()
