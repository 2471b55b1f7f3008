"""docs/files.md: each source file and the first sentence of its head comment, room by room.

The page is made, never written: `make golden` (files.py --update) rewrites it. Run without an argument this
says, as TAP, whether the page is behind, and which files open with no sentence of their own. A header is listed where no
.c file of its name stands next to it.
"""

import os
import pathlib
import re
import sys

import rooms
import tap

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2]))
SRC = ROOT / "src"
PAGE = ROOT / "docs" / "files.md"
HEAD = """# The files

Every source file and what it says of itself: the first sentence of the comment that it opens with. The rooms, and
which may include which, are in [ARCHITECTURE.md](../ARCHITECTURE.md). This page is made by `make golden`.
"""
ENDS = re.compile(r"(?<=[.!?])(?=\s|$)")
NO_END = re.compile(r"(?:\be\.g|\bi\.e|\bcf|\bvs)\.$")


def first_sentence(path):
	"""Of the first comment in a file, on one line; empty where it opens with none."""
	text = path.read_text()
	if path.suffix == ".h":
		text = re.sub(r"\A#ifndef \w+\n#define \w+\n\s*(#include[^\n]*\n|#pragma[^\n]*\n|\s)*", "", text)
	comment = re.match(r"/\*(.*?)\*/", text, re.S)
	if not comment:
		return ""
	paragraph = re.sub(r"\n[ \t]*\*", "\n", comment.group(1)).strip().split("\n\n")[0]
	words = " ".join(re.sub(r"\n[ \t]*\n.*", "", paragraph, flags=re.S).split())
	sentence = ""
	for part in ENDS.split(words):
		sentence += part
		if not NO_END.search(sentence):
			break
	return sentence.replace("|", "\\|").replace("<", "&lt;")


def listed(room, allowed):
	for path in rooms.sources(room, allowed, "*.[ch]"):
		if path.suffix == ".c" or not path.with_suffix(".c").exists():
			yield path


def page(allowed):
	parts, mute = [HEAD], []
	for room in allowed:
		parts.append(f"\n## {room}\n\n| file | what it is |\n|---|---|\n")
		for path in listed(room, allowed):
			sentence = first_sentence(path)
			if not sentence:
				mute.append(f"src/{path.relative_to(SRC)} opens with no sentence of its own")
			name = path.relative_to(SRC / room)
			parts.append(f"| [{name}](../src/{path.relative_to(SRC)}) | {sentence} |\n")
	return "".join(parts), mute


def main():
	allowed = rooms.read_rooms((ROOT / "ARCHITECTURE.md").read_text())
	text, problems = page(allowed)
	if "--update" in sys.argv:
		if not PAGE.exists() or PAGE.read_text() != text:
			PAGE.write_text(text)
			print(f"rewritten: {PAGE.name}")
		return 0
	if not PAGE.exists() or PAGE.read_text() != text:
		problems.append("docs/files.md is behind the head comments: make golden")
	return tap.report([("docs/files.md", problems)])


if __name__ == "__main__":
	sys.exit(main())
