"""A plain model of the filters: WHEN by writing out all of its threads and trying every alignment."""

import re

import model

TOKEN = re.compile(r"\s*(->|'(?:[^']|'')*'|[A-Za-z0-9_$]+|[|()*:.])")


class Name:
	"""A primary that stands for frames: module or procedure may be None; each a test of a text."""

	def __init__(self, module, procedure, before, after):
		self.module, self.procedure, self.before, self.after = module, procedure, before, after

	def matches(self, frame):
		if self.module and not (frame.module and self.module(frame.module)):
			return False
		return not self.procedure or self.procedure(frame.name)


class Parser:
	"""Patterns as lists of threads, all written out, those with left alternatives first."""

	def __init__(self, text):
		self.tokens = TOKEN.findall(text)
		assert "".join(self.tokens) == "".join(re.split(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", text))

	def next(self, *wanted):
		if self.tokens and (not wanted or self.tokens[0] in wanted):
			return self.tokens.pop(0)
		return None

	def pattern(self):
		threads = self.thread()
		while self.next("|"):
			threads = threads + self.thread()
		return threads

	def thread(self):
		threads = self.primary()
		while self.next("->"):
			more = self.primary()
			threads = [left + right for left in threads for right in more]
		return threads

	def primary(self):
		if self.next("*"):
			return [["*"]]
		if self.next("("):
			threads = self.pattern()
			assert self.next(")")
			return threads
		before = bool(self.next(":"))
		module = None if self.tokens[0] == "." else self.name()
		procedure = self.name() if self.next(".") else None
		return [[Name(module, procedure, before, bool(self.next(":")))]]

	def name(self):
		token = self.next()
		if token.startswith("'"):
			exact = token[1:-1].replace("''", "'")
			return lambda text: text == exact
		return lambda text: text.lower() == token.lower()


def alignments(thread, stack, place):
	"""Where each primary of a thread stands, as (first, end): all ways from place on, in their order."""
	if not thread:
		if place == len(stack):
			yield []
		return
	first, rest = thread[0], thread[1:]
	if first == "*":
		lengths = range(0, len(stack) - place + 1)
	elif first.procedure:
		lengths = [1]
	else:
		lengths = range(1, len(stack) - place + 1)
	for length in lengths:
		frames = stack[place:place + length]
		if len(frames) < length or (first != "*" and not all(map(first.matches, frames))):
			break
		for more in alignments(rest, stack, place + length):
			yield [(place, place + length)] + more


def charged(threads, stack):
	"""What is left of a stack, () where its root's caller is charged, None where nothing matches."""
	for thread in threads:
		for start in range(len(stack) + 1):
			for places in alignments(thread, stack, start):
				for primary, (first, end) in zip(thread, places):
					if primary != "*" and primary.before:
						return stack[:first]
					if primary != "*" and primary.after:
						return stack[:end]
				return stack
	return None


def regex_matches(regex, frame):
	text = f"{frame.module or ''}`{frame.name}" if "`" in regex else frame.name
	return re.search(regex, text) is not None


def hidden(stack, regex):
	return tuple(frame for frame in stack if not regex_matches(regex, frame)) or None


class Selection:
	"""What filters leave: samples that the views see, weights of <spontaneous>, and the total.

	A stack without remaining frames is () where a caller of its root is charged, None where all of it is
	hidden: neither has rows, but the first counts for <spontaneous>."""

	def __init__(self, samples, width=1):
		self.width = width
		# Beside each sample: whether every WHEN so far has matched it.
		self.left = [(stack, weights, True) for stack, weights in samples]
		self.kept = []

	def apply(self, kind, value):
		getattr(self, kind)(value)
		kept = [weights for _, weights, matched in self.left if matched]
		self.kept.append(sum(weights[0] for weights in kept))

	def when(self, pattern):
		threads = Parser(pattern).pattern()
		left = []
		for stack, weights, matched in self.left:
			cut = charged(threads, stack or ()) if matched else None
			left.append((stack if not stack or cut is None else cut, weights, cut is not None))
		self.left = left

	def holds(self, sample, regex):
		return any(regex_matches(regex, frame) for frame in sample[0] or ())

	def focus(self, regex):
		# What WHEN left out is not seen by later filters: it stays in the total.
		self.left = [s for s in self.left if not s[2] or self.holds(s, regex)]

	def ignore(self, regex):
		self.left = [s for s in self.left if not s[2] or not self.holds(s, regex)]

	def hide(self, regex):
		self.left = [(s[0] and hidden(s[0], regex), *s[1:]) for s in self.left]

	def total(self):
		return tuple(sum(w[i] for _, w, _ in self.left) for i in range(self.width))

	def samples(self):
		return [(stack, weights) for stack, weights, matched in self.left if matched and stack]

	def spontaneous(self):
		return [weights for stack, weights, matched in self.left if matched and stack == ()]
