"""How recordings end: Ctrl-C, signals, kill -9, full disks; the target is never the worse for it."""

import os
import pty
import random
import resource
import signal
import time

import harness
import recording

# So much of the end may be missing after kill -9.
LOSS_S = 0.25
# CPU time is accounted in ticks, and begins a little before exec, from where on it is sampled.
ACCOUNTS_S = 0.03


def wait_for_file(path, seconds=60):
	end = time.monotonic() + seconds * harness.PATIENCE
	while not path.exists() and time.monotonic() < end:
		time.sleep(0.01)
	assert path.exists(), f"{path.name} was never written"


def on_terminal(command):
	"""Runs a command in a terminal of its own: (pid, the terminal's file descriptor)."""
	pid, terminal = pty.fork()
	if pid == 0:
		os.execve(os.fspath(command[0]), [os.fspath(c) for c in command],
			{**os.environ, "TERM": "xterm"})
	return pid, terminal


def end_on_terminal(pid, terminal):
	"""Reads the terminal until the process has ended: (status as subprocess has it, text)."""
	text = b""
	while True:
		try:
			piece = os.read(terminal, 4096)
		except OSError:
			break
		if not piece:
			break
		text += piece
	status = os.waitpid(pid, 0)[1]
	os.close(terminal)
	return os.waitstatus_to_exitcode(status), text.decode("utf-8", "replace")


def record_on_terminal(folder, *command):
	"""A recording that goes on, 0.2 s of CPU time after its begin."""
	recording.needs_sampling()
	path = folder / "test.prof"
	pid, terminal = on_terminal([harness.SONDE, "record", "-o", path, *map(str, command)])
	recording.wait_for_work(pid, 0.2)
	return pid, terminal, recording.Recording(path)


def test_ctrl_c_ends_the_target_and_the_recording(folder):
	program = recording.program(folder, "fate")
	pid, terminal, r = record_on_terminal(folder, program, 20000, "exit", 0)
	os.write(terminal, b"\x03")
	status, text = end_on_terminal(pid, terminal)
	assert status == -signal.SIGINT, (status, text)
	assert "wrote" in text
	assert r.stats["counted"] > 150


@harness.takes_long
def test_progress_is_shown_on_a_terminal(folder):
	program = recording.program(folder, "fate")
	pid, terminal, r = record_on_terminal(folder, program, harness.work(400, least=400), "exit", 0)
	status, text = end_on_terminal(pid, terminal)
	assert status == 0
	shown = text.count(" lost, ")
	# Ten a second, and one at either end.
	assert 2 <= shown <= r.stats["duration_ns"] / 100e6 + 2, text


@harness.takes_long
def test_a_target_that_minds_not_ctrl_c_is_recorded_to_its_end(folder):
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	pid, terminal, r = record_on_terminal(folder, "sh", "-c",
		f"trap '' INT; {program} {harness.work(1000, least=1000)} file {mark}; exit 7")
	os.write(terminal, b"\x03")
	status, text = end_on_terminal(pid, terminal)
	assert status == 7, (status, text)
	assert mark.exists()
	assert r.stats["counted"] > 0.9 * harness.work(1000, least=1000), r.stats


def test_a_second_ctrl_c_detaches(folder):
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	pid, terminal, r = record_on_terminal(folder, "sh", "-c",
		f"trap '' INT HUP; exec {program} {harness.work(1200, least=1200)} file {mark}")
	for _ in range(2):
		os.write(terminal, b"\x03")
		time.sleep(0.15)
	status, text = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), ""
	assert status == -signal.SIGINT, (status, text)
	assert not mark.exists()
	assert r.stats["counted"] > 150
	wait_for_file(mark)
	os.close(terminal)


def test_signals_to_sonde_detach(folder):
	program = recording.program(folder, "fate")
	for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
		mark = folder / f"mark{number}"
		running = recording.start(folder, program, harness.work(500, least=500), "file", mark)
		recording.wait_for_work(running.process.pid, 0.1)
		status = running.end(number)
		assert status == -number, (status, running.err)
		assert "detached" in running.err
		assert not mark.exists()
		assert running.recording.stats["counted"] > 60
		wait_for_file(mark)


