"""clang warns of nothing in the sources either: each is checked as the build compiles it, and not compiled; prints TAP.

What is compiled stands in the build folder's compile_commands.json. Of a compiler's arguments those are kept that
clang takes too: where headers are, macros, the language and the warnings.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import tap

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("BUILD_ROOT", ROOT / "build"))
KEPT = re.compile(r"-(I|D|U|W|std=|isystem|idirafter|pthread)")


def arguments(entry):
	"""One file's arguments for clang, of its compile command; without what another compiler's dependency files need."""
	words = entry["command"].split()
	return [w.replace('\\"', '"').strip("'") for w in words if KEPT.match(w.strip("'")) and not w.startswith("-Wp,")]


def problems_of(entry):
	command = ["clang", "-fsyntax-only", "-Werror", "-Wno-unknown-warning-option", *arguments(entry), entry["file"]]
	done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
	return done.stderr if done.returncode else ""


def main():
	if not shutil.which("clang"):
		print("1..0 # skip there is no clang")
		return 0
	entries = {}
	for entry in json.loads((BUILD / "compile_commands.json").read_text()):
		path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
		if path.suffix == ".c" and (ROOT / "src") in path.parents:
			entries.setdefault(path, entry)
	with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
		problems = [p for p in pool.map(problems_of, entries.values()) if p]
	lines = "".join(problems).splitlines()[:100] if entries else ["nothing is compiled from src"]
	return tap.report([(f"clang warns of nothing in {len(entries)} files", lines)])


if __name__ == "__main__":
	sys.exit(main())
