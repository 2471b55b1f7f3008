"""Hostile variants of files in every format that is read: cut, damaged, nested, claiming more than there is.

What is varied are the seeds of tests/fuzz, what sonde writes itself, and other tools' files where the
machine has some (see tests/corpus/corpus.py).  Whatever the bytes: no crash, no hang, status 0 or 1 (a
usage error is 2, where a program would have to be named), one line that names the file where nothing could
be read, and memory of at most 64 MiB and four times the input (as unpacked).  Variants are the same in every run.
"""

import concurrent.futures
import gzip
import itertools
import os
import pathlib
import random
import re
import string
import subprocess
import tempfile

import harness
from harness import LONG, SANITIZED, SONDE, SOURCE_ROOT, check, sonde
from proto_wire import put_varint

SEEDS = SOURCE_ROOT / "tests" / "fuzz" / "seeds"
CORPUS = pathlib.Path(os.environ.get("SONDE_CORPUS", SOURCE_ROOT.parent / "shared" / "corpus"))
# What runs under sanitizers has shadow memory and quarantine.
LIMIT_BYTES = None if SANITIZED else 64 << 20
TIMES = 4
SECONDS = 20
# Seeds of what is no profile.
NOT_READ = {"code", "demangle", "jitdump", "perfmap", "when"}


def names_of(column):
	"""The formats that `sonde formats` has a "yes" for in that column."""
	lines = check(sonde("formats")).out.splitlines()
	at = lines[0].index(column)
	return [line.split()[0] for line in lines[1:] if line[at:at + 3] == "yes"]


def run_on(path, size, arguments=(), times=TIMES):
	"""Runs a report of the file; returns what is wrong, or None."""
	read, write = os.pipe()
	with open(os.devnull, "wb") as null:
		child = subprocess.Popen([SONDE, "report", str(path), "--format", "json", *arguments], stdin=null, stdout=null,
			stderr=write, env={**os.environ, "XDG_CACHE_HOME": "/nonexistent"})
	os.close(write)
	with os.fdopen(read, "rb") as stream:
		timer = concurrent.futures.ThreadPoolExecutor(1)
		text = timer.submit(stream.read)
		try:
			said = text.result(SECONDS * (10 if SANITIZED else 1)).decode("utf-8", "replace")
		except concurrent.futures.TimeoutError:
			child.kill()
			child.wait()
			return f"no end after {SECONDS} s"
		finally:
			timer.shutdown(wait=False)
	_, status, usage = os.wait4(child.pid, 0)
	child.returncode = os.waitstatus_to_exitcode(status)
	if child.returncode not in (0, 1, 2) or "Sanitizer" in said or "runtime error" in said:
		return f"status {child.returncode}: {said[-1500:]}"
	if child.returncode and (said.count("\n") != 1 or not said.startswith("sonde: ")):
		return f"not one line: {said[:1500]}"
	if re.search("[\x00-\x09\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e]", said):
		return f"raw control characters: {said!r}"
	if LIMIT_BYTES and usage.ru_maxrss * 1024 > LIMIT_BYTES + times * size:
		return f"{usage.ru_maxrss >> 10} MiB of memory for {size} bytes"
	return None


def damage(data, rng):
	"""A few bytes changed, removed, doubled, or made numbers at the edges."""
	data = bytearray(data)
	for _ in range(rng.choice((1, 1, 2, 4, 16))):
		if not data:
			break
		at, kind = rng.randrange(len(data)), rng.randrange(6)
		size = rng.choice((1, 2, 4, 8, 64))
		if kind == 0:
			data[at] ^= 1 << rng.randrange(8)
		elif kind == 1:
			data[at:at + size] = rng.choice((0, 1, 0x7f, 0x80, 0xff, 0x7fffffff, 0x80000000, 2**63 - 1, 2**64 - 1)
				).to_bytes(8, "little")[:size]
		elif kind == 2:
			del data[at:at + size]
		elif kind == 3:
			data[at:at] = data[rng.randrange(len(data)):][:size]
		elif kind == 4:
			data[at:at] = rng.choice((b"\xff\xfe\x00", b"\x1b[31m", b"\xe2\x80\xae", b"99999999999999999999", b"-1", b'"', b"{[",
				b"\n", b"\0"))
		else:
			data[at:at] = bytes(rng.randrange(256) for _ in range(size))
	return bytes(data)


