"""Flame graphs: sonde report --format svg, sonde convert -o x.svg, in a real browser where there is one."""

import html
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import harness
from harness import Skip, check, sonde

SVG = "{http://www.w3.org/2000/svg}"
PROFILE = "main;eval;eval;hash 40\nmain;eval;hash 30\nmain;parse;lex 20\nmain;parse 10\n"


def boxes(text):
	"""[(title, start, width, depth)] of an SVG file, which must be well-formed."""
	tree = xml.fromstring(text)
	return [(g.find(f"{SVG}title").text, int(g.get("data-s")), int(g.get("data-w")), int(g.get("data-d")))
		for g in tree.iter(f"{SVG}g") if g.get("class") == "b"]


def rows(text):
	"""{title: y} of what is seen in an SVG file without scripts, folds included."""
	tree = xml.fromstring(text)
	return {g.find(f"{SVG}title").text: int(g.find(f"{SVG}rect").get("y")) for g in tree.iter(f"{SVG}g")
		if g.get("class") in ("b", "f") and "none" not in g.get("style", "")}


def colours(text):
	"""{name: colour} of boxes."""
	return dict(re.findall(r"<title>(\w+) [^\n]*?fill=\"#(\w+)\"", text))


def chromium(*arguments):
	program = shutil.which("chromium") or shutil.which("chromium-browser")
	if not program:
		raise Skip("no chromium")
	return subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", *map(str, arguments)],
		capture_output=True, timeout=120).stdout.decode("utf-8", "replace")


def found(path, pattern):
	"""What the search of the page in a browser says."""
	page = chromium("--dump-dom", f"{path.resolve().as_uri()}#s={pattern}")
	match = re.search(r'id="found"[^>]*>([^<]*)<', page)
	assert match, page[:2000]
	return match.group(1)


def test_boxes_are_the_tree():
	text = check(sonde("report", "-", "--format", "svg", input=PROFILE.encode())).out
	assert boxes(text) == [
		("all (100, 100.0%)", 0, 100, 0), ("main (100, 100.0%)", 0, 100, 1), ("eval (70, 70.0%)", 0, 70, 2),
		("eval (40, 40.0%)", 0, 40, 3), ("hash (40, 40.0%)", 0, 40, 4), ("hash (30, 30.0%)", 40, 30, 3),
		("parse (30, 30.0%)", 70, 30, 2), ("lex (20, 20.0%)", 70, 20, 3)], boxes(text)


def test_options_of_trees_apply():
	text = check(sonde("report", "-", "--format", "svg", "--collapse", "full", "--focus", "eval",
		input=PROFILE.encode())).out
	assert [b[0] for b in boxes(text)] == ["all (70, 100.0%)", "main (70, 100.0%)", "eval (70, 100.0%)",
		"hash (70, 100.0%)"], boxes(text)
	inverted = check(sonde("report", "-", "--format", "svg", "--invert", input=PROFILE.encode())).out
	assert boxes(inverted)[1][0] == "hash (70, 70.0%)", boxes(inverted)
	refused = sonde("report", "-", "--format", "svg", "--view", "functions", input=PROFILE.encode())
	assert refused.status == 2 and "no view but tree" in refused.err, refused


def test_convert_makes_the_same(folder):
	(folder / "in.folded").write_text(PROFILE)
	check(sonde("report", "in.folded", "--format", "svg", "-o", "a.svg", cwd=folder))
	check(sonde("convert", "in.folded", "-o", "b.svg", cwd=folder))
	check(sonde("convert", "in.folded", "-o", "c.svg.gz", cwd=folder))
	assert (folder / "a.svg").read_bytes() == (folder / "b.svg").read_bytes()
	assert subprocess.run(["gzip", "-dc", folder / "c.svg.gz"], capture_output=True).stdout \
		== (folder / "a.svg").read_bytes()
	assert "svg" in check(sonde("formats")).out


def test_difference_is_as_wide_as_the_new(folder):
	(folder / "old.folded").write_text("main;a 10\nmain;b 30\nmain;gone 5\n")
	(folder / "new.folded").write_text("main;a 40\nmain;b 20\n")
	text = check(sonde("diff", "old.folded", "new.folded", "--format", "svg", cwd=folder)).out
	assert {b[0] for b in boxes(text)} == {"all (now 60, change 15, 100.0%)", "main (now 60, change 15, 100.0%)",
		"a (now 40, change 30, 66.7%)", "b (now 20, change -10, 33.3%)"}, boxes(text)
	more, less = colours(text)["a"], colours(text)["b"]
	assert int(more[:2], 16) > int(more[4:], 16) and int(less[:2], 16) < int(less[4:], 16), (more, less)


