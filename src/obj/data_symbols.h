#ifndef SONDE_OBJ_DATA_SYMBOLS_H
#define SONDE_OBJ_DATA_SYMBOLS_H

/*
 * Names of variables, out of an object's symbol tables.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct objfile;

struct data_symbol {
	uint64_t low;	 /* obj_addr where the variable begins */
	struct str name; /* as the linker saw it; lives as the file does */
};

/*
 * True and *symbol set if a variable holds obj_addr: by .symtab of the object or of its separate
 * debug file (NULL: none), else by .dynsym.  Reads the table through each time, so it is for few
 * addresses.
 */
bool data_symbol_find(struct objfile *object, struct objfile *debug, uint64_t obj_addr,
	struct data_symbol *symbol);

#endif
