#!/usr/bin/env python3
"""Profiles of the Firefox Profiler: what the profiler itself, speedscope and samply make of them."""

import json
import pathlib
import re
import tempfile

import corpus
import profiler_cli

PROFILER = "firefox/firefox-devtools+profiler"
UPGRADED = PROFILER + "/src/test/unit/__snapshots__/profile-upgrading.test.ts.snap"
SAMPLY = "firefox/mstange+samply"
SPEEDSCOPE = "firefox/jlfwong+speedscope"


def snapshot(name):
	"""The value of a jest snapshot: JSON but for the names of types and commas before brackets."""
	text = corpus.use(corpus.FOLDER / UPGRADED).read_text()
	block = re.search(r"exports\[`[^`]*" + re.escape(name) + r"[^`]*`\] = `\n(.*?)\n`;", text, re.S)[1]
	block = re.sub(r"\b(?:Object|Array) ([{\[])", r"\1", block)
	block = re.sub(r",(\s*[\]}])", r"\1", block).replace("undefined", "null")
	return json.loads(block.replace("\\\\", "\\"))


def rows(table):
	"""A table's rows as {column: value}, of either shape."""
	if "schema" in table:
		return [{c: row[i] if i < len(row) else None for c, i in table["schema"].items()} for row in table["data"]]
	return [{c: v[i] if i < len(v) else None for c, v in table.items() if isinstance(v, list)}
		for i in range(table["length"])]


def location_name(text):
	"""What a location of the browser's is called."""
	match = re.fullmatch(r"(.*) \((?:in [^)]*|.+?:\d+(?::\d+)?)\)(?:\[\d+\])?", text)
	return match[1] if match else text


class Thread:
	"""The samples of one thread, with names for stacks, by the letter of the format."""

	def __init__(self, profile, thread):
		shared = profile.get("shared", {})
		strings = thread.get("stringTable") or thread.get("stringArray") or shared["stringArray"]
		def table(name):
			return rows(thread.get(name) or shared[name])
		self.stacks = table("stackTable")
		frames = table("frameTable")
		if frames and "location" in frames[0]:
			self.names = [location_name(strings[f["location"]]) for f in frames]
		else:
			functions = table("funcTable")
			self.names = [strings[functions[f["func"]]["name"]] for f in frames]
		self.samples = rows(thread["samples"])
		self.kind = thread["samples"].get("weightType")

	def stack(self, number):
		names = []
		while number is not None:
			row = self.stacks[number]
			names.append(self.names[row["frame"]])
			number = row["prefix"] if "prefix" in row else number - row["prefixOffset"] if row["prefixOffset"] else None
		return tuple(reversed(names)) or ("[no stack]",)


def threads_of(profile):
	own = [Thread(profile, thread) for thread in profile["threads"]]
	return own + [t for p in profile.get("processes", []) for t in threads_of(p)]


def stacks_of(threads):
	sums = {}
	for thread in threads:
		for sample in thread.samples:
			names = thread.stack(sample["stack"])
			weight = sample.get("weight")
			sums[names] = sums.get(names, 0) + (1 if weight is None else weight)
	return sums


def compare(file, profile, rename=lambda name: name):
	threads = threads_of(profile)
	stacks = {tuple(map(rename, stack)): weight for stack, weight in corpus.folded(file).items()}
	corpus.same_stacks(stacks, stacks_of(threads))
	dump = corpus.sonde("convert", str(file), "-o", "-", "--to", "dump")
	corpus.same("threads", len(re.findall(r"^thread ", dump, re.M)), len(threads))
	return f"samples: {sum(stacks.values())}, stacks: {len(stacks)}, threads: {len(threads)}"


@corpus.case(PROFILER + "/**/gecko-2.json", "the profiler's snapshot of it, brought up to date")
def gecko(file):
	# A label of then; the profiler drops a part of it.
	found = compare(file, snapshot("gecko-2.json"), lambda name: name.removeprefix("AutoEntryScript "))
	return found + "; sonde keeps the AutoEntryScript of a label"


