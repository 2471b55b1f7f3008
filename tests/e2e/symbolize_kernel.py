"""Names for code of a kernel that ran elsewhere: vmlinux and modules by build ID, in `sonde symbolize`."""

import lzma
import os
import gzip
import pathlib
import shutil
import struct

import harness
import recording

# _text marks the kernel's first byte; inlined() is in enter()'s code.
KERNEL = """
__attribute__((noinline)) void _text(void) { __asm__ volatile("nop"); }
static inline __attribute__((always_inline)) int inlined(int x)
{
	__asm__ volatile("nop; nop" ::: "memory");
	return x + 1;
}
__attribute__((noinline)) int leaf(int x) { __asm__ volatile("nop; nop; nop" ::: "memory"); return x; }
__attribute__((noinline)) int enter(int x) { return inlined(leaf(x)) * 3; }
void _start(void) { enter(1); }
"""
# Code in three sections, one of which does not stay in memory: the loader leaves it out.
MODULE = """
#define SECTION(name) __attribute__((noinline, section(name)))
SECTION(".text") int send(int x) { __asm__ volatile("nop; nop; nop" ::: "memory"); return x; }
SECTION(".init.text") int load(int x) { __asm__ volatile("nop; nop; nop" ::: "memory"); return send(x) + 2; }
SECTION(".text.unlikely") int complain(int x) { __asm__ volatile("nop; nop; nop" ::: "memory"); return x + 5; }
"""
KERNEL_VA = 0xffffffff9d600000
MODULE_VA = 0xffffffffc08ab000
KERNEL_NAME = "[kernel.kallsyms]_text"
MODULE_NAME = "/lib/modules/6.1.0/kernel/net/my-mod.ko.xz"


def compiled(folder, text, name, *link):
	"""Compiles in the folder; the path, and addresses of functions."""
	for tool in ("ld", "nm", "readelf", "objcopy"):
		if not shutil.which(tool):
			raise harness.Skip(f"there is no {tool}")
	(folder / "code.c").write_text(text)
	compiler = os.environ.get("CC", "cc").split()
	flags = "-O2", "-g", "-ffreestanding", "-fno-pic", "-fno-pie", "-fno-asynchronous-unwind-tables"
	harness.check(harness.run(*compiler, *flags, "-c", "code.c", "-o", "code.o", cwd=folder))
	path = folder / name
	harness.check(harness.run("ld", *link, "--build-id", "-o", path, "code.o", cwd=folder))
	(folder / "code.o").unlink()
	symbols = {}
	for line in harness.check(harness.run("nm", path)).out.splitlines():
		words = line.split()
		if len(words) == 3:
			symbols[words[2]] = int(words[0], 16)
	return path, symbols


def build_id(path):
	bytes_ = path.read_bytes()
	at = bytes_.index(struct.pack("<III4s", 4, 20, 3, b"GNU\0"))
	return bytes_[at + 16:at + 36]


def section_places(path):
	"""Name, flags, size and alignment of each section, in order."""
	found = []
	for line in harness.check(harness.run("readelf", "-SW", path)).out.splitlines():
		line = line.partition("]")[2].split()
		if len(line) == 10 and line[0].startswith("."):
			found.append((line[0], line[6], int(line[4], 16), int(line[9])))
	return found


def loaded_at(path):
	"""Where the kernel's loader puts each section of code (layout_sections in kernel/module/main.c)."""
	at, places = MODULE_VA, {}
	for name, flags, size, alignment in section_places(path):
		if "A" in flags and "X" in flags and not name.startswith(".init"):
			at = (at + alignment - 1) // alignment * alignment
			places[name] = at
			at += size
	return places


