"""Programs written for IProf compile unchanged, enabled and disabled, and are right."""

import collections
import re

import harness
from harness import BUILD_ROOT, SOURCE_ROOT, check, run

OLD = SOURCE_ROOT / "tests" / "programs" / "zones" / "old"
INCLUDE = f"-I{SOURCE_ROOT / 'include'}"
LIBRARIES = (BUILD_ROOT / "libsonde-zones.a", "-lm", "-pthread", "-ldl")
HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *module = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	void (*show)(void) = NULL;
	if (!module) { fprintf(stderr, "%s\n", dlerror()); return 1; }
	*(void **)&show = dlsym(module, "module_show");
	show();
	return dlclose(module);
}
"""


def build(folder, source, enabled, *flags):
	"""Without zones it must do without the library."""
	program = folder / f"{source.partition('.')[0]}-{enabled}"
	compiler = ("g++", "-std=c++11") if source.endswith(".cpp") else ("gcc", "-std=gnu99")
	libraries = LIBRARIES if enabled else ("-pthread",)
	check(run(*compiler, "-O1", "-Wall", "-Wextra", *["-DProf_ENABLED"] * enabled, INCLUDE, *flags,
		OLD / source, *libraries, "-o", program))
	return program


def rows(text):
	"""Counts by name, in which zones of one name are one."""
	found = collections.Counter()
	for line in text.splitlines():
		name, _, count = line.rpartition(" ")
		found[name.strip() or line] += int(count) if name else 1
	return found


def enabled_rows(folder, source, *args):
	assert check(run(build(folder, source, False), *args)).out == ""
	return rows(check(run(build(folder, source, True), *args)).out)


def has(found, **wanted):
	assert {name: found.get(name) for name in wanted} == wanted, found


@harness.takes_long
def test_a_compiler_with_two_workers_and_recursion(folder):
	# A tree of depth 7 has 255 nodes, 127 of them inner ones, and 256 ends below its leaves.
	assert check(run(build(folder, "compiler.cpp", False))).out == ""
	program = build(folder, "compiler.cpp", True)
	for _ in range(20):
		has(rows(check(run(program)).out), worker=2, file=5, parse=5 * 255, right_hand_side=5 * 127,
			generate=5 * (255 + 256), negative=None)


def test_a_module_loaded_by_dlopen(folder):
	host = harness.compile_c(folder, HOST, "-O1", "-ldl", name="host")
	shared = ("-shared", "-fPIC")
	assert check(run(host, build(folder, "module.cpp", False, *shared))).out == ""
	out = check(run(host, build(folder, "module.cpp", True, *shared))).out
	focus = [line for line in out.splitlines() if "-Goals" in line]
	assert [line.lstrip("> ") for line in focus] == ["-Goals 12"], out
	# Of a focus, parents and children say what is theirs of it.
	has(rows(out.replace(">", "").replace("-", "")), Engine=12, **{"own goal": 12})
	# From self time up to before Prof_Last_Mode, and down to it.
	assert re.findall("up: (.)", out) == ["1", "0", "1", "0"], out
	assert re.findall("down: (.)", out) == ["2", "1", "0", "2"], out


@harness.takes_long
def test_a_simulation_with_zones_begun_and_ended_in_different_methods(folder):
	# The last frame is one that is thrown away: what is shown is the one before.
	has(enabled_rows(folder, "simulation.cpp"), Steering=200, Physics=200)


def test_a_demo_in_c(folder):
	for enabled in (False, True):
		build(folder, "demo.c", enabled, "-DDRAWS", "-Wno-unused-function", "-c")
	found = enabled_rows(folder, "demo.c")
	has(found, **{"1 draw": 0, "1 upload": 0, "2 draw": 1, "2 3d_terrain": 1, "2 load": 1, "2 upload": 4,
		"2 flush": 2, "2 loads": 1})


def test_an_engine_that_exports_the_insides(folder):
	has(enabled_rows(folder, "exports.c"), first=1, exported=3)


harness.main()
