"""Faults: targets that close, leave, rename and signal what is around them, sonde among it."""

import os
import re
import resource
import shutil
import signal

import faults
import harness
import recording

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "bad\033]0;title\007\n\033[31m\u202ename"


def test_a_target_that_closes_all_files(folder):
	program = recording.program(folder, "fate")
	r = faults.as_if_alone(folder, "bash", "-c",
		f"for ((i = 0; i < 256; i++)); do eval \"exec $i>&-\" || :; done; exec {program} {harness.work(100)} exit 9")
	assert r.done.status == 9
	r.check_time("work_for", harness.work(100))


@harness.takes_long
def test_streams_that_are_closed_already(folder):
	program = recording.program(folder, "fate")
	recording.needs_sampling()
	# What would be 0, 1 or 2 must not become the recording, or the target's.
	for number, closed in enumerate(("2>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-")):
		path, seen = folder / f"{number}.prof", [folder / f"{number}.alone", folder / f"{number}"]
		command = f"ls /proc/self/fd > $0; exec {program} {harness.work(60)} exit 3"
		for file, before in zip(seen, ("exec", f"exec {harness.SONDE} record -o {path}")):
			harness.check(harness.run("sh", "-c", f"{before} sh -c '{command}' {file} {closed}"), 3)
		assert seen[0].read_text() == seen[1].read_text()
		r = recording.Recording(path)
		assert r.stats["counted"] > 0.65 * harness.work(60), r.stats
		assert not any(note["kind"] in ("bad-record", "incomplete") for note in r.notes), r.notes


def test_a_target_that_leaves_its_folder(folder):
	recording.needs_sampling()
	program = recording.program(folder, "fate")
	place = folder / "place"
	place.mkdir()
	path = "here.prof"
	done = harness.run(harness.SONDE, "record", "-o", path, "sh", "-c",
		f"cd / && {program} {harness.work(100)} exit 0 && rmdir {place}/none; exit 5", cwd=place)
	harness.check(done, 5)
	recording.Recording(place / path).check_time("work_for", harness.work(100))


@harness.takes_long
def test_a_target_in_another_root(folder):
	recording.needs_root()
	jail = folder / "jail"
	jail.mkdir()
	recording.program(jail, "fate", "-static")
	r = faults.as_if_alone(folder, "chroot", jail, "/fate", harness.work(150), "exit", 4)
	assert r.done.status == 4
	r.check_time("work_for", harness.work(150))
	r.check_whole()


def test_a_target_that_is_removed_while_it_runs(folder):
	program = recording.program(folder, "fate")
	r = recording.record(folder, "sh", "-c", f"{program} {harness.work(150, least=150)} exit 8 & sleep 0.05; "
		f"rm {program}; wait $!", status=8, options=recording.exact())
	r.check_time("work_for", harness.work(150, least=150))
	r.check_whole()


def test_names_with_control_characters(folder):
	program = recording.program(folder, "fate")
	hostile = folder / HOSTILE
	shutil.move(program, hostile)
	r = recording.record(folder, hostile, harness.work(100), "exit", 2, "\033[2J\n\u202e", status=2)
	assert not CONTROL.search(r.done.err), r.done
	for view in ("functions", "modules", "tree", "stats"):
		for kind in ("text", "json") + (("folded",) if view == "tree" else ()):
			assert not CONTROL.search(r.report("--view", view, "--format", kind)), (view, kind)
	r.check_time("work_for", harness.work(100))


def test_threads_named_with_control_characters(folder):
	program = harness.compile_c(folder, f"""
		#include <pthread.h>
		#include "{recording.PROGRAMS}/cpu_time.h"
		#include "{recording.PROGRAMS}/spin.h"
		KEEP void *work(void *x) {{
			struct cpu_time time = cpu_time_of_thread({harness.work(200)});
			pthread_setname_np(pthread_self(), "\\033[31m\\n\\r\\x9bnm");
			while (cpu_time_is_left(&time))
				x = (void *)spin(50000, (uint64_t)x + 1);
			return x;
		}}
		int main(void) {{
			pthread_t t;
			pthread_create(&t, NULL, work, NULL);
			return pthread_join(t, NULL);
		}}""", *recording.FLAGS)
	r = recording.record(folder, program)
	assert not CONTROL.search(r.done.err + r.report("--view", "functions")), r.done
	r.check_time("work", harness.work(200))