class Machine:
	"""A kernel and a module of another machine, in a folder, and where their functions ran."""

	def __init__(self, folder):
		self.folder = folder / "files"
		self.folder.mkdir()
		self.kernel, symbols = compiled(self.folder, KERNEL, "vmlinux", "-static", "-Ttext=0x10000000")
		self.va = {name: va - symbols["_text"] + KERNEL_VA for name, va in symbols.items()}
		self.module, symbols = compiled(self.folder, MODULE, "my-mod.ko", "-r")
		sections = loaded_at(self.module)
		assert len(sections) == 2, sections
		self.va["send"] = sections[".text"] + symbols["send"]
		self.va["complain"] = sections[".text.unlikely"] + symbols["complain"]
		self.build_ids = {"[kernel.kallsyms]": build_id(self.kernel), MODULE_NAME: build_id(self.module)}


def record(kind, body, misc=0):
	body += bytes(-len(body) % 8)
	return struct.pack("<IHH", kind, misc, len(body) + 8) + body


def text(string):
	return string.encode() + bytes(8 - len(string) % 8)


def perf_data(path, machine, build_ids=None):
	"""Two samples: leaf, called by enter; and complain, called by send."""
	IP, TID, TIME, CALLCHAIN = 1, 2, 4, 32
	KERNEL_MODE, TO_KERNEL, ID_IS_SIZED = 1, 2**64 - 128, 1 << 15
	records = record(1, struct.pack("<iIQQQ", -1, 0, KERNEL_VA, 1 << 24, KERNEL_VA) + text(KERNEL_NAME), KERNEL_MODE)
	records += record(1, struct.pack("<iIQQQ", -1, 0, MODULE_VA, 1 << 14, 0) + text(MODULE_NAME), KERNEL_MODE)
	records += record(3, struct.pack("<II", 7, 7) + text("task"))
	for i, (inner, outer) in enumerate((("leaf", "enter"), ("complain", "send"))):
		# A return address is after the call, somewhere in the caller.
		chain = [TO_KERNEL, machine.va[inner] + 1, machine.va[outer] + 2]
		body = struct.pack("<QIIQQ3Q", chain[1], 7, 7, 1000 * (i + 1), len(chain), *chain)
		records += record(9, body, KERNEL_MODE)
	# PERF_COUNT_SW_CPU_CLOCK, without sample_id_all.
	attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000000, IP | TID | TIME | CALLCHAIN, 0, 0).ljust(136, b"\0")
	ids = b""
	for name, number in (machine.build_ids if build_ids is None else build_ids).items():
		ids += record(67, struct.pack("<i", -1) + number + bytes([len(number), 0, 0, 0]) + text(name), 1 | ID_IS_SIZED)
	host = text("elsewhere")
	features = [(2, ids), (3, struct.pack("<I", len(host)) + host)]
	begin = 104 + 136 + 16
	at = begin + len(records) + 16 * len(features)
	table = b""
	for _, body in features:
		table += struct.pack("<QQ", at, len(body))
		at += len(body)
	header = b"PERFILE2" + struct.pack("<8Q4Q", 104, 136 + 16, 104, 136 + 16, begin, len(records), 0, 0,
		sum(1 << number for number, _ in features), 0, 0, 0)
	path.write_bytes(header + attr + bytes(16) + records + table + b"".join(body for _, body in features))
	return path


def symbolize(folder, profile, source, *options, status=0):
	made = folder / "named.prof"
	done = harness.check(harness.sonde("symbolize", profile, "--from", source, "-o", made, *options,
		env={"XDG_CACHE_HOME": str(folder / "cache")}), status)
	return recording.Recording(made), done


def stacks(r):
	return {line.rpartition(" ")[0] for line in r.report("--format", "folded").splitlines()}


NAMED = {"enter;leaf", "send;complain"}


def check_named(r):
	assert stacks(r) == NAMED, stacks(r)
	rows = {(row["name"], row["module"]): row["line"] for row in r.json("--view", "lines", "--limit", "0")["rows"]}
	assert {module for _, module in rows} == {"[kernel]", "[my_mod]"}, rows
	assert rows["leaf", "[kernel]"] == 8 and rows["enter", "[kernel]"] == 9, rows
	assert rows["send", "[my_mod]"] == 3 and rows["complain", "[my_mod]"] == 5, rows


