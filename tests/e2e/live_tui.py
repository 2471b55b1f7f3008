"""`sonde live` on a real terminal, which is a tmux pane: keys in, the screen out.

The program's clock is its own (tests/programs/zones/live_tui.c), so figures are known to the digit.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import harness
import terminal as terminals
from terminal import WAIT, click, place
from harness import BUILD_ROOT, SONDE, SOURCE_ROOT, Skip

class Program:
	"""The test program; order() sends it a letter."""

	def __init__(self, folder, *arguments):
		path = harness.compile_c(folder, SOURCE_ROOT / "tests/programs/zones/live_tui.c", "-std=gnu11", "-O1",
			"-I", SOURCE_ROOT / "include", "-Wl,--whole-archive", BUILD_ROOT / "libsonde-zones.a",
			"-Wl,--no-whole-archive", "-pthread", "-lm", name="zoned")
		self.process = subprocess.Popen([path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
		assert self.process.stdout.readline() == b"ready\n"
		self.pid = self.process.pid

	def order(self, letter):
		self.process.stdin.write(letter.encode())
		self.process.stdin.flush()

	def end(self):
		with contextlib.suppress(ProcessLookupError):
			self.process.kill()
		self.process.wait()
		self.process.stdin.close()
		self.process.stdout.close()


class Terminal(terminals.Terminal):
	"""A terminal of a size with a shell that runs `sonde live`."""

	SHOWN = "self ms"

	def __init__(self, folder, *arguments, **more):
		super().__init__(folder, "live", *arguments, **more)

	def rows(self, *first):
		"""Waits for these; then the names of the rows below the heads, from above."""
		screen = self.until("self ms", *first)
		lines = screen.splitlines()
		head = next(i for i, line in enumerate(lines) if "self ms" in line or "hier ms" in line)
		return [re.sub(r"  .*", "", line[1:].strip()) for line in lines[head + 1:-1] if line.strip()]

	def settle(self, holds, *first):
		"""Waits for names of rows that are as they should be: in its first frames a program's slow one is
		much of the average, by which they are sorted."""
		self.poll(lambda: holds(self.rows(*first)), "rows are not in order")


@contextlib.contextmanager
def view(folder, *arguments, program=(), **more):
	running = Program(folder, *program)
	terminal = None
	try:
		terminal = Terminal(folder, running.pid, *arguments, **more)
		yield terminal, running
	finally:
		running.end()
		if terminal:
			terminal.tmux("kill-server")


def in_order(*wanted):
	return lambda names: [name for name in names if name in wanted] == list(wanted)


def test_shows_a_running_program(folder):
	with view(folder) as (t, p):
		screen = t.until(f"zoned pid {p.pid} running 2 threads", "self ms▼", "median 16.00", "max 40.00",
			"1 self 2 hier", "render 4.000 5.250 1.00", "漢字\\x1b[2J odd 0.250 0.250 1.00")
		assert "▅" in screen and "█" in screen, screen
		t.settle(in_order("render", "collide", "frame"))


def test_starts_as_it_was_asked_to(folder):
	with view(folder, "--zone", "render", "--average", "none", "--recursion", "spread") as (t, p):
		t.until("no average", "recursion spread", "hier ms▼")
		assert t.rows()[:2] == ["+frame", "render"]
	with view(folder, "--mode", "name", "--thread", "worker-1", "--zone", "later") as (t, p):
		t.until("no zone 'later' yet", "worker-1", "name ", "wait_for_job", gone=["render"])
		# Who chooses another is not brought back.
		t.type("t", "Home", "Enter")
		t.until("render 4.000", gone=["worker-1"])


SAYS = r'''
#define Prof_ENABLED
#include <prof.h>
#include <stdio.h>
static void says(const char *text, double number)
{
	Prof_Begin(says)
	if (text)
		Prof_text(text);
	Prof_number(number);
	Prof_End
}
int main(void)
{
	says("level \033[2J 3", 2.5);
	Prof_Begin(other)
	says(NULL, -1);
	says(NULL, 4);
	Prof_End
	puts("ready");
	fflush(stdout);
	return getchar() == EOF;
}
'''


def test_what_the_program_says_of_a_zone(folder):
	program = harness.compile_c(folder, SAYS, "-O1", "-I", SOURCE_ROOT / "include", "-Wl,--whole-archive",
		BUILD_ROOT / "libsonde-zones.a", "-Wl,--no-whole-archive", "-pthread", "-lm", name="says-much")
	process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	terminal = None
	try:
		assert process.stdout.readline() == b"ready\n"
		words = "says: level \\x1b[2J 3, number 4 (3 times: mean 1.83333, -1 to 4)"
		out = harness.check(harness.sonde("live", process.pid, "-1", "--frames", "run", "--zone", "says")).out
		assert out.endswith(words + "\n"), out
		out = harness.check(harness.sonde("live", process.pid, "-1", "--frames", "run")).out
		assert "level" not in out
		out = harness.check(harness.sonde("live", process.pid, "--format", "json", "--frames", "run")).out
		zones = {zone["name"]: zone for zone in json.loads(out)["zones"]}
		assert zones["says"]["text"] == "level \033[2J 3"
		assert zones["says"]["number"] == {"count": 3, "sum": 5.5, "min": -1, "max": 4, "last": 4}
		assert zones["other"]["text"] is None and zones["other"]["number"] is None
		terminal = Terminal(folder, process.pid, "--zone", "says", width=120)
		terminal.until(words)
	finally:
		process.kill()
		process.communicate()
		if terminal:
			terminal.tmux("kill-server")


LATE = r'''
#define Prof_ENABLED
#include <prof.h>
#include <stdio.h>
int main(void)
{
	puts("ready");
	fflush(stdout);
	getchar();
	Prof_Begin(late)
	Prof_End
	puts("entered");
	fflush(stdout);
	return getchar() == EOF;
}
'''


def test_list_shows_who_gets_zones_later(folder):
	program = harness.compile_c(folder, LATE, "-O1", "-I", SOURCE_ROOT / "include", "-Wl,--whole-archive",
		BUILD_ROOT / "libsonde-zones.a", "-Wl,--no-whole-archive", "-pthread", "-lm", name="late-zones")
	terminal = Terminal(folder, width=120)
	process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	try:
		assert process.stdout.readline() == b"ready\n"
		terminal.until("Programs with zones")
		# It has been seen by then, and to have none.
		time.sleep(2.5)
		assert str(process.pid) not in terminal.screen()
		process.stdin.write(b"\n")
		process.stdin.flush()
		terminal.until(f" {process.pid} running 1 1")
		process.kill()
		process.wait()
		terminal.until(f" {process.pid} ended")
	finally:
		process.kill()
		process.communicate()
		terminal.tmux("kill-server")


def test_modes(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("2")
		t.settle(in_order("frame", "render", "collide", "ai"), "hier ms▼")
		t.type("5")
		assert (names := t.rows("zone▲")) == sorted(names)
		t.type("m")
		t.rows("self ms▼")
		# Around the zone at the cursor.
		t.text("/collide")
		t.type("Enter", "Enter")
		assert t.rows("-collide", "+physics") == ["+physics", "collide"]
		t.type("BSpace")
		assert t.rows("-physics 3.000 5.000") == ["+frame", "physics", "collide"]
		t.type("BSpace")
		t.settle(lambda names: names == ["+_global", "frame", "+render", "+physics", "walk (2)", "ai"], "-frame 0.500")
		t.type("4")
		t.until("collide 2.000", "draw_ui 1.000", "-frame")


def test_recursion(folder):
	with view(folder) as (t, p):
		t.until("walk (2) 3.000 3.000 3.00")
		t.type("r")
		t.until("walk 1.000 3.000 1.00", "walk (1) 1.000 2.000 1.00", "walk (2) 1.000 1.000 1.00")


def test_sorts(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("<")
		assert (names := t.rows("zone▲")) == sorted(names)
		t.type("I")
		assert (names := t.rows("zone▼")) == sorted(names, reverse=True)


def test_mouse(folder):
	# A busy machine tears what tmux types apart, and half of a click is the key Escape.
	with view(folder, variables="ESCDELAY=5000") as (t, p):
		x, y = place(t.until("render 4.000"), "count")
		click(t, x, y)
		assert t.rows("count▼")[0] == "walk (2)"
		x, y = place(t.screen(), "5 name")
		click(t, x, y)
		# By their names; by times their order is another when the CPUs are others'.
		x, y = place(t.until("zone▲"), "physics")
		click(t, x, y, times=2)
		t.until("-physics")
		# Where there is no frame yet there is nothing to click on.
		t.poll(lambda: int(re.search(r"of (\d+) frames", t.screen())[1]) > 20, "no frames")
		x, y = place(t.screen(), "max")
		click(t, 79 - 7, y + 2)
		t.until("7 ago")


def test_searches(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.text("/DRA")
		t.until("Search: DRA")
		t.type("Enter")
		t.until(gone=["Search"])
		t.type("Enter")
		t.until("-draw_ui 1.000")
		t.text("/nowhere")
		t.until("not found")
		t.type("Escape")
		t.until(gone=["Search"])


def test_pause_keeps_the_screen(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("p")
		t.until("PAUSED")
		t.standstill()
		t.type("p")
		t.until("render 4.000", gone=["PAUSED"])
		count = re.search(r"of \d+ frames", t.screen())[0]
		if count != "of 1000 frames":
			t.until("render 4.000", gone=[count])


def test_old_frames(folder):
	with view(folder) as (t, p):
		t.until("max 40.00")
		t.type("x")
		screen = t.until("40.00 ms", " ago", "ai 25.000 25.000 1.00", "the slowest of")
		number = re.search(r"frame (\d+), \d+ ago", screen)[1]
		assert int(number) % 50 == 49, screen
		t.type("Left")
		t.until(f"frame {int(number) - 1}, ", "ai 1.000 1.000 1.00")
		time.sleep(0.5)
		t.until(f"frame {int(number) - 1}, ")
		t.type("Right")
		t.until(f"frame {number}, ")
		t.type("0")
		t.until("average 0.8 s", gone=[" ago"])


def test_freezes(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("f")
		t.until("Freeze when a frame takes over")
		t.text("60")
		t.type("Enter")
		t.until("freezes over 60 ms")
		p.order("s")
		t.until("FROZEN at frame", "90.00 ms", "ai 75.000 75.000 1.00")
		t.standstill("-S", "0", "-E", "20")
		t.type("p")
		t.until("freezes over 60 ms", gone=["FROZEN"])


def test_threads(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("t")
		t.until("Threads", "main", "worker-1")
		t.type("Down", "Down", "Enter")
		t.until("thread", "worker-1", "wait_for_job", gone=["render"])


def test_saves_and_never_overwrites(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("w")
		t.until(f"Save to file: zoned-{p.pid}.zones")
		t.type("Enter")
		t.until("saved as")
		saved = folder / f"zoned-{p.pid}.zones"
		first = saved.stat()
		t.type("w")
		t.until("Save to file")
		t.type("Enter")
		t.until("exists")
		assert saved.stat().st_mtime_ns == first.st_mtime_ns
		t.type("q")
		t.until("$", gone=["self ms"])
		t.type(f"{SONDE} live {saved}", "Enter")
		t.until("saved", "render 4.000", "self ms")


def test_program_that_crashes(folder):
	with view(folder) as (t, p):
		t.until("render 4.000", "max 40.00")
		p.order("c")
		p.process.wait()
		t.until(f"zoned pid {p.pid} ended", "render 4.000")
		t.type("2")
		t.rows("hier ms▼")
		t.type("x")
		t.until(" ago", "ai 25.000")
		t.type("q")
		t.is_clean()


def test_program_that_stops(folder):
	with view(folder) as (t, p):
		t.until("running", "render 4.000")
		p.process.send_signal(signal.SIGSTOP)
		t.until("stopped", "render 4.000")
		t.type("3")
		t.until("-", "hier ms▼")
		p.process.send_signal(signal.SIGCONT)
		t.until("running")


def test_missing_end_is_named(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		p.order("m")
		screen = t.until("never_ended")
		line = next(line for line in t.screen("-e").splitlines() if "never_ended" in line)
		assert "frame" in screen and "\033[" in line, line


def test_program_without_frames(folder):
	with view(folder, program=["noframes"]) as (t, p):
		t.until("no frames: times are per", "render", "each 100 ms")
		t.type("u")
		t.until("the whole run", "render")


def test_sizes(folder):
	with view(folder, program=["", "200"]) as (t, p):
		t.until("render 4.000")
		for width, height in ((40, 12), (200, 60), (20, 5), (5, 2), (80, 24)):
			t.tmux("resize-window", "-x", width, "-y", height)
			if width >= 40:
				t.until("render 4.000", "q quit")
				t.type("End")
				t.until("more_")
				t.type("Home")
				t.until("render 4.000")
			else:
				time.sleep(0.3)
			screen = t.screen().splitlines()
			assert len(screen) <= height, screen
		t.type("h")
		t.until("call graph around")
		t.tmux("resize-window", "-x", 40, "-y", 12)
		t.until("Keys")


def test_help(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("?")
		t.until("Keys", "the slowest frame")
		t.type("Escape")
		t.until("render 4.000", gone=["the slowest frame"])


def test_colours(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		assert re.search(r"\033\[[0-9;]*3[0-9]", t.screen("-e")), "no colours"


def test_no_color(folder):
	with view(folder, variables="NO_COLOR=1") as (t, p):
		t.until("render 4.000")
		assert not re.search(r"\033\[([0-9;]*;)?[34][0-8]", t.screen("-e")), t.screen("-e")


def test_without_utf8(folder):
	with view(folder, variables="LC_ALL=C LANG=C") as (t, p):
		screen = t.until("render 4.000", "odd")
		assert screen.isascii(), screen


def test_list(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("l")
		t.until("Programs with zones", f"{p.pid} running")
		t.text(f"/{p.pid}")
		t.until(f"Filter: {p.pid}")
		t.type("Enter")
		t.until("render 4.000", f"pid {p.pid}")
		t.type("l")
		t.until("Programs with zones")
		p.order("e")
		p.process.wait()
		t.until(f"{p.pid} ended")
		t.type("Escape")
		t.until("q quit")
		t.type("q")
		t.is_clean()


def test_leaves_the_terminal_as_it_was(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		assert t.ask("#{alternate_on}") == "1"
		t.type("q")
		t.is_clean()
		for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV):
			t.type(f"clear; {SONDE} live {p.pid}", "Enter")
			t.until("render 4.000")
			os.kill(t.pid_of_sonde(), number)
			t.is_clean()


def test_suspends(folder):
	with view(folder) as (t, p):
		for _ in range(5):
			t.until("render 4.000", "q quit")
			t.type("C-z")
			t.until("Stopped", gone=["self ms"])
			assert t.ask("#{alternate_on}") == "0"
			t.type("clear; fg", "Enter")
		t.until("render 4.000", "q quit")
		t.type("q")
		t.is_clean()


def test_ctrl_c(folder):
	with view(folder) as (t, p):
		t.until("render 4.000")
		t.type("C-c")
		t.is_clean()


def test_costs_little(folder):
	if harness.SANITIZED:
		raise Skip("sanitizers cost more")
	with view(folder, program=["", "200"]) as (t, p):
		t.until("render 4.000")
		pid = t.pid_of_sonde()

		def used():
			fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
			return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
		before = used()
		time.sleep(4)
		share = (used() - before) / 4
		# It is below 1 % on a quiet machine.
		assert share < 0.05, share


harness.main()
