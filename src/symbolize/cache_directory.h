#ifndef SONDE_SYMBOLIZE_CACHE_DIRECTORY_H
#define SONDE_SYMBOLIZE_CACHE_DIRECTORY_H

/*
 * The folder of the symbol cache: where it is, whole files into it, not too much in it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"
#include "base/str.h"

/*
 * The folder to use: asked, if not NULL, else $XDG_CACHE_HOME/sonde/sym, else ~/.cache/sonde/sym.
 * The caller's; NULL for asked = "" or where the environment names none.  Nothing is made yet.
 */
char *cache_directory_path(const char *asked);

/*
 * Reads a file of ours; false if it is not there, not a regular file, not our own, or larger than
 * size_max. It counts as used now. Release with file_bytes_deinit.
 */
bool cache_directory_read(
	const char *directory, const char *name, uint64_t size_max, struct file_bytes *bytes);

/*
 * Puts a file there, whole or not at all (another reader sees the old one or the new one), mode
 * 0600. Makes the folder if need be, though not in somebody else's. Then deletes those files that
 * were not used for longest until total_max bytes are left. What cannot be done is not done: it is
 * but a cache.
 */
void cache_directory_write(
	const char *directory, const char *name, struct str contents, uint64_t total_max);

#endif
