"""Events besides time, of programs that know how many there were."""

import os
import re

import harness
import recording

# Faults of the program before its exec, which the system counts and the recording does not.
START_FAULTS = 60
# Each thread has its own events on each CPU, one a period of 7, 61 and 509: so much has happened, at
# most, since the last sample of each. The larger the storm the less that is of it.
RESIDUE = 7 + 61 + 509
# A sample weighs no more as long as the recorder has not looked how many there are.
FIRST_PERIODS = 7


def truth(r):
	return {name: int(number) for name, number in map(str.split, r.done.out.splitlines())}


def counted(r, event):
	"""What the recorder said: (events, weight of the samples, samples, lost)."""
	line = re.search(rf"{event}: ([\d,]+) counted, ([\d,]+) in ([\d,]+) samples?; ([\d,]+) lost", r.done.err)
	assert line, r.done.err
	return tuple(int(number.replace(",", "")) for number in line.groups())


def metric(r, name):
	"""Total, and {function: (exclusive, inclusive)}."""
	report = r.json("--metric", name)
	assert report["metric"] == {"name": name, "unit": "count"}, report["metric"]
	return report["total"], {row["name"]: (row["exclusive"], row["inclusive"]) for row in report["rows"]}


def record(folder, events, *arguments, options=()):
	program = recording.program(folder, "events")
	return recording.record(folder, program, *arguments, options=["-e", events, *options])


def check_near(what, value, expected, part, slack=0):
	assert abs(value - expected) <= part * expected + slack, f"{what}: {value}, truth {expected}"


def check_faults(r, part=0.02):
	"""Total and shares of a run that touched its pages."""
	total, rows = metric(r, "page-faults")
	events, weight, samples, lost = counted(r, "page-faults")
	faults = truth(r)["minflt"] + truth(r)["majflt"]
	assert total == weight
	check_near("counted", events, faults, 0.002, START_FAULTS)
	# What was lost is said; that the rest is right is what counts here.
	check_near("in samples", total, faults, part + lost / samples, START_FAULTS)
	touched = rows["touch_all"][1]
	check_near("touch_one", rows["touch_one"][1] / touched, 0.25, 0, 0.03)
	check_near("touch_three", rows["touch_three"][1] / touched, 0.75, 0, 0.03)
	return samples


@harness.takes_long
def test_page_faults_of_a_storm(folder):
	samples = check_faults(record(folder, "page-faults", 200000, 0))
	assert samples < 20000, samples


def test_page_faults_at_a_steady_rate(folder):
	r = record(folder, "page-faults", 40000, 16)
	check_faults(r)
	r.check_whole()


@harness.takes_long
def test_rare_page_faults_are_all_sampled(folder):
	r = record(folder, "page-faults", 400, 4000)
	events, weight, _, lost = counted(r, "page-faults")
	# But for some of the burst that every program begins with.
	check_near("in samples", weight, events, 0, 70 + lost)
	_, rows = metric(r, "page-faults")
	check_near("touch_one", rows["touch_one"][1], 100, 0, 20)
	check_near("touch_three", rows["touch_three"][1], 300, 0, 30)


@harness.takes_long
def test_fixed_periods(folder):
	for period in (1, 100):
		r = record(folder, f"page-faults:period={period}", 8000, 40)
		events, weight, samples, lost = counted(r, "page-faults")
		assert weight == period * samples
		check_near(f"period {period}", weight, events, 0.02, period * (2 + lost))


@harness.takes_long
def test_a_lower_frequency_takes_fewer_samples(folder):
	program = recording.program(folder, "events")
	few, many = (counted(recording.record(folder, program, 20000, 40,
		options=["-e", f"page-faults:freq={hz}"]), "page-faults")[2] for hz in (50, 3000))
	assert few * 3 < many, (few, many)


def test_context_switches(folder):
	recording.needs_root()
	r = record(folder, "context-switches", 4, 0, 400)
	total, rows = metric(r, "context-switches")
	there = truth(r)
	switches = there["nvcsw"] + there["nivcsw"]
	# The last is the program's end, which it can't tell.
	check_near("in samples", total, switches, 0.02, 8)
	assert 395 <= rows["nap"][1] <= total, rows["nap"]


def test_switches_do_not_mix_with_the_stacks_of_blocks(folder):
	recording.needs_root()
	r = record(folder, "cs:period=1", 4, 0, 300, options=["--clock", "both"])
	assert metric(r, "context-switches")[1]["nap"][1] >= 295
	blocked = r.json("--metric", "blocked-time")
	nap = {row["name"]: row["inclusive"] for row in blocked["rows"]}["nap"]
	assert nap >= 0.9 * blocked["total"], (nap, blocked["total"])


