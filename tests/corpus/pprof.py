#!/usr/bin/env python3
"""pprof profiles, and what pprof itself makes of them: its own dumps (profile.String, pprof -raw)."""

import collections
import gzip
import re

import corpus

UNITS = {"nanoseconds": 1, "microseconds": 1000, "milliseconds": 10**6, "seconds": 10**9}
LINE = re.compile(r"(.*) (\S*?):-?(\d+)(?::\d+)? s=-?\d+(?:\(.*\))?$")


def parse(text):
	"""The types [(name, unit)], the samples [(values, location ids)], {id: (address, [names])}."""
	types, samples, locations, part, current = [], [], {}, "head", None
	for line in text.splitlines():
		if line in ("Samples:", "Locations", "Mappings"):
			part = line
		elif part == "Samples:" and not types:
			types = [tuple(word.replace("[dflt]", "").rsplit("/", 1)) for word in line.split()]
		elif part == "Samples:" and re.match(r"\s*-?\d+( +-?\d+)*: ?[\d ]*$", line):
			values, _, ids = line.partition(":")
			samples.append(([int(v) for v in values.split()], [int(i) for i in ids.split()]))
		elif part == "Locations":
			head = re.match(r"\s*(\d+): 0x([0-9a-f]+)(?: M=\d+)?(?: \[F\])?(.*)$", line)
			if head:
				current = int(head[1])
				locations[current] = (int(head[2], 16), [])
				line = head[3]
			found = LINE.match(line.strip())
			if found:
				locations[current][1].append(found[1])
	return types, samples, locations


def folded(samples, locations, index):
	stacks = collections.Counter()
	for values, ids in samples:
		names = []
		for location in reversed(ids):
			address, lines = locations[location]
			shown = [name.replace(";", "\\x3b").replace("\t", "\\x09") for name in reversed(lines)]
			names += shown or [f"0x{address:x}" if address else "[unknown]"]
		stacks[tuple(names) or ("[no stack]",)] += values[index]
	return {stack: weight for stack, weight in stacks.items() if weight}


def simplified(stacks):
	"""Without what Debian's pprof takes for parameters in names that it takes for C++'s."""
	sums = collections.Counter()
	for stack, weight in stacks.items():
		names = []
		for name in stack:
			while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", name)) != name:
				name = shorter
			names.append(name)
		sums[tuple(names)] += weight
	return sums


def pruned(samples, locations, drop):
	"""What pprof's Prune leaves of them: its String shows a profile as it came."""
	is_dropped = {}
	for location, (address, names) in locations.items():
		found = [i for i, name in enumerate(names) if re.fullmatch(drop, name)]
		if found:
			is_dropped[location] = found[-1] == len(names) - 1
			if not is_dropped[location]:
				locations[location] = (address, names[found[-1] + 1:])
	left = []
	for values, ids in samples:
		kept = False
		for i in reversed(range(len(ids))):
			if ids[i] not in is_dropped:
				kept = True
			elif kept:
				ids = ids[i + is_dropped[ids[i]]:]
				break
		left.append((values, ids))
	return left


def same_profile(file, text, named=True, simple=False, drop=None):
	types, samples, locations = parse(text)
	samples = pruned(samples, locations, drop) if drop else samples
	for index, (name, unit) in enumerate(types):
		if sum(name == n for n, _ in types) > 1:
			continue
		scale = UNITS.get(unit, 1)
		wanted = {s: w * scale for s, w in folded(samples, locations, index).items()}
		found = corpus.folded(file, "--metric", name)
		corpus.same(f"total of {name}", sum(found.values()), sum(wanted.values()))
		corpus.same(f"stacks of {name}", len(found), len(wanted))
		if simple:
			corpus.same_stacks(simplified(found), simplified(wanted))
		elif named:
			corpus.same_stacks(found, wanted)
		else:
			shape = lambda stacks: sorted((len(s), w) for s, w in stacks.items())
			corpus.same(f"depths and weights of {name}", shape(found), shape(wanted))
	what = "names (without their <…> and (…), which pprof takes away)" if simple else "names" if named else "depths"
	return f"samples: {len(samples)}, {what} and weights of {', '.join(n for n, _ in types)}"


@corpus.case("pprof/google+pprof-driver-inputs/*.pb.gz", "pprof's String")
def driver_inputs(file):
	text = corpus.expected(file, name=file.name.replace(".pb.gz", ".string.txt")).decode()
	drop = ".*operator new.*|malloc" if file.name.startswith("heap") else None
	return same_profile(file, text, named="cpusmall" not in file.name, drop=drop)


