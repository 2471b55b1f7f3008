"""Zones and ticks of random programs, figure by figure, against the plain model in model_zones.py;
and what is written as a trace. A round that fails leaves its number: SONDE_MODEL_SEED=S, and
SONDE_MODEL_ROUNDS=N for N rounds from there.
"""

import collections
import json
import os
import random

import harness
import model
import model_zones
from harness import sonde
from report_model import (by_entity, centre_of, entity, expected_lines, figures, graph_lines, same, tree_paths,
	tree_rows)

ROUNDS = int(os.environ.get("SONDE_MODEL_ROUNDS", 0)) or (400 if harness.LONG else 8 if harness.SANITIZED else 25)
SEED = int(os.environ.get("SONDE_MODEL_SEED", 1))


class Case:
	def __init__(self, folder, seed):
		self.random = random.Random(seed * 7 + 1)
		self.program = model_zones.Program(seed)
		self.path = folder / f"{seed}.dump"
		self.path.write_text(self.program.dump())

	def report(self, *args):
		result = sonde("report", self.path, "--format", "json", *args)
		assert result.status == 0 and not result.err, (args, result)
		return json.loads(result.out)

	def filters(self):
		"""Random filters: arguments, and what they leave."""
		r = self.random
		selection, args = model_zones.Selection(self.program), []
		for _ in range(r.choice((0, 1, 1, 2))):
			kind = r.choice(("zone", "focus", "thread", "tick", "tick", "tick-over", "tick-under"))
			name = r.choice(model_zones.ZONES + model_zones.FUNCTIONS)
			value = {"zone": f"^{name[:2]}", "focus": name, "thread": f"t{r.randrange(len(self.program.threads))}",
				"tick": r.choice(("0", "1:", ":2", "-1", "-2:", ":-1", "0:9", "1:-1"))}.get(
				kind, f"{r.randrange(self.program.end)}ns")
			if kind == "tick" and any(t.stream == "audio" for t in self.program.ticks) and r.random() < 0.5:
				value = "audio=" + value
			getattr(selection, kind.replace("-", "_"))(value)
			args += [f"--{kind}={value}"]
		return args, selection


# ---- The level


def check_level(case):
	args, selection = case.filters()
	metric = case.random.choice(model_zones.METRICS)
	samples = model.summed(selection.at_zones(metric))
	args += ["--level", "zone", "--metric", metric]
	if case.random.random() < 0.2:
		args.append("--spread")
		samples = [(model.spread(s), w) for s, w in samples]
	data = case.report("--view", "functions", *args)
	assert data["total"] == sum(w[0] for _, w in samples), args
	same(by_entity([row for row in data["rows"] if row["exclusive"] or row["inclusive"]],
		lambda row: figures(row, "exclusive", "inclusive")), model.functions(samples))
	same(by_entity(case.report("--view", "callers", *args)["rows"], centre_of), model.callers(samples))
	degree = case.random.choice(("none", "direct", "conservative", "full"))
	rows = case.report("--view", "tree", "--collapse", degree, *args)["rows"]
	same(tree_paths(rows), tree_rows(model.tree(samples, degree)))


def check_rows_are_zones(case):
	"""The stacks of zone rows are their zones: with their metric both levels are one."""
	args, _ = case.filters()
	trees = [case.report("--view", "tree", "--collapse", "none", "--metric", "zone-time", *args, "--level", level)
		for level in ("function", "zone")]
	assert trees[0]["rows"] == trees[1]["rows"] and trees[0]["total"] == trees[1]["total"]


def check_graph(case):
	"""Figures as everywhere, and the counts of calls of the whole."""
	data = case.report("--view", "graph", "--level", "zone", "--metric", "zone-time,zone-entries")
	samples = [(stack, (w[0],)) for stack, w in
		model.summed(model_zones.Selection(case.program).at_zones("zone-time"))]
	entries, units = model.graph(samples)
	calls = {tuple(z and model_zones.zone_frames([z])[0] for z in arc): n for arc, n in case.program.calls.items()}
	units = units_with_calls(units, calls)
	for row in data["rows"]:
		if row["kind"] == "cycle":
			members = {entity(line) for line in row["members"]}
			check_called(row, members, calls, lambda a, b: True)
			continue
		unit = units.get(entity(row), {entity(row)})
		check_called(row, {entity(row)}, calls, lambda a, b: a == b, unit)


