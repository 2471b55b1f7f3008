"""Other tools' files, and what those tools themselves make of them.

The files are not a part of the project: they lie where $SONDE_CORPUS says, or in a folder next to the
project's; without them all is skipped.  A file here, FORMAT.py, is about some folders of the
corpus, or some files of a folder.  It registers cases, and ends in corpus.main("FORMAT", patterns):

	import corpus

	@corpus.case("pprof/**/*.pb.gz", "pprof -raw")
	def raw(file):
		expected = corpus.expected(file, ".raw.txt")     what the other tool made: not an input
		stacks = corpus.folded(file)                     what sonde makes of it
		corpus.same("total", sum(stacks.values()), 123)
		return "14 samples, 9 functions"                 what is equal, for the table

	corpus.main("pprof", ["pprof"])

A case returns what was found equal, or raises: corpus.Reason("why"), where both differ, or there is
nothing to compare, and that is as it should be; any other exception (corpus.same raises one) fails.
Each file that the patterns name, or that lies in folders they name, must be in a case, as input or as expected output, or be named by
corpus.leave_out(pattern, why).

What came of each file is a table, docs/formats/corpus/FORMAT.md, which the test compares with what it
finds; `python3 tests/corpus/FORMAT.py --update` rewrites it.  It must say the same on every machine.
"""

import fnmatch
import json
import os
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import harness

FOLDER = pathlib.Path(os.environ.get("SONDE_CORPUS", harness.SOURCE_ROOT.parent / "shared" / "corpus"))
PAGES = harness.SOURCE_ROOT / "docs" / "formats" / "corpus"

cases = []        # (pattern, oracle, function)
left_out = []     # (pattern, why)
looked_at = set() # files that were an input or an expected output


class Reason(Exception):
	"""Nothing is compared, or something differs, and the text says why that is right."""


def case(pattern, oracle):
	"""Registers a function for the files whose path below the corpus matches; ** is any folders."""
	def register(function):
		cases.append((pattern, oracle, function))
		return function
	return register


def leave_out(pattern, why):
	left_out.append((pattern, why))


def matches(path, pattern):
	"""fnmatch, in which * stays in its folder and ** does not."""
	def match(parts, patterns):
		if not patterns:
			return not parts
		if patterns[0] == "**":
			return any(match(parts[i:], patterns[1:]) for i in range(len(parts) + 1))
		return bool(parts) and fnmatch.fnmatchcase(parts[0], patterns[0]) and match(parts[1:], patterns[1:])
	return match(path.split("/"), pattern.split("/"))


def name(file):
	return str(file.relative_to(FOLDER))


def use(file):
	"""Marks a file, or all in a folder, as looked at; returns it."""
	looked_at.update([name(file)] if not file.is_dir() else
		[name(f) for f in file.rglob("*") if f.is_file()])
	return file


def expected(file, suffix="", name=None):
	"""The bytes of what another tool made of file: the same name and suffix, or another name."""
	path = file.with_name(name) if name else file.with_name(file.name + suffix)
	return use(path).read_bytes()


def sonde(*arguments, **options):
	"""Runs sonde, which must succeed, and returns what it prints."""
	result = harness.sonde(*arguments, **options)
	assert result.status == 0, result
	return result.out


def folded(file, *options):
	"""{(names, root first): weight} of the file, by `sonde convert --to folded`."""
	stacks = {}
	for line in sonde("convert", str(file), "-o", "-", "--to", "folded", *options).splitlines():
		names, _, weight = line.rpartition(" ")
		key = tuple(names.split(";"))
		stacks[key] = stacks.get(key, 0) + int(weight)
	return stacks


def report(file, *options):
	"""`sonde report --format json` of the file."""
	return json.loads(sonde("report", str(file), "--format", "json", "--limit", "0", *options))


def same(what, found, wanted):
	if isinstance(found, dict) and isinstance(wanted, dict):
		found, wanted = ({k: v for k, v in of.items() if of_other.get(k) != v}
			for of, of_other in ((found, wanted), (wanted, found)))
	assert found == wanted, f"{what}: sonde has {found!r}, the other tool {wanted!r}"


def same_stacks(found, wanted):
	"""Both {stack: weight}."""
	only_found = {k: v for k, v in found.items() if wanted.get(k) != v}
	only_wanted = {k: v for k, v in wanted.items() if found.get(k) != v}
	assert not only_found and not only_wanted, (
		f"{len(only_found)} stacks of sonde's and {len(only_wanted)} of the other's differ, such as "
		f"{list(only_found.items())[:3]!r} and {list(only_wanted.items())[:3]!r}")


def judge(function, file):
	"""(whether it is as it should be, what to say)."""
	try:
		return True, function(file) or "equal"
	except Reason as reason:
		return True, f"not compared: {reason}"
	except harness.Skip as skip:
		return None, str(skip)
	except Exception as error:
		traceback.print_exc()
		return False, f"DIFFERS: {error}"


def table(title, rows):
	text = [f"# {title}: other tools' files, and what sonde makes of them", "",
		f"Made by `tests/corpus/{title}.py` (`make check` compares, `--update` rewrites).", "",
		"| file | compared with | result |", "|---|---|---|"]
	for row in sorted(set(rows)):
		text.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |")
	return "\n".join(text) + "\n"


def run_cases(files):
	"""Yields (good, title, file, oracle, result)."""
	for pattern, oracle, function in cases:
		found = [f for f in files if matches(name(f), pattern)]
		if not found:
			yield False, f"{function.__name__}: {pattern}", pattern, oracle, "no file is named so"
		for file in found:
			use(file)
			good, result = judge(function, file)
			yield good, f"{function.__name__}: {name(file)}", name(file), oracle, result


def left_over(files):
	"""The same for files that no case looked at."""
	for file in files:
		path = name(file)
		if path in looked_at:
			continue
		why = next((why for pattern, why in left_out if matches(path, pattern)), None)
		yield why is not None, f"in a case: {path}", path, "", why or "in no case"


def compare_page(title, text, update):
	page = PAGES / f"{title}.md"
	if update:
		page.parent.mkdir(parents=True, exist_ok=True)
		page.write_text(text)
	good = page.exists() and page.read_text() == text
	if not good:
		(harness.BUILD_ROOT / f"corpus_{title}.md").write_text(text)
		print(f"# {page.name} says something else; what was found is in the build folder, corpus_{title}.md")
	return good


def main(title, patterns):
	update = "--update" in sys.argv
	if not FOLDER.is_dir():
		print("1..0 # SKIP other tools' files are not on this machine (SONDE_CORPUS)")
		return
	files = sorted({f for pattern in patterns for top in FOLDER.glob(pattern)
		for f in (top.rglob("*") if top.is_dir() else [top]) if f.is_file()})
	if not files:
		print("1..0 # SKIP none of these files are on this machine (SONDE_CORPUS)")
		return
	rows, failed, skipped, number = [], False, False, 0
	for source in (run_cases(files), left_over(files)):
		for good, case_title, path, oracle, result in source:
			number += 1
			rows.append((path, oracle, result))
			failed |= good is False
			skipped |= good is None
			print(f"{'ok' if good is not False else 'not ok'} {number} - {case_title}"
				+ (f" # SKIP {result}" if good is None else ""))
			if good is False:
				print(f"#   {result}")
	number += 1
	if skipped:
		print(f"ok {number} - the page says so # SKIP some cases were skipped")
	else:
		good = compare_page(title, table(title, rows), update)
		failed |= not good
		print(f"{'ok' if good else 'not ok'} {number} - the page says so")
	print(f"1..{number}")
	sys.exit(1 if failed else 0)
