"""What is wrong with a command line is said in one line, with the nearest word and the right status."""

import re

import harness
from harness import check, sonde


def one_line(result, status):
	check(result, status)
	assert result.out == "", result
	assert re.fullmatch(r"sonde: [^\n]+\n", result.err), result
	return result.err


def test_unknown_command():
	assert "'reprot'; did you mean 'report'?" in one_line(sonde("reprot"), 2)
	assert "'recrod'; did you mean 'record'?" in one_line(sonde("recrod", "true"), 2)
	assert "did you mean" not in one_line(sonde("zzzzzz"), 2)
	assert "did you mean" not in one_line(sonde(""), 2)
	assert "did you mean 'report'" in one_line(sonde("help", "reprot"), 2)


def test_a_file_in_place_of_the_command(folder):
	program = folder / "program"
	program.write_text("#!/bin/sh\n")
	assert f"did you mean 'sonde report {program}'?" in one_line(sonde(program), 2)
	program.chmod(0o755)
	assert f"did you mean 'sonde run {program}'?" in one_line(sonde(program), 2)


def test_unknown_option():
	assert "--colapse'; did you mean '--collapse'?" in one_line(sonde("report", "--colapse", "full"), 2)
	assert "did you mean '--view'?" in one_line(sonde("report", "--veiw=tree"), 2)
	assert "see 'sonde help report'" in one_line(sonde("report", "--zzzzzzz"), 2)
	assert "'-Z'" in one_line(sonde("report", "-Z"), 2)
	one_line(sonde("--nonsense"), 2)


def test_habits_of_perf():
	for args, word in ((["-g"], "whole call stacks"), (["--call-graph", "dwarf"], "whole call stacks"), (["-i"], "sonde report --pid"),
		(["--stdio"], "leave it out"), (["--no-children"], "leave it out"), (["-qg"], "whole call stacks")):
		err = one_line(sonde("record", *args, "true"), 125)
		assert f"{'-g' if args == ['-qg'] else args[0]} is perf's option: sonde " in err and word in err, err
	for args, word in ((["-g"], "--view tree"), (["--call-graph=caller"], "--invert"), (["-i", "perf.data"], "sonde report FILE"),
		(["--stdio"], "leave it out"), (["--children"], "--sort inclusive"), (["--no-children"], "leave it out")):
		err = one_line(sonde("report", *args), 2)
		assert f"{args[0].partition('=')[0]} is perf's option: " in err and word in err, err
	for args, word in ((["record", "-D", "500"], "--delay"), (["record", "-C", "0"], "--level cpu"), (["record", "-m", "64"], "leave it out"),
		(["report", "-G"], "leave it out"), (["report", "--no-inline"], "--inline no"), (["report", "--comm=x"], "--thread NAME"),
		(["report", "-p", "x"], "--view callers"), (["annotate", "-i", "x"], "without an option")):
		err = one_line(sonde(*args), 125 if args[0] == "record" else 2)
		assert "is perf's option: " in err and word in err, err
	for args, word in ((["record", "--overwrite"], "--keep TIME"), (["record", "--switch-output"], "SIGUSR2"),
		(["record", "--off-cpu"], "--metric blocked-time"), (["report", "--dsos=x"], "--when \"'libc.so.6'\"")):
		err = one_line(sonde(*args), 125 if args[0] == "record" else 2)
		assert "is perf's option: " in err and word in err, err
	for column, level in (("dso", "module"), ("comm", "process"), ("pid", "process"), ("sym", "function"), ("srcline", "line")):
		err = one_line(sonde("report", "-", "--sort", column, input="a 1\n"), 2)
		assert f"'{column}' is not a column" in err and f"use --level {level};" in err, err
	assert "has no column 'dso'" in one_line(sonde("report", "-", "--format", "csv", "--columns", "dso", input="a 1\n"), 2)
	# What other commands lack is not perf's.
	assert "perf" not in one_line(sonde("convert", "--stdio"), 2)
	assert "perf" not in one_line(sonde("report", "-Z"), 2)


