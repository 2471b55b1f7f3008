"""Attaching to running processes: who is sampled, when it ends, that nothing is left behind."""

import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import harness
import recording
from attaching import BEGINNING, NOBODY, Target, attach, open_to_nobody, process_seconds, roots, wait_until


def truth_of(program):
	return harness.check(harness.run(program, 1)).out


def refusal(pid, prefix=(), sonde=harness.SONDE):
	"""What is said of a process that can't be attached to."""
	recording.needs_sampling()
	done = harness.check(harness.run(*prefix, sonde, "record", "-o", os.devnull, "-p", pid), 125)
	assert len(done.err.splitlines()) == 1, done
	return done.err


def test_shares(folder):
	program = recording.program(folder, "shares")
	with Target(folder, program, 10**9) as target:
		r = attach(folder, target.pid, seconds=1)
	r.check_truth(truth_of(program))
	r.check_whole()
	r.check_captured()
	assert r.json("--view", "stats")["rows"]


@harness.takes_long
def test_without_privileges(folder):
	program = recording.program(folder, "shares")
	sonde = open_to_nobody(folder)
	with Target(folder, *NOBODY, program, 10**9) as target:
		wait_until(lambda: process_seconds(target.pid) > 0.05)
		r = attach(folder, target.pid, prefix=NOBODY, sonde=sonde)
	r.check_truth(truth_of(program))
	r.check_whole()
	r.check_captured(0.9)


@harness.takes_long
def test_all_threads(folder):
	program = recording.program(folder, "crowd")
	with Target(folder, program, 40, 4, ready="ready") as target:
		r = attach(folder, target.pid, seconds=1)
	r.check_share("heavy", 0.75)
	r.check_share("light", 0.25)
	r.check_captured()
	threads = roots(r, "thread")
	assert len([name for name, share in threads.items() if share > 0.1]) == 4, threads


@harness.takes_long
def test_threads_that_last_keep_clocks_of_their_own(folder):
	"""What lies in the rings yet is not taken for what went by in short lives: then the CPUs' clocks,
	few descriptors, would take their place."""
	recording.needs_root()
	recording.needs_sampling()
	program = recording.program(folder, "crowd")
	with Target(folder, program, 40, 4, ready="ready") as target:
		recorder = subprocess.Popen([harness.SONDE, "record", "-q", "-p", str(target.pid), "-o",
			folder / "test.prof"])
		least = process_seconds(target.pid) + 1
		wait_until(lambda: process_seconds(target.pid) >= least)
		descriptors = len(os.listdir(f"/proc/{recorder.pid}/fd"))
		recorder.send_signal(signal.SIGINT)
		assert recorder.wait(timeout=60 * harness.PATIENCE) == 0
	assert descriptors > 45 * os.cpu_count(), descriptors


def check_children(folder, program):
	loop = f"while :; do {program} 32 >/dev/null; done"
	with Target(folder, "sh", "-c", f"({loop}) & ({loop}) & wait") as target:
		wait_until(lambda: recording.children_seconds(target.pid) > 0.01)
		loops = pathlib.Path(f"/proc/{target.pid}/task/{target.pid}/children").read_text().split()
		r = attach(folder, target.pid, seconds=2, used_by=list(map(int, loops)))
	# Beside the work there are forks and execs, which are libc's and the kernel's.
	shares = [r.share(name) for name in ("in_parent", "in_fork", "in_exec", "in_vfork")]
	mean = sum(shares) / 4
	slack = 0.1 * mean + 4 * math.sqrt(mean / r.total)
	assert mean * r.total > 50 and max(abs(share - mean) for share in shares) < slack, (shares, r.total)


@harness.takes_long
def test_children_there_and_to_come(folder):
	recording.needs_sampling()
	program = recording.program(folder, "processes")
	# So short a life is sampled by clocks on the CPUs, which are true of who is alone there.
	recording.patiently(lambda: check_children(folder, program))


@harness.takes_long
def test_several_processes(folder):
	program = recording.program(folder, "shares")
	with Target(folder, program, 10**9) as one, Target(folder, program, 10**9) as two:
		r = attach(folder, f"{one.pid},{two.pid}")
		shares = roots(r)
	for target in (one, two):
		assert 0.25 < shares[f"shares ({target.pid})"] < 0.75, shares


