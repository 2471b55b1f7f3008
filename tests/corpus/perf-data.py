"""perf.data files of kernels from 3.2 on, compared with what perf 6.1, perf script and Chromium's quipper make of them."""

import collections
import gzip
import pathlib
import re
import shutil
import tempfile

import corpus

COUNTS = "perf-data/perf-6.1-sample-counts.tsv"
QUIPPER = "perf-data/google+perf_data_converter/src"


def stats(file):
	return corpus.report(file, "--view", "stats")["rows"][0]


def counts():
	"""{file below perf-data: samples by perf 6.1, or None where it refuses the file}."""
	lines = corpus.use(corpus.FOLDER / COUNTS).read_text().splitlines()[1:]
	found = {}
	for line in lines:
		name, count, *_ = line.split("\t")
		found["perf-data/" + name] = None if count == "-" else int(count)
	return found


def count_samples(file):
	wanted, found = counts()[corpus.name(file)], stats(file)["counted"]
	if wanted is None:
		assert found > 0, "no sample"
		return f"{found} samples; perf 6.1 refuses it"
	corpus.same("samples", found, wanted)
	return f"{found} samples"


for folder in ("KDAB+hotspot/tests/integrationtests/file_content/perf.data.true.v2", "mstange+linux-perf-data/tests/fixtures/*.data",
		"google+perf_data_converter/src/quipper/testdata/perf.data.*[0-9y]"):
	corpus.case("perf-data/" + folder, "perf 6.1")(count_samples)


@corpus.case("perf-data/KDAB+hotspot/tests/integrationtests/file_content/perf.data.true.v2.gz", "perf 6.1, of the file unpacked")
def packed(file):
	corpus.same("samples", stats(file)["counted"], 1)
	return "1 sample"


@corpus.case("perf-data/KDAB+hotspot/tests/integrationtests/file_content/perf.data.broken.gz", "")
@corpus.case(QUIPPER + "/quipper/corpus/*", "")
def hostile(file):
	result = corpus.harness.sonde("report", str(file))
	assert result.status in (0, 1), result
	if result.status == 0:
		return f"read: {stats(file)['counted']} samples"
	assert len(result.err.splitlines()) == 1, result
	return "refused in one line"


# ---- quipper ----

def samples_of_text(text):
	"""Of quipper's dump: {tid: (samples, sum of periods)}, and their times since the first."""
	by_tid, times = collections.defaultdict(lambda: [0, 0]), []
	for block in re.findall(r"^  sample_event \{\n(.*?)^  \}$", text, re.M | re.S):
		fields = dict(re.findall(r"^    (\w+): (\d+)$", block, re.M))
		row = by_tid[int(fields.get("tid", 0))]
		row[0] += 1
		row[1] += int(fields.get("period", 0))
		times.append(int(fields.get("sample_time_ns", 0)))
	return by_tid, sorted(t - min(times) for t in times)


def samples_of_dump(file):
	by_tid, times, tids = collections.defaultdict(lambda: [0, 0]), [], []
	for line in corpus.sonde("convert", str(file), "-o", "-", "--to", "dump").splitlines():
		words = line.split()
		if words[0] == "thread":
			tids.append(int(words[1]))
		elif words[0] == "sample":
			row = by_tid[tids[int(words[words.index("thread") + 1])] if "thread" in words else 0]
			weights = words[words.index("weight") + 1:]
			row[0] += 1
			row[1] += sum(map(int, weights[1:]))
			times.append(int(words[words.index("time") + 1]) if "time" in words else 0)
	return by_tid, sorted(times)


@corpus.case(QUIPPER + "/quipper/testdata/perf.data.*[0-9y]", "quipper")
def quipper(file):
	suffix = next((s for s in (".pb_text", ".pb_text.gz") if file.with_name(file.name + s).exists()), None)
	if suffix is None:
		raise corpus.Reason("quipper's dump of it is not there")
	text = corpus.expected(file, suffix)
	text = (gzip.decompress(text) if suffix.endswith(".gz") else text).decode(errors="replace")
	wanted, wanted_times = samples_of_text(text)
	found, times = samples_of_dump(file)
	corpus.same("samples of threads", {t: r[0] for t, r in found.items()}, {t: r[0] for t, r in wanted.items()})
	corpus.same("times", times, wanted_times)
	if sum(r[1] for r in wanted.values()) == 0:
		return f"{len(times)} samples of {len(wanted)} threads, and their times"
	corpus.same("periods", {t: r[1] for t, r in found.items()}, {t: r[1] for t, r in wanted.items()})
	return f"{len(times)} samples of {len(wanted)} threads, their times and periods"


# ---- perf script ----

