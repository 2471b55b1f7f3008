"""Faults: little is allowed, to sonde or to others about the target."""

import os
import resource
import shutil
import signal

import faults
import harness
import recording

USER, NOBODY = recording.USER, recording.NOBODY


def give_to_nobody(folder):
	"""sonde where nobody can run it; the folder becomes theirs. Its path."""
	recording.needs_root()
	recording.needs_sampling()
	faults.needs("setpriv")
	copy = folder / "sonde"
	shutil.copy(harness.SONDE, copy)
	for path in (folder, *folder.iterdir()):
		os.chmod(path, path.stat().st_mode | 0o055)
	os.chown(folder, USER, USER)
	return copy


def as_nobody(folder, *command, name="test.prof", options=(), line="", **more):
	copy, path = folder / "sonde", folder / name
	done = harness.run(*NOBODY, "sh", "-c", f'{line} exec "$@"', "sh", copy, "record", *options,
		"-o", path, "--", *command, cwd=folder, **more)
	return recording.Recording(path, done)


@harness.takes_long
def test_each_level_of_paranoia(folder):
	program = recording.program(folder, "fate")
	give_to_nobody(folder)
	for level in (-1, 0, 1, 2):
		with faults.setting("kernel/perf_event_paranoid", level):
			r = as_nobody(folder, program, harness.work(80), "exit", 4, name=f"{level}.prof")
		harness.check(r.done, 4)
		faults.check_accounted(r, r.done.err, 0.9)
		r.check_whole()
		# The summary reports it where the kernel may not be sampled.
		assert ("kernel code could not be sampled" in r.done.err) == (level == 2), (level, r.done)


def test_a_target_that_hides(folder):
	program = recording.program(folder, "hidden")
	give_to_nobody(folder)
	r = as_nobody(folder, program, 3, harness.work(1000), name="flat.prof")
	harness.check(r.done)
	r.check_truth(r.done.out)
	r.check_whole()
	# Deeper than what the kernel copies, its stack cannot be read; the summary reports it.
	r = as_nobody(folder, program, 1000, harness.work(100), name="deep.prof")
	harness.check(r.done)
	assert r.done.out == "down 1 1\n" and r.share("down", exclusive=True) > 0.95
	assert r.stats["critical"] > 0.9 * r.stats["counted"], r.stats
	assert "memory could not be read" in r.done.err, r.done


def test_a_program_that_may_be_run_and_not_read(folder):
	program = recording.program(folder, "fate")
	give_to_nobody(folder)
	program.chmod(0o711)
	mark = folder / "mark"
	r = as_nobody(folder, program, harness.work(200), "file", mark)
	harness.check(r.done)
	assert mark.exists() and "may not read" in r.done.err, r.done


def test_a_set_uid_program_is_never_ended(folder):
	program = recording.program(folder, "fate")
	give_to_nobody(folder)
	powerful = folder / "powerful"
	shutil.copy(program, powerful)
	powerful.chmod(0o4755)
	for number, ending in enumerate((["exit", "7"], ["signal", "11"])):
		r = as_nobody(folder, powerful, harness.work(200), *ending, name=f"{number}.prof",
			preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
		assert r.done.status == (7 if ending[0] == "exit" else -signal.SIGSEGV), r.done
		if "set-uid" not in r.done.err:
			raise harness.Skip("the folder is on a file system without set-uid programs")


def test_a_ring_smaller_than_samples_at_a_high_rate(folder):
	"""The copy of the stack shrinks to what the ring can hold: none is too large for it."""
	program = recording.program(folder, "deep")
	give_to_nobody(folder)
	r = as_nobody(folder, program, 5000, harness.work(125), options=["-F", "50k"], line="ulimit -l 0;")
	harness.check(r.done)
	assert r.stats["counted"] > 0.3 * r.stats["expected"], r.stats
	faults.check_accounted(r, r.done.err, 0.9)


@harness.takes_long
def test_many_recordings_of_one_user(folder):
	"""The memory that one user may lock is for all of their recordings."""
	program = recording.program(folder, "fate")
	give_to_nobody(folder)
	line = "ulimit -l 0; for i in 1 2 3 4; do { " \
		f"./sonde record -q -o $i.prof {program} {harness.work(300)} file $i.mark 2> $i.err; echo $? > $i.status; " \
		"} & done; wait"
	harness.check(harness.run(*NOBODY, "sh", "-c", line, cwd=folder))
	recorded = 0
	for i in range(1, 5):
		status, err = int((folder / f"{i}.status").read_text()), (folder / f"{i}.err").read_text()
		if status == 0:
			recorded += 1
			assert (folder / f"{i}.mark").exists()
			faults.check_accounted(recording.Recording(folder / f"{i}.prof"), err, 0.9)
			continue
		# Nothing was run then, and the message says what to do.
		assert status == 125 and not (folder / f"{i}.mark").exists(), (status, err)
		assert len(err.splitlines()) == 1 and "perf_event_mlock_kb" in err, err
	assert recorded >= 1


harness.main()
