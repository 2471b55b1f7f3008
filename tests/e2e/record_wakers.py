"""Who wakes threads, and how long these then wait for a CPU: record --wakers."""

import os
import re

import harness
import recording
from attaching import Target

WAITS = "blocked-time", "wakeup-delay", "preempted-time"


def close(found, truth, part, slack):
	return abs(found - truth) <= part * truth + slack


def needs_wakings(folder):
	"""The tracepoint takes root, tracefs, and no container's ids."""
	recording.needs_sampling()
	done = harness.run(harness.SONDE, "record", "-q", "--wakers", "-o", os.devnull, "true")
	if done.status == 125:
		raise harness.Skip(done.err.strip())
	harness.check(done)


def by_waker(r, metric):
	"""{waker: seconds in `await`}; "": none is known."""
	sums = {}
	for line in r.report("-f", "folded", "--roots", "label:waker", "-m", metric).splitlines():
		path, _, ns = line.rpartition(" ")
		frames = path.split(";")
		if "await" in frames:
			found = re.fullmatch(r"waker=(.*?)(?: \(\d+\))?", frames[0])
			waker = found.group(1) if found else ""
			sums[waker] = sums.get(waker, 0) + int(ns) / 1e9
	return sums


def check_truth(r, text, part=0.05):
	blocked, delayed = by_waker(r, "blocked-time"), by_waker(r, "wakeup-delay")
	# One that was given the CPU may lose it again before it can look at the clock.
	preempted = sum(by_waker(r, "preempted-time").values())
	for line in text.splitlines():
		name, waited, late = line.split()
		assert close(blocked[name], float(waited), part, 0.02), (line, blocked, delayed)
		least = (1 - part) * float(late) - preempted - 0.02
		assert least <= delayed[name] <= float(late) + 0.001, (line, delayed, preempted)


def check_sums(r):
	"""In integers, over all samples."""
	metrics = "real-time", "cpu-time", *WAITS
	totals = [r.json("--metric", metric)["total"] for metric in metrics]
	assert totals[0] == sum(totals[1:]), dict(zip(metrics, totals))


def test_truth(folder):
	needs_wakings(folder)
	r = recording.record(folder, recording.program(folder, "wakers"), options=["--wakers"])
	check_truth(r, r.done.out)
	check_sums(r)
	# Their own sleeps end by the clock's interrupt.
	woken = r.json("--label", "waker=[interrupt]", "--metric", "blocked-time", "--limit", "0")
	assert {"wake", "main"} & {row["name"] for row in woken["rows"]}, woken
	assert not any("waking" in note["text"] for note in r.notes), r.notes


def test_system_calls_are_shown(folder):
	needs_wakings(folder)
	r = recording.record(folder, recording.program(folder, "wakers"), options=["--wakers"])
	rows = r.json("--metric", "wakeup-delay", "--limit", "0")["rows"]
	assert not any(row["name"] == "schedule" for row in rows), rows


def test_attached_and_everybody(folder):
	needs_wakings(folder)
	program = recording.program(folder, "wakers")
	for options in (["-p"], ["-a"]):
		with Target(folder, program) as target:
			run = recording.start(folder, options=[*options, *([target.pid] if options == ["-p"] else []),
				"--wakers", "--duration", "600ms"])
			assert run.end() == 0, run.err
		check_sums(run.recording)
		sums = by_waker(run.recording, "wakeup-delay")
		# How much that is depends on who else wants the CPU; who it was does not.
		assert sums.get("slow", 0) > 0 and sums.get("quick", 0) > 0, (options, sums)
		assert sums["slow"] + sums["quick"] > 0.9 * sum(sums.values()), (options, sums)


def test_without_wakers_it_is_blocked_time(folder):
	recording.needs_sampling()
	r = recording.record(folder, recording.program(folder, "wakers"))
	heading = r.report()
	assert "blocked-time" in heading and "wakeup-delay" not in heading, heading
	waited = sum(float(word) for line in r.done.out.splitlines() for word in line.split()[1:])
	# Until it runs again a woken thread is preempted, on a busy machine for a while.
	blocked, preempted = (r.json("--metric", metric, "--focus", "^await$")["total"] / 1e9
		for metric in ("blocked-time", "preempted-time"))
	assert close(blocked + preempted, waited, 0.05, 0.02), (blocked, preempted, waited)
	assert blocked > 0.7 * waited, (blocked, preempted, waited)


def test_refusals(folder):
	for options, word in ((["--clock", "virtual"], "--clock virtual"), (["--engine", "preload"], "--engine preload")):
		done = harness.run(harness.SONDE, "record", "--wakers", *options, "-o", folder / "x", "true")
		assert done.status == 125 and word in done.err, done
	if os.geteuid() == 0:
		done = harness.run(*recording.NOBODY, harness.SONDE, "record", "--wakers", "-o", os.devnull, "true")
		assert done.status == 125 and len(done.err.splitlines()) == 1, done
		assert "who wakes threads can't be recorded" in done.err, done.err


harness.main()
