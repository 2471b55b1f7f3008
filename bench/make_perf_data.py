#!/usr/bin/env python3
"""Writes a perf.data file as perf record -g would: one program on two CPUs, sampled by cpu-clock.

  make_perf_data.py FILE PROGRAM [SAMPLES [STACKS [DEPTH]]]

Addresses are in PROGRAM's code, so that names are looked up as they would be. The stacks are those of a tree of
calls, some common, most rare; each CPU's samples are in order, and the two take turns by rounds.
"""
import os
import random
import struct
import sys

IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 32, 256
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | PERIOD
MMAP2, COMM, SAMPLE, FINISHED_ROUND = 10, 3, 9, 68
USER, CONTEXT_USER = 2, 2**64 - 512
SAMPLE_ID_ALL, FREQ = 1 << 18, 1 << 10
PID, BASE, INTERVAL_NS, ROUND = 4242, 0x555555000000, 250_000, 5000
HEADER_SIZE, ATTR_SIZE = 104, 128


def code_of(program):
	"""Where PROGRAM's code is in its file, and how much of it (elf(5), a segment that may be executed)."""
	with open(program, "rb") as file:
		data = file.read()
	offset, = struct.unpack_from("<Q", data, 32)
	size, count = struct.unpack_from("<HH", data, 54)
	for i in range(count):
		kind, flags, off, _, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
		if kind == 1 and flags & 1:
			return off, length
	raise SystemExit(f"{program} has no code")


def record(kind, body, misc=USER):
	body += b"\0" * (-len(body) % 8)
	return struct.pack("<IHH", kind, misc, len(body) + 8) + body


def trailer(time):
	return struct.pack("<IIQ", PID, PID, time)


def string(text):
	return text.encode() + b"\0" * (8 - len(text.encode()) % 8)


def head(program, off, length):
	page = off & ~4095
	identity = struct.pack("<IIQQQIIQQII", PID, PID, BASE + page, (length + off - page + 4095) & ~4095, page,
		0, 0, 0, 0, 5, 2)
	return record(COMM, struct.pack("<II", PID, PID) + string(os.path.basename(program)) + trailer(0)) + \
		record(MMAP2, identity + string(os.path.realpath(program)) + trailer(0))


def chains(code, stacks, depth, chooser):
	"""So many stacks, leaf first: each begins as an earlier one does."""
	off, length = code
	found = [[BASE + off + chooser.randrange(length) for _ in range(4)]]
	while len(found) < stacks:
		stem = found[chooser.randrange(len(found))]
		stem = stem[:max(4, len(stem) - chooser.randrange(1, 8))]
		most = chooser.randrange(len(stem) + 1, max(len(stem) + 2, depth * 2 - 8))
		found.append(stem + [BASE + off + chooser.randrange(length) for _ in range(min(most - len(stem), 12))])
	return [struct.pack(f"<{len(c) + 2}Q", len(c) + 1, CONTEXT_USER, *reversed(c)) for c in found]


def attr():
	fields = struct.pack("<IIQQQQQ", 1, ATTR_SIZE, 0, 4000, SAMPLE_TYPE, 0, FREQ | SAMPLE_ID_ALL)
	return fields + b"\0" * (ATTR_SIZE - len(fields)) + struct.pack("<QQ", 0, 0)


def write(path, program, samples, stacks, depth):
	chooser = random.Random(1)
	bodies = chains(code_of(program), stacks, depth, chooser)
	ips = [chain[16:24] for chain in bodies]
	begin = HEADER_SIZE + ATTR_SIZE + 16
	with open(path, "wb") as out:
		out.write(b"\0" * HEADER_SIZE + attr())
		out.write(head(program, *code_of(program)))
		times = [10**9, 10**9 + INTERVAL_NS // 2]
		for done in range(0, samples, ROUND):
			cpu = done // ROUND % 2
			for _ in range(min(ROUND, samples - done)):
				# A tenth of the stacks have most of the samples.
				i = chooser.randrange(stacks // 10 if chooser.random() < 0.8 else stacks)
				times[cpu] += INTERVAL_NS
				out.write(record(SAMPLE, ips[i] + struct.pack("<IIQQ", PID, PID + cpu, times[cpu], INTERVAL_NS) + bodies[i]))
			if cpu:
				out.write(record(FINISHED_ROUND, b"", 0))
		size = out.tell() - begin
		out.seek(0)
		out.write(struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", HEADER_SIZE, ATTR_SIZE + 16, HEADER_SIZE, ATTR_SIZE + 16,
			begin, size, 0, 0, 0, 0, 0, 0))


if __name__ == "__main__":
	if len(sys.argv) < 3:
		raise SystemExit(__doc__.strip())
	write(sys.argv[1], sys.argv[2], *[int(n) for n in sys.argv[3:] + ["1250000", "12500", "38"][len(sys.argv) - 3:]])
