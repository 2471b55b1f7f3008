"""Golden tests: commands and exactly what they print.

A *.golden file in this folder is a transcript. A line that begins with "$ " is a command for the
shell, run in this folder, in which `sonde` is the program under test; below it stands what it put
on standard output, byte for byte. Lines that begin with "! " are its standard error, and "? N" is
its exit status where that is not 0. Lines before the first command, begun with "#", are comments.

	$ sonde report in/mutual.folded --view tree --collapse full
	...

Inputs are in in/. `make golden` (golden.py --update) rewrites every file with what is printed now;
read the difference before committing it.
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SONDE = os.environ.get("SONDE", str(HERE.parents[1] / "build" / "sonde"))


def run(command, program=SONDE):
	"""The transcript of one command, without its "$ " line."""
	env = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
	done = subprocess.run(["sh", "-c", 'sonde() { "$SONDE" "$@"; }\n' + command], cwd=HERE,
		env={**env, "SONDE": str(program)}, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
	text = done.stdout
	if text and not text.endswith(b"\n"):
		text += b"\n\\ no newline at the end\n"
	for line in done.stderr.splitlines():
		text += b"! " + line + b"\n"
	if done.returncode != 0:
		text += b"? %d\n" % done.returncode
	return text


def parse(data):
	"""(comments, [(command, transcript)]) of a golden file."""
	comments, cases = b"", []
	for line in data.splitlines(keepends=True):
		if line.startswith(b"$ "):
			cases.append((line[2:].decode().rstrip("\n"), b""))
		elif cases:
			cases[-1] = (cases[-1][0], cases[-1][1] + line)
		else:
			comments += line
	return comments, cases


def update(path):
	comments, cases = parse(path.read_bytes())
	text = comments + b"".join(b"$ " + c.encode() + b"\n" + run(c) for c, _ in cases)
	if text != path.read_bytes():
		path.write_bytes(text)
		print(f"rewritten: {path.name}")


def show_difference(expected, actual):
	import difflib
	lines = difflib.unified_diff(expected.decode("utf-8", "replace").splitlines(),
		actual.decode("utf-8", "replace").splitlines(), "expected", "printed", lineterm="")
	for line in lines:
		print("#   " + line)


def main():
	files = sorted(HERE.glob("*.golden"))
	if "--update" in sys.argv:
		for path in files:
			update(path)
		return 0
	cases = [(path, *case) for path in files for case in parse(path.read_bytes())[1]]
	print(f"1..{len(cases)}" if cases else "1..0 # SKIP no golden files")
	failed = False
	for number, (path, command, expected) in enumerate(cases, 1):
		actual = run(command)
		good = actual == expected
		failed |= not good
		print(f"{'ok' if good else 'not ok'} {number} - {path.stem}: {command}".replace(" # ", " "))
		if not good:
			show_difference(expected, actual)
	return 1 if failed else 0


if __name__ == "__main__":
	sys.exit(main())
