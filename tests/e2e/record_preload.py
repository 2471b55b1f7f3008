"""Recording by the preloaded library, where perf events are refused."""

import errno
import os
import pathlib
import shutil
import signal
import time

import harness
import recording
from harness import check

PRELOAD = ["--engine", "preload"]


def record(folder, *command, **more):
	return recording.record(folder, *command, options=[*PRELOAD, *more.pop("options", [])], **more)


def check_weights(r, least=0.97):
	"""Samples weigh the CPU time that was used, however many they are."""
	weight, used = r.stats["cpu_time_ns"], r.stats["used_ns"]
	assert least * used - 3e6 <= weight <= 1.01 * used + 1e6, (weight, used)


def share(r, name):
	"""A function's part of the CPU time, by weight."""
	rows = r.json("--view", "functions", "--limit", "0")["rows"]
	whole = max(row["inclusive"] for row in rows)
	return sum(row["inclusive"] for row in rows if row["name"] == name) / whole


@harness.takes_long
def test_refusals_lead_to_the_library(folder):
	deny = recording.program(folder, "deny_perf")
	program = recording.program(folder, "shares")
	for code in (errno.EPERM, errno.EACCES, errno.ENOSYS):
		path = folder / "denied.prof"
		done = harness.run(deny, str(code), harness.SONDE, "record", "-o", path, "--", program,
			harness.work(250))
		if done.status == 77:
			raise harness.Skip("seccomp is not to be had here")
		check(done)
		said = [line for line in done.err.splitlines() if "sampling by a preloaded library" in line]
		assert len(said) == 1 and os.strerror(code) in said[0], done
		r = recording.Recording(path)
		assert r.share("main") > 0.9
		assert "own_a" in {frames[-1] for frames, _ in r.stacks}


def test_shares_are_what_was_programmed(folder):
	program = recording.program(folder, "shares")
	r = record(folder, program, harness.work(800))
	r.check_truth(r.done.out)
	r.check_whole()
	assert r.stats["counted"] >= 0.8 * r.stats["expected"], r.stats
	assert r.stats["counted"] <= 1.1 * r.stats["expected"] + 10, r.stats


@harness.takes_hours
def test_system_calls_draw_no_samples(folder):
	"""Signals that wait for the next return from a system call would find the program there."""
	for name, flags in ("calls", ()), ("calls_kept", ("-fno-optimize-sibling-calls",)):
		program = recording.program(folder, name, *flags, source="calls")
		for kind in range(5):
			def attempt():
				options = ["-F", "4000", "--clock", "virtual"]
				r = record(folder, program, kind, 1500, options=options)
				found, truth = share(r, "arithmetic"), float(r.done.out)
				if abs(found - truth) < 0.01 or recording.refusal():
					assert abs(found - truth) < 0.01, (name, kind, found, truth)
					return
				# On some virtual machines calls take longer than it seems to the program: as the kernel sees it.
				seen = recording.record(folder, program, kind, 1500, options=[*options, "--engine", "snapshot"],
					name="seen.prof").share("arithmetic")
				assert min(seen, truth) - 0.01 < found < max(seen, truth) + 0.01, (name, kind, found, truth, seen)
			# Interrupts of others on the machine are charged to what they interrupt.
			recording.patiently(attempt)


@harness.takes_long
def test_threads_have_their_shares_and_names(folder):
	program = recording.program(folder, "threads")
	r = record(folder, program, 8, harness.work(1000))
	for line in r.done.out.splitlines():
		name, _, truth = line.split()
		assert abs(share(r, name) - float(truth)) < 0.08, (name, share(r, name))
	r.check_whole()


@harness.takes_long
def test_recursion_of_65536_levels_is_walked_whole(folder):
	program = recording.program(folder, "deep")
	r = record(folder, "sh", "-c", f"ulimit -s unlimited && exec {program} 65536 {harness.work(1200)}")
	r.check_whole()
	rows = r.json("--view", "tree", "--collapse", "none", "--limit", "0")["rows"]
	assert sum(1 for row in rows if row["name"] == "level") >= 65536


