"""The commands that README, the pages of docs/ and the man pages show: each is run, and works.

Those of docs/ whose output stands below them are compared with it by tests/golden/pages.py; here are
the others, which a reader types just so. They are given a profile that has what they name.
"""

import re
import shlex
import shutil
import time

import clickhouse
import harness
import shards
from harness import SOURCE_ROOT, check, run, sonde
from recording import needs_sampling

PROFILE = """sonde-dump 1
metric "cpu-time" "ns" default
metric "samples" "count"
metric "blocked-time" "ns"
metric "preempted-time" "ns"
object user "/usr/bin/app" "ab12"
object user "/usr/lib/libc.so.6"
function "main" object "/usr/bin/app" file "/build/app/main.c" line 1
frame file "/build/app/main.c" line 3 addr 0x1000
function "eval" object "/usr/bin/app"
frame addr 0x1100
function "parse" object "/usr/bin/app"
frame addr 0x1200
function "make_pair" object "/usr/bin/app"
frame addr 0x1300
function "make" object "/usr/bin/app"
frame addr 0x1400
function "sweep" object "/usr/bin/app"
frame addr 0x1500
function "malloc" object "/usr/lib/libc.so.6"
frame addr 0x2000
process 10 start 0 "app"
thread 10 process 0 start 0 "app"
thread 11 process 0 start 0 "worker"
stack 0
stack 1 "main"
stack 2 "parse"
stack 3 "malloc"
stack 2 "eval"
stack 3 "make_pair"
stack 4 "make"
stack 5 "sweep"
sample 4 thread 0 time 10000000 weight 1000000 1 0 0
sample 7 thread 1 time 1500000000 weight 2000000 1 10 20
sample 3 thread 1 time 1600000000 weight 1000000 1 0 0
end
"""

# What is compared elsewhere, or takes a server (record_attach), a control group (record_labels), rights
# (record_machine), a gmon.out (report_gmon), a client (serve_mcp), what runs (top), a program
# with zones (live), the folder of a tracer (report_traces), a
# recording without names (symbolize), the whole machine (agent), or gdb or CMake (howto). What takes
# ClickHouse servers is below.
ELSEWHERE = re.compile(
	r"sonde report (gmon\.out|state\.zones|uftrace\.data|\S+\.er\b|part\.prof|tests\.prof|build-profile/)"
	r"|sonde record (-p|--cgroup|-a|.* gdb|.* ctest) |sonde (live|serve|top|symbolize|agent)\b"
	r"|sonde (merge /srv/profiles|(report|diff) .*hour\.prof)"
	r"|sonde .*\bclickhouse://")
# Files as other tools name them: which the pages show, and what is written so here.
OTHERS = {"cpu.pprof": "pprof", "old.pprof": "pprof", "callgrind.out.1234": "callgrind", "profile.json.gz": "firefox",
	"app.speedscope.json": "speedscope", "profiles.otlp": "otlp", "perf.txt": "perf-script"}
SEEDS = {"perf.data": "perf-data/plain", "cpu.prof": "gperftools-cpu/little64", "CPU.20261121.cpuprofile": "chrome/v8.cpuprofile",
	"heaptrack.program.1234.zst": "heaptrack/whole", "out.txt": "stack-counts/bpftrace"}
RECORDS = re.compile(r"sonde (record|run) ")
# What they did is on standard error.
SENDS = re.compile(r"sonde (push|fleet (init|retain|rollup)) ")


def man_examples():
	for path in sorted((SOURCE_ROOT / "man").glob("*.1")):
		text = path.read_text().partition(".SH EXAMPLES")[2].partition("\n.SH")[0]
		for command in re.findall(r"^\.B (sonde .*)$", text, re.MULTILINE):
			yield path.name, command.replace("\\-", "-")


def page_commands():
	pages = [SOURCE_ROOT / "README.md", *sorted((SOURCE_ROOT / "docs").rglob("*.md"))]
	for path in pages:
		text = path.read_text()
		for command in re.findall(r"^ {4}(?:\$ )?(?:build/)?(sonde .*?)(?:   .*)?$", text, re.MULTILINE):
			yield path.name, command
		if path.name == "other-tools.md":
			for command in re.findall(r"^\|.* `(sonde [^`]*)` \|$", text, re.MULTILINE):
				yield path.name, command
		if path.name == "from-other-profilers.md":
			for row in re.findall(r"^\|.*$", text, re.MULTILINE):
				for command in re.findall(r"`(sonde [^`]*)`", row):
					yield path.name, command.replace("\\|", "|")
		for block in re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
			if not block.startswith("$ "):
				for command in re.findall(r"^(?:build/)?(sonde .*)$", block, re.MULTILINE):
					yield path.name, command


def commands(records):
	found = [(page, command.partition(" | ")[0]) for page, command in (*man_examples(), *page_commands())]
	assert len(found) > 30, found
	return [(page, c) for page, c in found
		if not ELSEWHERE.match(c) and bool(RECORDS.match(c)) == records]


