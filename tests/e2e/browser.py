"""`sonde report FILE` on a terminal, which is a tmux pane: keys and mouse in, the screen out.

What figures must be is what `sonde report --format json` has for the same question. docs/browser.md
shows screens; SONDE_UPDATE=1 writes them anew.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import time

import harness
from harness import SONDE, SOURCE_ROOT
from terminal import Terminal, click, place

INPUTS = SOURCE_ROOT / "tests/golden/in"
READY = "q quit"
SIZES = [(80, 24), (120, 40), (200, 60)]


@contextlib.contextmanager
def browser(folder, name, *arguments, ready=READY, **more):
	path = name if str(name).startswith("/") else INPUTS / name
	terminal = Terminal(folder, "report", path, *arguments, **more)
	try:
		terminal.until(ready)
		yield terminal
	finally:
		terminal.tmux("kill-server")


def answer(name, *arguments):
	path = name if str(name).startswith("/") else INPUTS / name
	return json.loads(harness.check(harness.sonde("report", path, "--format", "json", *arguments)).out)


def flat(screen):
	return re.sub(" +", " ", screen)


def cursor_line(terminal):
	"""The text of the last line in reverse video: without colours, headings are in it too."""
	found = ""
	for line in terminal.screen("-e").splitlines():
		if re.search(r"\033\[([0-9;]*;)?7m", line):
			found = re.sub(r"\033\[[0-9;]*m|[\x0e\x0f]", "", line)
	return found


def lines_below(screen, heading):
	"""The rows below the line with that heading, up to the first that is blank."""
	lines = screen.splitlines()
	at = next(i for i, line in enumerate(lines) if heading in line)
	rows = []
	for line in lines[at + 1:]:
		row = re.sub(r"[█│]$", "", line[3:]).strip()
		if not row or line.startswith("selected:"):
			break
		rows.append(row)
	return rows


# ---- figures ----

def share(weight, total):
	"""As text rounds: to the nearest tenth, a half upwards."""
	tenths = (2000 * weight + total) // (2 * total)
	return "0" if weight == 0 else "<0.1%" if tenths == 0 else f"{tenths // 10}.{tenths % 10}%"


def check_functions(terminal, name, *arguments):
	"""The rows on the screen are the first of JSON's, with their figures."""
	data = answer(name, *arguments)
	rows = lines_below(terminal.screen(), "%  ")
	assert rows, terminal.screen()
	for shown, row in zip(rows, data["rows"]):
		words = shown.split()
		shares = [share(row[key], data["total"]) for key in ("exclusive", "inclusive") if row[key]]
		assert re.findall(r"(?<= )(?:\d+\.\d|<0\.1)%", shown)[:len(shares)] == shares, (shown, row)
		assert row["name"] in shown or "…" in shown, (shown, row)
		if data["metric"]["unit"] == "count":
			assert words[0] == f"{row['exclusive']:,}" and words[2] == f"{row['inclusive']:,}", (shown, row)
	return len(rows)


def test_functions_have_the_figures_of_json(folder):
	for name in ("calc.folded", "recursion.folded", "array.folded"):
		for width, height in SIZES:
			with browser(folder, name, width=width, height=height) as t:
				assert check_functions(t, name) == len(answer(name)["rows"])
				t.type("q")
				t.is_clean()


def test_tree_has_the_figures_of_json(folder):
	for degree, presses in (("full", 0), ("none", 1), ("direct", 2), ("conservative", 3)):
		with browser(folder, "recursion.folded", width=120, height=40) as t:
			t.type("2", *["c"] * presses, "Home", "*")
			t.until("Call tree", "main")
			data = answer("recursion.folded", "--view", "tree", "--collapse", degree)
			rows = lines_below(t.screen(), "in or under")
			assert len(rows) == len(data["rows"]), (rows, data["rows"])
			for shown, row in zip(rows, data["rows"]):
				if row["kind"] == "stub":
					assert row["name"] + "..." in shown and "%" not in shown, (shown, row)
					continue
				figures = [share(row["direct"], data["total"])]
				if row["indirect"]:
					figures.append(f"({share(row['indirect'], data['total'])})")
				figures.append(share(row["in_only"], data["total"]))
				assert shown.lstrip("+- ").split()[:len(figures)] == figures, (shown, row)


