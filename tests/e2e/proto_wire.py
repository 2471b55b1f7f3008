"""The wire format of protocol buffers, for what protoc need not be there for."""

import struct


def put_varint(value):
	out = bytearray()
	while value >= 0x80:
		out.append(value & 0x7F | 0x80)
		value >>= 7
	return bytes(out + bytes([value]))


def put_bytes(number, data):
	"""A field that has a length: bytes, a string, a message."""
	return put_varint(number << 3 | 2) + put_varint(len(data)) + data


def put_number(number, value):
	return put_varint(number << 3) + put_varint(value)


def varint(data, at):
	"""(The number at that place, the place behind it)."""
	value = shift = 0
	while True:
		byte = data[at]
		at += 1
		value |= (byte & 127) << shift
		shift += 7
		if byte < 128:
			return value, at


def fields(data):
	"""{number: [value]} of a message: ints, and bytes of what has a length."""
	found, at = {}, 0
	while at < len(data):
		tag, at = varint(data, at)
		kind = tag & 7
		if kind == 0:
			value, at = varint(data, at)
		elif kind == 1:
			value, at = struct.unpack_from("<Q", data, at)[0], at + 8
		else:
			assert kind == 2, f"type {kind}"
			size, at = varint(data, at)
			assert at + size <= len(data), "a length beyond the end"
			value, at = data[at:at + size], at + size
		found.setdefault(tag >> 3, []).append(value)
	return found


def packed(message, number):
	"""The numbers of a packed field, of what fields gives."""
	found, at = [], 0
	data = b"".join(message.get(number, []))
	while at < len(data):
		value, at = varint(data, at)
		found.append(value)
	return found
