"""The page of --format html in a browser: a person's work by clicks and keys, its figures the command line's."""

import atexit
import datetime
import functools
import json
import pathlib
import random
import re
import shutil
import subprocess
import urllib.parse

import harness
from harness import SOURCE_ROOT, Skip, check, run, sonde
import recording
import shards
from npm import package
from served import Server
from store import Folder, Store

# The browser's programs, the driver, and the package of npm that it needs.
CHROMIUM = (("chromium", "chromium-browser"), "page_chromium.mjs", ("playwright-core", "1.56.1"))
BROWSER = [CHROMIUM]
MIB = 1 << 20


def samples(folder):
	"""A dump of samples with times and threads: recursion, two load objects, a slow stretch in the middle."""
	r = random.Random(4)
	names = [("main", "app"), ("eval", "app"), ("apply", "app"), ("hash", "libz.so"), ("malloc", "libc.so.6"), ("page_fault", "[kernel]")]
	lines = ["sonde-dump 1", 'source "run.prof"', 'command "app --jobs 2"', 'metric "cpu-time" "ns" default', 'metric "samples" "count"']
	for module in ("app", "libz.so", "libc.so.6"):
		lines.append(f'object user "/usr/lib/{module}"')
	lines.append('object kernel "[kernel]"')
	for name, module in names:
		path = module if module == "[kernel]" else f"/usr/lib/{module}"
		lines += [f'function "{name}" object "{path}"', "frame"]
	lines += ['process 10 start 0 "app"', 'thread 10 process 0 start 0 "app"', 'thread 11 process 0 start 0 "worker"']
	stacks, taken = {(): 0}, []
	for i in range(2000):
		slow = 800 <= i < 1000
		stack = ("main",) + tuple(r.choice(("eval", "apply")) for _ in range(r.randrange(1, 5))) + ((("hash",) if slow else r.choice((("malloc",), (), ("malloc", "page_fault")))))
		for n in range(1, len(stack) + 1):
			stacks.setdefault(stack[:n], None)
		taken.append((stack, r.randrange(2), (i + 1) * 1000000))
	order = sorted(s for s in stacks if s)
	for number, stack in enumerate(order, 1):
		stacks[stack] = number
	lines += ["stack 0"] + [f'stack {len(stack)} "{stack[-1]}"' for stack in order]
	lines += [f"sample {stacks[stack]} thread {thread} time {time} weight 1000000 1" for stack, thread, time in taken]
	path = folder / "run.dump"
	path.write_text("\n".join(lines + ["end", ""]))
	return path


def page_of(folder, path, *options):
	out = folder / "page.html"
	result = sonde("report", path, "--format", "html", "-o", out, *options)
	if "built without pages" in result.err:
		raise Skip("built without pages")
	check(result)
	return out


class Driver:
	"""A browser that all cases share, with a context of its own for each page; it ends with the file."""

	def __init__(self, names, driver, needed):
		program = next(filter(None, map(shutil.which, names)), None)
		if program is None:
			raise Skip(f"there is no {names[0]}")
		command = ["node", pathlib.Path(__file__).with_name(driver), package(*needed), program]
		self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
		atexit.register(self.end)

	def drive(self, given):
		self.process.stdin.write(json.dumps(given) + "\n")
		self.process.stdin.flush()
		line = self.process.stdout.readline()
		if not line:
			started_driver.cache_clear()
			raise AssertionError(f"the browser's driver ended, status {self.process.wait()}")
		return json.loads(line)

	def end(self):
		self.process.stdin.close()
		self.process.wait()


started_driver = functools.lru_cache(Driver)


def drive(out, *steps, fails=False, fragment="", **more):
	"""What each step gave; the page, a file or a URL, has no error and asks nobody else for anything."""
	url = out if isinstance(out, str) else out.resolve().as_uri()
	told = started_driver(*BROWSER[0]).drive({"url": url, "steps": [["open", url + fragment], *map(list, steps)], **more})
	assert not told["requests"], told["requests"]
	assert fails or not told["errors"], told["errors"]
	return told["results"][1:]


NAMES = ("main", "eval", "apply", "hash", "malloc", "page_fault")
ROWS = ".table .row"
SESSION = "window.sonde.session"


def name_of(row):
	"""The function in a row's text, which ends in it and its load object."""
	modules = ("app", "libz.so", "libc.so.6", "[kernel]")
	words = row.split()
	return words[-2] if words[-1] in modules and len(words) > 1 and words[-2] in NAMES else next((w.removesuffix(m) for w in words[-1:] for m in modules if w.endswith(m)), words[-1])


def report(path, *options):
	return json.loads(check(sonde("report", path, "--format", "json", *options)).out)


def test_the_file_is_small_and_asks_for_nothing(folder):
	out = page_of(folder, samples(folder))
	text = out.read_text()
	assert len(text) < 3 * MIB / 4 + 200_000, len(text)
	assert "default-src 'none'" in text and "http://" not in text.partition("<script")[0].replace("http-equiv", "")
	drive(out)


@harness.takes_long
def test_answers_are_the_command_lines(folder):
	"""The page's session, asked as its views ask it, prints what the program prints, byte for byte."""
	path = samples(folder)
	recording = folder / "run.prof"
	check(sonde("convert", path, "-o", recording))
	out = page_of(folder, recording)
	asked = (["--view", "functions"], ["--view", "tree", "--collapse", "none"], ["--view", "graph"], ["--when", ".eval->*->.malloc"],
		["--view", "callers", "--time", "800ms:1s"], ["--view", "stats"])
	steps = [["eval", f"{SESSION}.text(0, {json.dumps([[q[i][2:], q[i + 1]] for i in range(0, len(q), 2)])})"] for q in asked]
	for question, answer in zip(asked, drive(out, *steps)):
		expected = check(sonde("report", recording, "--format", "json", *question)).out
		assert json.loads(answer)["rows"] == json.loads(expected)["rows"], question
		assert json.loads(answer)["total"] == json.loads(expected)["total"], question


def test_a_persons_work(folder):
	"""The hottest function; who pays for malloc; the slow stretch; back again; the link."""
	path = samples(folder)
	out = page_of(folder, path)
	functions, malloc = report(path)["rows"], report(path, "--view", "callers", "--center", "malloc")["rows"][0]
	slow = report(path, "--time", "800ms:1s")["rows"]
	_, hottest, _, _, callers, _, _, _, slowest, chips, _, back, link = drive(out, ["press", "3"], ["texts", ROWS],
		["click", f"{ROWS}:has-text('malloc')"], ["press", "4"], ["texts", ".lines:first-child li .name"],
		["press", "3"], ["choose", ".chips select", "time"], ["enter", ".chips input", "800ms:1s"], ["texts", ROWS], ["texts", ".chip"],
		["press", "u"], ["texts", ROWS], ["eval", "location.hash"])
	assert [name_of(row) for row in hottest] == [f["name"] for f in functions], hottest
	assert [name_of(name) for name in callers] == [c["name"] for c in malloc["callers"]], (callers, malloc)
	assert [name_of(row) for row in slowest] == [f["name"] for f in slow] and slow[0]["name"] == "hash", slowest
	assert len(chips) == 1 and chips[0].startswith("time 800ms – 1s"), chips
	assert back == hottest, (back, hottest)
	assert "function=malloc" in link, link


@harness.takes_long
def test_ribbons_are_as_thick_as_calls(folder):
	"""One for each caller and callee with weight, and their stretches of the function's box are the attributed shares."""
	path = samples(folder)
	row = report(path, "--view", "callers", "--center", "eval")["rows"][0]
	_, _, _, ribbons, (tall, own) = drive(page_of(folder, path), ["press", "3"], ["click", f"{ROWS}:has-text('eval')"], ["press", "4"],
		["eval", "[...document.querySelectorAll('.ribbons path')].map(p => p.getAttribute('d').match(/[\\d.]+/g).map(Number))"],
		["eval", "['.box', '.own'].map(c => Number(document.querySelector('.ribbons ' + c).getAttribute('height')))"])
	lines = [line["attributed"] for line in row["callers"] + row["callees"] if line["attributed"]]
	# M x y C … x1 y1 L x1 y1+h1: the stretch is between the end of the first curve and that of the line after it.
	assert len(ribbons) == len(lines), (ribbons, lines)
	for numbers, attributed in zip(ribbons, lines):
		wanted = attributed / row["inclusive"] * tall
		assert abs(numbers[9] - numbers[7] - max(wanted, 1)) < 0.01, (numbers, attributed)
	assert abs(own - row["exclusive"] / row["inclusive"] * tall) < 0.01


