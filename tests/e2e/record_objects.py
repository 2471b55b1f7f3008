"""Recordings of all kinds of programs: statically linked, musl, Go, Rust, C++; and of code that comes
from odd places. Each must be walked to its roots, with the right names."""

import shutil

import harness
import recording


def needs(*tools):
	for tool in tools:
		if not shutil.which(tool):
			raise harness.Skip(f"there is no {tool}")


def check_roots(r):
	"""All stacks begin where programs and threads begin. musl's clone has no name when stripped."""
	wrong = {frames[0] for frames, _ in r.stacks if frames and frames[0] not in {*recording.ROOTS, "[truncated]"}
		and not frames[0].startswith("[libc.so+")}
	assert not wrong, wrong


# ---- ways of linking ----

def record_linked(folder, *flags, compiler=None):
	"""The programs that print their truth, linked and compiled like that."""
	def build(name):
		return harness.compile_c(folder, recording.PROGRAMS / f"{name}.c", *recording.FLAGS, *flags,
			name=name, compiler=compiler)
	for name, arguments in (("shares", [320]), ("deep", [1000, 250]), ("threads", [4, 250]),
		("processes", [400]), ("signal_stack", [800])):
		*arguments, milliseconds = arguments
		r = recording.record(folder, build(name), *arguments, harness.work(milliseconds), name=f"{name}.prof",
			options=recording.exact())
		r.check_truth(r.done.out)
		r.check_whole()
		check_roots(r)


@harness.takes_long
def test_static(folder):
	record_linked(folder, "-static")


@harness.takes_long
def test_static_pie(folder):
	record_linked(folder, "-static-pie")


@harness.takes_long
def test_musl(folder):
	needs("musl-gcc")
	record_linked(folder, compiler="musl-gcc")


@harness.takes_long
def test_static_musl(folder):
	needs("musl-gcc")
	record_linked(folder, "-static", compiler="musl-gcc")


# ---- languages ----

def check_go(r):
	r.check_whole()
	for name in ("main.inMain", "main.inRoutine", "main.inDeep"):
		assert r.share(name) > 0.1, (name, r.share(name))
	assert abs(r.share("main.inRoutine") / r.share("main.inDeep") - 1) < 0.3, r.stacks
	for frames, _ in r.stacks:
		# Nothing called that, and its rules say otherwise; on a fast machine it is seldom sampled.
		assert "runtime.rt0_go" not in frames[1:], frames
		if "main.inMain" in frames and "[truncated]" not in frames:
			assert frames[:3] == ["runtime.goexit", "runtime.main", "main.main"], frames
		if frames[-2:] == ["main.inDeep", "main.spin"] and "[truncated]" not in frames:
			assert frames.count("main.inDeep") == 101, (
				frames.count("main.inDeep"), [name for name in frames if name != "main.inDeep"])


GO_ROOTS = {*recording.ROOTS, "runtime.goexit", "runtime.clone", "runtime.rt0_go", "runtime.mstart", "[truncated]"}


def check_go_stacks(r, seldom=()):
	"""Stacks go on from the thread's own stack to the goroutine, also where Go and C call each other. seldom: functions
	that may have no sample."""
	for inner, outer in (("c_spin", ["runtime.goexit", "main.main.func1", "main.inC"]),
		("main.inBack", ["runtime.goexit", "runtime.main", "main.main", "main.throughC"]),
		("runtime.gentraceback", ["runtime.goexit", "runtime.main", "main.main", "main.inCallers"])):
		stacks = [(frames, weight) for frames, weight in r.stacks if inner in frames]
		if inner in seldom and not stacks:
			continue
		whole = [(frames, weight) for frames, weight in stacks if frames[0] != "[truncated]"]
		assert sum(weight for _, weight in whole) >= 0.9 * sum(weight for _, weight in stacks) > 0, (inner, stacks)
		# The runtime's own tracebacks come from elsewhere, too.
		rooted = sum(weight for frames, weight in whole if frames[:len(outer)] == outer)
		assert rooted >= (0.5 if inner == "runtime.gentraceback" else 1) * sum(weight for _, weight in whole), (
			inner, [frames for frames, _ in whole if frames[:len(outer)] != outer][:3])
	for frames, _ in r.stacks:
		if "main.inBack" in frames and frames[0] != "[truncated]":
			order = [frames.index(name) for name in ("main.throughC", "runtime.asmcgocall", "c_back",
				"crosscall2", "runtime.cgocallback", "main.goBack", "main.inBack")]
			assert order == sorted(order), frames


