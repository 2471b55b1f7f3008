#ifndef SONDE_BASE_FOLDER_H
#define SONDE_BASE_FOLDER_H

/*
 * Folders as input, for formats of several files.  Files named in the data are opened only in the
 * folder: a name with a '/' is refused, and links are not followed.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/file.h"

struct folder;

/* ERROR_SYSTEM if it cannot be opened. path may be a link; nothing in the folder may. */
must_use struct error *folder_open(const char *path, struct folder **folder);
/* A folder in it. */
must_use struct error *folder_open_in(
	const struct folder *parent, const char *name, struct folder **folder);
void folder_close(struct folder *folder);

/* The path as it was opened, with its parent folders. */
const char *folder_path(const struct folder *folder);
/* The names of its entries (without "." and ".."), in byte order; owned by the folder. */
size_t folder_count(const struct folder *folder);
const char *folder_name(const struct folder *folder, size_t i);
bool folder_has(const struct folder *folder, const char *name);
/* Whether it is a regular file, not a link. */
bool folder_has_file(const struct folder *folder, const char *name);

/*
 * The bytes of a regular file in it, to be released with file_bytes_deinit.  A file above limit
 * bytes is an error (0: no limit).
 */
must_use struct error *folder_read(
	const struct folder *folder, const char *name, uint64_t limit, struct file_bytes *bytes);
/*
 * For readers of formats that are folders: the bid for the start of the file of that name in the
 * folder; 0 if there is none.
 */
int folder_bid(const char *path, const char *name, int (*bid)(const uint8_t *data, size_t size));

#endif
