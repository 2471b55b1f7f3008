"""Recordings of programs that make code at run time: what they say of it, in a perf map or a jitdump,
gives the names; stacks go through it to the root."""

import os
import pathlib
import re
import shutil

import harness
import recording

NODE = """
function spin(n, x) {
	for (let i = 0; i < n; i++) { x = (x ^ (x << 13)) | 0; x = (x ^ (x >>> 7)) | 0; }
	return x;
}
function inOne(n, x) { return spin(n, x) + 1; }
let x = 1;
const end = Number(process.argv[2]) * 1000;
const used = () => { const t = process.cpuUsage(); return t.user + t.system; };
while (used() < end) { x = inOne(1000000, x | 0); }
console.log(x !== 0);
"""


def record_jit(folder, kind):
	before = set(pathlib.Path("/tmp").glob("perf-*.map"))
	r = recording.record(folder, recording.program(folder, "jit"), kind, harness.work(600), cwd=folder)
	for path in set(pathlib.Path("/tmp").glob("perf-*.map")) - before:
		if "jit" in path.read_text(errors="replace"):
			path.unlink()
	r.check_truth(r.done.out)
	r.check_whole()
	for frames, _ in r.stacks:
		if any(frame.startswith("jit_") for frame in frames):
			assert "main" in frames, frames
	return r


def test_perf_map(folder):
	record_jit(folder, "map")


@harness.takes_long
def test_odd_perf_map(folder):
	r = record_jit(folder, "odd")
	assert abs(r.share("jit_first") - 0.25) < 0.1
	assert "\x1b" not in r.report("--view", "functions")
	assert r.share("wraps") < 0.01


@harness.takes_long
def test_perf_map_with_two_names_of_one_address(folder):
	record_jit(folder, "again")


@harness.takes_long
def test_perf_map_in_a_container(folder):
	"""Its /tmp and its number are its own, and are gone when the recording ends."""
	recording.needs_root()
	program = recording.program(folder, "jit")
	inside = (f"mount -t tmpfs none /run && cp {program} /run/jit && mount -t tmpfs none /tmp"
		f" && exec /run/jit again {harness.work(600)}")
	r = recording.record(folder, "unshare", "-m", "-p", "-f", "sh", "-c", inside, cwd=folder)
	r.check_truth(r.done.out)


@harness.takes_long
def test_perf_map_of_somebody_else(folder):
	"""Only what root, we or the process's user wrote is believed; links are not followed."""
	recording.needs_root()
	program = recording.program(folder, "jit")
	script = (f"ln -s {folder}/planted /tmp/perf-$$.map && exec {program} dump {harness.work(1000)}")
	r = recording.record(folder, "sh", "-c", script, cwd=folder)
	planted = [path for path in pathlib.Path("/tmp").glob("perf-*.map") if path.is_symlink()
		and os.readlink(path) == f"{folder}/planted"]
	for path in planted:
		path.unlink()
	assert planted
	r.check_truth(r.done.out)


def test_jitdump(folder):
	"""Code that took the place of other code has its own name, and code that was moved keeps its."""
	r = record_jit(folder, "dump")
	lines = harness.check(harness.sonde("convert", r.path, "-o", folder / "x.dump", "--to", "dump"))
	assert lines.status == 0
	text = (folder / "x.dump").read_text()
	assert "jit.lisp" in text, text[:2000]


@harness.takes_long
def test_jitdump_that_is_written_late(folder):
	"""Then only the code at each place at the beginning of each second is known."""
	r = record_jit(folder, "late")
	names = {frame for frames, _ in r.stacks for frame in frames}
	assert {"jit_early", "jit_late"} <= names, names
	work = r.working({"work", "main"})
	assert r.share("jit_early", stacks=work) + r.share("jit_late", stacks=work) > 0.95, r.stacks


def record_perf_map(folder, *command, options=()):
	"""Records a program that writes a perf map, and removes that."""
	before = set(pathlib.Path("/tmp").glob("perf-*.map"))
	r = recording.record(folder, *command, options=options, cwd=folder)
	_ = r.stacks
	for path in set(pathlib.Path("/tmp").glob("perf-*.map")) - before:
		if "py::" in path.read_text(errors="replace"):
			path.unlink()
	return r


