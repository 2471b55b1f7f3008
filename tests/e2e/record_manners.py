"""What `sonde record` does besides sampling: statuses, streams, files, options, messages."""

import os
import pathlib
import stat

import harness
import recording


def fate(folder):
	return recording.program(folder, "fate")


def test_exit_status_is_the_command_s(folder):
	program = fate(folder)
	for status in (0, 1, 3, 125, 255):
		recording.record(folder, program, 0, "exit", status, status=status)


def test_a_signal_that_kills_the_command_kills_sonde(folder):
	program = fate(folder)
	for number in (6, 9, 11, 13, 15):
		r = recording.record(folder, program, harness.work(30, least=30), "signal", number, status=-number)
		assert r.stats["counted"] > 10, r.stats
		assert not list(pathlib.Path(folder).glob("core*"))


def test_commands_that_cannot_run(folder):
	recording.needs_sampling()
	plain = folder / "plain"
	plain.write_text("not a program\n")
	broken = folder / "broken"
	broken.write_text("#!/etc/passwd\n")
	broken.chmod(0o755)
	script = folder / "script"
	script.write_text("#!/nonexistent/interpreter\n")
	script.chmod(0o755)
	for command, status in (("no-such-command", 127), (folder / "missing", 127), (plain, 126),
			(folder, 126), (broken, 126), (script, 127)):
		output = folder / "never.prof"
		done = harness.check(harness.sonde("record", "-o", output, command), status)
		assert len(done.err.splitlines()) == 1, done
		assert not output.exists(), command


def test_a_failed_start_leaves_the_old_recording(folder):
	recording.needs_sampling()
	output = folder / "test.prof"
	output.write_text("precious")
	broken = folder / "broken"
	broken.write_text("#!/etc/passwd\n")
	broken.chmod(0o755)
	harness.check(harness.sonde("record", "-o", output, broken), 126)
	assert output.read_text() == "precious"


def test_streams_are_the_command_s(folder):
	r = recording.record(folder, "sh", "-c", "cat; echo out; echo err >&2", input="in\n")
	assert r.done.out == "in\nout\n", r.done
	lines = r.done.err.splitlines()
	assert lines[0] == "err"
	assert all(line.startswith("sonde: ") for line in lines[1:]), r.done
	assert "\033" not in r.done.err
	r = recording.record(folder, "sh", "-c", "echo err >&2", options=["-q"])
	assert r.done.err == "err\n", r.done


def test_last_lines(folder):
	r = recording.record(folder, fate(folder), harness.work(50, least=50), "exit", 0)
	for word in ("samples", "expected", "lost", "truncated stack", "without symbols", "wrote"):
		assert word in r.done.err, r.done
	assert r.done.err.splitlines()[-1].endswith("; next: sonde report " + str(r.path)), r.done


def test_an_older_recording_is_kept(folder):
	recording.needs_sampling()
	for _ in range(3):
		harness.check(harness.sonde("record", "true", cwd=folder))
	assert sorted(p.name for p in folder.iterdir()) == ["sonde.prof", "sonde.prof.old"]
	assert stat.S_IMODE((folder / "sonde.prof").stat().st_mode) == 0o600


def test_a_link_is_not_followed(folder):
	recording.needs_sampling()
	victim = folder / "victim"
	victim.write_text("precious")
	(folder / "sonde.prof").symlink_to(victim)
	harness.sonde("record", "true", cwd=folder)
	assert victim.read_text() == "precious"


def test_recording_to_standard_output(folder):
	recording.needs_sampling()
	path = folder / "piped.prof"
	with open(path, "wb") as out:
		done = harness.run(harness.SONDE, "record", "-o", "-", fate(folder), harness.work(50, least=50), "exit", "0",
			stdout=out)
	harness.check(done)
	assert recording.Recording(path).stats["counted"] > 30


def test_wrong_options():
	for arguments in (["--frequency", "0", "true"], ["-F", "x", "true"], ["-F", "1M", "true"],
			["--interval", "1us", "true"], ["--interval", "7", "true"], ["--clock", "wall", "true"],
			["--nonsense", "true"], []):
		done = harness.check(harness.sonde("record", *arguments), 125)
		assert done.err, arguments


def test_interval_is_told(folder):
	for options, interval in ((["-F", "100"], "10.000 ms"), (["--interval", "2ms"], "2.000 ms"),
			(["--interval=333us"], "333.001 us"), ([], "997.001 us")):
		r = recording.record(folder, "true", options=options)
		assert f"one every {interval} of" in r.done.err, r.done


def test_children_that_go_on_are_counted(folder):
	r = recording.record(folder, "sh", "-c", "sleep 2 >/dev/null 2>&1 &")
	assert "1 child process went on unrecorded" in r.done.err, r.done


def test_doctor():
	done = harness.check(harness.sonde("doctor"))
	assert done.out.splitlines()[0].startswith("sampling"), done
	harness.check(harness.sonde("doctor", "x"), 2)


def test_a_hostile_process_name_is_escaped(folder):
	program = fate(folder)
	hostile = folder / "bad\033[31mname"
	program.rename(hostile)
	r = recording.record(folder, hostile, harness.work(50), "exit", 0)
	assert "\033" not in r.done.err
	assert "\033" not in r.report("--view", "modules")


harness.main()
