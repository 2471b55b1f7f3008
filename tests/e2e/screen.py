"""An X server without a screen, what is on it, and what is written there in zones' own font.

The server (Xvfb) keeps its pixels in a file, which is read as it is: no program takes a picture. The
font is of src/zones_gl/glyphs.c, so text is read exactly, dot by dot, or not at all.
"""

import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time

import harness

WIDTH, HEIGHT = 1024, 640


def glyphs():
	"""The font: a glyph's dots, as rows of five, to its character."""
	text = (harness.SOURCE_ROOT / "src/zones_gl/glyphs.c").read_text()
	found = {}
	for name, art in re.findall(r"\['(\\?.)' - 32\] = \"(.*)\",", text):
		rows = (art.split() + ["....."] * 9)[:9]
		found["".join(rows)] = name[-1]
	assert len(found) == 95, len(found)
	return found


class Picture:
	"""The screen at one moment."""

	FONT = {}

	def __init__(self, data):
		header = struct.unpack(">25I", data[:100])
		assert header[1] == 7 and header[11] == 32, "not the picture that was expected"
		self.line = header[12]
		self.pixels = data[header[0] + 12 * header[19]:]
		if not Picture.FONT:
			Picture.FONT.update(glyphs())

	def rgb(self, x, y):
		blue, green, red = self.pixels[y * self.line + 4 * x:y * self.line + 4 * x + 3]
		return red, green, blue

	def rows(self, x0, y0, x1, y1):
		"""The bytes of a rectangle, to compare."""
		return b"".join(self.pixels[y * self.line + 4 * x0:y * self.line + 4 * x1] for y in range(y0, y1))

	def where(self, rgb, x0, y0, x1, y1):
		"""The places in a rectangle that have just that colour."""
		wanted = bytes((rgb[2], rgb[1], rgb[0]))
		found = []
		for y in range(y0, y1):
			start = y * self.line + 4 * x0
			line = self.pixels[start:start + 4 * (x1 - x0)]
			at = line.find(wanted)
			while at >= 0:
				if at % 4 == 0:
					found.append((x0 + at // 4, y))
				at = line.find(wanted, at + 1)
		return found

	def is_lit(self, x, y):
		"""Letters are bright, and what is behind them is not."""
		return max(self.rgb(x, y)) > 170

	def glyph(self, x, y):
		"""The character whose base line begins there; None: it is none."""
		return Picture.FONT.get("".join("#" if self.is_lit(x + u, y - 7 + v) else "."
			for v in range(9) for u in range(5)))

	def text(self, x, y, count):
		"""So many characters, without blanks around them; what is none is a ?, which names here have not."""
		return "".join(self.glyph(x + 6 * i, y) or "?" for i in range(count)).strip()


class Screen:
	"""With it: a server. Programs run by it are ended when it ends."""

	def __init__(self, folder):
		for program, package in [("Xvfb", "xvfb"), ("xdotool", "xdotool")]:
			if not shutil.which(program):
				raise harness.Skip(f"there is no {program} (Debian's {package})")
		self.folder = pathlib.Path(folder)
		self.programs = []

	def __enter__(self):
		ours, theirs = os.pipe()
		# Without -noreset it begins anew when the last client goes, and refuses whoever comes just then.
		self.server = subprocess.Popen(
			["Xvfb", "-displayfd", str(theirs), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", self.folder,
				"-nolisten", "tcp", "-nocursor", "-noreset"],
			pass_fds=[theirs], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		os.close(theirs)
		# To its end, or the server fails in writing that.
		with os.fdopen(ours) as pipe:
			number = pipe.readline().strip()
		if not number:
			self.server.wait()
			raise harness.Skip("Xvfb does not start")
		self.variables = dict(os.environ, DISPLAY=f":{number}", LIBGL_ALWAYS_SOFTWARE="1")
		return self

	def __exit__(self, *_):
		for program in self.programs:
			if program.poll() is None:
				program.kill()
			program.communicate()
		self.server.terminate()
		self.server.wait()

	def start(self, *command):
		program = subprocess.Popen([str(c) for c in command], env=self.variables, text=True,
			stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		self.programs.append(program)
		return program

	def tool(self, *arguments):
		"""xdotool: its output."""
		return harness.check(harness.run("xdotool", *arguments, env=self.variables)).out.strip()

	def picture(self):
		return Picture((self.folder / "Xvfb_screen0").read_bytes())

	def still(self, program):
		"""The picture while the program stands still, so that it is of one frame."""
		program.send_signal(signal.SIGSTOP)
		try:
			before = None
			while True:
				# The server answers between two requests of others, so what it is drawing in one picture it
				# has done in the next, however busy the machine.
				time.sleep(.03)
				self.tool("getmouselocation")
				picture = self.picture()
				if before == picture.pixels:
					return picture
				before = picture.pixels
		finally:
			program.send_signal(signal.SIGCONT)
