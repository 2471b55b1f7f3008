"""Faults: stacks that overflow, are switched, overwritten, or somewhere else altogether."""

import re
import resource
import signal

import faults
import harness
import recording

ROOT = "_start"


def core_free():
	resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@harness.takes_long
def test_overflow_is_the_target_s_own_end(folder):
	program = recording.program(folder, "overflow", "-Wno-infinite-recursion")
	r = faults.as_if_alone(folder, program, "plain", preexec_fn=core_free)
	assert r.done.status == -signal.SIGSEGV
	# So deep, and over so soon: what is truncated is counted, and the rest is true.
	assert all("sink" in frames or frames[0] in recording.ROOTS for frames, _ in r.stacks if frames), r.stacks


def test_overflow_with_a_handler_on_another_stack(folder):
	program = recording.program(folder, "overflow", "-Wno-infinite-recursion")
	r = faults.as_if_alone(folder, program, "handler")
	assert r.done.status == 3 and r.done.out == "caught\n"
	r.check_time("in_handler", 40)
	for frames, _ in r.stacks:
		if "in_handler" in frames and "[truncated]" not in frames and frames[:1] == [ROOT]:
			# Through the handler's frames, its signal frame, and all of those that overflowed.
			assert frames.count("in_handler") <= 1000 and frames.count("sink") > 1000
			assert frames.index("sink") < frames.index("say_and_exit") < frames.index("in_handler")
			break
	else:
		assert r.stats["critical"] > 0, r.stats


@harness.takes_long
def test_jumps_out_of_a_handler_on_another_stack(folder):
	program = recording.program(folder, "overflow", "-Wno-infinite-recursion")
	r = faults.as_if_alone(folder, program, "jump")
	assert r.done.out == "jumped 20 times\n"
	r.check_whole(0.9)
	assert r.share("sink") > 0.9 and r.share("jump_out") < 0.1


@harness.takes_long
def test_coroutines_on_stacks_of_all_kinds(folder):
	program = recording.program(folder, "own_stacks")
	for place in ("heap", "map", "huge", "grows"):
		r = faults.as_if_alone(folder, program, place, harness.work(400), name=f"{place}.prof")
		assert r.done.status == 0
		r.check_truth(r.done.out)
		r.check_whole()
		# Nothing of one stack is taken for another's: below each there is only where it returns to.
		for frames, _ in r.stacks:
			for body in {"left", "right"} & set(frames):
				assert frames.index(body) == 1, (place, frames)


@harness.takes_long
def test_overwritten_return_addresses(folder):
	program = recording.program(folder, "smashed", "-fno-stack-protector")
	for lie in ("self", "kernel", "hole", "zero", "ones", "code"):
		r = faults.as_if_alone(folder, program, lie, harness.work(125), name=f"{lie}.prof")
		assert r.done.status == 0
		# The innermost frame is true, and what leads nowhere is reported, not guessed.
		assert r.share("victim", exclusive=True) > 0.9, r.stacks
		for frames, count in r.stacks:
			if frames[-1:] == ["victim"] and count > 20:
				assert "main" not in frames, (lie, frames)
		if lie != "zero":
			assert r.stats["critical"] > 0.9 * r.stats["counted"], (lie, r.stats)


@harness.takes_long
def test_lies_cost_little(folder):
	program = recording.program(folder, "smashed", "-fno-stack-protector")
	for lie in ("self", "code"):
		before = resource.getrusage(resource.RUSAGE_CHILDREN)
		alone = harness.check(harness.run(program, lie, harness.work(200)))
		between = resource.getrusage(resource.RUSAGE_CHILDREN)
		r = recording.record(folder, program, lie, harness.work(200), options=["-q", "-F", "5k"])
		after = resource.getrusage(resource.RUSAGE_CHILDREN)
		assert r.done.out == alone.out
		target = between.ru_utime - before.ru_utime
		# The target's share and the recorder's.
		used = after.ru_utime - between.ru_utime
		assert harness.SANITIZED or used < 3 * target + 0.3, (lie, target, used)


@harness.takes_long
def test_an_unlimited_stack(folder):
	program = recording.program(folder, "deep")
	unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
	if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
		raise harness.Skip("the stack is limited here")
	r = faults.as_if_alone(folder, program, 100000, harness.work(1000),
		preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, unlimited))
	assert r.done.status == 0
	stats = r.report("--view", "stats", "--limit", "0")
	deepest = int(re.search(r"deepest stack +([\d,]+)", stats)[1].replace(",", ""))
	# Deep ones may change while they are read; then they are cut, and counted.
	assert deepest > 65536 or r.stats["critical"] > 0.5 * r.stats["counted"], stats
	rows = {row["name"]: row for row in r.json("--view", "functions")["rows"]}
	assert rows["level"]["inclusive"] > 0.9 * rows["_start"]["inclusive"]


def test_core_dumps_are_as_alone(folder):
	if harness.SANITIZED:
		raise harness.Skip("sanitizers set the limit to none")
	pattern = open("/proc/sys/kernel/core_pattern").read().strip()
	if pattern.startswith("|") or "/" in pattern:
		raise harness.Skip(f"core dumps go to {pattern}")
	program = recording.program(folder, "fate")
	sizes = []
	for name, before in (("alone", []), ("recorded",
			[harness.SONDE, "record", "-q", "-o", folder / "x.prof", "--"])):
		place = folder / name
		place.mkdir()
		done = harness.run(*before, program, harness.work(30), "signal", 11, cwd=place,
			preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 26, 1 << 26)))
		assert done.status == -signal.SIGSEGV, done
		cores = list(place.iterdir())
		# The target's; sonde, which ends by the same signal, leaves none.
		assert len(cores) == 1, cores
		sizes.append(cores[0].stat().st_size)
	assert 0.8 < sizes[1] / sizes[0] < 1.25, sizes


harness.main()
