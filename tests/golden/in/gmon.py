"""Writes a program and its gmon.out: files of bytes that nobody ran, as FOLDER/program and
FOLDER/gmon.out.

	gmon.py FOLDER [--bits 32] [--big-endian] 'main=16 a=75' 'main>a=1 a>a=4'

The first text has the functions and their ticks of 10 ms, the second who called whom how often.
"""

import argparse
import pathlib
import struct

TEXT = 0x1000
FUNCTION_SIZE = 16


class Words:
	"""Numbers as the program's machine writes them."""

	def __init__(self, bits=64, big_endian=False):
		self.bits = bits
		self.order = ">" if big_endian else "<"

	def pack(self, layout, *numbers):
		"""As struct.pack; P is an address."""
		return struct.pack(self.order + layout.replace("P", "Q" if self.bits == 64 else "I"), *numbers)


def elf(words, names):
	"""An ELF file with .text and a symbol for each name, in order, at FUNCTION_SIZE from each other."""
	text = bytes(FUNCTION_SIZE * len(names))
	strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
	symbols, offset = b"\0" * (24 if words.bits == 64 else 16), 1
	for i, name in enumerate(names):
		addr = TEXT + i * FUNCTION_SIZE
		info = 1 << 4 | 2  # global, a function
		if words.bits == 64:
			symbols += words.pack("IBBHQQ", offset, info, 0, 1, addr, FUNCTION_SIZE)
		else:
			symbols += words.pack("IIIBBH", offset, addr, FUNCTION_SIZE, info, 0, 1)
		offset += len(name.encode()) + 1
	section_names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
	header_size = 64 if words.bits == 64 else 52
	sections = [  # name, type, flags, address, bytes, link, entry size
		(0, 0, 0, 0, b"", 0, 0),
		(1, 1, 6, TEXT, text, 0, 0),
		(7, 2, 0, 0, symbols, 3, 24 if words.bits == 64 else 16),
		(15, 3, 0, 0, strings, 0, 0),
		(23, 3, 0, 0, section_names, 0, 0),
	]
	body, headers = b"", b""
	for name, kind, flags, addr, data, link, entry in sections:
		headers += words.pack("IIPPPPIIPP", name, kind, flags, addr, header_size + len(body), len(data),
			link, 1, 1, entry)
		body += data
	machine = {(64, "<"): 62, (32, "<"): 3, (64, ">"): 21, (32, ">"): 20}[words.bits, words.order]
	ident = b"\x7fELF" + bytes([2 if words.bits == 64 else 1, 2 if words.order == ">" else 1, 1]) + bytes(9)
	header = ident + words.pack("HHIPPPIHHHHHH", 2, machine, 1, TEXT, 0, header_size + len(body), 0,
		header_size, 0, 0, 64 if words.bits == 64 else 40, len(sections), len(sections) - 1)
	return header + body + headers


def histogram(words, low, bins, bin_size=4, rate=100):
	"""A histogram record: ticks in bins of bin_size bytes from low."""
	return b"\0" + words.pack("PPII15sc", low, low + bin_size * len(bins), len(bins), rate, b"seconds",
		b"s") + words.pack(f"{len(bins)}H", *bins)


def arc(words, caller, callee, calls):
	return b"\1" + words.pack("PPI", caller, callee, calls)


def gmon(words, records):
	return b"gmon" + words.pack("I", 1) + bytes(12) + b"".join(records)


def write(folder, ticks, calls, words):
	"""ticks: {name: ticks}, calls: {(caller, callee): count}."""
	addr = {name: TEXT + i * FUNCTION_SIZE for i, name in enumerate(ticks)}
	bins = []
	for name in ticks:
		bins += [0, ticks[name], 0, 0]
	records = [histogram(words, TEXT, bins)]
	records += [arc(words, addr[a] + 5, addr[b], count) for (a, b), count in calls.items()]
	folder = pathlib.Path(folder)
	(folder / "program").write_bytes(elf(words, list(ticks)))
	(folder / "gmon.out").write_bytes(gmon(words, records))


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("folder")
	parser.add_argument("--bits", type=int, default=64)
	parser.add_argument("--big-endian", action="store_true")
	parser.add_argument("ticks")
	parser.add_argument("calls")
	args = parser.parse_args()
	ticks = {name: int(n) for name, n in (word.split("=") for word in args.ticks.split())}
	calls = {tuple(pair.split(">")): int(n) for pair, n in (word.split("=") for word in args.calls.split())}
	write(args.folder, ticks, calls, Words(args.bits, args.big_endian))


if __name__ == "__main__":
	main()