def units_with_calls(units, calls):
	"""Units of all arcs: counted calls make cycles, too, of zones that took no time."""
	reach = {e: {e} for arc in calls for e in arc if e}
	for e in units:
		reach.setdefault(e, {e})
	for a, b in calls:
		if a:
			reach[a].add(b)
	for middle in list(reach):
		for e in reach:
			if middle in reach[e]:
				reach[e] |= reach[middle]
	return {e: {x for x in reach[e] if e in reach[x]} for e in reach}


def check_called(row, own, calls, is_inside, unit=None):
	unit = unit or own
	outside = sum(n for (a, b), n in calls.items() if b in own and a not in unit)
	inside = sum(n for (a, b), n in calls.items() if b in own and a in own and is_inside(a, b))
	assert row["called"] == {"outside": outside, "inside": inside}, (row, calls)
	for line in row["callers"]:
		if line["self"] is not None:
			caller = None if entity(line) == model.SPONTANEOUS else entity(line)
			expected = sum(n for (a, b), n in calls.items() if a == caller and b in own)
			assert line["calls"] == (expected if (caller, *own)[:1] else 0), (row, line, calls)


# ---- The view


def ranks(values):
	values = sorted(values)
	return [values[-(-len(values) * p // 100) - 1] for p in (50, 95)] + [values[-1]]


def expected_zone(zone, selection, metric):
	"""The figures of ticks of a zone, as JSON has them."""
	ticks = selection.by_tick(metric)
	if not ticks:
		return None
	parts = {t: model.functions(s).get(zone, ((0,), (0,))) for t, s in ticks.items()}
	exclusive = [x[0][0] for x in parts.values()]
	inclusive = [x[1][0] for x in parts.values()]
	entries = sum(w[0] for s in selection.by_tick("zone-entries").values() for stack, w in s if stack[-1] == zone)
	order = sorted(parts, key=lambda t: (t.process, t.number))
	most = max(inclusive)
	slowest = next((t.number for t in order if parts[t][1][0] == most), None) if most else None
	count = len(parts)
	return {"ticks": sum(v != 0 for v in inclusive), "slowest_tick": slowest,
		"exclusive_per_tick": (sum(exclusive) * 2 + count) // (2 * count),
		"inclusive_per_tick": (sum(inclusive) * 2 + count) // (2 * count),
		"entries_per_tick": round(entries / count, 4),
		**dict(zip(("exclusive_median", "exclusive_p95", "exclusive_max"), ranks(exclusive))),
		**dict(zip(("inclusive_median", "inclusive_p95", "inclusive_max"), ranks(inclusive)))}


RANKS = "exclusive_median,exclusive_p95,exclusive_max,inclusive_median,inclusive_p95,inclusive_max"


def check_view(case):
	args, selection = case.filters()
	metric = case.random.choice(("zone-time", "cpu-time"))
	given = [] if metric == "zone-time" else ["--metric", metric]
	data = case.report("--view", "zones", "--columns", RANKS, *args, *given)
	assert data["metric"]["name"] == metric and data["level"] == "zone"
	selection, frameless, spent = selection.without_frameless()
	assert data.get("threads_without_frames") == ({"threads": frameless, "weight": spent} if frameless else None), args
	table = model.functions(model.summed(selection.at_zones(metric)))
	entries = model.functions(model.summed(selection.at_zones("zone-entries")))
	rows = by_entity(data["rows"], lambda row: row)
	assert set(rows) == set(table) | set(entries), (args, set(rows) ^ (set(table) | set(entries)))
	stacks = [stack for name in (metric, "zone-entries") for stack, _ in selection.at_zones(name)]
	for zone, row in rows.items():
		assert figures(row, "exclusive", "inclusive") == table.get(zone, ((0,), (0,))), (args, row)
		assert row["entries"] == entries.get(zone, ((0,), (0,)))[0][0], row
		assert row["depth_max"] == max(0, max((stack.count(zone) for stack in stacks), default=1) - 1), row
		expected = expected_zone(zone, selection, metric)
		if expected is None:
			assert row["ticks"] is None and row["slowest_tick"] is None, row
			continue
		got = {key: row[key] for key in expected}
		if not expected["ticks"]:
			expected["slowest_tick"] = None
		assert abs(got.pop("entries_per_tick") - expected.pop("entries_per_tick")) < 2e-4, (args, row)
		assert got == expected, (case.path, args, zone, got, expected)


def check_parts(case):
	"""Ticks that are over and under a time are parts of the whole: written, they add up."""
	limit = f"{case.random.randrange(1, case.program.end)}ns"
	totals = collections.Counter()
	for kind in ("--tick-over", "--tick-under"):
		part = case.path.with_suffix(".prof")
		done = sonde("convert", case.path, kind, limit, "-o", part)
		assert done.status == 0, done
		done = sonde("report", part, "--view", "zones", "--format", "json")
		assert done.status == 0, done
		whole = case.report("--view", "zones", kind, limit)
		rows = json.loads(done.out)["rows"]
		if rows and rows[0]["ticks"] is not None:
			assert rows == whole["rows"], (rows, whole["rows"])
		for row in rows:
			totals[entity(row)] += row["exclusive"]
	expected = {entity(row): row["exclusive"] for row in case.report("--view", "zones")["rows"]}
	assert {e: t for e, t in totals.items() if t} == {e: t for e, t in expected.items() if t}


# ---- Traces


def read_trace(path):
	trace = json.loads(path.read_text(), parse_float=lambda text: int(text.replace(".", "")))
	assert trace["displayTimeUnit"] == "ns" and isinstance(trace["otherData"], dict)
	return trace


def spent_in(events):
	"""{(thread, zone stack): ns} of properly nested B and E events."""
	spent, open_zones, last = collections.Counter(), collections.defaultdict(list), {}
	for event in events:
		if event["ph"] not in "BE":
			continue
		track, time = event["tid"], event["ts"]
		if open_zones[track]:
			assert time >= last[track]
			spent[track, tuple(open_zones[track])] += time - last[track]
		last[track] = time
		if event["ph"] == "B":
			open_zones[track].append(event["name"])
		else:
			assert open_zones[track].pop() == event["name"]
	assert not any(open_zones.values()), open_zones
	return spent


def check_trace(case):
	out = case.path.with_suffix(".trace.json")
	done = sonde("convert", case.path, "-o", out)
	assert done.status == 0, done
	trace, program = read_trace(out), case.program
	expected = collections.Counter()
	for thread, spans in program.spans.items():
		for span in spans:
			expected[200 + thread, span.zone] += span.end - span.start
	assert {k: v for k, v in spent_in(trace["traceEvents"]).items() if v} == dict(expected)
	ticks = [e for e in trace["traceEvents"] if e["ph"] == "X"]
	assert sorted((e["pid"] - 100, e["name"], e["ts"], e["ts"] + e["dur"]) for e in ticks) == sorted(
		(t.process, f"{t.stream} {t.number}", t.start, t.end) for t in program.ticks)
	check_trace_samples(trace, program)
	out.unlink()


def check_trace_samples(trace, program):
	frames, got = trace["stackFrames"], []
	for event in trace["traceEvents"]:
		if event["ph"] != "i":
			continue
		stack, at = [], str(event["sf"])
		while at:
			stack.insert(0, frames[at]["name"])
			assert frames[at]["category"] == "game"
			at = frames[at].get("parent")
		assert stack[-1] == event["name"]
		got.append((event["tid"] - 200, event["ts"], stack, event["args"]["cpu-time"]))
	assert sorted(got) == sorted((s.thread, s.time, [f.name for f in s.stack], s.weights[0])
		for s in program.samples if s.weights[0])


def test_counters_where_there_are_no_events(folder):
	"""A zone's counter has in each tick what the zones view has of it."""
	for seed in range(SEED, SEED + 5):
		case = Case(folder, seed)
		text = case.path.read_text()
		case.path.write_text("".join(line for line in text.splitlines(True) if not line.startswith("zone-event")))
		out = case.path.with_suffix(".trace.json")
		assert sonde("convert", case.path, "-o", out).status == 0
		counters = [e for e in read_trace(out)["traceEvents"] if e["ph"] == "C"]
		for process in range(case.program.processes):
			for tick in case.program.own_ticks(process):
				threads = [t for t, p in enumerate(case.program.threads) if p == process]
				expected = collections.Counter()
				for s in case.program.samples:
					if s.thread in threads and s.time == tick.end and s.weights[2]:
						expected[f"zone {s.zone[-1].name}"] += s.weights[2]
				for name, value in expected.items():
					at = [e["args"]["us in tick"] for e in counters if e["name"] == name
						and e["pid"] == 100 + process and e["ts"] == tick.start]
					assert at and at[-1] == value, (name, tick, at, value)


# ---- What is refused


def test_profiles_without_zones_say_so(folder):
	path = folder / "plain.folded"
	path.write_text("a;b 1\n")
	for args, words in ((["--view", "zones"], "knows no zones"), (["--level", "zone"], "knows no zones"),
		(["--zone", "x"], "knows no zones"), (["--tick", "1"], "knows no ticks"),
		(["--tick-over", "1ms"], "knows no ticks")):
		done = sonde("report", path, *args)
		assert done.status == 1 and words in done.err and done.err.count("\n") == 1, done
	done = sonde("convert", path, "--to", "chrome")
	assert done.status == 1 and "a trace needs times" in done.err, done


def test_words_that_are_no_ticks(folder):
	case = Case(folder, SEED)
	for text in ("", "x", "1:x", "3:1", "-1:-3", "frame=", "1:2:3", "99999999999999999999"):
		done = sonde("report", case.path, f"--tick={text}")
		assert done.status == 2 and done.err.startswith("sonde: report: --tick:"), (text, done)
	done = sonde("report", case.path, "--tick", "no such=1")
	assert done.status == 1 and "no stream of ticks 'no such'" in done.err, done


REQUESTS = """sonde-dump 1
metric "cpu-time" "ns" default
metric "samples" "count"
metric "zone-time" "ns"
metric "zone-entries" "count"
object user "/usr/bin/server"
object zone "[zones]"
function "_global" object "[zones]"
frame
function "main" object "/usr/bin/server"
frame addr 0x1000
function "serve" object "[zones]"
frame
process 7 start 0 "server"
thread 7 process 0 start 0 "one"
thread 8 process 0 start 0 "two"
thread 9 process 0 start 0 "three"
stack 0
stack 1 "_global"
stack 2 "serve"
stack 1 "main"
"""


def test_ticks_at_once_are_their_threads_own(folder):
	"""Requests that several threads serve at once."""
	requests = [(0, 0, 100), (1, 10, 30), (2, 20, 101), (1, 30, 40), (1, 40, 102), (0, 100, 105), (2, 101, 130)]
	requests.sort(key=lambda r: r[1:])
	rows = [(end, t, f"2 thread {t} time {end} zone 2 weight 0 0 {end - start} 1")
		for t, start, end in requests]
	# A sample is of its own thread's request; the last thread had none then.
	rows += [(at, t, f"3 thread {t} time {at} zone 0 weight 1 1 0 0")
		for t, at in ((0, 25), (1, 25), (1, 35), (2, 25), (2, 15))]
	text = REQUESTS + "".join(f"sample {row}\n" for *_, row in sorted(rows))
	text += "".join(f'tick process 0 "request" {i} start {start} end {end}\n' for i, (_, start, end) in enumerate(requests))
	path = folder / "requests.dump"
	path.write_text(text + "end\n")

	def rows_of(*args):
		result = sonde("report", path, "--format", "json", *args)
		assert result.status == 0, result
		return json.loads(result.out)["rows"]

	for i, (_, start, end) in enumerate(requests):
		serve = {r["name"]: r for r in rows_of("--view", "zones", "--metric", "zone-time", "--tick", f"request={i}")}["serve"]
		assert (serve["exclusive"], serve["entries"], serve["slowest_tick"]) == (end - start, 1, i), (i, serve)
	for tick, samples in ((0, 1), (1, 1), (2, 1), (3, 1), (4, 0)):
		assert sum(r["exclusive"] for r in rows_of("--view", "functions", "--tick", f"request={tick}")) == samples, tick
	whole = {r["name"]: r for r in rows_of("--view", "zones", "--metric", "zone-time", "--tick-over", "request=60ns")}["serve"]
	assert (whole["entries"], whole["ticks"], whole["exclusive"]) == (3, 3, 243), whole


CHECKS = (check_level, check_level, check_rows_are_zones, check_graph, check_view, check_view, check_parts, check_trace)


@harness.takes_long
def test_reports_are_those_of_the_model(folder):
	for seed in range(SEED, SEED + ROUNDS):
		case = Case(folder, seed)
		for check in CHECKS:
			try:
				check(case)
			except Exception:
				print(f"# SONDE_MODEL_SEED={seed} {check.__name__}")
				raise
		case.path.unlink()


if __name__ == "__main__":
	harness.main()
