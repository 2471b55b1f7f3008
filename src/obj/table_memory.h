#ifndef SONDE_OBJ_TABLE_MEMORY_H
#define SONDE_OBJ_TABLE_MEMORY_H

/* How much memory the names of an object take, known before its tables are read. */

#include <stdint.h>

#include "obj/objfile.h"

/*
 * An estimate of the bytes that names from this file take while they are resolved, from the sizes
 * of its sections alone.
 */
uint64_t table_memory(struct objfile *file);

#endif