def test_processes_and_threads_at_the_roots(folder):
	"""Each more press of the key, and round again: the tree is that of --roots."""
	total = answer("threads.dump")["total"]
	with browser(folder, "threads.dump", width=120, height=40) as t:
		t.type("2")
		for roots, said in (("process", "processes are the roots"), ("thread", "and their threads are the roots"),
			("none", "the first functions are the roots")):
			t.type("P")
			t.until(said)
			t.type("Home", "_", "*")
			nodes = [row for row in answer("threads.dump", "--view", "tree", "--roots", roots)["rows"] if row["kind"] == "node"]
			assert len([row for row in nodes if row["level"] == 1]) > 1, nodes
			# Those below the first root, which is open, and the other roots.
			inner = next(i for i, row in enumerate(nodes) if i and row["level"] == 1)
			rows = lines_below(t.until(nodes[0]["name"]), "in or under")
			for row in nodes[:inner] + [row for row in nodes if row["level"] == 1]:
				figures = share(row["direct"], total)
				assert any(row["name"] in line and (row["direct"] == 0 or figures in line) for line in rows), (row, rows)


def test_callers_are_exact(folder):
	with browser(folder, "calc.folded", width=120) as t:
		t.type("/")
		t.until("search:")
		t.text("factor")
		t.type("Enter", "4")
		row, = answer("calc.folded", "--center", "factor")["rows"]
		screen = flat(t.until("Callers and callees of factor"))
		sums = [f"callers {sum(c['attributed'] for c in row['callers'])} = inclusive {row['inclusive']}",
			f"exclusive {row['exclusive']} + callees {sum(c['attributed'] for c in row['callees'])}"]
		assert all(s in screen for s in sums), (sums, screen)
		for line in row["callers"] + row["callees"]:
			assert re.search(rf"{line['attributed']} .*{line['name']}", screen), (line, screen)


def test_flame_widths_add_up(folder):
	"""Boxes are as wide as what was spent in them, under any degree of collapse."""
	with browser(folder, "calc.folded", width=101) as t:
		for degree in ("full", "none", "direct", "conservative"):
			t.type("1")
			screen = t.until("Flame graph", {"full": "in full", "none": "not collapsed", "direct": "direct calls",
				"conservative": "conservatively"}[degree])
			rows = answer("calc.folded", "--view", "tree", "--collapse", degree)["rows"]
			widths = {}
			for number in reversed(range(len(rows))):
				row = rows[number]
				below = next((i for i in range(number + 1, len(rows)) if rows[i]["level"] <= row["level"]), len(rows))
				widths[number] = sum(r["in_only"] or 0 for r in rows[number:below])
			# 100 columns for 100 samples: each is a column.
			for level in range(1, 7):
				line = screen.splitlines()[4 + level]
				shown = sorted(end - begin for begin, end in
					(m.span() for m in re.finditer(r"\[[^\]]*\]|\|", line[:100])))
				wanted = sorted(widths[i] for i, row in enumerate(rows)
					if row["level"] == level and row["kind"] == "node" and widths[i])
				assert shown == wanted, (degree, level, shown, wanted, screen)
			t.type("c")


def test_graph_and_stats_show_the_reports(folder):
	with browser(folder, "calc.folded", width=120, height=60) as t:
		for key, view in (("5", "graph"), ("9", "stats")):
			t.type(key, "Home")
			t.until({"graph": "Call graph, exact", "stats": "distinct stacks"}[view])
			text = harness.check(harness.sonde("report", INPUTS / "calc.folded", "--view", view, "--brief", "--budget", 0,
				"--width", 116, env={**os.environ, "LC_ALL": "C.UTF-8"})).out
			screen = t.screen()
			shown = [line[3:].rstrip("█│ ") for line in screen.splitlines()[3:]]
			wanted = [line.rstrip() for line in text.splitlines()[3:40] if line.strip()]
			for line in wanted[:30]:
				assert line in shown, (line, screen)


# ---- one selection ----

