"""Names for recordings made where there were none: `sonde symbolize`, from folders and from debuginfod."""

import contextlib
import functools
import http.client
import http.server
import os
import pathlib
import shutil
import signal
import socket
import socketserver
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse

import harness
import recording
import served
from proto_wire import put_bytes, put_number

# Inlined into work() twice, and recursive: a chain at each address.
SOURCE = """
#include <time.h>
static inline __attribute__((always_inline)) unsigned inner(unsigned x)
{
	for (int i = 0; i < 1000; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}
__attribute__((noinline)) static unsigned first(unsigned x)
{
	for (int i = 0; i < 100; i++)
		x = inner(x) + 1;
	return x;
}
__attribute__((noinline)) static unsigned second(unsigned x)
{
	for (int i = 0; i < 300; i++)
		x = inner(x) + 2;
	return x;
}
int main(int count, char **arguments)
{
	volatile unsigned x = count;
	while (clock() < %d * (CLOCKS_PER_SEC / 1000))
		x = second(first(x));
	return arguments[0] == 0;
}
"""
NAMES = {"main", "first", "second"}
# The C runtime's part of every program, which runs before and after main: a sample may be in it.
RUNTIME = {"_start", "_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones",
	"__do_global_ctors_aux", "__do_global_dtors_aux", "_dl_relocate_static_pie"}


class Stripped:
	"""A program without symbols or debug information, which are in debug/, and a recording of it."""

	def __init__(self, folder, build=None):
		for tool in ("objcopy", "strip"):
			if not shutil.which(tool):
				raise harness.Skip(f"there is no {tool}")
		text = SOURCE % harness.work(300)
		self.program = build(folder, text) if build else harness.compile_c(folder, text, "-O2", "-g", name="app")
		self.folder = folder / "debug"
		self.folder.mkdir()
		self.debug = self.folder / "app.debug"
		harness.check(harness.run("objcopy", "--only-keep-debug", self.program, self.debug))
		harness.check(harness.run("strip", self.program))
		self.build_id = build_id(self.program)
		self.recording = recording.record(folder, self.program)
		assert not NAMES & names(self.recording), names(self.recording)

	def copy(self, folder, name="copy.prof"):
		return recording.Recording(pathlib.Path(shutil.copy(self.recording.path, folder / name)))


@functools.cache
def stripped():
	"""The same for all cases, which must copy what they change."""
	recording.needs_sampling()
	stripped.folder = tempfile.TemporaryDirectory()
	return Stripped(pathlib.Path(stripped.folder.name))


def build_id(path):
	"""The contents of the note GNU 3, in hex."""
	bytes_ = path.read_bytes()
	at = bytes_.index(struct.pack("<III4s", 4, 20, 3, b"GNU\0"))
	return bytes_[at + 16:at + 36].hex()


def rows(r, view="functions"):
	return r.json("--view", view, "--limit", "0")["rows"]


def names(r):
	"""Those of functions of the program, but for the C runtime's, which may be sampled or not."""
	return {row["name"] for row in rows(r) if row["module"] == "app"} - RUNTIME


def figures(r):
	"""What names must not change: every total, and the weight of each module."""
	modules = sorted((row["name"], row["exclusive"], row["inclusive"]) for row in rows(r, "modules"))
	totals = [r.json("--metric", metric)["total"] for metric in ("cpu-time", "samples", "real-time", "blocked-time")]
	stats = rows(r, "stats")[0]
	# Samples in code without names.
	stats.pop("foreign")
	return totals, stats, modules


def symbolize(path, source, *options, status=0, env=None):
	"""With an empty cache: what took long to look up in another case would need no file in this one."""
	with tempfile.TemporaryDirectory() as cache:
		return harness.check(harness.sonde("symbolize", path, "--from", source, *options,
			env={"XDG_CACHE_HOME": cache, **(env or {})}), status)


