"""Writes a trace of Perfetto, byte by byte: two tracks of slices, one of them never ended.

	perfetto.py FILE
"""

import sys


def varint(n):
	out = b""
	while n > 127:
		out += bytes([n & 127 | 128])
		n >>= 7
	return out + bytes([n])


def number(field, n):
	return varint(field << 3) + varint(n)


def part(field, data):
	data = data.encode() if isinstance(data, str) else data
	return varint(field << 3 | 2) + varint(len(data)) + data


def packet(*parts):
	return part(1, b"".join(parts) + number(10, 1))


def thread(track, pid, tid, name):
	"""A TrackDescriptor with a ThreadDescriptor."""
	return packet(part(60, number(1, track) + part(4, number(1, pid) + number(2, tid) + part(5, name))))


def event(time, track, kind, name=None):
	"""A TrackEvent: kind 1 begins a slice, 2 ends it, 3 is an instant."""
	return packet(number(8, time), part(11, number(9, kind) + number(11, track) + (part(23, name) if name else b"")))


def main(path):
	data = thread(7, 100, 101, "main") + thread(8, 100, 102, "worker")
	data += event(1000, 7, 1, "frame") + event(1200, 7, 1, "draw") + event(1300, 7, 3, "input") + event(1700, 7, 2)
	data += event(2000, 7, 2) + event(1500, 8, 1, "decode") + event(1900, 8, 1, "never ended")
	with open(path, "wb") as out:
		out.write(data)


if __name__ == "__main__":
	main(sys.argv[1])
