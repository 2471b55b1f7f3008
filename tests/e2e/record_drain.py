"""Nothing that keeps the recorder waiting costs samples: an output that nobody reads stands for a
slow disk, a cold binary, a file that hangs. What is too much for the backlog is thinned, and
--duration is kept all the while."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

import harness
import recording

F_SETPIPE_SZ = 1031


class SlowOutput:
	"""A recording into a pipe that holds one page, until somebody reads it."""

	def __init__(self, folder, *command, options=()):
		recording.needs_sampling()
		self.folder, self.pipe = folder, folder / "pipe"
		os.mkfifo(self.pipe)
		self.fd = os.open(self.pipe, os.O_RDONLY | os.O_NONBLOCK)
		fcntl.fcntl(self.fd, F_SETPIPE_SZ, 4096)
		os.set_blocking(self.fd, True)
		# Copied stacks reach to the environment, so that is a small one.
		self.run = recording.start(folder, *map(str, command), options=options, name="pipe",
			env={"PATH": os.environ["PATH"]})
		self.began = time.monotonic()

	def wait_for_work(self, seconds):
		recording.wait_for_work(self.run.process.pid, seconds)

	def wait_for_memory(self, size):
		"""Until the recorder has so much more in use than at the begin."""
		def used():
			fields = pathlib.Path(f"/proc/{self.run.process.pid}/statm").read_text().split()
			return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
		self.wait_for_work(0.01)
		end = used() + size
		while used() < end:
			assert time.monotonic() < self.began + 60 * harness.PATIENCE, used()
			time.sleep(0.005)

	def target(self):
		pid = self.run.process.pid
		return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

	def read(self, status=0):
		"""Reads all that there is; the recording."""
		path = self.folder / "read.prof"

		def copy():
			with open(self.fd, "rb") as pipe, open(path, "wb") as out:
				shutil.copyfileobj(pipe, out)
		reader = threading.Thread(target=copy)
		reader.start()
		ended = self.run.end()
		reader.join()
		assert ended == status, (ended, self.run.err)
		return recording.Recording(path)


@contextlib.contextmanager
def busy(folder, count):
	"""So many programs that never sleep."""
	program = recording.program(folder, "plunge")
	hogs = [subprocess.Popen([program, "10", "600000"]) for _ in range(count)]
	try:
		yield
	finally:
		for hog in hogs:
			hog.kill()
			hog.wait()


def check_weights(r, slack=0.02):
	cpu_ns = r.stats["cpu_ns"]
	weight = r.json("--metric", "cpu-time")["total"]
	assert abs(weight - cpu_ns) <= slack * cpu_ns, (weight, cpu_ns)


@harness.takes_long
def test_an_output_that_nobody_reads_costs_no_samples(folder):
	program = recording.program(folder, "plunge")
	slow = SlowOutput(folder, program, 20, 1500)
	slow.wait_for_work(1.2)
	r = slow.read()
	assert r.stats["lost"] == 0, r.stats
	assert "fell behind" not in slow.run.err, slow.run.err
	check_weights(r)


@harness.takes_long
def test_what_is_too_much_is_thinned_and_weighs_the_same(folder):
	program = recording.program(folder, "plunge")
	slow = SlowOutput(folder, program, 60, 600000,
		options=["-F", "4000", "--engine", "snapshot", "--clock", "virtual"])
	# Half of the backlog, from where on samples are thinned, is 32 MiB.
	slow.wait_for_memory(48 << 20)
	os.kill(slow.target(), signal.SIGTERM)
	r = slow.read(-signal.SIGTERM)
	assert r.stats["lost"] == 0, r.stats
	assert "as the recorder fell behind" in slow.run.err, slow.run.err
	thinned = sum(n["count"] for n in r.notes if "fell behind" in n["text"])
	assert thinned > 100, r.notes
	check_weights(r)
	due = r.stats["cpu_ns"] / 250000
	assert abs(r.stats["counted"] + thinned - due) <= 0.03 * due, (r.stats, thinned)


def test_duration_is_kept_while_the_recorder_waits(folder):
	program = recording.program(folder, "plunge")
	slow = SlowOutput(folder, program, 20, 600000, options=["--duration", "1s"])
	slow.wait_for_work(0.01)
	target = slow.target()
	try:
		time.sleep(max(0, slow.began + 2.5 - time.monotonic()))
		r = slow.read()
	finally:
		os.kill(target, signal.SIGKILL)
	assert "detached" in slow.run.err, slow.run.err
	assert 0.99e9 <= r.stats["duration_ns"] <= 1.3e9, r.stats
	# Not a sample was taken afterwards.
	assert r.json("--metric", "cpu-time")["total"] <= 1.05e9, r.stats


@harness.takes_long
def test_duration_is_kept_on_a_busy_machine(folder):
	program = recording.program(folder, "plunge")
	with busy(folder, 4 * os.cpu_count()):
		run = recording.start(folder, program, "20", "2000", options=["--duration", "1s"])
		assert run.end() == 0, run.err
	r = run.recording
	assert 0.99e9 <= r.stats["duration_ns"] <= 1.3e9, r.stats
	assert r.stats["lost"] <= 0.005 * r.stats["expected"], r.stats


harness.main()
