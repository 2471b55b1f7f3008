#!/usr/bin/env python3
"""What sonde writes as OTLP keeps the rules that OpenTelemetry's checker of profiles (profcheck of
open-telemetry/sig-profiling) has: here are the same rules, over a decoder of our own, and protoc takes the
bytes to pieces, where it is there."""

import os
import re
import shutil
import struct
import subprocess

import harness
from proto_wire import fields, packed

SOURCES = ["list.dump", "threads.dump", "zones.dump", "waits.dump", "cycle.dump", "events.dump", "recording.dump", "diff-new.folded"]
MAPPING, LOCATION, FUNCTION, LINK, STRING, ATTRIBUTE, STACK = range(1, 8)


def one(message, number, default=0):
	values = message.get(number, [default])
	assert len(values) == 1, f"field {number} comes {len(values)} times"
	return values[0]


def times(message):
	data = one(message, 5, b"")
	return list(struct.unpack(f"<{len(data) // 8}Q", data))


class Checked:
	"""A ProfilesData message; making one checks it."""

	def __init__(self, data):
		top = fields(data)
		assert set(top) == {1, 2}, set(top)
		self.tables = {number: [] for number in range(1, 8)}
		for piece in top[2]:
			for number, rows in fields(piece).items():
				self.tables[number] += rows
		self.used = {number: {0} for number in self.tables}
		for number, rows in self.tables.items():
			assert rows and rows[0] == b"", f"table {number} does not begin with the zero element"
			assert len(set(rows)) == len(rows), f"table {number} has a row twice"
		for row in self.tables[STRING]:
			row.decode("utf-8")
		self.profiles = []
		for resource_profiles in top[1]:
			for scope in fields(resource_profiles)[2]:
				for profile in fields(scope)[2]:
					self.profile(fields(profile))
		assert self.profiles
		self.rows()
		for number, rows in self.tables.items():
			missing = set(range(len(rows))) - self.used[number]
			assert not missing, f"table {number}: nothing refers to {sorted(missing)[:5]}"

	def index(self, table, number):
		assert 0 <= number < len(self.tables[table]), f"table {table} has no row {number}"
		self.used[table].add(number)
		return self.tables[table][number]

	def string(self, number):
		return self.index(STRING, number).decode("utf-8")

	def value_type(self, message, number):
		kind = fields(one(message, number, b""))
		return self.string(one(kind, 1)), self.string(one(kind, 2))

	def attributes(self, numbers):
		keys = [self.string(one(fields(self.index(ATTRIBUTE, n)), 1)) for n in numbers]
		assert len(set(keys)) == len(keys), f"a key twice in {keys}"
		return keys

	def profile(self, message):
		name = self.value_type(message, 1)
		self.value_type(message, 5)
		start = one(message, 3)
		end = start + one(message, 4)
		shapes, keys, total, count = set(), set(), 0, 0
		for sample in map(fields, message.get(2, [])):
			self.index(STACK, one(sample, 1))
			self.index(LINK, one(sample, 3))
			self.attributes(packed(sample, 2))
			key = (one(sample, 1), frozenset(packed(sample, 2)), one(sample, 3))
			assert key not in keys, "two samples of one identity"
			keys.add(key)
			values, stamps = packed(sample, 4), times(sample)
			assert all(start <= t < end for t in stamps), "a time outside of the profile"
			assert values or stamps, "a sample of nothing"
			assert not stamps or not values or len(values) == len(stamps)
			assert stamps or len(values) == 1, "several values without times"
			shapes.add((bool(values), bool(stamps)))
			total += sum(v - (v >> 63 << 64) for v in values) if values else len(stamps)
			count += len(stamps)
		assert len(shapes) <= 1, f"samples of several shapes: {shapes}"
		self.profiles.append((name, total, count))

	def rows(self):
		for row in map(fields, self.tables[STACK]):
			for number in packed(row, 1):
				self.index(LOCATION, number)
		for row in map(fields, self.tables[LOCATION]):
			self.index(MAPPING, one(row, 1))
			self.attributes(packed(row, 4))
			for line in map(fields, row.get(3, [])):
				self.index(FUNCTION, one(line, 1))
		for row in map(fields, self.tables[FUNCTION]):
			for number in (1, 2, 3):
				self.string(one(row, number))
		for row in map(fields, self.tables[MAPPING]):
			self.string(one(row, 4))
			self.attributes(packed(row, 5))
			assert one(row, 1) == one(row, 2) == 0 or one(row, 1) < one(row, 2)
		for row in self.tables[LINK][1:]:
			assert (len(one(fields(row), 1)), len(one(fields(row), 2))) == (16, 8)
		for row in map(fields, self.tables[ATTRIBUTE]):
			self.string(one(row, 3))


