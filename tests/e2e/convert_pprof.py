"""pprof profiles that sonde writes, read by go tool pprof and protoc; and addresses that are named by files that are here."""

import gzip
import json
import re
import shutil
import struct

import harness
from harness import SOURCE_ROOT, check, compile_c, run, sonde

INPUTS = SOURCE_ROOT / "tests" / "golden" / "in"


def written(folder, name):
	path = folder / f"{name}.pb.gz"
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
	metrics = json.loads(check(sonde("convert", INPUTS / name, "-o", "-", "--to", "json")).out)["metrics"]
	for metric in [m["name"] for m in metrics]:
		document = json.loads(check(sonde("report", INPUTS / name, "--format", "json", "--limit", "0", "--metric", metric)).out)
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
		assert "by the file that is there now" in result.err, result
		packed = folder / "out.pb.gz"
		check(sonde("convert", path, "-o", packed))
		assert check(sonde("convert", packed, "-o", "-", "--to", "folded")).out == result.out
		lines = check(sonde("convert", packed, "-o", "-", "--to", "dump")).out
		assert "p.c" in lines, lines


harness.main()