def check_named(r, before):
	"""It has functions, lines and inlined calls, and the figures that it had."""
	assert names(r) == NAMES | {"inner"}, names(r)
	lines = {row["line"] for row in rows(r, "lines") if row["name"] == "inner"}
	assert lines and lines <= {5, 6}, lines
	stacks = "".join(r.report("--format", "folded"))
	assert "main;second;inner " in stacks and "main;first;inner " in stacks, stacks
	assert figures(r) == before
	notes = r.json()["notes"]
	assert not any("no symbols for app" in note["text"] for note in notes), notes


def test_from_a_folder(folder):
	s = stripped()
	r = s.copy(folder)
	before = figures(r)
	told = symbolize(r.path, s.folder).err
	check_named(r, before)
	assert "found names for" in told and "in 1 module" in told, told
	# Once more changes nothing.
	bytes_ = r.path.read_bytes()
	assert "have names already" in symbolize(r.path, s.folder).err
	assert r.path.read_bytes() == bytes_
	assert [p.name for p in folder.iterdir()] == ["copy.prof"]


def test_from_a_tree_of_build_ids_elsewhere(folder):
	"""Where the program itself is missing, and with another file as output."""
	s = stripped()
	r = s.copy(folder)
	bytes_ = r.path.read_bytes()
	for root in ("tree", "root/usr/lib/debug"):
		place = folder / root / ".build-id" / s.build_id[:2]
		place.mkdir(parents=True)
		shutil.copy(s.debug, place / f"{s.build_id[2:]}.debug")
	program = s.program.rename(folder / "hidden")
	try:
		for root in ("tree", "root"):
			named = recording.Recording(folder / f"{root}.prof")
			symbolize(r.path, folder / root, "-o", named.path)
			check_named(named, figures(r))
	finally:
		program.rename(s.program)
	assert r.path.read_bytes() == bytes_


def test_another_build_gives_no_names(folder):
	s = stripped()
	r = s.copy(folder)
	bytes_ = r.path.read_bytes()
	place = folder / "tree" / ".build-id" / s.build_id[:2]
	place.mkdir(parents=True)
	# It is where the right one would be, and has all of its names.
	harness.compile_c(place, SOURCE % 1, "-O2", "-g", name=f"{s.build_id[2:]}.debug")
	told = symbolize(r.path, folder / "tree").err
	assert "another" in told and "found names for 0 of" in told, told
	assert r.path.read_bytes() == bytes_
	empty = folder / "empty"
	empty.mkdir()
	assert f"app: no name for" in symbolize(r.path, empty).err
	assert r.path.read_bytes() == bytes_


def test_names_are_replaced_if_asked(folder):
	"""Symbols alone were known; now inlined calls and lines are."""
	s = stripped()
	with_symbols = folder / "symbols"
	with_symbols.mkdir()
	harness.check(harness.run("objcopy", "--strip-debug", s.debug, with_symbols / "app.debug"))
	r = s.copy(folder)
	before = figures(r)
	symbolize(r.path, with_symbols)
	assert names(r) == NAMES, names(r)
	assert "have names already" in symbolize(r.path, s.folder).err
	assert "have names already" in symbolize(r.path, s.folder, "--module", "ap").err
	symbolize(r.path, s.folder, "--module", "app")
	check_named(r, before)
	assert "nothing changes" in symbolize(r.path, s.folder, "--module", "app").err


def build_split(folder, text):
	"""With debug information in app.dwo, where the compiler put it."""
	(folder / "app.c").write_text(text)
	compiler = os.environ.get("CC", "cc").split()
	for step in (("-c", "-g", "-gsplit-dwarf", "-O2", "app.c", "-o", "app.o"), ("app.o", "-o", "app")):
		harness.check(harness.run(*compiler, *step, cwd=folder))
	assert (folder / "app.dwo").exists()
	return folder / "app"


def test_split_dwarf(folder):
	recording.needs_sampling()
	s = Stripped(folder, build_split)
	before = figures(s.recording)
	symbolize(s.recording.path, s.folder)
	check_named(s.recording, before)