@harness.takes_long
def test_nohup_stays_in_force(folder):
	program = recording.program(folder, "fate")
	running = recording.start(folder, program, harness.work(400, least=400), "exit", 5,
		preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
	recording.wait_for_work(running.process.pid, 0.1)
	assert running.end(signal.SIGHUP) == 5, running.err
	assert running.recording.stats["counted"] > 0.75 * harness.work(400, least=400)


@harness.takes_long
def test_kill_9_of_sonde_loses_little_and_harms_nothing(folder):
	program = recording.program(folder, "fate")
	for round in range(20 if harness.LONG else 3):
		mark = folder / f"mark{round}"
		running = recording.start(folder, program, harness.work(1200, least=1200), "file", mark, name=f"{round}.prof")
		used = recording.wait_for_work(running.process.pid, random.uniform(0.35, 0.8))
		running.end(signal.SIGKILL)
		assert not mark.exists()
		r = running.recording
		# In so much time the target, which has one thread, cannot use more CPU time.
		recorded = r.stats["counted"] * recording.INTERVAL_NS / 1e9
		assert recorded >= used - LOSS_S - ACCOUNTS_S, (r.stats, used)
		assert any(note["kind"] == "incomplete" for note in r.notes), r.notes
		wait_for_file(mark)


@harness.takes_long
def test_kill_9_of_the_target(folder):
	program = recording.program(folder, "fate")
	for round in range(20 if harness.LONG else 2):
		pid_file = folder / f"pid{round}"
		running = recording.start(folder, "sh", "-c",
			f"echo $$ > {pid_file}; exec {program} 20000 exit 0")
		used = recording.wait_for_work(running.process.pid, random.uniform(0.1, 0.4))
		os.kill(int(pid_file.read_text()), signal.SIGKILL)
		assert running.end() == -signal.SIGKILL
		r = running.recording
		# What a late recorder's ring could not hold is reported.
		recorded = (r.stats["counted"] + r.stats["lost"]) * recording.INTERVAL_NS / 1e9
		assert recorded >= used - ACCOUNTS_S, (r.stats, used)
		assert not any(note["kind"] == "incomplete" for note in r.notes), r.notes


def test_a_stopped_recorder_stops_nothing(folder):
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	# Far more than the ring holds.
	running = recording.start(folder, program, harness.work(600, least=600), "file", mark,
		options=["--engine", "snapshot", "-F", "4000"])
	recording.wait_for_work(running.process.pid, 0.05)
	running.process.send_signal(signal.SIGSTOP)
	wait_for_file(mark)
	assert running.end(signal.SIGCONT) == 0
	# What the ring could not hold is counted.
	stats = running.recording.stats
	assert stats["lost"] > 0
	assert stats["counted"] + stats["lost"] >= 0.95e6 * harness.work(600, least=600) / 250000, stats
	assert "samples were lost" in running.err


@harness.takes_long
def test_file_size_limit(folder):
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	# Whole, it would have thrice the size: the limit is met even where many samples are lost.
	running = recording.start(folder, program, harness.work(2000, least=2000), "file", mark, options=["-F", "20k"],
		preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384)))
	assert running.end() == 0, running.err
	assert mark.exists()
	assert "File too large" in running.err
	r = running.recording
	assert r.stats["counted"] > 0
	assert any(note["kind"] in ("incomplete", "lost") for note in r.notes), r.notes


@harness.takes_long
def test_full_disk(folder):
	recording.needs_root()
	recording.needs_sampling()
	if harness.run("unshare", "-m", "true").status != 0:
		raise harness.Skip("mount namespaces are not allowed here")
	program = recording.program(folder, "fate")
	small = folder / "small"
	small.mkdir()
	copy = folder / "copy.prof"
	mark = folder / "mark"
	done = harness.run("unshare", "-m", "sh", "-c",
		f"mount -t tmpfs -o size=16k none {small} && "
		f"{harness.SONDE} record -F 20k -o {small}/x.prof {program} {harness.work(2000, least=2000)} file {mark}; status=$?; "
		f"cp {small}/x.prof {copy}; exit $status")
	harness.check(done)
	assert mark.exists()
	assert "No space left on device" in done.err, done
	assert recording.Recording(copy).stats["counted"] > 0


def test_closed_pipe_as_output(folder):
	recording.needs_sampling()
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	done = harness.run("sh", "-c",
		f"{{ {harness.SONDE} record -F 20k -o - {program} {harness.work(500)} file {mark}; echo status $? >&2; }}"
		" | head -c 10")
	assert "status 0" in done.err, done
	assert mark.exists()


harness.main()