@harness.takes_long
def test_holes_that_look_like_frames(folder):
	"""What is known of a stack is trusted until it has misled us, and then not for a while."""
	r = record(folder, recording.program(folder, "holes"), harness.work(2000, least=1000))
	cut = r.stats["critical"]
	assert cut <= 3 + r.stats["counted"] // 200, r.stats


@harness.takes_long
def test_frames_that_come_back(folder):
	"""Samples wait for the recorder. What it knows of a stack when it walks one is from the sample before."""
	r = record(folder, recording.program(folder, "returns"), harness.work(100), 12)
	work = r.working({"down", "up"})
	for name in ("down", "up"):
		assert abs(r.share(name, stacks=work) - 0.5) < 0.08, (name, r.share(name, stacks=work))
	assert r.stats["critical"] == 0, r.stats


@harness.takes_long
def test_a_recorder_that_gets_no_cpu(folder):
	"""Samples wait for it, two hundred and more: only what the program used beyond that is lost."""
	running = recording.start(folder, recording.program(folder, "shares"), harness.work(1000, least=1000), options=PRELOAD)
	pid = running.process.pid
	before = recording.wait_for_work(pid, 0.1)
	os.kill(pid, signal.SIGSTOP)
	recording.wait_for_work(pid, before + 0.15)
	os.kill(pid, signal.SIGCONT)
	used = recording.children_seconds(pid) - before
	assert running.end() == 0, running.err
	lost = running.recording.stats["lost"]
	assert lost <= max(0, used * 1e9 / recording.INTERVAL_NS - 200), (lost, used)


@harness.takes_long
def test_children_by_fork_exec_and_vfork(folder):
	program = recording.program(folder, "processes")
	r = record(folder, program, harness.work(800))
	truths = {line.split()[0]: float(line.split()[2]) for line in r.done.out.splitlines()}
	work = r.working(truths.keys())
	for name, truth in truths.items():
		assert abs(r.share(name, stacks=work) - truth) < 0.08, (name, r.share(name, stacks=work))
	r.check_whole()


@harness.takes_long
def test_threads_shorter_than_the_interval(folder):
	program = recording.program(folder, "churn")
	r = record(folder, program, harness.work(1200))
	truth = float(r.done.out.split()[1])
	assert share(r, "brief") > 0.9 * truth, (share(r, "brief"), truth)
	r.check_whole()


@harness.takes_long
def test_libraries_that_come_and_go(folder):
	one = recording.program(folder, "one.so", "-shared", "-fPIC", "-DCALLED_NAME=called_one",
		source="plugin")
	two = recording.program(folder, "two.so", "-shared", "-fPIC", "-DCALLED_NAME=called_two",
		source="plugin")
	program = recording.program(folder, "plugins", "-ldl")
	r = record(folder, program, harness.work(800), one, two)
	for name in ("called_one", "called_two"):
		assert abs(share(r, name) - 0.5) < 0.1, (name, share(r, name))
	r.check_whole()


@harness.takes_long
def test_handlers_on_a_stack_of_their_own(folder):
	program = recording.program(folder, "signal_stack")
	r = record(folder, program, harness.work(1000))
	r.check_whole(0.98)
	assert any("handler_level" in frames and "main" in frames for frames, _ in r.stacks)


def test_signals_work_as_without_it(folder):
	program = recording.program(folder, "preload_signals")
	r = record(folder, program, harness.work(400))
	assert r.done.out == "fine\n", r.done
	# Half of the work is done with all signals blocked.
	assert r.stats["counted"] > 0.6 * harness.work(400), r.stats


@harness.takes_long
def test_sleepers_are_left_alone(folder):
	program = recording.program(folder, "preload_sleeps")
	r = record(folder, program, harness.work(1000))
	assert int(r.done.out) <= 2, r.done
	assert r.share("work") > 0.5


