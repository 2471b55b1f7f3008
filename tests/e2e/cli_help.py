"""Help and version: whole, on standard output, the same however asked for."""

import re

import harness
from harness import check, sonde


def commands():
	"""The names of all commands, from the overview."""
	return re.findall(r"^  ([a-z]+)  +\S", check(sonde("help")).out, re.MULTILINE)


def test_alone_it_lists_the_commands():
	result = check(sonde())
	assert {"record", "report", "run", "help"} <= set(commands())
	assert "To begin: sonde run" in result.out and result.err == ""
	for spelling in ["--help", "-h", "help"]:
		assert check(sonde(spelling)).out == result.out


def test_it_says_its_version():
	version = re.search(r"version: '(.*)'", (harness.SOURCE_ROOT / "meson.build").read_text())
	for spelling in ["--version", "-V"]:
		assert check(sonde(spelling)).out == f"sonde {version.group(1)}\n"


def test_every_command_has_help():
	for name in commands():
		result = check(sonde(name, "--help"))
		assert re.match(rf"usage: sonde {name}( \S.*)?\n\n", result.out), result
		assert "--help" in result.out and result.err == ""
		assert check(sonde(name, "-h")).out == result.out
		assert check(sonde("help", name)).out == result.out


def topics():
	"""What help explains besides commands."""
	return re.findall(r"^  help ([a-z]+)  +\S", check(sonde("help")).out, re.MULTILINE)


def test_topics_print_what_sonde_prints():
	folder = harness.SOURCE_ROOT / "tests" / "golden" / "in"
	assert topics() == ["when", "zones"]
	for name in topics():
		text = check(sonde("help", name)).out
		# A command, which a backslash continues, and up to the next line that is not indented so.
		examples = re.findall(r"^    \$ ((?:.*\\\n)*.*)\n((?:    .*\n)*)", text, re.MULTILINE)
		# Without a program that has zones, those of zones are only looked at (below).
		assert examples or name == "zones"
		for command, expected in examples:
			command = command.replace("\\\n", "").replace("sonde ", harness.SONDE + " ", 1)
			done = harness.run("sh", "-c", command, cwd=folder)
			expected = [line[4:].rstrip() for line in expected.splitlines()]
			assert done.out.splitlines() == expected, (command, done.out, expected)


def test_topics_use_options_that_there_are():
	found = 0
	for name in topics():
		for line in check(sonde("help", name)).out.splitlines():
			command = re.match(r"    (?:\$ )?sonde ([a-z]+)(.*)", line)
			if not command:
				continue
			known = check(sonde("help", command.group(1))).out
			for option in re.findall(r"(--[a-z-]+)", command.group(2).split("    ")[0]):
				assert re.search(rf"{option}\b", known), line
				found += 1
	assert found > 5


def test_help_fits_80_columns():
	for name in [""] + commands() + topics():
		for line in check(sonde("help", *name.split())).out.splitlines():
			assert len(line) <= 80, line


def test_help_is_one_line_a_command_at_the_beginning():
	for line in check(sonde()).out.splitlines():
		if re.match(r"  [a-z]+  +", line):
			assert not line.endswith("."), line


def test_options_are_not_told_twice():
	for name in commands():
		options = re.findall(r"^  (?:-.,|   ) (--[a-z-]+)", check(sonde("help", name)).out, re.MULTILINE)
		letters = re.findall(r"^  (-.)\b", check(sonde("help", name)).out, re.MULTILINE)
		assert len(options) == len(set(options)), (name, options)
		assert len(letters) == len(set(letters)), (name, letters)


def test_options_stand_below_one_heading():
	for name in commands():
		headings = re.findall(r"^(?!usage:)(\S.*):$", check(sonde("help", name)).out, re.MULTILINE)
		assert len(headings) == len(set(headings)), (name, headings)


harness.main()