def game(folder):
	"""Frames of a program with zones, of two streams; some take thrice as long, because of one zone."""
	r = random.Random(3)
	names = ("_global", "frame", "physics", "draw")
	lines = ["sonde-dump 1", 'source "game"', 'metric "zone-time" "ns" default', 'object zone "[zones]"']
	for name in names:
		lines += [f'function "{name}" object "[zones]"', "frame"]
	lines += ['process 1 start 0 "game"', 'thread 1 process 0 start 0 "main"', "stack 0", 'stack 1 "_global"', 'stack 2 "frame"', 'stack 3 "physics"',
		'stack 3 "draw"']
	time, ticks, samples_ = 0, [], []
	for i in range(150):
		parts = {2: 400_000, 3: r.randrange(25_000_000, 40_000_000) if i % 40 == 7 else r.randrange(2_500_000, 3_500_000), 4: r.randrange(7_000_000, 9_000_000)}
		start, time = time, time + sum(parts.values())
		ticks.append((start, time))
		samples_ += [f"sample {stack} thread 0 time {time} zone {stack} weight {weight}" for stack, weight in parts.items()]
	lines += samples_ + [f'tick process 0 "audio" {i} start {i * 10_000_000} end {(i + 1) * 10_000_000}' for i in range(20)]
	lines += [f'tick process 0 "frame" {i} start {start} end {end}' for i, (start, end) in enumerate(ticks)]
	path = folder / "game.dump"
	path.write_text("\n".join(lines + ["end", ""]))
	return path, ticks


@harness.takes_long
def test_a_slow_tick_and_why(folder):
	"""By clicks: the slowest, the next slowest, all again; zones are those of the command line for that tick."""
	path, ticks = game(folder)
	by_length = sorted(range(len(ticks)), key=lambda i: (ticks[i][0] - ticks[i][1], i))
	told, _, slowest, _, _, second, _, chips, _, everything = drive(page_of(folder, path), ["press", "7"], ["texts", ".ticks p"],
		["click", ".ticks button:has-text('slowest')"], ["texts", ROWS], ["texts", ".chip"], ["click", ".ticks button:has-text('next slowest')"],
		["texts", ROWS], ["click", ".ticks button:has-text('slower')"], ["texts", ".chip"], ["click", ".ticks button:has-text('all')"], ["texts", ROWS])[1:]
	assert "150 ticks" in told[0] and f"number {by_length[0]}" in told[0], told
	for shown, number in ((slowest, by_length[0]), (second, by_length[1]), (everything, None)):
		part = [] if number is None else ["--tick", f"{number}:{number + 1}"]
		rows = report(path, "--view", "zones", *part)["rows"]
		assert [row.split()[-1].removesuffix("[zones]") or row.split()[-2] for row in shown] == [row["name"] for row in rows], (shown, rows)
		if number is not None:
			assert rows[0]["name"] == "physics"
	assert len(chips) == 1 and chips[0].startswith("time"), chips