@harness.takes_long
def test_processes_by_name(folder):
	"""All of that name and no other, however long it is; a number is a process id."""
	program = recording.program(folder, "shares")
	name, longer = "by-name", "by-name-and-much-longer"
	for copy in (name, longer):
		shutil.copy(program, folder / copy)
	with Target(folder, folder / name, 10**9) as one, Target(folder, folder / name, 10**9) as two, \
			Target(folder, folder / longer, 10**9) as other:
		# Until its exec a target is called as we are.
		wait_until(lambda: all(process_seconds(t.pid) > 0.05 for t in (one, two, other)))
		r = attach(folder, name, used_by=(one.pid, two.pid))
		# A busy machine may have lost samples of either.
		shares = [root for root in roots(r) if not root.startswith("[lost]")]
		pids = ", ".join(str(pid) for pid in sorted((one.pid, two.pid)))
		assert f"sonde: recording processes {pids}\n" in r.err, r.err
		assert sorted(shares) == sorted(f"{name} ({t.pid})" for t in (one, two)), shares
		mixed = attach(folder, f"{longer},{one.pid},{name}", used_by=(one.pid, two.pid, other.pid))
		assert len([root for root in roots(mixed) if not root.startswith("[lost]")]) == 3, roots(mixed)
	assert "no running process is called 'by-name'" in refusal(name)
	assert "found nothing" in refusal("1,")


def system_part(pid):
	"""CPU time of a process so far, in ticks: its own, and the kernel's for it."""
	fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
	return int(fields[11]), int(fields[12])


@harness.takes_long
def test_short_lived_threads(folder):
	recording.needs_root()
	program = recording.program(folder, "churn")
	with Target(folder, program, 10**8) as target:
		before = system_part(target.pid)
		r = attach(folder, target.pid, seconds=2)
		user, system = (now - then for now, then in zip(system_part(target.pid), before))
	# What is missing to the whole is the kernel's: making and ending them. How much that is, the system tells.
	assert r.share("brief") > 0.95 - 1.3 * system / (user + system), (r.share("brief"), user, system)
	assert r.share("brief") > 0.6, r.share("brief")
	check_told(r)


def test_it_ends_with_the_process(folder):
	program = recording.program(folder, "fate")
	with Target(folder, program, harness.work(600) + 1000 * BEGINNING, "exit", 3) as target:
		r = attach(folder, target.pid, seconds=60)
		assert target.process.wait(timeout=60 * harness.PATIENCE) == 3
	assert r.share("work_for") > 0.9
	assert "went on" not in r.err, r.err


@harness.takes_long
def test_it_ends_with_the_last_process(folder):
	program = recording.program(folder, "fate")
	first = harness.work(200) + 1000 * BEGINNING
	longer = harness.work(600, least=600)
	with Target(folder, program, first, "exit", 0) as one, \
		Target(folder, program, first + longer, "exit", 0) as two:
		r = attach(folder, f"{one.pid},{two.pid}", seconds=60, used_by=[two.pid])
	# The recorder may take BEGINNING seconds of either; it has the rest of both.
	assert r.stats["counted"] > 0.85 * (longer + harness.work(200)), r.stats


@harness.takes_long
def test_signals_and_durations_end_it_and_nothing_else(folder):
	program = recording.program(folder, "crowd")
	with Target(folder, program, 1, 1, ready="ready") as target:
		for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
			r = attach(folder, target.pid, seconds=0.2, name=f"{number}.prof", end=number)
			assert r.stats["counted"] > 100, r.stats
			assert "detached" not in r.err, r.err
		begin = time.monotonic()
		path = folder / "duration.prof"
		done = harness.sonde("record", "-p", target.pid, "--duration", "300ms", "-o", path)
		harness.check(done)
		# Not for ever, nor 300 s; a busy machine needs some to begin and to end.
		assert 0.3 <= time.monotonic() - begin < 60
		assert target.process.poll() is None


def test_a_duration_of_a_command(folder):
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	running = recording.start(folder, program, harness.work(1500, least=1500), "file", mark, options=("--duration", "300ms"))
	assert running.end() == 0, running.err
	assert "detached" in running.err and not mark.exists(), running.err
	wait_until(mark.exists)


@harness.takes_long
def test_as_long_as_a_command(folder):
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	other = recording.program(folder, "fate")
	path = folder / "test.prof"
	with Target(folder, program, 10**9) as target:
		done = harness.sonde("record", "-p", target.pid, "-o", path, "--", other, harness.work(300), "exit", 7)
		harness.check(done, 7)
		assert target.process.poll() is None
	r = recording.Recording(path, done)
	assert r.share("own") > 0.3
	assert r.share("work_for") == 0


