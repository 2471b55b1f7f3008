"""A program compiled with -finstrument-functions is zoned whole, with exact counts of calls."""

import csv
import json
import re

import harness
from harness import BUILD_ROOT, SOURCE_ROOT, check, run, sonde
from recording import needs_sampling

PROGRAMS = SOURCE_ROOT / "tests" / "programs" / "zones"
HOOKS = BUILD_ROOT / "src" / "zonehook"
FLAGS = ("-O1", "-g", "-finstrument-functions", "-rdynamic", "-pthread")
# Before the source, so they must be asked for.
STATIC = ("-Wl,--undefined=__cyg_profile_func_enter", HOOKS / "libsonde-zones-functions.a",
	BUILD_ROOT / "libsonde-zones.a", "-lm", "-ldl")
PLUGIN = "__attribute__((noinline)) void plugged(void);\nvoid plugged(void) {}\n"
THROWS = r"""
#include <cstdio>
extern "C" __attribute__((noinline)) void thrower(int n) { if (n == 0) throw n; thrower(n - 1); }
extern "C" __attribute__((noinline)) void catcher() { try { thrower(9); } catch (int) {} }
extern "C" __attribute__((noinline)) void after() { std::puts("after"); }
int main() { for (int i = 0; i < 3; i++) catcher(); after(); }
"""


def zones_of(folder, *command, **more):
	"""The program's output, and what its zones are when it has ended."""
	memory = folder / "zones"
	done = check(run(*command, env={"SONDE_ZONES": f"file={memory}"} | more))
	report = json.loads(check(sonde("live", memory, "--once", "--format", "json")).out)
	return done.out, report


def counts(report):
	found = {}
	for zone in report["zones"]:
		found[zone["name"]] = found.get(zone["name"], 0) + zone["entries"]
	return found


def assert_exact(out, report):
	wanted = {name: int(calls) for name, calls in (line.split() for line in out.splitlines())}
	found = counts(report)
	assert {name: found.get(name) for name in wanted} == wanted, report
	troubles = {name: times for name, times in report["troubles"].items() if times}
	assert not troubles, troubles
	assert all(zone["self_ns"] >= 0 and zone["total_ns"] >= zone["self_ns"] for zone in report["zones"])


def test_linked(folder):
	for compiler in ("gcc", "clang"):
		program = harness.compile_c(folder, PROGRAMS / "functions.c", *FLAGS, *STATIC,
			name=f"linked-{compiler}", compiler=compiler)
		assert_exact(*zones_of(folder, program))


def test_preloaded_with_a_library_that_is_closed(folder):
	program = harness.compile_c(folder, PROGRAMS / "functions.c", *FLAGS, "-ldl", name="plain")
	plugin = harness.compile_c(folder, PLUGIN, "-O1", "-finstrument-functions", "-shared", "-fPIC",
		name="plugin.so")
	assert_exact(*zones_of(folder, program, plugin,
		LD_PRELOAD=str(HOOKS / "libsonde-zones-functions.so")))


def test_recorded_functions_are_of_their_load_object(folder):
	needs_sampling()
	program = harness.compile_c(folder, PROGRAMS / "functions.c", *FLAGS, "-ldl", name="plain")
	done = check(sonde("record", "--zones=functions", "-o", folder / "zones.prof", "--", program))
	out = done.out
	told = re.search(r"sonde: 1 zone and ([\d,]+) functions of 1 program", done.err)
	wanted = {name: int(calls) for name, calls in (line.split() for line in out.splitlines())}
	assert told and int(told[1]) >= len(wanted), done.err
	report = check(sonde("report", folder / "zones.prof", "--level", "zone", "--view", "functions",
		"--metric", "zone-entries", "--format", "csv")).out
	rows = list(csv.DictReader(report.splitlines()))
	found = [(row["name"], row["module"], int(row["exclusive"])) for row in rows if row["name"] in wanted]
	assert sorted(found) == sorted((name, "plain", calls) for name, calls in wanted.items()), report


def test_exceptions_leave_functions(folder):
	program = harness.compile_c(folder, THROWS, *FLAGS, *STATIC, name="throws", compiler="c++")
	out, report = zones_of(folder, program)
	assert out == "after\n"
	assert_exact("thrower 30\ncatcher 3\nafter 1\nmain 1", report)
	total = {zone["name"]: zone["total_ns"] for zone in report["zones"]}
	assert total["main"] >= total["catcher"] + total["after"], report


harness.main()
