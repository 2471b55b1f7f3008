"""Recordings of programs whose own description is damaged: unwind rules, debug information, symbols,
section and program headers. They run; recording them must not crash, hang, or take memory without
bound, the file must open, and what was truncated must be counted."""

import random
import re
import struct

import harness
import recording

MUTANTS = 200 if harness.LONG else 8 if harness.SANITIZED else 16
MEMORY_MIB = 1024 if harness.SANITIZED else 200
SECTION = struct.Struct("<IIQQQQIIQQ")
NUMBERS = (0, 1, 2, 7, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 63, (1 << 64) - 1)


class Elf:
	"""A program's bytes, to be changed."""

	def __init__(self, path):
		self.bytes = bytearray(path.read_bytes())
		self.section_off, = struct.unpack_from("<Q", self.bytes, 40)
		self.program_off, = struct.unpack_from("<Q", self.bytes, 32)
		self.program_count, = struct.unpack_from("<H", self.bytes, 56)
		count, names = struct.unpack_from("<HH", self.bytes, 60)
		rows = [SECTION.unpack_from(self.bytes, self.section_off + i * SECTION.size)
			for i in range(count)]
		strings = bytes(self.bytes[rows[names][4]:rows[names][4] + rows[names][5]])
		self.sections = [(strings[row[0]:strings.index(b"\0", row[0])].decode(), row[4], row[5])
			for row in rows]

	def damage(self, chosen, r):
		"""Changes some bytes of the sections that chosen selects."""
		for name, off, size in self.sections:
			if not chosen(name) or size == 0 or name == ".bss":
				continue
			for _ in range(r.randrange(1, 2 + size // 40)):
				at = off + r.randrange(size)
				kind = r.randrange(3)
				if kind == 0:
					self.bytes[at] = r.randrange(256)
				elif kind == 1:
					self.bytes[at] ^= 1 << r.randrange(8)
				else:
					value = struct.pack("<Q", r.choice(NUMBERS))[:r.choice((1, 2, 4, 8))]
					value = value[:off + size - at]
					self.bytes[at:at + len(value)] = value

	def damage_section_headers(self, r):
		for _ in range(r.randrange(1, 6)):
			row = r.randrange(len(self.sections))
			field = r.choice(((4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8),
				(56, 8)))
			at = self.section_off + row * SECTION.size + field[0]
			self.bytes[at:at + field[1]] = struct.pack("<Q", r.choice(NUMBERS))[:field[1]]

	def damage_file_header(self, r):
		at, size = r.choice(((40, 8), (58, 2), (60, 2), (62, 2)))
		self.bytes[at:at + size] = struct.pack("<Q", r.choice(NUMBERS))[:size]

	def damage_program_headers(self, r):
		"""Of those that the kernel and the loader do not look at: notes and the unwind rules' index."""
		for i in range(self.program_count):
			at = self.program_off + i * 56
			kind, = struct.unpack_from("<I", self.bytes, at)
			if kind in (4, 0x6474e550):
				field = at + r.choice((8, 16, 32))
				self.bytes[field:field + 8] = struct.pack("<Q", r.choice(NUMBERS))


def record_mutants(folder, damage):
	program = recording.program(folder, "shares")
	done = 0
	for seed in range(MUTANTS):
		elf = Elf(program)
		damage(elf, random.Random(seed))
		mutant = folder / f"mutant{seed}"
		mutant.write_bytes(elf.bytes)
		mutant.chmod(0o755)
		if harness.run(mutant, 1).status != 0:
			continue
		done += 1
		r = recording.record(folder, mutant, harness.work(40), timeout=60, name=f"{seed}.prof")
		used = re.search(r"at most ([0-9.]+) (KiB|MiB|GiB)", r.done.err)
		scale = {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}[used[2]]
		assert float(used[1]) * scale < MEMORY_MIB, (seed, r.done.err)
		folded = r.report("--format", "folded", "--metric", "samples").splitlines()
		cut = sum(int(line.rpartition(" ")[2]) for line in folded if line.startswith("[truncated]"))
		assert r.stats["counted"] > 0 and cut == r.stats["critical"], (seed, cut, r.stats)
		assert harness.check(harness.sonde("report", r.path, "--view", "tree", "--limit", "0"))
		mutant.unlink()
		r.path.unlink()
	assert done >= MUTANTS // 2, f"{done} of {MUTANTS} mutants run"


@harness.takes_long
def test_damaged_unwind_rules(folder):
	record_mutants(folder, lambda elf, r: elf.damage(lambda name: name.startswith(".eh_frame"), r))


@harness.takes_long
def test_damaged_debug_information(folder):
	record_mutants(folder, lambda elf, r: elf.damage(lambda name: name.startswith(".debug_"), r))


@harness.takes_long
def test_damaged_symbols(folder):
	record_mutants(folder, lambda elf, r: elf.damage(
		lambda name: name in (".symtab", ".strtab", ".shstrtab", ".note.gnu.build-id"), r))


@harness.takes_long
def test_damaged_section_headers(folder):
	record_mutants(folder, Elf.damage_section_headers)


@harness.takes_long
def test_damaged_file_headers(folder):
	record_mutants(folder, Elf.damage_file_header)


@harness.takes_long
def test_damaged_program_headers(folder):
	record_mutants(folder, Elf.damage_program_headers)


harness.main()