def test_a_debug_file_shared_by_dwz(folder):
	"""What dwz moved to a common file is found by its build ID."""
	if not shutil.which("dwz"):
		raise harness.Skip("there is no dwz")
	s = stripped()
	r = s.copy(folder)
	place = folder / "tree"
	place.mkdir()
	for name in ("one", "two"):
		shutil.copy(s.debug, place / f"{name}.debug")
	common = folder / "common.debug"
	harness.check(harness.run("dwz", "-m", common, "-M", "/nowhere/common.debug", place / "one.debug",
		place / "two.debug"))
	if not common.exists():
		raise harness.Skip("dwz found nothing in common")
	(place / "two.debug").unlink()
	common.rename(place / "moved.debug")
	before = figures(r)
	symbolize(r.path, place)
	check_named(r, before)


def test_damaged_and_cut_recordings(folder):
	s = stripped()
	bytes_ = s.recording.path.read_bytes()
	cut = recording.Recording(folder / "cut.prof")
	# The end mark is the last chunk, and short.
	cut.path.write_bytes(bytes_[:-20])
	before = cut.json()["total"]
	symbolize(cut.path, s.folder)
	assert cut.json()["total"] == before and NAMES < names(cut)
	assert any("cut off" in note["text"] for note in cut.notes), cut.notes
	bad = folder / "bad.prof"
	middle = len(bytes_) // 2
	bad.write_bytes(bytes_[:middle] + b"\0\xff\0\xff" + bytes_[middle + 4:])
	kept = bad.read_bytes()
	assert "the recording is damaged" in symbolize(bad, s.folder, status=1).err
	assert bad.read_bytes() == kept
	text = folder / "text.folded"
	text.write_text("a;b 1\n")
	assert "is not a sonde recording" in symbolize(text, s.folder, status=2).err
	merged = folder / "merged.prof"
	harness.check(harness.sonde("merge", "-o", merged, s.recording.path))
	assert "written by merge or convert" in symbolize(merged, s.folder, status=1).err


def test_a_recording_without_names(folder):
	"""Those of the program are left out, though it has them; not those that could not be added later."""
	recording.needs_sampling()
	program = recording.program(folder, "shares")
	# The preload engine sees no kernel, so there is not one name in the file.
	bare = recording.record(folder, program, harness.work(100), options=("--no-symbols", "--engine", "preload"))
	assert {row["name"] for row in rows(bare)} == {"[unknown]"}, rows(bare)
	r = recording.record(folder, program, harness.work(400), options=("--no-symbols",))
	assert "sonde symbolize" in r.done.err, r.done
	functions = [row for row in rows(r) if row["module"] == "shares"]
	assert {row["name"] for row in functions} == {"[unknown]"}, functions
	with open("/proc/kallsyms", encoding="ascii", errors="replace") as lines:
		kernel_is_known = next(lines, "0").split()[0].strip("0")
	if kernel_is_known:
		assert not any(row["name"] == "[unknown]" for row in rows(r) if row["module"] == "[kernel]"), rows(r)
	before = figures(r)
	# All is on this machine.
	empty = folder / "empty"
	empty.mkdir()
	symbolize(r.path, empty)
	named = recording.Recording(r.path)
	named.check_truth(r.done.out)
	assert figures(named) == before
	told = harness.check(harness.sonde("record", "--no-symbols", "--when", "x", "true"), 125).err
	assert "--when needs names" in told, told


# ---- callers that left no frame ----


# Of tests/programs/tails.c: the restored callers inside each caller, outermost first.
TAILS = {"from_inner": (), "from_single": ("single",), "from_second": ("second", "other", "single"), "from_fork_either": (),
	"from_before_fork": ("before_fork",), "from_join": ("joined",), "from_anywhere": (), "from_astray": (),
	"from_outside": ("outside",), "from_ping": ("ping",)}


def tails_of(r):
	"""By caller, the functions between it and inner(), as the samples have them."""
	found = {}
	for line in harness.check(harness.sonde("convert", "--to", "folded", r.path)).out.splitlines():
		frames = line.rsplit(" ", 1)[0].split(";")
		callers = [i for i, frame in enumerate(frames) if frame.startswith("from_")]
		if callers and "inner" in frames:
			found.setdefault(frames[callers[0]], set()).add(tuple(frames[callers[0] + 1:frames.index("inner")]))
	return found


