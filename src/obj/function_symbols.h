#ifndef SONDE_OBJ_FUNCTION_SYMBOLS_H
#define SONDE_OBJ_FUNCTION_SYMBOLS_H

/*
 * The functions of a program as gprof sees them: by its symbol table alone, one name per address,
 * each function extending to the next.  For programs of any class and byte order.
 *
 * All other code uses symtab.h for names by address, which uses sizes and knows PLT stubs.
 */

#include "base/error.h"
#include "base/str.h"

struct objfile;
struct function_symbols;

struct function_symbol {
	uint64_t low, high; /* obj_addr, [low, high) */
	struct str name;    /* as the linker saw it; lives as the objfile does */
};

/*
 * Reads .symtab of file, or of its separate debug file (NULL: none); both must outlive the result.
 * ERROR_INPUT if it has no functions.
 */
must_use struct error *function_symbols_create(
	struct objfile *file, struct objfile *debug, struct function_symbols **symbols);
void function_symbols_destroy(struct function_symbols *symbols);

size_t function_symbols_count(const struct function_symbols *symbols);
/* The i-th in order of addresses; they do not overlap. */
struct function_symbol function_symbols_at(const struct function_symbols *symbols, size_t i);
/* The first one that ends after obj_addr; the count if there is none. */
size_t function_symbols_from(const struct function_symbols *symbols, uint64_t obj_addr);
/* True and sets *index if obj_addr is in a function. */
bool function_symbols_find(
	const struct function_symbols *symbols, uint64_t obj_addr, size_t *index);

#endif
