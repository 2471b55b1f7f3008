"""Random programs with zones: what each says of itself as a dump, and as the plain model has it.

A program is threads that enter and leave zones at times of their own, processes whose time is cut
into ticks, and samples. All that a dump tells of zones, self times by tick, entries, events and
counts of calls, follows from the list of what each thread did, cut with no regard to speed.
"""

import collections
import random
import re

import model

ZONES = ("_global", "ai", "draw", "mix", "path", "o r", 'q"t')
FUNCTIONS = ("main", "step", "ai", "work")
METRICS = ("cpu-time", "samples", "zone-time", "zone-entries")
NO_ZONE = model.Frame("[no zone]", None)

# zone: the zone stack, () in none. weights: by METRICS.
Sample = collections.namedtuple("Sample", "stack zone thread time weights")
# thread: that ends it; None: not known.
Tick = collections.namedtuple("Tick", "process stream number start end thread")
# What a thread does from start to end: it is at that zone stack.
Span = collections.namedtuple("Span", "start end zone")


def zone_frames(names):
	return tuple(model.Frame(name, "[zones]") for name in names)


class Program:
	def __init__(self, seed):
		self.random = r = random.Random(seed)
		self.processes = r.randint(1, 2)
		self.threads = [t % self.processes for t in range(r.randint(self.processes, 3))]
		self.end = r.choice((1000, 100000, 7 * 10**6))
		self.ticks, self.samples, self.spans, self.calls = [], [], {}, collections.Counter()
		self.entered = {}
		for process in range(self.processes):
			self.add_ticks(process, r.choice(("frame", "frame", "main loop")))
			if r.random() < 0.3:
				self.add_ticks(process, "audio")
		for thread in range(len(self.threads)):
			self.run(thread)
			self.add_samples(thread)
			self.add_rows(thread)
		self.samples.sort(key=lambda s: s.time)

	def add_ticks(self, process, stream):
		"""Ticks that follow each other from 0 to the end."""
		r = self.random
		ender = r.choice([None] + [t for t, p in enumerate(self.threads) if p == process])
		cuts = sorted({r.randrange(1, self.end) for _ in range(r.randint(0, 6))} | {self.end})
		for number, (start, end) in enumerate(zip([0] + cuts, cuts)):
			self.ticks.append(Tick(process, stream, number, start, end, ender))

	def own_ticks(self, process, stream=None):
		"""Those of a stream; of the default one, or else of the first by name."""
		own = [t for t in self.ticks if t.process == process]
		if stream is None:
			names = [t.stream for t in own]
			stream = "frame" if "frame" in names else min(names)
		return [t for t in own if t.stream == stream]

	def run(self, thread):
		"""A walk through zones from 0 to the end, where some may still be open."""
		r, now, zone = self.random, 0, ("_global",)
		spans, entered = [], [(0, zone)]
		self.calls[None, "_global"] += 1
		while now < self.end:
			next_time = min(self.end, now + r.randrange(0, self.end // 4 + 1))
			if next_time > now:
				spans.append(Span(now, next_time, zone))
			now = next_time
			if len(zone) > 1 and (r.random() < 0.45 or len(zone) > 6):
				zone = zone[:-1]
			elif now < self.end:
				child = r.choice(ZONES[1:])
				self.calls[zone[-1], child] += 1
				zone += (child,)
				entered.append((now, zone))
		self.spans[thread], self.entered[thread] = spans, entered

	def zone_at(self, thread, time):
		for span in self.spans[thread]:
			if span.start < time <= span.end:
				return span.zone
		return ()

	def add_samples(self, thread):
		r = self.random
		for _ in range(r.randint(0, 8)):
			time = r.randrange(1, self.end + self.end // 5)
			stack = ["main"] + [r.choice(FUNCTIONS[1:]) for _ in range(r.randint(0, 4))]
			self.samples.append(Sample(tuple(model.Frame(f, "game") for f in stack),
				zone_frames(self.zone_at(thread, time)), thread, time, (r.randint(1, 9), 1, 0, 0)))

	def add_rows(self, thread):
		"""What the program says of its zones at each tick's end."""
		for tick in self.own_ticks(self.threads[thread]):
			spent, entries = collections.Counter(), collections.Counter()
			for span in self.spans[thread]:
				spent[span.zone] += max(0, min(span.end, tick.end) - max(span.start, tick.start))
			for time, zone in self.entered[thread]:
				# An entry at the end of a tick counts in the next one.
				entries[zone] += tick.start <= time < tick.end
			for zone in sorted({*spent, *entries}):
				if spent[zone] or entries[zone]:
					frames = zone_frames(zone)
					self.samples.append(Sample(frames, frames, thread, tick.end,
						(0, 0, spent[zone], entries[zone])))

	# ---- As a dump

	def dump(self):
		stacks = sorted({s[:n] for sample in self.samples for s in (sample.stack, sample.zone)
			for n in range(1, len(s) + 1)} | {zone_frames(e[:n]) for spans in self.spans.values()
			for _, _, e in spans for n in range(1, len(e) + 1)})
		row = {stack: i for i, stack in enumerate(stacks, 1)}
		row[()] = 0
		lines = ["sonde-dump 1", 'source "game"', 'format "sonde"']
		lines += [f'metric "{m}" "{"ns" if "time" in m else "count"}"' for m in METRICS]
		lines += ['object user "/bin/game"', 'object zone "[zones]"']
		named = sorted({f for stack in stacks for f in stack}, key=lambda f: (f.name, f.module != "game"))
		reference, count = {}, collections.Counter()
		for frame in named:
			count[frame.name] += 1
			reference[frame] = f"{quoted(frame.name)}#{count[frame.name]}"
			path = "/bin/game" if frame.module == "game" else "[zones]"
			lines += [f'function {quoted(frame.name)} object "{path}"', "frame"]
		for (caller, callee), calls in self.calls.items():
			ends = [reference[zone_frames([z])[0]] if z else "spontaneous" for z in (caller, callee)]
			if all(z is None or zone_frames([z])[0] in reference for z in (caller, callee)):
				lines.append(f"arc {ends[0]} {ends[1]} calls {calls}")
		lines += [f'process {100 + p} start 0 "p{p}"' for p in range(self.processes)]
		lines += [f'thread {200 + t} process {p} start 0 "t{t}"' for t, p in enumerate(self.threads)]
		lines += ["stack 0"] + [f"stack {len(stack)} {reference[stack[-1]]}" for stack in stacks]
		for s in self.samples:
			lines.append(f"sample {row[s.stack]} thread {s.thread} time {s.time} zone {row[s.zone]} "
				f"weight {' '.join(map(str, s.weights))}")
		for t in sorted(self.ticks, key=lambda t: (t.process, t.stream, t.start)):
			lines.append(f"tick process {t.process} {quoted(t.stream)} {t.number} start {t.start} end {t.end}"
				+ ("" if t.thread is None else f" thread {t.thread}"))
		for thread, spans in self.spans.items():
			for span in spans:
				lines.append(f"zone-event thread {thread} time {span.start} stack {row[zone_frames(span.zone)]}")
		return "\n".join(lines + ["end", ""])


def quoted(text):
	return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Selection:
	"""What filters leave of a program's samples, and of its ticks."""

	def __init__(self, program):
		self.program = program
		self.samples = list(program.samples)
		self.ticks = set(program.ticks)
		self.stream = None

	def keep(self, wanted):
		self.samples = [s for s in self.samples if wanted(s)]

	def zone(self, regex):
		self.keep(lambda s: any(re.search(regex, frame.name) for frame in s.zone))

	def focus(self, regex):
		self.keep(lambda s: any(re.search(regex, frame.name) for frame in s.stack))

	def thread(self, name):
		self.keep(lambda s: f"t{s.thread}" == name)
		self.ticks = {t for t in self.ticks if self.program.threads[int(name[1:])] == t.process}

	def tick_of(self, sample):
		for tick in self.program.own_ticks(self.program.threads[sample.thread], self.stream):
			if tick.start < sample.time <= tick.end:
				return tick
		return None

	def keep_ticks(self, stream, wanted):
		self.stream = stream
		own = [t for p in range(self.program.processes) for t in self.program.own_ticks(p, stream)]
		kept = {t for t in own if wanted(t)}
		self.ticks -= set(own) - kept
		self.keep(lambda s: self.tick_of(s) in kept)

	def tick(self, text):
		stream, _, ends = text.rpartition("=")
		low, colon, high = ends.partition(":")

		def wanted(t):
			count = len(self.program.own_ticks(t.process, stream or None))
			first = int(low) if low else 0
			last = (int(high) if high else count) if colon else first + 1
			first += count if first < 0 else 0
			last += count if high and last < 0 else 0
			if not colon and int(low) == -1:
				last = count
			return first <= t.number < last

		self.keep_ticks(stream or None, wanted)

	def tick_over(self, text):
		self.keep_ticks(None, lambda t: t.end - t.start >= int(text.removesuffix("ns")))

	def tick_under(self, text):
		self.keep_ticks(None, lambda t: t.end - t.start < int(text.removesuffix("ns")))

	def without_frameless(self):
		"""The same without what threads that end no frames spend outside zones, where others do end frames; and of
		how many threads, and how much, that is."""
		zone_time, threads = METRICS.index("zone-time"), self.program.threads
		enders = {t.thread for p in range(self.program.processes) for t in self.program.own_ticks(p, self.stream)
			if t in self.ticks and t.thread is not None}
		processes = {threads[s.thread] for s in self.samples if s.thread in enders}
		left_out = [s for s in self.samples if s.weights[zone_time] and len(s.zone) == 1
			and s.thread not in enders and threads[s.thread] in processes]
		other = Selection(self.program)
		other.samples, other.ticks, other.stream = [s for s in self.samples if s not in left_out], self.ticks, self.stream
		return other, len({s.thread for s in left_out}), sum(s.weights[zone_time] for s in left_out)

	def at_zones(self, metric):
		"""The samples with weight as the views at the level of zones have them."""
		m = METRICS.index(metric)
		return [(s.zone or (NO_ZONE,), (s.weights[m],)) for s in self.samples if s.weights[m]]

	def by_tick(self, metric):
		"""The same for each tick that counts, in order of process and number."""
		m = METRICS.index(metric)
		ticks = {t: [] for p in range(self.program.processes)
			for t in self.program.own_ticks(p, self.stream) if t in self.ticks}
		for s in self.samples:
			tick = self.tick_of(s)
			if tick in ticks and s.weights[m]:
				ticks[tick].append((s.zone or (NO_ZONE,), (s.weights[m],)))
		return ticks