@harness.takes_long
def test_calls_without_a_function_of_libc_are_not_cut(folder):
	program = recording.program(folder, "preload_cuts")
	r = record(folder, program, 4000)
	assert r.done.out == "0\n", r.done
	assert r.stats["counted"] > 50, r.stats


@harness.takes_long
def test_bad_moments(folder):
	program = recording.program(folder, "preload_busy")
	for what, rounds, function in (("malloc", 400, "allocate"), ("forks", 150, "forks"),
		("fibers", 600, "fiber_work"), ("stack", 400, "given_stack_work"),
		("close", 400, "closed_work")):
		r = record(folder, program, what, harness.work(rounds), name=f"{what}.prof")
		assert r.done.out == "done\n", (what, r.done)
		assert r.share(function) > 0.3, (what, r.stacks)
		r.check_whole(0.99)


@harness.takes_long
def test_a_program_that_locks_its_memory(folder):
	program = recording.program(folder, "preload_busy")
	if harness.run(program, "lock", 1).status == 77:
		raise harness.Skip("not so much memory may be locked here")
	r = record(folder, "sh", "-c", f"{program} lock {harness.work(800, least=800)} & sleep 0.3; cat /proc/$!/status; wait")
	assert "done\n" in r.done.out, r.done
	locked = [int(line.split()[1]) for line in r.done.out.splitlines() if line.startswith("VmLck")]
	assert 0 < locked[0] < 200000, locked
	assert r.share("closed_work") > 0.3


def noted(r, text):
	"""The count of the note of that text; 0: there is none."""
	return sum(note["count"] for note in r.notes if text in note["text"])


@harness.takes_long
def test_threads_without_room_are_counted(folder):
	program = recording.program(folder, "threads")
	# A sixteenth of the address space is taken at most: that is a few threads' memory.
	r = record(folder, "sh", "-c", f"ulimit -s 256; ulimit -v 90000; exec {program} 20 {harness.work(400)}")
	told = int(next(line for line in r.done.err.splitlines() if "had no room" in line).split()[1])
	assert told >= 10 and noted(r, "had no room") == told, (r.done, r.notes)
	assert r.share("main") + r.share("work") > 0.5, r.stacks


@harness.takes_long
def test_a_program_that_writes_over_our_memory(folder):
	program = recording.program(folder, "preload_scribbles")
	r = record(folder, program, harness.work(500))
	assert r.done.out == "done\n", r.done
	assert "written over by the program" in r.done.err, r.done
	assert noted(r, "written over by the program") > 10, r.notes
	assert r.stats["counted"] > 10, r.stats


@harness.takes_long
def test_time_namespaces(folder):
	recording.needs_root()
	program = recording.program(folder, "waits")
	for shift in ("--monotonic", "70000"), ("--monotonic", "-50"):
		unshare = ["unshare", "-T", *shift, "--fork"]
		if harness.run(*unshare, "true").status != 0:
			raise harness.Skip("time namespaces are not to be had, or the clock is too young")
		# The recorder and the target in one; and the target alone.
		path = folder / "both.prof"
		done = check(harness.run(*unshare, harness.SONDE, "record", *PRELOAD, "-o", path, "--",
			program, "10"))
		for r in recording.Recording(path, done), record(folder, *unshare, program, 10):
			found = r.share("main") + r.share("thread_main")
			assert found > 0.9 and r.share("main") > 0.5 and r.stats["counted"] > 15, (shift, r.stacks)
			assert r.stats["duration_ns"] < 20e9, r.stats
			real = {row["name"]: row["inclusive"] / 1e9 for row in
				r.json("--metric", "real-time", "--limit", "0")["rows"]}
			# One wait, the whole of a thread's life; of shorter ones a busy recorder sees too few.
			truth = float(r.done.out.split("wall wait_for_end ")[1].split()[0])
			assert abs(real["wait_for_end"] - truth) < 0.05 * truth, (real, r.done.out)


@harness.takes_long
def test_exec_storm(folder):
	r = record(folder, "sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true || echo bad; i=$((i+1)); done")
	assert r.done.out == "", r.done


