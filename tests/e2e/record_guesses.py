"""Threads that sleep show no frame pointer: who called them is found out, or said to be a guess."""

import harness
import recording

NAPS = 200


def callers(r, metric):
	"""{frames inside out, from `sleeper` on: weight} of the stacks that have it."""
	found = {}
	for line in r.report("--format", "folded", "--metric", metric).splitlines():
		path, _, weight = line.rpartition(" ")
		frames = path.split(";")[::-1]
		if "sleeper" in frames:
			key = tuple(frames[frames.index("sleeper") + 1:])
			found[key] = found.get(key, 0) + int(weight)
	return found


def record(folder, *flags):
	r = recording.as_nobody(folder, recording.program(folder, "ghost", *flags), NAPS)
	harness.check(r.done)
	r.err = r.done.err
	found = callers(r, "blocked-time")
	assert sum(found.values()) > NAPS * 2_000_000, found
	return r, found


def test_callers_that_are_over_are_not_shown(folder):
	r, found = record(folder)
	right = sum(weight for frames, weight in found.items()
		if frames[:2] == ("mid", "main") and frames[-1] == "_start")
	# The program's end may come before its last stack is walked: what it called is gone then.
	assert right > 0.9 * sum(found.values()), found
	assert all(frames[:2] == ("mid", "main") or frames[0] in ("[guessed]", "[truncated]")
		for frames in found), found


def test_a_guess_is_marked_and_counted(folder):
	"""Nothing tells `mid`, which called `sleeper`, from `decoy`, which is over: one is shown."""
	r, found = record(folder, "-DHIDDEN_CALL")
	assert all(frames[0] == "[guessed]" and frames[1] in ("mid", "decoy") or frames == ("[truncated]",)
		for frames in found), found
	notes = [note for note in r.notes if "contain a guessed caller" in note["text"]]
	assert len(notes) == 1 and notes[0]["kind"] == "guessed", r.notes
	assert notes[0]["count"] > NAPS / 4, notes
	assert "with a guessed caller" in r.err and " 0 truncated stacks" not in r.err, r.err


harness.main()
