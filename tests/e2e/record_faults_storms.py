"""Faults: processes and threads in great numbers, and process ids that are used again."""

import signal

import faults
import harness
import recording


def storm(folder, what, count, *more, **options):
	"""A storm passes as if alone, and is sampled, or the rest is reported."""
	program = recording.program(folder, "storm", "-Wno-clobbered")
	r = faults.as_if_alone(folder, program, what, count, *more, **options)
	assert r.done.status == 0 and r.done.out == f"{what} {count}\n", r.done
	assert "went on unrecorded" not in r.done.err, r.done
	faults.check_accounted(r, r.done.err, 0.9)
	return r


@harness.takes_long
def test_forks(folder):
	r = storm(folder, "forks", 300 if harness.SANITIZED else 3000)
	# All are seen, however short they are: it is one place in the program.
	assert r.share("little") > 0.02 and r.share("forks") > 0.5, r.stacks


@harness.takes_long
def test_a_tree_of_forks(folder):
	storm(folder, "tree", 100 if harness.SANITIZED else 1000)


def worked(r, count):
	"""The samples in `little`, as a multiple of the expected number: each process works for 0.1 ms by its own
	clock, however long the kernel takes to start it. A late tick counts in full, so the ratio can exceed 1."""
	return r.share("little") * r.stats["counted"] / (count * 0.1e6 / (r.stats["cpu_ns"] / r.stats["expected"]))


@harness.takes_hours
def test_a_program_that_takes_its_own_place(folder):
	r = storm(folder, "execs", 1000, 1000)
	assert 0.5 < worked(r, 1000) < 2, (worked(r, 1000), r.stats)


@harness.takes_hours
def test_vfork_and_exec(folder):
	r = storm(folder, "vforks", 800)
	assert 0.5 < worked(r, 800) < 2, (worked(r, 800), r.stats)


@harness.takes_long
def test_ten_thousand_threads_at_once(folder):
	truth = folder / "truth"
	r = storm(folder, "crowd", 1000 if harness.SANITIZED else 10000, env={"STORM_TRUTH": str(truth)})
	# The system's work for so many threads may be most of the time, so theirs is measured. They are
	# ten thousand to one recorder: what it could not take up is reported, and then it is theirs.
	asked_ns = r.stats["cpu_ns"] / r.stats["expected"]
	due, sampled = int(truth.read_text()) / asked_ns, r.share("little") * r.stats["counted"]
	told = max(0, r.stats["expected"] - r.stats["counted"])
	assert 0.75 * due - told < sampled < 1.25 * due, (due, sampled, r.stats)


def peak_bytes(r):
	"""What sonde says that it took at most."""
	number, unit = r.done.err.split(" of CPU time and at most ")[1].splitlines()[0].split()
	return float(number.replace(",", "")) * {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]


@harness.takes_hours
def test_fifty_thousand_threads_one_by_one(folder):
	r = storm(folder, "chain", 5000 if harness.SANITIZED else 50000)
	if not harness.SANITIZED:
		assert peak_bytes(r) < 64 << 20, r.done


@harness.takes_long
def test_forks_that_the_system_refuses(folder):
	program = recording.program(folder, "storm", "-Wno-clobbered")
	with faults.control_group("pids") as (group, _):
		(group / "pids.max").write_text("20")
		r = recording.record(folder, "sh", "-c",
			f"echo $$ > {group}/cgroup.procs && exec {program} forks 500")
		assert 0 < int(r.done.out.split()[1]) < 500, r.done
		# The recorder's own fork is refused: it says so, and leaves nothing.
		(group / "pids.max").write_text("1")
		output = folder / "never.prof"
		done = harness.run(harness.SONDE, "record", "-o", output, "true",
			preexec_fn=faults.join(group), env=faults.TRACED)
		harness.check(done, 125)
		assert "fork" in done.err and not output.exists(), done


@harness.takes_long
def test_a_process_id_that_is_used_again(folder):
	recording.needs_root()
	recording.needs_sampling()
	faults.needs("unshare")
	first, second = recording.program(folder, "fate"), recording.program(folder, "deep")
	path = folder / "test.prof"
	# In a namespace of its own, so that nobody else takes the number.
	line = f"""{first} {harness.work(200)} exit 0 & one=$!; wait $one
		echo $((one - 1)) > /proc/sys/kernel/ns_last_pid || exit 77
		{second} 1000 {harness.work(200)} > /dev/null & two=$!; wait $two; [ $one = $two ]"""
	done = harness.run("unshare", "-p", "--fork", "--mount-proc", harness.SONDE, "record", "-q",
		"-o", path, "sh", "-c", line)
	if done.status in (1, 77):
		raise harness.Skip(f"process ids cannot be chosen here: {done.err}")
	r = recording.Recording(path, harness.check(done))
	for frames, _ in r.stacks:
		assert not ({"work_for"} & set(frames) and {"level", "bottom"} & set(frames)), frames
	assert 0.25 < r.share("work_for") < 0.75 and 0.25 < r.share("level") < 0.75, r.stacks
	r.check_whole()


@harness.takes_long
def test_out_of_memory_in_a_group(folder):
	"""The kernel kills the target, and it alone; the recording is whole."""
	program = recording.program(folder, "fate")
	eater = harness.compile_c(folder, """#include <string.h>
		#include <stdlib.h>
		int main(void) { for (;;) { char *p = malloc(1 << 20); if (p) memset(p, 1, 1 << 20); } }""",
		name="eater")
	with faults.control_group("memory") as (group, version):
		limit = group / ("memory.limit_in_bytes" if version == 1 else "memory.max")
		limit.write_text(str(32 << 20))
		for name in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
			if (group / name).exists():
				(group / name).write_text(str(32 << 20 if version == 1 else 0))
		r = recording.record(folder, "sh", "-c", f"{program} {harness.work(100)} exit 0; "
			f"echo $$ > {group}/cgroup.procs; exec {eater}", status=-signal.SIGKILL)
	assert r.share("work_for") > 0.3 and r.stats["counted"] > 0.8 * harness.work(100), r.stats
	assert not any(note["kind"] == "incomplete" for note in r.notes), r.notes


@harness.takes_long
def test_the_recorder_out_of_memory_in_a_group(folder):
	"""sonde is what the kernel kills: the target goes on, and the file opens."""
	recording.needs_sampling()
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	with faults.control_group("memory") as (group, version):
		running = recording.start(folder, program, harness.work(1200, least=1200), "file", mark)
		recording.wait_for_work(running.process.pid, 0.4)
		(group / "cgroup.procs").write_text(str(running.process.pid))
		limit = group / ("memory.limit_in_bytes" if version == 1 else "memory.max")
		limit.write_text(str(1 << 16))
		# What it has got before counts elsewhere; naming the addresses needs more.
		status = running.end()
	assert status in (0, -signal.SIGKILL), (status, running.err)
	faults.wait_until(mark.exists, "the target's end")
	assert running.recording.stats["counted"] > 100


@harness.takes_long
def test_an_orphan_is_recorded_until_its_parent_ends(folder):
	"""A daemon: forked twice, in a session of its own. It goes on, and the summary reports it."""
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	r = recording.record(folder, "sh", "-c",
		f"(setsid sh -c '{program} {harness.work(600, least=600)} file {mark}' >/dev/null 2>&1 &) ; {program} {harness.work(200, least=200)} exit 6",
		status=6)
	assert "went on unrecorded" in r.done.err, r.done
	assert r.stats["counted"] > 200
	faults.wait_until(mark.exists, "the daemon's end")


harness.main()