def test_tail_calls(folder):
	"""Restored while recording, or later; not unless asked for."""
	recording.needs_sampling()
	program = recording.program(folder, "tails", "-O2", "-g", recording.PROGRAMS / "tails_other.c")
	expected = {caller: {tuple(f"{name} [tail call]" for name in names)} for caller, names in TAILS.items()}
	r = recording.record(folder, program, 6, options=("--tail-calls", "--interval", "250us"))
	assert tails_of(r) == expected, tails_of(r)
	note, = (n for n in r.json("--view", "stats")["notes"] if "restored callers" in n["text"])
	assert note["kind"] == "info" and note["count"] > 0, note
	plain = recording.record(folder, program, 6, options=("--interval", "250us"), name="plain.prof")
	assert tails_of(plain) == {caller: {()} for caller in TAILS}, tails_of(plain)
	symbolize(plain.path, folder, "--module", "tails", "--tail-calls")
	assert tails_of(plain) == expected, tails_of(plain)


# ---- profiles of other tools ----


@contextlib.contextmanager
def moved_away(s, folder):
	"""The program is in the folder, with its debug file, and no longer where it ran."""
	both = folder / "both"
	shutil.copytree(s.folder, both)
	program = pathlib.Path(shutil.copy(s.program, both / "moved"))
	hidden = s.program.rename(folder / "hidden")
	try:
		yield both
	finally:
		hidden.rename(s.program)
		program.unlink()


def symbolize_other(folder, profile, s):
	"""The recordings that are made of a profile, with debug files alone, and with the program, too."""
	made = []
	with moved_away(s, folder) as both:
		for source in (s.folder, both):
			made.append(recording.Recording(folder / f"from-{source.name}.prof"))
			symbolize(profile, source, "-o", made[-1].path)
	return made


def test_a_perf_data_file(folder):
	s = stripped()
	if not shutil.which("perf"):
		raise harness.Skip("there is no perf")
	path = folder / "perf.data"
	done = harness.run("perf", "record", "-q", "-N", "-g", "-F", "999", "-e", "cpu-clock:u", "-o", path, s.program)
	if done.status:
		raise harness.Skip("perf record fails here")
	bare, named = symbolize_other(folder, path, s)
	assert not NAMES & names(bare), names(bare)
	# perf follows frame pointers, which skip the callers of functions without.
	assert {"first", "second", "inner"} <= names(named), names(named)
	assert bare.json()["total"] == named.json()["total"] > 0
	assert "-o" in symbolize(path, s.folder, status=2).err


def test_a_pprof_profile(folder):
	"""One sample at the beginning of second(), whose address is the file's own."""
	s = stripped()
	symbols = harness.check(harness.run("nm", s.debug)).out
	address = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" second"))
	strings = ["", "samples", "count", str(s.program), s.build_id]
	profile = folder / "one.pprof"
	profile.write_bytes(put_bytes(1, put_number(1, 1) + put_number(2, 2))
		+ put_bytes(2, put_bytes(1, b"\x01") + put_bytes(2, b"\x07"))
		+ put_bytes(3, put_number(1, 1) + put_number(3, 1 << 47) + put_number(5, 3) + put_number(6, 4))
		+ put_bytes(4, put_number(1, 1) + put_number(2, 1) + put_number(3, address + 1))
		+ b"".join(put_bytes(6, text.encode()) for text in strings))
	bare, named = symbolize_other(folder, profile, s)
	assert not NAMES & names(bare), names(bare)
	assert names(named) == {"second"}, names(named)
	assert bare.json()["total"] == named.json()["total"] == 7


# ---- debuginfod ----


def needs_client():
	try:
		import ctypes
		ctypes.CDLL("libdebuginfod.so.1")
	except OSError:
		raise harness.Skip("libdebuginfod is not installed") from None


def from_servers(folder, r, urls, *options, status=0):
	"""Each time with a client that remembers nothing."""
	with tempfile.TemporaryDirectory(dir=folder) as cache:
		return symbolize(r.path, "debuginfod", *options, status=status, env={"DEBUGINFOD_URLS": urls,
			"XDG_CACHE_HOME": cache, "DEBUGINFOD_CACHE_PATH": cache, "DEBUGINFOD_TIMEOUT": None})


