#ifndef SONDE_OBJ_DATA_SYMBOLS_H
#define SONDE_OBJ_DATA_SYMBOLS_H

/* Names of variables by address, from an object's symbol tables. */

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"
#include "base/vec.h"

struct objfile;

struct data_symbol {
	uint64_t low, high; /* obj_addr, [low, high) */
	struct str name;    /* as the linker saw it; lives as the files do */
};

struct data_symbols {
	VEC(struct data_symbol) rows; /* by low; for equal low, the smallest first */
};

/*
 * Reads .symtab of the object or of its separate debug file (NULL: none), or if neither has one,
 * .dynsym; both files must outlive the table.  Bad data gives no names.
 */
void data_symbols_init(struct data_symbols *symbols, struct objfile *object, struct objfile *debug);
/* It may be all zero. */
void data_symbols_deinit(struct data_symbols *symbols);
/* The variable that contains obj_addr, the innermost of several; NULL: none. */
const struct data_symbol *data_symbols_find(const struct data_symbols *symbols, uint64_t obj_addr);

#endif
