#ifndef SONDE_FORMATS_UFTRACE_SYMBOLS_H
#define SONDE_FORMATS_UFTRACE_SYMBOLS_H

/*
 * A symbol file of uftrace: "ADDRESS [SIZE] TYPE NAME" a line, in hex, addresses from the start of
 * the object; lines with '#' say whose they are.
 */

#include "base/str.h"

struct uftrace_symbol {
	uint64_t low, high;
	struct str name;
};

/* Texts are borrowed from the file's. */
struct uftrace_symbols {
	struct str path, build_id;   /* empty: not said */
	struct uftrace_symbol *data; /* by low */
	size_t count, capacity;
};

void uftrace_symbols_init(struct uftrace_symbols *s, struct str text);
void uftrace_symbols_deinit(struct uftrace_symbols *s);
/* Whether they are of that object: by path and, if both know it, build-id. */
bool uftrace_symbols_fit(const struct uftrace_symbols *s, struct str path, struct str build_id);
/* True and *name set if a symbol holds that address. */
bool uftrace_symbols_find(const struct uftrace_symbols *s, uint64_t addr, struct str *name);
/* What uftrace puts into a symbol file's name that has no build-id: its path's bytes, summed. */
unsigned int uftrace_symbols_sum(struct str path);

#endif
