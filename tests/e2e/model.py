"""A plain model of every view, written from the definitions alone (docs/semantics.md), to compare with.

It keeps a profile as a list of samples, each a stack written out, and follows the words of the
definitions step by step; nothing is shared between stacks, and nothing is quick.

A frame is (name, module), module None where it is not told. A stack is a tuple of frames, the root
first. A sample is (stack, weights): weights has one number per metric, of a report one, of a
difference three: new - old, old and new. Figures are such tuples too.
"""

import collections
import re

Frame = collections.namedtuple("Frame", "name module")
TOTAL = Frame("<Total>", None)
SPONTANEOUS = Frame("<spontaneous>", None)
WEIGHT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$")


class Sums:
	"""Figures by key, in the order in which the keys were first seen."""

	def __init__(self):
		self.of = {}

	def add(self, key, weights):
		before = self.of.get(key, (0,) * len(weights))
		self.of[key] = tuple(a + b for a, b in zip(before, weights))

	def get(self, key, like):
		return self.of.get(key, (0,) * len(like))


def rounded(text):
	"""The whole number nearest to a decimal; halves go away from zero."""
	sign = -1 if text.startswith("-") else 1
	whole, _, fraction = text.lstrip("+-").partition(".")
	return sign * (int(whole or "0") + (fraction[:1] >= "5"))


def frame_of(text):
	module, mark, name = text.partition("`")
	if not mark:
		module, name = "", text
	return Frame(name if name.strip() else "[unknown]", module or None)


def read_folded(text):
	"""The samples of folded stacks, and the numbers of the lines that are malformed."""
	samples, malformed = [], []
	for number, line in enumerate(text.split("\n"), 1):
		line = line.removesuffix("\r")
		if not line.strip() or line.startswith("#"):
			continue
		stack, space, weight = line.rpartition(" ")
		if not space or not WEIGHT.match(weight) or not -2**63 <= rounded(weight) < 2**63:
			malformed.append(number)
			continue
		samples.append((tuple(frame_of(f) for f in stack.split(";")), (rounded(weight),)))
	return samples, malformed


def summed(samples):
	"""Equal stacks as one, as first seen, be it as another's beginning; those of weight 0 left out."""
	sums = Sums()
	for stack, weights in samples:
		for end in range(1, len(stack)):
			sums.add(stack[:end], (0,) * len(weights))
		sums.add(stack, weights)
	return [(stack, weights) for stack, weights in sums.of.items() if any(weights)]


def renamed_modules(old, new):
	"""{a module of old: its name in new}, for modules that differ in name only."""
	def names(frames, others):
		own = {f.module for f in frames} - {f.module for f in others} - {None}
		return {module: {f.name for f in frames if f.module == module and not f.name.startswith("[")}
			for module in own}

	sides = names(old, new), names(new, old)
	votes = {(a, b): len(sides[0][a] & sides[1][b]) for a in sides[0] for b in sides[1]}
	return {a: b for (a, b), count in votes.items()
		if count and 2 * count >= min(len(sides[0][a]), len(sides[1][b]))
		and all(v < count for pair, v in votes.items() if pair != (a, b) and (pair[0] == a or pair[1] == b))}


def matched(old, new):
	"""{a frame of either side: the frame it is shown as}, where one side does not know the module."""
	def possible(frame, others):
		return [o for o in others if o.name == frame.name and None in (o.module, frame.module)]

	alone = [f for f in old if f not in new], [f for f in new if f not in old]
	shown = {}
	for frame in alone[0]:
		choices = possible(frame, alone[1])
		if len(choices) == 1 and possible(choices[0], alone[0]) == [frame]:
			known = frame if frame.module else choices[0]
			shown[frame] = shown[choices[0]] = known
	return shown


def difference(old, new):
	"""The samples of two profiles as one, with three metrics: new - old, old, new."""
	frames = [dict.fromkeys(f for stack, _ in side for f in stack) for side in (old, new)]
	modules = renamed_modules(*frames)
	named = {f: Frame(f.name, modules.get(f.module, f.module)) for f in frames[0]}
	shown = matched(dict.fromkeys(named.values()), frames[1])
	old = [(tuple(shown.get(named[f], named[f]) for f in stack), w) for stack, w in old]
	new = [(tuple(shown.get(f, f) for f in stack), w) for stack, w in new]
	return summed([(s, (-w[0], w[0], 0)) for s, w in old] + [(s, (w[0], 0, w[0])) for s, w in new])


def total(samples):
	return tuple(sum(column) for column in zip(*(w for _, w in samples)))


