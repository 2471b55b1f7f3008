"""Writes a perf.data file that no perf has written, as FOLDER/perf.data, and a perf map next to it.

	perf_data.py FOLDER [--big-endian] [--pipe] [--old-magic] [--packed 81|83] [--attr-size N] [--cut N] [--stacks]
	             [--calls] [--as-folder] [--trace] [--rest]

Two events, cycles and cpu-clock, sample two processes: alpha, whose code the map names, and beta, which alpha has
forked and which has become another program. Whatever the options say, the records are the same.
"""

import argparse
import pathlib
import struct

IP, TID, TIME, CALLCHAIN, ID, CPU, PERIOD, RAW, BRANCH, IDENTIFIER = (
	1, 2, 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 10, 1 << 11, 1 << 16)
READ, REGS, STACK = 1 << 4, 1 << 12, 1 << 13
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | ID | CPU | PERIOD | RAW | BRANCH | IDENTIFIER
KERNEL, USER = 1, 2
TO_KERNEL, TO_USER = 2**64 - 128, 2**64 - 512
CYCLES, CLOCK = 11, 12
ALPHA, BETA = 100, 200
MAP = "7000 100 inner\n7100 100 middle\n7200 100 outer\n"


class File:
	def __init__(self, options):
		self.order = ">" if options.big_endian else "<"
		self.options = options
		self.records = b""
		self.ends = []

	def pack(self, layout, *numbers):
		return struct.pack(self.order + layout, *numbers)

	def record(self, kind, body, misc=0):
		body += bytes(-len(body) % 8)
		return self.pack("IHH", kind, misc, len(body) + 8) + body

	def add(self, *arguments):
		self.records += self.record(*arguments)
		self.ends.append(len(self.records))

	def string(self, text):
		return text.encode() + bytes(8 - len(text.encode()) % 8)

	def trailer(self, pid, tid, time):
		"""What sample_id_all puts behind records that are no samples: tid, time, id, cpu, identifier."""
		return self.pack("IIQQIIQ", pid, tid, time, CYCLES, 0, 0, CYCLES)

	def comm(self, pid, tid, name, time, execs=False):
		self.add(3, self.pack("II", pid, tid) + self.string(name) + self.trailer(pid, tid, time), execs << 13)

	def fork(self, pid, parent, time):
		self.add(7, self.pack("IIIIQ", pid, parent, pid, parent, time) + self.trailer(parent, parent, time))

	def mmap(self, pid, low, size, path, time, misc=USER):
		self.add(1, self.pack("iIQQQ", pid, max(pid, 0), low, size, 0) + self.string(path) + self.trailer(
			max(pid, 0), max(pid, 0), time), misc)

	def mmap2(self, pid, low, size, path, build_id, time):
		identity = bytes([len(build_id), 0, 0, 0]) + build_id + bytes(20 - len(build_id))
		self.add(10, self.pack("iIQQQ", pid, pid, low, size, 0x1000) + identity + self.pack("II", 5, 2) +
			self.string(path) + self.trailer(pid, pid, time), USER | 1 << 14)

	def sample(self, event, pid, tid, time, period, chain, mode=USER):
		ip = next(a for a in chain if a < 2**64 - 4096)
		calls = [3, 2, 1, 6, 5, 4]
		if self.options.stacks and TO_USER in chain:
			chain = chain[:chain.index(TO_USER)]
		if self.options.calls:
			at = chain.index(TO_USER) + 1
			# Where each call was made and what it called; what frame pointers found is shorter.
			calls = [word for caller, callee in zip(chain[at + 1:], chain[at:]) for word in (caller, callee & ~255)][:64]
			chain = chain[:at + 1] + [0x7fff]
		body = self.pack("QQIIQQIIQ", event, ip, pid, tid, time, event, 0, 0, period)
		body += self.pack(f"Q{len(chain)}Q", len(chain), *chain)
		if self.options.stacks:
			body = body[:56] + self.pack("QQQ", 1, 50 * time, event) + body[56:]
		body += self.pack("I4s", 4, b"raw!") + self.branches(calls)
		if self.options.stacks:
			# bp, sp and ip, and a frame whose caller is at the stack's end.
			body += self.pack("QQQQ", 2, 0x7f0010, 0x7f0000, ip)
			body += self.pack("Q6QQ", 48, 0, 0, 0x7f0020, 0x7110, 0, 0x7210, 48)
		self.add(9, body, mode)

	def branches(self, calls):
		"""From where, to where, no flags."""
		return self.pack("Q", len(calls) // 2) + b"".join(
			self.pack("QQQ", calls[i], calls[i + 1], 0) for i in range(0, len(calls), 2))

	def attr(self, kind, config, period):
		"""struct perf_event_attr as long as asked for, and as long as it says."""
		flags = [18]  # sample_id_all
		word = bytearray(8)
		for bit in flags:
			word[bit // 8] |= 1 << (7 - bit % 8 if self.order == ">" else bit % 8)
		size = self.options.attr_size
		stacks = self.options.stacks
		fields = self.pack("IIQQQQ", kind, size, config, period,
			SAMPLE_TYPE | (READ | REGS | STACK if stacks else 0), 0xc if stacks else 0) + word
		fields += self.pack("QQQQQ", 0, 0, 0, 1 << 11 | 1 if self.options.calls else 0, 0x1c0 if stacks else 0)
		return (fields + bytes(size))[:size]


def write_rest(file):
	"""Records that no other file has."""
	ident = bytes(range(1, 21))
	file.add(67, file.pack("i", -1) + ident + bytes([20, 0, 0, 0]) + file.string("[kernel.kallsyms]"), 1 << 15)
	file.add(67, file.pack("i", -1) + ident[:16] + bytes(8) + file.string("/opt/beta"))
	file.add(67, bytes(8))
	file.add(5, file.pack("QQQ", 2800, CYCLES, CYCLES) + file.trailer(ALPHA, ALPHA, 2800))
	file.add(6, file.pack("QQQ", 2801, CYCLES, CYCLES) + file.trailer(ALPHA, ALPHA, 2801))
	file.mmap(ALPHA, 0x8000, 0x1000, "/tmp/jit-100.dump", 2810)
	file.mmap(ALPHA, 0x9000, 0x1000, "/elsewhere/.debug/jit/folder/jit-100.dump", 2811)
	file.mmap(BETA, 0x10000, 0x1000, "[vdso]", 2812)
	file.mmap(-1, 0xffffffffc0000000, 0x1000, "[ext4]", 2813, KERNEL)
	file.mmap(-1, 0xffffffffc0001000, 0x1000, "/lib/modules/6.1/kernel/fs/fat.ko", 2813, KERNEL)
	for mode in (3, 4, 5):
		file.sample(CYCLES, ALPHA, ALPHA, 2820 + mode, 1, [0x1234, 0x5678], mode)
	file.sample(CYCLES + 1, ALPHA, ALPHA, 2830, 1, [TO_KERNEL, 0xffffffffc0000010, 2**64 - 32, 0x10, 2**64 - 2048,
		0x20, 2**64 - 2176, 0x30, 2**64 - 2560, 0x40, 2**64 - 4000, 0x50, TO_USER, 0x7010])
	file.sample(CYCLES + 2, BETA, 201, 2840, 2**63, [TO_USER, 0x10010])
	file.sample(CYCLES + 77, BETA, 201, 2841, 1, [TO_USER, 0x10010])
	file.fork(300, BETA, 2850)
	file.fork(301, 300, 2851)
	file.mmap(301, 0x20000, 0x1000, "/opt/of child", 2852)
	file.sample(CYCLES, 301, 301, 2853, 1, [TO_USER, 0x20010, 0x7010])
	file.add(4, file.pack("IIIIQ", 301, 300, 301, 300, 2860) + file.trailer(301, 301, 2860))
	file.add(78, file.pack("QQ", 2, CYCLES + 3) + file.string("named late"))  # EVENT_UPDATE
	file.add(78, file.pack("QQ", 1, CYCLES + 3) + file.pack("d", 1.0))
	file.add(64, file.pack("II", 0, 8))  # an ATTR of an impossible size
	file.add(80, file.pack("Q", 12) + file.pack("II", 2, 3))
	file.add(80, file.pack("Q", 300))
	file.add(66, file.pack("I", 6))  # TRACING_DATA, which is followed by as many bytes
	file.records += b"ftrace" + bytes(2)
	file.ends[-1] = len(file.records)


def events(file):
	if file.options.rest:
		# One of each type, named by its numbers.
		kinds = [(0, 0), (1, 0), (2, 7), (3, 0x10002), (3, 0xff), (4, 0x1cd), (5, 1), (9, 3), (0, 99), (1, 99)]
		return [(file.attr(kind, config, 1000), CYCLES + i, None) for i, (kind, config) in enumerate(kinds)]
	return [(file.attr(0, 0, 1000), CYCLES, "cycles:u"), (file.attr(1, 0, 250000), CLOCK, "cpu-clock")]


def write_records(file):
	file.mmap(-1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0, KERNEL)
	file.comm(ALPHA, ALPHA, "alpha", 0)
	file.mmap(ALPHA, 0x7000, 0x1000, "//anon", 0)
	file.mmap2(ALPHA, 0x400000, 0x10000, "/opt/no/such/lib.so", bytes(range(1, 21)), 1000)
	file.sample(CYCLES, ALPHA, ALPHA, 1000, 3, [TO_USER, 0x7010, 0x7110, 0x7210])
	file.sample(CLOCK, ALPHA, ALPHA, 1500, 250000, [TO_USER, 0x7110, 0x7210])
	# A call at the very end of middle, whose return address is outer's first.
	file.sample(CYCLES, ALPHA, ALPHA, 1700, 10, [TO_USER, 0x7000, 0x7200, 0x7280])
	file.fork(BETA, ALPHA, 2000)
	file.sample(CYCLES, BETA, BETA, 2100, 4, [TO_USER, 0x400010, 0x7210])
	file.comm(BETA, BETA, "beta", 2200, True)
	file.mmap(BETA, 0x7000, 0x1000, "/opt/beta", 2250)
	# What the other CPU wrote meanwhile comes later.
	file.sample(CYCLES, ALPHA, 101, 1900, 5, [TO_KERNEL, 0xffffffff81000010, 0xffffffff81000020, TO_USER, 0x7010],
		KERNEL)
	file.sample(CYCLES, BETA, BETA, 2300, 6, [TO_USER, 0x7010])
	file.sample(CYCLES, BETA, BETA, 2400, 7, [TO_USER, 0x9999])
	file.sample(CYCLES, ALPHA, ALPHA, 2500, 1, [TO_USER] + [0x7110] * 127)
	file.add(68, b"")  # FINISHED_ROUND
	file.add(2, file.pack("QQ", CYCLES, 5) + file.trailer(ALPHA, ALPHA, 2600))
	file.add(13, file.pack("Q", 2) + file.trailer(ALPHA, ALPHA, 2600))
	file.add(14, file.trailer(ALPHA, ALPHA, 2600))  # SWITCH
	file.add(120, b"of the future...")
	file.add(9, b"short")  # a sample that is none
	file.comm(ALPHA, 101, "helper", 2700)
	if file.options.rest:
		write_rest(file)
	if file.options.trace:
		file.add(70, file.pack("II", 1, 0))  # AUXTRACE_INFO: Intel PT
		file.add(71, file.pack("QQQIIII", 4096, 0, 0, 0, ALPHA, 0, 0))
		file.records += bytes(4096)
		file.ends[-1] = len(file.records)


def feature_string(file, text):
	padded = text.encode() + bytes(64 - len(text.encode()) % 64)
	return file.pack("I", len(padded)) + padded


def rest_of_features(file):
	"""All but the names of events: they have none."""
	ident = bytes(range(21, 41))
	build_ids = file.record(0, file.pack("i", -1) + ident + bytes([8, 0, 0, 0]) + file.string("/opt/of child"), 1 << 15)
	build_ids += file.record(0, file.pack("i", 7) + ident + bytes(4) + file.string("[ext4]"))
	caps = file.pack("I", 2) + feature_string(file, "max_precise") + feature_string(file, "3") + feature_string(file,
		"branches") + feature_string(file, "16")
	return [(2, build_ids), (4, feature_string(file, "6.1.0")), (6, feature_string(file, "x86_64")),
		(13, bytes(8)), (28, caps), (29, file.pack("IIQQ", 1, 1, 10**18, 500)),
		(31, file.pack("I", 2) + (caps + feature_string(file, "cpu")) * 2)]


def features(file):
	"""Number and contents: host, command, names of events."""
	if file.options.rest:
		return rest_of_features(file)
	names = file.pack("II", len(events(file)), file.options.attr_size)
	for attr, number, name in events(file):
		names += attr + file.pack("I", 1) + feature_string(file, name) + file.pack("Q", number)
	command = file.pack("I", 2) + feature_string(file, "perf") + feature_string(file, "record")
	found = [(3, feature_string(file, "elsewhere")), (11, command), (12, names)]
	if file.options.as_folder:
		found.append((24, file.pack("Q", 1)))
	if file.options.calls:
		found.append((28, file.pack("I", 2) + feature_string(file, "max_precise") + feature_string(file, "3") +
			feature_string(file, "branches") + feature_string(file, "32")))
	return found


def zstd(data):
	"""A zstd frame of blocks that are not packed (RFC 8878)."""
	out = b"\x28\xb5\x2f\xfd\x00\x58"
	blocks = [data[i:i + 1000] for i in range(0, len(data), 1000)]
	for i, block in enumerate(blocks):
		out += struct.pack("<I", (i + 1 == len(blocks)) | len(block) << 3)[:3] + block
	return out


def packed(file, kind, data):
	"""The records as parts of one stream; where one ends and the next begins has nothing to do with records."""
	stream, out = zstd(data), b""
	for i in range(0, len(stream), 300):
		part = stream[i:i + 300]
		out += file.record(kind, part if kind == 81 else file.pack("Q", len(part)) + part) if kind == 83 or \
			len(part) % 8 == 0 else file.pack("IHH", 81, 0, len(part) + 8) + part
	return out


def whole(file, part=slice(None)):
	"""With a part of the records only, those of a folder's main file."""
	file.records = file.records[part]
	records = packed(file, file.options.packed, file.records) if file.options.packed else file.records
	magic = b"PERFFILE" if file.options.old_magic else b"PERFILE2"
	magic = magic if file.order == "<" else magic[::-1]
	if file.options.pipe:
		head = b"".join(file.record(64, attr + file.pack("Q", number)) for attr, number, _ in events(file))
		head += b"".join(file.record(80, file.pack("Q", number) + body) for number, body in features(file))
		return magic + file.pack("Q", 16) + head + records
	row = file.options.attr_size + 16
	ids_at, attrs, ids = 104, b"", b""
	for attr, number, _ in events(file):
		attrs += attr + file.pack("QQ", ids_at + len(ids), 8)
		ids += file.pack("Q", number)
	begin = ids_at + len(ids) + len(attrs)
	bits = sum(1 << number for number, _ in features(file))
	table, body, at = b"", b"", begin + len(records) + 16 * len(features(file))
	for _, data in features(file):
		table += file.pack("QQ", at + len(body), len(data))
		body += data
	header = magic + file.pack("QQQQQQQQ4Q", 104, row, ids_at + len(ids), len(attrs), begin, len(records), 0, 0,
		bits, 0, 0, 0)
	return header + ids + attrs + records + table + body


def write_folder(file, path):
	"""The first records in the file with the header, the others in two files by turns."""
	begin, parts = file.ends[3], [b"", b""]
	for i, (start, end) in enumerate(zip(file.ends[3:], file.ends[4:])):
		parts[i // 3 % 2] += file.records[start:end]
	path.mkdir()
	for i, part in enumerate(parts):
		part = packed(file, file.options.packed, part) if file.options.packed else part
		(path / f"data.{i}").write_bytes(part[:file.options.cut])
	(path / "data").write_bytes(whole(file, slice(begin)))


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("folder", type=pathlib.Path)
	parser.add_argument("--big-endian", action="store_true")
	parser.add_argument("--pipe", action="store_true")
	parser.add_argument("--old-magic", action="store_true")
	parser.add_argument("--packed", type=int)
	parser.add_argument("--attr-size", type=int, default=136)
	parser.add_argument("--cut", type=int)
	parser.add_argument("--stacks", action="store_true", help="copies of registers and stacks, and counters, too")
	parser.add_argument("--calls", action="store_true", help="branches that are calls under way, as of --call-graph lbr")
	parser.add_argument("--as-folder", action="store_true", help="a folder perf.data, as of --threads")
	parser.add_argument("--rest", action="store_true", help="events, features and records that are in no other file")
	parser.add_argument("--trace", action="store_true", help="a trace of hardware")
	options = parser.parse_args()
	file = File(options)
	write_records(file)
	if options.as_folder:
		write_folder(file, options.folder / "perf.data")
	else:
		(options.folder / "perf.data").write_bytes(whole(file)[:options.cut])
	(options.folder / f"perf-{ALPHA}.map").write_text(MAP)


main()