def test_processes_that_cannot_be(folder):
	assert "no such process: 4194303" in refusal(4194303)
	child = subprocess.Popen(["true"])
	wait_until(lambda: ") Z " in pathlib.Path(f"/proc/{child.pid}/stat").read_text())
	assert "has ended" in refusal(child.pid)
	child.wait()
	program = recording.program(folder, "crowd")
	with Target(folder, program, 1, 1, ready="ready") as target:
		threads = [int(t) for t in os.listdir(f"/proc/{target.pid}/task")]
		thread = max(t for t in threads if t != target.pid)
		assert f"a thread of process {target.pid}" in refusal(thread)
	kernel = [p for p in pathlib.Path("/proc").glob("[0-9]*/comm")
		if p.parent.name == "2" and p.read_text() == "kthreadd\n"]
	if kernel:
		assert "sonde record -a" in refusal(2)


def test_processes_of_others(folder):
	program = recording.program(folder, "crowd")
	hidden = harness.compile_c(folder, "#include <stdio.h>\n#include <sys/prctl.h>\n"
		"#include <unistd.h>\nint main(void) { prctl(PR_SET_DUMPABLE, 0);\n"
		'puts("ready"); fflush(stdout); for (;;) pause(); }', name="hidden")
	sonde = open_to_nobody(folder)
	with Target(folder, program, 1, 1, ready="ready") as target:
		said = refusal(target.pid, NOBODY, sonde)
		assert f"sudo sonde record -p {target.pid}" in said and "crowd" in said, said
	with Target(folder, *NOBODY, hidden, ready="ready") as target:
		assert "sudo sonde record -p" in refusal(target.pid, NOBODY, sonde)


def ask(target):
	"""A crowd's rounds of work per CPU time since it was asked before."""
	before = len(target.out().splitlines())
	os.kill(target.pid, signal.SIGUSR1)
	wait_until(lambda: len(target.out().splitlines()) > before)
	done, used_ns = map(int, target.out().splitlines()[-1].split()[1:])
	return done / used_ns


def is_as_fast_as(target, other, seconds=0.4):
	"""Whether it does as much work per CPU time, with both at work: the host's other guests slow
	either."""
	for _ in range(6):
		ask(target), ask(other)
		least = process_seconds(target.pid) + seconds
		wait_until(lambda: process_seconds(target.pid) >= least)
		if ask(target) > 0.8 * ask(other):
			return True
	return False


def what_can_be_seen(pid):
	process = pathlib.Path(f"/proc/{pid}")
	status = (process / "status").read_text()
	# Not SigQ: that is what all processes of its user have queued, and of the same user are others.
	kept = re.findall(r"^(?:Threads|Sig(?!Q:)\w+|Shd\w+|TracerPid|Cpus_allowed|Seccomp):.*", status, re.M)
	fds = sorted((fd.name, os.readlink(fd)) for fd in (process / "fd").iterdir())
	return kept, fds, (process / "limits").read_text(), (process / "maps").read_text()


@harness.takes_long
def test_nothing_is_left_behind(folder):
	program = recording.program(folder, "crowd")
	with Target(folder, program, 30, 1, ready="ready") as target, \
		Target(folder, program, 30, 1, ready="ready") as other:
		before = what_can_be_seen(target.pid)
		for end in (signal.SIGINT, signal.SIGKILL):
			attach(folder, target.pid, seconds=0.3, name=f"{end}.prof", end=end,
				status=-end if end == signal.SIGKILL else 0)
			assert what_can_be_seen(target.pid) == before
		assert is_as_fast_as(target, other)


@harness.takes_long
def test_a_killed_recorder_leaves_a_good_file(folder):
	program = recording.program(folder, "shares")
	with Target(folder, program, 10**9) as target:
		r = attach(folder, target.pid, seconds=1, end=signal.SIGKILL, status=-signal.SIGKILL)
		assert target.process.poll() is None
	assert r.stats["counted"] > 600, r.stats


@harness.takes_long
def test_twice_at_once(folder):
	program = recording.program(folder, "shares")
	with Target(folder, program, 10**9) as target:
		second = folder / "second.prof"
		other = subprocess.Popen([harness.SONDE, "record", "-q", "-p", str(target.pid), "-o", second])
		r = attach(folder, target.pid, seconds=1)
		other.send_signal(signal.SIGINT)
		assert other.wait(timeout=60 * harness.PATIENCE) == 0
	for one in (r, recording.Recording(second)):
		one.check_truth(truth_of(program))
		one.check_captured()


def test_our_own_parent(folder):
	recording.needs_sampling()
	program = recording.program(folder, "fate")
	path = folder / "test.prof"
	# The shell works, and so does the command, which is a descendant of the shell by way of sonde.
	done = harness.run("sh", "-c",
		f"{program} 60000 exit 0 & {harness.SONDE} record -p $$ -o {path} -- {program} {harness.work(300)} exit 5;"
		"s=$?; kill $!; exit $s")
	harness.check(done, 5)
	r = recording.Recording(path, done)
	shares = roots(r)
	assert len([n for n, s in shares.items() if n.startswith("fate") and s > 0.2]) == 2, shares
	assert not [n for n in shares if n.startswith("sonde")], shares


