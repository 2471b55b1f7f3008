"""Makes a C file of a text file: embed.py NAME FILE [--unindent] > C, an array NAME and NAME_size, its bytes.

With --unindent, lines lose their indentation.
"""

import sys

name, path = sys.argv[1:3]
with open(path, "rb") as file:
	data = file.read()
if "--unindent" in sys.argv:
	data = b"".join(line.lstrip(b"\t") for line in data.splitlines(keepends=True))
print(f"/* Made by embed.py. */\n#include <stddef.h>\n\nextern const char {name}[];\n"
	f"extern const size_t {name}_size;\n\nconst char {name}[] = {{")
for start in range(0, len(data), 16):
	print("\t" + " ".join(f"{byte if byte < 128 else byte - 256}," for byte in data[start:start + 16]))
print(f"\t0,\n}};\nconst size_t {name}_size = {len(data)};")
