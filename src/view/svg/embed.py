"""Makes a C file of a text file: embed.py NAME < TEXT > C, an array NAME and NAME_size, its bytes.

Lines lose their indentation.
"""

import sys

data = b"".join(line.lstrip(b"\t") for line in sys.stdin.buffer)
name = sys.argv[1]
print(f"/* Made by embed.py. */\n#include <stddef.h>\n\nextern const char {name}[];\n"
	f"extern const size_t {name}_size;\n\nconst char {name}[] = {{")
for start in range(0, len(data), 16):
	print("\t" + " ".join(f"{byte - 256 * (byte > 127)}," for byte in data[start:start + 16]))
print(f"\t0,\n}};\nconst size_t {name}_size = {len(data)};")