def server_commands():
	"""Those with ClickHouse servers that end by themselves and need no TLS: first what sets up and sends, then what reads."""
	found = [(page, command.partition(" | ")[0]) for page, command in (*man_examples(), *page_commands())]
	found = [(page, c) for page, c in found if "clickhouse://" in c and not re.match(r"sonde (serve|top|agent)\b|.*secure=true", c)]
	text = (SOURCE_ROOT / "docs" / "fleet.md").read_text().partition("| question | command, with `--store …` |")[2].partition("\n\n")[0]
	asked = re.findall(r"`(sonde (?:report|diff|annotate) [^`]*)`", text)
	assert len(found) > 15 and len(asked) > 5, (found, asked)
	found += [("fleet.md", f"{c} --store clickhouse://db1,db2,db3") for c in asked]
	order = ("sonde fleet init", "sonde push", "sonde fleet")
	return sorted(found, key=lambda one: next((i for i, words in enumerate(order) if one[1].startswith(words)), len(order)))


def shell(folder, command):
	if "tests/golden/in/" in command:
		folder = SOURCE_ROOT
	return run("sh", "-c", 'sonde() { "$SONDE" "$@"; }\n' + command, cwd=folder,
		env={"SONDE": harness.SONDE})


def write_files_of_others(folder):
	for name, form in OTHERS.items():
		check(sonde("convert", folder / "app.dump", "-o", folder / name, "--to", form))
	for name, seed in SEEDS.items():
		shutil.copy(SOURCE_ROOT / "tests" / "fuzz" / "seeds" / seed, folder / name)
	shutil.copy(SOURCE_ROOT / "tests" / "golden" / "in" / "slices.trace.json", folder / "trace.json")
	check(sonde("convert", folder / "trace.json", "-o", folder / "trace.pftrace"))


def test_commands_that_read(folder):
	# Recorded now, for questions about the last hour.
	(folder / "app.dump").write_text(PROFILE.replace("\nobject", f"\nstart-unix-ns {time.time_ns()}\nobject", 1))
	for name in ("sonde", "app", "old", "new", "before", "after", "slow", "fast", "run1", "run2", "run3", "all", "lisp", "redis",
		*(f"{side}-{i}" for side in ("old", "new", "before", "after") for i in (1, 2, 3))):
		check(sonde("convert", folder / "app.dump", "-o", folder / f"{name}.prof"))
	for name in ("stacks", "host1", "host2"):
		check(sonde("convert", folder / "app.dump", "-o", folder / f"{name}.folded"))
		check(run("gzip", "--keep", folder / f"{name}.folded"))
	write_files_of_others(folder)
	check(sonde("fleet", "init", "--store", folder / "profiles"))
	for page, command in commands(False):
		result = shell(folder, command)
		if "html" in command and "built without pages" in result.err:
			continue
		printed = result.err if SENDS.match(command) else result.out
		assert result.status == 0 and (printed or " -o " in command), (page, command, result)


def push_for_questions(folder, store):
	"""What the questions are about: two versions on two hosts, now, two days ago, and in the morning that a page names."""
	now = time.time_ns()
	for start in (now, now - 36 * 3600 * 10**9, 1795683600 * 10**9):
		(folder / "api.dump").write_text(PROFILE.replace("\nobject", f"\nstart-unix-ns {start}\nobject", 1))
		check(sonde("convert", folder / "api.dump", "-o", folder / "api.prof"))
		for version in ("1.3", "1.4"):
			for host in ("web1", "web2"):
				check(sonde("push", "--store", store, "--service", "api", "--host", host, "--label", f"version={version}", folder / "api.prof"))


@harness.takes_long
def test_commands_with_servers(folder):
	places = {f"db{i + 1}": f"127.0.0.1:{shards.shared(i).port}" for i in range(3)}
	secret = folder / "secret"
	secret.write_text(f"guarded:{clickhouse.PASSWORD}\n")
	secret.chmod(0o600)
	(folder / "build" / "debug").mkdir(parents=True)

	def here(command):
		command = re.sub(r"clickhouse://(db\d(?:,db\d)*)", lambda m: f"clickhouse://{','.join(places[name] for name in m[1].split(','))}", command)
		return re.sub(r"/etc/sonde/\w+", shlex.quote(str(secret)), command)

	for names in ("db1,db2", "db1,db2,db3"):
		check(sonde("fleet", "init", "--store", here(f"clickhouse://{names}")))
		push_for_questions(folder, here(f"clickhouse://{names}"))
	shutil.copy(folder / "api.prof", folder / "app.prof")
	for page, command in server_commands():
		result = shell(folder, here(command))
		printed = result.err if SENDS.match(command) else result.out
		assert result.status == 0 and printed, (page, command, result)


def test_commands_that_record(folder):
	needs_sampling()
	(folder / "program").write_text("#!/bin/sh\ni=0\nwhile [ $i -lt 20000 ]; do i=$((i + 1)); done\n")
	(folder / "program").chmod(0o755)
	(folder / "Makefile").write_text("all:\n\t./program\n")
	for page, command in commands(True):
		if "make" in command and not shutil.which("make"):
			continue
		result = shell(folder, command)
		assert result.status == 0, (page, command, result)


harness.main()