def test_several_at_once_are_what_each_is_alone(folder):
	recording.needs_root()
	r = record(folder, "page-faults,minor-faults", 20000, 8, 100, options=["-e", "cs"])
	names = ["page-faults", "minor-faults", "context-switches"]
	both = r.json("--metric", ",".join(names))
	assert [m["name"] for m in both["metrics"]] == names
	for i, name in enumerate(names):
		alone = r.json("--metric", name)
		assert both["metrics"][i]["total"] == alone["total"] > 0
		figures = {(row["name"], row["module"], row["line"]): row for row in alone["rows"]}
		for row in both["rows"]:
			one = figures.get((row["name"], row["module"], row["line"]), {})
			for key, value in row["metrics"][i].items():
				assert value == one.get(key, 0), (row, one)
	check_faults(r)
	text = r.report("--metric", "page-faults")
	assert "also recorded: cpu-time" in text and "context-switches" in text.splitlines()[2], text


@harness.takes_long
def test_time_is_as_true_as_without(folder):
	program = recording.program(folder, "shares")
	r = recording.record(folder, program, harness.work(480), options=["-e", "page-faults,minor-faults"])
	r.check_truth(r.done.out)
	r.check_whole()
	r.check_captured()


@harness.takes_long
def test_events_of_children(folder):
	program = recording.program(folder, "events")
	pages = 40000
	r = recording.record(folder, "sh", "-c", f"{program} {pages} 1 & {program} {pages} 1; wait",
		options=["-e", "page-faults"])
	_, rows = metric(r, "page-faults")
	events, _, _, lost = counted(r, "page-faults")
	# Two programs, their shell, and what that forks.
	check_near("counted", events, 2 * pages, 0.002, 4 * START_FAULTS)
	# Short programs don't visit more CPUs. What is lost is of the storm's first moments.
	slack = 2 * min(os.cpu_count(), 4) * RESIDUE + FIRST_PERIODS * lost
	check_near("touch_all", rows["touch_all"][1], 2 * pages, 0, slack)


@harness.takes_long
def test_without_privileges(folder):
	program = recording.program(folder, "events")
	r = recording.as_nobody(folder, program, 40000, 8, options=["-e", "page-faults"])
	harness.check(r.done)
	check_faults(r, 0.04)


def test_without_privileges_what_happens_in_the_kernel_is_refused(folder):
	recording.needs_root()
	if int(recording.PARANOID.read_text()) != 2:
		raise harness.Skip(f"{recording.PARANOID} is not 2")
	for event in ("context-switches", "cpu-migrations"):
		r = recording.as_nobody(folder, "true", options=["-e", event])
		assert r.done.status == 125 and not r.path.exists(), r.done
		assert len(r.done.err.splitlines()) == 1, r.done.err
		assert event in r.done.err and "kernel.perf_event_paranoid=1" in r.done.err, r.done.err


def test_hardware_where_there_is_any(folder):
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	done = harness.sonde("record", "-e", "cycles", "-o", folder / "no.prof", "true")
	if done.status == 125:
		assert "no hardware counters" in done.err and "page-faults" in done.err, done.err
		assert not (folder / "no.prof").exists()
		assert "no hardware counters" in harness.sonde("doctor").out
		raise harness.Skip("this machine has no hardware counters")
	r = recording.record(folder, program, harness.work(480), options=["-e", "cycles,instructions"])
	total, rows = metric(r, "cycles")
	for name, share in (("own_a", 0.2), ("shared", 0.5)):
		check_near(name, rows[name][0] / total, share, 0, 0.05)
	check_near("cycles", counted(r, "cycles")[1], counted(r, "cycles")[0], 0.05)


def test_a_tracepoint(folder):
	recording.needs_root()
	recording.needs_sampling()
	program = recording.program(folder, "events")
	path = folder / "trace.prof"
	mount = "test -d /sys/kernel/tracing/events || mount -t tracefs nodev /sys/kernel/tracing"
	if harness.run("unshare", "-m", "sh", "-c", mount).status != 0:
		raise harness.Skip("tracefs can't be mounted")
	done = harness.check(harness.run("unshare", "-m", "sh", "-c",
		f"({mount}) && exec {harness.SONDE} record -e syscalls:sys_enter_clock_nanosleep:period=1 -o {path}"
		f" {program} 4 0 150"))
	total, rows = metric(recording.Recording(path, done), "syscalls:sys_enter_clock_nanosleep")
	assert total == 150 and rows["nap"][1] == 150, (total, rows)


def test_the_list_and_wrong_names(folder):
	del folder
	text = harness.check(harness.sonde("record", "-e", "list")).out
	for name in ("page-faults", "context-switches", "cycles", "L1-dcache-load-misses", "rNNN"):
		assert re.search(rf"^  {name} +(yes|no|not you)\b", text, re.M), name
	assert text == harness.check(harness.sonde("run", "-e", "help")).out
	recording.needs_sampling()
	for events, message in (("page-fualts", "did you mean 'page-faults'"), ("task-clock", "time is always"),
			("page-faults:period=0", "a number from 1"), ("nonsense:no-such", "tracepoint")):
		done = harness.sonde("record", "-e", events, "true")
		assert done.status == 125 and message in done.err, done
	done = harness.sonde("record", "--engine", "preload", "-e", "page-faults", "true")
	assert done.status == 125 and "--engine preload" in done.err, done


harness.main()
