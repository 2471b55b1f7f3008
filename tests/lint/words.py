"""Phrases that a native reader stumbles over, in everything that people read; prints TAP.

The list is the table of HACKING.md: what stands in its first column, in backquotes, is looked for; what to write is
in the second, and where it is looked for in the third: in pages, or everywhere, in comments and messages as well. Quoted
code, examples and generated pages are left out.
"""

import os
import pathlib
import re
import sys

import tap

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2]))
PAGES = ("README.md", "ARCHITECTURE.md", "HACKING.md", "CHANGELOG.md", "SECURITY.md")
MADE = ("docs/files.md", "docs/formats/corpus")


def phrases():
	"""(phrase, its pattern, what to write, whether code is looked through), of the table in HACKING.md."""
	text = (ROOT / "HACKING.md").read_text().partition("\n## Words\n")[2].partition("\n## ")[0]
	for row in re.findall(r"^\| (`[^|]*) \| ([^|]*) \| (\w+) \|$", text, re.MULTILINE):
		for phrase in re.findall(r"`([^`]+)`", row[0]):
			pattern = re.compile(rf"(?<![\w-]){re.escape(phrase)}(?!\w)", re.IGNORECASE)
			yield phrase.lower(), pattern, row[1], row[2] == "everywhere"


def prose(path):
	"""(line number, line) of what people read there."""
	is_code, is_table = False, False
	for number, line in enumerate(path.read_text().splitlines(), 1):
		if line.startswith("```"):
			is_code = not is_code
		if path.name == "HACKING.md" and line.startswith("## "):
			is_table = line == "## Words"
		if is_code or is_table or (line.startswith("    ") and path.suffix == ".md"):
			continue
		yield number, re.sub(r"`[^`]*`", "", line) if path.suffix == ".md" else line


def files():
	yield from (ROOT / name for name in PAGES)
	for path in sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "man").glob("*.[157]")]):
		if not str(path.relative_to(ROOT)).startswith(MADE):
			yield path
	for folder in "src", "include":
		yield from sorted((ROOT / folder).rglob("*.[ch]"))


def main():
	banned, problems = list(phrases()), []
	for path in files():
		is_code = path.suffix in (".c", ".h")
		text = path.read_text().lower()
		here = [row for row in banned if row[0] in text]
		if not here:
			continue
		for number, line in prose(path):
			for _, pattern, better, is_everywhere in here:
				found = pattern.search(line) if is_everywhere or not is_code else None
				if found:
					problems.append(f"{path.relative_to(ROOT)}:{number}: '{found[0]}': write {better}")
	if not banned:
		problems.append("HACKING.md lists no phrases")
	return tap.report([(f"{len(banned)} phrases are not used", problems)])


if __name__ == "__main__":
	sys.exit(main())
