"""Recording without privileges, and programs that have more of them than we."""

import errno
import os
import re
import shutil

import harness
import recording

PARANOID = recording.PARANOID


@harness.takes_long
def test_without_privileges(folder):
	program = recording.program(folder, "shares")
	r = recording.as_nobody(folder, program, harness.work(640))
	harness.check(r.done)
	r.check_truth(r.done.out)
	r.check_whole()
	# How CPU time divides into the kernel's, which is not sampled, and ours is the system's guess.
	r.check_captured(0.9)


@harness.takes_long
def test_without_lockable_memory(folder):
	program = recording.program(folder, "deep")
	r = recording.as_nobody(folder, program, 5000, harness.work(750), before="ulimit -l 0;")
	harness.check(r.done)
	r.check_whole()
	# How CPU time divides into the kernel's, which is not sampled, and ours is the system's guess.
	r.check_captured(0.9)


@harness.takes_long
def test_deep_stacks_beside_busy_sessions(folder):
	"""They are read from the process, by a sonde that shares a CPU with it. If it came shortly before a tick, the
	kernel would be switching back at the tick, and there would be no sample."""
	program = recording.program(folder, "deep")
	with recording.load(sessions=True):
		r = recording.as_nobody(folder, program, 5000, harness.work(750))
	harness.check(r.done)
	r.check_whole()
	assert r.stats["counted"] * recording.INTERVAL_NS >= 0.96 * r.stats["cpu_ns"], r.stats


def test_threads_too_short_to_be_sampled_are_told(folder):
	if int(PARANOID.read_text()) < 1:
		raise harness.Skip(f"{PARANOID} lets everybody sample the whole machine")
	program = recording.program(folder, "churn")
	# Over before a quicker clock could make up for it; but where the program waits for a CPU that may
	# come in time, and then next to nothing is missing (254 of 259 samples there, at a load of 12).
	r = recording.as_nobody(folder, program, harness.work(36))
	harness.check(r.done)
	missing = r.stats["expected"] - r.stats["counted"] - r.stats["lost"]
	is_told = "shorter than the interval" in r.done.err
	assert is_told == (missing >= 20 and 50 * missing >= r.stats["expected"]), (r.stats, r.done)


@harness.takes_long
def test_most_of_threads_too_short_is_sampled_all_the_same(folder):
	"""By a quicker clock, once it is seen that lives are short; a sample weighs its interval."""
	if int(PARANOID.read_text()) < 1:
		raise harness.Skip(f"{PARANOID} lets everybody sample the whole machine")
	program = recording.program(folder, "churn")
	r = recording.as_nobody(folder, program, harness.work(2400, least=1200))
	harness.check(r.done)
	user_ns = r.stats["cpu_ns"]
	sampled_ns = r.json("--metric", "cpu-time")["total"]
	assert 0.8 * user_ns < sampled_ns < 1.05 * user_ns, (sampled_ns, user_ns)
	assert r.stats["counted"] > 2 * user_ns / recording.INTERVAL_NS, r.stats


def test_kernel_time_that_cannot_be_sampled_is_told(folder):
	if int(PARANOID.read_text()) < 2:
		raise harness.Skip(f"{PARANOID} lets everybody sample the kernel")
	r = recording.as_nobody(folder, "dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=3000")
	harness.check(r.done)
	assert "kernel code could not be sampled" in r.done.err, r.done
	assert any("kernel code" in note["text"] for note in r.notes), r.notes


def test_a_set_uid_program_goes_on_to_its_end(folder):
	program = recording.program(folder, "fate")
	powerful = folder / "powerful"
	program.rename(powerful)
	powerful.chmod(0o4755)
	mark = folder / "mark"
	r = recording.as_nobody(folder, powerful, harness.work(400), "file", mark)
	harness.check(r.done)
	assert mark.exists()
	if mark.stat().st_uid != 0:
		raise harness.Skip("the folder is on a file system without set-uid programs")
	assert "set-uid" in r.done.err, r.done
	assert r.stats["counted"] < 50


@harness.takes_long
def test_a_child_that_is_set_uid_spoils_nothing(folder):
	program = recording.program(folder, "fate")
	powerful = folder / "powerful"
	shutil.copy(program, powerful)
	powerful.chmod(0o4755)
	mark = folder / "mark"
	r = recording.as_nobody(folder, "sh", "-c",
		f"'{powerful} {harness.work(200)} file {mark}; {program} {harness.work(200)} exit 6'")
	harness.check(r.done, 6)
	assert mark.exists()
	assert r.share("work_for") > 0.5
	assert r.stats["counted"] > 0.75 * harness.work(200)


SLEEPS = "a preloaded library is in the command's environment"


def cut_share(r):
	return sum(count for frames, count in r.stacks if "[truncated]" in frames) / r.stats["counted"]


