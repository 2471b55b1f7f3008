"""The exact engine: every stack whole, however deep and however short-lived; how it is refused; and how it
comes to the default one, which has it loaded as well."""

import collections
import itertools
import os
import shutil
import signal
import struct
import subprocess
import time

import harness
import recording

EXACT = ["--engine", "exact"]
SHT_SYMTAB, SHT_REL, STT_FUNC = 2, 9, 2
BPF_LDX, BPF_ST, BPF_STX, BPF_FP = 1, 2, 3, 10
BPF_MOV_X, BPF_ADD_K, BPF_LD_IMM64, BPF_CALL, BPF_PSEUDO_CALL = 0xBF, 0x07, 0x18, 0x85, 1


def needs_exact():
	recording.needs_sampling()
	for line in harness.sonde("doctor").out.splitlines():
		name, verdict, text = line[:14].strip(), line[15:23].strip(), line[24:]
		if name == "exact stacks" and verdict != "ok":
			# A fault of the program, not a lack of rights.
			assert "the verifier: " not in text, text
			raise harness.Skip(text)


def record(folder, *command):
	needs_exact()
	r = recording.record(folder, *command, options=EXACT)
	assert "no exact stacks" not in r.done.err, r.done.err
	return r


def not_exact(r):
	"""Stacks for which there was no room, as the recorder got no CPU for long, and which it tells."""
	return sum(note["count"] for note in r.notes if "found no room" in note["text"])


def check_whole(r):
	assert r.stats["critical"] <= not_exact(r), (r.stats, r.notes)


def test_shares_are_what_was_programmed(folder):
	r = record(folder, recording.program(folder, "shares"), harness.work(640))
	r.check_truth(r.done.out)
	r.check_captured()
	check_whole(r)


@harness.takes_long
def test_recursion_is_walked_to_its_root(folder):
	r = record(folder, recording.program(folder, "deep"), 10000, harness.work(1000))
	r.check_truth(r.done.out)
	check_whole(r)
	for frames, _ in r.stacks:
		if frames[-1:] == ["bottom"]:
			assert frames.count("level") == 10000, frames.count("level")
			assert "main" in frames


@harness.takes_long
def test_recursion_of_65536_levels_is_walked_whole(folder):
	program = recording.program(folder, "deep")
	r = record(folder, "sh", "-c", f"ulimit -s unlimited && exec {program} 65536 {harness.work(1200)}")
	check_whole(r)
	rows = r.json("--view", "tree", "--collapse", "none", "--limit", "0")["rows"]
	assert sum(1 for row in rows if row["name"] == "level") >= 65536


@harness.takes_long
def test_stacks_that_are_gone_a_moment_later(folder):
	r = record(folder, recording.program(folder, "plunge"), 5000, harness.work(1500))
	check_whole(r)
	deepest, mixed = 0, []
	for frames, samples in r.stacks:
		if "main" not in frames:
			continue
		below = frames[frames.index("main") + 1:]
		if {"odd", "even"} <= set(below) or len(below) > 5001:
			mixed += [f"{len(below)} frames: {below[:3]}…{below[-3:]}"] * samples
		deepest = max(deepest, len(below))
	assert len(mixed) <= not_exact(r), (mixed, r.notes)
	assert deepest > 4000


@harness.takes_long
def test_threads_on_stacks_side_by_side(folder):
	r = record(folder, recording.program(folder, "threads"), 8, harness.work(1000))
	r.check_truth(r.done.out)
	check_whole(r)


@harness.takes_long
def test_children_by_fork_exec_and_vfork(folder):
	r = record(folder, recording.program(folder, "processes"), harness.work(800))
	r.check_truth(r.done.out)
	check_whole(r)


def record_with_pauses(folder):
	"""Records stacks that are left and come back, while the recorder gets no CPU now and then."""
	program = recording.program(folder, "returns")
	running = recording.start(folder, program, harness.work(1000, least=1000), 4, "deep", options=EXACT)
	pid, worked = running.process.pid, 0.2
	for _ in range(12):
		recording.wait_for_work(pid, worked)
		os.kill(pid, signal.SIGSTOP)
		worked = recording.wait_for_work(pid, recording.children_seconds(pid) + 0.02) + 0.1
		os.kill(pid, signal.SIGCONT)
	assert running.end() == 0, running.err
	return running.recording


@harness.takes_long
def test_frames_that_come_back_while_samples_wait(folder):
	"""The recorder walks each sample with what it knows of the one before; what is copied has to fit that.
	On a busy machine it falls so far behind that some stacks find no room, which truncates others too."""
	needs_exact()
	for _ in range(4):
		r = record_with_pauses(folder)
		if not_exact(r) == 0:
			break
	else:
		raise harness.Skip("the recorder fell behind each time")
	work = r.working({"down", "over"})
	for name in ("down", "over"):
		assert abs(r.share(name, stacks=work) - 0.5) < 0.08, (name, r.share(name, stacks=work))
	assert r.stats["critical"] == 0, (r.stats, r.notes)


