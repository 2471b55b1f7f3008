"""Random profiles and options for report_model.py, each as files and as the model has it."""

import json
import random

import model
import model_filters
from harness import sonde

FUNCTIONS = ("a", "b", "C", "d", "e f", "g_[k]", "x'y", "m")
MODULES = (None, None, "m", "lib.so", "N")
LEVELS = ("function", "function", "module")


class Case:
	"""One profile, or two to be compared, and what is asked of it."""

	def __init__(self, folder, seed):
		self.random = random.Random(seed)
		self.folder, self.seed, self.asked = folder, seed, []
		r = self.random
		names = r.sample(FUNCTIONS, r.randint(1, 5))
		modules = r.sample(MODULES, r.randint(1, 3))
		self.frames = sorted({model.Frame(n, r.choice(modules)) for n in names} |
			{model.Frame(r.choice(names), r.choice(modules))}, key=str)
		self.depth = r.choice((2, 4, 6, 12))
		self.diff = r.random() < 0.25
		self.files = [self.file(f"{seed}-{i}.folded") for i in range(2 if self.diff else 1)]
		profiles = self.profiles()
		self.samples = model.difference(*profiles) if self.diff else model.summed(*profiles)
		self.width = 3 if self.diff else 1

	def line(self):
		"""One line of a folded file, or two; now and then an odd one."""
		r = self.random
		stack = [r.choice(self.frames) for _ in range(r.randint(1, self.depth))]
		text = ";".join(f"{f.module}`{f.name}" if f.module else f.name for f in stack)
		# Large ones below 0: stacks that filters make equal are not to cancel out by chance.
		below = str(-r.randrange(1000, 10**9))
		weight = r.choice(("1", "2", "3", "7", "10", "1", "0", below, "2.5", "0.4"))
		odd = r.random()
		if odd < 0.02:
			return r.choice(("", "# " + text, text + " x", "alone", f"{text} {2**63}", "# 5", "a; ", " "))
		if odd < 0.06:
			return r.choice((f"{text} 5\n{text} -5", f"{text} {weight}\r", f";{text} {weight}",
				f"{text};;b {weight}", f"{text};  {weight}"))
		return f"{text} {weight}"

	def file(self, name):
		path = self.folder / name
		lines = [self.line() for _ in range(self.random.choice((1, 3, 6, 14)))]
		path.write_text("\n".join(lines + ["a 1"]) + "\n", newline="")
		return path

	def profiles(self):
		return [model.read_folded(path.read_bytes().decode())[0] for path in self.files]

	def regex(self):
		r = self.random
		frame = r.choice(self.frames)
		return r.choice((f"^{frame.name[0]}", frame.name[-1], f"^({frame.name[:2]}|a)$", "[a-c]",
			f"{frame.module or ''}`{frame.name[0]}")).replace("[k]", "")

	def when(self, depth=0):
		"""A random pattern."""
		r = self.random
		threads = []
		for _ in range(r.choice((1, 1, 1, 2))):
			primaries = []
			for _ in range(r.choice((1, 2, 2, 3))):
				kind = r.random()
				if kind < 0.25:
					primaries.append("*")
				elif kind < 0.4 and depth < 2:
					primaries.append(f"({self.when(depth + 1)})")
				else:
					primaries.append(self.primary())
			threads.append(r.choice(("->", " -> ")).join(primaries))
		return r.choice(("|", " | ")).join(threads)

	def primary(self):
		r = self.random
		frame = r.choice(self.frames)

		def name(text):
			if r.random() < 0.5 and text.replace("_", "a").isalnum():
				return r.choice((text, text.lower(), text.upper()))
			return "'" + r.choice((text, text, text.upper())).replace("'", "''") + "'"

		colons = r.choice((("", ""), ("", ""), (":", ""), ("", ":"), (":", ":")))
		module = name(frame.module) if frame.module and r.random() < 0.5 else ""
		procedure = "." + name(frame.name) if not module or r.random() < 0.5 else ""
		return colons[0] + module + procedure + colons[1]

	def filters(self):
		"""Random filters, as arguments and as a selection."""
		r = self.random
		selection, args = model_filters.Selection(self.samples, self.width), []
		for _ in range(r.choice((0, 0, 1, 1, 2, 3))):
			kind = r.choice(("when", "when", "focus", "ignore", "hide"))
			value = self.when() if kind == "when" else self.regex()
			selection.apply(kind, value)
			args += ["--" + kind, value]
		return args, selection

	def entities(self):
		"""Random filters and levels: arguments, the selection, and its samples as entities."""
		r = self.random
		args, selection = self.filters()
		level = r.choice(LEVELS)
		rules = []
		if level == "function" and r.random() < 0.2:
			rules = [(self.regex().rpartition("`")[2], r.choice(("a", "Z")))
				for _ in range(r.randint(1, 2))]
			args += [a for rule in rules for a in ("--same", "=".join(rule))]
		if level != "function":
			args += ["--level", level]
		samples = [(model.at_level(model.same(s, rules), level), w) for s, w in selection.samples()]
		if r.random() < 0.2:
			args.append("--spread")
			samples = [(model.spread(s), w) for s, w in samples]
		return args, selection, samples

	def run(self, *args):
		self.asked = ["diff" if self.diff else "report", *map(str, self.files), *args]
		return sonde(*self.asked)

	def report(self, *args):
		result = self.run("--format", "json", *args)
		assert result.status == 0 and not result.err, result
		return json.loads(result.out)