def build_go(folder, name, source, *options):
	"""With cgo."""
	needs("go", "gcc")
	program = folder / name
	harness.check(harness.run("go", "build", *options, "-o", program, source,
		env={"CGO_ENABLED": "1", "GOCACHE": str(folder / "cache"), "GO111MODULE": "off",
			"GOFLAGS": "", "HOME": str(folder)}, timeout=300))
	return program


def build_go_stacks(folder, *options):
	return build_go(folder, "go_stacks", recording.PROGRAMS / "go_stacks.go", *options)


@harness.takes_long
def test_go_and_c(folder):
	program = build_go_stacks(folder)
	r = recording.record(folder, program, harness.work(800), options=recording.exact())
	assert not {frames[0] for frames, _ in r.stacks if frames and frames[0] not in GO_ROOTS}
	if not recording.exact():
		return
	check_go_stacks(r)
	r.check_whole(0.97)
	r = recording.record(folder, program, harness.work(400), options=("--engine", "preload"))
	check_go_stacks(r, seldom={"runtime.gentraceback"})
	r.check_whole(0.97)
	# Without BPF, the goroutine's stack is read later, and is a guess or cut if it has changed.
	r = recording.record(folder, program, harness.work(400), options=("--engine", "snapshot"))
	assert not {frames[0] for frames, _ in r.stacks if frames and frames[0] not in GO_ROOTS}
	assert r.share("main.main") > 0.05, r.share("main.main")


@harness.takes_long
def test_go_and_c_as_nobody(folder):
	"""The library sleeps in the program until a stack is cut, or only guessed as it was read too late."""
	r = recording.as_nobody(folder, build_go_stacks(folder), harness.work(800), library=True)
	r.check_whole(0.9)
	for inner, outer in (("c_spin", "main.inC"), ("main.inBack", "main.throughC")):
		stacks = [(frames, weight) for frames, weight in r.stacks if inner in frames]
		right = sum(weight for frames, weight in stacks if outer in frames)
		assert right >= 0.9 * sum(weight for _, weight in stacks) > 0, (inner, stacks)


@harness.takes_long
def test_go_and_c_stripped(folder):
	"""Without C's symbols, and Go's names from the table that its runtime needs."""
	r = recording.record(folder, build_go_stacks(folder, "-ldflags", "-s"), harness.work(800),
		options=recording.exact())
	assert not {frames[0] for frames, _ in r.stacks if frames and frames[0] not in GO_ROOTS}
	if recording.exact():
		r.check_whole(0.97)


LOADS_GO = """
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

__thread int variables[32];

int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	void (*run)(long) = (void (*)(long))dlsym(library, "run");

	run(atol(argv[2]));
	return variables[argc];
}
"""


