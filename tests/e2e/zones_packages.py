"""Zones as they are installed: pkg-config, CMake, one header for all, several shared objects."""

import json
import shutil

import harness
from harness import BUILD_ROOT, check, run, sonde

CLIENT = r"""
#include <stdio.h>
#include <HEADER>
Prof_Define(physics);
static void step(int n) { Prof_Begin(step) if (n) step(n - 1); Prof_Region(physics) Prof_End Prof_End }
int main(void)
{
	for (int i = 0; i < 10; i++) { step(3); Prof_update(1); }
	Prof_set_report_mode(Prof_SORT_NAME);
	return !Prof_report_write(stdout);
}
"""
# A part of a program, in an executable or shared object, with a zone of its own.
PART = r"""
#define Prof_ENABLED
#define Prof_IMPLEMENTATION
#include "sonde_zones.h"
void part_NAME(void);
__attribute__((visibility("default"), noinline)) void part_NAME(void) { Prof_Begin(zone_NAME) Prof_End }
"""
HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
void part_one(void);
void part_two(void);
int main(int argc, char **argv)
{
	Prof_Begin(host)
	part_one();
	part_two();
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		void (*part)(void) = NULL;
		if (!library) { fprintf(stderr, "%s\n", dlerror()); return 1; }
		*(void **)&part = dlsym(library, "part_three");
		part();
	}
	Prof_End
	return 0;
}
"""
CPP_USER = r"""
#define Prof_ENABLED
#include "sonde_zones.h"
extern "C" void from_cpp(void);
void from_cpp(void) { Prof(in_cpp); Prof_Name("dynamic"); }
"""
USES_CPP = r"""
#define Prof_ENABLED
#define Prof_IMPLEMENTATION
#include "sonde_zones.h"
void from_cpp(void);
int main(void)
{
	for (int i = 0; i < 10; i++) { Prof_Begin(frame) from_cpp(); Prof_End Prof_update(1); }
	Prof_set_report_mode(Prof_SORT_NAME);
	return !Prof_report_write(stdout);
}
"""


def install(folder):
	"""The build, installed; its prefix there."""
	if harness.SANITIZED:
		raise harness.Skip("the other build installs the same")
	if not shutil.which("meson"):
		raise harness.Skip("no meson")
	check(run("meson", "install", "-C", BUILD_ROOT, "--no-rebuild", "--quiet",
		env={"DESTDIR": str(folder)}))
	return next(folder.rglob("bin/sonde")).parents[1]


def assert_client_runs(program, **env):
	assert_client_runs_by(program, env=env)


def assert_client_runs_by(*command, **more):
	rows = {row.split()[0].lstrip("+!"): row.split()[-1]
		for row in check(run(*command, **more)).out.splitlines()[1:] if len(row.split()) > 3}
	assert float(rows["physics"]) == 4 and float(rows["step"]) == 4, rows


def test_pkg_config(folder):
	if not shutil.which("pkg-config"):
		raise harness.Skip("no pkg-config")
	prefix = install(folder / "root")
	pc = next(prefix.rglob("sonde-zones.pc"))
	env = {"PKG_CONFIG_PATH": str(pc.parent)}
	define = f"--define-variable=prefix={prefix}"
	source = folder / "client.c"
	source.write_text(CLIENT.replace("HEADER", "prof_internal.h"))
	query = lambda *what: check(run("pkg-config", define, *what, "sonde-zones", env=env)).out.split()
	for static in (False, True):
		libraries = query("--libs", *["--static"] * static)
		if static:
			libraries = ["-l:libsonde-zones.a" if one == "-lsonde-zones" else one for one in libraries]
		program = folder / f"client{static}"
		check(run("cc", "-DProf_ENABLED", *query("--cflags"), source, *libraries, "-o", program))
		needed = check(run("readelf", "-d", program)).out
		assert ("libsonde-zones.so.1" in needed) != static, needed
		assert_client_runs(program, LD_LIBRARY_PATH=str(pc.parents[1]))
	version = check(run("pkg-config", "--modversion", "sonde-zones", env=env)).out
	assert version.strip() == check(run(prefix / "bin" / "sonde", "--version")).out.split()[1]


@harness.takes_long
def test_cmake(folder):
	if not shutil.which("cmake"):
		raise harness.Skip("no cmake")
	prefix = install(folder / "root")
	project = folder / "project"
	project.mkdir()
	(project / "client.c").write_text(CLIENT.replace("HEADER", "prof_internal.h"))
	(project / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.13)
project(client C)
find_package(SondeZones 0.1 REQUIRED)
foreach(kind zones zones_static)
	add_executable(client_${kind} client.c)
	target_link_libraries(client_${kind} PRIVATE sonde::${kind})
	target_compile_definitions(client_${kind} PRIVATE Prof_ENABLED)
endforeach()
add_executable(client_functions client.c)
target_link_libraries(client_functions PRIVATE sonde::zones_functions)
target_compile_options(client_functions PRIVATE -finstrument-functions)
target_compile_definitions(client_functions PRIVATE Prof_ENABLED)
""")
	build = project / "build"
	check(run("cmake", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"))
	check(run("cmake", "--build", build))
	for kind in ("zones", "zones_static"):
		assert_client_runs(build / f"client_{kind}")
	check(run(build / "client_functions"))
	assert run("cmake", "-S", project, "-B", build, "-DCMAKE_PREFIX_PATH=" + str(prefix), cwd=folder).status == 0
	newer = project / "CMakeLists.txt"
	newer.write_text(newer.read_text().replace("SondeZones 0.1", "SondeZones 99"))
	assert run("cmake", "-S", project, "-B", folder / "newer", f"-DCMAKE_PREFIX_PATH={prefix}").status != 0


def single_header():
	return f"-I{BUILD_ROOT / 'src' / 'zones' / 'package'}"


@harness.takes_long
def test_single_header_in_c(folder):
	source = folder / "client.c"
	source.write_text("#define Prof_IMPLEMENTATION\n" + CLIENT.replace("#include <stdio.h>\n", "").replace(
		"HEADER", "sonde_zones.h"))
	for compiler, *flags in (("gcc", "-std=c99", "-O2"), ("clang", "-std=gnu17"),
		("gcc", "-fsanitize=address,undefined")):
		if not shutil.which(compiler):
			continue
		program = folder / "client"
		check(run(compiler, *flags, "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror",
			"-DProf_ENABLED", single_header(), source, "-lm", "-pthread", "-o", program))
		assert_client_runs(program)
		check(run(compiler, *flags, single_header(), source, "-o", program))
		assert check(run(program)).out == ""


@harness.takes_long
def test_single_header_with_cpp(folder):
	(folder / "user.cpp").write_text(CPP_USER)
	(folder / "main.c").write_text(USES_CPP)
	for c, cpp in (("gcc", "g++"), ("clang", "clang++")):
		if not shutil.which(cpp):
			continue
		check(run(cpp, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", single_header(), "-c",
			folder / "user.cpp", "-o", folder / "user.o"))
		check(run(c, single_header(), "-c", folder / "main.c", "-o", folder / "main.o"))
		check(run(cpp, folder / "main.o", folder / "user.o", "-lm", "-pthread", "-o", folder / "main"))
		out = check(run(folder / "main")).out
		assert "in_cpp" in out and "dynamic" in out and "frame" in out, out


def build_parts(folder, *flags):
	"""An executable and three shared objects, each with the whole runtime; the last for dlopen."""
	for name in ("one", "two", "three"):
		(folder / f"{name}.c").write_text(PART.replace("NAME", name))
		check(run("cc", single_header(), "-shared", "-fPIC", folder / f"{name}.c", "-lm", "-pthread",
			"-o", folder / f"lib{name}.so"))
	(folder / "host.c").write_text(PART.replace("NAME", "host") + HOST)
	check(run("cc", single_header(), *flags, folder / "host.c", f"-L{folder}", "-lone", "-ltwo", "-lm",
		"-ldl", "-pthread", f"-Wl,-rpath,{folder}", "-o", folder / "host"))


@harness.takes_long
def test_shared_objects_that_each_bring_it_share_one(folder):
	build_parts(folder, "-rdynamic")
	memory = folder / "zones-%p"
	check(run(folder / "host", folder / "libthree.so", env={"SONDE_ZONES": f"file={memory}"}))
	saved = list(folder.glob("zones-*"))
	assert len(saved) == 1, saved
	report = json.loads(check(sonde("live", saved[0], "--once", "--format", "json")).out)
	found = {zone["name"]: zone["entries"] for zone in report["zones"]}
	wanted = {"host": 1, "zone_one": 1, "zone_two": 1, "zone_three": 1}
	assert {name: found.get(name) for name in wanted} == wanted, report
	total = {zone["name"]: zone["total_ns"] for zone in report["zones"]}
	assert total["host"] >= total["zone_one"] + total["zone_two"] + total["zone_three"], total


def test_aarch64(folder):
	compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
	if not shutil.which(compiler) or not shutil.which(emulator):
		raise harness.Skip(f"no {compiler} and {emulator}")
	source = folder / "client.c"
	source.write_text("#define Prof_IMPLEMENTATION\n" + CLIENT.replace("#include <stdio.h>\n", "").replace(
		"HEADER", "sonde_zones.h"))
	check(run(compiler, "-static", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror",
		"-DProf_ENABLED", single_header(), source, "-lm", "-pthread", "-o", folder / "client"))
	assert_client_runs_by(emulator, folder / "client")


harness.main()