@corpus.case(PROFILER + "/**/processed-3.json", "the profiler's snapshot of it, brought up to date")
def processed(file):
	return compare(file, snapshot("processed-3.json"))


@corpus.case(SAMPLY + "/fixtures/**/ls-profile.json", "profiler-cli thread functions")
def samply(file):
	with tempfile.TemporaryDirectory() as folder, profiler_cli.Session(folder, file) as session:
		theirs = [session.functions(thread) for thread in session.threads()]
	wanted = {}
	for functions in theirs:
		for name, (own, total) in functions.items():
			before = wanted.get(name, (0, 0))
			wanted[name] = (before[0] + own, before[1] + total)
	found = {}
	for row in corpus.report(file)["rows"]:
		before = found.get(row["name"], (0, 0))
		found[row["name"]] = (before[0] + row["exclusive"], before[1] + row["inclusive"])
	without_stack, _ = found.pop("[no stack]", (0, 0)) # a row of sonde's alone
	corpus.same("functions", found, wanted)
	return f"self and total of {len(found)} functions, plus {without_stack} samples without a stack"


def keys(value):
	"""Which members what object has, as paths."""
	if isinstance(value, dict):
		return {k for k in value} | {f"{k}.{below}" for k, v in value.items() for below in keys(v)}
	return {below for v in value for below in keys(v)} if isinstance(value, list) else set()


# What sonde's profiles have no use for, or what depends on their contents.
NOT_OURS = re.compile(r"counters|pages|profilerOverhead|meta\.(debug|markerSchema|extensions|pausedRanges|initial)|"
	r"threads\.(markers\.data|samples\.eventDelay|pausedRanges|nativeAllocations|usedInnerWindowIDs)|meta\.sampleUnits")


@corpus.case(SAMPLY + "/**/*.snap", "the same members in what sonde writes")
def samply_writes(file):
	theirs = json.loads(re.sub(r"^---\n.*?\n---\n", "", corpus.use(file).read_text(), flags=re.S))
	corpus.same("version", theirs["meta"]["preprocessedProfileVersion"], 66)
	with tempfile.TemporaryDirectory() as folder:
		recording = f"{folder}/out.firefox.json"
		corpus.sonde("convert", str(corpus.harness.SOURCE_ROOT / "tests/golden/in/threads.dump"), "-o", recording)
		ours = keys(json.load(open(recording)))
	missing = sorted(k for k in keys(theirs) - ours if not NOT_OURS.match(k))
	corpus.same("members that only samply writes", missing, [])
	samples = sum(len(t["samples"]["stack"]) for t in theirs["threads"])
	with tempfile.TemporaryDirectory() as folder:
		plain = pathlib.Path(folder) / "plain.json"
		plain.write_text(json.dumps(theirs))
		stacks = corpus.folded(plain)
	corpus.same_stacks(stacks, stacks_of(threads_of(theirs)))
	return f"all members; samples: {samples}, stacks: {len(stacks)}"


@corpus.case(SPEEDSCOPE + "/sample/**/recursion.json", "speedscope's snapshot")
def recursion(file):
	"""speedscope keeps scripts' functions alone, and weighs samples by the time between them."""
	text = corpus.use(corpus.FOLDER / SPEEDSCOPE / "src/import/__snapshots__/firefox.test.ts.snap").read_text()
	wanted = [line.split(";") for line in re.findall(r'^    "(\S*) [0-9.]+.?s",$', text, re.M)]
	names = {name for stack in wanted for name in stack}
	found = {tuple(n for n in stack if n in names) for stack in corpus.folded(file)}
	corpus.same("stacks of recursion.js", found - {()}, {tuple(stack) for stack in wanted} - {("",)})
	return f"stacks of the program's functions: {len(found - {()})}"


corpus.main("firefox", ["firefox"])
