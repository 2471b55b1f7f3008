"""sonde agent: segments without gaps, per service; its spool, its budget, its rights, and how it ends."""

import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

import clickhouse
import fault_proxy
import harness
import pyroscope
import recording
import shards
from attaching import NOBODY, Target, wait_until
from recording import Recording

# In a folder that several hosts may send to, a hash of the host follows.
NAME = re.compile(r"(\d{8}T\d{6}Z-\d{6})(-[0-9a-f]{16})?\.prof")
# The processes of the machine, and what each costs, are others': budgets are for their own test.
RICH = ("--cpu-max", "100%", "--memory-max", "8G", "--no-symbols")


def needs_machine():
	recording.needs_sampling()
	done = harness.sonde("record", "-q", "-a", "--duration", "1ms", "-o", os.devnull)
	if done.status:
		raise harness.Skip(done.err.strip())


class Agent:
	"""An agent that runs; its words are in a file. It is killed at the end, if it still runs."""

	def __init__(self, folder, *options, every="1s", before=(), program=harness.SONDE, store=None):
		needs_machine()
		self.store = store or folder / "store"
		self.err_path = folder / f"err{time.monotonic_ns()}"
		self.metrics_path = folder / "metrics.prom"
		with open(self.err_path, "wb") as err:
			self.process = subprocess.Popen([*before, program, "agent", "--store", self.store, "--every", every,
				"--metrics", self.metrics_path, *options], stdin=subprocess.DEVNULL, stderr=err)

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.process.kill()
		self.process.wait()

	def err(self):
		return self.err_path.read_text(errors="replace")

	def segments(self, store=None):
		store = store or self.store
		return sorted(p for p in store.iterdir() if NAME.fullmatch(p.name)) if store.exists() else []

	def await_segments(self, count, store=None):
		def are_there():
			assert self.process.poll() is None, self.err()
			return len(self.segments(store)) >= count
		wait_until(are_there)

	def await_words(self, words):
		def are_there():
			assert self.process.poll() is None, self.err()
			return words in self.err()
		wait_until(are_there)

	def end(self, number=signal.SIGTERM):
		self.process.send_signal(number)
		status = self.process.wait(timeout=60 * harness.PATIENCE)
		assert status == 0, (status, self.err())

	def metrics(self):
		return dict((name, float(value)) for name, value in
			re.findall(r"^sonde_agent_(\w+) (\S+)$", self.metrics_path.read_text(), re.MULTILINE))


def children(pid):
	return [int(c) for c in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def sum_of(paths, label):
	"""CPU seconds of what has that label, in all files."""
	return sum(kept_ns(path, label) for path in paths) / 1e9


def kept_ns(path, label):
	done = harness.sonde("report", path, "--format", "csv", "--level", "process", "--label", label)
	if done.status == 1 and "has no label" in done.err:
		return 0
	return sum(int(line.split(",")[-2]) for line in harness.check(done).out.splitlines()[1:] if line)


def used_by(folder, milliseconds):
	"""Runs a program that uses so much CPU time; how much it was, in seconds."""
	program = recording.program(folder, "threads")
	before = resource.getrusage(resource.RUSAGE_CHILDREN)
	harness.check(harness.run(program, "2", str(milliseconds)))
	after = resource.getrusage(resource.RUSAGE_CHILDREN)
	return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_sum(agent, used_s, interval_s, label="service=threads"):
	"""A sample more or less for each segment and thread, and what a clock that is late does. Where the machine
	is too busy for the next segment to begin in time, less, as the metrics report."""
	paths, metrics = agent.segments(), agent.metrics()
	found_s = sum_of(paths, label)
	slack_s = 0.04 * used_s + 2 * interval_s * (len(paths) + 2)
	lost_s = 2 * (metrics["paused_seconds_total"] + metrics["late_seconds_total"]) + \
		metrics["samples_lost_total"] * interval_s
	assert used_s - slack_s - lost_s <= found_s <= used_s + slack_s, (found_s, used_s, slack_s, lost_s, len(paths))


def test_sums_over_segments(folder):
	"""No time is lost between segments, or there twice: half of the time two processes record."""
	with Agent(folder, "-F", "499", *RICH, every="2s") as agent:
		agent.await_segments(1)
		used_s = used_by(folder, harness.work(4000))
		agent.end()
		check_sum(agent, used_s, 1 / 499)
		assert len(agent.segments()) >= 3
		metrics = agent.metrics()
		counted = sum(Recording(path).stats["counted"] for path in agent.segments())
		assert metrics["samples_total"] == counted, (metrics, counted)
		assert metrics["segments_written_total"] == len(agent.segments())
		assert metrics["spool_bytes"] == sum(path.stat().st_size for path in agent.segments())


@harness.takes_long
def test_sums_while_the_rate_changes(folder):
	"""A sample weighs its interval, so a lower rate has the same sum; and segments are cut without a gap."""
	config = folder / "agent.conf"
	config.write_text("frequency = 997\n")
	with Agent(folder, "--config", config, *RICH, every="3s") as agent:
		agent.await_segments(1)
		program = recording.program(folder, "threads")
		before = resource.getrusage(resource.RUSAGE_CHILDREN)
		with subprocess.Popen([program, "2", str(harness.work(8000))], stdout=subprocess.DEVNULL) as process:
			for frequency in (97, 499, 97):
				config.write_text(f"frequency = {frequency}\n")
				known = len(agent.segments())
				agent.process.send_signal(signal.SIGHUP)
				agent.await_segments(known + 1)
			process.wait()
		after = resource.getrusage(resource.RUSAGE_CHILDREN)
		agent.end()
		intervals = {round(Recording(path).stats["interval_ns"] / 1e6) for path in agent.segments()}
		assert intervals >= {1, 10}, intervals
		check_sum(agent, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1 / 97)


def test_segments_are_merged(folder):
	"""As docs/howto/agent.md has it: one file of many segments, by service, and what a service did."""
	with Agent(folder, "-F", "199", *RICH[:-1]) as agent:
		agent.await_segments(1)
		used_by(folder, 600)
		agent.end()
		hour = folder / "hour.prof"
		harness.check(harness.sonde("merge", *agent.segments(), "-o", hour))
		assert abs(sum_of([hour], "service=^threads$") - sum_of(agent.segments(), "service=^threads$")) < 1e-6
		tree = Recording(hour).report("--roots", "label:service", "--format", "folded")
		assert "service=threads;" in tree and "service=sonde-agent" in tree, tree[:2000]
		assert "heavy" in Recording(hour).report("--label", "service=threads")


def group_folder():
	"""A folder of cgroups version 2 in which we may make one."""
	for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
		if (pathlib.Path(path) / "cgroup.controllers").exists() and os.access(path, os.W_OK):
			return pathlib.Path(path)
	raise harness.Skip("no control groups of version 2 that we may make")


def test_services_by_control_group(folder):
	top = group_folder() / f"sonde-test-{os.getpid()}.slice"
	groups = {"web-1": top / "web-1.service", "0123456789ab": top / f"docker-{'0123456789abcdef' * 4}.scope"}
	program = recording.program(folder, "threads")
	needs_machine()
	try:
		for path in (top, *groups.values()):
			path.mkdir()
	except OSError as error:
		raise harness.Skip(f"{top}: {error}")

	def join(path):
		return lambda: (path / "cgroup.procs").write_text(str(os.getpid()))
	try:
		with Agent(folder, "-F", "199", *RICH) as agent:
			agent.await_segments(1)
			for path, milliseconds in zip(groups.values(), (1200, 600)):
				subprocess.run([program, "2", str(milliseconds)], check=True, preexec_fn=join(path),
					stdout=subprocess.DEVNULL)
			agent.end()
			paths = agent.segments()
			web, container = (sum_of(paths, f"service=^{name}$") for name in groups)
			check_sum(agent, 1.2, 1 / 199, r"service=^web-1$")
			check_sum(agent, 0.6, 1 / 199, "service=^0123456789ab$")
			assert sum_of(paths, r"unit=^web-1\.service$") == web
			assert sum_of(paths, "container=^0123456789ab$") == container
			assert sum_of(paths, "command=^threads$") >= 0.9 * (web + container)
			# What has no service of its own has the command as one, and the agent is one of them.
			assert sum_of(paths, "service=^sonde-agent$") > 0
	finally:
		for path in (*groups.values(), top):
			wait_until(lambda path=path: not (path / "cgroup.procs").read_text().strip())
			path.rmdir()


def busy(folder):
	"""Work for as long as the block lasts: a machine that is idle has segments without a sample."""
	return Target(folder, recording.program(folder, "shares"), 10**9)


def check_whole(agent):
	"""The last one may have ended before its first sample was due."""
	segments = agent.segments()
	for path in segments:
		assert Recording(path).stats["counted"] > 0 or path == segments[-1], path
		assert not Recording(path).report().count("was cut off"), path


def kill_once(folder, delay):
	with busy(folder), Agent(folder, "-F", "99", *RICH) as agent:
		agent.await_words("sampling all processes")
		agent.await_segments(1)
		time.sleep(delay)
		mine = [agent.process.pid, *children(agent.process.pid)]
		agent.process.kill()
		agent.process.wait()
		wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}/fd/0").exists() for pid in mine))
		# What earlier agents left is salvaged, and says that it was cut off.
		cut = [path for path in agent.segments() if Recording(path).report().count("was cut off")]
		segments = [path for path in agent.segments() if path not in cut]
		assert all(Recording(path).stats["counted"] > 0 or path == segments[-1] for path in segments), segments
		# One samples, and one that is about to may be there too.
		left = list((agent.store / ".tmp").iterdir())
		assert len(left) <= 3, left
	return len(left), len(cut)


