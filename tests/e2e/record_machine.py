"""The whole machine: all processes, told apart; idle CPUs, rights, ends."""

import contextlib
import math
import os
import pathlib
import signal
import subprocess
import time

import harness
import recording
from attaching import NOBODY, Target, attach, open_to_nobody, process_seconds, roots, wait_until


def refusal():
	"""Why the whole machine can't be recorded by us, or an empty text."""
	recording.needs_sampling()
	done = harness.sonde("record", "-q", "-a", "--duration", "1ms", "-o", os.devnull)
	return done.err.strip() if done.status else ""


def record_machine(folder, *options, name="test.prof", status=0, command=(), timeout=60):
	if refusal():
		raise harness.Skip(refusal())
	path = folder / name
	done = harness.run(harness.SONDE, "record", "-a", *options, "-o", path, *command, timeout=timeout)
	return recording.Recording(path, harness.check(done, status))


def record_while(folder, targets, seconds=0.4):
	"""Records the machine until each of these has used so much CPU time."""
	if refusal():
		raise harness.Skip(refusal())
	path = folder / "test.prof"
	process = subprocess.Popen([harness.SONDE, "record", "-q", "-a", "-o", path])
	least = {pid: process_seconds(pid) + seconds for pid in targets}
	wait_until(lambda: all(process_seconds(pid) >= least[pid] for pid in targets), 120)
	process.send_signal(signal.SIGINT)
	assert process.wait(timeout=60 * harness.PATIENCE) == 0
	return recording.Recording(path)


def told(r):
	"""Samples that were due and are missing, as the notes report: on a busy machine a recorder that has to
	wait for its CPU loses some, of any thread."""
	return max(0, r.stats["expected"] - r.stats["counted"])


def below(r, root):
	"""{function: inclusive share of what is below that root, or those roots of that name}, and of how many
	samples these are."""
	total, shares = 0, {}
	for line in r.report("--format", "folded", "--roots", "process", "--metric", "samples").splitlines():
		path, _, samples = line.rpartition(" ")
		frames = path.split(";")
		if root not in (frames[0], frames[0].rpartition(" (")[0]):
			continue
		total += int(samples)
		for name in set(frames[1:]):
			shares[name] = shares.get(name, 0) + int(samples)
	assert total, root
	return {name: samples / total for name, samples in shares.items()}, total


def check_whole(r, root, least=0.95):
	"""Hardly a stack of theirs was not walked to its root; of other programs we know nothing."""
	shares, total = below(r, root)
	assert shares.get("[truncated]", 0) <= 1 - least, (root, shares["[truncated]"], total)


def check_below(r, root, name, truth):
	check_whole(r, root)
	shares, total = below(r, root)
	slack = 4 * math.sqrt(truth * (1 - truth) / total) + 0.04
	assert abs(shares[name] - truth) <= slack, (root, name, shares[name], truth, total)


@harness.takes_long
def test_processes_are_told_apart(folder):
	shares, crowd = recording.program(folder, "shares"), recording.program(folder, "crowd")
	with Target(folder, shares, 10**9) as one, Target(folder, crowd, 3, 2, ready="ready") as two:
		r = record_while(folder, (one.pid, two.pid), 0.5)
	for name, pid in ("shares", one.pid), ("crowd", two.pid):
		samples = roots(r)[f"{name} ({pid})"] * r.total
		assert samples > 350 - told(r), (name, samples, r.stats)
	check_below(r, f"shares ({one.pid})", "own", 0.5)
	check_below(r, f"crowd ({two.pid})", "heavy", 0.75)


def test_as_long_as_a_command(folder):
	program = recording.program(folder, "fate")
	r = record_machine(folder, command=("--", program, harness.work(500), "exit", 7), status=7)
	fates = [share for name, share in roots(r).items() if name.startswith("fate (")]
	assert fates and 0.7 * harness.work(500) - told(r) < fates[0] * r.total < 1.8 * harness.work(500), (fates, r.total, r.stats)


def test_ctrl_c_and_duration(folder):
	begin = time.monotonic()
	record_machine(folder, "--duration", "300ms")
	# Not for ever, nor 300 s; a busy machine needs some to begin and to end.
	assert 0.3 <= time.monotonic() - begin < 60
	process = subprocess.Popen([harness.SONDE, "record", "-q", "-a", "-o", folder / "two.prof"])
	wait_until((folder / "two.prof").exists)
	time.sleep(0.1)
	process.send_signal(signal.SIGINT)
	assert process.wait(timeout=60 * harness.PATIENCE) == 0


def test_idle_is_not_counted(folder):
	r = record_machine(folder, "--duration", "1s")
	stats = r.stats
	# Accounts in ticks; what the host takes is in no account, but in the clocks.
	assert stats["counted"] <= 1.2 * stats["expected"] + 100, stats
	assert not [name for name in roots(r) if name.startswith("swapper")], roots(r)


