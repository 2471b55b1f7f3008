"""What the tests of recordings share: test programs, recordings, and what is in them.

The programs are tests/programs/*.c; each says in its first lines what it does and prints its truth.
They are compiled here, at -O2 and without frame pointers, whatever sonde itself is built with.
"""

import contextlib
import functools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import time

import harness

PROGRAMS = harness.SOURCE_ROOT / "tests" / "programs"
FLAGS = ("-O2", "-g", "-fomit-frame-pointer", "-pthread", "-D_GNU_SOURCE")
# Nobody else's, each file's own: what a user may lock is counted for all of their processes together.
USER = 60000 + os.getpid() % 5000
NOBODY = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups",
	"--inh-caps=-all"]
PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
# What is inlined into functions of test programs, whose own its time is: work, and asking how much is left.
HELPERS = {"spin", "use_time"}
CLOCK = {"cpu_time_is_left", "cpu_time_from_now", "cpu_time_of_thread", "cpu_time_of_process", "clock_gettime",
	"__clock_gettime"}
# What loads and unloads libraries, and what calls main: a stack of these alone has lost its main.
LOADER = {"dlopen", "dlclose", "dlsym"}
ENTRY = {"_start", "_start_c", "__libc_start_main", "__libc_start_call_main", "libc_start_main_stage2"}
# Where programs and threads begin.
ROOTS = {"_start", "_dl_start_user", "_dlstart", "clone", "__clone", "__clone3", "clone3"}
# A stack with one of these is not known to its root.
UNSURE = {"[truncated]", "[guessed]", "[unknown]"}
# Between samples of CPU time where none is asked for.
INTERVAL_NS = 997001


@functools.lru_cache
def refusal(engine="snapshot"):
	"""Why this machine allows no sampling by that engine, or an empty text."""
	done = harness.run(harness.SONDE, "record", "-q", "--engine", engine, "-o", os.devnull, "true")
	return done.err.strip() if done.status == 125 else ""


def needs_sampling(engine="snapshot"):
	if refusal(engine):
		raise harness.Skip(refusal(engine))


def engine_of(options):
	"""That which options ask for; without it, exact is snapshot."""
	return "preload" if "preload" in map(str, options) else "snapshot"


def exact():
	"""Options for stacks that are copied as they are at the moment of the sample, from the first one on,
	where that is allowed: for tests of how they are walked. By default the program that copies them comes
	when it is loaded, which takes up to 0.1 s, and what changes before that may be cut."""
	return [] if refusal("exact") else ["--engine", "exact"]


def needs_root():
	if os.geteuid() != 0:
		raise harness.Skip("only root can set this up")


def children_seconds(pid):
	"""CPU time that the living descendants of a process have used."""
	parents, ticks = {}, {}
	# As names: a process that ends during a glob of "*/stat" is an error.
	for path in (pathlib.Path("/proc", pid, "stat") for pid in os.listdir("/proc") if pid.isdigit()):
		try:
			# The name before the last ")" may hold anything.
			fields = path.read_text(errors="replace").rpartition(")")[2].split()
		except OSError:
			continue
		parents[int(path.parent.name)] = int(fields[1])
		ticks[int(path.parent.name)] = int(fields[11]) + int(fields[12])

	def descends(child):
		while child in parents and child != pid:
			child = parents[child]
		return child == pid
	used = sum(ticks[child] for child in ticks if child != pid and descends(child))
	return used / os.sysconf("SC_CLK_TCK")


def wait_for_work(pid, seconds):
	"""Waits until what sonde records has used that much CPU time; how much it was. On a busy machine
	wall time says little of what has been recorded."""
	end = time.monotonic() + 120 * harness.PATIENCE
	while (used := children_seconds(pid)) < seconds:
		assert time.monotonic() < end, f"{used} of {seconds} s were used"
		time.sleep(0.005)
	return used


def patiently(attempt):
	"""Measures up to four times, until it comes true: for truths that programs tell of themselves by
	the clock, as they may be preempted between what they measure and the clock; and for shares by clocks
	on the CPUs, which others at work there bend. Not for counts, CPU time or what may not happen even once."""
	for _ in range(3):
		try:
			return attempt()
		except AssertionError:
			pass
	return attempt()


