"""Every room includes only what the table of rooms in ARCHITECTURE.md allows it, and the tables of files
there name all files that there are; prints TAP.

The linker keeps the same rule for functions, since each room is a library of its own; this keeps it
for headers too.
"""

import os
import pathlib
import re
import sys

# Headers of libraries that one room alone may know.
LIBRARIES = {
	r"(libelf|gelf|elf|elfutils/.*|demangle|libiberty/.*)\.h": {"obj"},
	r"dwarf\.h": {"obj", "unwind"}, # the standard's numbers
	r"(zstd|zlib|lzma|libdeflate)\.h": {"base", "format", "obj"},
	r"capstone/.*\.h": {"obj"},
	r"(curses|ncurses|ncursesw/.*|term)\.h": {"view"},
	r"linux/perf_event\.h": {"record"},
	r"(linux/bpf|bpf/.*)\.h": {"record"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2]))
SRC = ROOT / "src"


def rows(text):
	"""The cells of a Markdown table's rows."""
	return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def read_rooms(text):
	"""{room: the rooms that it may include}, of the table of rooms."""
	table = rows(text.partition("\n## Rooms\n")[2].partition("\n## ")[0])
	names = [row[0].strip("`") for row in table[2:]]
	return {name: set(names) if row[2] == "anything" else set(re.sub(r"\(.*?\)", "", row[2]).split())
		for name, row in zip(names, table[2:])}


def read_files(text):
	"""{room: the files that its table names}, where it has one of all its files."""
	return {room: {name.removesuffix(".c") for row in rows(table) for name in re.findall("`([^`]+)`", row[1])}
		for room, table in re.findall(r"^\| part \| files of `src/(\w+)/` \|\n((?:\|.*\n)+)", text, re.M)}


def unnamed(room, names):
	"""The files of a room that its table does not name; view_NAME stands for all of them."""
	patterns = [re.compile(re.escape(name).replace("NAME", r"\w+")) for name in names]
	for path in sorted((SRC / room).rglob("*.c")):
		name = str(path.relative_to(SRC / room).with_suffix(""))
		if not any(pattern.fullmatch(name) for pattern in patterns):
			yield f"src/{room}/{name}.c is not in the table of ARCHITECTURE.md"


def missing(room, names):
	"""What a table names and is not there."""
	for name in sorted(names):
		if "NAME" not in name and not any((SRC / room / (name + end)).exists() for end in ("", ".c", ".h")):
			yield f"src/{room}/{name} is in the table of ARCHITECTURE.md, and nowhere else"


def problems_in(path, room, may_include):
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
			elif other != room and other not in may_include:
				yield f"{where}: {room} may not include {other}"
		else:
			for pattern, rooms in LIBRARIES.items():
				if re.fullmatch(pattern, name) and room not in rooms:
					yield f"{where}: only {', '.join(sorted(rooms))} may include it"


def main():
	architecture = (ROOT / "ARCHITECTURE.md").read_text()
	allowed, files = read_rooms(architecture), read_files(architecture)
	rooms = sorted({p.name for p in SRC.iterdir() if p.is_dir()} | set(allowed))
	failed = False
	print(f"1..{len(rooms)}")
	for number, room in enumerate(rooms, 1):
		problems = []
		if room not in allowed or not (SRC / room).is_dir():
			problems.append(f"src/{room} is not both a folder and in the table of rooms")
		else:
			for path in sorted((SRC / room).rglob("*.[ch]")):
				problems.extend(problems_in(path, room, allowed[room]))
		if room in files:
			problems.extend([*unnamed(room, files[room]), *missing(room, files[room])])
		print(f"{'not ok' if problems else 'ok'} {number} - {room}")
		for problem in problems:
			print(f"# {problem}")
		failed |= bool(problems)
	return 1 if failed else 0


if __name__ == "__main__":
	sys.exit(main())
