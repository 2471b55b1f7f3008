"""The layout of every C file is clang-format's; prints TAP.

`clang-format -i FILE` makes it so.
"""

import pathlib
import shutil
import subprocess
import sys

import tap
from sources import ROOT, SOURCES, c_files


def problems_of(paths):
	"""Many files at once: most of the time goes into starting clang-format."""
	seen = set()
	for first in range(0, len(paths), 200):
		done = subprocess.run(["clang-format", "--dry-run", "-Werror", *paths[first:first + 200]],
			capture_output=True, text=True)
		for line in done.stderr.splitlines():
			name, _, said = line.partition(":")
			if " error: " in line and name not in seen:
				seen.add(name)
				yield f"{pathlib.Path(name).relative_to(ROOT)}: line {said}"
		if done.returncode != 0 and not seen:
			yield f"clang-format fails: {done.stderr}"


def main():
	if not shutil.which("clang-format"):
		print("1..0 # skip there is no clang-format")
		return 0
	return tap.report([("the layout is clang-format's", list(problems_of(c_files(*SOURCES))))])


if __name__ == "__main__":
	sys.exit(main())
