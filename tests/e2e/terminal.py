"""A real terminal, which is a tmux pane: keys in, the screen out."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import time

import harness
from harness import SONDE, Skip

WAIT = 40 if not harness.SANITIZED else 120


class Terminal:
	"""A terminal of a size, with a shell that runs sonde with these arguments."""

	SHOWN = "selected:" # what the screen has as long as sonde runs

	def __init__(self, folder, *arguments, width=80, height=24, variables="", at=None):
		if not shutil.which("tmux"):
			raise Skip("no tmux")
		# Each its own: a server that has been told to end may still be there.
		self.server = ["tmux", "-u", "-S", str(folder / f"terminal{time.monotonic_ns()}"), "-f", "/dev/null"]
		shell = f"env -u NO_COLOR PS1='$ ' LC_ALL=C.UTF-8 {variables} sh"
		self.tmux("new-session", "-d", "-x", width, "-y", height, *(["-c", at] if at else []), shell)
		self.until("$")
		self.type(" ".join([f"stty -g > {folder}/before;", str(SONDE), *(shlex.quote(str(a)) for a in arguments)]), "Enter")
		self.folder = folder

	def tmux(self, *arguments):
		done = subprocess.run([*self.server, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			timeout=60, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"}, cwd=os.path.dirname(self.server[3]))
		assert done.returncode == 0, done.stderr
		return done.stdout

	def screen(self, *options):
		return self.tmux("capture-pane", "-p", *options)

	def type(self, *keys):
		self.tmux("send-keys", "-t", "0", *keys)

	def text(self, text):
		"""Bytes as they are."""
		self.tmux("send-keys", "-t", "0", "-l", "--", text)

	def until(self, *texts, gone=()):
		"""The screen once it has all these (with single spaces), and none of those that shall be gone."""
		end = time.monotonic() + WAIT
		while True:
			screen = self.screen()
			flat = re.sub(" +", " ", screen)
			if all(t in flat for t in texts) and not any(t in flat for t in gone):
				return screen
			assert time.monotonic() < end, f"no {texts} or still {gone} in\n{screen}"
			time.sleep(0.05)

	def ask(self, format):
		return self.tmux("display-message", "-p", "-t", "0", format).strip()

	def poll(self, holds, what):
		end = time.monotonic() + WAIT
		while not (value := holds()):
			assert time.monotonic() < end, f"{what}, in\n{self.screen()}"
			time.sleep(0.05)
		return value

	def children(self):
		shell = int(self.ask("#{pane_pid}"))
		return pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text().split()

	def pid_of_sonde(self):
		return int(self.poll(self.children, "sonde does not run")[0])

	def standstill(self, *options):
		"""Waits for a screen that stays as it is; the first one may not be drawn to its end."""
		for _ in range(10):
			before = self.screen(*options)
			time.sleep(0.7)
			if self.screen(*options) == before:
				return
		raise AssertionError(f"it goes on:\n{before}")

	def is_clean(self):
		"""The shell is back on a screen and a terminal as they were before."""
		self.poll(lambda: not self.children(), "sonde goes on")
		self.until("$", gone=[self.SHOWN])
		self.poll(lambda: self.ask("#{alternate_on} #{mouse_any_flag} #{keypad_flag} #{cursor_flag}") == "0 0 0 1",
			"the terminal is not what it was")
		self.type(f"stty -g > {self.folder}/after; cmp {self.folder}/before {self.folder}/after && echo sa''me", "Enter")
		self.until("same")


def click(terminal, x, y, button=0, times=1):
	"""As xterm tells it (SGR or old), whichever the pane has asked for; x and y from 0."""
	if terminal.ask("#{mouse_sgr_flag}") == "1":
		one = f"\033[<{button};{x + 1};{y + 1}M\033[<{button};{x + 1};{y + 1}m"
	else:
		at = chr(33 + x) + chr(33 + y)
		one = "\033[M" + chr(32 + button) + at + "\033[M" + chr(32 + 3) + at
	terminal.text(one * times)


def place(screen, text):
	for y, line in enumerate(screen.splitlines()):
		if text in line:
			return line.index(text), y
	raise AssertionError(f"no {text} in\n{screen}")