def test_one_selection_in_all_views(folder):
	with browser(folder, "calc.folded") as t:
		t.type("Down", "Down")
		name = answer("calc.folded")["rows"][2]["name"]
		t.until(f"selected: {name} ")
		for key in "1245":
			t.type(key)
			t.until(f"selected: {name} ", {"1": "Flame graph", "2": "Call tree", "4": f"callees of {name}",
				"5": "Call graph"}[key])
			assert name in cursor_line(t), t.screen()
		t.type("3")
		t.until("Functions by", f"selected: {name} ")
		assert name in cursor_line(t), t.screen()


def test_callers_go_on_and_back(folder):
	with browser(folder, "calc.folded") as t:
		t.type("Enter")
		t.until("Callers and callees of pow")
		t.type("Up", "Enter")
		t.until("Callers and callees of apply", "selected: apply")
		t.type("BSpace")
		t.until("Callers and callees of pow", "selected: pow")


def test_tree_opens_and_closes(folder):
	with browser(folder, "calc.folded") as t:
		t.type("2", "Home", "_")
		screen = t.until("+ 100.0% 1.0% 1 main")
		assert "eval" not in screen, screen
		t.type("Right")
		t.until("eval", "parse", "print", gone=["apply"])
		t.type("Down", "Space")
		t.until("apply", "eval...")
		# A stub leads to the row that goes on.
		t.type("/")
		t.until("search:")
		t.text("apply")
		t.type("Enter", "_", "Down", "Enter")
		t.until("the recursion goes on here")
		assert " eval" in cursor_line(t), t.screen()
		t.type("Left")
		t.until("+ 52.0%", gone=["apply"])
		t.type("I")
		t.until("Call tree inverted")


def test_flame_zooms(folder):
	with browser(folder, "calc.folded") as t:
		t.type("1", "Home", "Down", "Down", "Right")
		t.until("selected: parse", "44, 44.0%")
		t.type("Enter")
		screen = t.until("zoomed to parse")
		assert re.search(r"\[parse {70,}\]", screen) and "eval" not in screen, screen
		t.type("Down", "Down", "Down", "r")
		t.until("the recursion goes on here", "selected: expr")
		t.type("BSpace")
		t.until("Flame graph", "[eval ", gone=["zoomed to parse"])
		t.type("Escape")
		t.until("[eval ", gone=["zoomed"])


# ---- filters ----

def test_filters_are_a_stack(folder):
	with browser(folder, "calc.folded", width=120) as t:
		t.type("f")
		t.until("focus: ^pow$")
		t.text("parse")
		t.until("focus: parse", "Tab: parse")
		t.type("Enter")
		t.until("[focus parse 44.0%]")
		check_functions(t, "calc.folded", "--focus", "parse")
		t.type("i")
		t.text("malloc")
		t.type("Enter")
		t.until("[focus parse 44.0%] [ignore malloc 27.0%]")
		check_functions(t, "calc.folded", "--focus", "parse", "--ignore", "malloc")
		t.type("h")
		t.text("^term$")
		t.type("Enter")
		t.until("[hide ^term$ 27.0%]", gone=["calc term"])
		check_functions(t, "calc.folded", "--focus", "parse", "--ignore", "malloc", "--hide", "^term$")
		t.type("u")
		t.until("[ignore malloc 27.0%]", gone=["hide ^term"])
		t.type("u")
		t.until("[focus parse 44.0%]", gone=["ignore malloc"])
		check_functions(t, "calc.folded", "--focus", "parse")
		t.type("C-r")
		t.until("[ignore malloc 27.0%]")
		t.type("U")
		t.until("[hide ^term$ 27.0%]")
		t.type("U")
		t.until("nothing was undone")
		t.type("x")
		t.until("[ignore malloc 27.0%]", gone=["[hide"])
		t.type("X")
		t.until("no filters:")
		t.type("u")
		t.until("[focus parse 44.0%] [ignore malloc 27.0%]")


def test_when_completes_names_and_shows_what_is_wrong(folder):
	with browser(folder, "calc.folded", width=120) as t:
		t.type("w")
		t.text(".ev")
		t.until("Tab: eval")
		t.type("Tab")
		t.until("when: .eval")
		t.text("->")
		t.until("when: .eval->")
		trouble = t.screen().splitlines()[-2]
		wanted = harness.sonde("report", INPUTS / "calc.folded", "--when", ".eval->").err
		assert trouble.strip()[:40] in wanted, (trouble, wanted)
		t.type("Enter")
		t.until("when: .eval->")
		t.text("*")
		t.type("Enter")
		t.until("[when .eval->* 52.0%]")
		check_functions(t, "calc.folded", "--when", ".eval->*")
		t.type("w")
		t.text(".'lib")
		t.until("Tab: libc.so.6 libm.so.6")
		t.type("Tab", "Tab", "Escape")
		t.until("[when .eval->* 52.0%]", gone=["when: "])


