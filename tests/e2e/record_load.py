"""Recordings while others want the CPUs, too: a load that the test makes. Shares and sums hold, stacks are whole,
and nothing is claimed of the program that the machine has done."""

import harness
import recording
from attaching import Target, attach

# What is said of programs that aren't like that: ours are linked dynamically, have no more rights than we, and end
# after the recording has seen all of them.
FALSE = ("set-uid", "statically", "ended the sampling early", "went on unrecorded", "replaced")
PROGRAMS = (("shares", (), 640), ("threads", (8,), 2000), ("processes", (), 800), ("deep", (1000,), 600),
	("mutual", (), 560))


def check(r, said):
	"""What must hold of any recording, however busy the machine is."""
	stats = r.stats
	assert not [word for word in FALSE if word in said], said
	told = "samples were lost" in said
	assert told == (100 * stats["lost"] > stats["counted"] + stats["lost"]), (stats, said)
	# The weights, and what was counted as lost, are the CPU time that the system accounts; the clock of samples also
	# runs while interrupts and the host have the CPU.
	weight = r.json("--metric", "cpu-time")["total"]
	missing = stats["lost"] * recording.INTERVAL_NS
	least, most = 0.97 * stats["cpu_ns"] - 5e6, 1.03 * stats["cpu_ns"] + 5e6 + r.taken_seconds * 1e9
	assert weight <= most and weight + missing >= least, (weight, missing, stats)


def check_all(folder, *options):
	with recording.load():
		for name, arguments, milliseconds in PROGRAMS:
			program = recording.program(folder, name)
			r = recording.record(folder, program, *arguments, harness.work(milliseconds, least=400),
				options=options, name=f"{name}.prof")
			r.check_truth(r.done.out)
			r.check_whole()
			check(r, r.done.err)


def test_by_the_default_engine(folder):
	check_all(folder)


def test_by_snapshots(folder):
	check_all(folder, "--engine", "snapshot")


def test_by_the_preloaded_library(folder):
	recording.needs_sampling("preload")
	check_all(folder, "--engine", "preload")


def test_the_preloaded_library_takes_all_samples_that_are_due(folder):
	"""Threads that have to wait for a CPU do it at the ends of system calls as well, which is no sleep."""
	recording.needs_sampling("preload")
	for name, arguments in ("shares", ()), ("threads", (8,)):
		program = recording.program(folder, name)
		with recording.load():
			r = recording.record(folder, program, *arguments, harness.work(1000, least=400),
				options=("--engine", "preload"), name=f"{name}.prof")
		due = r.stats["cpu_ns"] / recording.INTERVAL_NS
		# Of a thread's first interval a part, by chance, and what it used while it was being loaded.
		assert 0.98 * due - 15 <= r.stats["counted"] <= 1.02 * due + 15, (name, due, r.stats)


def test_without_privileges(folder):
	program = recording.program(folder, "shares")
	with recording.load():
		r = recording.as_nobody(folder, program, harness.work(640, least=400))
	harness.check(r.done)
	r.check_truth(r.done.out)
	r.check_whole()


def test_attached(folder):
	program = recording.program(folder, "shares")
	truth = harness.check(harness.run(program, 1)).out
	with recording.load(), Target(folder, program, 10**9) as target:
		r = attach(folder, target.pid, seconds=harness.work(640, least=400) / 1000)
	r.check_truth(truth)
	r.check_whole()
	check(r, r.err)


def test_exit_status_and_output_are_the_program_s(folder):
	program = recording.program(folder, "fate")
	with recording.load():
		r = recording.record(folder, program, harness.work(100), "exit", 7, status=7)
	r.check_time("work_for", harness.work(100))
	assert r.done.out == "", r.done


harness.main()
