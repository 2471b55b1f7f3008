#ifndef SONDE_SYMBOLIZE_SECTION_STORE_H
#define SONDE_SYMBOLIZE_SECTION_STORE_H

/*
 * Unpacked sections of debug files, in the symbol cache's folder: distributions pack them, and
 * libc's alone take 50 ms to unpack.
 */

#include "obj/objfile.h"

/* Fills *store for that folder, which must outlive it; NULL: it keeps nothing. */
void section_store_init(struct objfile_store *store, const char *cache_directory);

#endif
