"""The names that comments and pages mention exist; prints TAP.

A comment outlives the function, file or option that it names. Each such name is looked for in the tree: in its code
(strings are code, comments are not) and among its files. What counts as a name:

- a word with an underscore, and a word before `()`;
- a path, and a file's name with an extension of source code. A path begins at the root, at `src/`, at the file's own
  folder or at any folder below; a source file may lack its extension, and then stands for all with that stem;
- a word in backquotes, also with dots and arrows in it; a target, `make check`; and an option, `--sort`.

In a name, `NAME` and a lone `x` stand for any word; `_`, `*` and `…` at an end for any rest: `test_NAME.c`, `x_init`,
`report_*`. A page's own examples define names for that page, and included system headers for all files. Other projects'
names may stand in a sentence that says whose they are (OTHERS), and then in the rest of a page; a page's title and a
table's head say so for all below.
"""

import functools
import os
import pathlib
import re
import sys
import tempfile

import tap

ROOT = pathlib.Path(os.environ.get("SOURCE_ROOT", pathlib.Path(__file__).parents[2]))
FOLDERS = (".ci", "bench", "docs", "examples", "include", "man", "release", "src", "tests")
# What is generated, what other tools wrote, and what tells of the past.
LEFT_OUT = re.compile(r"(^|/)(docs/files\.md|docs/formats/corpus/|CHANGELOG\.md|tests/fuzz/seeds/|node_modules/|__pycache__/"
	r"|package-lock\.json)|\.png$")
# Whose names those may be that the tree lacks.
OTHERS = re.compile(r"(?<![\w-])(kernel|Linux|glibc|binutils|elfutils|DWARF|perf|gprof|gprofng|pprof|gperftools|tcmalloc|"
	r"[Pp]erfetto|uftrace|heaptrack|[Cc]allgrind|[Ff]irefox|speedscope|MAINPM|FlameGraph|flamegraph\.pl|OTLP|Prometheus|Grafana|"
	r"ClickHouse|debuginfod|CMake|Docker|GitLab|Node|Go|Doom|SDL|CPython|jansson|drgn|Sources?:|Elsewhere|github\.com)(?!\w)")

# HACKING.md quotes phrases that no page has.
NO_NAMES = re.compile(r"^## Words\n.*?(?=^## )", re.DOTALL | re.MULTILINE)

STRINGS = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
# What distinguishes code and comments: what a comment is, and a string, in which there are none.
C = re.compile(rf"(?P<comment>/\*.*?\*/|//[^\n]*)|{STRINGS}", re.DOTALL)
# What cgo compiles stands in a comment.
GO = re.compile(rf'(?P<comment>/\*(?:(?!\*/).)*\*/(?!\nimport "C")|//[^\n]*)|{STRINGS}|`[^`]*`', re.DOTALL)
CSS = re.compile(r"(?P<comment>/\*.*?\*/)", re.DOTALL)
PYTHON = re.compile(r'(?P<comment>^[ \t]*"""(?:\\.|[^\\])*?"""[ \t]*$|#[^\n]*)|"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|'
	+ STRINGS, re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"(?P<comment>(?:^|(?<=[ \t]))#[^\n]*)", re.MULTILINE)
# In pages code is the exception: what is fenced or indented.
PAGE = re.compile(r"^[ \t]*```.*?^[ \t]*```|^(?: {4}|\t)[^\n]*|(?P<comment>[^\n]+)", re.DOTALL | re.MULTILINE)
MAN = re.compile(r"^\.(?:nf|EX).*?^\.(?:fi|EE)|(?P<comment>[^\n]+)", re.DOTALL | re.MULTILINE)
KINDS = {
	**dict.fromkeys((".c", ".h", ".cc", ".cpp", ".rs", ".ts", ".tsx", ".js", ".mjs", ".cjs"), C), ".css": CSS,
	".go": GO,
	**dict.fromkeys((".sh", ".build", ".txt", ".install"), SHELL), ".py": PYTHON, ".md": PAGE,
	**dict.fromkeys((".1", ".5", ".7"), MAN),
}
SOURCES = tuple(KINDS) + (".golden",)

WORD = re.compile(r"[A-Za-z_]\w*")
EDGE = r"(?<![\w/.:<>~$%{}@=*…-])"
PATH = re.compile(rf"{EDGE}(?:\.\./)*[\w.+-]*\w(?:/[\w.+*…-]*[\w*…])+/?(?![\w/:({{$*])"
	rf"|{EDGE}[\w+-]+\.(?:c|h|py|ts|tsx|md|mjs|golden)\b(?![\w/({{$*-])")
NAME = re.compile(rf"{EDGE}(?:[A-Za-z]\w*_\w*|_\w+)[*…]?(?![\w/-]|\.\w|\(\d)|{EDGE}[A-Za-z_]\w*(?=\(\))")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+[a-z](?![\w-])")
QUOTED = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*)`")
TARGET = re.compile(r"`make ([a-z][\w-]*)")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|\n\s*\n|\n(?=\|)")