@harness.takes_long
def test_targets_that_exit_at_once(folder):
	recording.needs_sampling()
	for i in range(1000 if harness.LONG else 100):
		target = subprocess.Popen(["sleep", f"{(i % 20) / 1000}"])
		done = harness.run(harness.SONDE, "record", "-q", "-o", folder / "test.prof", "-p", target.pid)
		assert done.status in (0, 125), done
		assert done.status == 0 or "process" in done.err, done
		target.wait()


@harness.takes_hours
def test_storms(folder):
	recording.needs_sampling()
	program = recording.program(folder, "storm")
	for what in ("forks", "tree", "vforks", "chain", "execs"):
		left = "200 0" if what == "execs" else "300"
		with Target(folder, "sh", "-c", f"while :; do {program} {what} {left}; done") as target:
			wait_until(lambda: what in target.out())
			# A storm's time counts when it is over, and the first one is not recorded from its beginning.
			seconds = max(1, 3 * process_seconds(target.pid))
			r = attach(folder, target.pid, seconds=seconds, name=f"{what}.prof")
			assert r.stats["counted"] > 50, (what, r.stats)
			r.check_whole(0.97)
		words = [line for line in target.out().splitlines() if line.startswith(what)]
		expected = "0" if what == "execs" else "300"
		assert all(line.split()[1] == expected for line in words), words


@harness.takes_long
def test_threads_made_while_attaching_are_sampled_once(folder):
	recording.needs_sampling()
	program = recording.program(folder, "chain_of_crowds", source="storm")
	with Target(folder, "sh", "-c", f"while :; do {program} crowd 60; done") as target:
		for i in range(10):
			path = folder / f"{i}.prof"
			options = ("--duration", "100ms", "-o", path)
			harness.check(harness.sonde("record", "-p", target.pid, *options))
			r = recording.Recording(path)
			cpus = os.cpu_count()
			assert r.stats["counted"] <= 1.1 * cpus * r.stats["duration_ns"] / recording.INTERVAL_NS


def check_both_busy(r):
	"""Two threads worked, sampled by clocks on the CPUs. Which part of its time such a clock finds a
	program at work is exact only for a program that runs alone: see record_machine.py."""
	threads = roots(r, "thread")
	assert len([name for name, share in threads.items() if share > 0.1]) == 2, threads
	check_told(r)


def check_told(r):
	"""What was lost, and what is in no sample, is said where it is worth it. How much it is, is the
	machine's: such a clock samples all that is at work, and a recorder that gets no CPU for longer than
	the rings hold of that loses some (at a load of 13, with sanitizers, we have seen 2 %)."""
	stats = r.stats
	said = "samples were lost" in r.err
	assert said == (100 * stats["lost"] > stats["counted"] + stats["lost"]), (stats, r.err)
	missing = stats["expected"] - stats["counted"] - stats["lost"]
	said = "of the CPU time was not sampled" in r.err
	assert said == (missing >= 20 and 50 * missing >= stats["expected"]), (stats, r.err)


FEW_DESCRIPTORS = ["prlimit", "--nofile=256:256"]


@harness.takes_long
def test_few_descriptors(folder):
	program = recording.program(folder, "crowd")
	sonde = open_to_nobody(folder)
	with Target(folder, *NOBODY, program, 500, 2, ready="ready") as target:
		wait_until(lambda: process_seconds(target.pid) > 0.3)
		r = attach(folder, target.pid, prefix=[*NOBODY, *FEW_DESCRIPTORS], sonde=sonde)
	assert "threads were not sampled" in r.err, r.err
	assert [note for note in r.notes if "threads were not sampled" in note["text"]], r.notes
	# Those that work are there all the same.
	r.check_share("heavy", 0.75)
	r.check_captured(0.9)


@harness.takes_long
def test_few_descriptors_as_root(folder):
	recording.needs_root()
	program = recording.program(folder, "crowd")
	with Target(folder, program, 500, 2, ready="ready") as target:
		r = attach(folder, target.pid, prefix=FEW_DESCRIPTORS)
	assert "threads were not sampled" not in r.err, r.err
	r.check_share("heavy", 0.75)
	check_both_busy(r)