@contextlib.contextmanager
def load(count=4, sessions=False):
	"""A busy machine, made here: processes that only work, as long as something else is done. sessions: each in a
	session of its own, which the scheduler gives as much as ours where it groups processes by sessions."""
	busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"], start_new_session=sessions) for _ in range(count)]
	try:
		yield
	finally:
		for one in busy:
			one.kill()
			one.wait()


def is_attached(recorder):
	"""Whether this process has events open on others."""
	for fd in pathlib.Path(f"/proc/{recorder}/fd").iterdir():
		try:
			if "perf_event" in os.readlink(fd):
				return True
		except OSError:
			pass
	return False


def program(folder, name, *flags, source=None):
	"""Compiles a test program; its path."""
	return harness.compile_c(folder, PROGRAMS / f"{source or name}.c", *FLAGS, *flags, name=name)


class Recording:
	"""A recording that is on disk. done: how the recording ended, if it was waited for."""

	taken_seconds = 0  # by interrupts and the host, while it went on

	def __init__(self, path, done=None):
		self.path = path
		self.done = done

	def report(self, *options):
		return harness.check(harness.sonde("report", self.path, *options)).out

	def json(self, *options):
		return json.loads(self.report("--format", "json", *options))

	@functools.cached_property
	def stats(self):
		return self.json("--view", "stats")["rows"][0]

	@functools.cached_property
	def notes(self):
		return self.json("--view", "stats")["notes"]

	@functools.cached_property
	def _stacks_and_clock(self):
		"""[(frames root first, samples, whether the clock was asked)]"""
		stacks = []
		folded = self.report("--format", "folded", "--modules", "--metric", "samples")
		for line in folded.splitlines():
			path, _, samples = line.rpartition(" ")
			frames = [frame.rpartition("`")[::2] for frame in path.split(";")]
			asked = next((i for i, frame in enumerate(frames) if frame[1] in CLOCK), len(frames))
			asks = asked < len(frames)
			del frames[asked:]
			stacks.append(([name for module, name in frames if name not in HELPERS
				and (module[:1] != "[" or module in ("[vdso]", "[anon]"))], int(samples), asks))
		return stacks

	@functools.cached_property
	def stacks(self):
		"""[(frames root first, samples)], without the kernel's and those of HELPERS; stacks that ask the clock
		end at who does."""
		return [(frames, samples) for frames, samples, _ in self._stacks_and_clock]

	@property
	def total(self):
		return sum(samples for _, samples in self.stacks)

	def working(self, names):
		"""Stacks of what the program does in functions of these names, without what takes as long as the machine's
		kernel and disk make it: start-up, exec and exit, loading libraries, asking the clock. Only stacks that are
		known to their root are left out; and those that end in what calls main are there, as they may have lost it."""
		def is_left_out(frames, asks):
			if not frames:
				return True
			# Where there are no symbols, a root has its module's name: "[libc.so+0x1234]".
			if UNSURE.intersection(frames) or not (frames[0] in ROOTS or re.match(r"\[.+\+0x", frames[0])):
				return False
			return asks or not LOADER.isdisjoint(frames) or (
				names.isdisjoint(frames) and not ENTRY.issuperset(frames))
		found = [(frames, samples) for frames, samples, asks in self._stacks_and_clock
			if not is_left_out(frames, asks)]
		# Else it is hardly a recording of that work.
		assert sum(samples for _, samples in found) > 0.2 * self.total, (names, self.stacks)
		return found

	def share(self, name, exclusive=False, stacks=None):
		"""Of these stacks, or of all."""
		stacks = self.stacks if stacks is None else stacks
		return sum(samples for frames, samples in stacks
			if (frames and frames[-1] == name if exclusive else name in frames)) / sum(samples for _, samples in stacks)

	def check_share(self, name, truth, exclusive=False, stacks=None):
		"""Within four standard deviations of the truth, and what page faults take, and all around the work where
		stacks are all: up to six milliseconds where the caches are others', which is more than a hundredth of
		short runs."""
		stacks = self.stacks if stacks is None else stacks
		share, total = self.share(name, exclusive, stacks), sum(samples for _, samples in stacks)
		slack = 4 * math.sqrt(truth * (1 - truth) / total) + max(0.01, 6 / total)
		kind = "exclusive" if exclusive else "inclusive"
		assert abs(share - truth) <= slack, f"{name}: {kind} {share:.4f}, truth {truth}±{slack:.4f}"

	def check_truth(self, text):
		"""text: lines of `name exclusive inclusive`, as the programs print them, of their work."""
		rows = [line.split() for line in text.splitlines()]
		assert rows
		stacks = self.working({name for name, _, _ in rows})
		for name, exclusive, inclusive in rows:
			self.check_share(name, float(exclusive), True, stacks)
			self.check_share(name, float(inclusive), False, stacks)

	def check_time(self, name, milliseconds, least=0.75):
		"""A program has used that much CPU time, or somewhat more, below a function by its own clock, which is part
		of what the system accounts to the target."""
		share, truth = self.share(name), milliseconds * 1e6 / self.stats["cpu_ns"]
		assert share >= least * truth, f"{name}: {share:.4f} of the samples, {truth:.4f} of the time"

	def check_whole(self, least=0.995):
		"""Hardly a stack that was not walked to its root."""
		cut = self.stats["critical"]
		assert cut <= (1 - least) * self.stats["counted"], f"{cut} of {self.stats['counted']} cut"

	def check_captured(self, least=0.97):
		"""Samples by CPU time. A thread has half a sample less on average, so short runs fall short.
		The system's account, by which they are expected, leaves out what the host and interrupts took,
		in which the clock of samples goes on: so many samples more there may be, and none beyond.
		Where the recorder got no CPU for long the rings overflow, which is counted, and is little."""
		lost, expected = self.stats["lost"], self.stats["expected"]
		counted = self.stats["counted"] + (self.stats["excluded"] or 0) + lost
		most = 1.03 * expected + 3 + self.taken_seconds * 1e9 / INTERVAL_NS
		assert least * expected - 3 <= counted <= most, f"{counted} of {expected}, at most {most:.0f}"
		assert lost <= 0.01 * expected, self.stats


