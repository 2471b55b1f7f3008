#!/usr/bin/env python3
"""Writes recordings of tracers: a folder of uftrace, a file of heaptrack, an experiment of gprofng.

  make_traces.py uftrace|heaptrack|gprofng CALLS PATH [wide]

CALLS of functions, allocations, or ticks of a clock.  "wide": no two in the same stack, which takes the most memory.
"""
import os
import struct
import sys

NAMES = [f"function_{i}" for i in range(64)]


def write(folder, name, data):
	with open(os.path.join(folder, name), "wb") as file:
		file.write(data if isinstance(data, bytes) else data.encode())


def uftrace_records(calls, wide):
	"""A walk up and down a stack; wide: ever deeper, by all functions in turn."""
	record = struct.Struct("<QQ").pack
	time, depth, stack, out = 10**9, 0, [], bytearray()
	if wide:
		for i in range(calls * 2):
			out += record(time + i, 5 << 3 | (i & 1023) << 6 | (0x11000 + i % 64 * 16) << 16)
		return bytes(out)
	for i in range(calls):
		up = [0, 0, 0, 1, 1, 2, 3, 5][i * 2654435761 >> 7 & 7]
		for _ in range(min(up, len(stack))):
			time += 7
			out += record(time, 1 | 5 << 3 | (len(stack) - 1) << 6 | stack.pop() << 16)
		stack.append(0x11000 + (i * 40503 >> 4) % 64 * 16)
		time += 11
		out += record(time, 5 << 3 | (len(stack) - 1) << 6 | stack[-1] << 16)
		if len(stack) == 40:
			del stack[20:]
	while stack:
		time += 5
		out += record(time, 1 | 5 << 3 | (len(stack) - 1) << 6 | stack.pop() << 16)
	return bytes(out)


def uftrace(calls, path, wide):
	os.makedirs(path)
	header = struct.pack("<8sIHBBQQHHI", b"Ftrace!\0", 4, 40, 1, 2, 0x62, 0, 65535, 0, 0)
	write(path, "info", header + b"cmdline:uftrace record prog\nelapsed_time:1.0 sec\n")
	write(path, "task.txt", 'SESS timestamp=1.0 pid=1 sid=1 exename="/opt/prog"\nTASK timestamp=1.0 tid=1 pid=1\n')
	write(path, "sid-1.map", "00010000-00020000 r-xp 00000000 00:00 0 /opt/prog\n")
	write(path, "prog.sym", "".join(f"{0x1000 + i * 16:016x} T {name}\n" for i, name in enumerate(NAMES)) +
		"0000000000002000 ? __sym_end\n")
	write(path, "1.dat", uftrace_records(calls, wide))


def heaptrack(calls, path, wide):
	traces = calls if wide else 5000
	lines = ["v 10400 3", "X prog"] + [f"s {len(name):x} {name}" for name in NAMES]
	lines += [f"i {i:x} 0 {i % 64 + 1:x} 0 0" for i in range(1, 257)]
	lines += [f"t {i % 256 + 1:x} {i // 2:x}" for i in range(1, traces + 1)]
	lines += [f"a {i % 512:x} {i:x}" for i in range(1, traces + 1)]
	for i in range(calls):
		lines.append(f"+ {i % traces:x}")
		if i % 3:
			lines.append(f"- {i % traces:x}")
	with open(path, "w") as file:
		file.write("\n".join(lines) + "\n")


def gprofng(calls, path, wide):
	stacks = calls if wide else 5000
	os.makedirs(path)
	write(path, "log.xml", '<experiment version="12.4">\n<process wsize="64"></process><process>prog</process>\n'
		'<profile name="profile" ptimer="1000"><profdata fname="profile"/><profpckt kind="8">' + "".join(
		f'<field name="{name}" offset="{offset}" type="{kind}"/>' for name, offset, kind in (("LWPID", 8, "INT64"),
			("TSTAMP", 16, "INT64"), ("FRINFO", 24, "INT64"), ("MSTATE", 32, "INT32"), ("NTICK", 36, "INT32"))) +
		"</profpckt></profile>\n")
	write(path, "map.xml", '<event kind="map" object="segment" vaddr="0x1000" size="65536" foffset="0" modes="0x005" name="/opt/prog"/>\n')
	frames, packets = bytearray(), bytearray()
	for i in range(stacks):
		addresses = [0x1000 + (i * 40503 + k * k * 7919) % 4096 * 16 for k in range(1 if wide else 20)]
		size = 16 + len(addresses) * 8 + 8
		frames += struct.pack("<HHIQIIQ", 16 + size, 11, 16, i + 1, size, 0x80000001, i + 1)
		frames += struct.pack(f"<{len(addresses)}QQ", *addresses, i if wide else 0)
	for i in range(calls):
		packets += struct.pack("<HHIQQQII", 40, 8, 0, i % 8 + 1, i * 1000, i % stacks + 1, 10, 1)
	write(path, "data.frameinfo", bytes(frames))
	write(path, "profile", bytes(packets))


def main():
	kind, calls, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
	{"uftrace": uftrace, "heaptrack": heaptrack, "gprofng": gprofng}[kind](calls, path, "wide" in sys.argv[4:])


if __name__ == "__main__":
	main()
