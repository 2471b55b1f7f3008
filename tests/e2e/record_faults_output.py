"""Faults: the file cannot be written, or not to its end, or somebody takes it away."""

import os
import re
import signal
import socket
import threading

import faults
import harness
import recording


def spoil(folder, call, error, when, *command, options=(), name="spoiled.prof", of=()):
	"""Records a command while some system calls of sonde's fail. of: only those of a path."""
	path, trace = folder / name, folder / "strace.out"
	done = harness.run("strace", "-qq", "-o", trace, *of, "-e", f"trace={call}",
		"-e", f"inject={call}:error={error}:when={when}", harness.SONDE, "record", *options,
		"-o", path, *command, env={**faults.TRACED, "XDG_CACHE_HOME": str(folder)})
	assert "INJECTED" in trace.read_text(), (call, when)
	return recording.Recording(path, done)


def kinds(r):
	return {note["kind"] for note in r.notes}


@harness.takes_long
def test_writes_that_fail(folder):
	recording.needs_sampling()
	faults.needs_injection(folder)
	program = recording.program(folder, "fate")
	# Once and for ever, early and late.
	for number, (error, when) in enumerate((("EIO", "2"), ("EIO", "8+"), ("EDQUOT", "14+"),
			("ENOSPC", "5+"))):
		mark = folder / f"mark{number}"
		r = spoil(folder, "write", error, when, program, harness.work(400), "file", mark,
			options=["-F", "20k"], name=f"{number}.prof", of=["-P", folder / f"{number}.prof"])
		harness.check(r.done)
		assert mark.exists()
		assert os.strerror(getattr(faults.errno, error)) in r.done.err, r.done
		assert kinds(r) & {"incomplete", "lost"}, r.notes
		assert "child process" not in r.done.err, r.done
		if when == "2":
			# It also reports, rightly, that hardly a sample was taken.
			assert "was not sampled: the recording could not be written" in r.done.err, r.done


def test_a_write_that_is_interrupted_is_done_again(folder):
	recording.needs_sampling()
	faults.needs_injection(folder)
	r = spoil(folder, "write", "EINTR", "3+3", "true", options=["-q"])
	harness.check(r.done)
	assert r.done.err == "" and "incomplete" not in kinds(r), r.notes


@harness.takes_long
def test_a_file_that_cannot_be_rewritten_stays(folder):
	recording.needs_sampling()
	faults.needs_injection(folder)
	program = recording.program(folder, "fate")
	for call in ("fdatasync", "rename"):
		r = spoil(folder, call, "EIO", "1+", program, harness.work(400), "exit", 0,
			options=["-q", "-F", "50k"],
			name=f"{call}.prof")
		harness.check(r.done)
		assert r.stats["counted"] > 50 and "incomplete" not in kinds(r), r.notes
		# Of the file: at such a rate a busy machine loses samples before they are in it.
		assert not [note for note in r.notes if re.search("of the file|not be written", note["text"])], r.notes
		assert [p.name for p in folder.glob(f"{call}*")] == [f"{call}.prof"]


def refuse(folder, path, word, before=(), status=125):
	"""sonde says why it cannot write there, and runs nothing."""
	mark = folder / "mark"
	done = harness.run(*before, harness.SONDE, "record", "-o", path, "touch", mark)
	harness.check(done, status)
	assert len(done.err.splitlines()) == 1 and word in done.err, done
	assert not mark.exists()


def test_places_that_are_no_files(folder):
	recording.needs_sampling()
	refuse(folder, folder, "directory")
	refuse(folder, folder / "none" / "x.prof", "No such file")
	os.mkfifo(folder / "pipe")
	# Without a reader; waiting for one would hang.
	refuse(folder, folder / "pipe", "No such device")
	with socket.socket(socket.AF_UNIX) as s:
		s.bind(str(folder / "socket"))
		refuse(folder, folder / "socket", "not a regular file")
	(folder / "link").symlink_to(folder / "elsewhere")
	refuse(folder, folder / "link", "symbolic link")
	assert not (folder / "elsewhere").exists()


def test_read_only_file_system(folder):
	recording.needs_root()
	if harness.run("unshare", "-m", "true").status != 0:
		raise harness.Skip("mount namespaces are not allowed here")
	small = folder / "small"
	small.mkdir()
	refuse(folder, small / "x.prof", "Read-only file system", before=["unshare", "-m", "sh", "-c",
		f"mount -t tmpfs -o ro none {small} && exec \"$@\"", "sh"])


def test_a_device_that_is_full(folder):
	program = recording.program(folder, "fate")
	mark = folder / "mark"
	done = harness.check(harness.sonde("record", "-o", "/dev/full", program, harness.work(200), "file", mark))
	assert "No space left on device" in done.err and mark.exists(), done


