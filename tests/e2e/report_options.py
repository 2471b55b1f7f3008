"""sonde report's options: what is refused, and what is suggested instead."""

import json

import harness
from harness import check, sonde

FOLDED = "libc`start;a.out`main;a.out`f;a.out`f;a.out`g 7\nlibc`start;a.out`main;a.out`h 3\n"


def refuses(args, *words):
	"""Status 2, one line that has these words, nothing on standard output."""
	result = check(sonde("report", *args, "-", input=FOLDED), 2)
	assert result.err.startswith("sonde: ") and result.err.count("\n") == 1, result
	assert result.out == "", result
	for word in words:
		assert word in result.err, (word, result)


def report(*args):
	return check(sonde("report", *args, "-", input=FOLDED)).out


def document(*args):
	return json.loads(report("--format", "json", *args))


def test_unknown_names_are_answered_with_the_nearest():
	refuses(["--veiw", "tree"], "--veiw", "'--view'")
	refuses(["--view", "trea"], "'tree'")
	refuses(["--view", "fucntions"], "'functions'")
	refuses(["--level", "modlue"], "'module'")
	refuses(["--collapse", "conservatve"], "'conservative'")
	refuses(["--sort", "inclusve"], "'inclusive'")
	refuses(["--metric", "smaples"], "'samples'")
	refuses(["--format", "jsn"], "'json'")
	refuses(["--columns", "exclusive,modle"], "'module'")


def test_values_are_checked():
	refuses(["--limit", "many"], "--limit", "many")
	refuses(["--limit", "-3"], "--limit")
	refuses(["--width", "wide"], "--width")


def test_options_that_contradict_each_other():
	refuses(["--view", "functions", "--collapse", "full"], "--collapse")
	refuses(["--view", "functions", "--order", "first"], "--order")
	refuses(["--view", "functions", "--percent", "parent"], "--percent")
	refuses(["--view", "tree", "--sort", "exclusive"], "--sort", "--order")
	refuses(["--view", "stats", "--sort", "lost"], "--sort")
	refuses(["--view", "modules", "--level", "function"], "--level")
	refuses(["--view", "stats", "--level", "module"], "--level")
	refuses(["--view", "functions", "--format", "folded"], "folded", "tree")
	refuses(["--view", "functions", "--view", "tree", "--format", "json"], "json")
	refuses(["--format", "folded", "--columns", "name"], "--columns")
	refuses(["--modules"], "--modules")


def test_more_than_one_file(folder):
	result = check(sonde("report", "a", "b"), 2)
	assert "'b'" in result.err


def test_options_of_the_tree_choose_it():
	assert document("--collapse", "none")["view"] == "tree"
	assert document("--order", "first")["view"] == "tree"
	assert document()["view"] == "functions"


def test_full_is_the_tree_s_default_in_text_and_json():
	assert document("--view", "tree") == document("--view", "tree", "--collapse", "full")
	assert "collapsed in full" in report("--view", "tree")


def test_folded_text_comes_out_as_it_went_in():
	plain = report("--format", "folded", "--modules")
	assert sorted(plain.splitlines()) == sorted(FOLDED.splitlines())
	assert "g 7" in report("--format", "folded", "--collapse", "full")


def test_modules_is_functions_at_the_level_module():
	modules = document("--view", "modules")
	functions = document("--view", "functions", "--level", "module")
	assert modules["rows"] == functions["rows"]
	assert modules["level"] == functions["level"] == "module"


def test_limit():
	assert len(document("--limit", "2")["rows"]) == 2
	assert len(document("--limit", "0")["rows"]) == 5
	tree = document("--view", "tree", "--collapse", "none", "--limit", "3")["rows"]
	assert [row["name"] for row in tree] == ["start", "main", "f"]
	assert "2 more rows" in report("--limit", "3")


def test_limit_keeps_the_targets_of_stubs():
	for limit in range(1, 7):
		rows = document("--view", "tree", "--limit", str(limit))["rows"]
		assert len(rows) <= limit
		for place, row in enumerate(rows):
			if row["kind"] == "stub":
				assert rows[row["target"]]["name"] == row["name"] and row["target"] < place


def test_sort():
	names = [row["name"] for row in document("--sort", "name")["rows"]]
	assert names == sorted(names)
	inclusive = [row["inclusive"] for row in document("--sort", "inclusive")["rows"]]
	assert inclusive == sorted(inclusive, reverse=True)


harness.main()