# ---- Levels, --same, --spread, --invert


def at_level(stack, level):
	"""The entities of a stack; neighbours that are equal at a coarse level are one."""
	if level == "function":
		return stack
	entities = []
	for frame in stack:
		entity = Frame(frame.module or "[unknown]", frame.module)
		if not entities or entities[-1] != entity:
			entities.append(entity)
	return tuple(entities)


def spread(stack):
	"""The first f keeps its name, the k-th is f'k."""
	seen, frames = collections.Counter(), []
	for frame in stack:
		seen[frame] += 1
		k = seen[frame]
		frames.append(frame if k == 1 else Frame(f"{frame.name}'{k}", frame.module))
	return tuple(frames)


def same(stack, rules):
	"""Functions that a rule (regex, name) matches are one function; the first rule counts."""

	def renamed(frame):
		for regex, name in rules:
			if re.search(regex, frame.name):
				return Frame(name, None)
		return frame

	return tuple(renamed(frame) for frame in stack)


# ---- Functions


def functions(samples, spontaneous=()):
	"""{entity: (exclusive, inclusive)}. spontaneous: weights of what WHEN charged to no frame."""
	exclusive, inclusive = Sums(), Sums()
	for stack, weights in samples:
		exclusive.add(stack[-1], weights)
		for entity in set(stack):
			inclusive.add(entity, weights)
	for weights in spontaneous:
		exclusive.add(SPONTANEOUS, weights)
		inclusive.add(SPONTANEOUS, (0,) * len(weights))
	rows = {e: (exclusive.get(e, w), w) for e, w in inclusive.of.items()}
	return {e: r for e, r in rows.items() if any(r[0]) or any(r[1])}


# ---- Callers and callees


class Centre:
	"""What stands between callers and callees, with the edges of each side."""

	def __init__(self, width):
		self.exclusive = self.inclusive = (0,) * width
		self.callers, self.callees = Sums(), Sums()
		self.outer_callers, self.outer_callees = set(), set()

	def add(self, stack, weights, starts, length):
		"""One stack: starts are the places where the centre stands in it, outermost first."""
		zero = (0,) * len(weights)
		self.inclusive = tuple(a + b for a, b in zip(self.inclusive, weights))
		for start in starts:
			end = start + length
			caller = stack[start - 1] if start else TOTAL
			callee = stack[end] if end < len(stack) else None
			if start != starts[-1]:
				self.outer_callers.add(caller)
				self.outer_callees.add(callee)
				continue
			self.callers.add(caller, weights)
			if callee:
				self.callees.add(callee, weights)
			self.exclusive = tuple(
				a + b for a, b in zip(self.exclusive, zero if callee else weights))

	def lines(self, sums, outer):
		"""{entity: (attributed, recursive)} of one side."""
		zero = (0,) * len(self.inclusive)
		lines = {e: (w, False) for e, w in sums.of.items() if any(w)}
		for entity in outer - set(sums.of) - {None}:
			lines[entity] = (zero, True)
		return lines

	def row(self):
		return (self.exclusive, self.inclusive, self.lines(self.callers, self.outer_callers),
			self.lines(self.callees, self.outer_callees))

	def shown(self):
		exclusive, inclusive, callers, callees = self.row()
		lines = (*callers.values(), *callees.values())
		return any(exclusive) or any(inclusive) or any(any(weights) for weights, _ in lines)


def callers(samples):
	"""{entity: (exclusive, inclusive, callers, callees)}."""
	centres = {}
	for stack, weights in samples:
		for entity in set(stack):
			centre = centres.setdefault(entity, Centre(len(weights)))
			centre.add(stack, weights, [i for i, e in enumerate(stack) if e == entity], 1)
	return {e: c.row() for e, c in centres.items() if c.shown()}


def callers_of(samples, run, width=1):
	"""The row of a centre: run is a list of sets of entities that stand for each of its functions."""
	centre = Centre(width)
	for stack, weights in samples:
		starts = [i for i in range(len(stack) - len(run) + 1)
			if all(stack[i + k] in entities for k, entities in enumerate(run))]
		if starts:
			centre.add(stack, weights, starts, len(run))
	return centre.row()


# ---- The call tree


class Node:
	"""A row of the tree; target is the node that a stub points at, None of a node. A stub shows no
	counts, but direct is the weight of the stacks that recur there."""

	def __init__(self, entity, parent, width, target=None):
		self.entity, self.parent, self.target = entity, parent, target
		self.children = {}
		self.direct = self.indirect = self.in_only = (0,) * width

	def path(self):
		"""The nodes from below the root down to this one."""
		return self.parent.path() + [self] if self.parent else []

	def weight(self):
		return tuple(a + b for a, b in zip(self.direct, self.indirect))

	def shown(self):
		return any(self.direct + self.indirect + self.in_only) or any(child.shown() for child in self.children.values())


