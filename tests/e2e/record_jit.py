"""Recordings of programs that make code at run time: what they say of it, in a perf map or a jitdump,
gives the names; stacks go through it to the root."""

import os
import pathlib
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


def test_odd_perf_map(folder):
	r = record_jit(folder, "odd")
	assert abs(r.share("jit_first") - 0.25) < 0.1
	assert "\x1b" not in r.report("--view", "functions")
	assert r.share("wraps") < 0.01


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


def test_jitdump_that_is_written_late(folder):
	"""Then only what stood somewhere at the beginning of each second can be told."""
	r = record_jit(folder, "late")
	names = {frame for frames, _ in r.stacks for frame in frames}
	assert {"jit_early", "jit_late"} <= names, names
	assert r.share("jit_early") + r.share("jit_late") > 0.95


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


def test_node_with_a_perf_map(folder):
	before = set(pathlib.Path("/tmp").glob("perf-*.map"))
	try:
		record_node(folder, "--perf-basic-prof")
	finally:
		for path in set(pathlib.Path("/tmp").glob("perf-*.map")) - before:
			if "work.js" in path.read_text(errors="replace"):
				path.unlink()


def test_node_with_a_jitdump(folder):
	record_node(folder, "--perf-prof")


harness.main()
