"""sonde report --live: a running program's zones in every view, as they are and as they grow."""

import json
import re
import signal
import subprocess
import threading
import time

import harness
from harness import SONDE, check, sonde
from live import ZONES, Program, look
from report_input import complains
from report_output import on_terminal


def entries_of(target, *options):
	rows = json.loads(check(sonde("report", "--live", target, "-m", "zone-entries", "-f", "json", *options)).out)["rows"]
	return {row["name"]: row["exclusive"] for row in rows if row["name"] in ZONES}


def test_counts_are_the_programs_own(folder):
	with Program(folder) as program:
		assert entries_of(program.pid) == program.told
		program.go_on()
		program.listen()
		assert entries_of(program.name) == program.told
		assert program.told["frame"] == 100


def test_every_view_and_format_shows_it(folder):
	with Program(folder) as program:
		program.process.send_signal(signal.SIGSTOP)
		for view in ("functions", "callers", "tree", "graph", "deep", "modules", "lines", "threads", "zones", "heat", "stats"):
			text = check(sonde("report", "--live", program.pid, "--view", view)).out
			assert text.startswith(f"{program.name} (process {program.pid})"), text
		folded = check(sonde("report", "--live", program.pid, "-m", "zone-entries", "-f", "folded")).out
		counts = {stack.rsplit(";")[-1]: int(count) for stack, count in re.findall(r"(\S+) (\d+)\n", folded)}
		assert counts["outer"] == program.told["outer"], folded
		assert "<svg" in check(sonde("report", "--live", program.pid, "--view", "tree", "-f", "svg")).out
		only = check(sonde("report", "--live", program.pid, "--focus", "^inner$", "-f", "folded")).out
		assert only and all(";inner" in line for line in only.splitlines()), only


def test_figures_are_those_of_a_saved_file(folder):
	"""What is in no open zone stands still."""
	with Program(folder) as program:
		check(sonde("live", program.pid, "--save", folder / "saved.zones"))
		shown = [json.loads(check(sonde("report", *input_, "-f", "json")).out)["rows"]
			for input_ in (("--live", program.pid), (folder / "saved.zones",), ("--live", folder / "saved.zones"))]
		shown = [{row["name"]: row for row in rows if row["name"] in ZONES and row["name"] != "frame"} for rows in shown]
		assert set(shown[0]) == {"outer", "inner", "leaf"}
		for other in shown[1:]:
			for name, row in shown[0].items():
				assert row["exclusive"] == other[name]["exclusive"] and row["inclusive"] == other[name]["inclusive"], (row, other[name])
		at_once = {zone["name"]: zone for zone in look(program.pid, "--frames", "run")["zones"]}
		for name, row in shown[0].items():
			assert abs(row["exclusive"] - at_once[name]["self_ns"]) <= 1000, (row, at_once[name])


def test_it_goes_on_until_the_program_ends(folder):
	with Program(folder) as program:
		reports = subprocess.Popen([SONDE, "report", "--live", str(program.pid), "--every", "20ms", "-m", "zone-entries",
			"-f", "folded"], stdout=subprocess.PIPE, text=True)
		# Each has the program's counts at some moment; the first one comes at once.
		for line in iter(reports.stdout.readline, ""):
			if ";outer " in line:
				first = int(line.split()[-1])
				break
		assert first == program.told["outer"] or first == 0
		program.go_on()
		program.listen()
		time.sleep(0.2)
		program.process.kill()
		rest = reports.communicate(timeout=60)[0]
		assert reports.returncode == 0
		counts = [int(count) for count in re.findall(r";outer (\d+)\n", rest)]
		assert counts == sorted(counts) and counts[-1] == program.told["outer"] > first, counts
		assert "\n\n" in rest


def test_a_file_is_brought_up_to_date(folder):
	target = folder / "now.json"
	with Program(folder) as program:
		reports = subprocess.Popen([SONDE, "report", "--live", str(program.pid), "--every", "10ms", "-m", "zone-entries",
			"-f", "json", "-o", target])
		program.go_on()
		program.listen()
		deadline = time.monotonic() + 60
		shown = None
		while shown != program.told["outer"]:
			assert time.monotonic() < deadline and reports.poll() is None, shown
			# Whole whenever it is looked at.
			if target.exists():
				rows = json.loads(target.read_text())["rows"]
				shown = {row["name"]: row["exclusive"] for row in rows}.get("outer")
		program.process.kill()
		assert reports.wait(60) == 0


def test_a_terminal_is_filled_and_not_scrolled(folder):
	with Program(folder) as program:
		threading.Timer(0.5, program.process.kill).start()
		out = on_terminal(["report", "--live", program.pid, "--text", "--every", "10ms"], rows=13)
		screens = out.split("\x1b[H\x1b[2J")
		assert screens[0] == "" and len(screens) > 2, out
		for screen in screens[1:]:
			assert screen.count("\n") < 13 and "and 4 more rows" in screen, screen


def test_refusals(folder):
	(folder / "a.folded").write_text("a;b 1\n")
	complains(sonde("report", "--live", "no-such-program-runs"), "no running program with zones named 'no-such-program-runs'")
	complains(sonde("report", "--live", "1", folder / "a.folded"), "--live is in place of a file", status=2)
	complains(sonde("report", "--every", "1s", folder / "a.folded"), "--every goes with --live", status=2)
	complains(sonde("report", "--live", "x", "--every", "0s"), "--every", status=2)
	complains(sonde("report", "--live", folder / "a.folded"), "a.folded")


if __name__ == "__main__":
	harness.main()
