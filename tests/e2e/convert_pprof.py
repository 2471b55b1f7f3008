"""pprof profiles that sonde writes, read by go tool pprof and protoc; those it reads as go tool pprof does, older ones in text,
too; and addresses that are named by files that are here."""

import ctypes.util
import gzip
import json
import re
import shutil
import struct

import harness
from harness import SOURCE_ROOT, check, compile_c, run, sonde
from proto_wire import fields, put_bytes, put_number

INPUTS = SOURCE_ROOT / "tests" / "golden" / "in"


def written(folder, name):
	path = folder / "written.pb.gz"
	check(sonde("convert", INPUTS / name, "-o", path))
	return path


def go_pprof(folder, *arguments):
	if not shutil.which("go"):
		raise harness.Skip("there is no go")
	# It keeps its settings at home.
	return check(run("go", "tool", "pprof", *arguments, env={"HOME": str(folder), "PPROF_TMPDIR": str(folder)}))


def top(folder, path, metric):
	"""{function: (flat, cum)} of go tool pprof, in the metric's smallest unit."""
	text = go_pprof(folder, "-top", "-unit=minimum", "-nodecount=100000", "-nodefraction=0", f"-sample_index={metric}", path).out
	scale = {"": 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "B": 1, "mins": 60 * 10**9, "hrs": 3600 * 10**9}

	def number(word):
		value, unit = re.fullmatch(r"(-?[\d.]+)(\D*)", word).groups()
		return round(float(value) * scale[unit])
	rows = re.findall(r"^ *(\S+) +\S+% +\S+% +(\S+) +\S+%  (.*?)(?: \(inline\))?$", text, re.M)
	return {name: (number(flat), number(cum)) for flat, cum, name in rows}


def same_figures(folder, name):
	path = written(folder, name)
	same_tops(folder, INPUTS / name, path)


def same_tops(folder, ours_path, path):
	metrics = json.loads(check(sonde("convert", ours_path, "-o", "-", "--to", "json")).out)["metrics"]
	for metric in [m["name"] for m in metrics]:
		document = json.loads(check(sonde("report", ours_path, "--format", "json", "--limit", "0", "--metric", metric)).out)
		# Two functions of one name are one to pprof.
		ours, names = {}, [r["name"] for r in document["rows"]]
		for row in document["rows"]:
			if names.count(row["name"]) == 1 and (row["exclusive"] or row["inclusive"]):
				ours[row["name"]] = (row["exclusive"], row["inclusive"])
		theirs = top(folder, path, metric)
		assert ours.items() <= theirs.items(), (metric, ours, theirs)


def test_figures_of_threads(folder):
	same_figures(folder, "threads.dump")


def test_figures_of_recursion(folder):
	same_figures(folder, "recursion.folded")


def test_figures_of_modules(folder):
	same_figures(folder, "modules.folded")


def test_threads_are_labels(folder):
	tags = go_pprof(folder, "-tags", written(folder, "threads.dump")).out
	for key in ("thread", "tid", "pid", "process"):
		assert re.search(rf"^ *{key}: Total", tags, re.M), tags


def test_protoc_reads_it(folder):
	if not shutil.which("protoc"):
		raise harness.Skip("there is no protoc")
	for name in ("threads.dump", "list.dump", "waits.dump"):
		plain = gzip.decompress(written(folder, name).read_bytes())
		text = check(run("protoc", "--decode_raw", input=plain)).out
		assert text.startswith("1 {"), text[:200]
		assert re.search(r'^6: ""$', text, re.M), "the first string is not empty"


def test_same_bytes(folder):
	assert written(folder, "threads.dump").read_bytes() == written(folder, "threads.dump").read_bytes()


def asking(folder, profile, drop, keep):
	"""The profile with drop_frames and keep_frames (fields 7 and 8), whose texts come last in its table of strings (6)."""
	plain = gzip.decompress(written(folder, profile).read_bytes())
	strings = len(fields(plain)[6])
	texts = put_bytes(6, drop.encode()) + put_bytes(6, keep.encode())
	path = folder / "asking.pb.gz"
	path.write_bytes(gzip.compress(plain + texts + put_number(7, strings) + (put_number(8, strings + 1) if keep else b"")))
	return path


