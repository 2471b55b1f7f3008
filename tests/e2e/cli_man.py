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


def test_pages_are_laid_out_without_complaint():
	if not shutil.which("groff"):
		raise harness.Skip("no groff")
	for path in sorted((SOURCE_ROOT / "man").glob("*.[15]")):
		result = check(run("groff", "-man", "-Tutf8", "-ww", path))
		assert result.err == "", (path.name, result.err)


def test_pages_are_installed():
	listed = (SOURCE_ROOT / "man" / "meson.build").read_text()
	for path in (SOURCE_ROOT / "man").glob("*.[15]"):
		assert f"'{path.name}'" in listed, path.name


harness.main()
