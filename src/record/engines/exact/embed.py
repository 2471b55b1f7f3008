"""Writes a C file that holds the bytes of another: embed.py INPUT OUTPUT NAME."""

import sys

input_path, output_path, name = sys.argv[1:]
with open(input_path, "rb") as file:
	data = file.read()
lines = [",".join(str(byte) for byte in data[i : i + 24]) + "," for i in range(0, len(data), 24)]
with open(output_path, "w") as file:
	file.write(f"#include <stddef.h>\n\nextern const unsigned char {name}[];\nextern const size_t {name}_bytes;\n\n")
	# libelf reads words where they lie.
	file.write(f"const unsigned char {name}[] __attribute__((aligned(16))) = {{\n")
	file.write("\n".join(lines) + "\n};\n")
	file.write(f"const size_t {name}_bytes = sizeof({name});\n")