@harness.takes_hours
def test_go_linked_by_c(folder):
	"""As a position-independent program, and as a library that a C program loads, which keeps Go's g elsewhere."""
	program = build_go_stacks(folder, "-buildmode=pie")
	for options in (recording.exact(), ("--engine", "preload")):
		r = recording.record(folder, program, harness.work(600), options=options)
		if options:
			check_go_stacks(r, seldom={"runtime.gentraceback"})
	text = (recording.PROGRAMS / "go_stacks.go").read_text()
	text = text.replace("func main() {", "func main() {}\n\n//export run\nfunc run(wanted C.long) {")
	text = text.replace("\twanted, _ := strconv.ParseInt(os.Args[1], 10, 64)\n", "")
	text = text.replace("cpuMilliseconds() < wanted", "cpuMilliseconds() < int64(wanted)")
	text = text.replace('\t"os"\n', "").replace('\t"strconv"\n', "")
	(folder / "library.go").write_text(text)
	library = build_go(folder, "library.so", folder / "library.go", "-buildmode=c-shared")
	(folder / "loads_go.c").write_text(LOADS_GO)
	loads = harness.compile_c(folder, folder / "loads_go.c", "-O2", "-ldl")
	for options in (recording.exact(), ("--engine", "preload")):
		r = recording.record(folder, loads, library, harness.work(600), options=options)
		if not options:
			continue
		weights = [(frames[0], weight) for frames, weight in r.stacks if "c_spin" in frames]
		cut = sum(weight for root, weight in weights if root == "[truncated]")
		assert cut <= 0.1 * sum(weight for _, weight in weights) > 0, (options, r.notes)
		r.check_whole(0.95)


def record_go(folder, *options):
	needs("go")
	program = folder / "code"
	harness.check(harness.run("go", "build", *options, "-o", program, recording.PROGRAMS / "code.go",
		env={"CGO_ENABLED": "0", "GOCACHE": str(folder / "cache"), "GO111MODULE": "off",
			"GOFLAGS": "", "HOME": str(folder)}, timeout=300))
	return recording.record(folder, program, harness.work(800), options=recording.exact())


@harness.takes_long
def test_go(folder):
	check_go(record_go(folder))


@harness.takes_long
def test_stripped_go(folder):
	check_go(record_go(folder, "-ldflags", "-s -w"))


HASKELL = """
module Main where
import qualified Data.Map.Strict as M
import System.CPUTime (getCPUTime)
import System.Environment (getArgs)

collatz :: Int -> Int
collatz 1 = 1
collatz n = 1 + collatz (if even n then n `div` 2 else 3 * n + 1)

counts :: Int -> M.Map Int Int
counts k = M.fromListWith (+) [(collatz x `mod` 97, x) | x <- [k .. k + 3000]]

loop :: Int -> Integer -> Int -> IO Int
loop k end s = do
  now <- getCPUTime
  if now >= end then return s else let t = s + M.foldl' (+) 0 (counts k) in t `seq` loop (k + 1) end t

main :: IO ()
main = do
  [milliseconds] <- getArgs
  s <- loop 1 (read milliseconds * 1000000000) 0
  print (s `mod` 2)
"""


@harness.takes_long
def test_haskell(folder):
	"""GHC's code has no frames of its own: its callers are likely, and no stack is cut."""
	needs("ghc")
	(folder / "Main.hs").write_text(HASKELL)
	for options, engine in (([], recording.exact()), (["-threaded"], ("--engine", "preload"))):
		program = folder / f"main{len(options)}"
		done = harness.run("ghc", "-v0", "-O", *options, "-outputdir", folder / "o", "-fforce-recomp", "-o",
			program, folder / "Main.hs", timeout=120)
		if done.status != 0:
			raise harness.Skip("ghc does not work here")
		r = recording.record(folder, program, harness.work(600), cwd=folder, options=engine)
		cut = r.stats["critical"] - r.stats["guessed"]
		assert cut <= 0.01 * r.stats["counted"] + 2, (options, r.stats, r.notes)
		assert sum(n for frames, n in r.stacks if "hs_main" in frames) > 0.8 * r.total, r.stacks
		for frames, _ in r.stacks:
			if "[guessed]" in frames:
				outer = frames[:frames.index("[guessed]")]
				assert outer[-1] in ("schedule", "scheduleWaitThread"), frames


