"""sonde top, and `report --live` in the browser: what runs, in a terminal that shows it anew; and what they leave
behind, which is nothing."""

import contextlib
import json
import math
import os
import pathlib
import re
import signal
import time

import harness
import recording
from attaching import Target, wait_until
from harness import check, sonde
from live import Program
from report_input import complains
from terminal import Terminal

INTERVAL_NS = 997001


@contextlib.contextmanager
def terminal(folder, *arguments, ready="live", **more):
	shown = Terminal(folder, *arguments, width=120, height=30, variables=f"TMPDIR={folder}/tmp", **more)
	try:
		shown.until(ready, "q quit")
		yield shown
	finally:
		shown.tmux("kill-server")


def shares_program(folder):
	recording.needs_sampling()
	(folder / "tmp").mkdir()
	program = recording.program(folder, "shares")
	return Target(folder, program, 10**9), check(harness.run(program, 1)).out


def is_left(folder):
	return sorted(path.name for path in (folder / "tmp").iterdir())


def recorders(folder):
	"""Processes whose messages go to a file there."""
	found = []
	for pid in filter(str.isdigit, os.listdir("/proc")):
		with contextlib.suppress(OSError):
			if os.readlink(f"/proc/{pid}/fd/2").startswith(f"{folder}/tmp/"):
				found.append(int(pid))
	return found


def shown_seconds(screen):
	"""What was measured, in the heading."""
	number, unit = re.search(r"cpu-time ([\d.]+) (m?s)", screen).groups()
	return float(number) / (1000 if unit == "ms" else 1)


def rows(screen):
	"""Functions with their inclusive share, from above."""
	return re.findall(r"([\d.]+)%\s+\S+\s+(\S+) *[█│]?$", screen, re.MULTILINE)


@harness.takes_long
def test_shares_are_the_programs(folder):
	target, truth = shares_program(folder)
	with target:
		out = check(sonde("top", "--once", "--keep", "2s", "-p", target.pid, "-f", "json", "--inline", "no", env={"TMPDIR": str(folder / "tmp")})).out
	shown = json.loads(out)
	found = {row["name"]: row for row in shown["rows"]}
	total, samples = found["main"]["inclusive"], shown["total"] / INTERVAL_NS
	assert samples > 200, shown["total"]
	for name, *shares in map(str.split, truth.splitlines()):
		for kind, share in zip(("exclusive", "inclusive"), map(float, shares)):
			chance = 5 * math.sqrt(share * (1 - share) / samples) + 0.01
			assert abs(found[name][kind] / total - share) <= chance, (name, kind, found[name], total)
	assert is_left(folder) == [] and recorders(folder) == []


@harness.takes_long
def test_the_whole_machine(folder):
	target, _ = shares_program(folder)
	recording.needs_root()
	with target:
		shown = check(sonde("top", "--once", "--keep", "1s", "--view", "tree", "--focus", "via_a", "-n", "20")).out
	assert shown.startswith("now: [whole machine]\ncpu-time "), shown
	assert re.search(r"└ main +\[shares\]", shown) and "own_a" not in shown, shown


@harness.takes_long
def test_a_terminal_shows_it_anew(folder):
	"""Time goes on up to what is kept; the cursor stays on its function, and filters stay."""
	target, _ = shares_program(folder)
	with target, terminal(folder, "top", "-p", target.pid, "--keep", "4s", "--every", "300ms") as top:
		first = shown_seconds(top.screen())
		top.poll(lambda: shown_seconds(top.screen()) > first + 0.5, "it stands still")
		top.type("f")
		top.text("via_b")
		top.type("Enter")
		top.until("focus via_b")
		# Not the first row, and one that the program always has.
		top.type("/")
		top.text("via_b")
		top.type("Enter")
		before = top.until("selected: via_b")
		top.poll(lambda: shown_seconds(top.screen()) != shown_seconds(before), "it stands still")
		after = top.screen()
		assert "focus via_b" in after and re.search(r"^> .* via_b *[█│]?$", after, re.MULTILINE), after
		assert "selected: via_b" in after, after
		top.type("x")
		top.until("no filters")
		# As much as is kept, and a little more, however long it runs.
		time.sleep(4)
		assert shown_seconds(top.screen()) < 6, top.screen()
		assert dict((name, share) for share, name in rows(top.screen()))["main"] in ("100.0", "99.9", "99.8"), top.screen()
		top.type("q")
		top.is_clean()
	assert is_left(folder) == [] and recorders(folder) == []


@harness.takes_long
def test_paused_and_ended(folder):
	target, _ = shares_program(folder)
	with target, terminal(folder, "top", "-p", target.pid, "--every", "200ms") as top:
		top.type("p")
		top.until("paused")
		before = top.screen()
		time.sleep(1)
		assert top.screen() == before
		top.type("p")
		top.poll(lambda: shown_seconds(top.screen()) > shown_seconds(before), "it stands still")
		os.killpg(target.pid, signal.SIGKILL)
		top.until("ended")
		# The last of it stays, and can be looked at.
		top.type("2")
		top.until("Call tree", "main", "ended")
		top.type("q")
		top.is_clean()
	assert is_left(folder) == [] and recorders(folder) == []


@harness.takes_long
def test_nobody_records_after_it(folder):
	"""However it ends; the recorded program goes on."""
	target, _ = shares_program(folder)
	with target:
		for kind in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
			with terminal(folder, "top", "-p", target.pid, "--every", "200ms") as top:
				pid = top.pid_of_sonde()
				# The recorder may have a process of its own for a moment, which writes what it has.
				children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
				assert len(children) == 1 and int(children[0]) in recorders(folder), (children, recorders(folder))
				os.kill(pid, kind)
				wait_until(lambda: recorders(folder) == [])
				if kind != signal.SIGKILL:
					top.is_clean()
					assert is_left(folder) == []
			assert target.process.poll() is None


def test_zones_in_the_browser(folder):
	"""The counts are the program's own, before and after it has gone on."""
	with Program(folder) as program:
		(folder / "tmp").mkdir()
		with terminal(folder, "report", "--live", program.pid, "--every", "100ms") as live:
			live.type("m")
			told = f"{program.told['leaf']:,}"
			live.until(told)
			program.go_on()
			program.listen()
			assert f"{program.told['leaf']:,}" != told
			live.until(f"{program.told['leaf']:,}", "live")
			program.process.kill()
			live.until("ended", f"{program.told['leaf']:,}")
			live.type("q")
			live.is_clean()


def test_refusals(folder):
	complains(sonde("top", "1"), "'1' is one too many", status=2)
	complains(sonde("top", "--keep", "0s"), "between 1s and 1h", status=2)
	complains(sonde("top", "--every", "1ms"), "between 100ms and 1h", status=2)
	complains(sonde("top", "-p", "no-such-process-runs"), "no running process is called 'no-such-process-runs'", status=2)
	complains(sonde("top", "--once", env={"TMPDIR": str(folder / "nowhere")}, stdin=None), "nowhere")


def test_what_may_not_be_recorded(folder):
	"""The recorder's own words, in one line."""
	recording.needs_root()
	recorder = check(harness.run("setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all", harness.SONDE, "record", "-o",
		os.devnull, "-p", 1), 125).err
	complains(harness.run("setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all", harness.SONDE, "top", "--once", "-p", 1),
		recorder.removeprefix("sonde: ").strip()[:60])


if __name__ == "__main__":
	harness.main()