def convert(source, folder):
	out = folder / "x.otlp"
	harness.check(harness.sonde("convert", source, "--to", "otlp", "-o", out))
	return out


def test_the_rules_hold(folder):
	for name in SOURCES:
		Checked(convert(harness.SOURCE_ROOT / "tests/golden/in" / name, folder).read_bytes())
	for seed in sorted((harness.SOURCE_ROOT / "tests/fuzz/seeds/otlp").iterdir()):
		if seed.stem == "old-layout":
			assert "in the layout of" in harness.check(harness.sonde("report", seed), 1).err
		else:
			Checked(convert(seed, folder).read_bytes())


def test_profcheck_takes_it(folder):
	if not shutil.which("profcheck"):
		raise harness.Skip("there is no profcheck of open-telemetry/sig-profiling")
	for name in SOURCES:
		harness.check(harness.run("profcheck", "-check-dupes", convert(harness.SOURCE_ROOT / "tests/golden/in" / name, folder)))


def test_labels_links_and_names(folder):
	"""Two labels of one key are a list; ids of a trace and a span a link; nothing is not UTF-8."""
	source = folder / "x.dump"
	source.write_text('''sonde-dump 1
start-unix-ns 1700000000000000000
stat duration_ns 50
metric "cpu-time" "ns" default
metric "bytes" "bytes"
object user "/bin/x" "00112233445566778899aabbccddeeff00112233"
function "a\\x1b" object "/bin/x" file "a.c" line 3
frame file "a.c" line 5 addr 16 inline
function "b" object "/bin/x"
frame line 7 addr 16
process 5 start 0 "p"
thread 6 process 0 start 0 "t"
stack 0
stack 1 "b"
stack 2 "a\\x1b"
label "span_id" "0011223344556677"
label "trace_id" "00112233445566778899aabbccddeeff"
label "user" number 3
label "user" "you"
sample 2 thread 0 time 5 labels 0 1 2 3 weight 10 0
sample 2 thread 0 time 60 labels 0 1 2 3 weight 20 7
sample 1 thread 0 time 7 weight 5 1
end
''')
	data = convert(source, folder).read_bytes()
	checked = Checked(data)
	assert checked.profiles == [(("cpu-time", "nanoseconds"), 35, 3), (("bytes", "bytes"), 8, 3)], checked.profiles
	assert len(checked.tables[LINK]) == 2 and len(checked.tables[LOCATION]) == 3
	back = harness.check(harness.sonde("convert", folder / "x.otlp", "--to", "dump"))
	labels = [line for line in back.out.splitlines() if line.startswith("label")]
	assert len(labels) == 4, labels
	assert "weight 20 7" in back.out, back.out


def test_the_official_definitions_have_every_field(folder):
	"""protoc knows each field by the .proto files of opentelemetry-proto 1.11, in SONDE_OTLP_PROTO, in a file and in a request;
	what it writes again is read as the same profile."""
	protos = os.environ.get("SONDE_OTLP_PROTO")
	if not protos or not shutil.which("protoc"):
		raise harness.Skip("there is no protoc, or SONDE_OTLP_PROTO names no folder with opentelemetry/proto")
	place = "opentelemetry/proto/{}profiles/v1development/{}.proto"
	messages = (("opentelemetry.proto.profiles.v1development.ProfilesData", place.format("", "profiles")),
		("opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest", place.format("collector/", "profiles_service")))
	dump = lambda path: harness.check(harness.sonde("convert", path, "--to", "dump")).out
	again = folder / "again" / "x.otlp"
	again.parent.mkdir()
	for name in SOURCES:
		written = convert(harness.SOURCE_ROOT / "tests/golden/in" / name, folder)
		for message, file in messages:
			protoc = lambda do, data: subprocess.run(["protoc", "-I", protos, f"--{do}={message}", file], input=data, check=True,
				capture_output=True, cwd=protos).stdout
			text = protoc("decode", written.read_bytes())
			assert b"dictionary {" in text and not re.search(rb"^ *[0-9]+[:{ ]", text, re.MULTILINE), text[:2000]
			again.write_bytes(protoc("encode", text))
			lines = lambda path: [line for line in dump(path).splitlines() if not line.startswith("source ")]
			assert lines(again) == lines(written), name


def test_protoc_takes_it_to_pieces(folder):
	if not shutil.which("protoc"):
		raise harness.Skip("no protoc")
	data = convert(harness.SOURCE_ROOT / "tests/golden/in/threads.dump", folder).read_bytes()
	result = harness.run("protoc", "--decode_raw", input=data)
	harness.check(result)
	assert "process.executable.name" in result.out


harness.main()
