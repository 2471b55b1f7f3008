"""Random profiles of many hosts, and what a store must say of them, summed by plain Python.

A profile is folded text of one service of one host, with labels and a time; the oracle adds up its stacks, which are
tuples of names, and knows nothing of files, hashes or tables. Nothing here needs the tests' harness.
"""

import collections
import os
import random

# When the first profile was made; the intervals of stores begin at whole minutes.
T0 = 1_700_000_040
NAMES = ("main", "run", "parse", "eval", "apply", "emit", "hash", "it's", "a b", "C::operator()", "λ", "x[0]", "%s", "\\n")


class Profile:
	"""stacks: {(names from the root on): weight}."""

	def __init__(self, service, host, labels, time_s, stacks):
		self.service, self.host, self.labels, self.time_s, self.stacks = service, host, labels, time_s, stacks

	@property
	def total(self):
		return sum(self.stacks.values())

	def write(self, path):
		"""A folded file; its time is the file's own."""
		path.write_bytes(b"".join(b";".join(as_bytes(name) for name in stack) + b" %d\n" % weight
			for stack, weight in self.stacks.items()))
		os.utime(path, (self.time_s, self.time_s))
		return path

	def options(self):
		"""What says of the file to `sonde push` whose it is."""
		return ["--service", self.service, "--host", self.host,
			*(word for key, value in self.labels.items() for word in ("--label", as_bytes(key) + b"=" + as_bytes(value)))]


def as_bytes(text):
	return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


class Fleet:
	"""Profiles of some services on some hosts over some minutes, or at longer steps, the same for a seed. Services share
	names of functions, and a stack may be any of another service's, too."""

	def __init__(self, seed, services=3, hosts=4, minutes=3, stacks=12, depth=6, step_s=60,
		is_labelled=True):
		self.random = r = random.Random(seed)
		self.services = [f"service-{i}" for i in range(services)]
		self.hosts = [f"host-{seed}-{i}" for i in range(hosts)]
		self.profiles = []
		for service in self.services:
			pool = [self.stack(depth) for _ in range(stacks)]
			for host in r.sample(self.hosts, r.randint(1, hosts)):
				labels = {"version": r.choice(("1.4", "1.5")), "zone": r.choice(("a", "b"))} if is_labelled else {}
				for minute in range(minutes):
					chosen = r.sample(pool, r.randint(1, len(pool)))
					weights = {stack: r.choice((1, 2, 7, r.randrange(1, 10**12))) for stack in chosen}
					self.profiles.append(Profile(service, host, labels, T0 + step_s * minute + r.randrange(60), weights))

	def stack(self, depth):
		r = self.random
		names = r.sample(NAMES, r.randint(1, 5))
		return tuple(r.choice(names) for _ in range(r.randint(1, depth)))

	def chosen(self, service=None, host=None, since=None, until=None, **labels):
		"""The profiles that a query is about; intervals count by when they begin."""
		return [p for p in self.profiles if service in (None, p.service) and host in (None, p.host) and
			(since is None or p.time_s - p.time_s % 60 >= since) and (until is None or p.time_s - p.time_s % 60 < until) and
			all(p.labels.get(key) == value for key, value in labels.items())]


def summed(profiles):
	"""{stack: weight} of all of them."""
	total = collections.Counter()
	for profile in profiles:
		total.update(profile.stacks)
	return dict(total)


def parsed(folded):
	"""{stack: weight} of folded text."""
	total = collections.Counter()
	for line in folded.splitlines():
		stack, _, weight = line.rpartition(" ")
		total[tuple(stack.split(";"))] += int(weight)
	return dict(total)
