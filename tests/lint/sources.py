"""House rules that a machine can check, over every C file; prints TAP.

See HACKING.md for the rules and their reasons.
"""

import os
import pathlib
import re
import sys

import tap

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2]))
LINES_MAX = 1200
COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 100
FORBIDDEN = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
UNSAFE = re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|atoi|atol|system|popen)\s*\(")
DECLARATION = re.compile(r"^(?!typedef|static|struct \w+ \{|enum|#|extern const)[a-z].*\)\s*(;|$|printf_like)")

# What tests for a processor, or names registers as one processor's headers do.
PROCESSOR = re.compile(r"\b(__x86_64__|__aarch64__|EM_X86_64|EM_AARCH64|R_X86_64_\w+|REG_R(?:[A-D]X|[SD]I|[SB]P|IP|\d+)|user_regs_struct)\b")
# The exceptions of ARCHITECTURE.md ("Processors"): what is not asked of src/arch/.
PROCESSOR_FILES = {
	"src/agent/rights.c", # a filter of system calls
	"src/obj/disassemble.c", # capstone's operands
	"src/preload/sample.c", # libc alone
	"src/zones/clock.c", "src/zonereport/clock.h", "src/zonereport/ring.c", # clocks
}

PAIRED = re.compile(r"_(init|deinit|create|destroy)\(")


def c_files(*folders):
	return [p for f in folders for p in sorted((ROOT / f).rglob("*.[ch]"))]


def lines_of(path):
	return path.read_text().splitlines()


def opens_with_comment(path):
	text = path.read_text()
	if path.suffix == ".c" and not text.startswith("/*"):
		yield "does not open with a comment that says what it is"


def size_is_readable(path):
	count = len(lines_of(path))
	if count > LINES_MAX:
		yield f"{count} lines; a file holds one noun, in at most {LINES_MAX}"


def functions_are_short(path):
	start = None
	for number, line in enumerate(lines_of(path), 1):
		if line == "{":
			start = number
		elif line == "}" and start:
			if number - start > FUNCTION_LINES_MAX:
				yield f"{start}: a function of {number - start} lines"
			start = None


def lines_are_short(path):
	for number, line in enumerate(lines_of(path), 1):
		if len(line.expandtabs(8)) > COLUMNS_MAX:
			yield f"{number}: wider than {COLUMNS_MAX} columns"


def comments_are_whole(path):
	"""A tool that wraps comments anew leaves out the blank after a star, and joins the rows of tables."""
	for comment in re.finditer(r"^[ \t]*/\*.*?\*/", path.read_text(), re.DOTALL | re.MULTILINE):
		for line in comment.group().splitlines()[1:]:
			if not re.match(r"\s*\*([\s/*]|$)", line):
				yield f"a comment's line without ' * ': {line.strip()}"


def nothing_is_left_undone(path):
	for number, line in enumerate(lines_of(path), 1):
		if FORBIDDEN.search(line):
			yield f"{number}: {line.strip()}"


def nothing_unsafe_is_called(path):
	for number, line in enumerate(lines_of(path), 1):
		if UNSAFE.search(line) and not line.lstrip().startswith(("*", "/*")):
			yield f"{number}: {line.strip()}"


def own_header_comes_first(path):
	header = path.with_suffix(".h")
	if path.suffix != ".c" or not header.exists():
		return
	includes = re.findall(r'^#include ["<](.*)[">]', path.read_text(), re.MULTILINE)
	own = str(header.relative_to(ROOT / "src"))
	if includes and includes[0] != own:
		yield f"includes {includes[0]} before {own}"


def processors_are_in_arch(path):
	name = str(path.relative_to(ROOT))
	if name.startswith("src/arch/") or name in PROCESSOR_FILES:
		return
	code = re.sub(r"/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment.group()), path.read_text(), flags=re.DOTALL)
	for number, line in enumerate(code.splitlines(), 1):
		named = PROCESSOR.search(line)
		if named:
			yield f"{number}: {named.group()}: only src/arch/ knows processors (ARCHITECTURE.md lists the exceptions)"


def headers_have_guards(path):
	if path.suffix == ".h":
		guard = "SONDE_" + re.sub(r"\W", "_", str(path.relative_to(ROOT / "src"))).upper()
		if not path.read_text().startswith(f"#ifndef {guard}\n#define {guard}\n"):
			yield f"no guard {guard}"


def public_functions_are_documented(path):
	"""
	A declaration has a comment in its own paragraph or in the one before. Makers and enders speak
	for themselves where the header's opening comment says what the thing is.
	"""
	if path.suffix != ".h":
		return
	before, here, number = "", "", 0
	for paragraph in path.read_text().split("\n\n"):
		before, here = here, paragraph
		for line in paragraph.splitlines():
			number += 1
			if DECLARATION.match(line) and "/*" not in before + here and not PAIRED.search(line):
				yield f"{number}: {line.strip()}: no comment"
		number += 1


def each(check):
	"""A check of one file as one of many."""
	return lambda paths: ((path, problem) for path in paths for problem in check(path))


SOURCES = ["src", "tests", "examples", "include"]
# (what, check, folders)
RULES = [
	("files open with a comment", each(opens_with_comment), SOURCES),
	("files are short", each(size_is_readable), SOURCES),
	("functions are short", each(functions_are_short), SOURCES),
	("lines are short", each(lines_are_short), SOURCES),
	("comments are whole", each(comments_are_whole), SOURCES),
	("nothing is left undone", each(nothing_is_left_undone), SOURCES),
	("no unsafe function is called", each(nothing_unsafe_is_called), ["src"]),
	("a file's own header comes first", each(own_header_comes_first), ["src"]),
	("only src/arch/ names processors", each(processors_are_in_arch), ["src"]),
	("headers have guards", each(headers_have_guards), ["src"]),
	("public functions are documented", each(public_functions_are_documented), ["src"]),
]


def functions_of_tests_are_distinct():
	"""Of two functions of one name in a Python file, the first never runs."""
	for path in sorted((ROOT / "tests").rglob("*.py")):
		names = re.findall(r"^def (\w+)\(", path.read_text(), re.MULTILINE)
		for name in sorted({name for name in names if names.count(name) > 1}):
			yield path, f"{name} is defined twice"


def main():
	return tap.report([(what, [f"{path.relative_to(ROOT)}: {problem}" for path, problem in check(c_files(*folders))])
		for what, check, folders in RULES]
		+ [("no test hides another", [f"{path.relative_to(ROOT)}: {problem}" for path, problem in functions_of_tests_are_distinct()])])


if __name__ == "__main__":
	sys.exit(main())