def variants(data, seed, count):
	"""(what, bytes) of one file: cut at many places, and damaged."""
	rng = random.Random(seed)
	cuts = {0, 1, 2, 3, 4, 7, 8, 16, len(data) // 2, len(data) - 1} | {rng.randrange(len(data) + 1) for _ in range(count)}
	for cut in sorted(c for c in cuts if 0 <= c <= len(data)):
		yield f"cut at {cut}", data[:cut]
	for i in range(2 * count):
		yield f"mutant {i}", damage(data, rng)


def unpacked(path):
	data = path.read_bytes()
	return gzip.decompress(data) if path.suffix == ".gz" and data[:2] == b"\x1f\x8b" else data


def judge_all(folder, files, count):
	"""files: (name, bytes).  All variants of all, by as many processes as there are CPUs."""
	problems = []

	def work(item):
		number, (name, data) = item
		path = folder / f"input-{number}"
		for what, bytes_ in variants(data, f"{name} {len(data)}", count):
			path.write_bytes(bytes_)
			problem = run_on(path, len(bytes_))
			if problem:
				problems.append(f"{name}, {what}: {problem}")
		path.unlink(missing_ok=True)

	with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
		list(pool.map(work, enumerate(files)))
	assert not problems, f"{len(problems)}:\n" + "\n".join(problems[:10])


@harness.takes_hours
def test_variants_of_the_seeds(folder):
	files = [(f"{path.parent.name}/{path.name}", path.read_bytes())
		for path in sorted(SEEDS.rglob("*")) if path.is_file() and path.relative_to(SEEDS).parts[0] not in NOT_READ]
	assert len(files) > 20
	judge_all(folder, files, 100 if LONG else 2 if SANITIZED else 6)


@harness.takes_long
def test_variants_of_what_is_written(folder):
	profiles = ["threads.dump", "zones.dump", "recording.dump", "events.dump"]
	files = []
	for name in profiles:
		for format in names_of("write"):
			if format in names_of("read"):
				result = sonde("convert", SOURCE_ROOT / "tests" / "golden" / "in" / name, "--to", format, "-o", folder / "x")
				if result.status == 0:
					files.append((f"{name} as {format}", (folder / "x").read_bytes()))
	assert len(files) > 20, files
	judge_all(folder, files, 60 if LONG else 1 if SANITIZED else 4)


@harness.takes_hours
def test_variants_of_other_tools_files(folder):
	if not CORPUS.is_dir():
		raise harness.Skip("other tools' files are not on this machine (SONDE_CORPUS)")
	paths = [p for p in sorted(CORPUS.rglob("*")) if p.is_file() and p.stat().st_size < (1 << 20)
		and p.suffix not in (".md", ".tsv", ".snap", ".c", ".h", ".pb_text", ".textproto")]
	if not LONG:
		paths = random.Random(6).sample(paths, min(len(paths), 20 if SANITIZED else 60))
	judge_all(folder, [(str(p.relative_to(CORPUS)), unpacked(p)) for p in paths], 40 if LONG else 1)


def shell(command):
	return subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, check=True).stdout