def recursion(cur, entity, degree):
	"""The node that a stub of entity below cur points at, None where there is to be no stub."""
	path = cur.path()
	places = [i for i, node in enumerate(path) if node.entity == entity]
	if degree == "none" or not places:
		return None
	place = places[-1]
	above = {node.entity for node in path[:place + 1]}
	if degree == "direct" and path[place] is not cur:
		return None
	if degree == "conservative" and not all(node.entity in above for node in path[place + 1:]):
		return None
	return path[place]


def tree(samples, degree, width=1):
	"""The nameless root of the call tree."""
	root = Node(None, None, width)
	for stack, weights in samples:
		cur, jumped, arrived = root, False, set()
		for entity in stack:
			target = recursion(cur, entity, degree)
			child = cur.children.get(entity)
			if child is None:
				child = cur.children[entity] = Node(entity, cur, width, target)
			assert child.target is target
			if child not in arrived:
				arrived.add(child)
				part = "indirect" if jumped and target is None else "direct"
				setattr(child, part, tuple(a + b for a, b in zip(getattr(child, part), weights)))
			cur, jumped = target or child, jumped or target is not None
		cur.in_only = tuple(a + b for a, b in zip(cur.in_only, weights))
	return root


# ---- The call graph


Line = collections.namedtuple("Line", "self children")


class Entry:
	"""A function or a cycle (number is not 0) of the call graph, with its lines: {entity: [self, children]},
	or None where the line is between members of one cycle."""

	def __init__(self, width):
		self.self = self.children = (0,) * width
		self.callers, self.callees = {}, {}

	def add(self, inside, weights):
		if inside:
			self.self = tuple(a + b for a, b in zip(self.self, weights))
		else:
			self.children = tuple(a + b for a, b in zip(self.children, weights))

	@staticmethod
	def add_line(lines, entity, inside, weights):
		zero = (0,) * len(weights)
		before = lines.get(entity, Line(zero, zero))
		after = [list(before.self), list(before.children)]
		for i, w in enumerate(weights):
			after[0 if inside else 1][i] += w
		lines[entity] = Line(tuple(after[0]), tuple(after[1]))

	def shown(self):
		lines = (self, *self.callers.values(), *self.callees.values())
		return any(line is None or any(line.self) or any(line.children) for line in lines)


def units_of(samples):
	"""{entity: frozenset of the entities that it reaches and that reach it}."""
	reach = collections.defaultdict(set)
	for stack, _ in samples:
		for entity in stack:
			reach[entity].add(entity)
		for a, b in zip(stack, stack[1:]):
			reach[a].add(b)
	for middle in list(reach):
		for entity in reach:
			if middle in reach[entity]:
				reach[entity] |= reach[middle]
	return {e: frozenset(x for x in reach[e] if e in reach[x]) for e in reach}


def runs_of(stack, units):
	"""The stack as [unit, first member, last member]: one contiguous run for each unit."""
	runs = []
	for entity in stack:
		if runs and runs[-1][0] == units[entity]:
			runs[-1][2] = entity
		else:
			runs.append([units[entity], entity, entity])
	assert len({run[0] for run in runs}) == len(runs)
	return runs


def graph(samples, width=1):
	"""{entity, or frozenset of a cycle's members: Entry}, and the units."""
	units = units_of(samples)
	entries = collections.defaultdict(lambda: Entry(width))
	for stack, weights in samples:
		runs = runs_of(stack, units)
		for place, (unit, first, last) in enumerate(runs):
			leaf_inside = place == len(runs) - 1
			caller = runs[place - 1][2] if place else SPONTANEOUS
			owners = [unit] if len(unit) > 1 else []
			for entry in [entries[owner] for owner in owners]:
				entry.add(leaf_inside, weights)
			entries[last].add(leaf_inside, weights)
			for owner in owners + [first]:
				Entry.add_line(entries[owner].callers, caller, leaf_inside, weights)
			if leaf_inside:
				continue
			callee, callee_is_last = runs[place + 1][1], place + 2 == len(runs)
			for owner in owners + [last]:
				Entry.add_line(entries[owner].callees, callee, callee_is_last, weights)
		for a, b in zip(stack, stack[1:]):
			if a != b and units[a] == units[b]:
				entries[b].callers[a] = None
				entries[a].callees[b] = None
	return entries, units
