"""Other profilers beside sonde: perf records whatever sonde does, and the other way round."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

import harness
import recording
from attaching import wait_until

# It prints when it runs, and ends on request.
WAITS = 'touch started; while [ ! -e stop ]; do sleep 0.02; done'


def perf(folder, *options):
	return harness.run("perf", "record", "-q", "-e", "cpu-clock", *options, "-o", folder / "perf.data", "--", "true",
		cwd=folder)


def needs_perf(folder):
	recording.needs_sampling()
	if not shutil.which("perf"):
		raise harness.Skip("there is no perf")
	done = perf(folder)
	if done.status:
		raise harness.Skip(f"perf does not record here: {done.err.strip()}")


def family(pid):
	yield pid
	with contextlib.suppress(OSError):
		for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
			for child in children.read_text().split():
				yield from family(int(child))


def has_events(pid):
	"""Whether it, or a process that it started, has opened perf events."""
	for member in family(pid):
		for fd in pathlib.Path(f"/proc/{member}/fd").glob("*"):
			with contextlib.suppress(OSError):
				if os.readlink(fd) == "anon_inode:[perf_event]":
					return True
	return False


@contextlib.contextmanager
def beside(folder, *arguments, runs_command=True):
	"""sonde, while it records."""
	for name in ("started", "stop"):
		(folder / name).unlink(missing_ok=True)
	command = ["--", "sh", "-c", WAITS] if runs_command else []
	with open(folder / "sonde.err", "wb") as err:
		process = subprocess.Popen([harness.SONDE, *arguments, *command], cwd=folder, stdin=subprocess.DEVNULL,
			stdout=err, stderr=err)
	try:
		wait_until(lambda: (folder / "started").exists() if runs_command else has_events(process.pid), 60)
		yield process
	finally:
		(folder / "stop").touch()
		if not runs_command:
			process.send_signal(signal.SIGTERM)
		process.wait(timeout=60 * harness.PATIENCE)


def check_perf(folder, *arguments, **more):
	with beside(folder, *arguments, **more):
		done = perf(folder)
	assert done.status == 0, (arguments, done)
	# It is whole: Debian 12's perf reads build IDs at its end, and died of what looked like one.
	harness.check(harness.run("perf", "report", "-i", "perf.data", "--stdio", "-F", "sample", cwd=folder))


def needs_machine():
	done = harness.sonde("record", "-q", "-a", "--duration", "1ms", "-o", os.devnull)
	if done.status:
		raise harness.Skip(done.err.strip())


def test_beside_the_whole_machine(folder):
	needs_perf(folder)
	needs_machine()
	check_perf(folder, "record", "-q", "-a", "--no-symbols", "-o", "a.prof")


@harness.takes_long
def test_beside_each_engine(folder):
	needs_perf(folder)
	for engine in ("snapshot", "preload", *recording.exact()[1:]):
		check_perf(folder, "record", "-q", "--engine", engine, "-o", f"{engine}.prof")
	if recording.exact():
		needs_machine()
		check_perf(folder, "record", "-q", "-a", "--no-symbols", "--engine", "exact", "-o", "exact-a.prof")


@harness.takes_long
def test_beside_what_is_attached(folder):
	needs_perf(folder)
	target = subprocess.Popen(["sleep", "1000"])
	try:
		check_perf(folder, "record", "-q", "-p", str(target.pid), "-o", "attached.prof", runs_command=False)
		check_perf(folder, "top", "--once", "--keep", "10s", "-p", str(target.pid), runs_command=False)
	finally:
		target.kill()
		target.wait()


@harness.takes_long
def test_beside_top_and_the_agent(folder):
	needs_perf(folder)
	needs_machine()
	check_perf(folder, "top", "--once", "--keep", "10s", runs_command=False)
	check_perf(folder, "agent", "--store", "segments", "--every", "10s", "--no-symbols", "--cpu-max", "100%",
		"--memory-max", "8G", runs_command=False)


@harness.takes_long
def test_what_perf_asks_for_does_not_disturb_sonde(folder):
	"""perf 6.17 and later ask for build IDs; then the kernel marks our events as if they had some."""
	needs_perf(folder)
	if perf(folder, "--buildid-mmap").status:
		raise harness.Skip("this perf or this kernel has no --buildid-mmap")
	program = recording.program(folder, "shares")
	asking = subprocess.Popen(["perf", "record", "-q", "-e", "dummy", "-a", "--buildid-mmap", "-o", folder / "asks.data"],
		stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	try:
		wait_until(lambda: has_events(asking.pid) or asking.poll() is not None, 60)
		if asking.poll() is not None:
			raise harness.Skip("perf may not record the whole machine")
		r = recording.record(folder, program, harness.work(320))
	finally:
		asking.send_signal(signal.SIGINT)
		asking.wait(timeout=60)
	r.check_truth(r.done.out)


harness.main()