def timers_of(pid):
	return pathlib.Path(f"/proc/{pid}/timers").read_text()


@harness.takes_long
def test_nothing_is_left_behind(folder):
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	running = recording.start(folder, program, 4000, "file", mark, options=PRELOAD)
	recording.wait_for_work(running.process.pid, 0.3)
	children = pathlib.Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children")
	pid = int(children.read_text().split()[0])
	assert "ID:" in timers_of(pid)
	running.process.kill()
	running.process.wait()
	end = time.monotonic() + 60
	while time.monotonic() < end and timers_of(pid):
		time.sleep(0.05)
	assert not timers_of(pid)
	while not mark.exists():
		assert time.monotonic() < end + 60
		time.sleep(0.05)
	r = recording.Recording(folder / "test.prof")
	assert r.stats["counted"] > 100


def test_descriptors_stay_as_they_are(folder):
	command = ("sh", "-c", "ls -l /proc/self/fd | wc -l")
	plain = check(harness.run(*command)).out
	r = record(folder, *command)
	assert r.done.out == plain, (r.done.out, plain)


def test_libraries_preloaded_already_stay(folder):
	library = harness.compile_c(folder, "int answer(void); int answer(void) { return 42; }",
		"-shared", "-fPIC", name="mine.so")
	r = record(folder, "sh", "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": str(library),
		# Of a build with sanitizers, which would be first.
		"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"})
	assert r.done.out.startswith(f"{library}:"), r.done


@harness.takes_long
def test_programs_that_load_no_library_are_told(folder):
	program = recording.program(folder, "fate", "-static")
	r = record(folder, program, harness.work(500), "exit", 3, status=3)
	assert "not sampled" in r.done.err and "in statically linked programs" in r.done.err, r.done
	assert any("in statically linked programs" in note["text"] for note in r.notes), r.notes
	assert "set-uid" not in r.done.err and "LD_PRELOAD" not in r.done.err, r.done


@harness.takes_long
def test_a_cause_is_told_only_where_it_was_seen(folder):
	program = recording.program(folder, "fate")
	r = record(folder, "env", "-i", program, harness.work(500), "exit", 0)
	assert "in programs started without our LD_PRELOAD" in r.done.err, r.done
	assert "static" not in r.done.err and "set-uid" not in r.done.err, r.done
	powerful = folder / "powerful"
	shutil.copy(program, powerful)
	powerful.chmod(0o4755)
	if os.geteuid() == 0:
		powerful.chmod(0o6755)
		os.chown(powerful, recording.USER, recording.USER)
		powerful.chmod(0o6755)
		folder.chmod(0o755)
		r = record(folder, powerful, harness.work(500), "exit", 0)
		assert "in programs that are set-uid" in r.done.err, r.done
		assert "static" not in r.done.err and "LD_PRELOAD" not in r.done.err, r.done


def under_seccomp(folder, *arguments):
	"""How the program ends alone, and recorded."""
	program = recording.program(folder, "sealed")
	alone = harness.run(program, *arguments)
	if alone.status == 77:
		raise harness.Skip("seccomp is not to be had here")
	return record(folder, program, *arguments, status=alone.status), alone


@harness.takes_long
def test_programs_that_forbid_themselves_system_calls_live(folder):
	for kind, way in (("strict", "prctl"), ("strict", "syscall"), ("kill", "prctl"), ("kill", "syscall"),
			("trap", "prctl"), ("errno", "prctl"), ("kill", "child"), ("trap", "child"),
			("kill", "threads"), ("trap", "threads")):
		r, alone = under_seccomp(folder, harness.work(200), kind, way)
		assert r.done.out == alone.out == "done\nstill here\n", (kind, way, r.done)
		assert "sampling had to stop in" in r.done.err and "seccomp" in r.done.err, (kind, way, r.done)
		assert noted(r, "seccomp limits") >= 1, (kind, way, r.notes)
		assert share(r, "before") > 0.1, (kind, way, r.stacks)


