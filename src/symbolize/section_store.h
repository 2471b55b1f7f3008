#ifndef SONDE_SYMBOLIZE_SECTION_STORE_H
#define SONDE_SYMBOLIZE_SECTION_STORE_H

/*
 * Uncompressed sections of debug files, in the symbol cache's folder: distributions compress them,
 * and libc's alone take 50 ms to uncompress.
 */

#include "obj/objfile.h"

/* Fills *store for the folder, whose name must outlive it; NULL: stores nothing. */
void section_store_init(struct objfile_store *store, const char *cache_directory);

#endif
