"""Every room includes only what ARCHITECTURE allows it; prints TAP.

The linker keeps the same rule for functions, since each room is a library of its own; this keeps it
for headers too. The table is the one of ARCHITECTURE.md.
"""

import os
import pathlib
import re
import sys

ROOMS = {
	"agent": "unwind",
	"base": "",
	"format": "base",
	"model": "base",
	"obj": "base",
	"unwind": "base obj",
	"symbolize": "base obj model",
	"record": "agent base format obj unwind live zonereport",
	"readers": "base format model obj symbolize unwind zonereport",
	"writers": "base format model",
	"zonereport": "format",
	"zones": "format zonereport",
	"zones_gl": "",
	"zonehook": "",
	"live": "base format zonereport",
	"analysis": "base model",
	"view": "base format model analysis zonereport",
	"cli": "base format model obj unwind symbolize record readers writers analysis view live zonereport",
}
# Headers of libraries that one room alone may know.
LIBRARIES = {
	r"(libelf|gelf|elf|dwarf|elfutils/.*|demangle|libiberty/.*)\.h": {"obj", "unwind"},
	r"(zstd|zlib|lzma)\.h": {"base", "format", "obj", "record"},
	r"capstone/.*\.h": {"obj"},
	r"(curses|ncurses|ncursesw/.*|term)\.h": {"view"},
	r"jansson\.h": {"view", "readers"},
	r"linux/perf_event\.h": {"record"},
	r"(linux/bpf|bpf/.*)\.h": {"record"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

SRC = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2])) / "src"


def problems_in(path, room):
	for number, line in enumerate(path.read_text().splitlines(), 1):
		include = INCLUDE.match(line)
		if not include:
			continue
		quote, name = include.groups()
		where = f"{path.relative_to(SRC)}:{number}: {name}"
		if quote == '"':
			other = name.partition("/")[0]
			if "/" not in name or not (SRC / name).exists():
				yield f"{where}: not a path from src/"
			elif other != room and other not in ROOMS[room].split():
				yield f"{where}: {room} may not include {other}"
		else:
			for pattern, rooms in LIBRARIES.items():
				if re.fullmatch(pattern, name) and room not in rooms:
					yield f"{where}: only {', '.join(sorted(rooms))} may include it"


def main():
	rooms = sorted(p.name for p in SRC.iterdir() if p.is_dir())
	failed = False
	print(f"1..{len(rooms)}")
	for number, room in enumerate(rooms, 1):
		problems = []
		if room not in ROOMS:
			problems.append(f"src/{room} is not in the table")
		else:
			for path in sorted((SRC / room).rglob("*.[ch]")):
				problems.extend(problems_in(path, room))
		print(f"{'not ok' if problems else 'ok'} {number} - {room}")
		for problem in problems:
			print(f"# {problem}")
		failed |= bool(problems)
	return 1 if failed else 0


if __name__ == "__main__":
	sys.exit(main())
