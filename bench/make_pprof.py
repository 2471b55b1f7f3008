#!/usr/bin/env python3
"""Writes folded stacks as a profile for pprof, of its profile.proto, gzipped: the same stacks for a peer to read.

  make_pprof.py FOLDED FILE
"""
import gzip
import sys

# Fields of Profile, Sample, Location, Line, Function and ValueType in profile.proto.
PROFILE_SAMPLE_TYPE, PROFILE_SAMPLE, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING = 1, 2, 4, 5, 6
SAMPLE_LOCATIONS, SAMPLE_VALUES = 1, 2
LOCATION_ID, LOCATION_LINE, LINE_FUNCTION, FUNCTION_ID, FUNCTION_NAME = 1, 4, 1, 1, 2
VALUE_TYPE, VALUE_UNIT = 1, 2


def varint(value):
	out = bytearray()
	while value >= 0x80:
		out.append(value & 0x7F | 0x80)
		value >>= 7
	out.append(value)
	return bytes(out)


def number(field, value):
	return varint(field << 3) + varint(value)


def chunk(field, data):
	return varint(field << 3 | 2) + varint(len(data)) + data


def sample(ids, weight):
	"""Locations go from the leaf out."""
	return chunk(SAMPLE_LOCATIONS, b"".join(map(varint, reversed(ids)))) + chunk(SAMPLE_VALUES, varint(weight))


def function(place, name_at):
	"""A function and the one location that stands for it, both of the same id."""
	return chunk(PROFILE_FUNCTION, number(FUNCTION_ID, place) + number(FUNCTION_NAME, name_at)) + \
		chunk(PROFILE_LOCATION, number(LOCATION_ID, place) + chunk(LOCATION_LINE, number(LINE_FUNCTION, place)))


def write(folded, out):
	strings, ids = ["", "samples", "count"], {}
	out.write(chunk(PROFILE_SAMPLE_TYPE, number(VALUE_TYPE, 1) + number(VALUE_UNIT, 2)))
	for line in folded:
		stack, _, weight = line.rpartition(" ")
		names = stack.split(";")
		for name in names:
			if name not in ids:
				ids[name] = len(ids) + 1
				strings.append(name)
		out.write(chunk(PROFILE_SAMPLE, sample([ids[name] for name in names], int(weight))))
	for place in ids.values():
		out.write(function(place, place + 2))
	for text in strings:
		out.write(chunk(PROFILE_STRING, text.encode()))


def main(args):
	if len(args) != 2:
		sys.exit(__doc__)
	with open(args[0], encoding="utf-8") as folded, gzip.open(args[1], "wb", 1) as out:
		write(folded, out)


if __name__ == "__main__":
	main(sys.argv[1:])
