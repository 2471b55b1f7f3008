"""Recordings of programs with zones, as their dumps tell, and what the programs told themselves."""

import collections
import re

import harness

STRING = r'"((?:[^"\\]|\\.)*)"'


class ZoneRecording:
	"""metrics: names; samples: (stack, zone, thread, time, {metric: weight}), stacks as tuples of
	(function, kind of load object), zone None where it is not told; ticks: (process, stream, number,
	start, end); events: (thread, time, stack); notes: text. rows: of samples those that are a zone's
	own; taken: the others."""

	def __init__(self, path):
		text = harness.check(harness.sonde("convert", path, "-o", "-", "--to", "dump")).out
		self.metrics, self.notes, self.ticks, self.events, self.samples = [], [], [], [], []
		self.threads = []
		self._objects, self._functions = collections.defaultdict(list), collections.defaultdict(list)
		self._rows, self._path = [()], [0]
		for line in text.splitlines():
			word, _, rest = line.partition(" ")
			read = getattr(self, "_read_" + word.replace("-", "_"), None)
			if read:
				read(rest)
		self.rows = [s for s in self.samples if "zone-time" in s[4] and (s[4]["zone-time"] or s[4]["zone-entries"])]
		rows = set(map(id, self.rows))
		self.taken = [s for s in self.samples if id(s) not in rows]

	def _read_metric(self, rest):
		self.metrics.append(re.match(STRING, rest).group(1))

	def _read_note(self, rest):
		self.notes.append(rest)

	def _read_thread(self, rest):
		self.threads.append(rest)

	def _read_object(self, rest):
		kind, path = re.match(r"(\S+) " + STRING, rest).groups()
		self._objects[path].append(kind)

	def _read_function(self, rest):
		name, path, nth = re.match(STRING + "(?: object " + STRING + r"(?:#(\d+))?)?", rest).groups()
		kind = self._objects[path][int(nth or 1) - 1] if path else None
		self._functions[name].append((name, kind))

	def _read_stack(self, rest):
		level, name, nth = re.match(r"(\d+)(?: " + STRING + r"(?:#(\d+))?)?", rest).groups()
		level = int(level)
		if level == 0:
			return
		parent = self._rows[self._path[level - 1]]
		self._path[level:] = [len(self._rows)]
		self._rows.append(parent + (self._functions[name][int(nth or 1) - 1],))

	def _read_sample(self, rest):
		match = re.match(r"(\d+)(?: thread (\d+))?(?: time (\d+))?(?: zone (\d+))?(?: labels [\d ,]+)? weight (.*)", rest)
		row, thread, time, zone, weights = match.groups()
		self.samples.append((self._rows[int(row)], self._rows[int(zone)] if zone else None,
			int(thread or 0), int(time or 0), dict(zip(self.metrics, map(int, weights.split())))))

	def _read_tick(self, rest):
		match = re.match(r"process (\d+) " + STRING + r" (\d+) start (\d+) end (\d+)", rest)
		process, stream, number, start, end = match.groups()
		self.ticks.append((int(process), stream, int(number), int(start), int(end)))

	def _read_zone_event(self, rest):
		thread, time, row = map(int, re.findall(r"\d+", rest))
		self.events.append((thread, time, self._rows[row]))

	def zones(self):
		"""{"_global/frame": (entries, ns)}, of all threads and ticks."""
		sums = collections.defaultdict(lambda: [0, 0])
		for stack, _, _, _, weight in self.rows:
			sums[names(stack)][0] += weight["zone-entries"]
			sums[names(stack)][1] += weight["zone-time"]
		return {stack: tuple(sum_) for stack, sum_ in sums.items()}


def names(stack):
	return "/".join(name for name, _ in stack)


class Truth:
	"""What tests/programs/zoned.c has printed: stacks: {path: (count, least ns, most ns)}; frames:
	[(just before, just after its end)], of CLOCK_MONOTONIC."""

	def __init__(self, text):
		self.stacks, self.frames = {}, []
		for line in text.splitlines():
			words = line.split()
			if words[0] == "stack":
				self.stacks[words[1]] = tuple(map(int, words[2:5]))
			elif words[0] == "frame":
				self.frames.append(tuple(map(int, words[2:4])))


def zoned(folder):
	"""The program, linked with the library of this build."""
	source = harness.SOURCE_ROOT / "tests/programs/zoned.c"
	library = harness.BUILD_ROOT / "libsonde-zones.a"
	include = harness.SOURCE_ROOT / "include"

	def build(place):
		harness.check(harness.run("cc", "-O2", "-g", f"-I{include}", "-pthread", source, library, "-lm",
			"-o", place / "zoned"))
	return harness.built_once(folder, "zoned", [source.read_text(), library.stat().st_mtime_ns,
		*(path.read_text() for path in include.glob("*.h"))], build)
