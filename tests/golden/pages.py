"""The worked examples of docs/ and docs/views/, run.

Each fenced block whose first line begins with "$ " is a transcript as in golden.py, except that it is
run in the folder in/, where its input lies: `$ cat NAME` in a page shows the reader what that is.
`pages.py --update` rewrites the blocks with what is printed now.
"""

import pathlib
import re
import sys

import golden

DOCS = golden.HERE.parents[1] / "docs"
BLOCK = re.compile(rb"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)


def run(command):
	return golden.run("cd in && { " + command + "\n}")


def transcript(block):
	_, cases = golden.parse(block)
	return b"".join(b"$ " + command.encode() + b"\n" + run(command) for command, _ in cases)


def update(path):
	text = path.read_bytes()
	new = BLOCK.sub(lambda m: b"```\n" + transcript(m[1]) + b"```", text)
	if new != text:
		path.write_bytes(new)
		print(f"rewritten: {path.name}")


def main():
	pages = sorted([*DOCS.glob("*.md"), *DOCS.glob("views/*.md")])
	if "--update" in sys.argv:
		for path in pages:
			update(path)
		return 0
	cases = [(path, *case) for path in pages for block in BLOCK.findall(path.read_bytes())
		for case in golden.parse(block)[1]]
	print(f"1..{len(cases)}" if cases else "1..0 # SKIP no pages")
	failed = False
	for number, (path, command, expected) in enumerate(cases, 1):
		actual = run(command)
		good = actual == expected
		failed |= not good
		print(f"{'ok' if good else 'not ok'} {number} - {path.stem}: {command}")
		if not good:
			golden.show_difference(expected, actual)
	return 1 if failed else 0


if __name__ == "__main__":
	sys.exit(main())
