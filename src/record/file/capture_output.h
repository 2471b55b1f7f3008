#ifndef SONDE_RECORD_FILE_CAPTURE_OUTPUT_H
#define SONDE_RECORD_FILE_CAPTURE_OUTPUT_H

/*
 * Where a capture file's bytes go.  Every write is all or nothing where that is possible (a regular
 * file is cut back to its last whole chunk), the first failure is remembered and ends all writing.
 * SIGXFSZ and SIGPIPE that our own writes cause are swallowed; nobody's signal dispositions change,
 * since a child that is forked later would inherit them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

struct capture_output {
	int fd;
	char *path; /* "-": standard output */
	bool is_regular;
	bool kept_old; /* what was at path before is now at PATH.old */
	dev_t device;  /* of the file that was made */
	ino_t inode;
	uint64_t size; /* bytes written */
	int failure;   /* errno of the first write that failed, 0: none */
};

/*
 * Opens path for a new recording.  An existing regular file is renamed to PATH.old; the new one is
 * made with O_EXCL and O_NOFOLLOW, mode 0600.  Character devices and pipes are written to as they
 * are; directories, symbolic links and the rest are refused.
 */
must_use struct error *capture_output_open(struct capture_output *o, const char *path);
/* The same for a copy of another one, which is a regular file and stays as it is. */
must_use struct error *capture_output_copy(
	struct capture_output *o, const char *path, const struct capture_output *from);
/* Closes; what close says last (a network file system's full disk) counts as a failed write. */
void capture_output_close(struct capture_output *o);
void capture_output_deinit(struct capture_output *o);
/* Removes the file and puts back the old one; to be called before closing. */
void capture_output_remove(struct capture_output *o);

/* False if it, or a write before it, failed. */
bool capture_output_write(struct capture_output *o, struct str bytes);
/* The same for struct capture_batch; context is the struct capture_output. */
bool capture_output_put(void *context, struct str bytes);
/* As capture_output_write, even after a failure: a small chunk may fit where a large one did not.
 */
bool capture_output_write_anyway(struct capture_output *o, struct str bytes);
/* Whether the path still leads to the file that was made. */
bool capture_output_is_in_place(const struct capture_output *o);
/*
 * At the end: sees to it that the path leads to what was written.  A file that somebody removed is
 * made anew; one that was moved stays where it is, which is an error, as the caller's path is
 * wrong.
 */
must_use struct error *capture_output_settle(struct capture_output *o);

#endif