def bombs():
	"""(name, bytes): small inputs that ask for much."""
	many = 1 << 20
	yield "objects in objects", b'{"a":' * many
	yield "arrays in arrays", b"[" * many + b"]" * many
	yield "speedscope, arrays in arrays", b'{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":' + b"[" * many
	yield "trace events in trace events", b'[{"ph":"B","ts":1,"name":"a","args":' + b'{"b":' * many
	yield "trace events that only begin", b"[" + b'{"ph":"B","ts":1,"pid":1,"tid":1,"name":"a"},' * 50000
	yield "a length of 2 GB in protobuf", b"\x12" + put_varint(1 << 31) + b"\x0a\x03abc"
	yield "a length of 2^63 in protobuf", b"\x12" + put_varint((1 << 63) - 1)
	yield "groups in groups in protobuf", b"\x0b" * many
	yield "empty samples of pprof", b"\x0a\x00\x32\x00" + b"\x12\x00" * (2 * many)
	yield "empty functions of pprof", b"\x0a\x00\x32\x00" + b"\x2a\x00" * (2 * many)
	yield "a stack of one location", b"\x0a\x00\x32\x00\x22\x02\x08\x01\x12" + put_varint(many + 5) + b"\x0a" + put_varint(many) \
		+ b"\x01" * many + b"\x10\x01"
	# Made by others: a process's peak of memory begins with its parent's.  What is packed may unpack to
	# 256 times its size (deep recursions do) and is held at once.
	yield "gzip in gzip in gzip", shell("head -c 64M /dev/zero | gzip | gzip | gzip")
	yield "zeros, packed", shell("head -c 256M /dev/zero | gzip")
	yield "spaces in JSON, packed", shell("(printf '['; head -c 256M /dev/zero | tr '\\0' ' ') | gzip")
	yield "one folded line of one-letter names", b"a;" * many + b"b 1\n"
	yield "one folded line", b"a_function_that_calls_itself;" * (many // 4) + b"b 1\n"
	yield "a folded weight of a million digits", b"a;b " + b"9" * many + b"\n"
	yield "callgrind, names without end", b"# callgrind format\nevents: Ir\nfn=(1) " + b"x" * many
	yield "callgrind, names that are not there", b"events: Ir\n" + b"fn=(4294967295)\n+1 1\n" * 50000
	yield "callgrind, calls in a circle", b"events: Ir\n" + b"".join(
		b"fn=(%d) f%d\n1 1\ncfn=(%d)\ncalls=1 1\n1 100\n" % (i, i, (i + 1) % 2000) for i in range(2000))
	yield "callgrind, steps back below zero", b"events: Ir\nfn=a\n" + b"-9223372036854775807 1\n" * 1000
	yield "perf script, one frame over and over", b"a 1 1.0: 1 c:\n" + b"\t1 a (b)\n" * 100000 + b"\n"
	yield "perf script without frames", b"a 1 1.0: 1 c:\n\n" * 100000
	yield "perf.data, sections of 2^63 bytes", b"PERFILE2" + (104).to_bytes(8, "little") + b"\xff" * 88
	yield "perf.data, records of no size", b"PERFILE2" + (16).to_bytes(8, "little") + b"\0" * many
	yield "heaptrack, an alphabet of traces", b"v 10000 3\n" + b"".join(b"t 1 %x\n" % i for i in range(100000))
	yield "dump, stacks in stacks", b"sonde-dump 1\nmetric \"a\" \"count\" default\n" + b"function \"f\"\nframe\n" \
		+ b"".join(b"stack %d \"f\" 1\n" % i for i in range(50000)) + b"end\n"


def floods():
	"""(name, pieces): eight megabytes of the smallest records, each a name, stack, thread or place that is new."""
	size = 8 << 20

	def names(bytes_each):
		letters = string.ascii_letters + string.digits
		return enumerate(map("".join, itertools.islice(itertools.product(letters, repeat=4), size // bytes_each)), 1)
	yield "folded names", (n + " 1\n" for _, n in names(7))
	yield "folded frames", itertools.chain((n + ";" for _, n in names(5)), ("x 1\n",))
	yield "folded stacks", (f"{n[:2]};{n[2:]} 1\n" for _, n in names(8))
	yield "threads of perf script", (f"{n} {i} 1.0: 1 c:\n\t1 a (b)\n\n" for i, n in names(31))
	yield "load objects of perf script", (f"a 1 1.0: 1 c:\n\t1 a ({n})\n\n" for _, n in names(26))
	yield "functions of a dump", itertools.chain(('sonde-dump 1\nmetric "a" "count" default\n',),
		(f'function "{n}"\n' for _, n in names(16)), ("end\n",))
	yield "functions of heaptrack", itertools.chain(("v 10400 3\n",),
		(f"s 4 {n}\ni 1 1 {i:x}\nt {i:x} 0\na 1 {i:x}\n+ {i - 1:x}\n" for i, n in names(42)))


@harness.takes_long
def test_floods_of_small_records(folder):
	problems = []
	for name, pieces in floods():
		path = folder / "flood"
		# Never whole in memory: a process's peak begins with its parent's.
		with open(path, "w") as file:
			file.writelines(pieces)
		problem = run_on(path, path.stat().st_size)
		if problem:
			problems.append(f"{name}: {problem}")
		if "[left out]" not in check(sonde("report", path, "--limit", "1")).out:
			problems.append(f"{name}: nobody says what was left out")
	assert not problems, "\n".join(problems)


@harness.takes_long
def test_bombs(folder):
	problems = []
	for name, data in bombs():
		path = folder / "bomb"
		path.write_bytes(data)
		for arguments in ([], *(["--from", f] for f in names_of("read") if LONG and f not in ("gmon", "uftrace", "gprofng"))):
			problem = run_on(path, len(data), arguments, 300 if data[:2] == b"\x1f\x8b" else TIMES)
			if problem:
				problems.append(f"{name} {arguments}: {problem}")
	assert not problems, "\n".join(problems)


@harness.takes_long
def test_pattern_of_many_threads(folder):
	"""A WHEN pattern that stands for 3^80 threads, on stacks that never decide between them for long."""
	rng = random.Random(7)
	lines = 200 if SANITIZED else 2000
	path = folder / "stacks.folded"
	path.write_text("".join(";".join(rng.choice("ab") for _ in range(300)) + " 1\n" for _ in range(lines)))
	group = "(.a|.b|:.a->.b:)"
	for pattern in ("->".join([group] * 80), "->".join([group] * 80) + "->*", "->*->".join([group] * 80)):
		problem = run_on(path, path.stat().st_size, ["--when", pattern])
		assert problem is None, f"{pattern[-30:]}: {problem}"


harness.main()
