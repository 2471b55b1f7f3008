"""Parts of a run that are left out: by --delay, and by commands that come through a FIFO."""

import os
import stat
import time

import harness
import recording
from attaching import wait_until
from controlled import Controlled, times

def left_out(r):
	texts = [note["text"] for note in r.notes if "left out when recording" in note["text"]]
	return float(texts[0].split()[0]) if texts else 0


@harness.takes_long
def test_a_delay_is_left_out(folder):
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	r = recording.record(folder, program, harness.work(900, least=700), options=["--delay", "400ms"])
	assert abs(left_out(r) - 0.4) < 0.001, r.notes
	taken = times(r)
	assert taken and taken[0] >= 400, taken[:3]
	# What is left adds up: the account is of the rest alone, and nothing of it is lost.
	assert r.stats["lost"] == 0 and r.stats["counted"] > 100, r.stats
	total = r.json("--metric", "cpu-time")["total"]
	assert abs(total - r.stats["cpu_ns"]) < 0.02 * total, (total, r.stats)


@harness.takes_long
def test_duration_begins_after_the_delay(folder):
	"""To the nanosecond, however late the recorder stops; only the delay is a pause."""
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	for engine in "snapshot", "preload":
		run = recording.start(folder, program, "2000", options=["--engine", engine, "--delay", "300ms", "--duration", "500ms"])
		assert run.end() == 0, run.err
		taken = times(run.recording)
		assert 300 <= taken[0] and taken[-1] < 800, (engine, taken[0], taken[-1])
		assert left_out(run.recording) == 0.3 and run.recording.stats["duration_ns"] == 800 * 10**6, (engine, run.recording.notes)


def test_commands(folder):
	controlled = Controlled(folder)
	time.sleep(0.3)
	controlled.tell("disable")
	time.sleep(0.5)
	controlled.tell("enable")
	time.sleep(0.3)
	controlled.tell("no such thing")
	r = controlled.end()
	assert not controlled.fifo.exists()
	assert "unknown command 'no such thing': expected enable, disable, dump, stop" in controlled.err, controlled.err
	off = left_out(r)
	assert 0.4 < off < 0.6 * harness.PATIENCE, r.notes
	taken = times(r)
	gap = max(after - before for before, after in zip(taken, taken[1:]))
	assert gap >= 1000 * off - 1, (gap, off)
	assert f"{off * 1000:.0f}"[:2] in controlled.err, controlled.err


def test_enable_ends_a_delay(folder):
	begin = time.monotonic()
	controlled = Controlled(folder, "--delay", "1h")
	time.sleep(0.2)
	controlled.tell("enable")
	recorder = controlled.process.pid
	recording.wait_for_work(recorder, recording.children_seconds(recorder) + 0.3)
	most = time.monotonic() - begin
	r = controlled.end()
	assert r.stats["counted"] > 50 and 0.1 < left_out(r) < most, (r.stats, r.notes, most)


def test_time_off_the_cpu_is_cut_at_both_ends(folder):
	"""A sleep of a second; its first 400 ms are left out."""
	recording.needs_sampling()
	r = recording.record(folder, "sleep", "1", options=["--delay", "400ms"])
	blocked = r.json("--metric", "blocked-time")["total"]
	# It begins a little after the recording, and ends so.
	assert 0.55e9 < blocked <= r.stats["duration_ns"] - 0.399e9, (blocked, r.stats)


def test_events_are_left_out(folder):
	"""Hundreds that children make, all of them before the recording is enabled."""
	control, done, go = folder / "control", folder / "done", folder / "go"
	os.mkfifo(go)
	run = recording.start(folder, "sh", "-c", f"for i in 1 2 3 4 5 6 7 8; do /bin/true; done; "
		f"echo > {done}; read line < {go}", options=["--delay", "1h", "--control", control, "-e", "page-faults"])
	wait_until(done.exists)
	control.write_text("enable\n")
	go.write_text("\n")
	assert run.end() == 0, run.err
	faults = run.recording.json("--metric", "page-faults")["total"]
	assert faults < 200 and left_out(run.recording) > 0, (faults, run.recording.notes)


def test_a_fifo_that_is_there_stays(folder):
	fifo = folder / "mine"
	os.mkfifo(fifo)
	recording.needs_sampling()
	recording.record(folder, "true", options=["--control", fifo])
	assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_what_is_no_fifo_is_refused(folder):
	path = folder / "file"
	path.write_text("")
	done = harness.sonde("record", "--control", path, "-o", folder / "x.prof", "true")
	assert done.status == 125 and "the file exists and is not a FIFO" in done.err, done
	assert path.exists() and not (folder / "x.prof").exists()


harness.main()
