"""What the tests of faults share: the target as if alone, cgroups, settings of the system.

A fault is provoked and must change nothing for the target: its output, its exit status, what it
sees of itself. The recording opens, and what is missing in it is counted and said.
"""

import contextlib
import errno
import os
import pathlib
import re
import shutil
import time

import harness
import recording

# Slower than alone by more than this, on a busy machine too, the target is not as if alone.
SLOWER_TIMES, SLOWER_S = 8, 3


def own_lines(err):
	"""What sonde itself said."""
	return [line for line in err.splitlines() if line.startswith("sonde: ")]


def target_lines(err):
	return [line for line in err.splitlines() if not line.startswith("sonde: ")]


def as_if_alone(folder, *command, options=(), name="test.prof", before=(), **more):
	"""Runs a command alone and then recorded: it must print the same, end the same, and take not
	much longer. before: a command that runs either. The recording."""
	recording.needs_sampling()
	path = pathlib.Path(folder) / name
	# Once more if it was slow: others may have had the CPUs just then.
	for _ in range(3):
		start = time.monotonic()
		alone = harness.run(*before, *command, **more)
		between = time.monotonic()
		done = harness.run(*before, harness.SONDE, "record", *options, "-o", path, "--", *command,
			**more)
		taken, taken_alone = time.monotonic() - between, between - start
		assert done.status == alone.status, (alone, done)
		assert done.out == alone.out, (alone, done)
		assert target_lines(done.err) == target_lines(alone.err), (alone, done)
		if harness.SANITIZED or taken < SLOWER_TIMES * taken_alone + SLOWER_S:
			return recording.Recording(path, done)
	raise AssertionError(f"{taken_alone} s alone, {taken} s recorded")


def wait_until(condition, what, seconds=60):
	"""The condition's first true value."""
	end = time.monotonic() + seconds * harness.PATIENCE
	while not (value := condition()):
		assert time.monotonic() < end, f"waited in vain: {what}"
		time.sleep(0.005)
	return value


def pid_from(path):
	"""The process id that a target writes to a file, once it is there."""
	def read():
		with contextlib.suppress(OSError, ValueError):
			return int(path.read_text())
	return wait_until(read, f"{path.name} with a process id")


def state(pid):
	"""The letter that proc(5) has for what a process does; X: it is no more."""
	try:
		text = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
	except OSError:
		return "X"
	return text.rpartition(")")[2].split()[0]


def is_alive(pid):
	"""Whether a process has not ended; zombies have."""
	return state(pid) not in "ZX"


def cpu_seconds(pid):
	"""CPU time that a process has used."""
	fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
	return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_accounted(r, said, least=0.95):
	"""Samples that are there or counted as lost are all that were due, or what is missing is said."""
	found = r.stats["counted"] + r.stats["lost"]
	assert found >= least * r.stats["expected"] - 20 or "was not sampled" in said, (r.stats, said)


def sampled_seconds(r):
	return r.stats["counted"] * recording.INTERVAL_NS / 1e9


# Of /proc/PID/status, what others can do to a process, and what no two runs have in common.
_STATUS = re.compile(r"^(Umask|TracerPid|Uid|Gid|Groups|Threads|Sig[PBIC]\w*|Shd\w*|Cap\w*"
	r"|NoNewPrivs|Seccomp\w*|Cpus_allowed|CoreDumping|THP_enabled):(.*)$", re.M)


def traits(pid):
	"""What a process has got from whoever started it, and what is done to it."""
	proc = pathlib.Path(f"/proc/{pid}")
	status = dict(_STATUS.findall((proc / "status").read_text()))
	files = {}
	for fd in os.listdir(proc / "fd"):
		with contextlib.suppress(OSError):
			files[int(fd)] = re.sub(r"\[\d+\]", "", os.readlink(proc / "fd" / fd))
	found = {"status": status, "files": files}
	for name in ("limits", "environ", "timers", "timerslack_ns", "oom_score_adj", "cgroup",
			"coredump_filter", "personality"):
		with contextlib.suppress(OSError):
			found[name] = (proc / name).read_text(errors="replace")
	found["nice"] = os.getpriority(os.PRIO_PROCESS, pid)
	found["policy"] = os.sched_getscheduler(pid)
	# Libraries that somebody put into it.
	found["libraries"] = sorted({line.split(None, 5)[5] for line in
		(proc / "maps").read_text().splitlines() if len(line.split(None, 5)) > 5})
	return found


def needs(*programs):
	for name in programs:
		if not shutil.which(name):
			raise harness.Skip(f"there is no {name}")


def needs_injection(folder):
	"""strace that can spoil system calls."""
	needs("strace")
	done = harness.run("strace", "-qq", "-o", folder / "strace.out", "-e", "trace=chdir",
		"-e", "inject=chdir:error=EIO", "sh", "-c", "cd / || exit 9")
	if done.status != 9:
		raise harness.Skip("strace is not allowed here, or cannot inject faults")


# Sanitizers look for leaks by a trace and a process of their own, which strace and limits forbid.
TRACED = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


@contextlib.contextmanager
def control_group(controller):
	"""A fresh cgroup with this controller (its folder), whose processes must be gone at the end."""
	recording.needs_root()
	root, version = _control_group_root(controller)
	folder = root / f"sonde-test-{os.getpid()}"
	try:
		folder.mkdir()
	except OSError as error:
		raise harness.Skip(f"cgroups cannot be made here: {error}")
	try:
		yield folder, version
	finally:
		wait_until(lambda: not (folder / "cgroup.procs").read_text(), "an empty cgroup")
		folder.rmdir()


def _control_group_root(controller):
	for line in pathlib.Path("/proc/mounts").read_text().splitlines():
		_, at, kind, options = line.split()[:4]
		if kind == "cgroup" and controller in options.split(","):
			return pathlib.Path(at), 1
		if kind == "cgroup2":
			# Freezing is part of each one; the others must be passed on to it.
			passed_on = pathlib.Path(at, "cgroup.subtree_control")
			if controller == "freezer" or controller in passed_on.read_text().split():
				return pathlib.Path(at), 2
	raise harness.Skip(f"there is no cgroup with the controller {controller}")


def join(group):
	"""What a child does between fork and exec to be in the group."""
	return lambda: (group / "cgroup.procs").write_text(str(os.getpid()))


@contextlib.contextmanager
def setting(name, value):
	"""A setting in /proc/sys for a short while."""
	recording.needs_root()
	path = pathlib.Path("/proc/sys") / name
	try:
		before = path.read_text()
		path.write_text(str(value))
	except OSError as error:
		raise harness.Skip(f"{path} cannot be set: {error}")
	try:
		yield before.strip()
	finally:
		path.write_text(before)