def test_refused_filters_stay_in_the_prompt(folder):
	with browser(folder, "calc.folded") as t:
		t.type("T")
		t.text("1s")
		t.until("invalid range '1s': expected FROM:TO")
		t.text(":2s")
		t.until("time: 1s:2s", gone=["invalid range"])
		t.type("Enter")
		t.until("time: 1s:2s", "time")
		assert "no filters" in t.screen(), t.screen()
		t.type("Escape", "f")
		t.text("(")
		t.until("invalid regular expression '('")
		t.type("Escape")
		t.until(READY, "no filters")


def test_threads_and_their_filter(folder):
	rows = answer("threads.dump", "--view", "threads")["rows"]
	with browser(folder, "threads.dump", width=120) as t:
		t.type("7")
		t.until("Threads by exclusive", rows[0]["name"])
		t.type("Enter")
		t.until("thread: ")
		t.type("Enter")
		t.until("[thread ")
		assert len(lines_below(t.screen(), "%  ")) == 1, t.screen()
		t.type("u")
		t.until(*(row["name"] for row in rows[:3]))


def test_begins_with_filters_of_the_command_line(folder):
	with browser(folder, "calc.folded", "--focus", "parse", "--ignore", "malloc") as t:
		t.until("[focus parse 44.0%] [ignore malloc 27.0%]")
		check_functions(t, "calc.folded", "--focus", "parse", "--ignore", "malloc")


# ---- everything else that keys do ----

def test_sorts_levels_and_metrics(folder):
	with browser(folder, "calc.folded") as t:
		t.type(">")
		t.until("Functions by inclusive")
		assert lines_below(t.screen(), "%  ")[0].endswith("main"), t.screen()
		t.type(">")
		t.until("Functions by name")
		names = [line.split()[-1] for line in lines_below(t.screen(), "%  ")]
		assert names == sorted(names), names
		t.type("<", "<", "l")
		t.until("Modules by exclusive", "libm.so.6")
		t.type("l", "l", "l")
		t.until("Functions by exclusive")
	with browser(folder, "two-metrics.otlp.json") as t:
		metrics = answer("two-metrics.otlp.json", "--metric", "all")["metrics"]
		shown = answer("two-metrics.otlp.json")["metric"]["name"]
		other = next(m["name"] for m in metrics if m["name"] != shown)
		t.until(f"by exclusive {shown}")
		t.type("m")
		t.until(f"by exclusive {other}")
		t.type("M")
		t.until(f"by exclusive {shown}")


def test_searches(folder):
	for view in "1235":
		with browser(folder, "calc.folded") as t:
			t.type(view, "/")
			t.until("search:")
			t.text("FACT")
			t.type("Enter")
			t.until("selected: factor")
			t.type("n", "N")
			t.until("selected: factor")
			t.type("Escape", "/")
			t.text("nosuchname")
			t.until("not found")
			t.type("Escape")
			t.until(READY)


def test_help_names_all_keys(folder):
	with browser(folder, "calc.folded", height=40) as t:
		t.type("?")
		t.until("Keys", "undo, redo", "quit")
		t.type("Escape")
		t.until(READY, gone=["undo, redo"])
		t.type("F1")
		t.until("undo, redo")
		t.type("q")
		t.until(READY, gone=["undo, redo"])
	with browser(folder, "calc.folded") as t:
		t.type("?", "End")
		t.until("Figures are those of")


def test_views_that_a_profile_lacks_say_why(folder):
	with browser(folder, "calc.folded") as t:
		t.type("8")
		t.until("zones")
		t.until("no zones")
		t.type("7")
		t.until("thread")
		t.type("Tab", "Tab")
		t.until("Statistics")
	with browser(folder, "zones.dump") as t:
		t.type("8")
		t.until("Zones by exclusive zone-time", *(row["name"] for row in answer("zones.dump", "--view", "zones")["rows"][:3]))
		t.type("2")
		t.until("Call tree")


