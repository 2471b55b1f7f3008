"""OTLP requests that are large in one respect: resources, functions and a stack of them all."""

from proto_wire import put_bytes, put_number, put_varint

START_NS, SECOND_NS = 1764000000 * 10**9, 10**9
STRINGS = (b"", b"samples", b"count", b"main")


def key_value(key, value):
	return put_bytes(1, key.encode()) + put_bytes(2, put_bytes(1, value.encode()))


def request(resources=1, *, strings=(), functions=1, depth=1):
	"""Each resource is a service of its own and has one profile with one sample. strings: those of the dictionary, from
	number 4 on. functions: how many there are; they are named by the strings from number 3 on. depth: of the stack, which
	goes through the functions in turn."""
	rows = {2: [put_bytes(3, put_number(1, 3 + i)) for i in range(functions)], 3: [put_number(1, 3 + i) for i in range(functions)],
		4: [], 6: [], 7: [put_bytes(1, b"".join(put_varint(1 + i % functions) for i in range(depth)))]}
	sample = put_bytes(2, put_number(1, 1) + put_bytes(4, put_varint(1)))
	dictionary = put_bytes(1, b"") + b"".join(put_bytes(5, text) for text in (*STRINGS, *strings))
	for table, of_table in rows.items():
		dictionary += b"".join(put_bytes(table, row) for row in (b"", *of_table))
	profile = (put_bytes(1, put_number(1, 1) + put_number(2, 2)) + sample + put_varint(3 << 3 | 1) +
		START_NS.to_bytes(8, "little") + put_number(4, SECOND_NS))
	out = b""
	for i in range(resources):
		resource = put_bytes(1, key_value("service.name", f"s{i}"))
		out += put_bytes(1, put_bytes(1, resource) + put_bytes(2, put_bytes(2, profile)))
	return out + put_bytes(2, dictionary)


def names(n):
	return [f"f{i}".encode() for i in range(n)]


def resources(n):
	return request(n)


def functions(n):
	return request(strings=names(n), functions=n + 1, depth=n + 1)


SHAPES = (resources, functions)
