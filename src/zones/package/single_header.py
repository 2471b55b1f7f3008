"""
Makes sonde_zones.h: the public headers, and behind Prof_IMPLEMENTATION the whole runtime.

	single_header.py OUT DEPENDENCIES LICENSE INCLUDE SRC SOURCE...

Every file stands once, where it is first included. Sources are one unit in the result, so a static
name that two of them have gets the file's name behind it; macros of a source end with it.
"""

import collections
import os
import pathlib
import re
import sys

PUBLIC = ("prof.h", "prof_internal.h", "prof_gather.h")
INCLUDE = re.compile(r'^#\s*include\s+(?:"([^"]+)"|<(prof\w*\.h)>)[^\n]*\n', re.MULTILINE)
SYSTEM = re.compile(r"^#\s*include\s+<[^>]+>\n", re.MULTILINE)
STATIC = re.compile(r"^static\b[^;{=]*?(\w+)(?=\s*(?:\(|\[|=|;))", re.MULTILINE)
TAG = re.compile(r"^(?:struct|union|enum)\s+(\w+)(?=\s*\{)", re.MULTILINE)
ENUMERATORS = re.compile(r"\benum\b[^{};()]*\{([^}]*)\}")
MACRO = re.compile(r"^#\s*define\s+(\w+)", re.MULTILINE)

HEAD = """\
#ifndef SONDE_ZONES_H
#define SONDE_ZONES_H

/*
 * Zones of sonde in one file.  Include it instead of prof.h, with Prof_ENABLED defined, wherever
 * zones are marked, and in one file of C, before anything else,
 *
 *	#define Prof_IMPLEMENTATION
 *	#include "sonde_zones.h"
 *
 * Link with -pthread -lm.  Shared objects that each bring it share the one that was loaded first,
 * as far as they see it: an executable that brings it and loads others by dlopen is to be linked
 * with -rdynamic.  Generated from sonde's sources.
 *
%s
 */

#if defined(Prof_IMPLEMENTATION) && defined(Prof_ENABLED)
#ifdef __cplusplus
#error "Prof_IMPLEMENTATION goes into a file of C"
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* Weak, so that the linker, static or dynamic, may take any one of several. */
#define Prof_API_ __attribute__((visibility("default"), weak))
#endif

"""


class Bundle:
	def __init__(self, include, src, sources):
		self.include, self.src = include, src
		self.done = set()
		self.text = {source: source.read_text() for source in sources}
		self.names = {source: names_of(text) for source, text in self.text.items()}
		count = collections.Counter(name for names in self.names.values() for name in names)
		self.shared = {name for name, times in count.items() if times > 1}

	def find(self, name, place):
		for folder in (place, self.src, self.include):
			if (folder / name).exists():
				return (folder / name).resolve()
		raise FileNotFoundError(name)

	def file(self, path, text=None):
		"""The file with what it includes in place; nothing, if it stands already."""
		if path in self.done:
			return ""
		self.done.add(path)
		text = text if text is not None else path.read_text()
		inlined = INCLUDE.sub(lambda m: self.file(self.find(m[1] or m[2], path.parent)), text)
		return f"/* ---- {path.name} ---- */\n\n{inlined.strip()}\n\n"

	def source(self, path):
		text = self.text[path]
		for name in sorted(self.names[path] & self.shared):
			text = re.sub(rf"(?<![\w.\"])(?<!->){name}\b", f"{name}_{path.stem}", text)
		undefs = "".join(f"#undef {name}\n" for name in dict.fromkeys(MACRO.findall(text))
			if name != "Prof_ENABLED")
		return self.file(path.resolve(), text + undefs)


def names_of(text):
	text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
	names = {name for pattern in (STATIC, TAG) for name in pattern.findall(text)}
	for body in ENUMERATORS.findall(text):
		names.update(re.findall(r"(?:^|,)\s*(\w+)", body))
	return names


def main():
	out, dependencies, licence, include, src = map(pathlib.Path, sys.argv[1:6])
	sources = [pathlib.Path(path).resolve() for path in sys.argv[6:]]
	bundle = Bundle(include.resolve(), src.resolve(), sources)
	parts = [HEAD % "\n".join(f" * {line}".rstrip() for line in licence.read_text().splitlines())]
	parts += [bundle.file(bundle.include / name) for name in PUBLIC]
	parts.append("#if defined(Prof_IMPLEMENTATION) && defined(Prof_ENABLED)\n"
		"#pragma GCC visibility push(hidden)\n\n")
	# What is the system's is not hidden.
	parts += [SYSTEM.sub(r"#pragma GCC visibility push(default)\n\g<0>#pragma GCC visibility pop\n",
		bundle.source(source)) for source in sources]
	parts.append("#pragma GCC visibility pop\n#endif\n\n#endif\n")
	dependencies.write_text(f"{out}: {' '.join(map(str, sorted(bundle.done)))}\n")
	fresh = out.with_suffix(".new")
	fresh.write_text("".join(parts))
	os.replace(fresh, out)


main()