def test_kill_leaves_whole_segments(folder):
	left = cuts = 0
	for i in range(20 if harness.LONG else 3):
		more, cut = kill_once(folder, 0.5 + 0.17 * i % 1)
		assert cut <= 2 * i, (cut, i)
		left, cuts = left + more, max(cuts, cut)
	assert left > 0 and cuts > 0, (left, cuts)
	with Agent(folder, "-F", "99", *RICH) as agent:
		agent.await_words("sampling all processes")
		known = len(agent.segments())
		agent.await_segments(known + 1)
		agent.end()
		assert not list((agent.store / ".tmp").iterdir())
		# Numbers go on, so that no segment takes another's name.
		numbers = [path.name[17:23] for path in agent.segments()]
		assert len(set(numbers)) == len(numbers), numbers


def span_s(path):
	"""When a recording begins and ends, in seconds since 1970."""
	dump = harness.check(harness.sonde("convert", path, "-o", "-", "--to", "dump")).out
	start_s = int(re.search(r"^start-unix-ns (\d+)$", dump, re.MULTILINE)[1]) / 1e9
	return start_s, start_s + Recording(path).stats["duration_ns"] / 1e9


@harness.takes_long
def test_kills_lose_nothing_unsaid(folder):
	"""What a program used while agents were killed is in segments, or in seconds that are counted; none is there twice."""
	program = shutil.copy(recording.program(folder, "shares"), folder / f"kept{os.getpid()}")
	with Target(folder, program, 10**9) as target:
		cpu = lambda: sum(int(n) for n in pathlib.Path(f"/proc/{target.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]) / os.sysconf("SC_CLK_TCK")
		for i in range(3):
			with Agent(folder, "-F", "499", *RICH, every="2s") as agent:
				agent.await_words("sampling all processes")
				if i == 0:
					agent.await_segments(1)
					first_s = cpu() - sum_of(agent.segments(), f"service=^{program.name}$")
				time.sleep(0.3 + 0.53 * i % 2)
				agent.process.kill()
				agent.process.wait()
			time.sleep(0.2)
		with Agent(folder, "-F", "499", *RICH, every="2s") as agent:
			agent.await_words("sampling all processes")
			known = len(agent.segments())
			agent.await_segments(known + 1)
			agent.end()
			used_s = cpu()
	metrics = agent.metrics()
	kept_s = sum_of(agent.segments(), f"service=^{program.name}$")
	lost_s = metrics["paused_seconds_total"] + metrics["late_seconds_total"]
	assert metrics["down_seconds_total"] >= 3 * 0.2 and metrics["early_seconds_total"] == 0, metrics
	assert first_s + kept_s + lost_s >= 0.95 * used_s, (first_s, kept_s, lost_s, used_s)
	assert first_s + kept_s <= 1.04 * used_s + 0.1, (first_s, kept_s, used_s)
	# Each moment is in one segment, or in one gap, and the gaps are what is counted: one that began to wait for its time
	# when the agent was killed hides none.
	times = [span_s(path) for path in agent.segments()]
	gaps_s = sum(after - end for (_, end), (after, _) in zip(times, times[1:]))
	assert all(end <= after + 0.001 for (_, end), (after, _) in zip(times, times[1:])), times
	assert abs(gaps_s - metrics["paused_seconds_total"]) < 0.01, (times, metrics)
	notes = [note for path in agent.segments() for note in Recording(path).notes if "no agent ran" in note["text"]]
	told_s = sum(note["count"] for note in notes) / 1000
	assert abs(told_s - metrics["down_seconds_total"]) < 0.1, (notes, metrics)


def full_disk(folder, kib):
	"""A file system of that size; a test that may not mount one is skipped."""
	recording.needs_root()
	disk = folder / "disk"
	disk.mkdir()
	if harness.run("mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", disk).status:
		raise harness.Skip("cannot mount a tmpfs")
	return disk


def fill(path):
	"""Appends until nothing fits on the disk."""
	with contextlib.suppress(OSError), open(path, "ab", buffering=0) as file:
		while file.write(bytes(4096)):
			pass


@harness.takes_hours
def test_full_disk(folder):
	"""The oldest segments go first; what could not be written is counted, also after a restart."""
	disk = full_disk(folder, 16 << 10)
	try:
		with busy(folder):
			(disk / "others").write_bytes(bytes((16 << 20) - (500 << 10)))
			with Agent(folder, "-F", "997", *RICH, store=disk / "store") as agent:
				wait_until(lambda: agent.metrics_path.exists() and agent.metrics()["segments_dropped_total"] >= 2, 120)
				numbers = [int(path.name[17:23]) for path in agent.segments()]
				assert numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] > 0, numbers
				# Now nothing of it can help: what the oldest segments leave is taken as well.
				def is_broken():
					fill(disk / "others")
					return agent.metrics()["segments_broken_total"] >= 1
				wait_until(is_broken, 120)
				before = agent.metrics()
				agent.process.kill()
				agent.process.wait()
			(disk / "others").unlink()
			with Agent(folder, "-F", "997", *RICH, store=disk / "store") as agent:
				known = len(agent.segments())
				agent.await_segments(known + 2)
				agent.end()
		metrics = agent.metrics()
		for name in ("segments_dropped_total", "segments_broken_total", "samples_unwritten_total", "early_seconds_total"):
			assert metrics[name] >= before[name], (name, before, metrics)
		assert before["segments_dropped_total"] > 0 and metrics["paused_seconds_total"] > 0, (before, metrics)
		told = [note for path in agent.segments() for note in Recording(path).notes if note["kind"] == "lost"]
		assert any("ended early" in note["text"] for note in told), told
	finally:
		wait_until(lambda: harness.run("umount", disk).status == 0)


@harness.takes_long
def test_killed_segment_is_kept(folder):
	"""The process of a segment dies, as by the kernel when memory is short; what it wrote is kept."""
	with busy(folder), Agent(folder, "-F", "499", "--every", "20s", *RICH) as agent:
		wait_until(lambda: children(agent.process.pid) and list((agent.store / ".tmp").iterdir()))
		path = wait_until(lambda: list((agent.store / ".tmp").iterdir()))[0]
		size = wait_until(lambda: path.stat().st_size)
		wait_until(lambda: path.stat().st_size > size + 20000, 120)
		os.kill(children(agent.process.pid)[0], signal.SIGKILL)
		agent.await_segments(1)
		assert "killed by signal 9" in agent.err(), agent.err()
		assert Recording(agent.segments()[0]).stats["counted"] > 0
		assert agent.process.poll() is None
		agent.end()
		metrics = agent.metrics()
		assert metrics["segments_broken_total"] == 1
		# The rest of its time counts.
		assert metrics["early_seconds_total"] > 0 and metrics["paused_seconds_total"] >= metrics["early_seconds_total"], metrics


def test_spool_has_a_limit(folder):
	with Agent(folder, "--spool-max", "1", *RICH) as agent:
		wait_until(lambda: agent.metrics_path.exists() and agent.metrics()["segments_dropped_total"] >= 2)
		agent.end()
		metrics = agent.metrics()
		assert len(agent.segments()) == 1 and metrics["spool_segments"] == 1
		assert metrics["dropped_bytes_total"] > 0
		notes = [note for note in Recording(agent.segments()[0]).notes if "dropped from the spool" in note["text"]]
		assert len(notes) == 1 and notes[0]["kind"] == "lost", notes
		# The store of one machine is its spool, and its status says so, too.
		status = json.loads(harness.check(harness.sonde("fleet", "status", "--store", agent.segments()[0].parent, "--format", "json")).out)
		assert any(loss["kind"] == "lost" and loss["count"] == notes[0]["count"] for loss in status["losses"]), status


@harness.takes_long
def test_segments_go_to_the_store(folder):
	"""They wait while it is not there, and leave the spool once it has them."""
	store, spool = folder / "there", folder / "spool"
	with busy(folder), Agent(folder, "--spool", spool, *RICH, store=store) as agent:
		agent.await_words(f"sending to {store}: cannot open")
		agent.await_segments(1, spool)
		store.mkdir()
		agent.await_segments(3)
		agent.end()
		check_whole(agent)
		sent, left = ({NAME.fullmatch(path.name)[1] for path in agent.segments(where)} for where in (store, spool))
		assert sent and not sent & left
		metrics = agent.metrics()
		assert metrics["store_errors_total"] >= 1 and metrics["segments_sent_total"] >= 2, metrics


def test_reload(folder):
	config = folder / "agent.conf"
	config.write_text("# nothing yet\n")
	with Agent(folder, "--config", config, *RICH) as agent:
		agent.await_segments(1)
		config.write_text("frequency = 19\nclock = wrong\n")
		agent.process.send_signal(signal.SIGHUP)
		agent.await_words(f"settings stay as they were: {config}: line 2: clock")
		config.write_text(f"spool = {folder}/other\n")
		agent.process.send_signal(signal.SIGHUP)
		agent.await_words("a new store, spool, address or token needs a restart")
		config.write_text("frequency = 250\n")
		agent.process.send_signal(signal.SIGHUP)
		agent.await_words("settings were read again")
		known = len(agent.segments())
		agent.await_segments(known + 2)
		agent.end()
		assert agent.metrics()["rate_hertz"] == 250
		intervals = [Recording(path).stats["interval_ns"] for path in agent.segments()]
		assert 45e6 < intervals[0] < 60e6 and 3.5e6 < intervals[-1] < 5e6, intervals


@harness.takes_long
def test_reload_of_credentials(folder):
	"""They are for the next segment that is sent."""
	config = folder / "agent.conf"
	config.write_text(f"credentials = {folder}/first\n")
	with busy(folder), Agent(folder, "--config", config, "--spool", folder / "spool", *RICH, store="clickhouse://127.0.0.1:1") as agent:
		agent.await_words(f"{folder}/first: No such file")
		config.write_text(f"credentials = {folder}/second\n")
		agent.process.send_signal(signal.SIGHUP)
		agent.await_words(f"{folder}/second: No such file")
		agent.end()


def test_usage(folder):
	config = folder / "bad.conf"
	config.write_text("store = /tmp/x\nfrequncy = 3\n")
	for options, words in (
			(("--config", config), f"{config}: line 2: 'frequncy' is not an option"),
			(("--every", "1ms"), "--every: expected 1s to 1h, found '1ms'"),
			(("--spool-max", "many"), "'many' is not a size"),
			(("-F", "5k"), "at most 1000 times a second"),
			(("--store", "gopher://x/", "--spool", folder / "spool"), "'gopher://x/': expected a folder or clickhouse://HOST"),
			(("program",), "unexpected 'program'"),
			(("--store", "/dev/null"), "cannot create the folder /dev/null")):
		done = harness.sonde("agent", *options)
		assert done.status in (1, 2) and words in done.err, (options, done)
		assert len(done.err.splitlines()) <= 2, done.err


@harness.takes_long
def test_one_agent_a_folder(folder):
	with busy(folder), Agent(folder, *RICH) as agent:
		agent.await_segments(1)
		done = harness.sonde("agent", "--store", agent.store)
		assert done.status == 2 and f"another agent (process {agent.process.pid}) writes to" in done.err, done
		agent.end(signal.SIGINT)
		check_whole(agent)


def test_tiny_budget_pauses(folder):
	"""With no CPU time to speak of, sampling pauses after a moment; what was sampled is kept, and it ends well."""
	with Agent(folder, "--cpu-max", "0.001%", every="2s") as agent:
		agent.await_words("sampling pauses, by the budget")
		wait_until(lambda: not children(agent.process.pid))
		# It is moved to the store once its process has been waited for.
		agent.await_segments(1)
		known = agent.segments()
		wait_until(lambda: agent.metrics()["paused"] == 1)
		assert agent.metrics()["rate_hertz"] == 0
		agent.end()
		assert agent.segments() == known and known
		assert agent.metrics()["pauses_total"] == 1


def test_little_memory_pauses(folder):
	with busy(folder), Agent(folder, "--cpu-max", "100%", "--memory-max", "100K") as agent:
		agent.await_words("sampling pauses, by the budget")
		wait_until(lambda: not children(agent.process.pid))
		agent.end()
		check_whole(agent)


def status_of(pid):
	text = pathlib.Path(f"/proc/{pid}/status").read_text()
	return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def kept_rights():
	"""CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_PERFMON; CAP_SYS_ADMIN where the kernel wants it."""
	paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
	return 1 << 2 | 1 << 19 | 1 << 34 | 1 << 38 | (1 << 21 if paranoid > 2 else 0)


def starting_rights():
	"""CAP_KILL, CAP_SETGID, CAP_SETUID: as root, to start processes of another user and to end them."""
	return 1 << 5 | 1 << 6 | 1 << 7


def check_rights(pid, more=0):
	status = status_of(pid)
	for name in ("CapPrm", "CapEff"):
		assert int(status[name], 16) & ~(kept_rights() | more) == 0, (name, status[name])
	for name in ("CapInh", "CapAmb"):
		assert int(status[name], 16) == 0, (name, status[name])
	assert status["NoNewPrivs"] == "1"
	# Not dumpable: its files in /proc are root's, so that its own user cannot look into it.
	assert os.stat(f"/proc/{pid}/mem").st_uid == 0


def test_root_keeps_few_rights(folder):
	recording.needs_root()
	with Agent(folder, *RICH) as agent:
		agent.await_segments(1)
		check_rights(agent.process.pid, starting_rights())
		for pid in children(agent.process.pid):
			check_rights(pid)
		assert int(status_of(agent.process.pid)["CapBnd"], 16) & ~(kept_rights() | starting_rights()) == 0
		agent.end()


def check_confined(pid):
	status = status_of(pid)
	for name in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
		assert int(status[name], 16) == 0, (name, status[name])
	assert set(status["Uid"].split() + status["Gid"].split()) == {"65534"}, status
	assert not status["Groups"].split(), status
	assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2"), status


def test_intake_has_no_rights(folder):
	"""As root: it is another user's process, in the one folder that it may write to; what it wrote becomes root's."""
	recording.needs_root()
	with Agent(folder, *RICH, "--listen", "127.0.0.1:0") as agent:
		address = listening(agent)
		intake, = (pid for pid in children(agent.process.pid)
			if pathlib.Path(f"/proc/{pid}/comm").read_text() == "sonde-intake\n")
		check_confined(intake)
		assert os.readlink(f"/proc/{intake}/cwd") == str(agent.store / ".in")
		post(address, "/ingest?name=sent&from=1790000000&until=1790000010&format=folded", b"main;work 3\n")
		wait_until(lambda: list(agent.store.glob("20260921*.prof")))
		agent.end()
	for path in agent.store.glob("*.prof"):
		assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (0, 0o600), path


def test_links_lead_nowhere(folder):
	"""A link where the agent has a folder of its own is refused, and nothing behind it is touched."""
	other = folder / "other"
	for name in (".tmp", ".in", ".sent", None):
		other.mkdir()
		(other / "precious").write_text("kept")
		store = folder / "store"
		if name:
			store.mkdir(mode=0o700)
			(store / name).symlink_to(other)
		else:
			store.mkdir(mode=0o700)
			store.chmod(0o777)
		done = harness.run(harness.SONDE, "agent", "--store", store, "--listen", "127.0.0.1:0")
		assert done.status == 2 or done.status == 1, done
		assert str(store / name if name else store) in done.err and done.err.count("\n") == 1, done
		assert [path.name for path in other.iterdir()] == ["precious"]
		shutil.rmtree(other)
		shutil.rmtree(store)


def test_runs_without_root(folder):
	"""With CAP_PERFMON and CAP_SYS_PTRACE alone it samples all users' processes; without, it says what it needs."""
	recording.needs_root()
	if not shutil.which("setpriv"):
		raise harness.Skip("there is no setpriv")
	program = folder / "sonde"
	shutil.copy(harness.SONDE, program)
	os.chmod(folder, 0o777)
	caps = "+perfmon,+sys_ptrace"
	before = ["setpriv", f"--reuid={recording.USER}", f"--regid={recording.USER}", "--clear-groups",
		f"--inh-caps={caps}", f"--ambient-caps={caps}"]
	if harness.run(*before, "true").status:
		raise harness.Skip("setpriv cannot give CAP_PERFMON")
	with Agent(folder, "-F", "199", *RICH[:-1], before=before, program=program) as agent:
		agent.await_segments(1)
		check_rights(agent.process.pid)
		used_s = used_by(folder, 1000)
		agent.end()
		check_sum(agent, used_s, 1 / 199)
		whole = [Recording(path).report("--focus", "heavy", "--label", "service=threads") for path in agent.segments()]
		assert any("work" in text for text in whole), whole
	done = harness.run(*before[:4], program, "agent", "--store", folder / "other")
	assert done.status == 1 and "perf_event_paranoid" in done.err or "CAP_PERFMON" in done.err, done


def listening(agent):
	"""Where it takes other programs' profiles."""
	agent.await_words("are taken at ")
	return re.search(r"are taken at (\S+)", agent.err())[1]


def functions_of(*source):
	rows = json.loads(harness.check(harness.sonde("report", *source, "--format", "json", "--limit", "0")).out)["rows"]
	return {(row["name"], row["module"], row["exclusive"], row["inclusive"]) for row in rows}


def test_profiles_of_other_programs(folder):
	"""They are segments like its own, with their figures, service, host and labels; and a secret is asked for."""
	token, stacks = folder / "token", folder / "stacks.folded"
	token.write_text("a secret of some length\n")
	token.chmod(0o600)
	stacks.write_text("main;eval;eval 30\nmain;gc 12\n")
	with Agent(folder, *RICH, "--listen", "127.0.0.1:0", "--token", token) as agent:
		address = listening(agent)
		push = ("push", "--otlp", f"http://{address}", "--service", "billing", "--host", "web7", "--label", "version=2")
		assert "401" in harness.check(harness.sonde(*push, stacks), 1).err
		harness.check(harness.sonde(*push, "--credentials", token, stacks))
		kept = lambda: harness.sonde("report", "--store", agent.store, "--service", "billing", "--format", "json").status == 0
		wait_until(kept)
		agent.end()
	of_store = ("--store", agent.store, "--service", "billing", "--host", "web7", "version=2")
	assert functions_of(*of_store) == functions_of(stacks)
	assert harness.sonde("report", "--store", agent.store, "--service", "billing", "version=3").status == 1


def post(address, target, body, **headers):
	request = urllib.request.Request(f"http://{address}{target}", body, {k.replace("_", "-"): v for k, v in headers.items()})
	with urllib.request.urlopen(request, timeout=60 * harness.PATIENCE) as answer:
		assert answer.status == 200, answer


def test_several_processes_send_at_the_same_second(folder):
	"""Each profile counts, though nothing but its stacks differs; and once, though it comes again."""
	target = "/ingest?name=shop%7Bhostname%3Dn1%2Cenv%3Dtest%7D&from=1700000000&until=1700000010"
	with Agent(folder, *RICH, "--listen", "127.0.0.1:0") as agent:
		address = listening(agent)
		for body in (b"main;a 5\n", b"main;b 5\n", b"main;a 5\n", b"main;a 2\nmain;c 3\n"):
			post(address, target, body)
		agent.end()
	folded = harness.check(harness.sonde("report", "--store", agent.store, "--service", "shop", "env=test", "--format", "folded")).out
	assert sorted(folded.splitlines()) == ["main;a 7", "main;b 5", "main;c 3"], folded


@harness.takes_long
def test_what_is_sent_again_counts_once(folder):
	"""With a time or without, in a row or after another, after it went to the store, and by `push --otlp`; not what only
	looks alike."""
	label, timed = "name=shop%7Bhostname%3D{}%2Cenv%3Dtest%7D", "&from=1700000000&until=1700000010"
	stacks, store = folder / "stacks.folded", folder / "store"
	stacks.write_text("main;pushed 11\n")
	store.mkdir()
	bodies = [("n1", timed, b"main;a 5\n"), ("n1", "", b"main;b 7\n"), ("n2", "", b"main;b 7\n"), ("n1", "", b"main;b 3\nmain;c 4\n")]
	def sent(service):
		report = harness.sonde("report", "--store", store, "--service", service, "--format", "folded")
		return sorted(report.out.splitlines()) if report.status == 0 else []
	def weights(service):
		return [int(line.rpartition(" ")[2]) for line in sent(service)]
	wanted = {"main;a": 5, "main;b": 17, "main;c": 4, "main;pushed": 11}
	def send(address, round):
		for host, time_range, body in bodies:
			post(address, f"/ingest?{label.format(host)}{time_range}", body)
		harness.check(harness.sonde("push", "--otlp", f"http://{address}", "--service", "shop", "--host", "n1", stacks))
		post(address, "/ingest?name=last&from=1700000000", b"main %d\n" % (10 ** round))
		wait_until(lambda: sent("last") == [f"main {sum(10 ** i for i in range(round + 1))}"] and sum(weights("shop")) >= sum(wanted.values()))
		assert sent("shop") == [f"{stack} {weight}" for stack, weight in wanted.items()], (round, sent("shop"))
	# The next agent knows what the first took, though nothing of it is in the spool any more.
	for rounds in ((0, 1), (2,)):
		with Agent(folder, *RICH, "--listen", "127.0.0.1:0", "--spool", folder / "spool", store=store) as agent:
			for round in rounds:
				send(listening(agent), round)
			agent.end()
		assert weights("shop") == list(wanted.values()), sent("shop")


def test_totals_keep_the_labels_they_are_sent_with(folder):
	"""As heap profiles do, in which nothing counts samples; those of another profile stay what they are."""
	heap = folder / "heap.dump"
	heap.write_text("""sonde-dump 1
start-unix-ns 1700000000000000000
metric "inuse_objects" "count"
metric "inuse_space" "bytes" default
function "main"
frame
function "keep"
frame
stack 0 0 0
stack 1 "main" 2 700
stack 2 "keep" 3 300
end
""")
	harness.check(harness.sonde("convert", heap, "--to", "pprof", "-o", folder / "heap.pb"))
	target = "/ingest?format=pprof&name=shop%7Bhostname%3Dn1%2Cenv%3Dtest%7D&from=1700000000&until=1700000010"
	with Agent(folder, *RICH, "--listen", "127.0.0.1:0") as agent:
		address = listening(agent)
		post(address, target, (folder / "heap.pb").read_bytes())
		post(address, target.replace("format=pprof&", ""), b"main 40\n")
		agent.end()
	def total(metric, *label):
		report = harness.sonde("report", "--store", agent.store, "--service", "shop", *label, "--metric", metric, "--format", "json")
		return json.loads(harness.check(report).out)["total"]
	assert (total("inuse_space", "env=test"), total("inuse_objects")) == (1000, 5)
	assert total("samples", "env=test") == 40
	assert harness.sonde("report", "--store", agent.store, "--service", "shop", "env=other").status == 1


# Three of four parts of the time in one function, and of what it holds made in another.
CLIENT_OPTIONS = """basicAuthUser: 'me', basicAuthPassword: process.argv[3], flushIntervalMs: 1000,
	wall: {collectCpuTime: true, samplingDurationMs: 1000}, heap: {samplingIntervalBytes: 4096}"""
CLIENT_WORK = """
const used = {three: 0, one: 0}, held = [];
function spin(until) { let x = 0; while (performance.now() < until) for (let i = 0; i < 1000; i++) x += Math.sqrt(x + i); return x; }
function three(ms) { const t = performance.now(); spin(t + ms); used.three += performance.now() - t; }
function one(ms) { const t = performance.now(); spin(t + ms); used.one += performance.now() - t; }
function keepMuch() { for (let i = 0; i < 3000; i++) held.push(new Array(1000).fill(i)); }
function keepLittle() { for (let i = 0; i < 1000; i++) held.push(new Array(1000).fill(i)); }
keepMuch(); keepLittle();
let rounds = Number(process.argv[4]);
function step() {
	three(75); one(25);
	if (--rounds) setTimeout(step, 5);
	else end(JSON.stringify(used));
}
step();
"""


def check_client(store, used, *of):
	"""What is in the store is what the client's program measured of itself."""
	def inclusive(metric):
		report = harness.sonde("report", "--store", store, "--service", "node-shop", *of, "--metric", metric, "--format", "json", "--limit", "0")
		rows = json.loads(harness.check(report).out)["rows"]
		# The client puts the file and the line into the name.
		return {row["name"].split(":")[1]: row["inclusive"] for row in rows if "client.js:" in row["name"]}
	wall, space = inclusive("wall"), inclusive("inuse_space")
	# The client drops a profile if the one before is still on its way: what arrived has the same shares.
	assert sum(wall[name] for name in used) / 1e6 <= 1.1 * sum(used.values()), (used, wall)
	share = used["three"] / sum(used.values())
	assert abs(wall["three"] / (wall["three"] + wall["one"]) - share) < 0.08, (used, wall)
	# Each profile of the heap has all of it: 4,000 arrays of 1,000 words.
	assert 0.7 <= space["keepMuch"] / (space["keepMuch"] + space["keepLittle"]) <= 0.8, space
	assert space["keepMuch"] >= 0.9 * 3000 * 8000, space


@harness.takes_long
def test_pyroscopes_node_client(folder):
	"""The time and the heap of a real client's program, in a folder and on a server, with its host and labels."""
	token = folder / "token"
	token.write_text("a-secret-of-some-length\n")
	token.chmod(0o600)
	server = shards.server()
	with server:
		url = f"clickhouse://127.0.0.1:{server.port}/sonde"
		harness.check(harness.sonde("fleet", "init", "--store", url))
		for store, more in ((folder / "store", ()), (url, ("--spool", folder / "spool"))):
			with Agent(folder, *RICH, *more, "--listen", "127.0.0.1:0", "--token", token, store=store) as agent:
				out = pyroscope.run_node(folder, CLIENT_OPTIONS, CLIENT_WORK, f"http://{listening(agent)}", token.read_text().strip(),
					harness.work(4000) // 100)
				agent.end()
			check_client(store, json.loads(out), "--host", "n3", "env=test")


@harness.takes_long
def test_spool_has_a_limit_while_sampling_pauses(folder):
	"""Other programs go on sending then."""
	stacks = folder / "stacks.folded"
	stacks.write_text("main;eval 30\n")
	with Agent(folder, "--cpu-max", "0.001%", "--spool-max", "1", "--listen", "127.0.0.1:0") as agent:
		address = listening(agent)
		agent.await_words("sampling pauses, by the budget")
		wait_until(lambda: len(children(agent.process.pid)) == 1)
		before = agent.metrics()["segments_dropped_total"]
		for number in range(4):
			harness.check(harness.sonde("push", "--otlp", f"http://{address}", "--service", f"s{number}", stacks))
		wait_until(lambda: agent.metrics()["segments_dropped_total"] >= before + 3)
		agent.end()
		assert len(agent.segments()) == 1, agent.segments()


def test_a_busy_port(folder):
	with socket.create_server(("127.0.0.1", 0)) as taken:
		port = taken.getsockname()[1]
		done = harness.sonde("agent", "--store", folder / "store", "--listen", f"127.0.0.1:{port}")
	assert done.status == 1 and f"127.0.0.1:{port}" in done.err, done


def test_segments_go_to_servers(folder):
	"""What came of the program is in the store, once, though a server was away for a time; segments are gone."""
	server = shards.server()
	with server:
		url = f"clickhouse://127.0.0.1:{server.port}/sonde"
		harness.check(harness.sonde("fleet", "init", "--store", url))
		spool = folder / "spool"
		with Agent(folder, *RICH, "--spool", spool, "--host", "web1", store=url) as agent:
			agent.await_segments(1, spool)
			used_s = used_by(folder, 1500)
			server.kill()
			agent.await_words("sending to")
			server.start()
			agent.await_segments(1, spool)
			wait_until(lambda: agent.metrics()["segments_sent_total"] >= 2)
			agent.end()
		# What still waits is sent by hand, and what was sent already again.
		for path in agent.segments(spool):
			for _ in range(2):
				harness.check(harness.sonde("push", "-q", "--store", url, "--every", "1h", "--host", "web1", path))
		found = json.loads(harness.check(harness.sonde("report", "--store", url, "--service", "threads", "--host", "web1",
			"--format", "json")).out)
		assert abs(found["total"] / 1e9 - used_s) < 0.1 * used_s + 0.5, (found["total"], used_s)


@harness.takes_long
def test_a_store_made_anew(folder):
	"""It gets all stacks and names at once, though the agent has sent them to the one before."""
	try:
		server = clickhouse.Server()
	except clickhouse.Missing as missing:
		raise harness.Skip(str(missing))
	with server:
		url = f"clickhouse://127.0.0.1:{server.port}/sonde"
		harness.check(harness.sonde("fleet", "init", "--store", url))
		with busy(folder), Agent(folder, *RICH, "--spool", folder / "spool", store=url) as agent:
			wait_until(lambda: agent.metrics_path.exists() and agent.metrics()["segments_sent_total"] >= 2)
			server.sql("DROP DATABASE sonde")
			harness.check(harness.sonde("fleet", "init", "--store", url))
			# The first of these may be under way already.
			sent = agent.metrics()["segments_sent_total"]
			wait_until(lambda: agent.metrics()["segments_sent_total"] >= sent + 2)
			agent.end()
		found = json.loads(harness.check(harness.sonde("report", "--store", url, "--format", "json")).out)
		assert found["total"] and not [note for note in found["notes"] if "not in the store" in note["text"]], found["notes"]


@harness.takes_long
def test_a_cutting_proxy(folder):
	"""Requests are cut, doubled, delayed and reset; what is in the store is what was in the segments, to the integer."""
	random_ = random.Random(37)
	faults = (fault_proxy.refuse, fault_proxy.drop_answer, fault_proxy.twice, lambda: fault_proxy.cut_request(random_.randrange(400)),
		lambda: fault_proxy.cut_request(-random_.randrange(1, 400)), lambda: fault_proxy.cut_answer(0),
		lambda: fault_proxy.delay(random_.random() / 10), lambda: fault_proxy.answer(503, "no server is available"))
	service = f"cut{os.getpid()}"
	program = shutil.copy(recording.program(folder, "shares"), folder / service)
	try:
		server = clickhouse.Server()
	except clickhouse.Missing as missing:
		raise harness.Skip(str(missing))
	with server, fault_proxy.FaultProxy(server.port) as proxy:
		url, there = (f"clickhouse://127.0.0.1:{port}/sonde" for port in (proxy.port, server.port))
		harness.check(harness.sonde("fleet", "init", "--store", there))
		proxy.fault(fault_proxy.refuse(), times=10**6)
		spool, copies = folder / "spool", folder / "copies"
		with Agent(folder, *RICH, "--spool", spool, "--host", "web1", store=url) as agent:
			with Target(folder, program, 10**9):
				agent.await_segments(4, spool)
			agent.await_segments(len(agent.segments(spool)) + 2, spool)
			shutil.copytree(spool, copies)
			waiting = {path.name for path in agent.segments(copies)}
			proxy.clear()
			proxy.fault(lambda *what: random_.choice(faults)()(*what), when=lambda _: random_.random() < 0.4, times=10**6)
			wait_until(lambda: not waiting & {path.name for path in agent.segments(spool)}, 240)
			agent.end()
		assert sum(bool(request[3]) for request in proxy.requests) >= 5, proxy.requests
		kept = sum(kept_ns(path, f"service=^{service}$") for path in agent.segments(copies))
		found = json.loads(harness.check(harness.sonde("report", "--store", there, "--service", service, "--host", "web1",
			"--format", "json")).out)
		assert found["total"] == kept > 0, (found["total"], kept)


def outage(folder, spool_max):
	"""A store that is away for more than sixty segments, while a program works; then it is there again. What the program
	used, of the segments that waited; what the store has of it; the metrics."""
	server = shards.server()
	# Others may run the same program.
	service = f"out{os.getpid()}"
	program = shutil.copy(recording.program(folder, "shares"), folder / service)
	with server:
		url, spool = f"clickhouse://127.0.0.1:{server.port}/sonde", folder / "spool"
		harness.check(harness.sonde("fleet", "init", "--store", url))
		server.kill()
		with Agent(folder, *RICH, "--spool", spool, "--spool-max", spool_max, "--host", "web1", store=url) as agent:
			with Target(folder, program, 10**9):
				wait_until(lambda: agent.metrics_path.exists() and agent.metrics()["segments_written_total"] >= 62, 240)
			written = agent.metrics()["segments_written_total"]
			wait_until(lambda: agent.metrics()["segments_written_total"] >= written + 2)
			waited = [kept_ns(path, f"service=^{service}$") for path in agent.segments(spool)]
			before = agent.metrics()
			server.restart()
			wait_until(lambda: agent.metrics()["segments_sent_total"] >= len(waited), 240)
			agent.end()
		for path in agent.segments(spool):
			harness.check(harness.sonde("push", "-q", "--store", url, "--every", "1h", "--host", "web1", path))
		done = harness.sonde("report", "--store", url, "--service", service, "--host", "web1", "--format", "json")
		# With little room, all that has the program may have been dropped before the first was sent.
		is_gone = done.status == 1 and f"no profile of {service}" in done.err
		found = 0 if is_gone else json.loads(harness.check(done).out)["total"]
		words = [note for note in json.loads(harness.check(harness.sonde("report", "--store", url, "--format", "json")).out)["notes"]
			if re.search("older segments? (was|were) dropped", note["text"])]
	return waited, found, before, agent.metrics(), words


@harness.takes_hours
def test_store_down_for_long(folder):
	"""All that waited is there, to the nanosecond; the agent tried again less and less often."""
	waited, found, before, metrics, words = outage(folder, "256M")
	assert len(waited) >= 60 and sum(waited) > 0 and found == sum(waited), (found, waited)
	assert metrics["segments_dropped_total"] == 0 and not words, (metrics, words)
	# Six tries in 63 seconds; each waits at least half of its time.
	assert 1 <= before["store_errors_total"] <= 9, before


@harness.takes_hours
def test_store_down_for_longer_than_the_spool(folder):
	"""What has no room is dropped, the oldest first, and counted in the metrics and in notes of what was sent."""
	waited, found, before, metrics, words = outage(folder, "300K")
	assert before["segments_dropped_total"] > 0 and before["spool_bytes"] <= 300 << 10, before
	assert sum(waited) > 0 and 0 <= found <= sum(waited), (found, waited)
	if metrics["segments_dropped_total"] == before["segments_dropped_total"]:
		assert found == sum(waited), (found, waited)
	gone = metrics["segments_sent_total"] + metrics["segments_dropped_total"] + metrics["spool_segments"]
	assert metrics["segments_written_total"] == gone, metrics
	assert 0 < sum(note["count"] for note in words) <= metrics["segments_dropped_total"], (words, metrics)


def memory_of(pid):
	"""Bytes of a process; what it shares with others in proportion."""
	try:
		text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
	except (FileNotFoundError, ProcessLookupError):
		return 0
	found = re.search(r"^Pss: +(\d+) kB$", text, re.MULTILINE)
	return int(found[1]) << 10 if found else 0


def peak_while(agent, condition):
	"""The most memory of all processes of an agent until the condition holds."""
	peak, end = 0, time.monotonic() + 120 * harness.PATIENCE
	while not condition():
		assert agent.process.poll() is None and time.monotonic() < end, agent.err()
		peak = max(peak, sum(map(memory_of, (agent.process.pid, *children(agent.process.pid)))))
		time.sleep(0.02)
	return peak


def many_functions(folder, count):
	"""A program that works in the first of so many functions: tables of their names and starts take some 12 MiB."""
	source, program = folder / "many.s", folder / "many"
	source.write_text(".text\n.globl _start\n_start: jmp _start\n"
		+ "".join(f".type f{i},@function\nf{i}: nop\n.size f{i},1\n" for i in range(count)))
	harness.check(harness.run("cc", "-nostdlib", "-static", "-o", program, source, timeout=120 * harness.PATIENCE))
	return program


@harness.takes_long
def test_memory_is_bounded(folder):
	"""However large the tables of programs are, and however often segments begin. What is left out first are names, then
	time between segments."""
	recording.needs_root()
	program, limit = many_functions(folder, 300000), 44 << 20
	with contextlib.ExitStack() as stack:
		for number in range(3):
			stack.enter_context(Target(folder, shutil.copy(program, folder / f"many{number}")))
		with Agent(folder, "--cpu-max", "100%", "--memory-max", "44M") as agent:
			peak = peak_while(agent, lambda: agent.metrics_path.exists() and agent.metrics()["segments_written_total"] >= 6)
			agent.end()
		metrics = agent.metrics()
	assert 10 << 20 < peak <= limit, (peak, metrics)
	assert metrics["memory_peak_bytes"] <= limit and metrics["memory_limit_bytes"] == limit, metrics
	assert metrics["samples_total"] > 50 and metrics["segments_broken_total"] <= 2, (metrics, agent.err())
	notes = [note["text"] for path in agent.segments() for note in Recording(path).notes]
	assert any("no names" in text and "--memory-max" in text and "sonde symbolize" in text for text in notes), notes
	assert not any("missing" in text or "damaged" in text for text in notes), notes


@harness.takes_long
def test_received_hosts_go_to_several_shards(folder):
	"""The same stacks of several hosts: each shard gets those of its hosts, whatever another one has already."""
	stacks = folder / "stacks.folded"
	stacks.write_text("main;eval;eval 30\nmain;gc 12\n")
	hosts = [f"web{i}" for i in range(4)]
	servers = [shards.server(), shards.server()]
	with servers[0], servers[1]:
		url = "clickhouse://" + ",".join(f"127.0.0.1:{server.port}" for server in servers) + "/sonde"
		harness.check(harness.sonde("fleet", "init", "--store", url))
		with Agent(folder, *RICH, "--spool", folder / "spool", "--listen", "127.0.0.1:0", every="2s", store=url) as agent:
			address = listening(agent)
			for host in hosts:
				harness.check(harness.sonde("push", "--otlp", f"http://{address}", "--service", "billing", "--host", host, stacks))
			commits = lambda: [int(server.sql("SELECT count() FROM commits FINAL WHERE service = 'billing'", database="sonde"))
				for server in servers]
			wait_until(lambda: sum(commits()) == len(hosts))
			assert all(commits()), commits()
			agent.end()
		folded = harness.check(harness.sonde("report", "--store", url, "--service", "billing", "--format", "folded")).out
		assert sorted(folded.splitlines()) == ["main;eval;eval 120", "main;gc 48"], folded


@harness.takes_long
def test_a_dead_shard_stops_no_other(folder):
	"""Segments of its hosts wait; those of the others are sent, and the metrics name it. Then all are there, once."""
	stacks = folder / "stacks.folded"
	stacks.write_text("main;eval 30\n")
	hosts = [f"web{i}" for i in range(8)]
	servers = [shards.server() for _ in range(3)]
	with servers[0], servers[1], servers[2]:
		url = "clickhouse://" + ",".join(f"127.0.0.1:{server.port}" for server in servers) + "/sonde"
		harness.check(harness.sonde("fleet", "init", "--store", url))
		commits = lambda of: sum(int(server.sql("SELECT count() FROM commits FINAL WHERE service = 'billing'", database="sonde"))
			for server in of)
		servers[0].kill()
		with Agent(folder, *RICH, "--spool", folder / "spool", "--listen", "127.0.0.1:0", every="2s", store=url) as agent:
			address = listening(agent)
			for host in hosts:
				harness.check(harness.sonde("push", "--otlp", f"http://{address}", "--service", "billing", "--host", host, stacks))
			dead = f'{{shard="127.0.0.1:{servers[0].port}"}}'
			waiting = lambda: int(dict(re.findall(r"^sonde_agent_shard_segments(\S+) (\d+)$",
				agent.metrics_path.read_text(), re.MULTILINE)).get(dead, 0)) if agent.metrics_path.exists() else 0
			wait_until(lambda: commits(servers[1:]) + waiting() >= len(hosts) and commits(servers[1:]) and waiting())
			sent = commits(servers[1:])
			assert 0 < sent < len(hosts), sent
			servers[0].restart()
			wait_until(lambda: commits(servers) == len(hosts), 240)
			agent.end()
		folded = harness.check(harness.sonde("report", "--store", url, "--service", "billing", "--format", "folded")).out
		assert folded.split() == ["main;eval", str(30 * len(hosts))], folded


@harness.takes_hours
def test_many_threads(folder):
	"""Ten thousand threads: the agent keeps to its own budget, with what it saved up. What else runs may make it
	halve its rate; that is how it keeps to it. All of its processes together keep to its memory."""
	recording.needs_root()
	crowd = recording.program(folder, "crowd")
	count = 10000
	with Target(folder, crowd, str(count), "2") as target:
		def is_ready():
			if target.process.poll() is not None:
				raise harness.Skip(f"{count} threads cannot be made: {target.out()}")
			return "ready" in target.out()
		wait_until(is_ready, 120)
		begin = time.monotonic()
		with Agent(folder, every="10s") as agent:
			peak = peak_while(agent, lambda: len(agent.segments()) >= 3)
			agent.end()
			seconds = time.monotonic() - begin
			metrics = agent.metrics()
			share, saved_s = metrics["cpu_limit_ratio"], metrics["cpu_limit_ratio"] * 200
			assert metrics["cpu_seconds_total"] <= share * seconds + saved_s + 1, (metrics, seconds)
			assert 10 << 20 < peak <= metrics["memory_limit_bytes"], (peak, metrics)
			assert metrics["memory_bytes"] <= metrics["memory_limit_bytes"], metrics
			assert sum_of(agent.segments(), "service=^crowd$") > 0


harness.main()