@harness.takes_long
def test_a_filter_that_lets_us_work_changes_nothing(folder):
	for way in "prctl", "syscall", "threads":
		r, alone = under_seccomp(folder, harness.work(200), "mild", way)
		assert r.done.out == alone.out == "done\nstill here\n", (way, r.done)
		assert "seccomp" not in r.done.err and noted(r, "seccomp") == 0, (way, r.done)
		assert share(r, "before") > 0.05 and share(r, "after") > 0.05, (way, r.stacks)


@harness.takes_long
def test_filters_from_before_an_exec(folder):
	"""They can't be read: nothing is begun, unless the recorder itself lives under them."""
	deny, program = recording.program(folder, "deny_perf"), recording.program(folder, "fate")
	r = record(folder, deny, errno.EPERM, program, harness.work(300), "exit", 0)
	assert "sampling had to stop in 1 thread" in r.done.err, r.done
	assert r.stats["counted"] < 30, r.stats


def test_code_behind_a_protection_key(folder):
	"""As V8's is: it can be run, and reading it ends the program."""
	program = recording.program(folder, "keys")
	alone = harness.run(program, "1")
	if alone.status == 3:
		raise harness.Skip("there are no protection keys here")
	r = record(folder, program, harness.work(500))
	assert r.done.out == alone.out, r.done.out
	assert share(r, "work") > 0.9, share(r, "work")
	r.check_whole()


@harness.takes_long
def test_limits_are_no_obstacle(folder):
	"""Those of the recorder and the program alike, which may not be raised."""
	program = recording.program(folder, "shares")
	library = next(pathlib.Path(harness.BUILD_ROOT).rglob("libsonde-preload.so"))
	shutil.copy(library, folder)
	for limits in ("ulimit -f 500;", "ulimit -v 300000;"):
		if os.geteuid() != 0 or "asan" in str(harness.BUILD_ROOT):
			raise harness.Skip("address space can't be limited here")
		r = recording.as_nobody(folder, program, harness.work(800), before=limits, options=PRELOAD)
		check(r.done)
		r.check_truth(r.done.out)
		r.check_whole()
	done = recording.as_nobody(folder, program, harness.work(800), before="ulimit -f 500; ulimit -v 300000;",
		options=PRELOAD).done
	# What is missing is ours: the program was never tried.
	assert done.status in (0, 125), done


@harness.takes_long
def test_programs_linked_to_musl(folder):
	if not shutil.which("musl-gcc"):
		raise harness.Skip("there is no musl-gcc")

	def compiled(name):
		source = recording.PROGRAMS / f"{name}.c"
		return harness.compile_c(folder, source, *recording.FLAGS, name=name, compiler="musl-gcc")
	r = record(folder, compiled("shares"), harness.work(320))
	r.check_truth(r.done.out)
	r = record(folder, compiled("threads"), 4, harness.work(250))
	assert r.share("work") > 0.8, r.stacks
	r = record(folder, compiled("processes"), harness.work(320))
	assert r.share("in_fork") > 0.1 and r.share("in_exec") > 0.1, r.stacks


@harness.takes_long
def test_without_privileges(folder):
	recording.needs_root()
	if not shutil.which("setpriv"):
		raise harness.Skip("there is no setpriv")
	program = recording.program(folder, "shares")
	for path in (folder, program):
		path.chmod(0o755)
	os.chown(folder, recording.USER, recording.USER)
	library = next(pathlib.Path(harness.BUILD_ROOT).rglob("libsonde-preload.so"))
	for path in (harness.SONDE, library):
		shutil.copy(path, folder)
	done = harness.run(*recording.NOBODY, folder / "sonde", "record", *PRELOAD, "-o", folder / "test.prof", "--",
		program, harness.work(480), cwd=folder)
	check(done)
	r = recording.Recording(folder / "test.prof", done)
	r.check_truth(done.out)
	r.check_whole()


harness.main()