def free_port():
	with socket.socket() as s:
		s.bind(("127.0.0.1", 0))
		return s.getsockname()[1]


def test_from_a_debuginfod_server(folder):
	needs_client()
	if not shutil.which("debuginfod"):
		raise harness.Skip("there is no debuginfod")
	s = stripped()
	r = s.copy(folder)
	before = figures(r)
	port = free_port()
	server = subprocess.Popen(["debuginfod", "-d", ":memory:", "-p", str(port), "-F", str(s.folder)],
		stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	try:
		# It answers before it has looked at its files.
		until = time.monotonic() + 60 * harness.PATIENCE
		while "found names for 0" in from_servers(folder, s.copy(folder, "trial.prof"),
			f"http://127.0.0.1:{port}").err:
			assert time.monotonic() < until and server.poll() is None
			time.sleep(0.1)
		from_servers(folder, r, f"http://127.0.0.1:{port}")
	finally:
		server.kill()
		server.wait()
	check_named(r, before)


class Answers(http.server.BaseHTTPRequestHandler):
	"""As the server's `manner` says; what was asked for is in its `asked`."""

	def do_GET(self):
		self.server.asked.append(self.path)
		body = self.server.body
		if self.server.manner == "hangs":
			self.server.released.wait()
			return
		if self.server.manner == "missing":
			self.send_error(404)
			return
		self.send_response(200)
		self.send_header("Content-Length", str(len(body)))
		self.end_headers()
		self.wfile.write(body[:len(body) // 2] if self.server.manner == "cut" else body)

	def log_message(self, *_):
		pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
	daemon_threads = True


@contextlib.contextmanager
def serving(manner, body=b""):
	server = Server(("127.0.0.1", 0), Answers)
	server.manner, server.body, server.asked, server.released = manner, body, [], threading.Event()
	thread = threading.Thread(target=server.serve_forever)
	thread.start()
	try:
		server.url = f"http://127.0.0.1:{server.server_address[1]}"
		yield server
	finally:
		server.released.set()
		server.shutdown()
		thread.join()
		server.server_close()


def test_a_server_that_sends_the_file(folder):
	"""It is asked for debug information once, and for nothing that is there already."""
	needs_client()
	s = stripped()
	r = s.copy(folder)
	before = figures(r)
	with serving("good", s.debug.read_bytes()) as server:
		from_servers(folder, r, server.url)
		assert server.asked == [f"/buildid/{s.build_id}/debuginfo"], server.asked
		check_named(r, before)
		from_servers(folder, r, server.url)
		assert len(server.asked) == 1, server.asked


def test_servers_that_send_something_else(folder):
	needs_client()
	s = stripped()
	other = harness.compile_c(folder, SOURCE % 2, "-O2", "-g", name="other").read_bytes()
	for manner, body in (("missing", b""), ("cut", s.debug.read_bytes()), ("whole", other),
		("whole", b"<html><body>sign in</body></html>"), ("whole", b"")):
		r = s.copy(folder)
		bytes_ = r.path.read_bytes()
		with serving(manner, body) as server:
			told = from_servers(folder, r, server.url).err
			assert server.asked, (manner, told)
		assert "app: no name for" in told and "found names for 0 of" in told, (manner, told)
		assert r.path.read_bytes() == bytes_, manner


def test_a_server_that_hangs(folder):
	"""It is given up after the timeout, once, and its file was not changed; SIGINT is sooner."""
	needs_client()
	s = stripped()
	r = s.copy(folder)
	bytes_ = r.path.read_bytes()
	with serving("hangs") as server:
		told = from_servers(folder, r, server.url, "--timeout", "1s").err
		assert "did not send it" in told, told
		assert len(server.asked) == 1, server.asked
		env = dict(os.environ, DEBUGINFOD_URLS=server.url, DEBUGINFOD_CACHE_PATH=str(folder / "cache"),
			XDG_CACHE_HOME=str(folder / "cache"))
		child = subprocess.Popen([harness.SONDE, "symbolize", r.path, "--from", "debuginfod", "--timeout",
			"1h"], env=env, stderr=subprocess.PIPE)
		while len(server.asked) < 2:
			assert child.poll() is None, child.communicate()
			time.sleep(0.01)
		child.send_signal(signal.SIGINT)
		told = child.communicate(timeout=60 * harness.PATIENCE)[1].decode()
		assert child.returncode == -signal.SIGINT and "is as it was" in told, (child.returncode, told)
	assert r.path.read_bytes() == bytes_


def test_no_request_unless_asked(folder):
	"""The environment's servers alone are no reason to ask them."""
	s = stripped()
	r = s.copy(folder)
	with serving("missing") as server:
		env = {"DEBUGINFOD_URLS": server.url}
		harness.check(harness.sonde("report", r.path, env=env))
		harness.check(harness.sonde("annotate", r.path, next(iter(names(r))), env=env))
		harness.check(harness.sonde("record", "-o", folder / "again.prof", s.program, env=env))
		symbolize(r.path, s.folder, env=env)
		assert server.asked == [], server.asked


# ---- source files from debuginfod ----


class WithoutSource:
	"""A recording of a program whose source file is gone from where it was compiled."""

	def __init__(self, folder):
		recording.needs_sampling()
		source = folder / "a b" / "app.c"
		source.parent.mkdir()
		source.write_text(SOURCE % harness.work(200))
		self.program = folder / "app"
		compiler = os.environ.get("CC", "cc").split()
		harness.check(harness.run(*compiler, "-O2", "-g", "-Wl,--build-id", source, "-o", self.program))
		self.source = source.read_bytes()
		self.request = f"/buildid/{build_id(self.program)}/source{source}"
		self.recording = recording.record(folder, self.program)
		source.unlink()
		self.cache = folder / "cache"

	def run(self, urls, *options, status=0, **env):
		return harness.check(harness.sonde(*options, env={"DEBUGINFOD_URLS": urls, "XDG_CACHE_HOME": str(self.cache),
			"DEBUGINFOD_CACHE_PATH": str(self.cache), "DEBUGINFOD_TIMEOUT": None, **env}), status)

	def annotate(self, urls, *options, **more):
		return self.run(urls, "annotate", self.recording.path, "second", "--source", *options, **more).out

	def asked(self, server):
		return [urllib.parse.unquote(path) for path in server.asked]


def test_annotate_fetches_sources_if_asked(folder):
	needs_client()
	s = WithoutSource(folder)
	with serving("good", s.source) as server:
		assert "no source:" in s.annotate(server.url) and server.asked == []
		text = s.annotate(server.url, "--debuginfod")
		assert "x = inner(x) + 2;" in text and "no source" not in text, text
		assert s.asked(server) == [s.request], server.asked
		# The client keeps it.
		assert s.annotate(server.url, "--debuginfod") == text and len(server.asked) == 1, server.asked
		# This machine's files come first.
		moved = folder / "moved"
		moved.mkdir()
		(moved / "app.c").write_bytes(s.source.replace(b"+ 2;", b"+ 2; // here"))
		text = s.annotate(server.url, "--debuginfod", "--source-map", f"{folder / 'a b'}={moved}")
		assert "// here" in text and len(server.asked) == 1, (text, server.asked)
	assert "DEBUGINFOD_URLS names no server" in s.run("", "annotate", s.recording.path, "second", "--debuginfod",
		status=2).err


def test_servers_without_the_source(folder):
	"""Figures are shown, with the reason why there is no source."""
	needs_client()
	s = WithoutSource(folder)
	for manner, body, reason in (("missing", b"", "no server has it"),
		("cut", s.source, "no server has it"), ("whole", b"\0\1\2", "not a text file")):
		with serving(manner, body) as server:
			text = s.annotate(server.url, "--debuginfod", XDG_CACHE_HOME=str(folder / manner),
				DEBUGINFOD_CACHE_PATH=str(folder / manner))
			assert s.asked(server)[0] == s.request, server.asked
		assert "no source:" in text and reason in text and "second" in text, (manner, text)
	with serving("hangs") as server:
		text = s.annotate(server.url, "--debuginfod", DEBUGINFOD_TIMEOUT="1", DEBUGINFOD_CACHE_PATH=str(folder / "new"))
		assert "did not send it" in text and len(server.asked) == 1, (text, server.asked)
		env = dict(os.environ, DEBUGINFOD_URLS=server.url, DEBUGINFOD_CACHE_PATH=str(folder / "newer"),
			DEBUGINFOD_TIMEOUT="3600")
		child = subprocess.Popen([harness.SONDE, "annotate", s.recording.path, "second", "--debuginfod"], env=env,
			stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		while len(server.asked) < 2:
			assert child.poll() is None, child.communicate()
			time.sleep(0.01)
		child.send_signal(signal.SIGINT)
		told = child.communicate(timeout=60 * harness.PATIENCE)
		assert child.returncode == -signal.SIGINT and told[0] == b"", (child.returncode, told)


def test_a_server_fetches_sources_if_asked(folder):
	"""Servers that hang hold up nobody who asks for something else."""
	needs_client()
	s = WithoutSource(folder)
	source = str(folder / "a b" / "app.c")
	(folder / "root").mkdir()
	arguments = (s.recording.path, "--source-root", folder / "root")
	with serving("good", s.source) as server:
		env = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(s.cache)}
		with served.Server(*arguments, env=env) as without:
			assert without.ask("source", file=source)[0] == 422
			assert b"no source:" in without.good("annotate", function="second", format="text") and server.asked == []
		with served.Server(*arguments, "--debuginfod", env=env) as asking:
			assert asking.good("source", file=source) == s.source and s.asked(server) == [s.request], server.asked
			text = asking.good("annotate", function="second", format="text")
			assert b"x = inner(x) + 2;" in text and len(server.asked) == 1, (text, server.asked)
			assert asking.ask("source", file="/etc/passwd")[0] == 422 and len(server.asked) == 1
	with serving("hangs") as server:
		env = {"DEBUGINFOD_URLS": server.url, "DEBUGINFOD_CACHE_PATH": str(folder / "new"), "DEBUGINFOD_TIMEOUT": "3600"}
		with served.Server(*arguments, "--debuginfod", env=env) as asking:
			def look():
				with contextlib.suppress(OSError, http.client.HTTPException):
					asking.ask("source", file=source)

			waiting = [threading.Thread(target=look, daemon=True) for _ in range(6)]
			for one in waiting:
				one.start()
			while len(server.asked) < 2:
				time.sleep(0.01)
			for _ in range(5):
				assert b"second" in asking.good(view="functions", format="text")
			assert all(one.is_alive() for one in waiting)
	done = harness.sonde("serve", "--no-browser", *arguments, "--debuginfod", env={"DEBUGINFOD_URLS": ""})
	assert done.status == 2 and "DEBUGINFOD_URLS names no server" in done.err, done


def test_a_page_with_fetched_sources(folder):
	needs_client()
	s = WithoutSource(folder)
	page = folder / "page.html"
	report = "report", s.recording.path, "--format", "html", "-o", page, "--embed"
	with serving("good", s.source) as server:
		done = harness.sonde(*report, "source")
		if "built without" in done.err:
			raise harness.Skip("sonde was built without pages")
		harness.check(done)
		size = page.stat().st_size
		assert server.asked == []
		s.run(server.url, *report, "source", "--debuginfod")
		assert s.asked(server) == [s.request] and page.stat().st_size > size, (server.asked, size)
		assert "--embed source" in s.run(server.url, *report, "asm", "--debuginfod", status=2).err


def test_without_servers(folder):
	s = stripped()
	r = s.copy(folder)
	for urls in (None, "", "  "):
		told = harness.check(harness.sonde("symbolize", r.path, "--from", "debuginfod",
			env={"DEBUGINFOD_URLS": urls}), 2).err
		assert "DEBUGINFOD_URLS names no server" in told, told
	assert "No such file" in symbolize(r.path, folder / "none", status=1).err
	assert "--from" in harness.check(harness.sonde("symbolize", r.path), 2).err
	assert "-o" in harness.check(harness.sonde("symbolize", "-", "--from", folder), 2).err


harness.main()