def test_a_pipe_with_a_reader(folder):
	recording.needs_sampling()
	program = recording.program(folder, "fate")
	path, copy = folder / "pipe", folder / "copy.prof"
	os.mkfifo(path)
	reader = threading.Thread(target=lambda: copy.write_bytes(path.read_bytes()))
	reader.start()
	# Until the reader has it open, there is none.
	faults.wait_until(lambda: harness.run(harness.SONDE, "record", "-q", "-o", path, program,
		harness.work(100), "exit", 3).status == 3, "a reader")
	reader.join()
	assert recording.Recording(copy).stats["counted"] > 0.8 * harness.work(100)


@harness.takes_long
def test_a_reader_that_reads_not_holds_up_nobody_but_sonde(folder):
	program = recording.program(folder, "deep")
	recording.needs_sampling()
	mark = folder / "mark"
	read, write = os.pipe()
	# Stacks of more than a megabyte can't be copied whole 20,000 times a second: the clock would be late.
	recorder = recording.subprocess.Popen([harness.SONDE, "record", "-q", "-F", "20k", "--engine", "snapshot", "-o", "-",
		"sh", "-c", f"{program} 20000 {harness.work(400)} >&2; echo > {mark}"], stdout=write,
		stderr=recording.subprocess.DEVNULL)
	os.close(write)
	faults.wait_until(mark.exists, "the target's end")
	copy = folder / "copy.prof"
	with open(read, "rb") as pipe:
		copy.write_bytes(pipe.read())
	assert recorder.wait(timeout=60) == 0
	r = recording.Recording(copy)
	assert r.stats["counted"] > 0, r.stats
	# All that were due are there, or the missing ones are reported: thinned, or time when so fast a clock was late.
	thinned = sum(note["count"] for note in r.notes if "fell behind" in note["text"])
	late_ns = sum(row["exclusive"] for row in r.json("--limit", "0")["rows"] if row["name"] == "[lost]")
	taken, due = r.stats["counted"] + r.stats["lost"] + thinned, r.stats["cpu_ns"] / 50000
	assert taken >= 0.5 * due and taken + late_ns / 50000 >= 0.9 * due, (taken, due, r.stats, r.notes)


def test_a_link_that_is_planted_while_we_open(folder):
	recording.needs_sampling()
	faults.needs_injection(folder)
	victim, path, mark = folder / "victim", folder / "x.prof", folder / "mark"
	victim.write_text("precious")
	plant = threading.Timer(0.4, lambda: path.symlink_to(victim))
	plant.start()
	# Between looking whether there is a file and making one there is time enough.
	done = harness.run("strace", "-qq", "-o", os.devnull, "-P", path, "-e", "trace=openat",
		"-e", "inject=openat:delay_enter=800000", harness.SONDE, "record", "-o", path, "touch", mark,
		env=faults.TRACED)
	plant.join()
	harness.check(done, 125)
	assert victim.read_text() == "precious" and not mark.exists(), done


def test_a_link_in_the_place_of_the_old_recording(folder):
	recording.needs_sampling()
	victim = folder / "victim"
	victim.write_text("precious")
	(folder / "x.prof").write_text("old")
	(folder / "x.prof.old").symlink_to(victim)
	harness.check(harness.sonde("record", "-q", "-o", folder / "x.prof", "true"))
	assert victim.read_text() == "precious"
	assert (folder / "x.prof.old").read_text() == "old"


def test_a_target_that_takes_the_file_away(folder):
	r = recording.record(folder, "sh", "-c", f"mv {folder}/test.prof {folder}/elsewhere",
		options=["-q"])
	assert "test.prof" in r.done.err and "next:" not in r.done.err, r.done
	assert recording.Recording(folder / "elsewhere").stats["counted"] is not None
	# Removed altogether, it is made anew: all that it holds is still open.
	program = recording.program(folder, "fate")
	r = recording.record(folder, "sh", "-c", f"rm {folder}/test.prof; {program} {harness.work(100)} exit 4",
		status=4)
	assert r.stats["counted"] > 0.8 * harness.work(100)


def test_the_target_meets_its_own_limits_as_alone(folder):
	for fault in ("ulimit -f 4; exec dd if=/dev/zero of=big bs=1k count=100 2>/dev/null",
			"yes | head -n 1; echo ${PIPESTATUS[1]}"):
		r = faults.as_if_alone(folder, "bash", "-c", fault, cwd=folder)
		assert r.stats["counted"] is not None
	# Writing to a pipe that nobody reads.
	read, write = os.pipe()
	os.close(read)
	done = harness.run(harness.SONDE, "record", "-q", "-o", folder / "x.prof", "yes", stdout=write)
	os.close(write)
	harness.check(done, -signal.SIGPIPE)


harness.main()