def test_a_long_command_line(folder):
	program = recording.program(folder, "fate")
	r = faults.as_if_alone(folder, program, harness.work(60), "exit", 3, *["x" * 100000] * 10)
	assert r.done.status == 3 and r.stats["counted"] > 0.65 * harness.work(60)
	# Of the arguments the beginning is shown: how many functions there are depends on how often loading is sampled.
	assert len(r.done.err) < 2000 and r.report("--view", "functions").count("x") < 5000


def test_signals_to_the_whole_group(folder):
	program = recording.program(folder, "fate")
	# sonde is in it too: it detaches, and ends as the target does.
	r = faults.as_if_alone(folder, "sh", "-c", f"{program} {harness.work(100)} exit 0; kill -TERM 0; sleep 5",
		start_new_session=True)
	assert r.done.status == -signal.SIGTERM and r.stats["counted"] > 0.8 * harness.work(100), r.done


@harness.takes_long
def test_a_group_that_is_suspended(folder):
	program = recording.program(folder, "fate")
	running = recording.start(folder, program, harness.work(400, least=400), "exit", 6, start_new_session=True)
	recording.wait_for_work(running.process.pid, 0.1)
	os.killpg(running.process.pid, signal.SIGSTOP)
	faults.wait_until(lambda: "\nState:\tT" in
		open(f"/proc/{running.process.pid}/status").read(), "a stopped sonde")
	os.killpg(running.process.pid, signal.SIGCONT)
	assert running.end() == 6, running.err
	faults.check_accounted(running.recording, running.err)


def inherit_oddities():
	"""What a careless parent leaves behind."""
	signal.signal(signal.SIGCHLD, signal.SIG_IGN)
	signal.signal(signal.SIGUSR1, signal.SIG_IGN)
	signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
	signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR2})
	resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
	os.nice(3)
	os.umask(0o27)


def test_what_a_careless_parent_leaves_reaches_the_target(folder):
	# Read by a program that changes none of it, as a shell would.
	r = faults.as_if_alone(folder, "grep", "-E", "^(Sig(Blk|Ign|Cgt)|Umask|NoNewPrivs)",
		"/proc/self/status", preexec_fn=inherit_oddities)
	assert r.done.status == 0 and "Umask:\t0027" in r.done.out, r.done
	r = faults.as_if_alone(folder, "nice", preexec_fn=inherit_oddities)
	assert r.done.out == "3\n" or os.nice(0) != 0, r.done
	r = faults.as_if_alone(folder, "env", options=["--zones=none"])
	assert r.done.out
	r = faults.as_if_alone(folder, "env", "-u", "SONDE_ZONES")
	assert r.done.out


@harness.takes_long
def test_a_target_that_makes_many_mappings(folder):
	"""Executable ones, the same address again and again."""
	program = harness.compile_c(folder, f"""
		#include <string.h>
		#include <sys/mman.h>
		#include "{recording.PROGRAMS}/cpu_time.h"
		#include "{recording.PROGRAMS}/spin.h"
		KEEP uint64_t between(uint64_t x) {{
			struct cpu_time time = cpu_time_of_thread(0.05);
			while (cpu_time_is_left(&time))
				x = spin(5000, x) + 1;
			return x;
		}}
		int main(void) {{
			uint64_t x = 1;
			for (int i = 0; i < 5000; i++) {{
				unsigned char *p = mmap((void *)0x700000000000, 4096,
					PROT_READ | PROT_WRITE | PROT_EXEC,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				memcpy(p, "\\xc3", 1);
				((void (*)(void))p)();
				x = between(x);
				munmap(p, 4096);
			}}
			return x == 0;
		}}""", *recording.FLAGS)
	r = faults.as_if_alone(folder, program)
	r.check_time("between", 5000 * 0.05)
	faults.check_accounted(r, r.done.err)


harness.main()
