"""Every room includes only what the table of rooms in ARCHITECTURE.md allows it; prints TAP.

The linker keeps the same rule for functions, since each room is a library of its own; this keeps it
for headers too.
"""

import os
import pathlib
import re
import sys

import tap

# Headers of libraries that one room alone may know.
LIBRARIES = {
	r"elf\.h": {"arch", "obj"}, # the standard's numbers
	r"(libelf|gelf|elfutils/.*|demangle|libiberty/.*)\.h": {"obj"},
	r"dwarf\.h": {"obj", "unwind"}, # the standard's numbers
	r"(zstd|zlib|lzma|libdeflate)\.h": {"base", "formats/sonde/layout", "obj"},
	r"capstone/.*\.h": {"obj"},
	r"(curses|ncurses|ncursesw/.*|term)\.h": {"view"},
	r"microhttpd\.h": {"http", "intake", "serve"},
	r"(curl/.*|xxhash)\.h": {"store"},
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


def room_of(path, allowed):
	"""The room that a path from src/ is in: the longest name in the table that it begins with; a room may
	be a folder of another one."""
	parents = [str(p) for p in pathlib.PurePath(path).parents]
	return next((p for p in parents if p in allowed), parents[-2] if len(parents) > 1 else "")


def sources(room, allowed, ends):
	return [p for p in sorted((SRC / room).rglob(ends)) if room_of(p.relative_to(SRC), allowed) == room]


def problems_in(path, room, allowed):
	for number, line in enumerate(path.read_text().splitlines(), 1):
		include = INCLUDE.match(line)
		if not include:
			continue
		quote, name = include.groups()
		where = f"{path.relative_to(SRC)}:{number}: {name}"
		if quote == '"':
			other = room_of(name, allowed)
			if "/" not in name or not (SRC / name).exists():
				yield f"{where}: not a path from src/"
			elif other != room and other not in allowed[room]:
				yield f"{where}: {room} may not include {other}"
		else:
			for pattern, rooms in LIBRARIES.items():
				if re.fullmatch(pattern, name) and room not in rooms:
					yield f"{where}: only {', '.join(sorted(rooms))} may include it"


def main():
	allowed = read_rooms((ROOT / "ARCHITECTURE.md").read_text())
	rooms = sorted({p.name for p in SRC.iterdir() if p.is_dir()} | set(allowed))
	found = []
	for room in rooms:
		problems = []
		if room not in allowed or not (SRC / room).is_dir():
			problems.append(f"src/{room} is not both a folder and in the table of rooms")
		else:
			for path in sources(room, allowed, "*.[ch]"):
				problems.extend(problems_in(path, room, allowed))
		found.append((room, problems))
	return tap.report(found)


if __name__ == "__main__":
	sys.exit(main())
