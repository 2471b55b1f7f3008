"""The sources compile with musl, where only glibc is at hand otherwise: each is checked as the build compiles it, with
musl's headers, and not compiled; prints TAP.

A call of a function that musl lacks, or of a member or type of glibc's, is an error here. The kernel's headers and those
of the other libraries are this machine's: they are linked into a folder of their own, without glibc's next to them.
"""

import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import tap

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("BUILD_ROOT", ROOT / "build"))
KEPT = re.compile(r"-(I|D|U|W|std=|pthread)")
# What the build found in glibc, and does without in musl.
FOUND = ("-DHAVE_SIGABBREV",)
SYSTEM = pathlib.Path("/usr/include")
# Of the kernel, and of libraries that sonde may use.
HEADERS = ("linux", "asm-generic", "bpf", "capstone", "curl", "curses.h", "dwarf.h", "elfutils", "gelf.h", "libdeflate.h", "libelf.h",
	"libiberty", "lzma", "lzma.h", "microhttpd.h", "ncurses.h", "ncurses_dll.h", "pcre2.h", "unctrl.h", "xxh3.h", "xxhash.h", "zconf.h",
	"zlib.h", "zstd.h", "zstd_errors.h", "term.h", "ncursesw")


def link_headers(folder):
	machine = SYSTEM / f"{platform.machine()}-linux-gnu"
	for name in (*HEADERS, "asm"):
		for place in (SYSTEM / name, machine / name):
			if place.exists():
				(folder / name).symlink_to(place)
				break


def arguments(entry):
	"""One file's arguments, of its compile command; without the dependency file and sanitizers."""
	words = [w.replace('\\"', '"').strip("'") for w in entry["command"].split()]
	return [w for w in words if KEPT.match(w) and w not in FOUND and not w.startswith("-Wp,") and not w.startswith(f"-I{SYSTEM}")]


def problems_of(entry, headers):
	# musl's ioctl takes a request as int, and its macros mix signs.
	command = ["musl-gcc", "-fsyntax-only", "-Werror", *arguments(entry), "-Wno-sign-conversion", "-idirafter", headers, entry["file"]]
	done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
	return done.stderr if done.returncode else ""


def main():
	if not shutil.which("musl-gcc"):
		print("1..0 # skip there is no musl-gcc")
		return 0
	entries = {}
	for entry in json.loads((BUILD / "compile_commands.json").read_text()):
		path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
		# OpenGL's headers come with a window system's.
		if path.suffix == ".c" and (ROOT / "src") in path.parents and path.parent.name != "zones_gl":
			entries.setdefault(path, entry)
	with tempfile.TemporaryDirectory() as headers, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
		link_headers(pathlib.Path(headers))
		problems = [p for p in pool.map(lambda entry: problems_of(entry, headers), entries.values()) if p]
	lines = "".join(problems).splitlines()[:100] if entries else ["nothing is compiled from src"]
	return tap.report([(f"{len(entries)} files compile with musl", lines)])


if __name__ == "__main__":
	sys.exit(main())