@harness.takes_long
def test_hostile_names_stay_text(folder):
	names = ['<script>alert(1)</script>', 'a&b"c\'d', 'e\x1b[31mred', 'bidi\u202etxt', 'nonchar\uffff',
		']]>', 'tab\there', 'x (1, 2%)', '\U0001f525fire', "operator[] (deleted)"]
	raw = b"".join(b"main;" + name.encode() + b" 10\n" for name in names) + b"main;bad\xff\xfe 10\n"
	(folder / "in.folded").write_bytes(raw)
	check(sonde("convert", "in.folded", "-o", "x.svg", cwd=folder))
	text = (folder / "x.svg").read_text("utf-8")
	assert len(boxes(text)) == len(names) + 3
	assert text.count("<script>") == 1 and "\x1b" not in text and "\u202e" not in text and "\uffff" not in text
	if shutil.which("xmllint"):
		subprocess.run(["xmllint", "--noout", folder / "x.svg"], check=True)
	# What the script takes for names are the names.
	assert found(folder / "x.svg", "^x%20%5C(1%2C%202%25%5C)%24").startswith("1 found, 9.1%")
	assert found(folder / "x.svg", "fire%24").startswith("1 found")


@harness.takes_long
def test_search_counts_nothing_twice(folder):
	(folder / "in.folded").write_text(PROFILE)
	check(sonde("convert", "in.folded", "-o", "x.svg", cwd=folder))
	# As much as the inclusive time of the function is: eval calls itself.
	assert found(folder / "x.svg", "eval") == "2 found, 70.0% (Esc: clear)"
	assert found(folder / "x.svg", "hash%7Clex") == "3 found, 90.0% (Esc: clear)"
	assert found(folder / "x.svg", "nobody").startswith("0 found, 0.0%")
	assert found(folder / "x.svg", "(") == "Search"


def test_notes_and_narrow_boxes_are_told():
	many = "".join(f"main;f{i} 1\n" for i in range(30000)) + "main;wide 100000\nmalformed line\n"
	text = check(sonde("report", "-", "--format", "svg", input=many.encode())).out
	said = html.unescape(re.sub("<[^>]*>", "\n", text))
	assert "30,000 boxes are too narrow to be drawn" in said, said[-2000:]
	assert "skipped: line 30002" in said, said[-2000:]
	assert len(text) < 100000


def test_the_root_is_on_top():
	seen = rows(check(sonde("report", "-", "--format", "svg", input=PROFILE.encode())).out)
	assert list(seen.values()) == [seen["all (100, 100.0%)"] + 17 * depth for depth in (0, 1, 2, 3, 4, 3, 2, 3)], seen


def test_load_objects_have_colours_of_their_own():
	def painted(lines):
		return colours(check(sonde("report", "-", "--format", "svg", input="\n".join(lines).encode())).out)
	objects = [f"lib{i}.so" for i in range(9)]
	some = painted([f"main;{o}`f{i} 10" for i, o in enumerate(objects)] + ["main;[kernel]`g 10"])
	assert len(set(some.values())) == len(some), some
	# A picture of fewer load objects has them in the same colours, if no heavier one takes them.
	alone = painted(["main;lib0.so`f0 10", "main;[kernel]`g 10"])
	again = painted(["other;lib0.so`f0 10", "x;[kernel]`g 10", "main;lib0.so`f0 30"])
	assert alone["f0"] == again["f0"] and alone["g"] == again["g"] == some["g"], (alone, again)


@harness.takes_long
def test_towers_take_one_row(folder):
	"""A run of 300 frames that only call the next is one row, and boxes too narrow to see take none."""
	run = ";".join(f"step{i}" for i in range(300))
	text = f"main;{run};end 9000\nmain;other 1000\nmain;" + ";".join(["thin"] * 400) + " 1\n"
	(folder / "in.folded").write_text(text)
	check(sonde("convert", "in.folded", "-o", "x.svg", cwd=folder))
	drawn = (folder / "x.svg").read_text()
	seen = rows(drawn)
	fold = next(title for title in seen if "frames that only call the next" in title)
	assert fold.startswith("··· 299 frames") and len(seen) == 6, seen
	assert len(boxes(drawn)) == 1 + 1 + 300 + 1 + 1 + 400
	assert sorted(set(seen.values())) == [seen["all (10,001, 100.0%)"] + 17 * row for row in range(5)], seen
	assert int(re.search(r'height="(\d+)" viewBox', drawn).group(1)) < 300
	# What is found in a fold opens it.
	page = chromium("--dump-dom", f"{(folder / 'x.svg').resolve().as_uri()}#s=step200")
	assert "1 found, 90.0%" in page, page[:1000]
	shown = re.findall(r'<g class="(\w)"[^>]*style="([^"]*)"[^>]*><title>([^<]*)', page)
	assert not any("none" in style for _, style, title in shown if title.startswith("step")), shown[:9]
	assert all("none" in style for kind, style, _ in shown if kind == "f"), shown[:9]


def test_a_deep_recursion_is_drawn():
	deep = "main;" + "r;" * 5000 + "leaf 10\n"
	text = check(sonde("report", "-", "--format", "svg", input=deep.encode())).out
	assert len(boxes(text)) == 5003 and "--collapse full" in text
	assert len(boxes(check(sonde("report", "-", "--format", "svg", "--collapse", "full",
		input=deep.encode())).out)) == 4


harness.main()
