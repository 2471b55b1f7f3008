"""What the tests of attaching and of the whole machine share: programs that run already."""

import os
import pathlib
import signal
import subprocess
import time

import harness
import recording

NOBODY = recording.NOBODY
# CPU time, in seconds, that targets use at most before a sanitized recorder has started.
BEGINNING = 1 if harness.SANITIZED else 0


def process_seconds(pid):
	"""CPU time of a process and the children that it has waited for."""
	fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
	return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def wait_until(what, seconds=60):
	"""Waits until what() is true; what it was."""
	end = time.monotonic() + seconds * harness.PATIENCE
	while not (value := what()):
		assert time.monotonic() < end, "it has not come to pass"
		time.sleep(0.005)
	return value


class Target:
	"""A program that runs, to be killed with all that it has started. Its words are in a file."""

	def __init__(self, folder, *command, ready=None, **more):
		self.out_path = folder / f"out{time.monotonic_ns()}"
		with open(self.out_path, "wb") as out:
			self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL,
				stdout=out, stderr=subprocess.STDOUT, start_new_session=True, **more)
		self.pid = self.process.pid
		if ready:
			wait_until(lambda: ready in self.out())

	def out(self):
		return self.out_path.read_text(errors="replace")

	def __enter__(self):
		return self

	def __exit__(self, *_):
		try:
			os.killpg(self.pid, signal.SIGKILL)
		except ProcessLookupError:
			pass
		self.process.wait()


def open_to_nobody(folder):
	"""Lets a user without privileges run what is in the folder, sonde too; sonde's path there."""
	recording.needs_root()
	copy = folder / "sonde"
	copy.write_bytes(pathlib.Path(harness.SONDE).read_bytes())
	for path in (folder, *folder.iterdir()):
		os.chmod(path, path.stat().st_mode | 0o055)
	copy.chmod(0o755)
	os.chown(folder, recording.USER, recording.USER)
	return copy


def attach(folder, pid, options=(), seconds=0.5, name="test.prof", status=0, used_by=(), prefix=(),
	sonde=harness.SONDE, end=signal.SIGINT):
	"""Records running processes until the first, or those of used_by together, have used so much more CPU
	time."""
	recording.needs_sampling()
	path = folder / name
	before = recording.taken_seconds()
	with open(folder / f"{name}.err", "wb") as err:
		process = subprocess.Popen([*map(str, prefix), str(sonde), "record", "-p", str(pid),
			*map(str, options), "-o", str(path)], stdin=subprocess.DEVNULL, stderr=err,
			stdout=subprocess.DEVNULL)
	used_by = used_by or [int(str(pid).split(",")[0])]

	def used():
		return sum(map(process_seconds, used_by))
	least = used() + BEGINNING + seconds
	try:
		wait_until(lambda: process.poll() is not None or used() >= least, 120)
		if process.poll() is None:
			process.send_signal(end)
		found = process.wait(timeout=60 * harness.PATIENCE)
	finally:
		process.kill()
	text = (folder / f"{name}.err").read_text(errors="replace")
	assert found == status, (found, text)
	r = recording.Recording(path)
	r.err = text
	r.taken_seconds = recording.taken_seconds() - before
	return r


def roots(r, by="process"):
	"""{root's name: its share of all}."""
	rows = r.json("--view", "tree", "--roots", by, "--collapse", "none")["rows"]
	total = sum(row["direct"] for row in rows if row["level"] == 1)
	level = 1 if by == "process" else 2
	shares = {}
	for row in rows:
		if row["level"] == level:
			shares[row["name"]] = shares.get(row["name"], 0) + row["direct"] / total
	return shares
