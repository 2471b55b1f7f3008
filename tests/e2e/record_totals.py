"""Totals: what a recording's samples weigh is the CPU time that the system accounts, and what is in no
sample is a row of its own."""

import contextlib
import os
import re
import shutil
import subprocess
import sys

import harness
import recording

ENGINES = "snapshot", "exact", "preload"
SECONDS = 4


@contextlib.contextmanager
def busy():
	"""Four busy loops at the same time."""
	loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
	try:
		yield
	finally:
		for loop in loops:
			loop.kill()
			loop.wait()


def truth(r, what="used"):
	"""What `used` printed."""
	return dict(line.split() for line in r.done.out.splitlines() if " " in line)[what]


def total(r, metric="cpu-time"):
	return r.json("--metric", metric)["total"] / 1e9


def row(r, name, metric="cpu-time"):
	rows = r.json("--metric", metric, "--limit", "0")["rows"]
	return sum(found["exclusive"] for found in rows if found["name"] == name) / 1e9


def check_total(r, slack=0.01):
	"""Within half a percent, and what begins and ends a program."""
	used = float(truth(r))
	found = total(r)
	assert abs(found - used) <= 0.005 * used + slack, f"{found} s in samples, used {used} s\n{r.done.err}"


def check_heading(r):
	"""What it says of the interval agrees with the weights."""
	sampled = total(r) - row(r, "[lost]") - row(r, "[kernel, not permitted]")
	interval_ns = r.stats["interval_ns"]
	assert abs(interval_ns * r.stats["counted"] / 1e9 - sampled) <= 0.002 * sampled, (interval_ns, r.stats)


@harness.takes_long
def test_the_sum_is_the_time_used(folder):
	program = recording.program(folder, "used")
	for engine in ENGINES:
		r = recording.record(folder, program, SECONDS, "both", options=["--engine", engine])
		check_total(r)
		check_heading(r)


@harness.takes_hours
def test_the_sum_is_the_time_used_on_a_busy_machine(folder):
	program = recording.program(folder, "used")
	with busy():
		for engine in ENGINES:
			r = recording.record(folder, program, SECONDS, "user", 16, options=["--engine", engine])
			check_total(r)


@harness.takes_hours
def test_a_running_process_on_a_busy_machine(folder):
	recording.needs_sampling()
	program = recording.program(folder, "used")
	with busy():
		target = subprocess.Popen([program, str(SECONDS), "user", "4"], stdout=subprocess.PIPE, text=True)
		before = recording.children_seconds(os.getpid())
		r = recording.start(folder, options=["-p", target.pid])
		out = target.communicate()[0]
		assert r.end() == 0, r.err
	used = float(out.split()[1])
	# What it used before it was attached to is not known that well.
	found = total(r.recording)
	assert found <= 1.005 * used and found >= 0.5 * used, (found, used, before)


@harness.takes_long
def test_kernel_time_that_is_not_permitted_has_a_row(folder):
	program = recording.program(folder, "used")
	r = recording.as_nobody(folder, program, SECONDS, "both")
	harness.check(r.done)
	if "kernel code could not be sampled" not in r.done.err:
		raise harness.Skip("kernel code may be sampled here")
	check_total(r)
	check_heading(r)
	kernel = row(r, "[kernel, not permitted]")
	# The system tells the kernel's part by its ticks.
	assert abs(kernel - float(truth(r, "kernel"))) <= 0.08 * SECONDS, (kernel, r.done.out)
	assert row(r, "[kernel, not permitted]", "samples") == 0
	assert any("[kernel, not permitted]" in note["text"] for note in r.notes), r.notes


@harness.takes_long
def test_what_a_set_uid_child_used_is_lost(folder):
	recording.needs_root()
	program = recording.program(folder, "used")
	powerful = folder / "powerful"
	shutil.copy(program, powerful)
	powerful.chmod(0o4755)
	r = recording.as_nobody(folder, "sh", "-c", f"'{powerful} 1.5 user; {program} 0.5 user; exit 3'")
	harness.check(r.done, 3)
	used = sum(float(line.split()[1]) for line in r.done.out.splitlines() if line.startswith("used"))
	found, lost = total(r), row(r, "[lost]")
	if "set-uid" not in r.done.err and lost == 0:
		raise harness.Skip("the folder is on a file system without set-uid programs")
	assert abs(found - used) <= 0.005 * used + 0.03, (found, used)
	# Which part of it was the kernel's, nobody tells.
	kernel = row(r, "[kernel, not permitted]")
	assert lost <= 1.55 and lost + kernel >= 1.45 and kernel <= 0.2, (lost, kernel)
	assert "powerful" in r.done.err and "set-uid" in r.done.err, r.done
	# In the summary and in every view, with the cause and the cure.
	assert int(re.search(r"([\d,]+) lost", r.done.err)[1].replace(",", "")) > 1000, r.done.err
	notes = [note["text"] for note in r.notes if "[lost]" in note["text"]]
	assert len(notes) == 1 and "set-uid" in notes[0] and "record the whole machine" in notes[0], r.notes
	assert "shorter than the interval" not in notes[0], notes


@harness.takes_long
def test_set_gid_children_of_an_attached_shell_are_named(folder):
	"""Their time is not known, as it is no attached process's; that they are missing is."""
	recording.needs_root()
	recording.needs_sampling()
	program = recording.program(folder, "used")
	powerful = folder / "powerful"
	shutil.copy(program, powerful)
	powerful.chmod(0o2755)
	copy = folder / "sonde"
	shutil.copy(harness.SONDE, copy)
	folder.chmod(0o777)
	path = folder / "attached.prof"
	# The shell waits for the recorder to begin.
	script = f"(while [ ! -e go ]; do sleep 0.02; done; ./powerful 0.15 user; ./powerful 0.15 user; :) & " \
		f"{copy} record -p $! -o {path} & while [ ! -s {path} ]; do sleep 0.02; done; sleep 0.3; touch go; wait"
	done = harness.run(*recording.NOBODY, "sh", "-c", script, cwd=folder)
	r = recording.Recording(path, done)
	if "powerful" not in done.err and r.share("main") > 0.5:
		raise harness.Skip("the folder is on a file system without set-gid programs")
	assert "not sampled: powerful and 1 more program, set-uid or set-gid" in done.err, done
	note = next(note for note in r.notes if "set-uid" in note["text"])
	assert note["count"] == 2 and "record the whole machine" in note["text"], r.notes


@harness.takes_long
def test_no_set_uid_program_is_seen_where_there_is_none(folder):
	program = recording.program(folder, "forks")
	r = recording.record(folder, program, 1, options=["-F", "5k"])
	assert "set-uid" not in r.done.err and "ended the sampling" not in r.done.err, r.done


@harness.takes_long
def test_an_overhead_beyond_the_limit_is_said(folder):
	program = recording.program(folder, "used")
	r = recording.record(folder, program, 0.5, "user", options=["-q", "--max-overhead", "0.01%"])
	assert "more than the limit of 0.01%" in r.done.err, r.done


harness.main()