def test_frames_are_dropped_as_pprof_does(folder):
	dropped = folder / "dropped.folded"
	dropped.write_text("main;work;malloc;tc_malloc;mmap 5\nmain;work 2\nmalloc;main;free 3\nfree;malloc 6\n"
		"main;operator new(unsigned long);x 4\nmain;runtime.panic;y 1\nmain;runtime.gc;y 7\nmain;.malloc;z 9\n"
		"main;(anonymous namespace)::f(int);g 8\n")
	cases = [(dropped, "malloc|free|operator new|runtime\\..*", "runtime\\.panic"), (dropped, "m[a-z]{3}(?:loc)?", ""),
		(dropped, "(?i)MALLOC|\\(anonymous namespace\\)::f", ""), (dropped, "nothing|(", ""), (dropped, "\\pL+", ""),
		(INPUTS / "threads.dump", ".*[a-k]", ""), (INPUTS / "list.dump", ".*[l-z]", ".*t"), (INPUTS / "list.dump", ".*", "")]
	for profile, drop, keep in cases:
		path = asking(folder, profile, drop, keep)
		same_tops(folder, path, path)
	result = check(sonde("convert", asking(folder, *cases[0]), "-o", "-", "--to", "folded"))
	assert sorted(result.out.splitlines()) == ["free;malloc 6", "main 20", "main;(anonymous namespace)::f(int);g 8",
		"main;runtime.panic;y 1", "main;work 7", "malloc;main 3"], result
	assert "drop_frames" in check(sonde("report", asking(folder, *cases[0]))).out
	assert "invalid regular expression" in check(sonde("report", asking(folder, dropped, "malloc(", ""))).out


MAPS = """
MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 17    /no/such/program
70001000-70003000 r-xp 00001000 08:01 18    /no/such/lib.so
"""
ROWS = """  2:  48 [  4:  896] @ 0x00400124 0x70001235 0x400300
     1:   1200 [  1:   1200] @ 0x00400124 0x400300
     0:      0 [ 17: 170000] @ 0x70001235 0x400300
 12345: 987654 [ 99999: 7654321] @ 0x70002000
"""
LEGACY = {
	"heap": "heap profile: 12348: 988902 [100021: 7826417] @ heapprofile\n" + ROWS,
	"heap_v2": "heap profile: 12348: 988902 [100021: 7826417] @ heap_v2/524288\n" + ROWS,
	"heapz_v2": "heap profile: 12348: 988902 [100021: 7826417] @ heapz_v2/1024\n" + ROWS,
	"go": "heap profile: 12348: 988902 [100021: 7826417] @ heap/1048576\n" + ROWS,
	"no rate": "heap profile: 12348: 988902 [0: 0] @ heap_v2\n" + ROWS,
	"growth": "heap profile: 3: 1248 [3: 1248] @ growthz\n  3: 1248 [ 3: 1248] @ 0x400124 0x400300\n",
	"contention": "--- contention:\ncycles/second=2494000000\nsampling period=7\n4245161 12 @ 0x400124 0x70001235\n33 1 @ 0x400300\n",
	"mutex": "--- mutex:\ncycles/second=999999999\nsampling period=1\n4245161 12 @ 0x400124 0x70001235\n",
	"contentionz": "--- contentionz 1 ---\nsampling period = 3\nms since reset = 12\n17 5 @ 0x400124\n",
}


def test_older_texts_as_pprof_reads_them(folder):
	for name, text in LEGACY.items():
		path, proto = folder / "older.txt", folder / "older.pb.gz"
		# Of these pprof ends the rows at three dashes alone.
		path.write_text(text + (MAPS.replace("MAPPED_LIBRARIES:", "--- Memory map: ---") if text[0] == "-" else MAPS))
		go_pprof(folder, "-proto", f"-output={proto}", path)
		metrics = json.loads(check(sonde("convert", proto, "-o", "-", "--to", "json")).out)["metrics"]
		for metric in [m["name"] for m in metrics]:
			ours, theirs = (sorted(check(sonde("convert", file, "-o", "-", "--to", "folded", "--metric", metric)).out.splitlines())
				for file in (path, proto))
			assert ours == theirs and (ours or metric == "inuse_objects"), (name, metric, ours, theirs)