@harness.takes_long
def test_handlers_on_their_own_stack(folder):
	"""The interrupted stack is not copied: it is read while the handler goes on, which may come too late."""
	r = record(folder, recording.program(folder, "signal_stack"), harness.work(1000))
	r.check_truth(r.done.out)
	assert r.stats["critical"] <= 0.005 * r.stats["counted"] + not_exact(r), (r.stats, r.notes)


def later_part(r):
	"""By then the program has been loaded: that takes a while, and on a busy machine long."""
	part = r.json("--view", "stats", "--time", f"{r.stats['duration_ns'] / 2e9}s:")["rows"][0]
	assert part["counted"] > 100, part
	return part


def check_later_part(r):
	part = later_part(r)
	assert part["critical"] <= 0.005 * part["counted"] + not_exact(r), (part, r.notes)


def check_once(folder, r):
	"""No time of a thread was sampled twice, or not at all."""
	lines = harness.check(harness.sonde("convert", r.path, "--to", "dump", "-o", "-")).out.splitlines()
	times = collections.defaultdict(list)
	for words in map(str.split, lines):
		if words[0] == "sample" and words[words.index("weight") + 1] == "1":
			times[words[words.index("thread") + 1]].append(int(words[words.index("time") + 1]))
	near = sum(after - before < 0.7 * recording.INTERVAL_NS
		for thread in times.values() for before, after in itertools.pairwise(sorted(thread)))
	assert near <= 3 + 0.02 * r.stats["counted"], f"{near} samples too near to each other"
	taken = r.taken_seconds * 1e9 / recording.INTERVAL_NS
	assert r.stats["counted"] >= 0.97 * r.stats["expected"] - taken - len(times), (r.stats, taken)


def default(folder, *command, options=()):
	needs_exact()
	return recording.record(folder, *command, options=options)


@harness.takes_long
def test_by_default_large_frames_gone_within_microseconds(folder):
	r = default(folder, recording.program(folder, "lunge"), 1500, 0, 0)
	r.check_truth(r.done.out)
	check_once(folder, r)
	check_later_part(r)
	for frames, _ in r.stacks:
		if frames[-1:] in (["near"], ["far"]) and "main" in frames:
			assert frames.count("down") == 30, frames


@harness.takes_long
def test_by_default_threads_from_before_the_program(folder):
	"""They have their events without it, and are served all the same; no time is sampled twice."""
	r = default(folder, recording.program(folder, "lunge"), 800, 3, 0)
	r.check_truth(r.done.out)
	check_once(folder, r)
	check_later_part(r)


@harness.takes_long
def test_by_default_children_from_before_the_program(folder):
	r = default(folder, recording.program(folder, "lunge"), 800, 1, 1)
	r.check_truth(r.done.out)
	check_once(folder, r)
	check_later_part(r)


@harness.takes_long
def test_by_default_threads_from_after_it(folder):
	"""What inherits the events once the program has come to them runs it, too."""
	program = recording.program(folder, "lunge")
	r = default(folder, "sh", "-c", f"{program} 500 0 0; {program} 600 1 0 >&2")
	check_once(folder, r)
	check_later_part(r)


def attach(folder, seconds):
	"""Records a process with threads that runs already."""
	needs_exact()
	program = recording.program(folder, "lunge")
	target = subprocess.Popen([program, "60000", "2", "0"], stdout=subprocess.DEVNULL)
	try:
		running = recording.start(folder, options=["--duration", f"{seconds}s", "-p", target.pid])
		assert running.end() == 0, running.err
		return running.recording
	finally:
		target.kill()
		target.wait()


@harness.takes_long
def test_by_default_attached(folder):
	check_later_part(attach(folder, 3))


def start_ns(folder, program, engine):
	"""From our own start to the program's first instruction, about."""
	begin = time.monotonic_ns()
	r = recording.record(folder, program, options=["--engine", engine])
	return int(r.done.out) - begin


@harness.takes_long
def test_the_default_does_not_delay_the_exec(folder):
	"""Loading takes tens of milliseconds, as --engine exact shows, for which no target waits."""
	needs_exact()
	program = recording.program(folder, "moment")

	def attempt():
		least = {engine: min(start_ns(folder, program, engine) for _ in range(5))
			for engine in ("snapshot", "auto", "exact")}
		waited = least["exact"] - least["snapshot"]
		assert waited > 0 and least["auto"] - least["snapshot"] < waited / 2, least
	recording.patiently(attempt)


