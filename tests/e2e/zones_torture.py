"""The torture program of zones, as it is built for users and from its sources with sanitizers: no
crash, no time below zero, sums that close, counts that are the program's own. SONDE_TORTURE says how
many runs there are."""

import os
import re
import signal

import harness

RUNS = int(os.environ.get("SONDE_TORTURE", 100 if harness.LONG else 10))
SANITIZED_RUNS = max(1, RUNS // 20)
ROOT = harness.SOURCE_ROOT
# By the seed modulo 5: exit, _exit, abort, a signal, the end of main.
ENDS = (0, 0, -signal.SIGABRT, -signal.SIGKILL, 0)


def sources_of(room, name):
	"""The list of that name in a room's meson.build."""
	text = (ROOT / "src" / room / "meson.build").read_text()
	rows = re.search(name + r" = files\((.*?)\)", text, re.S).group(1)
	return [ROOT / "src" / room / file for file in re.findall(r"'([^']+)'", rows)]


REPORT = sources_of("zonereport", "zonereport_sources")
RUNTIME = sources_of("zones", "zones_sources")


def compile_sources(folder, name, files, *flags):
	program = folder / name
	done = harness.run("cc", "-g", "-O1", "-D_GNU_SOURCE", f"-I{ROOT}/src", f"-I{ROOT}/include",
		*flags, "-o", program, *files, "-lm", "-pthread", "-ldl")
	if done.status and "-fsanitize" in " ".join(flags) and "cannot find" in done.err:
		raise harness.Skip("no such sanitizer")
	assert done.status == 0, done
	return program


def build(folder, runtime, *flags):
	"""The program and its module, which must have one runtime."""
	module = compile_sources(folder, "module.so", [ROOT / "tests/zones_module.c"], "-shared", "-fPIC",
		*[flag for flag in flags if flag.startswith("-f")])
	program = compile_sources(folder, "torture", [ROOT / "tests/programs/zones_torture.c",
		ROOT / "tests/zones_seen.c", *runtime], "-rdynamic", *flags)
	return program, module


def torture(program, module, runs, env=None):
	for seed in range(1, runs + 1):
		done = harness.run(program, str(seed), module, env=env, timeout=300)
		assert done.out == "ok\n", f"seed {seed}: {done}"
		assert done.status == ENDS[seed % 5], f"seed {seed}: {done}"
		assert "Sanitizer" not in done.err, f"seed {seed}: {done}"


@harness.takes_long
def test_as_users_have_it(folder):
	library = harness.BUILD_ROOT / "libsonde-zones.so"
	program, module = build(folder, [*REPORT, library], f"-Wl,-rpath,{harness.BUILD_ROOT}")
	torture(program, module, RUNS)


@harness.takes_long
def test_with_events_from_the_environment(folder):
	program, module = build(folder, [*REPORT, harness.BUILD_ROOT / "libsonde-zones.so"],
		f"-Wl,-rpath,{harness.BUILD_ROOT}")
	torture(program, module, 2, env={"SONDE_ZONES": "events"})


@harness.takes_long
def test_thread_sanitizer(folder):
	program, module = build(folder, [*REPORT, *RUNTIME], "-fsanitize=thread")
	torture(program, module, SANITIZED_RUNS, env={"TSAN_OPTIONS": "halt_on_error=1"})


@harness.takes_hours
def test_address_sanitizer(folder):
	program, module = build(folder, [*REPORT, *RUNTIME], "-fsanitize=address,undefined")
	torture(program, module, SANITIZED_RUNS, env={"ASAN_OPTIONS": "handle_abort=0"})


harness.main()