HEAP = """
#include <stdlib.h>
#include <string.h>
static char *kept[1000];
__attribute__((noinline)) char *leaf(size_t n) { char *p = malloc(n); memset(p, 1, n); return p; }
__attribute__((noinline)) void keep(int i) { kept[i] = leaf(2048); kept[i][0] = 2; }
int main(void) { for (int i = 0; i < 1000; i++) keep(i); return kept[999][0] == 0; }
"""


def heap_of(folder, library, variables, pattern):
	"""What a real allocator writes of a program that keeps 1,000 times 2,048 bytes."""
	found = ctypes.util.find_library(library)
	if not found:
		raise harness.Skip(f"there is no lib{library}")
	(folder / "h.c").write_text(HEAP)
	program = compile_c(folder, folder / "h.c", "-O1", "-g", "-fno-omit-frame-pointer")
	check(run(program, env={"LD_PRELOAD": found, **variables}))
	files = sorted(folder.glob(pattern))
	if not files:
		raise harness.Skip(f"lib{library} was built without profiling")
	document = json.loads(check(sonde("report", files[-1], "--format", "json", "--limit", "0")).out)
	return {row["name"]: row["inclusive"] for row in document["rows"]}


def test_heap_of_tcmalloc(folder):
	rows = heap_of(folder, "tcmalloc", {"HEAPPROFILE": str(folder / "tc")}, "tc*.heap")
	assert rows["keep"] == 2048 * 1000 and rows["leaf"] == 2048 * 1000, rows


def test_heap_of_jemalloc(folder):
	rows = heap_of(folder, "jemalloc", {"MALLOC_CONF": f"prof:true,prof_final:true,lg_prof_sample:10,prof_prefix:{folder}/je"}, "je*.heap")
	assert abs(rows["keep"] / (2048 * 1000) - 1) < 0.2, rows


SOURCE = """
__attribute__((noinline)) int leaf(int x) { return x * 3; }
__attribute__((noinline)) int caller(int x) { return leaf(x) + 1; }
int main(int argc, char **argv) { (void)argv; return caller(argc); }
"""


def gperftools(folder, program, base, names):
	"""A profile of a stack, leaf first, in functions of the program, which is mapped at base; and of the same without
	its second frame, which would else be taken for the signal handler's."""
	symbols = {line.split()[2]: int(line.split()[0], 16) for line in check(run("nm", program)).out.splitlines()
		if len(line.split()) == 3}
	addresses = [base + symbols[name] + 2 for name in names]
	short = addresses[:1] + addresses[2:]
	words = [0, 3, 0, 10000, 0, 7, len(addresses), *addresses, 1, len(short), *short, 0, 1, 0]
	maps = "".join(f"{base + int(vaddr, 16):x}-{base + int(vaddr, 16) + 0x1000:x} {'r-xp' if 'E' in flags else 'r--p'} "
		f"{int(offset, 16):08x} 08:01 17 {program}\n" for offset, vaddr, flags in
		re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x\w+ 0x\w+ ([RWE ]+) 0x", check(run("readelf", "-lW", program)).out))
	path = folder / "cpu.prof"
	path.write_bytes(struct.pack(f"<{len(words)}Q", *words) + maps.encode())
	return path


def test_addresses_are_named(folder):
	(folder / "p.c").write_text(SOURCE)
	for base, flags in ((0x555500000000, ["-fPIE", "-pie"]), (0, ["-fno-pie", "-no-pie"])):
		program = compile_c(folder, folder / "p.c", "-O1", "-g", *flags)
		path = gperftools(folder, program, base, ["leaf", "caller", "main"])
		result = check(sonde("convert", path, "-o", "-", "--to", "folded"))
		assert result.out == "main;caller;leaf 70000000\nmain;leaf 10000000\n", result
		assert "from the file that is there now" in result.err, result
		packed = folder / "out.pb.gz"
		check(sonde("convert", path, "-o", packed))
		assert check(sonde("convert", packed, "-o", "-", "--to", "folded")).out == result.out
		lines = check(sonde("convert", packed, "-o", "-", "--to", "dump")).out
		assert "p.c" in lines, lines


harness.main()