def test_source(folder):
	with browser(folder, "list.dump", height=40) as t:
		t.type("6")
		name = answer("list.dump")["rows"][0]["name"]
		t.until(f"{name} ", "by ")


def test_mouse(folder):
	with browser(folder, "calc.folded", variables="ESCDELAY=5000") as t:
		x, y = place(t.screen(), " apply")
		click(t, x, y)
		t.until("selected: apply")
		click(t, x, y, times=2)
		t.until("Callers and callees of apply")
		x, y = place(t.screen(), "2 tree")
		click(t, x + 2, y)
		t.until("Call tree", "selected: apply")
		x, y = place(t.screen(), "1 flame")
		click(t, x, y)
		x, y = place(t.until("Flame graph"), "[parse")
		click(t, x + 1, y, times=2)
		t.until("zoomed to parse")
		t.type("3")
		t.until("Functions by")
		before = cursor_line(t)
		click(t, 10, 10, button=65)
		t.poll(lambda: cursor_line(t) != before, "the wheel does nothing")
		t.type("f")
		t.text("parse")
		t.type("Enter")
		x, y = place(t.until("[focus parse"), "[focus parse")
		click(t, x + 2, y)
		t.until("no filters")


# ---- the terminal ----

def test_resizes(folder):
	with browser(folder, "calc.folded", width=120, height=40) as t:
		for view in "12345679":
			t.type(view)
			for width, height in [(80, 24), (40, 10), (10, 4), (3, 2), (200, 60)]:
				t.tmux("resize-window", "-x", width, "-y", height)
			t.until("selected: pow")
		t.tmux("resize-window", "-x", 80, "-y", 24)
		t.type("3")
		t.until("Functions by", READY)
		check_functions(t, "calc.folded")


def test_no_color(folder):
	with browser(folder, "calc.folded", variables="NO_COLOR=1") as t:
		for view in "12345":
			t.type(view)
			t.until("selected: pow")
			assert not re.search(r"\033\[([0-9;]*;)?[34][0-8]", t.screen("-e")), t.screen("-e")
			assert "pow" in cursor_line(t), t.screen()


def test_without_utf8(folder):
	path = folder / "names.folded"
	path.write_text("main;größe;日本語 3\nmain;a…b;größe 2\n")
	with browser(folder, str(path), variables="LC_ALL=C LANG=C") as t:
		for view in "12345":
			t.type(view)
			screen = t.until("selected: ")
			assert screen.isascii(), screen


def test_hostile_names_are_escaped(folder):
	path = folder / "hostile.folded"
	path.write_bytes(b"main;\033]0;owned\007\033[31mred\033[2J 9\nmain;a\342\200\256b\302\205 8\nmain;line\rbreak 7\n")
	with browser(folder, str(path), width=120) as t:
		title = t.ask("#{pane_title}")
		t.type("f")
		t.until("focus: ")
		t.type("Tab", "Escape")
		for view in "12345":
			t.type(view)
			screen = t.until("selected: ", "x1b")
			assert "owned" in screen or "…" in screen, screen
			assert "\033" not in screen, screen
		t.type("w")
		t.text(".'")
		t.text("\u202e")
		t.type("Enter")
		t.type("Escape", "Escape")
		assert t.ask("#{pane_title}") == title


def test_leaves_the_terminal_as_it_was(folder):
	with browser(folder, "calc.folded") as t:
		assert t.ask("#{alternate_on}") == "1"
		t.type("q")
		t.is_clean()
		for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV):
			t.type(f"clear; {SONDE} report {INPUTS}/calc.folded", "Enter")
			t.until(READY)
			os.kill(t.pid_of_sonde(), number)
			t.is_clean()
		t.type(f"clear; {SONDE} report {INPUTS}/calc.folded", "Enter")
		t.until(READY)
		t.type("C-c")
		t.is_clean()


def test_suspends(folder):
	with browser(folder, "calc.folded") as t:
		t.type("C-z")
		t.until("Stopped", gone=["selected:"])
		t.type("clear; fg", "Enter")
		t.until(READY, "selected: pow")
		t.type("q")
		t.is_clean()