@harness.takes_long
def test_trampolines_of_interpreters(folder):
	"""They come without unwind rules; the recursion through them is as deep as it was."""
	program = recording.program(folder, "trampolines")
	for shape in ("sub", "push"):
		for depth in (1, 3, 300):
			r = record_perf_map(folder, program, shape, depth, 200, options=recording.exact())
			r.check_whole()
			assert not any(note["kind"] == "guessed" for note in r.notes), (shape, r.notes)
			for frames, _ in r.stacks:
				if "py::work:trampolines.py" in frames:
					assert frames.count("py::recurse:trampolines.py") == depth, (shape, depth, frames)
					assert frames.index("main") < frames.index("py::module:trampolines.py"), frames
			work = r.working({"py::work:trampolines.py", "main"})
			assert r.share("py::work:trampolines.py", stacks=work) > 0.9, r.stacks


def check_frames(r, depth, least):
	"""Stacks of jit_frames, whole and as deep as its recursion."""
	r.check_whole(least)
	inside = [(frames, n) for frames, n in r.stacks if "jit_work" in frames and "[truncated]" not in frames]
	work = sum(n for _, n in r.working({"jit_work", "main"}))
	assert sum(n for _, n in inside) > least * 0.95 * work, r.stacks
	for frames, _ in inside:
		callers = [frame for frame in frames if frame in ("jit_even", "jit_odd")]
		assert callers == ["jit_even", "jit_odd"] * (depth // 2), frames
		assert frames.index("main") < frames.index("jit_even"), frames


def note_count(r, text):
	return sum(note["count"] for note in r.notes if text in note["text"])


@harness.takes_long
def test_jitdump_with_unwind_information(folder):
	"""Frames that cannot be read off the code are those that the jitdump tells, also where other code has
	come to the same place, or the code was moved."""
	program = recording.program(folder, "jit_frames")
	for kind, depth in (("told", 2), ("told", 300), ("changed", 30)):
		r = recording.record(folder, program, kind, depth, harness.work(900), cwd=folder)
		assert note_count(r, "guessed caller") == 0, (kind, r.notes)
		assert note_count(r, "jitdump") == 0, r.notes
		check_frames(r, depth, 0.995)


@harness.takes_long
def test_jitdump_without_unwind_information(folder):
	"""What the case above shows is not read off the code: then callers are a guess, and are shown as that."""
	r = recording.record(folder, recording.program(folder, "jit_frames"), "silent", 30, harness.work(600), cwd=folder)
	guessed = sum(n for frames, n in r.stacks if "[guessed]" in frames or "[truncated]" in frames)
	assert guessed > 0.9 * r.total, r.stacks


def cut(r):
	"""Stacks that are truncated, not guessed."""
	assert r.stats["guessed"] <= r.stats["critical"], r.stats
	return r.stats["critical"] - r.stats["guessed"]


@harness.takes_long
def test_frames_entered_by_a_jump(folder):
	"""No call precedes their return addresses; by their frame pointers they are likely."""
	r = recording.record(folder, recording.program(folder, "jit_frames"), "entered", 30, harness.work(600), cwd=folder)
	inside = [(frames, n) for frames, n in r.stacks if "jit_work" in frames]
	assert sum(n for _, n in inside) > 0.9 * r.total, r.stacks
	assert cut(r) <= 0.01 * r.stats["counted"], (r.stats, r.notes)
	assert r.stats["guessed"] > 0.9 * r.stats["counted"], r.stats
	# The last lines count stacks of waits, too.
	told = int(re.search(r"([\d,]+) stacks with a guessed caller", r.done.err)[1].replace(",", ""))
	assert r.stats["guessed"] <= told <= r.stats["guessed"] + 20, (told, r.stats, r.done)
	assert sum("a jitdump makes it certain" in note["text"] for note in r.notes) == 1, r.notes
	for frames, _ in inside:
		if "[truncated]" in frames:
			continue
		callers = [frame for frame in frames if frame in ("jit_even", "jit_odd")]
		assert callers == ["jit_even", "jit_odd"] * 15, frames
		assert frames.index("main") < frames.index("jit_even") < frames.index("[guessed]"), frames


JAVA = """
public class Deep {
	interface Step { long next(long x); }
	static volatile long result;
	static long spin(Step s, long n) { long x = result; for (long i = 0; i < n; i++) x = s.next(x) + i; return x; }
	static long down(int depth, Step s) { return depth == 0 ? spin(s, 200000) : down(depth - 1, s) + 1; }
	public static void main(String[] args) {
		Step[] steps = {x -> x * 3, x -> x ^ (x << 5)};
		var bean = java.lang.management.ManagementFactory.getThreadMXBean();
		long end = Long.parseLong(args[0]) * 1000000;
		for (int i = 0; bean.getCurrentThreadCpuTime() < end; i++) result += down(20, steps[i % 2]);
	}
}
"""


@harness.takes_long
def test_java(folder):
	"""Compiled code with frame pointers and without, and the interpreter, which pushes where it goes on and
	jumps: its callers are likely, so no stack is cut, and none through it is whole."""
	if not shutil.which("java") or not shutil.which("javac"):
		raise harness.Skip("there is no JDK")
	(folder / "Deep.java").write_text(JAVA)
	harness.check(harness.run("javac", "-d", folder, folder / "Deep.java", timeout=120))
	for options in (["-XX:+PreserveFramePointer"], [], ["-Xint"]):
		r = recording.record(folder, "java", *options, "-cp", folder, "Deep", harness.work(1000, least=500),
			cwd=folder, timeout=120)
		assert cut(r) <= 0.01 * r.stats["counted"] + 2, (options, r.stats, r.notes)
		java = [(frames, n) for frames, n in r.stacks if any("JavaCalls::call_helper" in f for f in frames)
			or "[guessed]" in frames]
		assert sum(n for _, n in java) > 0.4 * r.total, (options, r.report("--view", "functions"))
		assert r.stats["guessed"] > 0.4 * r.stats["counted"], (options, r.stats)
		for frames, _ in java:
			if "[truncated]" not in frames:
				assert frames[0] == "clone3" or frames[0] == "_start", (options, frames)


@harness.takes_long
def test_jitdump_with_broken_records(folder):
	"""They are skipped and counted, and those next to them hold."""
	r = recording.record(folder, recording.program(folder, "jit_frames"), "broken", 30, harness.work(600), cwd=folder)
	assert note_count(r, "jitdump") == 12, r.notes
	check_frames(r, 30, 0.995)


@harness.takes_long
def test_jitdump_with_unwind_information_recorded_by_perf(folder):
	if not shutil.which("perf"):
		raise harness.Skip("there is no perf")
	program = recording.program(folder, "jit_frames")
	if harness.run("perf", "record", "-q", "-k", "mono", "-e", "cpu-clock:u", "-F", "299", "--call-graph",
			"dwarf,32768", "-o", folder / "perf.data", program, "changed", 30, harness.work(900),
			cwd=folder).status != 0:
		raise harness.Skip("perf record fails here")
	r = recording.Recording(folder / "perf.data")
	assert note_count(r, "guessed caller") == 0, r.notes
	check_frames(r, 30, 0.98)


@harness.takes_long
def test_perf_map_of_another_time(folder):
	"""A perf.data file names a process's number, and a map in /tmp may be another process's."""
	if not shutil.which("perf"):
		raise harness.Skip("there is no perf")
	program = recording.program(folder, "jit")
	for clock in [], ["-k", "mono"]:
		path = folder / f"{len(clock)}.data"
		before = set(pathlib.Path("/tmp").glob("perf-*.map"))
		if harness.run("perf", "record", "-q", "-e", "cpu-clock:u", "-F", "199", "-g", *clock, "-o", path, program, "map",
				harness.work(200), cwd=folder).status != 0:
			raise harness.Skip("perf record fails here")
		ours = [m for m in set(pathlib.Path("/tmp").glob("perf-*.map")) - before if "jit_" in m.read_text(errors="replace")]
		written = ours[0].stat().st_mtime
		try:
			for age, word in (0, ""), (-300, "older than"), (3600, "after its process ended"):
				os.utime(ours[0], (written + age, written + age))
				r = recording.Recording(path)
				notes = [note["text"] for note in r.notes if "perf map" in note["text"]]
				assert len(notes) == bool(word) and word in "".join(notes), (age, notes)
				assert bool(word) != any("jit_" in frame for frames, _ in r.stacks for frame in frames)
		finally:
			for left in ours:
				left.unlink()


@harness.takes_long
def test_node_with_unwind_information(folder):
	"""Most code of V8 comes with records that have no entries; they are none that are bad."""
	r = record_node(folder, "--perf-prof", "--perf-prof-unwinding-info")
	assert not [note for note in r.notes if "jitdump" in note["text"] and note["kind"] != "guessed"], r.notes


PYTHON = """
def work(n):
	s = 0
	for i in range(n):
		s += i * i % 7
	return s

def recurse(depth):
	return work(3000) if depth == 0 else recurse(depth - 1) + 1

import time
end = time.process_time() + 1.0
while time.process_time() < end:
	recurse(30)
"""


def python_with(option, since):
	"""A Python that has the option: SONDE_PYTHON, or one that is on the path."""
	check = f"import sys; print(sys.version_info >= {since} and sys.is_stack_trampoline_active())"
	for name in (os.environ.get("SONDE_PYTHON"), "python3.14", "python3.13", "python3.12", "python3"):
		path = name and shutil.which(name)
		if path and harness.run(path, "-X", option, "-c", check).out.strip() == "True":
			return path
	raise harness.Skip(f"there is no Python that supports -X {option}")


def check_python(folder, option, since):
	before = {*pathlib.Path("/tmp").glob("perf-*.map"), *pathlib.Path("/tmp").glob("jit-*.dump")}
	try:
		python = python_with(option, since)
		(folder / "work.py").write_text(PYTHON)
		r = recording.record(folder, python, "-X", option, "work.py", cwd=folder)
		stacks = r.stacks
	finally:
		after = {*pathlib.Path("/tmp").glob("perf-*.map"), *pathlib.Path("/tmp").glob("jit-*.dump")}
		for path in after - before:
			if b"py::" in path.read_bytes():
				path.unlink()
	r.check_whole(0.99)
	deep = [(frames, n) for frames, n in stacks if any("::work:" in frame for frame in frames)]
	assert sum(n for _, n in deep) > 0.8 * r.total, stacks
	for frames, _ in deep:
		if "[truncated]" not in frames:
			assert sum("::recurse:" in frame for frame in frames) == 31, frames


def test_python_with_a_perf_map(folder):
	check_python(folder, "perf", (3, 12))


def test_python_with_a_jitdump(folder):
	check_python(folder, "perf_jit", (3, 13))


def test_python_with_a_jitdump_recorded_by_perf(folder):
	"""Its trampolines are in the jitdump, by which stacks that perf has copied are walked."""
	if not shutil.which("perf"):
		raise harness.Skip("there is no perf")
	before = set(pathlib.Path("/tmp").glob("jit-*.dump"))
	try:
		python = python_with("perf_jit", (3, 13))
		(folder / "work.py").write_text(PYTHON.replace("recurse(30)", "recurse(3)"))
		if harness.run("perf", "record", "-q", "-k", "mono", "-e", "cpu-clock:u", "-F", "299",
				"--call-graph", "dwarf,32768", "-o", folder / "perf.data", python, "-X", "perf_jit",
				"work.py", cwd=folder).status != 0:
			raise harness.Skip("perf record fails here")
		r = recording.Recording(folder / "perf.data")
		deep = [(frames, n) for frames, n in r.stacks if any("::work:" in f for f in frames)]
	finally:
		for path in set(pathlib.Path("/tmp").glob("jit-*.dump")) - before:
			if b"py::" in path.read_bytes():
				path.unlink()
	assert sum(n for _, n in deep) > 0.8 * r.total, r.stacks
	whole = sum(n for frames, n in deep if frames[0] == "_start"
		and sum("::recurse:" in frame for frame in frames) == 4)
	assert whole > 0.95 * sum(n for _, n in deep), deep


def record_node(folder, *options):
	if not shutil.which("node"):
		raise harness.Skip("there is no node")
	script = folder / "work.js"
	script.write_text(NODE)
	r = recording.record(folder, "node", *options, script, harness.work(2000, least=1000), cwd=folder, timeout=120)
	r.check_whole(0.99)
	spin = [(frames, samples) for frames, samples in r.stacks
		if any("spin" in frame and "work.js" in frame for frame in frames)]
	assert sum(samples for _, samples in spin) > 0.5 * r.total, r.report("--view", "functions")
	for frames, _ in spin:
		if "[truncated]" not in frames:
			assert frames[0] == "_start" and any("node::Start" in frame for frame in frames), frames
	return r


@harness.takes_long
def test_node_with_a_perf_map(folder):
	before = set(pathlib.Path("/tmp").glob("perf-*.map"))
	try:
		record_node(folder, "--perf-basic-prof")
	finally:
		for path in set(pathlib.Path("/tmp").glob("perf-*.map")) - before:
			if "work.js" in path.read_text(errors="replace"):
				path.unlink()


@harness.takes_long
def test_node_alone(folder):
	"""Without a jitdump some callers are likely only; nothing is cut."""
	if not shutil.which("node"):
		raise harness.Skip("there is no node")
	script = folder / "work.js"
	script.write_text(NODE + """
const rows = [];
for (let i = 0; i < 2000; i++) rows.push({ key: "k" + (i * 7919) % 2003 });
const more = used() + Number(process.argv[2]) * 500;
while (used() < more) {
	const sorted = rows.slice().sort((a, b) => (a.key < b.key ? -1 : 1));
	x += JSON.stringify(sorted.map(row => row.key.replace("k", "q"))).length;
}
""")
	r = recording.record(folder, "node", script, harness.work(1200, least=600), cwd=folder, timeout=120)
	assert cut(r) <= 0.01 * r.stats["counted"] + 2, (r.stats, r.notes)


@harness.takes_long
def test_node_with_a_jitdump(folder):
	record_node(folder, "--perf-prof")


harness.main()