def test_kernels_may_lack_what_its_programs_call():
	"""libbpf looks up every function of the kernel, also of the program that it does not load: an older kernel
	refuses both programs for one that it lacks, unless that is weak."""
	built = harness.BUILD_ROOT / "src/record/exact.bpf.o"
	if not built.exists() or not shutil.which("readelf"):
		raise harness.Skip("there is no readelf, or no exact engine")
	symbols = [line.split() for line in harness.check(harness.run("readelf", "-sW", built)).out.splitlines() if " UND " in line]
	bindings = {symbol[7]: symbol[4] for symbol in symbols if len(symbol) > 7}
	assert bindings == {"bpf_cast_to_kern_ctx": "WEAK"}, bindings


def frames_of(path):
	"""{function: (bytes of its frame, the functions that it calls or hands to bpf_loop)} of a BPF object."""
	data = path.read_bytes()
	at, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
	sections = [struct.unpack_from("<IIQQQQII", data, at + 64 * i) for i in range(count)]
	starts = [section[4] for section in sections]
	_, _, _, _, table, size, names, _ = next(section for section in sections if section[1] == SHT_SYMTAB)
	symbols = [struct.unpack_from("<IBBHQQ", data, at) for at in range(table, table + size, 24)]
	symbol_of = {}
	for _, kind, _, _, start, size, _, of in sections:
		for at in range(start, start + size, 16) if kind == SHT_REL else ():
			offset, information = struct.unpack_from("<QQ", data, at)
			symbol_of[of, offset] = symbols[information >> 32]
	functions = {(section, value): (data[starts[names] + name:].split(b"\0", 1)[0].decode(), size)
		for name, information, _, section, value, size in symbols if information & 15 == STT_FUNC}
	frames = {}
	for (section, first), (name, size) in functions.items():
		low, pointers, called = 0, set(), set()
		for at in range(first, first + size, 8):
			code, registers, offset, number = struct.unpack_from("<BBhi", data, starts[section] + at)
			to, source = registers & 15, registers >> 4
			symbol = symbol_of.get((section, at))
			if (code & 7 == BPF_LDX and source == BPF_FP) or (code & 7 in (BPF_ST, BPF_STX) and to == BPF_FP):
				low = min(low, offset)
			elif code == BPF_MOV_X and source == BPF_FP:
				pointers.add(to)
			elif code == BPF_ADD_K and to in pointers:
				low = min(low, number)
				pointers.remove(to)
			elif code == BPF_LD_IMM64 and symbol:
				called |= {functions[place][0] for place in [(symbol[3], symbol[4] + number)] if place in functions}
			elif code == BPF_CALL and symbol:
				called |= {functions[place][0] for place in [(symbol[3], symbol[4] + (number + 1) * 8)] if place in functions}
			elif code == BPF_CALL and source == BPF_PSEUDO_CALL:
				called.add(functions[section, at + (number + 1) * 8][0])
		frames[name] = -low, called
	return frames


def test_the_frames_of_its_programs_fit_into_older_kernels():
	"""Before Linux 6.13, the frames of functions that call each other take at most 512 bytes together, each one
	rounded up, in 6.1 to 32. This kernel may grant each of them 512."""
	built = harness.BUILD_ROOT / "src/record/exact.bpf.o"
	if not built.exists():
		raise harness.Skip("there is no exact engine")
	frames = frames_of(built)

	def deepest(name):
		size, called = frames[name]
		beyond = max((deepest(other) for other in called), default=(0, ()))
		return (max(size, 1) + 31) // 32 * 32 + beyond[0], (f"{name} {size}", *beyond[1])
	for program in ("on_sample", "on_sample_told"):
		total, chain = deepest(program)
		# The sample; what it is copied with; and what finds the mapping: none is missing.
		assert frames[program][0] >= 72 and frames["take_sample"][0] >= 96 and len(chain) >= 4, frames
		assert total <= 512, f"{total}: {' > '.join(chain)}"


def test_without_the_rights_it_is_snapshot(folder):
	program = recording.program(folder, "deep")
	done = recording.as_nobody(folder, program, 1000, harness.work(250), options=EXACT).done
	harness.check(done)
	assert "no exact stacks, sampling as with --engine snapshot: " in done.err, done.err
	assert done.err.count("no exact stacks") == 1, done.err


def test_without_locked_memory_or_descriptors_for_it(folder):
	"""Some of the file descriptors that it takes are refused: it goes on without."""
	if not shutil.which("prlimit"):
		raise harness.Skip("there is no prlimit")
	needs_exact()
	program = recording.program(folder, "shares")
	path = folder / "test.prof"
	for files in (12, 16, 20):
		done = harness.run("prlimit", f"--nofile={files}", harness.SONDE, "record", *EXACT, "-o", path,
			"--", program, harness.work(160))
		assert done.status == 0 or (done.status == 125 and "sonde: " in done.err), done


harness.main()
