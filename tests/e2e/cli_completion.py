"""Completions: valid for their shells, and bash's does what it should."""

import shutil

import harness
from harness import check, run, sonde


def shell(name):
	if not shutil.which(name):
		raise harness.Skip(f"no {name}")
	return name


def test_bash_reads_it():
	check(run(shell("bash"), "-n", "-c", check(sonde("completion", "bash")).out))


def test_zsh_reads_it():
	check(run(shell("zsh"), "-n", "-c", check(sonde("completion", "zsh")).out))


def test_fish_reads_it():
	check(run(shell("fish"), "-n", "-c", check(sonde("completion", "fish")).out))


def complete(line, folder="/"):
	"""What bash offers for the last word of a line; the line's end is where the cursor stands."""
	words = []
	for word in line.split(" "):
		# bash splits at = as well.
		name, equals, value = word.partition("=")
		words += [name] + (["="] if equals else []) + ([value] if value else [])
	quoted = " ".join(f"'{w}'" for w in words)
	script = check(sonde("completion", "bash")).out + f"""
		cd '{folder}'
		COMP_WORDS=({quoted})
		COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
		_sonde
		printf '%s\\n' "${{COMPREPLY[@]}}"
	"""
	return check(run(shell("bash"), "--norc", "-c", script)).out.split()


def test_bash_completes_commands():
	assert complete("sonde rep") == ["report"]
	assert {"record", "report", "run", "help"} <= set(complete("sonde "))
	assert complete("sonde --v") == ["--version"]
	assert complete("sonde help rep") == ["report"]
	assert complete("sonde pu") == ["push"]
	assert complete("sonde fl") == ["fleet"]
	assert set(complete("sonde completion ")) == {"bash", "zsh", "fish"}


def test_bash_completes_options():
	assert "--collapse" in complete("sonde report --c")
	assert "--interval" in complete("sonde record --")
	assert "--collapse" not in complete("sonde record --")
	assert "--store" in complete("sonde diff --st")
	assert "--all-labels" in complete("sonde push --a")


def test_bash_completes_choices():
	assert complete("sonde report --collapse f") == ["full"]
	assert complete("sonde convert --to speed") == ["speedscope"]
	assert complete("sonde convert --to sv") == ["svg"]
	assert complete("sonde report --from callg") == ["callgrind"]
	assert complete("sonde fleet --format j") == ["json"]
	assert complete("sonde report --collapse=f") == ["full"]
	assert "none" in complete("sonde report --collapse=")
	assert complete("sonde report --collapse full --order f") == ["first"]


def test_bash_completes_files(folder):
	(folder / "some.prof").touch()
	assert complete("sonde report so", folder) == ["some.prof"]
	assert complete("sonde record -o so", folder) == ["some.prof"]
	assert complete("sonde record -o x prog so", folder) == ["some.prof"]
	assert complete("sonde record -- prog --output so", folder) == ["some.prof"]


def test_bash_completes_programs():
	assert "bash" in complete("sonde run bas")
	assert "bash" in complete("sonde record -F 100 bas")


harness.main()
