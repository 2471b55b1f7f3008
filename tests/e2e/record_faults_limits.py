"""Faults: files, memory and time are short."""

import resource
import signal

import faults
import harness
import recording


def limited(which, soft, hard=None):
	return lambda: resource.setrlimit(which, (soft, soft if hard is None else hard))


def test_few_open_files(folder):
	program = recording.program(folder, "fate")
	for files in (256, 64):
		r = faults.as_if_alone(folder, program, harness.work(100), "exit", 3, name=f"{files}.prof",
			preexec_fn=limited(resource.RLIMIT_NOFILE, files))
		assert r.done.status == 3
		faults.check_accounted(r, r.done.err)
		r.check_whole()


def test_too_few_open_files(folder):
	recording.needs_sampling()
	recorded = refused = 0
	for files in (24, 20, 18, 16, 14, 12, 10, 8, 6):
		mark, output = folder / f"{files}.mark", folder / f"{files}.prof"
		done = harness.run(harness.SONDE, "record", "-q", "-o", output, "touch", mark,
			preexec_fn=limited(resource.RLIMIT_NOFILE, files))
		if done.status == 0:
			recorded += 1
			assert mark.exists() and recording.Recording(output).stats["counted"] is not None
			continue
		# Then nothing was run, and a line says why.
		refused += 1
		harness.check(done, 125)
		assert not mark.exists() and not output.exists()
		assert len(done.err.splitlines()) == 1 and "Too many open files" in done.err, done
	assert refused > 0


def test_the_target_has_its_own_limit_of_files(folder):
	r = faults.as_if_alone(folder, "sh", "-c", "ulimit -Sn; ulimit -Hn; ulimit -l; ulimit -v",
		preexec_fn=limited(resource.RLIMIT_NOFILE, 100, 300))
	assert r.done.out.splitlines()[:2] == ["100", "300"], r.done


@harness.takes_long
def test_little_memory_to_map(folder):
	if harness.SANITIZED:
		raise harness.Skip("sanitizers map terabytes")
	recording.needs_sampling()
	program = recording.program(folder, "fate")
	told = 0
	for megabytes in (400, 60, 40, 30, 24, 20, 16):
		mark, path = folder / f"{megabytes}.mark", folder / f"{megabytes}.prof"
		done = harness.run(harness.SONDE, "record", "-q", "-o", path, program, harness.work(150, least=150), "file", mark,
			preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20))
		if done.status == 0:
			assert mark.exists() and recording.Recording(path).stats["counted"] > 100, done
			continue
		# sonde ends; the target does not, if it had begun, and what is on disk is good.
		told += 1
		assert done.status in (125, 127) and done.err, done
		if path.exists() and path.stat().st_size > 16:
			assert recording.Recording(path).stats["counted"] is not None
			if recording.Recording(path).stats["counted"] > 0:
				faults.wait_until(mark.exists, f"the target's end, with {megabytes} MB")
	assert told > 0, "there was memory enough"


@harness.takes_long
def test_cpu_time_that_runs_out(folder):
	"""The limit is the target's as much as sonde's: it ends as alone, and is recorded till then."""
	program = recording.program(folder, "fate")
	r = faults.as_if_alone(folder, program, 5000, "exit", 0, cwd=folder,
		preexec_fn=limited(resource.RLIMIT_CPU, 1, 2))
	assert r.done.status == -signal.SIGXCPU, r.done
	assert r.stats["counted"] > 500, r.stats
	assert not any(note["kind"] == "incomplete" for note in r.notes), r.notes


def test_a_small_stack(folder):
	r = faults.as_if_alone(folder, recording.program(folder, "deep"), 300, harness.work(50),
		preexec_fn=limited(resource.RLIMIT_STACK, 256 << 10))
	assert r.done.status == 0
	r.check_whole()


harness.main()