def test_kernel_and_module_of_a_perf_data_file(folder):
	"""Whose addresses on that machine were other ones than in the files."""
	machine = Machine(folder)
	profile = perf_data(folder / "perf.data", machine)
	assert all("leaf" not in stack for stack in stacks(recording.Recording(profile)))
	named, _ = symbolize(folder, profile, machine.folder)
	check_named(named)


def check_packed(folder, name, pack):
	"""Found by its name, among others, and confirmed by the build ID."""
	machine = Machine(folder)
	profile = perf_data(folder / "perf.data", machine)
	bytes_ = machine.module.read_bytes()
	machine.module.unlink()
	(machine.folder / "older").mkdir()
	(machine.folder / "older" / "my-mod.ko.gz").write_bytes(gzip.compress(machine.kernel.read_bytes()))
	(machine.folder / "another.ko.gz").write_bytes(b"damaged, and not looked at")
	named, _ = symbolize(folder, profile, machine.folder)
	assert "enter;leaf" in stacks(named) and not NAMED <= stacks(named), stacks(named)
	(machine.folder / name).write_bytes(pack(bytes_))
	named, done = symbolize(folder, profile, machine.folder)
	check_named(named)
	assert "another" not in done.err, done


def test_modules_packed_with_gzip(folder):
	check_packed(folder, "my-mod.ko.gz", gzip.compress)


def test_modules_packed_with_xz(folder):
	if b"lzma" not in pathlib.Path(harness.SONDE).read_bytes():
		raise harness.Skip("sonde was built without liblzma")
	check_packed(folder, "my_mod.ko.xz", lzma.compress)


def test_modules_packed_with_zstd(folder):
	if not shutil.which("zstd"):
		raise harness.Skip("there is no zstd")

	def pack(bytes_):
		(folder / "plain").write_bytes(bytes_)
		harness.check(harness.run("zstd", "-q", folder / "plain", "-o", folder / "packed"))
		return (folder / "packed").read_bytes()

	check_packed(folder, "my-mod.ko.zst", pack)


def separate(path, debug, *flags):
	harness.check(harness.run("objcopy", "--only-keep-debug", *flags, path, debug))
	path.unlink()


def test_debug_files(folder):
	"""In a tree of build IDs, without code, and with compressed sections."""
	machine = Machine(folder)
	profile = perf_data(folder / "perf.data", machine)
	tree = folder / "tree"
	for path in (machine.kernel, machine.module):
		name = build_id(path).hex()
		place = tree / ".build-id" / name[:2]
		place.mkdir(parents=True, exist_ok=True)
		separate(path, place / f"{name[2:]}.debug", "--compress-debug-sections=zlib")
	check_named(symbolize(folder, profile, tree)[0])


def test_debug_files_by_name(folder):
	machine = Machine(folder)
	profile = perf_data(folder / "perf.data", machine)
	separate(machine.kernel, machine.folder / "vmlinux.debug")
	separate(machine.module, machine.folder / "my-mod.ko.debug")
	check_named(symbolize(folder, profile, machine.folder)[0])


def test_symbols_without_debug_information(folder):
	"""As modules are installed."""
	machine = Machine(folder)
	profile = perf_data(folder / "perf.data", machine)
	for path in (machine.kernel, machine.module):
		harness.check(harness.run("objcopy", "--strip-debug", path))
	named, _ = symbolize(folder, profile, machine.folder)
	assert stacks(named) == NAMED, stacks(named)


def test_other_builds_give_no_names(folder):
	machine = Machine(folder)
	other = bytes(range(20))
	for name in machine.build_ids:
		profile = perf_data(folder / "perf.data", machine, {**machine.build_ids, name: other})
		named, done = symbolize(folder, profile, machine.folder)
		lost = "enter;leaf" if name.startswith("[kernel") else "send;complain"
		assert stacks(named) & NAMED == NAMED - {lost}, stacks(named)
		assert "no file with its build ID, " + other.hex() in done.err, done
	profile = perf_data(folder / "perf.data", machine, {})
	named, done = symbolize(folder, profile, machine.folder)
	assert not stacks(named) & NAMED and "its build ID is unknown" in done.err, (stacks(named), done)


