"""Faults: the recorder is killed, at any point; nothing of it stays, and the file opens."""

import contextlib
import os
import pathlib
import re
import signal

import faults
import harness
import recording

# So much of the end may be missing after kill -9, and CPU time is accounted in ticks.
LOSS_S = 0.25
ACCOUNTS_S = 0.03


def session_of(pid):
	"""The living processes of a session."""
	found = set()
	for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
		with contextlib.suppress(OSError):
			fields = path.read_text(errors="replace").rpartition(")")[2].split()
			if int(fields[3]) == pid and fields[0] not in "ZX":
				found.add(int(path.parent.name))
	return found


def start_target(folder, program, *arguments, options=()):
	"""A recording in a session of its own, of a target that works on: (it, the target's pid)."""
	pid_file = folder / "pid"
	pid_file.unlink(missing_ok=True)
	running = recording.start(folder, "sh", "-c", f"echo $$ > {pid_file}; exec \"$0\" \"$@\"",
		program, *arguments, options=options, start_new_session=True)
	return running, faults.pid_from(pid_file)


def is_at_work(pid):
	with contextlib.suppress(OSError):
		return os.readlink(f"/proc/{pid}/exe").endswith("/fate") and faults.cpu_seconds(pid) > 0.02


def traits_alone(folder, program):
	"""The same target without a recorder."""
	pid_file = folder / "pid-alone"
	with open(folder / "alone.err", "wb") as err:
		alone = recording.subprocess.Popen(["sh", "-c",
			f"echo $$ > {pid_file}; exec {program} 60000 exit 0"], stdin=-3, stdout=-3, stderr=err)
	pid = faults.pid_from(pid_file)
	faults.wait_until(lambda: is_at_work(pid), "the target at work")
	found = faults.traits(pid)
	alone.kill()
	alone.wait()
	return found


def compare(found, alone, zones=True):
	# Each has a file for its errors.
	found["files"].pop(2), alone["files"].pop(2)
	if zones:
		# The only variable that a program gets, for its zones' sake.
		found["environ"], told = re.subn("SONDE_ZONES=[^\0]*\0", "", found["environ"])
		assert told == 1, found
	for key in alone:
		assert found[key] == alone[key], (key, found[key], alone[key])


def check_set_up(folder, zones, *options):
	program = recording.program(folder, "fate")
	running, pid = start_target(folder, program, 60000, "exit", 0, options=options)
	faults.wait_until(lambda: is_at_work(pid), "the target at work")
	try:
		compare(faults.traits(pid), traits_alone(folder, program), zones)
	finally:
		os.kill(pid, signal.SIGKILL)
	assert running.end() == -signal.SIGKILL


def test_a_recorded_target_is_set_up_as_if_alone(folder):
	check_set_up(folder, True)


def test_a_target_without_zones_sees_no_difference_at_all(folder):
	check_set_up(folder, False, "--zones=none")


def test_nothing_stays_in_the_target_after_kill_9(folder):
	program = recording.program(folder, "fate")
	running, pid = start_target(folder, program, 60000, "exit", 0)
	recording.wait_for_work(running.process.pid, 0.2)
	running.end(signal.SIGKILL)
	try:
		# Of the session only the target is left; nobody holds an event that would keep it alive.
		faults.wait_until(lambda: session_of(running.process.pid) == {pid}, "the target alone")
		assert not any("perf_event" in to for to in faults.traits(pid)["files"].values())
		compare(faults.traits(pid), traits_alone(folder, program))
		used = faults.cpu_seconds(pid)
		faults.wait_until(lambda: faults.cpu_seconds(pid) > used + 0.05, "that it works on")
	finally:
		os.kill(pid, signal.SIGKILL)


def kill_at(folder, call, number, mark, *command):
	"""Records and kills sonde at the number-th such system call: its status."""
	for path in (mark, folder / "k.prof", folder / "k.prof.old"):
		path.unlink(missing_ok=True)
	return harness.run("strace", "-qq", "-o", os.devnull, "-e", f"trace={call}",
		"-e", f"inject={call}:signal=SIGKILL:when={number}", harness.SONDE, "record", "-q",
		"-F", "50k", "-o", folder / "k.prof", "sh", "-c", f"{' '.join(map(str, command))}; echo > {mark}",
		stdout=recording.subprocess.DEVNULL, stderr=recording.subprocess.DEVNULL,
		start_new_session=True, env={**faults.TRACED, "XDG_CACHE_HOME": str(folder)}).status


def check_killed(folder, number):
	"""The recording opens: its samples."""
	path = folder / "k.prof"
	# The first writes are the file's header, the target's start signal and what happened first.
	if number <= 3:
		done = harness.sonde("report", path)
		assert done.status in (0, 1) and len(done.err.splitlines()) == done.status, done
		return 0
	return recording.Recording(path).stats["counted"]


@harness.takes_long
def test_killed_at_each_write(folder):
	recording.needs_sampling()
	faults.needs_injection(folder)
	program = recording.program(folder, "deep")
	mark = folder / "mark"
	counts = []
	number, step = 1, 6 if harness.SANITIZED else 2
	while (status := kill_at(folder, "write", number, mark, program, 3000, harness.work(40))) != 0:
		assert status == -signal.SIGKILL, status
		if number > 2:
			faults.wait_until(mark.exists, f"the target's end, killed at write {number}")
		counts.append(check_killed(folder, number))
		# At the start each one, of the many at the end some.
		number += 1 if number <= 3 else step
	assert mark.exists()
	assert number >= 15, counts
	whole = check_killed(folder, number)
	# Once they are written, all are there, whatever comes then.
	assert max(counts[-3:]) > 0.4 * whole > 100, (counts, whole)


@harness.takes_long
def test_killed_while_the_file_takes_its_name(folder):
	recording.needs_sampling()
	faults.needs_injection(folder)
	# So large a file that it is rewritten.
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	for call in ("fdatasync", "rename"):
		number = 1
		while (status := kill_at(folder, call, number, mark, program, harness.work(400), "exit", 0)) != 0:
			assert status == -signal.SIGKILL, status
			assert mark.exists(), (call, number)
			assert check_killed(folder, 9) > 50, (call, number)
			number += 1
		assert number > 1, f"{call} was never called"


def test_a_killed_recorder_has_written_until_then(folder):
	program = recording.program(folder, "fate")
	running, pid = start_target(folder, program, 60000, "exit", 0)
	try:
		recording.wait_for_work(running.process.pid, 0.6)
		os.kill(running.process.pid, signal.SIGSTOP)
		used = faults.cpu_seconds(pid)
		assert running.end(signal.SIGKILL) == -signal.SIGKILL
	finally:
		os.kill(pid, signal.SIGKILL)
	recorded = faults.sampled_seconds(running.recording)
	assert recorded >= used - LOSS_S - ACCOUNTS_S, (recorded, used)
	assert any(note["kind"] == "incomplete" for note in running.recording.notes)


harness.main()
