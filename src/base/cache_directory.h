#ifndef SONDE_BASE_CACHE_DIRECTORY_H
#define SONDE_BASE_CACHE_DIRECTORY_H

/* Folders of caches: their location, writing complete files, and limiting their size. */

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"
#include "base/str.h"

/*
 * $XDG_CACHE_HOME/sonde/NAME, else ~/.cache/sonde/NAME.  The caller owns the result; NULL if the
 * environment names neither.  Does not create the folder.
 */
char *cache_directory_path(const char *name);

/*
 * Reads a file; false if it is missing, not a regular file, owned by another user, or larger than
 * size_max. Marks it as used now. Release with file_bytes_deinit.
 */
bool cache_directory_read(
	const char *directory, const char *name, uint64_t size_max, struct file_bytes *bytes);

/*
 * Writes a complete file or nothing (other readers see the old or the new one), with mode 0600.
 * Creates the folder if necessary, but not inside another user's. Then deletes the least recently
 * used files until total_max bytes are left. Ignores failures, as this is only a cache.
 */
void cache_directory_write(
	const char *directory, const char *name, struct str contents, uint64_t total_max);

#endif
