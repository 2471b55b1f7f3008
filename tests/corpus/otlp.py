#!/usr/bin/env python3
"""OpenTelemetry's own profiles, and what protoc says is in them."""

import collections
import re

import corpus


def blocks(text, name, indent):
	"""The bodies of all messages of that field at that depth, in protoc's text."""
	pad = "  " * indent
	return re.findall(rf"^{pad}{name} \{{\n(.*?)^{pad}\}}$", text, re.M | re.S)


def numbers(text, name):
	return [int(n) for n in re.findall(rf"^ *{name}: (\d+)$", text, re.M)]


def one(text, name):
	return (numbers(text, name) or [0])[0]


class Message:
	"""Of one ProfilesData, as text: how often each stack was seen, as the names of its functions, leaf first."""

	def __init__(self, text):
		dictionary = blocks(text, "dictionary", 0)[0]
		self.strings = [eval('b"' + s + '"').decode() for s in
			re.findall(r'^  string_table: "(.*)"$', dictionary, re.M)]
		self.functions = [self.strings[one(f, "name_strindex")] for f in blocks(dictionary, "function_table", 1)]
		locations = [[self.functions[one(line, "function_index")] for line in blocks(location, "lines", 2)]
			for location in blocks(dictionary, "location_table", 1)]
		stacks = [numbers(s, "location_indices") for s in blocks(dictionary, "stack_table", 1)]
		self.seen = collections.Counter()
		for sample in re.findall(r"^      samples \{\n(.*?)^      \}$", text, re.M | re.S):
			# Addresses without lines have no name in the file.
			names = [name for i in stacks[one(sample, "stack_index")] for name in locations[i] or [None]]
			self.seen[tuple(names)] += len(numbers(sample, "timestamps_unix_nano"))


@corpus.case("otlp/**/*.otlp", "protoc --decode")
def decoded(file):
	message = Message(corpus.expected(file, ".protoc.txt").decode())
	found = collections.Counter()
	for stack, count in corpus.folded(file).items():
		found[tuple(None if re.fullmatch(r"\[.*0x[0-9a-f]+\]", f) else f for f in reversed(stack))] += count
	corpus.same("samples", sum(found.values()), sum(message.seen.values()))
	wanted = collections.Counter()
	for stack, count in message.seen.items():
		wanted[tuple(f.replace(";", ":") if f else f for f in stack)] += count
	corpus.same_stacks(found, wanted)
	return f"{sum(found.values())} samples, {len(found)} stacks, {len({f for s in found for f in s})} functions"


corpus.main("otlp", ["otlp"])