def zoned(folder):
	"""Two processes: a game whose threads enter and leave zones, some of them short, and fault pages; and a lone tool."""
	r = random.Random(8)
	names = ("_global", "frame", "physics", "draw", "job")
	lines = ["sonde-dump 1", 'source "zoned"', 'metric "cpu-time" "ns" default', 'metric "samples" "count"', 'metric "page-faults" "count"',
		'object zone "[zones]"', 'object user "/bin/game"']
	for name in names:
		lines += [f'function "{name}" object "[zones]"', "frame"]
	lines += ['function "run" object "/bin/game"', "frame", 'process 7 start 0 "tool"', 'process 5 start 0 "game"', 'thread 7 process 0 start 0 "tool"',
		'thread 5 process 1 start 0 "main"', 'thread 6 process 1 start 0 "worker"', "stack 0", 'stack 1 "_global"', 'stack 2 "frame"', 'stack 3 "physics"',
		'stack 3 "draw"', 'stack 2 "job"', 'stack 1 "run"']
	events, time = [], 1_000_000
	for i in range(40):
		physics = 30_000_000 if i == 20 else r.randrange(1_000_000, 2_000_000)
		draw = r.randrange(3_000_000, 5_000_000)
		events += [(1, time, 2), (1, time + 100_000, 3), (1, time + 100_000 + physics, 2), (1, time + 100_000 + physics, 4),
			(1, time + 100_000 + physics + draw, 2), (1, time + 200_000 + physics + draw, 1)]
		for k in range(30):
			events += [(2, time + 1000 * k, 5), (2, time + 1000 * k + 400 + k, 1)]
		time += 300_000 + physics + draw
	lines += [f"sample 6 thread {1 + i % 2} time {(i + 1) * 1_000_000} weight 1000000 1 {3 * (i % 50 == 7)}" for i in range(time // 1_000_000)]
	lines += [f"sample 6 thread 0 time {(i + 1) * 1_000_000} weight 1000000 1 0" for i in range(20)]
	lines += [f"zone-event thread {thread} time {at} stack {stack}" for thread, at, stack in sorted(events, key=lambda e: (e[0], e[1]))]
	path = folder / "zoned.dump"
	path.write_text("\n".join(lines + ["end", ""]))
	return path, events


def bars_of(events, names):
	"""What a walk of one thread's events finds: the name, start and end of each zone."""
	caller, found, open_ = {2: 1, 3: 2, 4: 2, 5: 1}, [], []
	for _, at, stack in events:
		path = []
		while stack in caller:
			path.insert(0, stack)
			stack = caller[stack]
		while open_ and [zone for zone, _ in open_] != path[:len(open_)]:
			zone, start = open_.pop()
			found.append((names[zone], start, at))
		open_ += [(zone, at) for zone in path[len(open_):]]
	return found


MARKS = """const lanes = await %s.lanes(0, [], 100), ids = lanes.head.lanes.map(l => l.id)
	const marks = await %s.marks(0, [], ids, %%d, %%d, %%d), c = marks.columns
	const bars = [...c.bar_zone.keys()].map(i => [c.bar_thread[i], marks.head.zones[c.bar_zone[i]][0], c.bar_start[i], c.bar_end[i], c.bar_count[i], c.bar_busy[i]])
	const events = [...c.event_slice.keys()].map(i => [c.event_thread[i], marks.head.events[c.event_metric[i]], c.event_weight[i]])""" % (SESSION, SESSION)


@harness.takes_long
def test_a_selected_zone(folder):
	"""Its figures, callers and callees are those of the level of zones, and its key keeps what was in it."""
	path, _ = game(folder)
	_, _, figures, called, _, _, chips, kept = drive(page_of(folder, path), ["press", "7"], ["click", f"{ROWS}:has-text('frame')"],
		["texts", "aside .fig .n:not(.d)"], ["texts", "aside ul .name"], ["press", "f"], ["see", ".chip em"], ["texts", ".chip"], ["texts", ".chip em"])
	row = report(path, "--level", "zone", "--view", "callers", "--center", "frame")["rows"][0]
	printed = check(sonde("report", path, "--text", "--level", "zone", "--view", "callers", "--center", "frame", "--percent", "raw")).out
	assert len(figures) == 2 and all(figure in printed for figure in figures), (figures, printed)
	assert called == [line["name"] for line in row["callers"] + row["callees"]] and {"physics", "draw"} < set(called), (called, row)
	whole = report(path, "--view", "stats", "--zone", "^frame$")
	assert len(chips) == 1 and chips[0].startswith("zone ^frame$") and kept == [f"{100 * whole['filters'][0]['kept'] / sum(r['exclusive'] for r in report(path, '--view', 'zones')['rows']):.1f}%"], (chips, kept)


@harness.takes_long
def test_callers_in_recursion_only(folder):
	"""Lines without weight wait behind a button, which says why."""
	path = folder / "mutual.folded"
	path.write_text("main;even;odd;even;leaf 10\nmain;even 1\n")
	row = report(path, "--view", "callers", "--center", "even")["rows"][0]
	told = drive(page_of(folder, path), ["press", "3"], ["click", f"{ROWS}:has-text('even')"], ["press", "4"], ["texts", ".lines .name"],
		["eval", "[...document.querySelectorAll('.lines li button')].filter(b => b.innerText.startsWith('↺')).map(b => [b.innerText, b.click()][0])"], ["texts", ".lines .name"])
	hidden = [line["name"] for side in ("callers", "callees") for line in row[side] if line["recursive"] and not line["attributed"]]
	assert hidden and len(told[5]) == len(told[3]) + len(hidden), (told, row)
	assert all("without weight here" in text for text in told[4]) and told[4], told[4]


@harness.takes_long
def test_zones_on_lanes(folder):
	"""All zones when near, bounded bars when far; a click on one selects its time, and zones are the command line's of that time."""
	path, events = zoned(folder)
	names = {2: "frame", 3: "physics", 4: "draw", 5: "job"}
	out = page_of(folder, path)
	ask = f"(async () => {{ {MARKS}; return [bars, events] }})()"
	(near, faults), (far, _) = drive(out, ["eval", ask % (4000, 0, 500_000)], ["eval", ask % (100, 0, 400_000_000)])
	threads = {1: [e for e in events if e[0] == 1], 2: [e for e in events if e[0] == 2]}
	for thread, of in threads.items():
		wanted = [bar for bar in bars_of(of, names) if bar[1] <= 500_000]
		assert sorted((bar[1], bar[2], bar[3]) for bar in near if bar[0] == thread) == sorted(wanted), thread
		every = bars_of(of, names)
		shown = [bar for bar in far if bar[0] == thread]
		assert sum(bar[4] for bar in shown) == len(every) and sum(bar[5] for bar in shown) == sum(end - start for _, start, end in every), thread
	assert len(far) < 300 and any(bar[4] > 1 for bar in far)
	slow = max((bar for bar in bars_of(threads[1], names) if bar[0] == "physics"), key=lambda bar: bar[2] - bar[1])
	# Where that bar is, from the page's own scale: 168 pixels of labels, the thread's row, its second level.
	place = """(() => { const c = document.querySelector('.timeline canvas'), plot = c.clientWidth - 180, row = [...document.querySelectorAll('.lane-label')].find(l => l.innerText.startsWith('main'))
		return Promise.all([%s.lanes(0, [], 100)]).then(([l]) => [168 + (%d - l.head.whole_begin) / (l.head.whole_end - l.head.whole_begin) * plot, 20 + row.offsetTop + 22 + 14 + 7, row.offsetHeight]) })()"""
	seen = "(async () => { while ([...document.querySelectorAll('.lane-label')].every(l => l.offsetHeight < 40)) await new Promise(requestAnimationFrame) })()"
	x, y, height = drive(out, ["eval", seen], ["eval", place % (SESSION, (slow[1] + slow[2]) // 2)])[1]
	assert height == 22 + 2 * 14
	_, _, _, tip, _, link, chips, name, rows, _, undone = drive(out, ["eval", seen], ["hover", ".timeline canvas", [x, y]], ["see", ".tip"], ["texts", ".tip"],
		["drag", ".timeline canvas", [x, y], [x, y]], ["eval", "decodeURIComponent(location.hash)"], ["texts", ".chip"], ["texts", "aside h2"],
		["eval", f"{SESSION}.report(0, [['time', '{slow[1] + 1}ns:{slow[2] + 1}ns'], ['view', 'stats']]).then(r => r.total)"],
		["press", "u"], ["eval", "location.hash"])
	assert tip and tip[0].startswith("physics: 30 ms, at "), tip
	assert f"f.time={slow[1] + 1}ns:{slow[2] + 1}ns" in link and "function=physics" in link and name == ["physics"], (link, name)
	assert len(chips) == 1 and "f.time" not in undone, (chips, undone)
	assert rows == json.loads(check(sonde("report", path, "--format", "json", "--view", "stats", "--time", f"{slow[1] + 1}ns:{slow[2] + 1}ns")).out)["total"]
	totals = {}
	for thread, metric, weight in faults:
		assert metric == "page-faults"
		totals[thread] = totals.get(thread, 0) + weight
	# In that half millisecond, there are none.
	assert not totals
	many = drive(out, ["eval", ask % (200, 0, 400_000_000)])[0][1]
	wanted = report(path, "--metric", "page-faults", "--view", "threads")["rows"]
	assert sum(weight for _, _, weight in many) == sum(row["exclusive"] for row in wanted) > 0


@harness.takes_long
def test_events_are_what_happens_now_and_then(folder):
	"""Dots of page faults, but not of what the lanes show, of zones, or of counters that always run; of the chosen metric alone, if it is one."""
	ask = f"{SESSION}.marks(0, %s, [0], 100, 0, 101000).then(m => [...m.columns.event_slice.keys()].map(i => [m.head.events[m.columns.event_metric[i]], m.columns.event_weight[i]]))"
	faults, moves = [["page-faults", 1]] * 10, [["migrations", 2]]
	# What is chosen is the lanes' own where there is no CPU time.
	for first, unit, chosen in (("cpu-time", "ns", moves), ("cycles:u", "count", faults)):
		path = folder / "events.dump"
		path.write_text("\n".join(["sonde-dump 1", 'source "x"', f'metric "{first}" "{unit}" default', *(f'metric "{name}" "count"' for name in ("instructions", "page-faults",
			"migrations", "zone-entries", "empty")), 'object user "/bin/x"',
			'function "f" object "/bin/x"', "frame", 'process 1 start 0 "x"', 'thread 1 process 0 start 0 "x"', "stack 0", 'stack 1 "f"',
			*(f"sample 1 thread 0 time {1000 * i} weight 500000 900000 {int(i % 10 == 3)} {2 * (i == 50)} 1 0" for i in range(1, 101)), "end", ""]))
		every, one = drive(page_of(folder, path), ["eval", ask % "[]"], ["eval", ask % "[['metric', 'migrations']]"])
		assert sorted(every) == moves + faults and one == chosen, (first, every, one)


@harness.takes_long
def test_zones_by_keys(folder):
	"""To a thread, from zone to zone and into them, and its time; then nearer, and back."""
	path, events = zoned(folder)
	seen = "(async () => { while ([...document.querySelectorAll('.lane-label')].every(l => l.offsetHeight < 40)) await new Promise(requestAnimationFrame) })()"
	told = drive(page_of(folder, path), ["eval", seen], ["eval", "document.querySelector('.lane-labels').focus()"], ["press", "Home", "ArrowDown"],
		["eval", "document.querySelector('.lane-label.cursor').innerText"], ["press", "Shift+ArrowRight"], ["texts", "#lanes-told"],
		["press", "Shift+ArrowDown"], ["texts", "#lanes-told"], ["press", "Enter"], ["eval", "decodeURIComponent(location.hash)"],
		["press", "z"], ["eval", "decodeURIComponent(location.hash)"], ["press", "Z"], ["press", "u"], ["eval", "location.hash"])
	assert told[3].startswith("main"), told[3]
	assert told[5][0].startswith("frame: ") and told[7][0].startswith("physics: "), (told[5], told[7])
	first = next(bar for bar in bars_of([e for e in events if e[0] == 1], {2: "frame", 3: "physics", 4: "draw", 5: "job"}) if bar[0] == "physics")
	assert f"f.time={first[1] + 1}ns:{first[2] + 1}ns" in told[9], told[9]
	assert f"span={first[1] + 1}:{first[2] + 1}" in told[11] and "span" in told[14] and "span" not in told[9], told


@harness.takes_long
def test_lanes_show_less_time(folder):
	"""By buttons, the wheel and a double click; what lanes then hold is what the command line has of that time."""
	path = samples(folder)
	span = ["eval", "(new URLSearchParams(location.hash.slice(1)).get('span') ?? '').split(':').map(Number)"]
	told = drive(page_of(folder, path), ["click", "[aria-label='Show less time']"], span, ["click", "[aria-label='Show less time']"], span,
		["wheel", ".timeline canvas", [168, 30], [0, -100], "Control"], span, ["wheel", ".timeline canvas", [400, 30], [0, 100], "Shift"], span,
		["click", ".lane-tools button:text-is('all')"], span, ["drag", ".timeline canvas", [700, 30], [900, 30]], ["double", ".timeline canvas", [800, 30]], span,
		["eval", f"{SESSION}.lanes(0, [], 40, 800000000, 1000000000).then(l => Object.keys(l.columns).filter(c => /^\\d/.test(c)).reduce((sum, c) => sum + l.columns[c].reduce((a, b) => a + b), 0))"],
		["press", "u"], ["eval", "location.hash"])
	half, quarter, nearer, panned, whole, zoomed = told[1], told[3], told[5], told[7], told[9], told[12]
	assert 0.49 < (half[1] - half[0]) / 2e9 < 0.51 and 0.24 < (quarter[1] - quarter[0]) / 2e9 < 0.26, (half, quarter)
	# What is under the pointer, here the beginning, keeps its place.
	assert abs(nearer[0] - quarter[0]) < 2 and nearer[1] < quarter[1] and panned[0] > nearer[0] and abs(panned[1] - panned[0] - nearer[1] + nearer[0]) < 1000, told
	assert whole == [0] and zoomed[1] > zoomed[0] > 0 and f"f.time={zoomed[0]}ns" in told[15].replace("%3A", ":") and "span" not in told[15], told
	assert told[13] == report(path, "--view", "stats", "--time", "800ms:1s")["total"] > 0, told[13]


@harness.takes_long
def test_threads_are_grouped_by_process(folder):
	"""A process of several threads folds, by clicks and keys, and its lane is the sum of theirs; one of a single thread is one row."""
	path, _ = zoned(folder)
	labels = ["texts", ".lane-label .lane-name"]
	sums = f"""{SESSION}.lanes(0, [], 50).then(l => [l.head.processes.map(p => [p.process, p.pid, p.count]), ['0', '1', 'p0'].map(n => [...l.columns[n + '.user']])])"""
	out = page_of(folder, path)
	first, _, folded, _, _, again, link, _, chips, (processes, (one, two, both)) = drive(out, labels, ["click", ".lane-label:has-text('game')"], labels,
		["eval", "document.querySelector('.lane-labels').focus()"], ["press", "Home", "ArrowRight"], labels, ["eval", "location.hash"],
		["press", "Enter"], ["texts", ".chip"], ["eval", sums])
	assert first == again == ["game", "main", "worker", "tool"] and folded == ["game", "tool"], (first, folded, again)
	assert "fold" not in link and len(chips) == 1 and chips[0].startswith("pid 5"), (link, chips)
	assert processes == [["game", 5, 2], ["tool", 7, 1]] and both == [a + b for a, b in zip(one, two)], processes
	by_process = {row["name"].split(" (")[0]: row["exclusive"] for row in report(path, "--view", "threads")["rows"]}
	assert sum(both) == by_process["main"] + by_process["worker"], by_process


@harness.takes_long
def test_a_difference_as_a_flame_graph(folder):
	"""Boxes are those of `sonde diff --format svg`, with its figures, as wide as the new one or as the old; what chance does not explain is that of the tree."""
	old, new = (SOURCE_ROOT / "tests/golden/in" / f"diff-{side}.folded" for side in ("old", "new"))
	out = page_of(folder, new)
	svg = check(sonde("diff", old, new, "--format", "svg", "--collapse", "none")).out
	titles = re.findall(r"<title>([^<]*) \(now ([\d,]+), change ([+-]?[\d,]+), [^<]*</title>", svg)
	drawn = [(name.replace("&gt;", ">").replace("&lt;", "<"), int(now.replace(",", "")), int(change.replace(",", ""))) for name, now, change in titles]
	ask = f"""{SESSION}.changes(0, 1, [['collapse', 'none']], %s).then(f => [...f.columns.now.keys()].map(i => [
		f.columns.name[i] === 0xffffffff ? 'all' : f.head.names[f.columns.name[i]][0], f.columns.now[i], f.columns.old[i], f.columns.width[i], f.columns.mark[i]]))"""
	told = drive(out, ["press", "8"], ["drop", str(old)], ["see", ".diff .row"], ["click", "button:has-text('flame graph')"], ["see", "#flame-told"],
		["eval", ask % "false"], ["eval", ask % "true"], ["click", ".about button:text-is('old')"], ["eval", "location.hash"],
		["eval", "document.querySelector('.flame').focus()"], ["press", "ArrowDown"], ["texts", "#flame-told"], ["press", "u", "u"], ["see", ".diff .row"])
	by_new, by_old = told[5], told[6]
	assert sorted((name, now, now - before) for name, now, before, *_ in by_new) == sorted(drawn) and len(drawn) > 5, (by_new, drawn)
	assert all(width == now for _, now, _, width, _ in by_new) and all(width == before for _, _, before, width, _ in by_old)
	rows = json.loads(check(sonde("diff", old, new, "--format", "json", "--view", "tree", "--collapse", "none")).out)["rows"]
	tree = sorted((row["name"], row["new"]["direct"], row["old"]["direct"], int(row["significant"])) for row in rows if row["kind"] == "node")
	for boxes, at in ((by_new, 1), (by_old, 2)):
		assert sorted((name, now, before, mark) for name, now, before, _, mark in boxes if name != "all") == [row for row in tree if row[at]], boxes
	assert "old=1" in told[8] and "drawn=1" in told[8]
	assert told[11][0].startswith("main: in or under 343 → 427, +84, +24.5%"), told[11]


@harness.takes_long
def test_a_printed_page(folder):
	"""Light, one part below the other, without what nobody can press on paper; the screen is then as before."""
	parts = """[document.documentElement.dataset.theme, ...['header', '.time', '.bar', '.content', 'aside'].map(s => { const r = document.querySelector(s).getBoundingClientRect(); return [r.top, r.bottom] }),
		[...document.querySelectorAll('input, select, .seg')].filter(e => e.offsetParent).length, document.querySelector('.table .row').innerText]"""
	steps = [["press", "3"], ["media", "print"], ["eval", parts], ["media", "screen"], ["eval", parts]]
	_, _, printed, _, shown = drive(page_of(folder, samples(folder)), *steps, dark=True)
	assert printed[0] == "light" and shown[0] == "dark" and printed[-2] == 0 < shown[-2], (printed, shown)
	areas = printed[1:6]
	assert all(above[1] <= below[0] + 1 for above, below in zip(areas, areas[1:])) and areas[3][1] - areas[3][0] > 400, areas
	assert printed[-1] == shown[-1]


def recorded(folder):
	recording.needs_sampling()
	return recording.record(folder, recording.program(folder, "shares"), 400).path


def annotated(path, name, *options):
	return json.loads(check(sonde("annotate", path, name, "--format", "json", *options)).out)


@harness.takes_long
def test_code_that_the_page_carries(folder):
	"""Lines and instructions with figures, by the page's own session: what `sonde annotate` prints, whole, also under filters."""
	path = recorded(folder)
	out = page_of(folder, path, "--embed", "source,asm")
	asked = [(name, options) for name in ("own_a", "shared", "main") for options in ([], [["focus", "via_b"]])]
	answers = drive(out, *(["eval", f"{SESSION}.annotate(0, {json.dumps(options)}, {json.dumps(name)})"] for name, options in asked))
	for (name, options), answer in zip(asked, answers):
		wanted = annotated(path, name, *(f"--{key}={value}" for key, value in options))
		assert answer == wanted, (name, options)
		kinds = {row["kind"] for row in answer["rows"] if row["text"]}
		assert {"line", "instruction"} <= kinds or (name == "own_a" and options), (name, kinds)


@harness.takes_long
def test_the_hottest_line_is_in_sight(folder):
	"""By clicks: a function, its code, the next hottest line; the figures are those of `sonde annotate`."""
	path = recorded(folder)
	rows = annotated(path, "own_a")["rows"]
	hottest = sorted((row for row in rows if row["exclusive"]), key=lambda row: -row["exclusive"])
	where = [f"{pathlib.Path(row['file']).name}:{row['line']}" if row["kind"] == "inline" else row["text"].replace("\t", "    ").strip()
		for row in hottest]
	*_, first, _, _, second = drive(page_of(folder, path, "--embed=source,asm"), ["press", "3"], ["click", f"{ROWS}:has-text('own_a')"],
		["press", "6"], ["see", f"{ROWS}.cursor .code"], ["texts", f"{ROWS}.cursor .code"],
		["click", "button[title='the next hottest line']"], ["see", f"{ROWS}.cursor .code"], ["texts", f"{ROWS}.cursor .code"])
	assert where[0] in first[0] and where[1] in second[0], (first, second, where[:3])


@harness.takes_long
def test_without_code_figures_are_there(folder):
	path = recorded(folder)
	wanted, given = annotated(path, "own_a"), drive(page_of(folder, path), ["eval", f"{SESSION}.annotate(0, [], 'own_a')"])[0]
	def figures(answer, kind):
		return sum(row["exclusive"] for row in answer["rows"] if (row["kind"] == "instruction") == kind)
	for kind in (False, True):
		assert figures(given, kind) == figures(wanted, kind) > 0
	assert all(row["text"] is None for row in given["rows"])
	assert any("--embed" in note["text"] for note in given["notes"]), given["notes"]
	only = drive(page_of(folder, path, "--embed", "asm"), ["eval", f"{SESSION}.annotate(0, [], 'own_a')"])[0]
	assert {row["kind"] for row in only["rows"]} == {"instruction"} and all(row["text"] for row in only["rows"])
	for wrong in (["--embed", "source"], ["--embed", "code", "--format", "html"]):
		assert sonde("report", path, *wrong).status == 2


@harness.takes_long
def test_the_page_of_a_server(folder):
	"""Asks its server for code, which has what the command line has below the root."""
	path = recorded(folder)
	with Server(path, "--source-root", "/") as server:
		if b'id="worker"' not in server.get()[2]:
			raise Skip("built without pages")
		*_, rows = drive(server.url, ["press", "3"], ["click", f"{ROWS}:has-text('spin')"], ["press", "6"], ["texts", f"{ROWS} .code"])
	lines = [row["text"] for row in annotated(path, "spin")["rows"] if row["kind"] == "line"]
	assert [row.strip() for row in rows[:len(lines)]] == [line.replace("\t", "    ").strip() for line in lines], (rows, lines)


@harness.takes_long
def test_a_store_of_two_services(folder):
	"""It has the store's name; a service is a filter, with the command line's figures; a filter that leaves nothing says so."""
	store = folder / "profiles"
	check(sonde("fleet", "init", "--store", store))
	for service, text in (("api", "main;parse 30\nmain;eval 10\n"), ("db", "main;sort 60\n")):
		(folder / "x.folded").write_text(text)
		check(sonde("push", "--store", store, "--service", service, "--host", "h1", folder / "x.folded"))
	add = lambda name, value: (["choose", "select[aria-label=Filter]", name], ["enter", "input[name=value]", value])
	with Server("--store", store) as server:
		if b'id="worker"' not in server.get()[2]:
			raise Skip("built without pages")
		*_, title, all_rows, _, _, chip, rows, _, _, when, _, _, empty, _, undone = drive(server.url, ["press", "3"], ["texts", "header"], ["texts", ROWS],
			*add("label", "service=^api$"), ["texts", ".chip"], ["texts", ROWS], *add("when", "main->parse"), ["texts", ROWS],
			*add("focus", "sort"), ["texts", ".empty"], ["press", "u"], ["texts", ROWS])
	assert "profiles" in title[0] and ".prof" not in title[0], title
	assert any("sort" in row for row in all_rows) and not any("sort" in row for row in rows), (all_rows, rows)
	assert "40.0%" in chip[0], chip
	report = json.loads(check(sonde("report", "--store", store, "--service", "api", "--format", "json")).out)
	assert {(row["name"], str(row["exclusive"])) for row in report["rows"] if row["exclusive"]} == \
		{(row.split()[-1], row.split()[0]) for row in rows if row.split()[0] != "0"}, (report, rows)
	assert len(empty) == 1 and "leave nothing" in empty[0], empty
	assert undone == when and not any("eval" in row for row in when), (undone, when)


DAY, HOUR = 86400, 3600
TODAY = 1767258000  # 2026-01-01T09:00


def at(seconds):
	return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S")


def two_days(store, folder):
	"""Of yesterday and today, and of an hour before each, two services on two hosts with a version each: no two weights are equal."""
	r = random.Random(12)
	for start in (TODAY - DAY - HOUR, TODAY - DAY, TODAY - HOUR, TODAY):
		for host, version in (("web1", "1.3"), ("web2", "1.4")):
			for service in ("api", "db"):
				names = ("main", "parse", "eval", service)
				lines = ["sonde-dump 1", f"start-unix-ns {start * 10**9}", 'source "x"', 'metric "work" "count" default', 'object user "/bin/x"']
				for name in names:
					lines += [f'function "{name}" object "/bin/x"', "frame"]
				lines += ['process 1 start 0 "x"', 'thread 1 process 0 start 0 "x"', "stack 0", 'stack 1 "main"', 'stack 2 "parse"', 'stack 2 "eval"', f'stack 3 "{service}"']
				lines += [f"sample {stack} thread 0 time {second * 10**9} weight {r.randrange(1, 10**6)}" for second in (0, 600) for stack in (1, 2, 3, 4)]
				(folder / "x.dump").write_text("\n".join([*lines, "end", ""]))
				check(store.push(folder / "x.dump", "--service", service, "--host", host, "--label", f"version={version}"))


def check_selections(store, folder, is_thorough):
	two_days(store, folder)

	def differences(old, new, *options):
		"""Change, old, new and name of each row, and both totals, as the command line has them."""
		told = json.loads(check(sonde("diff", "--store", store.url, "--service", "api", old, new, "--format", "json", "--limit", "0", *options)).out)
		assert told["old"]["total"] != told["new"]["total"] and all(side["total"] > 0 for side in (told["old"], told["new"])), told
		return sorted((row["exclusive"], row["old"]["exclusive"], row["new"]["exclusive"], row["name"]) for row in told["rows"]), told["old"]["total"], told["new"]["total"]
	shown = ("eval", """[[...document.querySelectorAll('.diff .row')].map(row => [0, 2, 3].map(i => Number(row.querySelectorAll('.n')[i].innerText.replace(/[,+]/g, '')))
		.concat(row.querySelector('.name').firstChild.data)), document.querySelector('.diff .about span').innerText]""")

	def same(seen, *wanted):
		rows, old, new = differences(*wanted)
		assert sorted(map(tuple, seen[0])) == rows and f" {old:,} → " in seen[1] and f" {new:,}: " in seen[1], (seen, wanted, rows, old, new)
	compare, address = ("click", "button:has-text('Compare')"), ("eval", "location.hash")
	today, yesterday = f"since={at(TODAY)}", f"since={at(TODAY - DAY)},until={at(TODAY - DAY + HOUR)}"
	with Server("--store", store.url, "--service", "api", today) as server:
		if b'id="worker"' not in server.get()[2]:
			raise Skip("built without pages")

		def drives(*steps, **more):
			return drive(server.url, *steps, **more)
		# The same time, a day and an hour earlier.
		*_, seen, link, _, swapped, _, _, hour_ago, hour_link = drives(["press", "8"], ["click", "button:has-text('a day earlier')"], shown, address,
			["click", "button:has-text('swap')"], shown, ["click", "button:has-text('another selection')"], ["click", "button:has-text('an hour earlier')"], shown, address)
		base = dict(urllib.parse.parse_qsl(link[1:]))["base"]
		assert base.startswith(f"since={at(TODAY - DAY)},until={at(TODAY - DAY)[:11]}"), link
		same(seen, yesterday, today)
		same(seen, base, today)
		same(swapped, today, yesterday)
		# An hour before what is the new one now.
		assert dict(urllib.parse.parse_qsl(hour_link[1:]))["base"].startswith(f"since={at(TODAY - DAY - HOUR)},"), hour_link
		same(hour_ago, f"since={at(TODAY - DAY - HOUR)},until={at(TODAY - DAY)}", yesterday)
		# More of them than a page keeps, one after the other; of hosts.
		pairs = [(f"since={at(start)},until={at(start + HOUR)},host={host}", f"{today},host={other}")
			for start in (TODAY - HOUR, TODAY - DAY, TODAY - DAY - HOUR) for host, other in (("web1", "web2"), ("web2", "web1"))]
		steps = []
		for old, new in [*pairs, pairs[0]]:
			steps += [["eval", f"location.hash = '#view=diff&base={urllib.parse.quote(old)}&now={urllib.parse.quote(new)}'"],
				["see", f".diff .about b:text-is('{old}') ~ b:text-is('{new}')"], shown]
		for one, pair in zip(drives(*steps)[2::3], [*pairs, pairs[0]], strict=True):
			same(one, *pair)
		if not is_thorough:
			return
		# Shares of the totals, in hundredths of a percent.
		shares = json.loads(check(sonde("diff", "--store", store.url, "--service", "api", "--normalize", yesterday, today, "--format", "json", "--limit", "0")).out)["rows"]
		percents = lambda value: f"{'-' if value < 0 else '+'}{(abs(value) + 50_000) // 100_000 / 100:.2f}%"
		_, totals, cells, link_of_shares = drives(["click", "button:has-text('shares')"], ["texts", ".diff .about span:first-child"], ["eval", "[...document.querySelectorAll('.diff .row')].map(row => row.querySelector('.n').innerText)"],
			address, fragment=link)
		assert sorted(cells) == sorted(percents(row["exclusive"]) for row in shares) and f" {seen[1].split(' → ')[0].split()[-1]} → " in totals[0], (cells, shares, totals)
		assert "shares=1" in link_of_shares, link_of_shares
		# The address is enough, and filters hold for both.
		again, focused = (drives(shown, fragment=link + more)[0] for more in ("", "&f.focus=eval"))
		assert again == seen
		same(focused, yesterday, today, "--focus", "eval")
		# A version that a filter chose, and the rest: the filter goes into the new side.
		*_, chosen, _, _, seen, note = drives(["choose", "select[aria-label=Filter]", "label"], ["enter", "input[name=value]", "version=^1.4$"], ["press", "8"],
			["eval", "[...document.querySelectorAll('.sides input')].map(i => i.value)"], ["fill", "input[aria-label='old labels']", "version=1.3"], compare, shown, ["texts", ".diff .note"])
		assert chosen[4] == chosen[9] == "version=1.4" and chosen[0] == at(TODAY), chosen
		same(seen, f"{today},version=1.3", f"{today},version=1.4")
		assert any("without the filter label" in text for text in note), note
		# A time that was dragged.
		*_, seen, link = drives(["click", "button:has-text('a day earlier')"], shown, address, fragment=f"#view=diff&f.time=0ns:{300 * 10**9}ns")
		known = dict(urllib.parse.parse_qsl(link[1:]))
		assert known["now"] == f"since={at(TODAY)},until={at(TODAY + 300)}" and known["base"] == f"since={at(TODAY - DAY)},until={at(TODAY - DAY + 300)}", link
		same(seen, known["base"], known["now"])
		# What cannot be: one line, the command line's, and the fields stay as they are.
		for field, value, good in (("service", "nobody", "db"), ("since", "yesterday", at(TODAY - DAY))):
			box = f"input[aria-label='old {field}']"
			*_, said, _, _, seen = drives(["press", "8"], ["fill", box, value], compare, ["texts", ".message"], ["fill", box, good], compare, shown, fails=True)
			wrong, right = (f"since={at(TODAY)},service={v}" if field == "service" else f"since={v}" for v in (value, good))
			failed = sonde("diff", "--store", store.url, "--service", "api", wrong, today)
			assert failed.status and len(said) == 1 and said[0].startswith(f"{wrong}: ") and said[0].removeprefix(f"{wrong}: ") in failed.err, (said, failed)
			same(seen, right, today)


@harness.takes_long
def test_selections_of_a_folder_are_compared(folder):
	"""A store's page compares what it shows with another time, version or host of the store: figures are those of `sonde diff --store`."""
	check_selections(Folder(folder), folder, True)


@harness.takes_long
def test_selections_of_a_server_are_compared(folder):
	check_selections(Store(shards.shared(0)), folder, False)


@harness.takes_long
def test_two_builds_are_compared(folder):
	"""A second file, dropped: rows and figures are those of `sonde diff`, both ways, under filters, too; undo and the link keep the view."""
	old, new = (SOURCE_ROOT / "tests/golden/in" / f"diff-{side}.folded" for side in ("old", "new"))
	wanted = {}
	for sort in ("exclusive", "inclusive"):
		wanted[sort] = json.loads(check(sonde("diff", old, new, "--format", "json", "--sort", sort)).out)
	back = json.loads(check(sonde("diff", new, old, "--format", "json")).out)
	focus = json.loads(check(sonde("diff", old, new, "--format", "json", "--focus", "eval")).out)
	rows, by_inclusive, swapped, _, focused = (lambda r: (r[3], r[5], r[9], r[7], r[13]))(drive(page_of(folder, new), ["press", "8"], ["drop", str(old)],
		["see", ".diff .row"], ["texts", ".diff .row"], ["click", ".diff button:has-text('inclusive')"], ["texts", ".diff .row"],
		["click", ".diff button:has-text('exclusive')"], ["texts", ".diff .row"],
		["click", "button:has-text('swap')"], ["texts", ".diff .row"], ["click", "button:has-text('swap')"],
		["choose", ".chips select", "focus"], ["enter", ".chips input", "eval"], ["texts", ".diff .row"]))

	def figures(shown):
		"""Change, old, new and name of each row."""
		return [(row.split()[0], row.split()[-1]) for row in shown]

	def signed(data, column):
		return [(f"{row[column]:+,}" if row[column] > 0 else f"{row[column]:,}", row["name"]) for row in data["rows"]]
	assert figures(rows) == signed(wanted["exclusive"], "exclusive"), rows
	assert figures(by_inclusive) == signed(wanted["inclusive"], "inclusive"), by_inclusive
	assert figures(swapped) == signed(back, "exclusive"), swapped
	assert figures(focused) == signed(focus, "exclusive"), focused
	assert [("no" in row.split()) for row in rows] == [bool(row["significant"]) for row in wanted["exclusive"]["rows"]]


def test_figures_are_written_as_text_has_them(folder):
	"""Units and rounding, halves too: the cells of the page are those of the program's text."""
	path = folder / "figures.dump"
	r = random.Random(6)
	weights = [1, 7, 999, 1000, 1_499_500, 6_250_000, 62_500_000, 437_500_000, 999_999_500, *(r.randrange(10**9) for _ in range(30))]
	lines = ["sonde-dump 1", 'source "figures"', 'metric "cpu-time" "ns" default', 'object user "/bin/x"']
	for i in range(len(weights)):
		lines += [f'function "f{i}" object "/bin/x"', "frame"]
	lines += ["stack 0"] + [f'stack 1 "f{i}" {w}' for i, w in enumerate(weights)]
	path.write_text("\n".join(lines + ["end", ""]))
	printed = check(sonde("report", path, "--text", "--limit", "0", "--width", "200")).out
	wanted = [re.split(r"  +", line.strip()) for line in printed.splitlines() if re.search(r"  f\d+$", line)]
	assert len(wanted) == len(weights), printed
	_, cells = drive(page_of(folder, path), ["press", "3"],
		["eval", "[...document.querySelectorAll('.table .row')].map(r => [...r.querySelectorAll('.n')].map(n => n.innerText.trim()))"], height=1400)
	assert cells == [row[:4] for row in wanted], [(c, w) for c, w in zip(cells, wanted) if c != w[:4]]


@harness.takes_long
def test_notes_are_those_of_the_text(folder):
	"""With what they count, in the statistics and in the foot."""
	path = folder / "notes.dump"
	path.write_text("\n".join(["sonde-dump 1", 'source "x"', 'metric "cpu-time" "ns" default', 'object user "/bin/x"', 'function "f" object "/bin/x"', "frame",
		"stack 0", 'stack 1 "f" 5', 'note lost 12345 "samples were lost: the buffers were full"', 'note truncated 1 "a stack is truncated"',
		'note no-symbols 2 "no symbols for a, b"', "end", ""]))
	told = drive(page_of(folder, path), ["press", "9"], ["texts", ".facts li"], ["texts", "footer .warn"])
	wanted = [line.removeprefix("note: ") for line in check(sonde("report", path, "--view", "stats", "--text", "--width", "200")).out.splitlines() if line.startswith("note: ")]
	assert told[1] == wanted and len(wanted) == 3 and wanted[0].startswith("12,345 samples"), (told[1], wanted)
	assert told[2] == [f"▲ {wanted[0]} and 2 more"], told[2]


@harness.takes_long
def test_recursion_folds_four_ways(folder):
	path = samples(folder)
	out = page_of(folder, path)
	for degree in ("none", "direct", "conservative", "full"):
		rows = report(path, "--view", "tree", "--collapse", degree, "--limit", "0")["rows"]
		told = drive(out, ["press", "2"], ["click", f".seg button:text-is('{degree}')"], ["click", ".table .head"], ["eval", "document.querySelector('.table').focus()"],
			["press", "*"], ["eval", "document.querySelector('.table').getAttribute('aria-rowcount')"], ["press", "1"],
			["eval", f"{SESSION}.flame(0, [['collapse', '{degree}']]).then(f => [f.head.total, f.columns.width.length, f.columns.own.reduce((a, b) => a + b, 0)])"])
		assert int(told[5]) == len(rows), (degree, told[5], len(rows))
		total, boxes, own = told[7]
		assert total == own == 2000 * 10**6 and boxes == 1 + sum(row["kind"] == "node" and row["direct"] + row["indirect"] != 0 for row in rows), (degree, told[7])


@harness.takes_long
def test_time_is_dragged(folder):
	path = samples(folder)
	out = page_of(folder, path)
	_, hash_, rows, _, undone = drive(out, ["drag", ".timeline canvas", [700, 30], [900, 30]], ["eval", "location.hash"], ["press", "3"], ["press", "u"], ["eval", "location.hash"])
	assert "f.time=" in hash_, hash_
	first, last = (int(t.removesuffix("ns")) for t in hash_.partition("f.time=")[2].replace("%3A", ":").split("&")[0].split(":"))
	assert 0 < first < last <= 2001 * 10**6, hash_


@harness.takes_long
def test_views_follow_a_drag(folder):
	path = samples(folder)
	out = page_of(folder, path)
	_, whole, _, before, held, _, after, seen = drive(out, ["press", "3"], ["texts", ROWS],
		["hold", ".timeline canvas", [700, 30], [900, 30]], ["eval", "location.hash"], ["texts", ROWS], ["release"], ["eval", "location.hash"], ["texts", ROWS])
	assert "f.time=" not in before and "f.time=" in after, (before, after)
	assert held == seen != whole, (held, seen, whole)


@harness.takes_long
def test_mistakes_are_told_where_they_are_made(folder):
	out = page_of(folder, samples(folder))
	metric, _, told, chips = drive(out, ["eval", "document.querySelector('select[aria-label=\"Other metrics\"]').selectedOptions[0].text"],
		["enter", "input[name=when]", "((main"], ["texts", ".message"], ["texts", ".chip"])
	# The one metric that is shown has its name in the list.
	assert metric == "cpu-time", metric
	assert told and "when" in told[0] and chips == ["whole run"] or chips[0].startswith("whole run"), (told, chips)


@harness.takes_long
def test_a_search_is_summed(folder):
	path = folder / "search.folded"
	path.write_text("main;eval;apply;eval 30\nmain;Evaluate 20\nmain;other 50\n")
	out = page_of(folder, path)
	summed = "(async () => { while (!document.querySelector('header output')) await new Promise(requestAnimationFrame); return document.querySelector('header output').innerText })()"
	# Of either case, and a stack that holds it twice counts once; of what filters leave.
	assert drive(out, ["eval", summed], fragment="#search=eval") == ["in 50.0%"]
	assert drive(out, ["eval", summed], fragment="#search=eval&f.ignore=other") == ["in 100.0%"]
	assert drive(out, ["eval", summed], fragment="#search=eval(") == ["nowhere"]


@harness.takes_long
def test_the_address_restores_a_view(folder):
	out = page_of(folder, samples(folder))
	first = drive(out, ["press", "3"], ["enter", "input[name=when]", ".eval->*->.malloc"], ["click", f"{ROWS}:first-child"], ["texts", ROWS], ["eval", "location.hash"])
	again = drive(out, ["texts", ROWS], ["texts", "aside h2"], fragment=first[4])
	assert first[3] and again[0] == first[3], (first, again)


@harness.takes_long
def test_what_was_asked_is_shown_first(folder):
	path = samples(folder)
	out = page_of(folder, path, "--view", "functions", "--focus", "hash")
	rows, chips = drive(out, ["texts", ROWS], ["texts", ".chip"])
	assert len(rows) == len(report(path, "--focus", "hash")["rows"]) and chips[0].startswith("focus hash"), (rows, chips)


@harness.takes_long
def test_files_are_dropped(folder):
	"""Any format that is read from bytes alone, packed or not; what is none is refused in words."""
	path = samples(folder)
	out = page_of(folder, path)
	empty = folder / "empty.html"
	text = out.read_text()
	start = text.index('<script type="text/plain" id="data"')
	empty.write_text(text[:start] + '<script type="text/plain" id="data"></script>' + text[text.index("</script>", start) + 9:])
	for to in ("pprof", "folded", "speedscope", "callgrind", "firefox", "chrome"):
		other = folder / f"other.{to}"
		check(sonde("convert", path, "-o", other, "--to", to))
		_, rows, _ = drive(empty, ["drop", str(other)], ["press", "3"], ["texts", ROWS])[0:3]
	bad = folder / "bad.bin"
	bad.write_bytes(bytes(range(256)) * 20)
	_, told = drive(empty, ["drop", str(bad)], ["texts", "p[role=alert]"])
	assert "in no format that sonde reads" in told[0], told


@harness.takes_long
def test_a_large_tree_begins_with_its_heaviest_rows(folder):
	path = folder / "large.folded"
	path.write_text("".join(f"main;f{i // 200};g{i};h{i} {i + 1}\n" for i in range(12_000)))
	_, rows, told, _, more, after = drive(page_of(folder, path), ["press", "2"], ["texts", ROWS], ["texts", ".about"],
		["click", ".about button"], ["texts", ROWS], ["texts", ".about"])
	assert rows and "main" in rows[0] and "f59" in rows[1], rows[:3]
	assert len(told) == 1 and told[0].startswith("The 20,000 heaviest rows"), told
	assert more[:2] == rows[:2] and after == [], (more[:3], after)


def test_the_graph_is_drawn(folder):
	"""Callers above callees, recursion in one box that opens; by mouse and by keys; fewer functions; and as a list."""
	path = folder / "graph.folded"
	path.write_text("main;a;b;a;c 5\nmain;a;b 3\nmain;d;c 4\nmain;e;e;f 2\n")
	tops = "Object.fromEntries([...document.querySelectorAll('.graph .node')].map(n => [n.querySelector('text').textContent, n.getBoundingClientRect().top]))"
	of = "[...document.querySelectorAll('%s')].map(e => e.textContent)"
	focused = "document.activeElement.querySelector('text').textContent"
	_, tops, calls, _, opened, _, chosen, _, down, _, up, _, few, _, listed, address = drive(page_of(folder, path), ["press", "5"], ["eval", tops],
		["eval", of % ".graph .call title"], ["click", ".graph .twist"], ["eval", of % ".graph .member text"], ["click", ".graph .member[aria-label^='b:']"], ["texts", "aside h2"],
		["eval", "document.querySelector('.graph .node').focus()"], ["eval", f"(document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: 'ArrowDown', bubbles: true}})), {focused})"],
		["press", "ArrowUp"], ["eval", focused], ["eval", "(s => { s.value = 2; s.dispatchEvent(new Event('input', {bubbles: true})) })(document.querySelector('[type=range]'))"],
		["eval", of % ".graph .node text:first-of-type"], ["click", "text=list"], ["texts", f"{ROWS} b"], ["eval", "location.hash"])
	assert tops["main"] < tops["recursion of 2 functions"] == tops["d"] == tops["e → f"] < tops["c"] and len(tops) == 5, tops
	assert sorted(calls) == sorted(["main → recursion of 2 functions: 8, 57.1%", "main → d: 4, 28.6%", "main → e → f: 2, 14.3%", "recursion of 2 functions → c: 5, 35.7%", "d → c: 4, 28.6%"]), calls
	assert opened == ["a", "b"] and chosen == ["b"], (opened, chosen)
	assert down == "recursion of 2 functions" and up == "main", (down, up)
	assert few == ["main", "c"], few
	assert len(listed) == 8 and "list=1" in address, (listed, address)


def test_lanes_show_when_the_selected_function_ran(folder):
	"""One of two threads has it, in its second half: only there is the mark below the lane."""
	path = folder / "when.dump"
	lines = ["sonde-dump 1", 'source "when"', 'metric "cpu-time" "ns" default', 'object user "/bin/x"', 'function "f" object "/bin/x"', "frame", 'function "g" object "/bin/x"', "frame",
		'process 1 start 0 "x"', 'thread 1 process 0 start 0 "one"', 'thread 2 process 0 start 0 "two"', "stack 0", 'stack 1 "f"', 'stack 2 "g"']
	lines += [f"sample {2 if t == 1 and i >= 200 else 1} thread {t} time {i * 1000000 + 1} weight 1000000" for i in range(400) for t in (0, 1)]
	path.write_text("\n".join(lines + ["end", ""]))
	# The share of pixels of that colour in each half of a lane's last rows.
	marked = """(lane => { const c = document.querySelector('.timeline canvas'), r = devicePixelRatio, d = c.getContext('2d'), y = 20 + lane * 22 + 20
		const half = x => { const p = d.getImageData(x * r, y * r, (c.width / r - 172) / 2 * r - 4, 1).data; let n = 0; for (let i = 0; i < p.length; i += 4) n += p[i] > 200 && p[i + 2] < 120; return n / (p.length / 4) }
		return [half(162), half(162 + (c.width / r - 172) / 2 + 2)].map(Math.round) })"""
	before, _, _, one, two = drive(page_of(folder, path), ["eval", f"{marked}(1)"], ["press", "3"], ["click", f"{ROWS} >> text=g"],
		["eval", f"new Promise(done => setTimeout(() => done({marked}(0)), 500))"], ["eval", f"{marked}(1)"])
	assert before == [0, 0] and one == [0, 0] and two == [0, 1], (before, one, two)


CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async text => { window.copied = text }}})"


def test_what_is_seen_can_be_copied(folder):
	"""The view as the command line prints it, the stack under the cursor, the address."""
	path = samples(folder)
	# The page copies when it has the text.
	copied = "(async () => { while (window.copied === undefined) await new Promise(r => setTimeout(r, 10)); " \
		"const text = window.copied; window.copied = undefined; return text })()"
	_, _, view, told, _, _, _, stack, _, link = drive(page_of(folder, path), ["eval", CLIPBOARD], ["press", "3", "y"], ["eval", copied], ["texts", ".chips output"],
		["press", "1"], ["eval", "document.querySelector('.flame').focus()"], ["press", "ArrowDown", "ArrowDown", "y"], ["eval", copied], ["click", "text=copy link"], ["eval", copied])
	text = check(sonde("report", "--text", path, "--view", "functions")).out
	assert re.sub(r"[^\S\n]+", " ", view).splitlines()[:6] == re.sub(r"[^\S\n]+", " ", text).splitlines()[:6], (view, text)
	assert told == ["text copied"], told
	tree = check(sonde("report", path, "--view", "tree", "--collapse", "full", "--format", "json")).out
	first, second = (row["name"] for row in json.loads(tree)["rows"][:2])
	assert stack == f"{first}\n{second}\n", stack
	assert link.startswith("file:") and "page.html#function=eval" in link, link


def test_metrics_stand_side_by_side(folder):
	path = folder / "two.dump"
	path.write_text("\n".join(["sonde-dump 1", 'source "two"', 'metric "cpu-time" "ns" default', 'metric "faults" "count"', 'metric "none" "count"',
		'object user "/bin/x"', 'function "f" object "/bin/x"', "frame", 'function "g" object "/bin/x"', "frame", 'process 1 start 0 "x"', 'thread 1 process 0 start 0 "x"',
		"stack 0", 'stack 1 "f"', 'stack 2 "g"', "sample 2 thread 0 time 5 weight 3000000 7 0", "sample 1 thread 0 time 6 weight 1000000 2 0", "end", ""]))
	head, rows, tip = drive(page_of(folder, path), ["press", "3"], ["click", "text=all metrics"], ["texts", ".head [role=columnheader]"], ["texts", ROWS],
		["eval", "document.querySelector('.row .n').title"])[2:]
	assert head == ["exclusive ▾", "inclusive", "faults", "function"], head
	assert [row.split() for row in rows] == [["3.000", "ms", "75.0%", "3.000", "ms", "75.0%", "7", "gx"], ["1.000", "ms", "25.0%", "4.000", "ms", "100.0%", "2", "fx"]], rows
	assert tip.startswith("exclusive: spent in it itself") and tip.endswith("3,000,000 ns"), tip


def test_the_middle_of_a_deep_graph_folds(folder):
	path = folder / "deep.folded"
	path.write_text(";".join(["main"] + ["f"] * 5000 + ["leaf"]) + " 1\n")
	out = page_of(folder, path)
	tall = "document.querySelector('.flame-pane').clientHeight / 20"
	end = "document.querySelector('.flame').scrollTop = 1e9"
	_, whole, _, folded, _, _, _, told, _, again = drive(out, ["click", "text=none"], ["eval", tall], ["click", ".fold button"], ["eval", tall],
		["eval", end], ["settle"], ["click", ".flame canvas"], ["texts", "#flame-told"], ["press", *["ArrowUp"] * 45], ["eval", tall])
	assert whole == again == 5003 and folded == 81, (whole, folded, again)
	assert told[0].startswith("f: "), told


def test_a_function_with_many_callers_begins_with_the_heaviest(folder):
	path = folder / "callers.folded"
	path.write_text("".join(f"main;f{i};shared {1000 + i}\n" for i in range(600)))
	_, _, callers, more, _, all_callers, _, _, told, graph, _, after = drive(page_of(folder, path), ["press", "3"],
		["click", f"{ROWS} >> text=shared"], ["press", "4"], ["texts", ".lines:first-child li"], ["texts", ".lines:first-child li:last-child"],
		["click", ".lines:first-child li:last-child button"], ["texts", ".lines:first-child li"],
		["press", "5"], ["click", "text=list"], ["texts", ".about"], ["eval", "document.querySelector('[role=grid]').ariaRowCount"],
		["click", ".about button"], ["eval", "document.querySelector('[role=grid]').ariaRowCount"])[1:]
	assert len(callers) == 201 and callers[0].startswith("f599"), callers[:2]
	assert more == ["and 400 more: show ten times as many"], more
	assert len(all_callers) == 600 and all_callers[-1].startswith("f0"), all_callers[-2:]
	assert told[0].startswith("The 50 heaviest functions, each with as many callers and callees at most"), told
	assert int(after) > int(graph) > 100, (graph, after)


@harness.takes_long
def test_a_large_flame_graph_has_all_that_is_seen(folder):
	path = folder / "large.folded"
	path.write_text("main;heavy 1000000000\n" + "".join(f"main;light;g{i // 200};h{i % 200};x {i + 1}\n" for i in range(40_000)))
	out = page_of(folder, path)
	ask = f"{SESSION}.flame(0, %s).then(f => [f.head.left_out, f.head.least, f.columns.width.filter(w => w > %s).length])"
	limited, whole = drive(out, ["eval", ask % ("[['limit', '50000']]", 0)], ["eval", ask % ("[]", 0)])
	assert limited[0] == 80_203 - 50_000 and limited[2] == 50_001, limited
	assert whole[0] == 0 and whole[2] == 80_204, whole
	wider = drive(out, *(["eval", ask % (options, limited[1])] for options in ("[['limit', '50000']]", "[]")))
	assert wider[0][2] == wider[1][2] > 1000, wider
	# The lightest is not among the first boxes: it comes when it is zoomed into.
	arrived = "(async () => { while (!(await new Promise(requestAnimationFrame), document.querySelector('#flame-told').textContent).startsWith('h0: in or under 1,')); })()"
	told = drive(out, ["eval", arrived], ["eval", "document.querySelector('.flame').focus()"], ["press", "ArrowDown"], ["texts", "#flame-told"],
		["texts", "aside h2"], fragment="#zoom=main&zoom=light&zoom=g0&zoom=h0")
	assert told[3][0].startswith("x: in or under 1,") and told[4] == ["x"], told


@harness.takes_long
def test_hostile_names_are_text(folder):
	names = ("<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "a\u202eb", "x" * 100_000, "&lt;b&gt;", "\x1b[31mred", "${window.hit=1}")
	path = folder / "hostile.folded"
	path.write_text("".join(f"main;{name} {10 - i}\n" for i, name in enumerate(names)))
	out = page_of(folder, path)
	told = drive(out, *(step for view in "12345" for step in (["press", view], ["eval", "window.hit ?? 0"])))
	assert told[1::2] == [0] * 5, told


@harness.takes_long
def test_it_can_be_used_by_everybody(folder):
	"""axe-core finds nothing, in each view, light and dark."""
	out = page_of(folder, samples(folder))
	axe = package("axe-core", "4.11.0") / "axe.min.js"
	for dark in (False, True):
		steps = [["click", f"[role=tab]:text-is('Functions')"], ["click", f"{ROWS}:first-child"], ["script", str(axe)]]
		for view in "123456":
			steps += [["press", view], ["eval", "axe.run().then(r => r.violations.map(v => `${v.id}: ${v.nodes.map(n => n.target + ' ' + n.failureSummary).join('; ')}`))"]]
		told = drive(out, *steps, dark=dark)
		found = [violation for violations in told[4::2] for violation in violations]
		assert not found, "\n".join(found)


@harness.takes_long
def test_lanes_and_differences_can_be_used_by_everybody(folder):
	"""The same with zones and processes on the lanes, one of them walked to by keys, and of a difference's flame graph."""
	zones, _ = zoned(folder)
	axe = package("axe-core", "4.11.0") / "axe.min.js"
	judge = ["eval", "axe.run().then(r => r.violations.map(v => `${v.id}: ${v.nodes.map(n => n.target + ' ' + n.failureSummary).join('; ')}`))"]
	for dark in (False, True):
		*_, lanes, _, folded = drive(page_of(folder, zones), ["see", ".lane-tools [aria-pressed]"], ["script", str(axe)], ["eval", "document.querySelector('.lane-labels').focus()"],
			["press", "ArrowDown", "Shift+ArrowRight", "Enter"], judge, ["press", "Home", "ArrowLeft"], judge, dark=dark)
		old, new = (SOURCE_ROOT / "tests/golden/in" / f"diff-{side}.folded" for side in ("old", "new"))
		changes = drive(page_of(folder, new), ["script", str(axe)], ["press", "8"], ["drop", str(old)], ["click", "button:has-text('flame graph')"], ["see", "#flame-told"], judge, dark=dark)[-1]
		assert not lanes + folded + changes, "\n".join(lanes + folded + changes)


@harness.takes_long
def test_pictures_follow_the_theme(folder):
	"""The mean brightness of what is drawn on both canvases, light, dark, and light again."""
	bright = """['.timeline', '.flame'].map(s => { const c = document.querySelector(s + ' canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data
		let sum = 0, count = 0; for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) { sum += d[i + 1]; count++ } return sum / count })"""
	sized = """new Promise(done => { const wait = () => ['.timeline', '.flame'].every(s => document.querySelector(s + ' canvas')?.width)
		? requestAnimationFrame(() => done(true)) : requestAnimationFrame(wait); wait() })"""
	_, light, _, dark, _, again = drive(page_of(folder, samples(folder)), ["eval", sized], ["eval", bright], ["press", "t"], ["eval", bright], ["press", "t"], ["eval", bright])
	assert all(d < l - 40 for l, d in zip(light, dark)) and again == light, (light, dark, again)


@harness.takes_long
def test_deep_stacks_and_many_threads(folder):
	"""A stack of 10,000 functions scrolls, and so do 3,000 threads; the canvas stays as large as what is seen."""
	path = folder / "deep.dump"
	lines = ["sonde-dump 1", 'source "deep"', 'metric "cpu-time" "ns" default', 'object user "/bin/x"', 'function "f" object "/bin/x"', "frame", 'function "g" object "/bin/x"', "frame", 'process 1 start 0 "x"']
	lines += [f'thread {t + 1} process 0 start 0 "t{t}"' for t in range(3000)] + ["stack 0"]
	lines += [f'stack {d} "{"fg"[d % 2]}"' for d in range(1, 10001)]
	lines += [f"sample {10000 if i % 3 else i + 1} thread {i % 3000} time {i * 1000000 + 1} weight 1000000" for i in range(9000)]
	path.write_text("\n".join(lines + ["end", ""]))
	out = page_of(folder, path, "--view", "tree", "--collapse", "none")
	size = "(e => [e.scrollHeight, e.querySelector('canvas').height])(document.querySelector('%s'))"
	told = drive(out, ["press", "1"], ["eval", size % ".flame"], ["eval", size % ".timeline"],
		["eval", "document.querySelector('.flame').focus()"], ["press", *["ArrowDown"] * 60], ["texts", "#flame-told"], ["texts", "aside h2"])
	(flame, flame_canvas), (lanes, lanes_canvas) = told[1], told[2]
	assert flame >= 10001 * 20 and lanes >= 3000 * 22 and flame_canvas < 1200 and lanes_canvas < 600, told
	assert told[5][0].startswith("f, x: in or under") and told[6] == ["f"], told


@harness.takes_long
def test_sizes_of_windows(folder):
	"""Nothing is wider than the window."""
	out = page_of(folder, samples(folder))
	for width in (800, 1440, 2560):
		told = drive(out, *(step for view in "123456" for step in (["press", view], ["eval", "document.documentElement.scrollWidth - innerWidth"])), width=width)
		assert max(told[1::2]) <= 0, (width, told)


if __name__ == "__main__":
	harness.main()