def apart(folder, *command, options=()):
	"""Records with sonde and the command on a CPU each. On one CPU, sonde stops the command at a sample and
	reads its stack at leisure."""
	cpus = sorted(os.sched_getaffinity(0))
	if len(cpus) < 2:
		raise harness.Skip("there is one CPU only")
	return recording.as_nobody(folder, "taskset", "-c", cpus[1], *command, options=options, library=True,
		before=f"taskset -cp {cpus[0]} $$ >{os.devnull};")


def cut_without_library(folder, program):
	"""The share of stacks that are cut where no library writes them down."""
	alone = apart(folder, program, harness.work(1500), options=["--engine", "snapshot"])
	harness.check(alone.done)
	share = cut_share(alone)
	if share < 0.05:
		raise harness.Skip("the kernel's copies reach far enough here")
	assert "setcap cap_bpf" in alone.done.err, alone.done
	return share


def check_chasm(r, without_library):
	"""Few stacks are cut, and as many samples are there as without the library."""
	harness.check(r.done)
	assert r.done.err.count(SLEEPS) == 1, r.done
	# Those by which it was found that the library is needed: on a busy machine it takes a while until
	# the first of them is looked at.
	assert cut_share(r) <= without_library / 3, (cut_share(r), without_library, r.done)
	bottoms = [frames for frames, _ in r.stacks if frames[-1:] == ["bottom"]]
	assert bottoms and all(frames.count("level") == 2 for frames in bottoms if frames[0] != "[truncated]"), r.stacks
	r.check_captured(0.9)


@harness.takes_long
def test_stacks_beyond_the_kernel_s_copy_are_whole(folder):
	"""A library in the target writes them down, from the first one on that was cut."""
	program = recording.program(folder, "chasm")
	share = cut_without_library(folder, program)
	recording.patiently(lambda: check_chasm(
		apart(folder, program, harness.work(2000)), share))


@harness.takes_long
def test_threads_and_processes_of_one_that_was_woken_are_awake(folder):
	program = recording.program(folder, "chasm")
	share = cut_without_library(folder, program)
	for command in ([program, harness.work(400), 4, 2],
			["sh", "-c", f"'for i in 1 2 3 4; do {program} {harness.work(400)}; done'"]):
		recording.patiently(lambda: check_chasm(apart(folder, *command), share))


@harness.takes_long
def test_a_library_that_sleeps_does_nothing(folder):
	program = recording.program(folder, "preload_sleeps")
	r = recording.as_nobody(folder, program, 300, library=True)
	harness.check(r.done)
	assert r.done.err.count(SLEEPS) == 1, r.done
	# Times that it was woken from its sleeps.
	assert int(r.done.out) == 0, r.done
	for engine in "snapshot", "auto":
		r = recording.as_nobody(folder, "sh", "-c", "'echo $LD_PRELOAD; cat /proc/$$/timers'",
			options=["--engine", engine], library=True)
		assert ("libsonde-preload.so" in r.done.out) == (engine == "auto"), r.done
		assert "ID:" not in r.done.out and (SLEEPS in r.done.err) == (engine == "auto"), r.done
	# Root has no need of it, where BPF is to be had.
	r = recording.record(folder, "sh", "-c", "echo $LD_PRELOAD")
	if "exact stacks   yes" in harness.sonde("doctor").out:
		assert r.done.out == "\n" and SLEEPS not in r.done.err, r.done


def test_where_perf_events_are_forbidden(folder):
	deny = recording.program(folder, "deny_perf")
	output = folder / "never.prof"
	for code in (errno.EPERM, errno.EACCES, errno.ENOSYS):
		done = harness.run(deny, str(code), harness.SONDE, "record", "--engine", "snapshot",
			"-o", output, "true")
		if done.status == 77:
			raise harness.Skip("seccomp is not to be had here")
		harness.check(done, 125)
		assert len(done.err.splitlines()) == 1 and "seccomp" in done.err, done
		assert not output.exists()
		done = harness.check(harness.run(deny, str(code), harness.SONDE, "doctor"))
		assert "by a preloaded library" in done.out, done
		# What opens least comes first.
		cures = re.search("--cap-add PERFMON.*sudo sonde record -p PID.*seccomp=unconfined", done.out)
		assert cures, done
		# What takes perf events is not promised, nor sysctls that would change nothing.
		for what in ("exact stacks", "attaching", "whole machine", "events"):
			assert f"\n{what:14} no       not without perf events\n" in done.out, (what, done)
		assert "sysctl" not in done.out, done


def test_root_without_capabilities(folder):
	"""As in a container: setcap and sudo cure nothing there."""
	recording.needs_root()
	if not shutil.which("setpriv"):
		raise harness.Skip("there is no setpriv")
	bare = ["setpriv", "--inh-caps=-all", "--bounding-set=-bpf,-perfmon,-sys_admin,-sys_ptrace"]
	out = harness.check(harness.run(*bare, harness.SONDE, "doctor")).out
	assert "setcap" not in out, out
	for what, cure in (("exact stacks", "--cap-add BPF --cap-add PERFMON"), ("attaching", "--cap-add SYS_PTRACE")):
		assert re.search(rf"^{what} .*\n.*start the container with {cure}$", out, re.M), (what, out)


harness.main()
