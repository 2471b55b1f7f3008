"""What perf records here, compared with what perf makes of it: stacks as perf script has them, shares as perf report."""

import collections
import json
import math
import re
import shutil
import subprocess
import time

import harness
from harness import SOURCE_ROOT, Skip, check, compile_c, run, sonde

# Argument: CPU time that a turn of `few` uses, in ms; there are 8 of these in all.
PROGRAM = (SOURCE_ROOT / "tests" / "programs" / "cpu_time.h").read_text() + r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define KEEP __attribute__((noinline, noclone))
static volatile unsigned long sink;
static double ms;
KEEP void spin(double for_ms)
{
	struct cpu_time time = cpu_time_of_thread(for_ms);
	do
		for (unsigned long i = 0; i < 100000; i++)
			sink += i * i;
	while (cpu_time_is_left(&time));
}
KEEP void few(void) { spin(ms); sink++; }
KEEP void many(void) { spin(3 * ms); sink++; }
KEEP void deep(int level) { if (level) deep(level - 1); else few(); sink++; }
KEEP void *work(void *x) { many(); deep(20); return x; }
int main(int argc, char **argv)
{
	pthread_t thread;
	ms = argc > 1 ? atof(argv[1]) : 1;
	pthread_create(&thread, 0, work, 0);
	if (fork() == 0) { many(); _exit(0); }
	pthread_join(thread, 0);
	wait(0);
	deep(40);
	return 0;
}
"""
# Samples that are due by perf's clock, one a millisecond of each turn; a busy machine may lose some.
FEW_MS = harness.work(40, least=20)
DUE = 8 * FEW_MS
OWN = ("main", "work", "deep", "many", "few", "spin")


def perf(*arguments):
	"""What perf prints. Where it fails, or crashes, there is nothing to compare with."""
	if not shutil.which("perf"):
		raise Skip("no perf")
	result = run("perf", *arguments)
	if result.status:
		words = result.err.strip().splitlines() or ["it says nothing"]
		raise Skip(f"perf {arguments[0]} fails here, status {result.status}: {words[-1]}")
	return result.out


def compiled(folder):
	return compile_c(folder, PROGRAM, "-O1", "-g", "-D_GNU_SOURCE", "-fno-omit-frame-pointer",
		"-fno-optimize-sibling-calls", "-pthread")


def record(folder, *options):
	"""A file of perf's, of the program."""
	program = compiled(folder)
	path = folder / "perf.data"
	perf("record", "-q", "-F", "999", "-e", "cpu-clock:u", *options, "-o", path, "--", program, FEW_MS)
	return path


def own_frames(names):
	return tuple(name for name in names if name in OWN)


def stacks_of_perf(path):
	stacks = collections.Counter()
	for block in perf("script", "-i", path, "-F", "comm,tid,event,ip,sym,dso").split("\n\n"):
		names = [re.sub(r"\+0x[0-9a-f]+$", "", m[1])
			for m in re.finditer(r"^\s+[0-9a-f]+ (.*) \(.*\)$", block, re.M)]
		if names:
			stacks[own_frames(reversed(names))] += 1
	return stacks


def stacks_of_sonde(path):
	stacks = collections.Counter()
	text = check(sonde("convert", path, "-o", "-", "--to", "folded", "--metric", "samples")).out
	for line in text.splitlines():
		names, _, weight = line.rpartition(" ")
		stacks[own_frames(names.split(";"))] += int(weight)
	return stacks


def same_stacks(path):
	wanted, found = stacks_of_perf(path), stacks_of_sonde(path)
	assert sum(wanted.values()) > 0.6 * DUE, wanted
	assert found == wanted, (found - wanted, wanted - found)


def test_frame_pointers(folder):
	same_stacks(record(folder, "-g"))


@harness.takes_long
def test_copied_stacks(folder):
	same_stacks(record(folder, "--call-graph", "dwarf"))


@harness.takes_long
def test_packed(folder):
	same_stacks(record(folder, "-g", "-z"))