def files(root):
	"""Every file's path, and whether it is read."""
	for place in (root, *(root / folder for folder in FOLDERS)):
		for path in sorted(place.rglob("*") if place != root else place.glob("*")):
			if path.is_file():
				yield path, not LEFT_OUT.search(str(path.relative_to(root)))


def kind_of(path, text):
	if path.suffix in KINDS:
		return KINDS[path.suffix]
	if text.startswith("#!"):
		return PYTHON if "python" in text.partition("\n")[0] else SHELL
	return SHELL if path.name in ("Makefile", "rules") else None


class File:
	"""A file's code, and its prose: what people read, with comments' and lines' marks replaced by blanks."""

	def __init__(self, path, text):
		self.path = path
		kind = kind_of(path, text)
		self.is_page = kind in (PAGE, MAN)
		code, prose, at = [], [], 0
		for found in kind.finditer(text) if kind else ():
			if found["comment"] is not None:
				code.append(text[at:found.start()])
				prose.append((found.start(), found.group()))
				at = found.end()
		self.code = "".join(code) + text[at:]
		self.prose = list(self._paragraphs(text, prose))

	def _paragraphs(self, text, pieces):
		"""[(line, text)]: pieces that follow each other, with only blanks between them, belong together."""
		start, end, whole = 0, 0, ""
		for at, piece in pieces:
			between = text[end:at]
			if whole and not between.strip() and between.count("\n") <= 1 and not piece.startswith("/*"):
				whole += between + piece
			else:
				if whole:
					yield text.count("\n", 0, start) + 1, whole
				start, whole = at, piece
			end = at + len(piece)
		if whole:
			yield text.count("\n", 0, start) + 1, whole


def plain(path, text):
	"""Prose without its marks and quoted texts, on the same lines."""
	text = re.sub(r'(?<!\\)"[^"\n]*"', lambda quoted: " " * len(quoted[0]), text.replace('"""', "   "))
	if path.suffix in (".1", ".5", ".7"):
		return re.sub(r"\\f[A-Z]|\\&", " ", text).replace("\\-", "-")
	return re.sub(r"(?m)^[ \t]*(\*|//|#)(?=\s)", " ", text)


def included(code):
	"""The text of the system headers that the code includes, and of those that they include, if this machine has them."""
	wanted, seen, texts = re.findall(r"#\s*include\s*<([\w./+-]+)>", code), set(), []
	places = [pathlib.Path("/usr/include"), *pathlib.Path("/usr/include").glob("*-linux-gnu")]
	while wanted:
		name = wanted.pop()
		for place in places:
			if name not in seen and (place / name).is_file():
				seen.add(name)
				texts.append((place / name).read_text("utf-8", "replace"))
				wanted += re.findall(r"#\s*include\s*<([\w./+-]+)>", texts[-1])
	return "\n".join(texts)


class Tree:
	"""What exists."""

	def __init__(self, root):
		self.root = root
		self.files = []
		self.paths = set()
		for path, is_read in files(root):
			self.paths.add(str(path.relative_to(root)))
			if is_read:
				text = path.read_text("utf-8", "ignore")
				self.files.append(File(path, NO_NAMES.sub(lambda found: "\n" * found[0].count("\n"), text)))
		self.code = "\n".join(file.code for file in self.files if not file.is_page)
		self.words = set(WORD.findall(self.code))
		self.words.update(WORD.findall(included(self.code)))
		self.paths |= {str(parent) for path in list(self.paths) for parent in pathlib.PurePath(path).parents} - {"."}
		self.ends = set()
		for path in self.paths:
			parts = path.split("/")
			for i in range(len(parts)):
				end = "/".join(parts[i:])
				self.ends |= {end, end.rpartition(".")[0] or end}
		makefile = root / "Makefile"
		self.targets = set(re.findall(r"(?m)^([a-z][\w-]*):", makefile.read_text())) if makefile.exists() else set()
		self.options = set(re.findall(r"(?:--|\")([a-z][a-z-]*)", self.code))
		self.includes = set(re.findall(r"[<\"]([\w./+-]+)[>\"]", self.code))
		self.words.update(word for end in self.ends if "/" not in end for word in WORD.findall(end))
		# Comments leave out what a constant begins with.
		self.constants = {word[at.end():] for word in self.words if word.isupper() for at in re.finditer("_", word)}
		self.rooms = {path.name for path in (root / "src").iterdir() if path.is_dir()} - {"arch"}
		self.rooms |= {"bench", "examples", "man", "release", "tests"}

	def has_word(self, word):
		return word in self.words or word in self.constants or matches(word, self.words)

	def has_path(self, path):
		path = re.sub(r"(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])", "NAME", re.sub(r"^(\.\./)+", "", path.rstrip("/")))
		return path in self.ends or matches(path, self.ends) or path in self.includes

	def has_option(self, option):
		return option[2:] in self.options

	def is_ours(self, name):
		"""Whether it is a path below one of the tree's own folders, whoever the sentence speaks of."""
		folder, slash, _ = name.partition("/")
		return bool(slash) and folder in self.rooms