def test_ends_with_its_terminal(folder):
	with browser(folder, "calc.folded") as t:
		pid = t.pid_of_sonde()
		t.tmux("new-session", "-d")
		t.tmux("kill-pane", "-t", "0:0.0")
		end = time.monotonic() + 40
		while os.path.exists(f"/proc/{pid}"):
			assert time.monotonic() < end, "it lives on"
			time.sleep(.05)


def test_options_give_text(folder):
	for arguments, variables in ([("--text",), ""], [("--limit", "3"), ""], [("--view", "tree"), ""],
			[("--no-pager",), ""], [("--format", "csv"), ""], [(), "TERM=dumb"]):
		terminal = Terminal(folder, "report", INPUTS / "calc.folded", *arguments, variables=f"PAGER=cat {variables}")
		try:
			screen = terminal.until("pow")
			assert "q quit" not in screen and "selected:" not in screen, screen
		finally:
			terminal.tmux("kill-server")
	result = harness.sonde("report", INPUTS / "calc.folded")
	assert "Functions by exclusive" in harness.check(result).out


# ---- real recordings, and large ones ----

def test_a_recording(folder):
	recording = folder / "own.prof"
	harness.check(harness.run(SONDE, "record", "-o", recording, "--", "sh", "-c",
		"i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"))
	for width, height in SIZES:
		with browser(folder, str(recording), width=width, height=height) as t:
			check_functions(t, str(recording))
			for view in "1245679":
				t.type(view)
				t.until("selected: ", READY)


def test_many_rows_follow_as_they_are_scrolled_to(folder):
	path = folder / "many.folded"
	path.write_text("".join(f"main;f{i:05} {i + 1}\n" for i in range(3000)))
	with browser(folder, str(path)) as t:
		for _ in range(12):
			t.type("End")
		t.until("f00000 ", "selected: main")
		t.type("Home", "/")
		t.text("f00017")
		t.type("Enter")
		t.until("selected: f00017")


@harness.takes_hours
def test_a_million_stacks(folder):
	"""Keys that only move cost next to nothing, and others less than reading the file did, four times."""
	def used(pid):
		fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
		return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

	wide, path = folder / "wide.folded", folder / "wide.sonde"
	subprocess.run(["python3", SOURCE_ROOT / "bench/make_folded.py", "wide", wide, "1000000", "1000000"], check=True)
	harness.check(harness.sonde("convert", wide, "-o", path, "--to", "sonde", timeout=600))
	with browser(folder, str(path), width=120, height=40, ready="Functions by") as t:
		pid = t.pid_of_sonde()
		reading = used(pid)
		for key in ["Down"] * 20 + ["PageDown"] * 3:
			t.type(key)
		assert used(pid) - reading < .3, used(pid) - reading
		for key, wanted in (("1", "Flame graph"), ("2", "Call tree"), ("4", "Callers and callees"), ("5", "Call graph"),
				("9", "distinct stacks")):
			before = used(pid)
			t.type(key)
			t.until(wanted)
			assert used(pid) - before < 4 * max(reading, .5), (key, used(pid) - before, reading)


# ---- the page ----

PAGE = SOURCE_ROOT / "docs/browser.md"
SCREEN = re.compile(r"<!-- screen: (\S+) (\d+)x(\d+) keys: (.*?) -->\n\n```\n(.*?)```\n", re.DOTALL)


def screen_of(folder, name, width, height, keys):
	terminal = Terminal(folder, "report", name, width=width, height=height, at=INPUTS)
	try:
		terminal.until(READY)
		for key in keys.split():
			terminal.text(key[1:]) if key.startswith(":") else terminal.type(key)
		terminal.standstill()
		return "".join(line.rstrip() + "\n" for line in terminal.screen().splitlines())
	finally:
		terminal.tmux("kill-server")


def test_screens_of_the_page(folder):
	text, count = PAGE.read_text(), 0

	def check(match):
		nonlocal count
		count += 1
		name, width, height, keys, expected = match.groups()
		screen = screen_of(folder, name, width, height, keys)
		assert screen == expected or os.environ.get("SONDE_UPDATE"), f"{keys}:\n{screen}"
		return match[0].removesuffix(expected + "```\n") + screen + "```\n"

	new = SCREEN.sub(check, text)
	assert count >= 5, count
	if new != text:
		PAGE.write_text(new)


harness.main()