def test_a_kernel_without_symbols(folder):
	"""Nothing in it has the address that is known."""
	machine = Machine(folder)
	profile = perf_data(folder / "perf.data", machine)
	harness.check(harness.run("objcopy", "--strip-all", machine.kernel))
	named, done = symbolize(folder, profile, machine.folder)
	assert "enter;leaf" not in stacks(named) and "send;complain" in stacks(named), stacks(named)
	assert "has no symbol _text" in done.err, done


# ---- recordings of this kernel ----

SYSTEM_CALLS = """
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	char bytes[4096];
	int zeros = open("/dev/zero", O_RDONLY);

	while (clock() < %d * (CLOCKS_PER_SEC / 1000))
		for (int i = 0; i < 100; i++)
			if (read(zeros, bytes, sizeof(bytes)) < 0)
				return 1;
	return 0;
}
"""

def kernel_symbols():
	"""Functions of the running kernel by name, in order; those with one name several times are left out."""
	found, double = {}, set()
	for line in pathlib.Path("/proc/kallsyms").read_text(errors="replace").splitlines():
		words = line.split()
		if len(words) == 3 and words[1] in "tT":
			if words[2] in found:
				double.add(words[2])
			found[words[2]] = int(words[0], 16)
	if not found.get("_text") and not found.get("_stext"):
		raise harness.Skip("/proc/kallsyms hides addresses")
	return {name: va for name, va in found.items() if name not in double}


def file_of_this_kernel(folder, names):
	"""A file with the running kernel's build ID, and these functions where they are, called named_NAME."""
	notes = pathlib.Path("/sys/kernel/notes")
	try:
		number = build_id(notes)
	except (OSError, ValueError):
		raise harness.Skip("the kernel has no build ID") from None
	symbols = kernel_symbols()
	first = min(symbols.get("_text", 2**64), symbols.get("_stext", 2**64))
	lines = [".text", ".globl _text, _stext", "_text:", "_stext:"]
	places = sorted((symbols[name] - first, name) for name in names if symbols.get(name, 0) >= first)
	for i, (offset, name) in enumerate(places):
		end = places[i + 1][0] if i + 1 < len(places) else offset + 4096
		label = "named_" + name.replace(".", "_")
		lines += [f".org {offset}", f".type {label}, %function", f".size {label}, {end - offset}", f"{label}:"]
	lines += [".org " + str(places[-1][0] + 4096)]
	(folder / "kernel.s").write_text("\n".join(lines) + "\n")
	compiler = os.environ.get("CC", "cc").split()
	harness.check(harness.run(*compiler, "-c", "kernel.s", "-o", "kernel.o", cwd=folder))
	files = folder / "files"
	files.mkdir()
	harness.check(harness.run("ld", "-static", "-e", "_text", "-Ttext=0x20000000", f"--build-id=0x{number.hex()}",
		"-o", files / "vmlinux", "kernel.o", cwd=folder))
	(folder / "kernel.o").unlink()
	return files


def kernel_names(r):
	rows = r.json("--limit", "0")["rows"]
	return {row["name"] for row in rows if row["module"] == "[kernel]" and not row["name"].startswith("[")}


def test_a_recording_of_this_kernel(folder):
	"""Which stores what another machine needs: its names can all be replaced."""
	recording.needs_sampling()
	program = harness.compile_c(folder, SYSTEM_CALLS % harness.work(400))
	r = recording.record(folder, program)
	before = kernel_names(r)
	known = before & set(kernel_symbols())
	if not known:
		raise harness.Skip("no kernel functions are sampled here")
	total = r.json()["total"]
	files = file_of_this_kernel(folder, known)
	done = harness.check(harness.sonde("symbolize", r.path, "--from", files, "--module", "kernel"))
	named = recording.Recording(r.path)
	missing = {name for name in known if "named_" + name.replace(".", "_") not in kernel_names(named)}
	assert not missing, (missing, done, kernel_names(named))
	assert named.json()["total"] == total


harness.main()
