"""What a sample is labelled with: the CPU that it was taken on, the control group of its process."""

import os
import pathlib
import signal
import subprocess
import time

import harness
import recording
from attaching import Target, attach, process_seconds, wait_until

ROOTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids")


def rows(r, *options):
	return {row["name"]: row["exclusive"] for row in r.json(*options)["rows"]}


def pinned(folder, cpu, *options):
	program = recording.program(folder, "shares")
	return recording.record(folder, "taskset", "-c", cpu, program, harness.work(200), options=options)


def some_cpus():
	cpus = sorted(os.sched_getaffinity(0))
	if len(cpus) < 2:
		raise harness.Skip("there is one CPU")
	return cpus[0], cpus[-1]


def check_cpus(folder, *options):
	recording.needs_sampling()
	for cpu in some_cpus():
		found = rows(pinned(folder, cpu, *options), "--level", "cpu")
		# Before it was pinned it may have been on another.
		assert found[f"CPU {cpu}"] >= 0.95 * sum(found.values()), found


@harness.takes_long
def test_cpus(folder):
	check_cpus(folder)


@harness.takes_long
def test_cpus_of_the_preloaded_library(folder):
	for cpu in some_cpus():
		found = rows(pinned(folder, cpu, "--engine", "preload"), "--level", "cpu")
		if set(found) == {"[no CPU]"}:
			raise harness.Skip("the C library does not keep the CPU's number (rseq)")
		assert found[f"CPU {cpu}"] >= 0.9 * sum(found.values()), found


def test_cpus_in_views_and_formats(folder):
	recording.needs_sampling()
	program = recording.program(folder, "threads")
	r = recording.record(folder, program, 4, harness.work(300))
	cpus = rows(r, "--level", "cpu")
	total = r.json("--level", "cpu")["total"]
	assert sum(cpus.values()) == total
	# What a busy machine let go by without a sample was on no CPU that is known.
	assert sum(cpus.values()) - cpus.get("[no CPU]", 0) >= 0.9 * total, cpus
	assert all(name.startswith("CPU ") for name in cpus if name != "[no CPU]"), cpus
	for name, weight in cpus.items():
		if name == "[no CPU]":
			continue
		number = name.removeprefix("CPU ")
		assert r.json("--label", f"cpu=^{number}$")["total"] == weight
	# Nobody is on a CPU while off it.
	off = rows(r, "--level", "cpu", "--metric", "blocked-time")
	assert set(off) <= {"[no CPU]"}, off
	# Other formats take the label along.
	again = folder / "again.pb.gz"
	harness.check(harness.sonde("convert", r.path, "-o", again))
	assert rows(recording.Recording(again), "--level", "cpu", "--metric", "cpu-time") == cpus


def test_files_without_cpus(folder):
	path = folder / "plain.folded"
	path.write_text("a;b 1\n")
	done = harness.sonde("report", path, "--level", "cpu")
	assert done.status == 1 and "have no labels" in done.err, done


class Group:
	"""A control group of our own, or a test that is skipped."""

	def __init__(self, name):
		recording.needs_root()
		self.name = f"{name}-{os.getpid()}"
		for root in ROOTS:
			self.path = pathlib.Path(root, self.name)
			try:
				self.path.mkdir()
				(self.path / "cgroup.procs").read_text()
				return
			except OSError:
				if self.path.exists():
					self.path.rmdir()
		raise harness.Skip("no control group can be made here")

	def take(self, pid):
		(self.path / "cgroup.procs").write_text(str(pid))
		groups = pathlib.Path(f"/proc/{pid}/cgroup").read_text()
		if self.name not in groups:
			raise harness.Skip("a process is not moved to another control group here")

	def __enter__(self):
		return self

	def __exit__(self, *_):
		end = time.monotonic() + 10
		while time.monotonic() < end:
			try:
				self.path.rmdir()
				return
			except OSError:
				time.sleep(0.05)


@harness.takes_long
def test_control_groups(folder):
	"""Two services and one process in none: each is attached to, and told apart, by its group."""
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	with Group("sonde-one.service") as one, Group("sonde-two.service") as two, \
			Target(folder, program, 10**9) as first, Target(folder, program, 10**9) as second, \
			Target(folder, program, 10**9) as third:
		one.take(first.pid)
		two.take(second.pid)
		wait_until(lambda: all(process_seconds(t.pid) > 0.05 for t in (first, second, third)))
		path = folder / "one.prof"
		recorder = subprocess.Popen([harness.SONDE, "record", "--cgroup", one.name, "-o", path],
			stderr=subprocess.PIPE, text=True)
		least = process_seconds(first.pid) + 0.3
		wait_until(lambda: process_seconds(first.pid) >= least)
		recorder.send_signal(signal.SIGINT)
		_, err = recorder.communicate(timeout=60 * harness.PATIENCE)
		assert recorder.returncode == 0 and f"recording process {first.pid}\n" in err, err
		assert list(rows(recording.Recording(path), "--level", "process")) == [f"shares ({first.pid})"]

		both = attach(folder, f"{first.pid},{second.pid},{third.pid}", used_by=(first.pid, second.pid))
		by_process = rows(both, "--level", "process")
		for group, target in ((one, first), (two, second)):
			assert rows(both, "--level", "process", "--cgroup", group.name) == {
				f"shares ({target.pid})": by_process[f"shares ({target.pid})"]}, by_process
		found = rows(both, "--level", "process", "--cgroup", f"{one.name},{two.name}")
		assert found == {name: by_process[name] for name in found}, (found, by_process)
		assert set(found) == {f"shares ({first.pid})", f"shares ({second.pid})"}, (found, by_process)
		assert both.json("--cgroup", "no-such-group")["rows"] == []


def test_no_such_group(folder):
	done = harness.sonde("record", "--cgroup", "no-such-group", "-o", os.devnull)
	assert done.status == 125, done
	assert "no process is in a control group 'no-such-group'" in done.err, done


harness.main()
