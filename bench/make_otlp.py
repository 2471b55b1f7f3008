#!/usr/bin/env python3
"""Writes folded stacks as OpenTelemetry profiles, of opentelemetry-proto 1.11, in protocol buffers or, where FILE ends in .json, in
JSON: a stack and a sample for each line.

  make_otlp.py FOLDED FILE
"""
import json
import sys

from make_pprof import chunk, number, varint

# Fields of ProfilesData, ProfilesDictionary and what is in them, in profiles.proto.
RESOURCE_PROFILES, DICTIONARY = 1, 2
SCOPE_PROFILES, PROFILES, SAMPLE_TYPE, SAMPLES = 2, 2, 1, 2
MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS = range(1, 8)
TYPE, UNIT, SAMPLE_STACK, SAMPLE_VALUES, STACK_LOCATIONS, LOCATION_LINE, LINE_FUNCTION, FUNCTION_NAME = 1, 2, 1, 4, 1, 3, 1, 1


def read(folded):
	"""The names, each with its row counted from 1, and the stacks, leaf first, with their weights."""
	rows, stacks = {}, []
	for line in folded:
		stack, _, weight = line.rpartition(" ")
		stacks.append(([rows.setdefault(name, len(rows) + 1) for name in stack.split(";")][::-1], int(weight)))
	return rows, stacks


def write_protobuf(rows, stacks, out):
	samples = b"".join(chunk(SAMPLES, number(SAMPLE_STACK, i) + chunk(SAMPLE_VALUES, varint(weight)))
		for i, (_, weight) in enumerate(stacks, 1))
	profile = chunk(SAMPLE_TYPE, number(TYPE, 1) + number(UNIT, 2)) + samples
	out.write(chunk(RESOURCE_PROFILES, chunk(SCOPE_PROFILES, chunk(PROFILES, profile))))
	tables = [chunk(table, b"") for table in (MAPPINGS, LOCATIONS, FUNCTIONS, LINKS, ATTRIBUTES, STACKS)]
	tables += [chunk(LOCATIONS, chunk(LOCATION_LINE, number(LINE_FUNCTION, row))) +
		chunk(FUNCTIONS, number(FUNCTION_NAME, row + 2)) for row in rows.values()]
	tables += [chunk(STRINGS, text.encode()) for text in ["", "samples", "count", *rows]]
	tables += [chunk(STACKS, chunk(STACK_LOCATIONS, b"".join(map(varint, ids)))) for ids, _ in stacks]
	out.write(chunk(DICTIONARY, b"".join(tables)))


def write_json(rows, stacks, out):
	samples = [{"stackIndex": i, "values": [str(weight)]} for i, (_, weight) in enumerate(stacks, 1)]
	profile = {"sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "samples": samples}
	document = {"resourceProfiles": [{"scopeProfiles": [{"profiles": [profile]}]}], "dictionary": {
		"mappingTable": [{}], "linkTable": [{}], "attributeTable": [{}],
		"locationTable": [{}] + [{"lines": [{"functionIndex": row}]} for row in rows.values()],
		"functionTable": [{}] + [{"nameStrindex": row + 2} for row in rows.values()],
		"stringTable": ["", "samples", "count", *rows],
		"stackTable": [{}] + [{"locationIndices": ids} for ids, _ in stacks]}}
	out.write(json.dumps(document, separators=(",", ":")).encode())


def main(args):
	if len(args) != 2:
		sys.exit(__doc__)
	with open(args[0], encoding="utf-8") as folded, open(args[1], "wb") as out:
		(write_json if args[1].endswith(".json") else write_protobuf)(*read(folded), out)


main(sys.argv[1:])
