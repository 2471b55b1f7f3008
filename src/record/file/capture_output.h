#ifndef SONDE_RECORD_FILE_CAPTURE_OUTPUT_H
#define SONDE_RECORD_FILE_CAPTURE_OUTPUT_H

/*
 * The output of a capture file's bytes.  Each write is all or nothing if possible: a regular file
 * is truncated to its last complete chunk.  The first failure is remembered and ends all writing.
 * SIGXFSZ and SIGPIPE that our own writes cause are discarded, without changing signal
 * dispositions, which a later child would inherit.
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
	bool kept_old; /* the file that was at path before is now at PATH.old */
	dev_t device;  /* of the new file */
	ino_t inode;
	uint64_t size; /* bytes written */
	int failure;   /* errno of the first write that failed, 0: none */
};

/*
 * Opens path for a new recording.  An existing regular file is renamed to PATH.old; the new one is
 * created with O_EXCL and O_NOFOLLOW, mode 0600.  Character devices and pipes are written directly;
 * directories, symbolic links and others are refused.
 */
must_use struct error *capture_output_open(struct capture_output *o, const char *path);
/*
 * The same, starting with a copy of another output, which must be a regular file and stays
 * unchanged.
 */
must_use struct error *capture_output_copy(
	struct capture_output *o, const char *path, const struct capture_output *from);
/*
 * Closes.  An error of close (as for a full disk on a network file system) counts as a failed
 * write.
 */
void capture_output_close(struct capture_output *o);
void capture_output_deinit(struct capture_output *o);
/* Removes the file and restores the old one.  Call it before closing. */
void capture_output_remove(struct capture_output *o);

/* False: this or an earlier write has failed. */
bool capture_output_write(struct capture_output *o, struct str bytes);
/* The same as a callback for struct capture_batch; context is the struct capture_output. */
bool capture_output_put(void *context, struct str bytes);
/* The same, even after a failure: a small chunk may fit where a large one did not. */
bool capture_output_write_anyway(struct capture_output *o, struct str bytes);
/* Whether the new file is still at its path. */
bool capture_output_is_in_place(const struct capture_output *o);
/*
 * At the end: makes sure that the written file is at its path.  A deleted file is written again.  A
 * moved one stays where it is, which is an error, because the caller's path is wrong.
 */
must_use struct error *capture_output_settle(struct capture_output *o);

#endif
