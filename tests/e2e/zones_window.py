"""The displays of zones in a real window: examples/zones_window, by its pixels and keys.

What is written on the screen is read back letter by letter (screen.py), in both kinds of context.
"""

import re
import time

import harness
from harness import BUILD_ROOT, Skip, check, run
from screen import Screen

PROGRAM = BUILD_ROOT / "examples" / "zones_window"
KINDS = ["--legacy", "--core"]

# Where examples/zones_window/main.c puts its displays: 12 pixels a line, 6 a letter.
LEFT, RIGHT, TOP, LINE = 8, 478, 20, 12
FIELD = 51
NAMES = RIGHT - 3 * FIELD
BOTTOM, GRAPH_TOP = 590, 440
SCENE = 490, 0, 960, 400
ROWS = 33


def zone_hash(name):
	value = 0x55555555
	for byte in name.encode():
		value = ((value << 5) + (value >> 27) + byte) & 0xffffffff
	return value


def zone_colour(name):
	"""IProf's, so that it is the same in each run."""
	value = zone_hash(name)
	value += (value if value < 1 << 31 else value - (1 << 32)) >> 8
	return tuple((value * factor & 127) + 80 for factor in (37, 59, 45))

FRAMELESS = "[threads without frames]"

class Row:
	def __init__(self, picture, y):
		self.label = picture.text(LEFT + 3, y, 51)
		self.is_cursor = picture.rgb(RIGHT - FIELD * 3 - 2, y - 8)[0] > 60
		self.colour = picture.rgb(LEFT, y)
		texts = [picture.text(NAMES + FIELD * i + 2, y, 8) for i in range(3)]
		self.values = [float(text) for text in texts] if all(texts) else None
		self.name = re.sub(r"^[-+!~]| \(\d+\)$", "", self.label)

	def __repr__(self):
		return f"{self.label} {self.values}{' <' if self.is_cursor else ''}"


class Report:
	"""What the report says in a picture. ValueError: that cannot be read."""

	def __init__(self, picture):
		self.title = picture.text(LEFT + 3, TOP, 77)
		y = TOP + LINE * 3 // 2
		self.trouble = ""
		if picture.text(LEFT + 9, y, 4) != "zone":
			self.trouble = picture.text(LEFT + 3, y, 77)
			y += LINE * 3 // 2
		self.header = [picture.text(LEFT + 9, y, 4)]
		for i in range(3):
			count = 5 if i == 2 else 4
			self.header.append(picture.text(int(NAMES + FIELD * i + (FIELD - 6 * count) / 2 + .5), y, count))
		self.rows = []
		for i in range(ROWS):
			row = Row(picture, y + LINE * (i + 1))
			if not row.label:
				break
			self.rows.append(row)

	def row(self, name):
		found = [row for row in self.rows if row.name == name]
		assert found, (name, self.rows)
		return found[0]

	def is_filled(self):
		"""Rows that have just come have no values yet."""
		return all(row.values for row in self.rows)

	def cursor(self):
		found = [i for i, row in enumerate(self.rows) if row.is_cursor]
		assert len(found) == 1, self.rows
		return found[0]


class Window:
	"""The program on a screen, from the first frame that can be read on."""

	def __init__(self, screen, *options):
		if not PROGRAM.exists():
			raise Skip("built without OpenGL or X11 (libgl-dev, libx11-dev)")
		self.screen = screen
		self.program = screen.start(PROGRAM, *options)
		self.until(lambda r: len(r.rows) >= 10 and r.is_filled() and r.row("split").values[0] > 0,
			"the first report")
		screen.tool("mousemove", "700", "300")

	def picture(self):
		if self.program.poll() is not None:
			err = self.program.stderr.read()
			if "OpenGL" in err:
				raise Skip(f"zones_window: {err.strip()} (Debian's libgl1-mesa-dri)")
			raise AssertionError(f"ended with {self.program.returncode}: {err}")
		return self.screen.still(self.program)

	def report(self):
		return Report(self.picture())

	def until(self, holds, what):
		"""The report that is as it should be; there is one soon."""
		said = None
		end = time.monotonic() + 60
		while time.monotonic() < end:
			try:
				report = Report(self.picture())
				if holds(report):
					return report
				said = (report.title, report.header, report.rows)
			except (ValueError, AssertionError) as error:
				if self.program.poll() is not None:
					raise
				said = error
			time.sleep(.05)
		raise AssertionError(f"waited for {what}; there is {said}")

	def next_frame(self, before):
		"""A later picture, of another moment of the scene, which always goes on."""
		end = time.monotonic() + 60
		while (after := self.picture()).rows(*SCENE) == before.rows(*SCENE):
			assert time.monotonic() < end, "the scene stands still"
			time.sleep(.05)
		return after

	def standstill(self, part):
		"""A picture once part() of it stays the same while the scene goes on, which is soon."""
		before = self.picture()
		for _ in range(10):
			after = self.next_frame(self.next_frame(before))
			if part(before) == part(after):
				return after
			before = after
		raise AssertionError(f"{part.__name__} goes on")

	def key(self, *keys):
		self.screen.tool("key", *keys)

	def name(self):
		ids = self.screen.tool("search", "--name", "^zones_window").split()
		return self.screen.tool("getwindowname", ids[0])