def taken_seconds():
	"""Time that interrupts and the host took from all CPUs since the machine started: proc(5)."""
	with open("/proc/stat") as stat:
		irq, softirq, steal = map(int, stat.readline().split()[6:9])
	return (irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def record(folder, *command, options=(), name="test.prof", status=0, **more):
	"""Records a command to its end."""
	needs_sampling(engine_of(options))
	path = pathlib.Path(folder) / name
	before = taken_seconds()
	done = harness.sonde("record", *options, "-o", path, "--", *map(str, command), **more)
	recording = Recording(path, harness.check(done, status))
	recording.taken_seconds = taken_seconds() - before
	return recording


class Running:
	"""A recording that goes on. Files, not pipes, take its output: the target may outlive sonde."""

	def __init__(self, folder, command, options, name, **more):
		needs_sampling(engine_of(options))
		self.recording = Recording(pathlib.Path(folder) / name)
		self.err_path = pathlib.Path(folder) / (name + ".err")
		arguments = [harness.SONDE, "record", *options, "-o", self.recording.path,
			*(["--", *command] if command else [])]
		with open(self.err_path, "wb") as err:
			self.process = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.DEVNULL,
				stdout=subprocess.DEVNULL, stderr=err, **more)

	def end(self, signal=None):
		"""Waits for sonde, after this signal to it: its status. Its words are in err then."""
		if signal:
			self.process.send_signal(signal)
		status = self.process.wait(timeout=60 * harness.PATIENCE)
		self.err = self.err_path.read_text(errors="replace")
		return status


def start(folder, *command, options=(), name="test.prof", **more):
	"""Begins to record a command, or what options say."""
	return Running(folder, command, options, name, **more)


def as_nobody(folder, *command, before="", options=(), library=False):
	"""Records as a user without privileges; the folder becomes theirs. library: the one to be preloaded
	is there, too."""
	needs_root()
	needs_sampling()
	if not shutil.which("setpriv"):
		raise harness.Skip("there is no setpriv")
	if int(PARANOID.read_text()) > 2:
		raise harness.Skip(f"{PARANOID} is above 2")
	copy = folder / "sonde"
	shutil.copy(harness.SONDE, copy)
	if library:
		shutil.copy(next(pathlib.Path(harness.BUILD_ROOT).rglob("libsonde-preload.so")), folder)
	for path in (folder, *folder.iterdir()):
		os.chmod(path, path.stat().st_mode | 0o055)
	os.chown(folder, USER, USER)
	path = folder / "test.prof"
	line = f"{before} exec {copy} record {' '.join(options)} -o {path} -- {' '.join(map(str, command))}"
	done = harness.run(*NOBODY, "sh", "-c", line, cwd=folder)
	return Recording(path, done)