def record_rust(folder, *options):
	needs("rustc")
	program = folder / "code"
	done = harness.run("rustc", "-O", *options, "-o", program, recording.PROGRAMS / "code.rs",
		timeout=300)
	if done.status:
		raise harness.Skip("rustc does not work here")
	r = recording.record(folder, program, harness.work(500), options=recording.exact())
	r.check_whole()
	return r


def check_rust(r, method):
	parts = {"code::in_main": 0.25, "code::in_thread": 0.25, method: 0.25}
	for name, part in parts.items():
		assert abs(r.share(name) - part) < 0.08, (name, r.share(name))
	assert any(frames.count("code::throw") == 20 for frames, _ in r.stacks)


@harness.takes_long
def test_rust(folder):
	check_rust(record_rust(folder), "<code::Square as code::Shape>::area")


@harness.takes_long
def test_rust_with_names_of_version_0(folder):
	r = record_rust(folder, "-C", "symbol-mangling-version=v0")
	check_rust(r, "<code::Square as code::Shape>::area::<u32>")


def record_throws(folder, compiler):
	needs(compiler)
	program = folder / "throws"
	harness.check(harness.run(compiler, *recording.FLAGS, recording.PROGRAMS / "throws.cpp", "-o",
		program))
	r = recording.record(folder, program, harness.work(430), options=recording.exact())
	r.check_whole()
	r.check_captured()
	clean, area = "shapes::Guard::clean()", "shapes::Square::area(unsigned long)"
	assert abs(r.share(clean) / r.share(area) - 1) < 0.25, (r.share(clean), r.share(area))
	assert r.share(area) > 0.3
	assert 0 < r.share("shapes::caught(std::exception const&)") < 0.1
	assert any(frames.count("shapes::thrower(int)") == 20 for frames, _ in r.stacks)
	for frames, _ in r.stacks:
		if "_Unwind_RaiseException" in frames and "[truncated]" not in frames:
			assert "main" in frames, frames


@harness.takes_long
def test_exceptions(folder):
	record_throws(folder, "g++")


@harness.takes_long
def test_exceptions_by_clang(folder):
	record_throws(folder, "clang++")


# ---- files that go ----

def record_changed(folder, change):
	"""Records a program to whose file something is done while it runs."""
	program = recording.program(folder, "shares")
	r = recording.record(folder, "sh", "-c", f"{program} {harness.work(480, least=480)} & "
		f"until [ /proc/$!/exe -ef {program} ]; do sleep 0.02; done; sleep 0.1; {change}; wait")
	r.check_whole()
	assert r.share("shared", exclusive=True) > 0.4
	return r


def test_a_program_that_is_deleted(folder):
	record_changed(folder, f"rm {folder}/shares")


@harness.takes_long
def test_a_program_that_is_replaced(folder):
	other = recording.program(folder, "mutual")
	record_changed(folder, f"mv {other} {folder}/shares")


@harness.takes_long
def test_a_program_that_is_replaced_before_it_is_sampled(folder):
	"""The file at the path is another one before the first sample of its code is looked at."""
	other = recording.program(folder, "mutual")
	program = recording.program(folder, "shares", "-Wl,--build-id=none")
	# Not before it runs: it would be the other program.
	runs = f"while read name < /proc/$!/comm && [ \"$name\" != {program.name} ]; do :; done"
	r = recording.record(folder, "sh", "-c",
		f"{program} {harness.work(320)} & {runs}; mv {other} {program}; wait", name="late.prof")
	names = {frame for frames, _ in r.stacks for frame in frames}
	assert not names & {"first", "second", "third"}, names


# ---- code from elsewhere ----

@harness.takes_long
def test_a_program_in_a_memfd(folder):
	program = recording.program(folder, "shares")
	r = recording.record(folder, recording.program(folder, "memfd", "-ldl"), "exec", program,
		harness.work(400))
	r.check_truth(r.done.out)
	r.check_whole()