@harness.takes_long
def test_short_lived_processes(folder):
	program = recording.program(folder, "storm")
	with Target(folder, "sh", "-c", f"while :; do {program} forks 200; done") as target:
		wait_until(lambda: "forks" in target.out())
		r = record_machine(folder, "--duration", "1s")
	shares, total = below(r, "storm")
	assert shares["little"] > 0.03, (shares, total)
	check_whole(r, "storm")


def test_another_pid_namespace_has_our_ids(folder):
	recording.needs_root()
	program = recording.program(folder, "shares")
	prefix = ["unshare", "-p", "-m", "-f", "--mount-proc", "--kill-child"]
	if harness.run(*prefix, "true").status != 0:
		raise harness.Skip("namespaces can't be made here")
	with Target(folder, *prefix, program, 10**9) as target:
		def child():
			text = pathlib.Path(f"/proc/{target.pid}/task/{target.pid}/children").read_text()
			return int(text.split()[0]) if text.split() else None
		pid = wait_until(child)
		r = record_while(folder, (pid,))
	assert f"shares ({pid})" in roots(r), roots(r)
	assert "own_a" in below(r, f"shares ({pid})")[0]


def test_kernel_threads_have_names(folder):
	r = record_machine(folder, "--duration", "1s", command=("--", "sh", "-c",
		f"for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of={folder}/x bs=1M count=20 conv=fsync; done"))
	known = set()
	for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
		# Others end meanwhile; who has ended, and is waited for, has no command line either.
		with contextlib.suppress(OSError):
			parent = path.with_name("stat").read_text().rpartition(")")[2].split()[1]
			if path.read_bytes() == b"" and parent in ("0", "2"):
				known.add(path.parent.name)
	kernel = [name for name in roots(r)
		if name.rpartition(" (")[2][:-1] in known and "(" in name]
	if not kernel:
		raise harness.Skip("no thread of the kernel has run")
	for name in kernel:
		assert name.rpartition(" (")[0], kernel
		assert "[truncated]" not in below(r, name)[0], name


def test_without_rights(folder):
	recording.needs_sampling()
	sonde = open_to_nobody(folder)
	if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 1:
		raise harness.Skip("everybody may record the whole machine here")
	done = harness.run(*NOBODY, sonde, "record", "-a", "-o", folder / "never.prof", "true")
	harness.check(done, 125)
	assert len(done.err.splitlines()) == 1, done
	assert "sudo sonde record -a" in done.err and "perf_event_paranoid=0" in done.err, done
	assert not (folder / "never.prof").exists()


@harness.takes_long
def test_many_processes_take_no_memory(folder):
	"""A recorder that forgets the dead is as large after many processes as after some."""
	if refusal():
		raise harness.Skip(refusal())
	program = recording.program(folder, "storm")

	def peak_mib(count):
		path = folder / f"{count}.prof"
		done = harness.check(harness.sonde("record", "-a", "-o", path, "--", program, "forks", count))
		text = done.err[done.err.index("at most ") + len("at most "):]
		return float(text.split()[0])
	# What others on the machine begin meanwhile is looked at too, and held; the more, the longer it goes on.
	seen = []
	for _ in range(5):
		few, many = peak_mib(500), peak_mib(40000 if harness.LONG else 4000)
		if many < few + 16:
			return
		seen.append((few, many))
	raise AssertionError(seen)


def own_seconds():
	"""CPU time of this program and of those that it has waited for."""
	return sum(os.times()[:4])


def machine_seconds():
	"""CPU time of all programs."""
	with open("/proc/stat") as stat:
		user, nice, system = map(int, stat.readline().split()[1:4])
	return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def alone(record, targets):
	"""A recording of targets while next to nobody else is at work. The clock of a CPU finds who is at
	work when it ticks, and next to tests of the preload engine we have seen 0.66 to 1.13 of the samples that
	were due. The ticks were there, and went to others; that these begin and end in step with the clock
	is what we suppose, and have not shown."""
	if refusal():
		raise harness.Skip(refusal())

	def ours():
		return own_seconds() + sum(map(process_seconds, targets))
	for _ in range(3):
		all_before, ours_before = machine_seconds(), ours()
		r = record()
		ours_used = ours() - ours_before
		if machine_seconds() - all_before - ours_used < 0.03 * ours_used + 0.03:
			return r
	raise harness.Skip("others are at work on this machine")


@harness.takes_hours
def test_clocks_on_the_cpus_take_all_of_a_process(folder):
	"""They are what a process with many threads is attached to by, or if there are few descriptors."""
	program = recording.program(folder, "crowd")
	for idle, prefix in ((3000, ()), (500, ["prlimit", "--nofile=256:256"])):
		with Target(folder, program, idle, 2, ready="ready") as target:
			r = alone(lambda: attach(folder, target.pid, seconds=1, prefix=prefix), [target.pid])
		r.check_captured()


@harness.takes_hours
def test_short_lived_threads_are_captured(folder):
	program = recording.program(folder, "churn")
	with Target(folder, program, 10**8) as target:
		r = alone(lambda: attach(folder, target.pid, seconds=2), [target.pid])
	r.check_captured(0.9)


harness.main()
