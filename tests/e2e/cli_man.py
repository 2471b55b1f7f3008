"""Man pages: each command has one, it names every option that --help names and no other, and it is
laid out without complaint."""

import re
import shutil

import harness
from harness import SOURCE_ROOT, check, run, sonde

# Commands that sonde(1) itself describes.
IN_MAIN_PAGE = {"help", "completion", "formats"}


def commands():
	return re.findall(r"^  ([a-z]+)  +\S", check(sonde("help")).out, re.MULTILINE)


def page(name):
	path = SOURCE_ROOT / "man" / ("sonde.1" if name in IN_MAIN_PAGE else f"sonde-{name}.1")
	return re.sub(r"\\f.", "", path.read_text()).replace("\\-", "-")


def options_in_help(name):
	out = check(sonde("help", name)).out
	return set(re.findall(r"^  (?:-.(?:, )|    )(--[a-z-]+)", out, re.MULTILINE)) | \
		set(re.findall(r"^  (-[A-Za-z])\b", out, re.MULTILINE))


def options_in_page(name):
	"""Those that head a paragraph: .TP, then a line of -o, --output ..."""
	found = set()
	for heading in re.findall(r"^\.TP\n(-.*)", page(name), re.MULTILINE):
		found |= set(re.findall(r"(?<![\w-])(--[a-z-]+|-[A-Za-z])(?![a-z])", heading))
	return found


def test_every_command_has_a_page():
	for name in commands():
		assert f"sonde {name}" in page(name), name
		assert f"sonde-{name}" in page("help") or name in IN_MAIN_PAGE, name


def test_pages_name_the_options_of_help():
	for name in set(commands()) - IN_MAIN_PAGE:
		wanted, found = options_in_help(name), options_in_page(name)
		assert wanted == found, f"{name}: missing {wanted - found}, too many {found - wanted}"


def test_pages_name_the_choices_of_help():
	for name in set(commands()) - IN_MAIN_PAGE:
		for choices in re.findall(r"\(([a-z]+(?:,\s+[a-z]+)+)\)", check(sonde("help", name)).out):
			for choice in re.split(r",\s+", choices):
				assert re.search(rf"\b{choice}\b", page(name)), (name, choice)


def formats():
	"""{(name, section)} of `sonde formats`: read and written, read only, written only."""
	lines = check(sonde("formats")).out.partition("\n\n")[0].splitlines()
	at = {word: lines[0].index(word) for word in ("read", "write")}
	sections = {(True, True): "Read and written", (True, False): "Read only", (False, True): "Written only"}
	return {(line.split()[0], sections[tuple(line.startswith("yes", at[word]) for word in at)]) for line in lines[1:]}


def test_the_page_of_convert_has_all_formats():
	text = page("convert").partition(".SH OPTIONS")[0]
	found = {(name, section.partition("\n")[0]) for section in text.split("\n.SS ")[1:]
		for name in re.findall(r"^\.TP\n\.B (\S+)$", section, re.MULTILINE)}
	assert found == formats(), found ^ formats()


def test_the_table_of_docs_has_all_formats():
	text = (SOURCE_ROOT / "docs" / "formats" / "README.md").read_text()
	found = {(name, section.partition("\n")[0]) for section in text.split("\n## ")[1:]
		for name in re.findall(r"^\| `(\S+)` \|", section, re.MULTILINE)}
	assert found == formats(), found ^ formats()


def numbers_of(enum):
	"""Of an enum of the layout: number by name."""
	for header in (SOURCE_ROOT / "src" / "formats" / "sonde" / "layout").glob("*.h"):
		body = re.search(rf"enum {enum} {{(.*?)}};", header.read_text(), re.DOTALL)
		if body:
			code = re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL)
			return {name: int(number) for name, number in re.findall(r"(\w+) = (\d+)", code)}
	raise AssertionError(f"no enum {enum}")


def test_the_format_page_has_every_number():
	parts = re.split(r"^\.S[SH] (.*)\n", (SOURCE_ROOT / "man/sonde-capture.5").read_text(), flags=re.MULTILINE)
	sections = dict(zip(parts[1::2], parts[2::2]))
	for enum, section in {"capture_key": "FACTS", "capture_counter": "COUNTERS",
			"capture_object_kind": "OBJECTS", "capture_chunk_type": "Types"}.items():
		listed = {int(n) for n in re.findall(r"^(\d+)\t", sections[section], re.MULTILINE)}
		numbers = numbers_of(enum)
		assert numbers and listed == set(numbers.values()), (section, listed ^ set(numbers.values()))


def test_pages_are_laid_out_without_complaint():
	if not shutil.which("groff"):
		raise harness.Skip("no groff")
	for path in sorted((SOURCE_ROOT / "man").glob("*.[157]")):
		# With its tables, on a terminal of 80 columns.
		result = check(run("groff", "-t", "-man", "-Tutf8", "-ww", "-rLL=78n", path))
		assert result.err == "", (path.name, result.err)


def test_pages_are_installed():
	listed = (SOURCE_ROOT / "man" / "meson.build").read_text()
	for path in (SOURCE_ROOT / "man").glob("*.[15]"):
		assert f"'{path.name}'" in listed, path.name


harness.main()