def in_both(folder, test):
	for kind in KINDS:
		place = folder / kind.strip("-")
		place.mkdir()
		with Screen(place) as screen:
			test(Window(screen, kind))


def assert_descending(report):
	"""By the first column, but for the row of threads that end no frames, which is the last one."""
	names = [row.name for row in report.rows]
	assert FRAMELESS not in names[:-1], names
	values = [row.values[0] for row in report.rows if row.name != FRAMELESS]
	assert values == sorted(values, reverse=True), values


def test_titles_header_and_values_are_seen(folder):
	def look(window):
		report = window.report()
		assert re.match(r"\d+\.\d{3} ms/frame \(fps: \d+\.\d\d\)  sort self", report.title), report.title
		assert report.header == ["zone", "self", "hier", "count"], report.header
		names = [row.name for row in report.rows]
		assert {"frame", "scene", "split", "attract", "group", "rest", "draw", "show", "prof_draw",
			"prof_draw_graph", "wait_for_work", "wait_for_helper"} <= set(names), names
		assert "?" not in "".join(names), names
		for row in report.rows:
			assert row.values[0] >= 0 and row.values[1] >= row.values[0] - .002, row
			assert row.colour == zone_colour(row.name), row
		assert_descending(report)
		# Each frame has one of these.
		for name in "frame", "scene", "build_tree", "move", "bodies":
			assert abs(report.row(name).values[2] - 1) <= .2, report.row(name)
		assert report.row("attract_half").values[2] > 1.8, report.rows
	in_both(folder, look)


def line_of_fade(picture):
	"""The graph's line of a zone."""
	return picture.where(zone_colour("fade"), LEFT, GRAPH_TOP, 953, BOTTOM + 1)


def shown(picture):
	"""The report's rows, and the graph's line of a zone."""
	return [repr(row) for row in Report(picture).rows], line_of_fade(picture)


@harness.takes_long
def test_values_and_graph_go_on_and_stop(folder):
	def look(window):
		first = window.report()
		window.until(lambda r: [row.values for row in r.rows] != [row.values for row in first.rows],
			"other values")
		graphs = set()

		def fourth_graph(_):
			places = line_of_fade(window.picture())
			assert places, "there is no line of the zone fade"
			graphs.add(tuple(places))
			return len(graphs) == 4
		window.until(fourth_graph, "the graph to go on")
		window.key("p")
		window.until(lambda _: "paused" in window.name(), "the pause")
		# The scene goes on, in the pause of what is measured.
		still = window.standstill(shown)
		window.key("p")
		window.until(lambda r: [row.values for row in r.rows] != [row.values for row in Report(still).rows],
			"values after the pause")
	in_both(folder, look)


def newest_spike(picture, name):
	"""Where the highest point of a zone's newest spike is; None: there is none."""
	places = picture.where(zone_colour(name), LEFT, 300, 953, BOTTOM - 10)
	last = max((x for x, _ in places), default=0)
	spike = [(y, x) for x, y in places if x > last - 16]
	return min(spike)[1] if spike else None


@harness.takes_long
def test_a_slow_frame_wanders_to_the_left(folder):
	with Screen(folder) as screen:
		window = Window(screen, "--core")
		end = time.monotonic() + 60
		seen = []
		while len(seen) < 3 and time.monotonic() < end:
			place = newest_spike(window.picture(), "energy")
			if place is not None and (not seen or place != seen[-1]):
				# A new one comes in from the right.
				seen = seen + [place] if not seen or place < seen[-1] else [place]
			# It stands still for each picture.
			time.sleep(.1)
		assert len(seen) == 3, seen
		# Whole frames, of 944 / 127 pixels.
		for a, b in zip(seen, seen[1:]):
			frames = (a - b) * 127 / 944
			assert abs(frames - round(frames)) < .3, seen


@harness.takes_long
def test_keys_of_the_report(folder):
	def look(window):
		window.key("m")
		hier = window.until(lambda r: "sort hier" in r.title and r.is_filled(), "the next mode")
		assert hier.header == ["zone", "hier", "self", "count"], hier.header
		assert_descending(hier)

		at = hier.cursor()
		window.key("Down")
		window.until(lambda r: r.cursor() == at + 1, "the cursor a row down")
		window.key("Up")
		window.until(lambda r: r.cursor() == at, "the cursor a row up")

		# To the zone "scene", which "frame" calls.
		window.key("p")
		window.until(lambda _: "paused" in window.name(), "the pause")
		report = window.until(Report.is_filled, "a report")
		steps = report.rows.index(report.row("scene")) - report.cursor()
		window.key(*["Down" if steps > 0 else "Up"] * abs(steps))
		window.until(lambda r: r.rows[r.cursor()].name == "scene", "the cursor at scene")
		window.key("Return")
		graph = window.until(lambda r: r.is_filled() and any(row.label == "-scene" for row in r.rows),
			"scene's call graph")
		focus = graph.row("scene")
		above = graph.rows[:graph.rows.index(focus)]
		below = graph.rows[graph.rows.index(focus) + 1:]
		assert [row.name for row in above] == ["frame"], graph.rows
		assert {"build_tree", "move", "paint"} <= {row.name for row in below}, graph.rows
		column = graph.header.index("hier") - 1
		self_column = graph.header.index("self") - 1
		# What it calls is what it takes but not itself; what calls it has all of it.
		assert abs(sum(row.values[column] for row in below) -
			(focus.values[column] - focus.values[self_column])) < .002 * len(graph.rows), graph.rows
		assert abs(above[0].values[column] - focus.values[column]) < .002, graph.rows
		window.key("BackSpace")
		window.until(lambda r: any(row.label == "-frame" for row in r.rows), "its parent's")
	in_both(folder, look)