@harness.takes_long
def test_a_program_in_a_memfd_without_build_id(folder):
	program = recording.program(folder, "shares", "-Wl,--build-id=none")
	r = recording.record(folder, recording.program(folder, "memfd", "-ldl"), "exec", program,
		harness.work(400))
	r.check_truth(r.done.out)
	r.check_whole()


def record_library_in_memfd(folder, *flags):
	library = recording.program(folder, "one.so", "-shared", "-fPIC", "-DCALLED_NAME=called_one",
		*flags, source="plugin")
	r = recording.record(folder, recording.program(folder, "memfd", "-ldl"), "dlopen", library,
		harness.work(400))
	r.check_whole()
	r.check_truth("called_one 1 1\nuse_library 0 1\nmain 0 1\n")


@harness.takes_long
def test_a_library_in_a_memfd(folder):
	record_library_in_memfd(folder)


@harness.takes_long
def test_a_library_in_a_memfd_without_build_id(folder):
	record_library_in_memfd(folder, "-Wl,--build-id=none")


# ---- code without rules ----

@harness.takes_long
def test_frames_of_assembly(folder):
	r = recording.record(folder, recording.program(folder, "aligned"), harness.work(1000))
	r.check_truth(r.done.out)
	r.check_whole()
	assert not [frames for frames, _ in r.stacks if "[guessed]" in frames], r.stacks


# ---- namespaces ----

def needs_namespaces(*options):
	recording.needs_root()
	recording.needs_sampling()
	if not shutil.which("unshare") or harness.run("unshare", *options, "true").status != 0:
		raise harness.Skip("such namespaces are not allowed here")


@harness.takes_long
def test_mount_and_pid_namespaces(folder):
	needs_namespaces("-m", "-p", "-f")
	program = recording.program(folder, "shares")
	hidden = folder / "hidden"
	hidden.mkdir()
	r = recording.record(folder, "unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c",
		f"mount -t tmpfs none {hidden} && cp {program} {hidden}/inside && {hidden}/inside {harness.work(400)}")
	r.check_whole()
	assert r.share("shared", exclusive=True) > 0.4


def test_a_32_bit_program_is_counted(folder):
	source = folder / "small.c"
	source.write_text("int main(void) { return 0; }\n")
	if harness.run("cc", "-m32", source, "-o", folder / "small").status:
		raise harness.Skip("no compiler for 32-bit programs")
	r = recording.record(folder, recording.program(folder, "shares", "-m32"), harness.work(300))
	notes = " ".join(note["text"] for note in r.notes)
	assert "32-bit" in notes and "no unwind rule" not in notes, r.notes
	assert r.share("[truncated]") > 0.5 and r.stats["counted"] > 200, r.stats


@harness.takes_long
def test_another_root(folder):
	recording.needs_root()
	needs("chroot")
	root = folder / "root"
	root.mkdir()
	program = recording.program(root, "shares", "-static")
	r = recording.record(folder, "chroot", root, f"/{program.name}", harness.work(400))
	r.check_truth(r.done.out)
	r.check_whole()


# ---- storms ----

def record_storm(folder, kind, rounds=harness.work(250, least=100)):
	program = recording.program(folder, "storms")
	r = recording.record(folder, program, kind, rounds, options=recording.exact())
	r.check_whole()
	r.check_time("in_child", rounds)
	assert r.stats["lost"] == 0, r.stats
	for frames, _ in r.stacks:
		if "in_child" in frames:
			assert frames[-1] == "in_child" and "main" in frames, frames


@harness.takes_long
def test_a_storm_of_forks(folder):
	record_storm(folder, "fork")


@harness.takes_long
def test_a_storm_of_vforks(folder):
	record_storm(folder, "vfork")


@harness.takes_long
def test_a_storm_of_spawns(folder):
	record_storm(folder, "spawn")


@harness.takes_long
def test_a_storm_of_execs(folder):
	record_storm(folder, "exec")


harness.main()