@functools.cache
def pattern_of(name):
	"""The pattern of a name that stands for many; None of one that does not."""
	pattern = re.sub("NAME|[*…]|(?<![A-Za-z])x(?![A-Za-z])", "\0", name)
	if pattern == name and not name.startswith("_") and not name.endswith("_"):
		return None
	pattern = "".join(r"[\w.-]*" if part == "\0" else re.escape(part) for part in re.split("(\0)", pattern))
	return re.compile((r"\w*" if name.startswith("_") else "") + pattern + (r"\w*" if name.endswith("_") else ""))


def matches(name, names):
	pattern = pattern_of(name)
	return pattern is not None and any(map(pattern.fullmatch, names))


def claims_in(tree, text):
	"""(where, name, whether it exists), for what a sentence names."""
	for found in PATH.finditer(text):
		if tree.is_ours(found[0]) or (found[0].endswith(SOURCES) and not found[0].split("/")[0].isupper()):
			yield found.start(), found[0], tree.has_path(found[0]) or f"/{found[0]}" in text
	for found in NAME.finditer(text):
		yield found.start(), found[0], tree.has_word(found[0])
	for found in OPTION.finditer(text):
		yield found.start(), found[0], tree.has_option(found[0])
	for found in TARGET.finditer(text):
		yield found.start(1), found[1], found[1] in tree.targets
	for found in QUOTED.finditer(text):
		yield found.start(1), found[1], all(map(tree.has_word, WORD.findall(found[1])))


def sentences(file):
	"""(line, sentence, whether it may name what is others')."""
	title = file.is_page and file.prose and OTHERS.search(file.prose[0][1].partition("\n")[0])
	for line, text in file.prose:
		text, at = plain(file.path, text), 0
		head = text.startswith("|") and OTHERS.search(text.partition("\n")[0])
		for sentence in SENTENCE.split(text):
			at = text.index(sentence, at)
			yield line + text.count("\n", 0, at), sentence, bool(title or head or OTHERS.search(sentence))


def problems_in(tree, file):
	known = set(WORD.findall(file.code)) if file.is_page else set()
	for line, sentence, is_theirs in sentences(file):
		missing = {where: name for where, name, exists in claims_in(tree, sentence) if not exists}
		for where, name in sorted(missing.items()):
			words = WORD.findall(name)
			if is_theirs and not tree.is_ours(name):
				known.update(words if file.is_page else ())
			elif not known.issuperset(words):
				yield f"{file.path.relative_to(tree.root)}:{line + sentence.count(chr(10), 0, where)}: {name}"


def problems_of(root):
	tree = Tree(root)
	return [problem for file in tree.files for problem in problems_in(tree, file)]


# A tree's files, and what is missing there.
SAMPLE = {
	"src/cli/cut.c": """/* Cuts with cut_with() of cli/cut.c and cli/saw.h, see saw.c. */
int cut_with(int knife_count); /* knife_count, knife_price; CUT_MAX: of enum cut_limit */
/* The kernel's do_saw saws.  But do_cut, cut_* and \"cut_text\" do not. */
const char *const cut_text = "--sharp /* knife_name */"; // saw_*
""",
	"src/cli/cut_NAME.h": "enum cut_limit { LONG_CUT_MAX };\n",
	"tests/cut.py": '"""As test_that and --blunt."""\nTHIS = "test_this" # test_this, test_other\n',
	"Makefile": "cut: ## cuts\n",
	"docs/cut.md": """`make cut` and `make saw` cut with `cut_text`, `cut_word` or `--sharp`; use
`--dull` and `src/cli/cut` as `tests/saw/cut`.

    own_name

So `own_name`.
""",
	"man/cut.1": ".B cut_with\nor \\fB\\-\\-sharp\\fR or \\fB\\-\\-round\\fR\n",
}
MISSING = {"docs/cut.md:1: cut_word", "docs/cut.md:1: saw", "docs/cut.md:2: --dull", "docs/cut.md:2: tests/saw/cut",
	"man/cut.1:2: --round", "src/cli/cut.c:1: cli/saw.h", "src/cli/cut.c:1: saw.c", "src/cli/cut.c:2: knife_price",
	"src/cli/cut.c:3: do_cut", "src/cli/cut.c:4: saw_*", "tests/cut.py:1: test_that", "tests/cut.py:1: --blunt",
	"tests/cut.py:2: test_other"}


def problems_of_sample():
	with tempfile.TemporaryDirectory() as folder:
		for name, text in SAMPLE.items():
			path = pathlib.Path(folder) / name
			path.parent.mkdir(parents=True, exist_ok=True)
			path.write_text(text)
		return sorted(set(problems_of(pathlib.Path(folder))) ^ MISSING)


def main():
	return tap.report([
		("names in comments and pages exist", problems_of(ROOT)),
		("a made-up name is found, others are not", problems_of_sample()),
	])


if __name__ == "__main__":
	sys.exit(main())