@harness.takes_long
def test_thousands_of_threads(folder):
	recording.needs_root()
	program = recording.program(folder, "crowd")
	with Target(folder, program, 3000, 2, ready="ready") as target:
		r = attach(folder, target.pid)
	r.check_share("heavy", 0.75)
	check_both_busy(r)


def unshared(folder, *options):
	recording.needs_root()
	if harness.run("unshare", *options, "true").status != 0:
		raise harness.Skip("namespaces can't be made here")
	return ["unshare", *options]


def descendant(pid, name):
	"""The process of that name below a process."""
	def find():
		todo = [pid]
		while todo:
			path = pathlib.Path(f"/proc/{todo.pop()}")
			try:
				if (path / "comm").read_text() == name + "\n":
					return int(path.name)
				for task in (path / "task").iterdir():
					todo += map(int, (task / "children").read_text().split())
			except OSError:
				pass
		return None
	return wait_until(find)


@harness.takes_long
def test_another_pid_namespace(folder):
	program = recording.program(folder, "shares")
	prefix = unshared(folder, "-p", "-f", "--mount-proc", "--kill-child")
	with Target(folder, *prefix, program, 10**9) as target:
		pid = descendant(target.pid, "shares")
		r = attach(folder, pid)
	r.check_truth(truth_of(program))
	assert list(roots(r)) == [f"shares ({pid})"]


@harness.takes_long
def test_another_mount_namespace(folder):
	program = recording.program(folder, "shares")
	(folder / "inside").mkdir()
	prefix = unshared(folder, "-m")
	line = f"mount -t tmpfs none {folder}/inside && cp {program} {folder}/inside/only && " \
		f"exec {folder}/inside/only 1000000000"
	with Target(folder, *prefix, "sh", "-c", line) as target:
		pid = descendant(target.pid, "only")
		assert not (folder / "inside" / "only").exists()
		r = attach(folder, pid)
	r.check_truth(truth_of(program))
	r.check_whole()


USE_ONE_PID = """
import os, sys
pid = next(p for p in range(30000, 32000) if not os.path.exists(f"/proc/{p}"))
def run(*command):
	for _ in range(50):
		open("/proc/sys/kernel/ns_last_pid", "w").write(str(pid - 1))
		child = os.fork()
		if child == 0:
			if os.getpid() == pid:
				os.execv(command[0], command)
			os._exit(1)
		os.waitpid(child, 0)
		if child == pid:
			return
	sys.exit(77)
sys.stdin.readline()
run(sys.argv[1], sys.argv[3])
run(sys.argv[2], sys.argv[3], "exit", "0")
run(sys.argv[1], sys.argv[3])
"""


@harness.takes_long
def test_a_pid_that_is_used_again(folder):
	recording.needs_root()
	recording.needs_sampling()
	if not pathlib.Path("/proc/sys/kernel/ns_last_pid").exists():
		raise harness.Skip("pids can't be chosen here")
	programs = [str(recording.program(folder, name)) for name in ("shares", "fate")]
	path = folder / "test.prof"
	with subprocess.Popen(["python3", "-c", USE_ONE_PID, *programs, str(harness.work(200))], stdin=subprocess.PIPE,
		stdout=subprocess.DEVNULL) as target:
		recorder = subprocess.Popen([harness.SONDE, "record", "-q", "-p", str(target.pid), "-o", path])
		time.sleep(0.3)
		target.stdin.write(b"\n")
		target.stdin.close()
		status = target.wait(timeout=60 * harness.PATIENCE)
		assert recorder.wait(timeout=60 * harness.PATIENCE) == 0
	if status == 77:
		raise harness.Skip("others took the pid each time")
	shares = roots(recording.Recording(path))
	names = sorted(name for name in shares if name.startswith(("shares", "fate")))
	assert len(names) == 2 and names[0].split()[1] == names[1].split()[1], shares


@harness.takes_long
def test_a_deleted_program(folder):
	program = recording.program(folder, "shares")
	copy = folder / "copy"
	shutil.copy(program, copy)
	with Target(folder, copy, 10**9) as target:
		wait_until(lambda: process_seconds(target.pid) > 0.02)
		copy.unlink()
		r = attach(folder, target.pid)
	r.check_truth(truth_of(program))
	r.check_whole()


@harness.takes_long
def test_a_replaced_program(folder):
	program = recording.program(folder, "shares")
	copy = folder / "copy"
	shutil.copy(program, copy)
	with Target(folder, copy, 10**9) as target:
		wait_until(lambda: process_seconds(target.pid) > 0.02)
		copy.unlink()
		shutil.copy(recording.program(folder, "fate"), copy)
		r = attach(folder, target.pid)
	r.check_truth(truth_of(program))


harness.main()
