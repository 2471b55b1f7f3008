"""sonde report on what is no profile, or no longer a whole one: one clear line, status 1, no hang."""

import gzip
import json
import os
import random

import harness
from harness import check, sonde

FOLDED = "main;eval;apply 30\nmain;eval 12\nmain;read;fgets 3\n"


def complains(result, *words, status=1):
	"""Exactly one line on standard error, begun with "sonde: ", that has these words."""
	check(result, status)
	assert result.err.startswith("sonde: ") and result.err.count("\n") == 1, result
	for word in words:
		assert word in result.err, (word, result)
	assert result.out == "", result


def test_missing_file(folder):
	complains(sonde("report", folder / "none.prof"), "none.prof", "No such file")


def test_missing_default_file_says_how_to_make_one(folder):
	complains(sonde("report", cwd=folder), "sonde.prof", "sonde record")


def test_directory(folder):
	complains(sonde("report", folder), "folder")


def test_empty_file(folder):
	path = folder / "empty.prof"
	path.touch()
	complains(sonde("report", path), "empty.prof")


def test_cut_off_compressed_file_is_read_as_far_as_it_goes(folder):
	path = folder / "cut.folded.gz"
	rng = random.Random(1)
	lines = [f"main;f{rng.randrange(1 << 30)} {i}\n" for i in range(10_000)]
	packed = gzip.compress("".join(lines).encode())
	path.write_bytes(packed[: len(packed) // 2])
	seen = check(sonde("report", path)).out
	assert "cut off" in seen and "samples" in seen, seen
	path.write_bytes(packed[:12])
	complains(sonde("report", path), "cut.folded.gz", "cut off")


def dumps(path, *jobs):
	"""What is read of the file, with that many threads each."""
	return [check(sonde("convert", *(["--jobs", n] if n else []), path, "-t", "dump", timeout=300)).out for n in jobs]


@harness.takes_long
def test_threads_read_the_same(folder):
	"""A text of some blocks, with lines that are none in several of them and a line longer than a block; a
	difference; and the recordings that both are written to."""
	rng = random.Random(5)
	lines = []
	for i in range(40_000):
		stack = ";".join(f"f{rng.randrange(300)}" for _ in range(rng.randrange(1, 40)))
		lines.append("no weight" if i % 9001 == 9000 else f"{stack} {rng.randrange(1, 9)}" + (".5" if i % 7 == 0 else ""))
	lines[20_000] = ";".join(["long"] * 100_000) + " 1"
	text, difference = folder / "text.folded", folder / "difference.folded"
	text.write_text("\n".join(lines))
	difference.write_text("".join(f"{line.replace('.5', '')} {rng.randrange(9)}\n" for line in lines if line != "no weight"))
	assert text.stat().st_size > 16 * 262_144
	for path in text, difference:
		first, *others = dumps(path, 1, 2, 3, 16, None)
		assert all(found == first for found in others), path
		recording = folder / "recording.sonde"
		check(sonde("convert", path, "-o", recording, "-t", "sonde"))
		first, *others = dumps(recording, 1, 2, 3, 16, None)
		assert all(found == first for found in others), path
	seen = check(sonde("report", "--jobs", 4, "--notes", text)).out
	assert "4 lines are malformed and skipped: lines 9001, 18002, 27003, 36004" in seen, seen
	complains(sonde("report", "--jobs", 0, text), "--jobs", status=2)


def test_devices():
	complains(sonde("report", "/dev/zero", timeout=10), "device")
	complains(sonde("report", "/dev/null", timeout=10), "device")


def test_fifo(folder):
	os.mkfifo(folder / "fifo")
	complains(sonde("report", folder / "fifo", timeout=10), "pipe")


def test_sparse_file_larger_than_memory(folder):
	path = folder / "sparse.prof"
	path.touch()
	os.truncate(path, 1 << 42)
	complains(sonde("report", path, timeout=10), "sparse.prof", "no format")


def test_stack_of_a_million_frames_is_one_long_line(folder):
	path = folder / "deep.folded"
	path.write_text("main;" + ";".join(["f"] * 1_000_000) + " 3\n")
	assert "\nf,,,,3,3\n" in check(sonde("report", path, "--format", "csv")).out.replace("\r", "")


@harness.takes_long
def test_a_file_of_ours_is_never_cut(folder):
	"""Two bytes a stack, packed: what other tools' files may make of themselves is too little."""
	pick = random.Random(6)
	path = folder / "distinct.folded"
	with open(path, "w", encoding="ascii") as file:
		for _ in range(60000):
			file.write(";".join(f"function_{pick.randrange(5000)}" for _ in range(30)) + " 1\n")
	ours = folder / "distinct.prof"
	check(sonde("convert", path, "-o", ours))
	assert ours.stat().st_size < 5 << 20
	reports = [json.loads(check(sonde("report", file, "--format", "json", "--limit", 0)).out)
		for file in (path, ours)]
	assert [one["notes"] for one in reports] == [[], []], [one["notes"] for one in reports]
	assert reports[0]["rows"] == reports[1]["rows"]


def test_unreadable_bytes(folder):
	path = folder / "noise.prof"
	path.write_bytes(bytes(random.Random(1).randbytes(5000)))
	complains(sonde("report", path), "noise.prof")


def test_unknown_input_format_is_a_usage_error(folder):
	path = folder / "a.folded"
	path.write_text(FOLDED)
	complains(sonde("report", "--from", "nonsense", path), "nonsense", "folded", status=2)


def test_hostile_file_name_is_escaped(folder):
	complains(sonde("report", folder / "a\x1b[31mb\nc"), "\\x1b[31mb\\x0ac")


def test_standard_input():
	out = check(sonde("report", "-", input=FOLDED)).out
	assert "standard input" in out and "apply" in out


def test_refusals_name_the_file_that_was_given(folder):
	"""Not what a dump was made of."""
	(folder / "a.folded").write_text(FOLDED)
	dump = folder / "a.dump"
	dump.write_bytes(check(sonde("convert", folder / "a.folded", "--to", "dump")).out_bytes)
	complains(sonde("report", "--view", "threads", dump), str(dump), "which processes and threads")


EMPTY = 'sonde-dump 1\nmetric "samples" "count"\nmetric "cpu-time" "ns" default\nend\n'


def test_a_profile_of_nothing_has_every_view(folder):
	"""Also with filters of samples, though there are none."""
	path = folder / "empty.dump"
	path.write_text(EMPTY)
	for view in ("functions", "callers", "tree", "graph", "deep", "modules", "lines", "threads", "zones", "heat", "stats"):
		for options in ((), ("--time", "1ms:"), ("--tick", "1:"), ("--zone", "x"), ("--when", "a->*"), ("--confidence",)):
			result = sonde("report", path, "--view", view, *options)
			assert result.status == 0 or result.err.startswith("sonde: "), (view, options, result)


def reads_or_complains(path, data, *args):
	path.write_bytes(data)
	result = sonde("report", *args, path)
	assert result.status in (0, 1), (data, result)
	if result.status == 1:
		complains(result)


def mutants(data, count):
	"""The same ones every time: bytes changed, put in, left out."""
	rng = random.Random(7)
	for _ in range(count):
		mutant = bytearray(data)
		for _ in range(rng.randint(1, 6)):
			at = rng.randrange(len(mutant))
			mutant[at:at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
		yield bytes(mutant)


@harness.takes_long
def test_truncated_and_mutated_folded_files(folder):
	data = FOLDED.encode()
	for size in range(len(data)):
		reads_or_complains(folder / "a.folded", data[:size], "--view", "tree")
	for mutant in mutants(data, 60):
		reads_or_complains(folder / "a.folded", mutant, "--format", "json")


@harness.takes_long
def test_truncated_and_mutated_dumps(folder):
	(folder / "a.folded").write_text(FOLDED)
	data = check(sonde("convert", folder / "a.folded", "--to", "dump")).out_bytes
	for size in range(0, len(data), 7):
		reads_or_complains(folder / "a.dump", data[:size], "--view", "tree")
	for mutant in mutants(data, 100):
		reads_or_complains(folder / "a.dump", mutant, "--format", "json")


if __name__ == "__main__":
	harness.main()
