"""Other ways to build sonde: hardened, link-time optimization, clang, and without each optional library. Each is built
as packages are, without tests, and must record and report a recursive program with two engines, and measure zones.

`make check-variants` runs it: the builds take some minutes, and stay below the build folder's tests/variants. Zones with
musl are in zones_builds.py: a program with prof.h and its one header needs no other library. sonde itself is not built
with musl here, as distributions with glibc have no libelf for it; tests/lint/musl.py checks its sources, and the program
that is one file (release/static) runs on distributions with musl.
"""

import json
import re
import shutil

import harness
import recording
from harness import SOURCE_ROOT, check, run

PLACE = harness.BUILD_ROOT / "tests/variants"
RECURSIVE = """
#include "cpu_time.h"
#include "spin.h"
#include <stdlib.h>
KEEP uint64_t down(int n, uint64_t x) { return spin(2000, n ? down(n - 1, x) : x) + 1; }
int main(int argc, char **argv)
{
	uint64_t x = 1;
	struct cpu_time time = cpu_time_of_process(atof(argv[argc - 1]));
	while (cpu_time_is_left(&time)) x = down(30, x);
	return x == 0;
}
"""
ZONES = r"""
#include <stdio.h>
#include <prof.h>
#include <prof_internal.h>
static void step(int n) { Prof_Begin(step) if (n) step(n - 1); Prof_End }
int main(void)
{
	for (int i = 0; i < 10; i++) { step(3); Prof_update(1); }
	Prof_set_report_mode(Prof_SORT_NAME);
	return !Prof_report_write(stdout);
}
"""


def build(name, *options, **env):
	"""The folder of a build with these options of meson's; one that is there is brought up to date."""
	folder = PLACE / name
	again = ["--reconfigure"] if (folder / "build.ninja").exists() else []
	check(run("meson", "setup", *again, folder, SOURCE_ROOT, "-Dtests=false", *options, env=env, timeout=300))
	check(run("ninja", "-C", folder, "--quiet", "program", timeout=3600))
	return folder


def names(sonde, profile):
	rows = json.loads(check(run(sonde, "report", profile, "--view", "functions", "--format", "json")).out)["rows"]
	total = sum(row["exclusive"] for row in rows)
	return {row["name"]: row["inclusive"] / total for row in rows}


def assert_works(build_folder, folder):
	"""Both engines name a recursion, the tree collapses it, and zones are measured with both libraries."""
	sonde = build_folder / "sonde"
	program = harness.compile_c(folder, RECURSIVE, *recording.FLAGS, f"-I{recording.PROGRAMS}", name="recursive")
	engines = [*([] if recording.refusal() else ["snapshot"]), "preload"]
	for engine in engines:
		check(run(sonde, "record", "--engine", engine, "-o", folder / "x.prof", program, harness.work(400)))
		found = names(sonde, folder / "x.prof")
		assert found.get("down", 0) > 0.8 and found.get("main", 0) > 0.8, (engine, found)
		tree = check(run(sonde, "report", folder / "x.prof", "--view", "tree", "--collapse", "full")).out
		assert "down..." in tree, (engine, tree)
	check(run(sonde, "doctor"))
	(folder / "zones.c").write_text(ZONES)
	for library in ("libsonde-zones.a", "libsonde-zones.so"):
		check(run("cc", "-DProf_ENABLED", f"-I{SOURCE_ROOT / 'include'}", folder / "zones.c", build_folder / library, "-lm", "-pthread", "-o", folder / "zones"))
		out = check(run(folder / "zones", env={"LD_LIBRARY_PATH": str(build_folder)})).out
		assert re.search(r"step .* 4\.00", out), (library, out)


def headers_of(path):
	return check(run("readelf", "-Wld", path)).out


def test_hardened(folder):
	flags = "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fcf-protection=full"
	made = build("hardened", "-Db_pie=true", "-Doptimization=2", f"-Dc_args={flags}", "-Dc_link_args=-Wl,-z,relro,-z,now")
	for name in ("sonde", "libsonde-zones.so", "src/preload/libsonde-preload.so", "src/zonehook/libsonde-zones-functions.so"):
		headers = headers_of(made / name)
		assert "GNU_RELRO" in headers and "NOW" in headers, (name, headers)
	assert "PIE" in headers_of(made / "sonde")
	entered = check(run("objdump", "-d", "--disassemble=Prof_enter", made / "libsonde-zones.so")).out
	assert "endbr64" in entered, entered
	assert_works(made, folder)


def test_link_time_optimization_by_gcc(folder):
	if not shutil.which("gcc"):
		raise harness.Skip("no gcc")
	assert_works(build("lto-gcc", "-Db_lto=true", CC="gcc"), folder)


def test_link_time_optimization_by_clang(folder):
	for tool in ("clang", "ld.lld", "llvm-ar"):
		if not shutil.which(tool):
			raise harness.Skip(f"no {tool}")
	assert_works(build("lto-clang", "-Db_lto=true", CC="clang", CC_LD="lld"), folder)


def test_clang(folder):
	if not shutil.which("clang"):
		raise harness.Skip("no clang")
	assert_works(build("clang", "-Dwerror=true", CC="clang"), folder)


# What a program says or does without each optional library: command, exit status, text.
ABSENT = {
	"exact": (["record", "--engine", "exact", "-o", "y.prof", "true"], 0, "built without it (libbpf"),
	"capstone": (["annotate", "x.prof", "main"], 0, "built without capstone"),
	"tui": (["report", "x.prof"], 0, "main"),
	"gl": (["--version"], 0, "sonde"),
	"serve": (["serve", "x.folded"], 1, "built without libmicrohttpd"),
}


def assert_lacks(made, folder, absent):
	for feature in absent:
		command, status, text = ABSENT[feature]
		done = run(made / "sonde", *command, cwd=folder)
		assert done.status == status and text in done.out + done.err, (feature, done)
	described = json.loads(check(run("meson", "introspect", "--targets", made)).out)
	assert ("gl" in absent) != any(target["name"] == "sonde-zones-gl" for target in described), absent


def test_each_optional_library_is_absent(folder):
	"""One build, in which one after the other is left out, and then all."""
	(folder / "x.folded").write_text("main;f 3\nmain;g 1\n")
	program = harness.compile_c(folder, "int main(void) { for (volatile long i = 0; i < 300000000; i++) { } return 0; }\n", "-g", name="program")
	for absent in [*([one] for one in ABSENT), list(ABSENT)]:
		made = build("absent", *(f"-D{one}={'disabled' if one in absent else 'auto'}" for one in ABSENT))
		check(run(made / "sonde", "record", "-o", folder / "x.prof", program))
		assert_lacks(made, folder, absent)
	assert_works(made, folder)


if __name__ == "__main__":
	harness.main()
