#ifndef SONDE_BASE_FILE_H
#define SONDE_BASE_FILE_H

/* Whole files: reading untrusted input, and writing output that is complete or does not exist. */

#include "base/error.h"
#include "base/str.h"

struct file_bytes {
	const uint8_t *data;
	size_t size;
};

/*
 * The bytes of a regular file, or of standard input for "-".  Directories, devices and fifos are
 * refused by name.  The bytes are a private copy; release with file_bytes_deinit.
 * A file above limit bytes is an error (0: no limit).
 */
must_use struct error *file_read(const char *path, uint64_t limit, struct file_bytes *bytes);
void file_bytes_deinit(struct file_bytes *bytes);
/*
 * The same for a file in the folder that fd refers to; links are also refused. shown: its name for
 * messages.
 */
must_use struct error *file_read_in(
	int fd, const char *name, const char *shown, uint64_t limit, struct file_bytes *bytes);
/* The same for at most its first `most` bytes. */
must_use struct error *file_read_start_in(
	int fd, const char *name, const char *shown, size_t most, struct file_bytes *bytes);

/* Looks at the start of an input; a failure stops reading. */
typedef struct error *file_look(const void *context, const uint8_t *data, size_t size);
#define FILE_LOOK_BYTES ((size_t)1 << 20)
/*
 * file_read that passes the first FILE_LOOK_BYTES of a longer input to look, so that a wrong stream
 * is refused before all of it is in memory; it may never end.  At most `threads` threads read a
 * large file (0: one).
 */
must_use struct error *file_read_looking(const char *path, file_look *look, const void *context,
	size_t threads, struct file_bytes *bytes);

/* Writes all of data to fd; Handles EINTR and short writes. name is for the message. */
must_use struct error *file_write_all(int fd, const void *data, size_t size, const char *name);

#endif
