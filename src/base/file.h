#ifndef SONDE_BASE_FILE_H
#define SONDE_BASE_FILE_H

/*
 * Whole files: reading input that may be anything, writing output that is whole or not there.
 */

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
 * The same of a file in the folder that fd is open on; a link is refused, too.  shown: its name for
 * messages.
 */
must_use struct error *file_read_in(
	int fd, const char *name, const char *shown, uint64_t limit, struct file_bytes *bytes);
/* The same of no more than its first `most` bytes. */
must_use struct error *file_read_start_in(
	int fd, const char *name, const char *shown, size_t most, struct file_bytes *bytes);

/* Looks at how an input begins; a failure ends its reading. */
typedef struct error *file_look(const void *context, const uint8_t *data, size_t size);
#define FILE_LOOK_BYTES ((size_t)1 << 20)
/*
 * file_read that shows the first FILE_LOOK_BYTES of a longer input to look, so that a stream which
 * is not what it should be is refused before all of it, if it ever ends, is in memory.
 */
must_use struct error *file_read_looking(
	const char *path, file_look *look, const void *context, struct file_bytes *bytes);

/* Writes all of data to fd; EINTR and short writes are seen to.  name is for the message. */
must_use struct error *file_write_all(int fd, const void *data, size_t size, const char *name);

#endif