def mark(picture, frame):
	"""Whether there is an upright line at that frame, half white, wherever no line of a zone is: of a slow
	frame these may cover much of it."""
	def is_marked(x):
		column = [picture.rgb(x, y) for y in range(GRAPH_TOP + 10, BOTTOM)]
		behind = [rgb for rgb in column if max(rgb) - min(rgb) < 12]
		grey = [rgb for rgb in behind if min(rgb) > 115]
		return len(grey) > 10 and len(grey) > 0.8 * len(behind)

	at = LEFT + frame * 944 // 127
	return any(map(is_marked, (at - 1, at, at + 1)))


@harness.takes_long
def test_keys_of_frames_and_of_averages(folder):
	def look(window):
		window.key("p")
		window.until(lambda _: "paused" in window.name(), "the pause")
		now = window.until(lambda r: "ago" not in r.title, "the present")
		window.key("Left")
		one = window.until(lambda r: "1 frame ago" in r.title, "a frame ago")
		assert [r.values for r in one.rows] != [r.values for r in now.rows]
		window.key("Left")
		window.until(lambda r: "2 frames ago" in r.title, "two frames ago")
		# The mark in the graph: at the third point from the right.
		assert mark(window.picture(), 125), "there is no mark"
		window.key("Right", "Right")
		window.until(lambda r: "ago" not in r.title, "the present again")
		assert not mark(window.picture(), 125), "the mark is still there"

		assert "smoothing 1" in window.name()
		window.key("s")
		window.until(lambda _: "smoothing 2" in window.name(), "the longer average")
		window.key("s")
		window.until(lambda r: "smoothing 0" in window.name() and
			[row.values for row in r.rows] != [row.values for row in now.rows], "no average")
	in_both(folder, look)


@harness.takes_long
def test_recursion_is_spread(folder):
	with Screen(folder) as screen:
		window = Window(screen)
		depth = window.until(lambda r: "(" in r.row("split").label, "the depth of recursion")
		assert sum(row.name == "split" for row in depth.rows) == 1, depth.rows
		window.key("r")
		window.until(lambda r: sum(row.name == "split" for row in r.rows) > 2, "a row for each depth")
		window.key("r")
		window.until(lambda r: sum(row.name == "split" for row in r.rows) == 1, "one row")


@harness.takes_long
def test_it_freezes_at_a_slow_frame(folder):
	with Screen(folder) as screen:
		window = Window(screen)
		window.key("f")
		window.until(lambda _: "freezes" in window.name(), "the wish")
		# Nothing is slower than a program that stands still, as it does for each picture.
		still = window.standstill(line_of_fade)
		window.key("f")
		window.until(lambda r: "freezes" not in window.name(), "the end of it")
		window.until(lambda r: line_of_fade(window.picture()) != line_of_fade(still), "the graph to go on")


def test_it_ends(folder):
	with Screen(folder) as screen:
		window = Window(screen)
		window.key("q")
		out, err = window.program.communicate(timeout=60)
		assert window.program.returncode == 0 and err == "" and "smoothing" in out, (out, err)
		for kind in KINDS:
			check(run(PROGRAM, kind, "--frames", "3", env=screen.variables))


def test_it_says_what_is_wrong():
	if not PROGRAM.exists():
		raise Skip("built without OpenGL or X11 (libgl-dev, libx11-dev)")
	for arguments in ["--frames"], ["--frames", "0"], ["--frames", "x"], ["--other"]:
		assert "--frames N" in check(run(PROGRAM, *arguments), 2).err
	assert "no X server" in check(run(PROGRAM, env={"DISPLAY": ":9999"}), 1).err


def test_the_programs_own_state_is_left_alone(folder):
	program = BUILD_ROOT / "tests" / "programs" / "zones_gl_state"
	if not program.exists():
		raise Skip("built without OpenGL or X11 (libgl-dev, libx11-dev)")
	with Screen(folder) as screen:
		for kind in "legacy", "core":
			result = check(run(program, kind, env=screen.variables))
			if result.out.startswith("skip"):
				raise Skip(result.out)
			assert result.out == ("edge: a line along it\ntitle: has letters, a bar\n"
				"own text: called, title\ndone\n"), (kind, result)


harness.main()
