"""pprof files that are large in one respect: labels of a sample, sets of labels, threads, strings, load objects …"""

from proto_wire import put_bytes, put_number, put_varint

START_NS, SECOND_NS = 1764000000 * 10**9, 10**9


class Pprof:
	"""A profile in the making: one metric, time in ns; location and function 1 are `main`."""

	def __init__(self):
		self.strings, self.parts = {"": 0}, []
		self.put(1, put_number(1, self.string("cpu")) + put_number(2, self.string("nanoseconds")))
		self.parts += [put_number(9, START_NS), put_number(10, SECOND_NS)]
		self.function(1, "main")

	def string(self, text):
		return self.strings.setdefault(text, len(self.strings))

	def put(self, number, message):
		self.parts.append(put_bytes(number, message))

	def function(self, number, name, mapping=0):
		"""A function and the only location in it, with the same number."""
		self.put(5, put_number(1, number) + put_number(2, self.string(name)))
		of_mapping = put_number(2, mapping) if mapping else b""
		self.put(4, put_number(1, number) + of_mapping + put_number(3, 0x1000 + number) + put_bytes(4, put_number(1, number)))

	def mapping(self, number, path):
		self.put(3, put_number(1, number) + put_number(2, number << 12) + put_number(3, (number << 12) + 0x800) +
			put_number(5, self.string(path)))

	def sample(self, locations, labels=()):
		"""locations: leaf first; labels: pairs of a key and a text or number."""
		self.put(2, put_bytes(1, b"".join(map(put_varint, locations))) + put_bytes(2, put_varint(1)) + b"".join(
			put_bytes(3, put_number(1, self.string(key)) + (put_number(2, self.string(value)) if isinstance(value, str) else
				put_number(3, value))) for key, value in labels))

	def bytes(self):
		return b"".join(self.parts) + b"".join(put_bytes(6, text.encode()) for text in self.strings)


def labels_of_a_key(n):
	profile = Pprof()
	profile.sample([1], [("k", f"v{i}") for i in range(n)])
	return profile.bytes()


def labels_of_many_keys(n):
	profile = Pprof()
	profile.sample([1], [(f"k{i}", i + 1) for i in range(n)])
	return profile.bytes()


def sets_of_labels(n):
	profile = Pprof()
	for i in range(n):
		profile.sample([1], [("request", f"r{i}"), ("user", f"u{i % 7}")])
	return profile.bytes()


def sets_that_share_labels(n):
	profile = Pprof()
	for i in range(n):
		profile.sample([1], [(f"k{bit}", f"v{i >> bit & 1}") for bit in range(12)])
	return profile.bytes()


def services(n):
	profile = Pprof()
	for i in range(n):
		profile.sample([1], [("service", f"s{i}")])
	return profile.bytes()


def threads(n):
	profile = Pprof()
	for i in range(n):
		profile.sample([1], [("thread_id", i + 1)])
	return profile.bytes()


def strings(n):
	profile = Pprof()
	for i in range(n):
		profile.function(i + 2, f"f{i}")
		profile.sample([i + 2, 1])
	return profile.bytes()


def load_objects(n):
	profile = Pprof()
	for i in range(n):
		profile.mapping(i + 1, f"/usr/lib/lib{i}.so")
		profile.function(i + 2, f"f{i}", i + 1)
		profile.sample([i + 2, 1])
	return profile.bytes()


SHAPES = (labels_of_a_key, labels_of_many_keys, sets_of_labels, sets_that_share_labels, services, threads, strings,
	load_objects)