def test_commands_of_perf():
	for name, word in (("stat", "--metric all"), ("script", "--format folded"), ("list", "record -e list"),
		("sched", "blocked-time"), ("lock", "record --locks"), ("mem", "keep perf"), ("c2c", "keep perf"),
		("trace", "blocked-time"), ("inject", "all names")):
		err = one_line(sonde(name, "x"), 2)
		assert f"'{name}' is perf's command: " in err and word in err, err


def test_unknown_choice():
	err = one_line(sonde("report", "--collapse", "fulll"), 2)
	assert "'fulll'" in err and "none, direct, conservative, full" in err and "mean 'full'?" in err
	assert "did you mean" not in one_line(sonde("report", "--collapse=zzz"), 2)


def test_beginnings():
	whole = check(sonde("report", "-", "--view", "tree", "--collapse", "direct", input="a;a 1\n")).out
	assert check(sonde("report", "-", "--vi", "TREE", "--coll=Dir", input="a;a 1\n")).out == whole
	assert "ambiguous option '--co': it may be --collapse, --confidence, --col" in one_line(sonde("report", "--co"), 2)
	assert "ambiguous value 't': it may be tree, threads" in one_line(sonde("report", "--view", "t"), 2)
	assert "ambiguous column 'ex': it may be exclusive, exclusive_percent" in one_line(
		sonde("report", "-", "--sort", "ex", "--view", "functions", input="a 1\n"), 2)
	# Items of lists, and a word that text must follow.
	assert "expected source, asm, source,asm or none, not 'so,none'" in one_line(
		sonde("report", "-", "--format", "html", "--embed", "so,none", input="a 1\n"), 2)
	assert "DEBUGINFOD_URLS" not in sonde("report", "-", "--embed", "A,sour", "--format", "csv", input="a 1\n").err
	assert "expected text after 'label:'" in one_line(sonde("report", "-", "--roots", "label:", input="a 1\n"), 2)
	# What perf calls so is not taken for the beginning of something else.
	assert "perf's option" in one_line(sonde("record", "--count", "1", "true"), 125)


def test_values():
	assert "--view needs a value" in one_line(sonde("report", "--view"), 2)
	assert "takes no value" in one_line(sonde("report", "--help=yes"), 2)
	assert "-1" in one_line(sonde("report", "--limit=-1"), 2)


def test_commands_that_start_a_program_exit_with_125():
	for command in ["record", "run"]:
		one_line(sonde(command), 125)
		assert "did you mean '--" in one_line(sonde(command, "--intervall", "1ms", "true"), 125)
		one_line(sonde(command, "--interval", "1", "true"), 125)
		one_line(sonde(command, "-F", "0", "true"), 125)


def test_too_many_operands():
	one_line(sonde("report", "one.prof", "two.prof"), 2)
	one_line(sonde("help", "report", "record"), 2)
	one_line(sonde("completion"), 2)
	one_line(sonde("completion", "tcsh"), 2)


def test_names_are_never_shown_raw():
	hostile = "\x1b]0;owned\x07\u202e\x9b31m\rx"
	for args in [(hostile,), ("report", "--" + hostile), ("report", "--collapse", hostile),
			("report", hostile), ("help", hostile), ("completion", hostile), ("record", hostile),
			("report", "--limit", hostile), ("record", "--interval", hostile, "true")]:
		result = sonde(*args)
		assert result.status != 0
		shown = result.err_bytes.decode("utf-8")
		assert shown.startswith("sonde: ") and shown.endswith("\n")
		for c in "\x1b\x07\u202e\x9b\r":
			assert c not in shown, (args, shown)
		assert "\\x1b" in shown, (args, shown)


def test_bytes_that_are_not_text():
	result = sonde(b"\xff\xfe\x80")
	check(result, 2)
	result.err_bytes.decode("utf-8")


harness.main()
