"""OTLP requests that are large in one respect: resources, attributes, links, strings, a deep stack."""

from proto_wire import put_bytes, put_number, put_varint

START_NS, SECOND_NS = 1764000000 * 10**9, 10**9
STRINGS = (b"", b"samples", b"count", b"main")


def key_value(key, value):
	return put_bytes(1, key.encode()) + put_bytes(2, put_bytes(1, value.encode()))


def sample(attributes=(), link=0, stack=1):
	return put_bytes(2, put_number(1, stack) + put_bytes(2, b"".join(map(put_varint, attributes))) +
		(put_number(3, link) if link else b"") + put_bytes(4, put_varint(1)))


def request(resources=1, *, strings=(), functions=1, attributes=(), links=0, depth=1, samples=(sample(), ), of_resource=()):
	"""Each resource is a service of its own and has one profile with these samples. strings: the dictionary's strings 4
	and on, of which functions have the first names; attributes: its attributes 1 and on; links: how many it has."""
	rows = {2: [put_bytes(3, put_number(1, 3 + i)) for i in range(functions)], 3: [put_number(1, 3 + i) for i in range(functions)],
		4: [put_bytes(1, b"\1" * 16) + put_bytes(2, b"%08d" % i) for i in range(links)],
		6: attributes, 7: [put_bytes(1, b"".join(put_varint(1 + i % functions) for i in range(depth)))]}
	dictionary = put_bytes(1, b"") + b"".join(put_bytes(5, text) for text in (*STRINGS, *strings))
	for table, of_table in rows.items():
		dictionary += b"".join(put_bytes(table, row) for row in (b"", *of_table))
	profile = (put_bytes(1, put_number(1, 1) + put_number(2, 2)) + b"".join(samples) + put_varint(3 << 3 | 1) +
		START_NS.to_bytes(8, "little") + put_number(4, SECOND_NS))
	out = b""
	for i in range(resources):
		resource = b"".join(put_bytes(1, row) for row in (key_value("service.name", f"s{i}"), *of_resource))
		out += put_bytes(1, put_bytes(1, resource) + put_bytes(2, put_bytes(2, profile)))
	return out + put_bytes(2, dictionary)


def names(n):
	return [f"f{i}".encode() for i in range(n)]


def resources(n):
	return request(n)


def functions(n):
	return request(strings=names(n), functions=n + 1, depth=n + 1)


def attributes_of_a_resource(n):
	return request(of_resource=[key_value(f"k{i}", "v") for i in range(n)])


def attributes_of_a_sample(n):
	"""In two orders, as two sets."""
	attributes = [put_number(1, 4 + i) + put_bytes(2, put_bytes(1, b"v")) for i in range(n)]
	return request(strings=names(n), attributes=attributes, samples=[sample(range(1, n + 1)), sample(range(n, 0, -1))])


def values_of_an_attribute(n):
	values = b"".join(put_bytes(1, put_bytes(1, f"v{i}".encode())) for i in range(n))
	return request(strings=names(1), attributes=[put_number(1, 4) + put_bytes(2, put_bytes(5, values))], samples=[sample([1])])


def links(n):
	return request(links=n, samples=[sample(link=i + 1) for i in range(n)])


def deep(n):
	return request(depth=n)


SHAPES = (resources, functions, attributes_of_a_resource, attributes_of_a_sample, values_of_an_attribute, links, deep)
