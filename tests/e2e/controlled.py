"""Recordings that are steered by commands through a FIFO."""

import os
import pathlib
import subprocess

import harness
import recording
from attaching import wait_until

SPIN = 600_000  # ms: until it is ended


class Controlled:
	"""A recording of a program that works until end() stops the recording."""

	def __init__(self, folder, *options):
		recording.needs_sampling()
		self.fifo, self.path = folder / "control", folder / "test.prof"
		self.err_path = folder / "err"
		with open(self.err_path, "wb") as err:
			self.process = subprocess.Popen([harness.SONDE, "record", "--control", self.fifo,
				*map(str, options), "-o", self.path, "--", recording.program(folder, "shares"), str(SPIN)],
				stdout=subprocess.DEVNULL, stderr=err)
		wait_until(lambda: self.fifo.exists() and self.target())

	def target(self):
		pid = self.process.pid
		children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
		return int(children[0]) if children else 0

	def tell(self, command):
		self.fifo.write_text(command + "\n")

	def end(self):
		target = self.target()
		try:
			self.tell("stop")
			status = self.process.wait(timeout=60 * harness.PATIENCE)
		finally:
			os.kill(target, 9)
		self.err = self.err_path.read_text()
		assert status == 0, self.err
		return recording.Recording(self.path)


def times(r):
	"""When samples were taken, in ms, by the dump."""
	dump = harness.check(harness.sonde("convert", r.path, "-o", "-", "--to", "dump")).out
	return sorted(int(line.split(" time ")[1].split()[0]) / 1e6 for line in dump.splitlines()
		if line.startswith("sample ") and " time " in line)
