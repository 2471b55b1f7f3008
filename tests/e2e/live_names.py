"""sonde live names zones that are functions, exported or not, of programs and libraries, also of files
that are deleted or lie in a mount namespace of their own; what is saved knows the names for ever."""

import json
import os
import re
import subprocess

import harness
from harness import BUILD_ROOT, check, compile_c, run, sonde

HOOKS = BUILD_ROOT / "src" / "zonehook"
FLAGS = ("-O1", "-g", "-finstrument-functions", "-fPIC")
LIBRARY = r"""
static __attribute__((noinline)) int hidden_of_library(int n) { return n + 1; }
__attribute__((noinline)) int exported_of_library(int n);
int exported_of_library(int n) { return hidden_of_library(n) + 1; }
"""
PROGRAM = r"""
#include <stdio.h>
int exported_of_library(int n);
static __attribute__((noinline)) int inner(int n) { return exported_of_library(n) * 2; }
static __attribute__((noinline)) int outer(int n) { return inner(n) + inner(n + 1); }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += outer(i);
	printf("%d\n", sum);
	fflush(stdout);
	return getchar() == EOF;
}
"""
WANTED = {"main": 1, "outer": 10, "inner": 20, "exported_of_library": 20, "hidden_of_library": 20}


def built(folder, *flags):
	if not (BUILD_ROOT / "libsonde-zones.a").exists():
		raise harness.Skip("libsonde-zones.a is not built")
	library = compile_c(folder, LIBRARY, *FLAGS, "-shared", "-Wl,-soname,libcounted.so", name="libcounted.so")
	program = compile_c(folder, PROGRAM, *FLAGS, "-Wl,--no-as-needed", library, "-Wl,-rpath,$ORIGIN", *flags,
		"-Wl,--undefined=__cyg_profile_func_enter", "-Wl,--export-dynamic-symbol=__cyg_profile_func_*",
		HOOKS / "libsonde-zones-functions.a", BUILD_ROOT / "libsonde-zones.a", "-lm", "-ldl", "-pthread",
		name="functions")
	return program, library


class Running:
	"""The program, until the block is left; it has called all of its functions."""

	def __init__(self, *command, **more):
		self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
		assert self.process.stdout.readline()
		self.pid = self.process.pid

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.process.kill()
		self.process.communicate()


def zones_of(target, **more):
	zones = json.loads(check(sonde("live", target, "--format", "json", "--frames", "run", **more)).out)["zones"]
	return {zone["name"]: zone for zone in zones}


def assert_named(zones, program="functions", library="libcounted.so"):
	assert {name: zones.get(name, {}).get("entries") for name in WANTED} == WANTED, zones
	for name in WANTED:
		assert os.path.basename(zones[name]["module"]) == (library if "library" in name else program), zones
		assert zones[name]["file"].endswith(".c") and zones[name]["line"] > 0, zones
	assert zones["_global"]["module"] is None


def test_functions_have_names(folder):
	for kind in "-pie", "-no-pie":
		program, _ = built(folder, kind)
		with Running(program) as running:
			assert_named(zones_of(running.pid))
			text = check(sonde("live", running.pid, "--once", "--frames", "run", "--zone", "inner")).out
			rows = re.findall(r"^ *[+!-]*([a-z]\w+) +[\d.]+ +[\d.]+ +[\d.]+$", text, re.MULTILINE)
			assert rows == ["outer", "inner", "exported_of_library"], text
		program.unlink()


def report_rows(path, *options):
	return json.loads(check(sonde("report", path, "--format", "json", "--metric", "zone-entries",
		*options)).out)["rows"]


def test_saved_names_survive(folder):
	program, library = built(folder)
	state = folder / "state.zones"
	with Running(program) as running:
		check(sonde("live", running.pid, "--save", state))
	program.unlink()
	library.unlink()
	assert_named(zones_of(state))
	# Saved once more, it has lost nothing.
	check(sonde("live", state, "--save", folder / "again.zones"))
	assert_named(zones_of(folder / "again.zones"))
	rows = {row["name"]: row for row in report_rows(state)}
	assert {name: rows[name]["exclusive"] for name in WANTED} == WANTED, rows
	assert all(row["name"] for row in rows.values()), rows
	modules = {row["name"]: row["exclusive"] for row in report_rows(state, "--view", "modules")}
	assert modules["functions"] == 31 and modules["libcounted.so"] == 40, modules


def test_deleted_files(folder):
	program, library = built(folder)
	with Running(program) as running:
		program.unlink()
		library.unlink()
		zones = zones_of(running.pid)
		assert {name: zones[name]["entries"] for name in ("main", "outer", "inner")} \
			== {name: WANTED[name] for name in ("main", "outer", "inner")}
		# Of what is mapped, and has no name any more, only who may look into map_files can open all.
		if os.geteuid() == 0:
			assert_named(zones, "functions (deleted)", "libcounted.so (deleted)")


def test_mount_namespace_of_its_own(folder):
	if os.geteuid() != 0 or run("unshare", "--mount", "true").status:
		raise harness.Skip("no mount namespaces here")
	program, library = built(folder)
	inside = folder / "inside"
	inside.mkdir()
	script = 'mount -t tmpfs none "$1" && cp "$2" "$3" "$1" && exec "$1/functions"'
	with Running("unshare", "--mount", "sh", "-c", script, "sh", inside, program, library) as running:
		program.unlink()
		library.unlink()
		assert not list(inside.iterdir())
		assert_named(zones_of(running.pid))


def test_names_of_stripped_files_are_those_that_are_exported(folder):
	program, library = built(folder)
	check(run("strip", program, library))
	with Running(program) as running:
		# On a slow machine the names of the whole files, which have the same build id, are kept.
		zones = zones_of(running.pid, env={"XDG_CACHE_HOME": str(folder)})
		assert zones["exported_of_library"]["entries"] == 20
		assert "hidden_of_library" not in zones
		assert any(re.match(r"\[functions\+0x[0-9a-f]+\]", name) for name in zones), zones


harness.main()
