"""
Makes a static library of one object out of another, in which only what is meant for programs is
global: a program's own functions may be called as ours.

	one_object.py OUT IN COMPILER... -- AR OBJCOPY
"""

import os
import subprocess
import sys
import tempfile


def main():
	out, library = sys.argv[1:3]
	split = sys.argv.index("--")
	compiler, (ar, objcopy) = sys.argv[3:split], sys.argv[split + 1:]
	with tempfile.TemporaryDirectory(dir=os.path.dirname(out) or ".") as folder:
		single = os.path.join(folder, "sonde-zones.o")
		subprocess.run([*compiler, "-nostdlib", "-no-pie", "-r", "-o", single,
			"-Wl,--whole-archive", library, "-Wl,--no-whole-archive"], check=True)
		subprocess.run([objcopy, "--localize-hidden", single], check=True)
		fresh = os.path.join(folder, "library.a")
		subprocess.run([ar, "rcsD", fresh, single], check=True)
		os.replace(fresh, out)


main()
