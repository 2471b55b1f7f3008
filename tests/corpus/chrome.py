#!/usr/bin/env python3
"""Traces and CPU profiles of Chrome, and what speedscope makes of them: its own tests' snapshots."""

import re

import corpus
from snapshots import snapshot

IMPORT = "chrome-trace/jlfwong+speedscope/src/import/__snapshots__/"
TRACES = {
	"simple": "simple", "simple-object": "simple object", "multiprocess": "multiprocess",
	"simple-partial": "partial json import", "simple-partial-trailing-comma": "partial json import trailing comma",
	"too-many-end-events": "bad E events", "mismatched-name": "mismatched name", "out-of-order": "not out-of-order",
	"unbalanced-name": "unbalanced name", "end-event-with-empty-stack": "end event with empty stack",
	"only-begin-events": "only begin events", "zero-duration-events": "zero duration events",
	"matching-x": "matching x", "invalid-x-nesting": "invalid x nesting",
	"simple-with-samples": "simple profile with samples",
}
PROFILES = {
	"65/simple.cpuprofile": "importFromChromeCPUProfile", "69/simple.json": "importFromChromeTimeline Chrome 69",
	"141/no-arg-data.json": "importTraceEvents Chrome 141 profile with missing arg data",
}


def plain(name):
	"""A slice's name without its arguments, which speedscope makes a part of it."""
	return re.sub(r" \{.*\}$", "", name)


# Slices that overlap: what the file itself says. speedscope lets the one outside go on until the one in it ends.
OVERLAPS = {
	"invalid-x-nesting": {("alpha",): 5000, ("alpha", "beta"): 5000, ("beta",): 5000},
	"unbalanced-name": {("alpha",): 1000, ("alpha", "beta"): 8000, ("beta",): 1000},
}


def compare(file, profiles):
	"""Exclusive weights of all names, and the stacks."""
	own, stacks = {}, {}
	for _, listed, frames in profiles:
		for name, self_us, _ in frames:
			own[plain(name)] = own.get(plain(name), 0) + round(self_us * 1000)
		for stack in listed:
			if stack != ("",):
				stacks[tuple(map(plain, stack))] = 0
	found = {}
	for stack, weight in corpus.folded(file).items():
		found[stack[-1]] = found.get(stack[-1], 0) + weight
	corpus.same("exclusive weights", found, {n: w for n, w in own.items() if w})
	corpus.same("stacks", set(corpus.folded(file)), set(stacks))
	return f"profiles: {len(profiles)}, stacks: {len(stacks)}, total: {sum(own.values())} ns"


@corpus.case("chrome-trace/jlfwong+speedscope/sample/profiles/trace-event/*.json", "speedscope's snapshot")
def traces(file):
	if file.stem in OVERLAPS:
		corpus.same("stacks", corpus.folded(file), OVERLAPS[file.stem])
		return "as the file says"
	profiles = snapshot(IMPORT + "trace-event.test.ts.snap", "importTraceEvents " + TRACES[file.stem])
	return compare(file, profiles)


@corpus.case("chrome-trace/jlfwong+speedscope/sample/profiles/Chrome/*/*", "speedscope's snapshot")
def cpu_profiles(file):
	return compare(file, snapshot(IMPORT + "chrome.test.ts.snap", PROFILES[f"{file.parent.name}/{file.name}"]))


@corpus.case("chrome-trace/firefox-devtools+profiler/**/*", "none")
def no_oracle(file):
	found = corpus.folded(file)
	assert found
	raise corpus.Reason(f"no other tool's output is there; stacks: {len(found)}, total: {sum(found.values())} ns")


corpus.main("chrome", ["chrome-trace"])