@harness.takes_long
def test_through_a_pipe(folder):
	program = compiled(folder)
	if not shutil.which("perf"):
		raise Skip("no perf")
	result = run("sh", "-c", f"perf record -q -g -F 999 -e cpu-clock:u -o - -- {program} {FEW_MS} > {folder}/perf.data")
	if result.status:
		raise Skip("perf record fails here")
	same_stacks(folder / "perf.data")


def test_killed(folder):
	"""A perf that is killed leaves no build-ids: names come from the files at their paths, and notes say so."""
	program, path = compiled(folder), folder / "killed.data"
	perf("record", "-q", "-o", folder / "try.data", "-e", "cpu-clock:u", "--", "true")
	# Small buffers, which perf empties often.
	recorder = subprocess.Popen(["perf", "record", "-q", "-g", "-m", "4", "-F", "4000", "-e", "cpu-clock:u", "-o", path,
		"--", program, "60000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
	while recorder.poll() is None and (not path.exists() or path.stat().st_size < 100_000):
		time.sleep(0.05)
	if recorder.poll() is not None:
		raise Skip(f"perf record fails here, status {recorder.returncode}")
	recorder.kill()
	recorder.wait()
	run("pkill", "-KILL", "-f", f"{program} 60000")
	done = check(sonde("report", path, "--format", "json", "--limit", "0"))
	report = json.loads(done.out)
	assert {"main", "work", "many", "spin"} <= {row["name"] for row in report["rows"]}, report["rows"][:20]
	notes = [note["text"] for note in report["notes"]]
	assert any("did not come to its end" in note for note in notes), notes
	assert any("without a build-id" in note and "of the same path" in note for note in notes), notes


def percents_of_perf(path):
	text = perf("report", "-i", path, "--no-children", "--stdio", "-g", "none", "--sort", "sym")
	return {m[2]: float(m[1]) for m in re.finditer(r"^ +([\d.]+)% +\[\.\] (\S+)", text, re.M)}


def test_shares_as_perf_report_has_them(folder):
	path = record(folder, "-g")
	# In perf report, time of inlined calls is the caller's.
	report = json.loads(check(sonde("report", path, "--format", "json", "--limit", "0", "--inline", "no")).out)
	found = {r["name"]: 100 * r["exclusive"] / report["total"] for r in report["rows"] if r["name"] in OWN and r["exclusive"]}
	wanted = {name: share for name, share in percents_of_perf(path).items() if name in OWN}
	assert found.keys() == wanted.keys(), (found, wanted)
	assert all(abs(found[name] - wanted[name]) < 0.01 for name in found), (found, wanted)


def test_own_recording_agrees(folder):
	"""Chance aside: shares of many of sonde's own recording and of perf's, of the same program."""
	path = record(folder, "--call-graph", "dwarf")
	own = folder / "own.prof"
	result = sonde("record", "-F", "999", "-o", own, "--", folder / "program", FEW_MS)
	if result.status:
		raise Skip("sonde record fails here")
	shares = []
	for file in (path, own):
		report = json.loads(check(sonde("report", file, "--format", "json", "--limit", "0")).out)
		shares.append({r["name"]: 100 * r["inclusive"] / report["total"] for r in report["rows"]})
	for name in ("many", "deep", "work"):
		# Five standard deviations of the difference of two shares; none is far from a half.
		assert abs(shares[0][name] - shares[1][name]) < 500 * math.sqrt(0.5 / DUE) + 1, (name, shares)


def test_lines_of_a_function(folder):
	path = record(folder, "-g")
	text = check(sonde("annotate", path, "spin")).out
	assert "sink +=" in text, text


@harness.takes_long
def test_threads_and_processes(folder):
	path = record(folder, "-g")
	rows = json.loads(check(sonde("report", path, "--view", "threads", "--format", "json")).out)["rows"]
	tids = set(re.findall(r"^ *\S+ +(\d+)", perf("script", "-i", path, "-F", "comm,tid"), re.M))
	assert len(rows) == len(tids), (rows, tids)


harness.main()
