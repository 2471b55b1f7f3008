"""The session in WebAssembly, as a page runs it: what it answers is what the command line prints, byte for byte."""

import base64
import json
import pathlib
import random
import re
import shutil

import harness
from harness import SOURCE_ROOT, Skip, check, run, sonde

RUNNER = pathlib.Path(__file__).with_name("page_module.mjs")
SEEDS = SOURCE_ROOT / "tests" / "fuzz" / "seeds"
ROUNDS = 400 if harness.LONG else 24


def empty_page(folder):
	"""A page with some profile; Skip where this build has none."""
	if shutil.which("node") is None:
		raise Skip("there is no node")
	path = folder / "empty.html"
	result = sonde("report", "-", "--format", "html", "-o", path, input=b"a;b 1\n")
	if "built without pages" in result.err:
		raise Skip("built without pages")
	check(result)
	return path


def answers(page, asked):
	"""asked: [(path, name, [request])]; their answers as bytes, that to opening first, or words of how the module ended."""
	lines = "".join(json.dumps([str(path), name, requests]) + "\n" for path, name, requests in asked)
	result = check(run("node", RUNNER, page, input=lines.encode()))
	found = [json.loads(line) for line in result.out.splitlines()]
	assert len(found) == len(asked), result
	return [[a if a == "ended" or a.startswith("failed") else base64.b64decode(a) for a in some] for some in found]


def report(*options):
	"""The request of a report with options as on the command line: "--view", "tree", … or a flag alone."""
	pairs, rest = [], list(options)
	while rest:
		name = rest.pop(0).removeprefix("--")
		pairs.append([name, rest.pop(0)] if rest and not rest[0].startswith("--") else [name])
	return {"ask": "report", "profile": 0, "options": pairs}


def printed(path, options):
	"""What the command line says: its output, or its one line of refusal."""
	result = run(harness.SONDE, "report", path, "--format", "json", *options)
	return result.out.encode("utf-8", "surrogateescape") if result.status == 0 else result.err


VIEWS = ([], ["--view", "tree"], ["--view", "tree", "--collapse", "none"], ["--view", "tree", "--collapse", "direct"],
	["--view", "tree", "--invert"], ["--view", "callers"], ["--view", "graph"], ["--view", "deep"], ["--view", "modules"],
	["--view", "lines"], ["--view", "stats"], ["--view", "threads"], ["--view", "zones"], ["--view", "heat"],
	["--level", "module", "--view", "graph"], ["--spread"], ["--focus", "^[a-m]"], ["--when", ":.a->*"],
	["--hide", "b|e", "--view", "tree"], ["--metric", "all"], ["--confidence"])


def without_formats(message):
	"""A page reads fewer formats, and says which."""
	return re.sub(r"\(sonde, callgrind, [^)]*\)", "(…)", message)


def agree(page, files, questions):
	"""Files and questions at which both say the same; names in messages differ where a shell would prefix them."""
	asked = [(path, str(path), [report(*q) for q in questions]) for path in files]
	for (path, *_), (opened, *said) in zip(asked, answers(page, asked)):
		assert not isinstance(opened, str), (path, opened)
		first = json.loads(opened)
		if "error" in first:
			result = run(harness.SONDE, "report", path)
			assert result.status == 1 and without_formats(result.err.strip()) == without_formats(f"sonde: {first['error']}"), (path, first, result)
			continue
		for question, answer in zip(questions, said):
			assert not isinstance(answer, str), (path, question, answer)
			expected = printed(path, question)
			if isinstance(expected, bytes):
				assert answer == expected, (path, question, answer[:400], expected[:400])
			else:
				assert json.loads(answer)["error"] in expected, (path, question, answer, expected)


def random_folded(folder, seed):
	r = random.Random(seed)
	names = r.sample(["a", "b", "C", "d", "e f", "main", "_ZN1a1bEv", "x`y", "ü", "m`n"], r.randint(1, 8))
	lines = [f"{';'.join(r.choice(names) for _ in range(r.randint(1, 14)))} {r.choice((1, 2, 3, 10, 1000003))}" for _ in range(r.randint(1, 40))]
	path = folder / f"{seed}.folded"
	path.write_text("\n".join(lines) + "\n")
	return path


@harness.takes_long
def test_random_profiles_agree(folder):
	page = empty_page(folder)
	files = [random_folded(folder, seed) for seed in range(ROUNDS)]
	for i, path in enumerate(files):
		if i % 3 == 0:
			check(sonde("convert", path, "-o", path.with_suffix(".sonde"), "--to", ("sonde", "pprof", "speedscope", "callgrind", "firefox", "otlp")[i // 3 % 6]))
			files[i] = path.with_suffix(".sonde")
	r = random.Random(1)
	for path in files:
		agree(page, [path], r.sample(VIEWS, 4))


@harness.takes_long
def test_files_of_others_agree(folder):
	"""The seeds of each reader that takes bytes: profiles of many tools, and broken ones."""
	page = empty_page(folder)
	readers = ("callgrind", "chrome", "folded", "firefox", "otlp", "pprof", "speedscope", "perf-script", "heaptrack", "perfetto", "dump")
	files = [path for name in readers for path in sorted((SEEDS / name).glob("*"))[:12] if path.is_file()]
	assert len(files) > 40, files
	agree(page, files, [[], ["--view", "tree"], ["--view", "callers"], ["--view", "stats"]])


def test_broken_files_end_in_a_message(folder):
	"""Mutants of a recording: each is read, or refused in words; the module never fails."""
	page = empty_page(folder)
	source = random_folded(folder, 7)
	recording = source.with_suffix(".prof")
	check(sonde("convert", source, "-o", recording))
	data, r, asked = recording.read_bytes(), random.Random(2), []
	for i in range(ROUNDS * 3):
		mutant = bytearray(data)
		for _ in range(r.randint(1, 8)):
			mutant[r.randrange(len(mutant))] = r.choice((0, 1, 127, 128, 255, r.randrange(256)))
		path = folder / f"mutant{i}"
		path.write_bytes(mutant[:r.choice((len(mutant), r.randrange(len(mutant))))])
		asked.append((path, "mutant", [report(), report("--view", "tree")]))
	for (path, *_), said in zip(asked, answers(page, asked)):
		assert all(isinstance(answer, bytes) for answer in said), (path, said)
		assert len(said) == 3 and all(isinstance(json.loads(a), dict) for a in said), (path, said)


def test_requests_that_make_no_sense_are_refused(folder):
	page, path = empty_page(folder), random_folded(folder, 3)
	wrong = ({}, {"ask": "report"}, {"ask": "nothing", "profile": 0}, {"ask": "report", "profile": 9}, [], "text", 7,
		{"ask": "report", "profile": 0, "options": [["view", "nothing"]]}, {"ask": "report", "profile": 0, "options": [["nothing", "x"]]},
		{"ask": "report", "profile": 0, "options": [["view"]]}, {"ask": "report", "profile": 0, "options": [["when", "(("]]},
		{"ask": "lanes", "profile": 0, "slices": 10}, {"ask": "marks", "profile": 0, "threads": [0], "slices": 10},
		{"ask": "flame", "profile": 0, "old": 0, "options": [["view", "nothing"]]})
	[[opened, *said]] = answers(page, [(path, "x", list(wrong))])
	assert json.loads(opened) == {"profile": 0}, opened
	for request, answer in zip(wrong, said):
		assert isinstance(answer, bytes) and json.loads(answer)["error"], (request, answer)


if __name__ == "__main__":
	harness.main()