def plain_name(name):
	"""A function's name as perf shows it: no parameters, no version, no type of what it returns."""
	name = re.sub(r"\+0x[0-9a-f]+$", "", name).replace("(anonymous namespace)", "{anonymous}")
	if name.startswith("JS:"):
		return name
	depth, out = 0, ""
	for c in name:
		depth += (c in "<[{") - (c in ">]}")
		if c == "(" and depth == 0:
			break
		out += c
	depth, last = 0, 0
	for i, c in enumerate(out):
		depth += (c in "<[{") - (c in ">]}")
		if c == " " and depth == 0 and not out[:i].endswith("operator"):
			last = i + 1
	out = out[last:]
	# Node's jitdump has other names for what its symbol table knows, too.
	out = re.sub(r"^(Builtin|BytecodeHandler):(.*)$", lambda m: "Builtins_" + m[2] + ("Handler" if m[1] != "Builtin" else ""), out)
	return out if out.endswith("@plt") else out.partition("@")[0]


SYSTEM = re.compile(r"^(libc|ld-linux|libstdc\+\+|\[kernel|\[vdso)")


def plain_stack(frames):
	"""
	Of (module, name), root first: the names from main on, as far as they do not depend on what is installed: frames of
	the system's libraries and of the kernel, whose names are not in the file, are "system".
	"""
	out = []
	for module, name in frames:
		name = "system" if SYSTEM.match(module) else plain_name(name)
		if name != "system" or out[-1:] != ["system"]:
			out.append(name)
	return tuple(out[out.index("main"):] if "main" in out else out)


def stacks_of_script(text):
	stacks = collections.Counter()
	for block in text.split("\n\n"):
		frames = []
		for line in block.strip("\n").split("\n")[1:]:
			match = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
			if match and match[2] != "inlined":
				frames.append((match[2].rpartition("/")[2], match[1]))
		if frames:
			stacks[plain_stack(frames[::-1])] += 1
	return stacks


def stacks_of_sonde(file):
	stacks = collections.Counter()
	for names, weight in corpus.folded(file, "--metric", "samples", "--modules").items():
		frames = [("", n) if "`" not in n else n.split("`", 1) for n in names if n != "[truncated]"]
		stacks[plain_stack(frames)] += weight
	return stacks


@corpus.case("generated/c-small/perf.data", "perf script")
def frame_pointers(file):
	corpus.expected(file, name="perf_report.txt")
	wanted = stacks_of_script(corpus.expected(file, name="perf_script.txt").decode())
	found = stacks_of_sonde(file)
	corpus.same_stacks(found, wanted)
	return f"{sum(found.values())} samples, {len(found)} stacks"


@corpus.case("generated/c-small/perf.data", "perf report")
def flat(file):
	text = corpus.expected(file, name="perf_report_flat.txt").decode()
	wanted = {m[2]: float(m[1]) for m in re.finditer(r"^ +([\d.]+)%  work +work +\[\.\] (\S+)", text, re.M)}
	report = corpus.report(file)
	found = {r["name"]: round(100 * r["exclusive"] / report["total"], 2)
		for r in report["rows"] if r["module"] == "work" and r["exclusive"]}
	corpus.same("percent", found, wanted)
	return f"{len(found)} function of the program, {report['total']} ns in all"


@corpus.case("generated/c-small/perf.dwarf.data", "perf script")
def copied_stacks(file):
	wanted = stacks_of_script(corpus.expected(file, name="perf_dwarf_script.txt").decode())
	found = stacks_of_sonde(file)
	corpus.same_stacks(found, wanted)
	return f"{sum(found.values())} samples, {len(found)} stacks from main on, walked by sonde's unwinder"


@corpus.case("generated/node20-jitdump/perf.data", "perf inject --jit, perf script")
def jitdump(file):
	wanted = stacks_of_script(gzip.decompress(corpus.expected(file, name="perf_script_injected.txt.gz")).decode())
	with tempfile.TemporaryDirectory() as folder:
		folder = pathlib.Path(folder)
		shutil.copy(file, folder / "perf.data")
		dump = corpus.use(next(file.parent.glob("jit-*.dump.gz")))
		(folder / dump.stem).write_bytes(gzip.decompress(dump.read_bytes()))
		found = stacks_of_sonde(folder / "perf.data")
	# Where node itself is not installed, its own functions have no names.
	found, wanted = scripts_only(found), scripts_only(wanted)
	corpus.same_stacks(found, wanted)
	return f"{sum(found.values())} samples, {len(found)} stacks of functions that were made at run time"


def scripts_only(stacks):
	"""Of the frames those of the script's functions."""
	found = collections.Counter()
	for stack, weight in stacks.items():
		found[tuple(name for name in stack if name.startswith("JS:"))] += weight
	return found


corpus.leave_out("generated/c-small/perf_report.txt", "perf report with callers, as perf script has them")
corpus.leave_out("**/README.md", "no profile")
corpus.leave_out("**/*.buildids", "build-ids alone")
corpus.leave_out(QUIPPER + "/testdata/*.textproto", "lists of events as text: no perf.data file is with them")
corpus.leave_out(QUIPPER + "/quipper/testdata/perf.callgraph.pb_text", "the perf.data file is not with it")
corpus.leave_out("generated/node20-jitdump/*.map", "the same code as in the jitdump, without times")
corpus.leave_out("generated/node20-jitdump/fib.js", "the program")

corpus.main("perf-data", ["perf-data", "generated/c-small/perf*", "generated/node20-jitdump"])
