"""prof.h with every language it is for: clean, and nothing at all where Prof_ENABLED is not defined."""

import re
import shutil

import harness
from harness import BUILD_ROOT, SOURCE_ROOT, check, run

PROGRAMS = SOURCE_ROOT / "tests" / "programs" / "zones"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
INCLUDE = f"-I{SOURCE_ROOT / 'include'}"
# What projects ask of their own sources, and so of headers under -I; not all of it fits C.
STRICT = {"c": ("-Wundef", "-Wcast-qual", "-Wstrict-prototypes"),
	"c++": ("-Wundef", "-Wcast-qual", "-Wold-style-cast", "-Wzero-as-null-pointer-constant")}
LANGUAGES = {"c": ("c99", "c11", "c17", "gnu99"), "c++": ("c++11", "c++14", "c++17", "c++20")}
COMPILERS = {"c": ("gcc", "clang"), "c++": ("g++", "clang++")}
SECTIONS = (".text", ".data", ".bss", ".rodata", ".rodata.str1.1", ".init_array", ".tbss")


def modes():
	"""Each compiler here with each standard: command and its name."""
	found = [(compiler, "-x", language, f"-std={standard}")
		for language, standards in LANGUAGES.items()
		for compiler in COMPILERS[language] if shutil.which(compiler) for standard in standards]
	if not found:
		raise harness.Skip("neither gcc nor clang")
	return found


def compile_object(place, mode, source, *flags):
	check(run(*mode, INCLUDE, *flags, "-c", source, "-o", place))
	return place


def without_zones(text):
	"""The program that a person would be left with who takes the zones out of it."""
	text = re.sub(r"(?m)^#include <prof.*\n", "", text)
	text = re.sub(r"(?m)^\t.*Prof.*;$", ";", text)
	return re.sub(r"(?m)^.*Prof.*\n", "", text)


def contents(place):
	"""Sizes and bytes of what an object file puts into a program, by section."""
	sizes = {}
	for line in check(run("objdump", "-h", "-w", place)).out.splitlines():
		fields = line.split()
		if len(fields) > 2 and fields[1] in SECTIONS:
			sizes[fields[1]] = int(fields[2], 16)
	for name in list(sizes):
		out = place.with_suffix(name)
		check(run("objcopy", "-O", "binary", "-j", name, place, out))
		sizes[name] = (sizes[name], out.read_bytes())
	return sizes


@harness.takes_long
def test_all_names_are_clean_enabled_and_disabled(folder):
	for mode in modes():
		for enabled in ((), ("-DProf_ENABLED",)):
			flags = (*WARNINGS, *STRICT[mode[2]], "-include", "prof_gl.h", *enabled)
			for level in (("-O0",), ("-O2",), ("-O1", "-fsanitize=thread")):
				compile_object(folder / "all.o", mode, PROGRAMS / "all_names.c", *flags, *level)


@harness.takes_long
def test_all_names_run_enabled(folder):
	for mode in modes():
		program = folder / "all"
		flags = ("-DProf_ENABLED", INCLUDE, PROGRAMS / "all_names.c", "-x", "none")
		check(run(*mode, *flags, BUILD_ROOT / "libsonde-zones.a", "-lm", "-pthread", "-o", program))
		out = check(run(program)).out
		assert re.search(r"(?m)^work [1-9][0-9]*$", out), (mode, out)
		assert "physics" in out and "2d_draw" in out, (mode, out)


def test_disabled_needs_no_library(folder):
	for mode in modes():
		program = folder / "all"
		check(run(*mode, *WARNINGS, INCLUDE, PROGRAMS / "all_names.c", "-o", program))
		assert re.fullmatch(r"work [1-9][0-9]*\n", check(run(program)).out), mode
		names = check(run("nm", program)).out
		assert not re.search(r"Prof_(?!nothing_)", names), (mode, names)


@harness.takes_long
def test_disabled_is_the_same_program_without_zones(folder):
	if not shutil.which("objcopy"):
		raise harness.Skip("no objcopy")
	bare = folder / "bare.c"
	bare.write_text(without_zones((PROGRAMS / "all_names.c").read_text()))
	assert "Prof" not in bare.read_text()
	for mode in modes():
		for level in ("-O0", "-O2"):
			flags = (level, "-DWITHOUT_VARIABLES")
			disabled = contents(compile_object(folder / "disabled.o", mode, PROGRAMS / "all_names.c", *flags))
			removed = contents(compile_object(folder / "bare.o", mode, bare, *flags))
			# A `static Prof_Define(z);` in a function: one byte that nothing refers to.
			if "clang" in mode[0] and level == "-O0":
				assert disabled.pop(".bss")[0] - removed.pop(".bss")[0] <= 1, mode
			assert disabled == removed, (mode, level)


SWITCHED_OFF = """
#include <prof.h>
#include <stdlib.h>
Prof_Define(region);
#define KEEP() __asm__ volatile("" ::: "memory")
int main(int argc, char **argv)
{
	int pairs = argc > 2 ? atoi(argv[2]) : 0;
	{
		Prof_Scope(region);
	}
	Prof_set_enabled(0);
	for (int i = 0; argv[1][0] == 's' && i < pairs; i++) {
		Prof_Scope(region);
		KEEP();
	}
	for (int i = 0; argv[1][0] == 'b' && i < pairs; i++) {
		Prof_Block(block);
		KEEP();
	}
	for (int i = 0; argv[1][0] == 'n' && i < pairs; i++)
		KEEP();
	return 0;
}
"""


def instructions(program, what):
	"""That a round of its loop takes."""
	counts = []
	for pairs in (1000, 11000):
		check(run("valgrind", "--tool=callgrind", "--callgrind-out-file=out", program, what, str(pairs),
			cwd=program.parent))
		text = (program.parent / "out").read_text()
		counts.append(int(re.search(r"(?m)^(?:totals|summary): (\d+)", text)[1]))
	return (counts[1] - counts[0]) / 10000


@harness.takes_long
def test_a_block_that_is_switched_off_takes_eight_instructions(folder):
	# Top and mode are loaded, the mode is tested; the rest is jumps, and where the compiler put them.
	if not shutil.which("valgrind"):
		raise harness.Skip("no valgrind")
	source = folder / "off.c"
	source.write_text(SWITCHED_OFF)
	for mode in modes():
		if mode[3] not in ("-std=c99", "-std=c++11"):
			continue
		for level in ("-O1", "-O2"):
			program = folder / "off"
			check(run(*mode, level, "-DProf_ENABLED", INCLUDE, source, "-x", "none",
				BUILD_ROOT / "libsonde-zones.a", "-lm", "-pthread", "-o", program))
			bare = instructions(program, "none")
			for what in ("scope", "block"):
				assert instructions(program, what) - bare < 8.5, (mode, level, what, bare)


harness.main()
