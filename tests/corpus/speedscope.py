#!/usr/bin/env python3
"""speedscope's files and what speedscope itself makes of them: its own tests' snapshots."""

import corpus
from snapshots import snapshot

SNAPSHOT = "speedscope/jlfwong+speedscope/src/lib/__snapshots__/file-format.test.ts.snap"


def same_functions(file, wanted, scale=1, *options):
	"""Exclusive and inclusive weights of all functions, which the snapshot has exactly."""
	rows = corpus.report(file, *options)["rows"]
	found = {r["name"]: (r["exclusive"], r["inclusive"]) for r in rows}
	corpus.same("functions", found, {n: (round(s * scale), round(t * scale)) for n, s, t in wanted if t})


CASES = {
	"0.0.1/simple.speedscope.json": ("importSpeedscopeProfiles 0.0.1 evented profile", 1),
	"0.0.1/simple-no-pretty-print.speedscope.json":
		("importSpeedscopeProfiles 0.0.1 evented profile (no pretty print)", 1),
	"0.1.2/simple-sampled.speedscope.json": ("importSpeedscopeProfiles 0.1.2 sampled profile", 10**9),
	"0.6.0/two-sampled.speedscope.json": ("importSpeedscopeProfiles 0.6.0 multiple profiles", 10**9),
}


@corpus.case("speedscope/jlfwong+speedscope/sample/profiles/speedscope/0.*/*.json", "speedscope's snapshot")
def snapshots(file):
	test, scale = CASES[f"{file.parent.name}/{file.name}"]
	profiles = snapshot(SNAPSHOT, test)
	for name, stacks, frames in profiles:
		options = ["--thread", name] if len(profiles) > 1 else []
		same_functions(file, frames, scale, *options)
	found = corpus.folded(file)
	assert set(found) == {s for _, stacks, _ in profiles for s in stacks}, found
	return f"profiles: {len(profiles)}, stacks: {len(found)}, functions: {len(profiles[0][2])}"


@corpus.case("speedscope/jlfwong+speedscope/sample/profiles/speedscope/invalid/*.json", "refused by speedscope")
def invalid(file):
	found = corpus.folded(file)
	corpus.same("total", sum(found.values()), 4)
	raise corpus.Reason("speedscope refuses it; sonde reads it, with a note for the two events that are wrong")


if __name__ == "__main__":
	corpus.main("speedscope", ["speedscope"])