@corpus.case("pprof/parca-dev+parca/**/*.pb.gz", "pprof -raw")
def parca(file):
	return same_profile(file, corpus.expected(file, ".raw.txt").decode(), simple=file.name.startswith("fgprof"))


@corpus.case("pprof/grafana+pyroscope/**/testdata/heap.pb*", "pprof -raw")
def pyroscope_heap(file):
	if file.name.endswith(".txt"):
		raise corpus.Reason("the dump of heap.pb")
	return same_profile(file, corpus.expected(file, name="heap.pb.raw.txt").decode())


@corpus.case("pprof/grafana+pyroscope/pkg/pprof/testdata/profile_*", "pprof -raw")
def pyroscope(file):
	if ".raw.txt" in file.name:
		raise corpus.Reason("a dump of the profile next to it")
	packed = file.with_name(file.name + ".raw.txt.gz")
	text = gzip.decompress(corpus.expected(packed)) if packed.exists() else corpus.expected(file, ".raw.txt")
	return same_profile(file, text.decode(), simple=file.name.endswith("rust"))


UTILS = "pprof/felixge+pprofutils/examples/"


def lines_of(text):
	stacks = collections.Counter()
	for line in text.decode().splitlines():
		names, _, weight = line.rpartition(" ")
		stacks[tuple(names.split(";"))] += int(weight)
	return stacks


@corpus.case(UTILS + "folded.*.pprof", "pprofutils' folded text")
def pprofutils(file):
	other = {"folded.in.pprof": "folded.out.txt", "folded.out.pprof": "folded.in.txt"}[file.name]
	wanted = lines_of(corpus.expected(file, name=other))
	corpus.same_stacks(corpus.folded(file), wanted)
	return f"stacks: {len(wanted)}"


@corpus.case(UTILS + "raw.in.pprof", "pprof -raw")
def pprofutils_raw(file):
	return same_profile(file, corpus.expected(file, name="raw.out.txt").decode())


@corpus.case("pprof/google+pprof-driver-inputs/*.named.pb.gz", "pprof's reports")
def reports(file):
	golden = {"cpu": "pprof.cpu.flat.functions.text", "long_name_funcs": "pprof.long_name_funcs.text"}.get(
		file.name.split(".")[0])
	if golden is None:
		raise corpus.Reason("no report of functions without filters is there")
	text = corpus.use(corpus.FOLDER / "pprof/google+pprof/internal/driver/testdata" / golden).read_text()
	seconds = lambda t: round(float(re.match(r"[\d.]+", t)[0]) * {"ms": 10**6, "s": 10**9}[t.lstrip("0123456789.")]) if t != "0" else 0
	rows = re.findall(r"^ *(\S+) +\S+% +\S+% +(\S+) +\S+%  (.*?)(?: \(inline\))?$", text, re.M)
	wanted = {name: (seconds(flat), seconds(cum)) for flat, cum, name in rows}
	found = {r["name"]: (r["exclusive"], r["inclusive"]) for r in corpus.report(file)["rows"]}
	if golden == "pprof.long_name_funcs.text":
		corpus.same("figures", sorted(found.values()), sorted(wanted.values()))
		return f"functions: {len(rows)}, by their figures (pprof shortens the names)"
	corpus.same("functions", found, wanted)
	return f"functions: {len(rows)}"


corpus.leave_out("pprof/goldens.tsv", "which input and flags a report has")
corpus.leave_out("pprof/google+pprof/internal/driver/testdata/*",
	"a report of pprof with filters, or in a format of its own; its input's stacks are compared")
corpus.leave_out(UTILS + "heapage.*", "what a tool of its own makes of a heap profile")
corpus.leave_out(UTILS + "labelframes.*", "the same: labels as frames (sonde report --roots label:KEY)")
corpus.leave_out("pprof/jlfwong+speedscope/**", "the same reader as above; speedscope takes the first type alone")


@corpus.case("pprof/google+pprof/profile/testdata/*.cpu", "pprof's String")
def legacy_cpu(file):
	if file.name == "java.cpu":
		raise corpus.Reason("of a Java program: another format, which is not read")
	return same_profile(file, corpus.expected(file, ".string").decode(), named=False)


TEXT = "a text format that only pprof reads; not read"
for kind in ("heap", "growth", "contention", "thread", "thread.all", "thread.none"):
	for end in ("", ".string"):
		corpus.leave_out(f"pprof/google+pprof/profile/testdata/*.{kind}{end}", TEXT)
corpus.leave_out("pprof/google+pprof/profile/testdata/java.cpu.string", "the dump of java.cpu")


if __name__ == "__main__":
	corpus.main("pprof", ["pprof"])
