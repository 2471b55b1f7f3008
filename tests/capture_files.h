#ifndef SONDE_TESTS_CAPTURE_FILES_H
#define SONDE_TESTS_CAPTURE_FILES_H

/*
 * Capture files of the tests: where they are put, and reading them back.
 */

#include "base/file.h"
#include "model/profile.h"
#include "random_capture.h"

/* A path in a new folder of this process's; free() it.  The folder goes with the process. */
char *capture_file_path(const char *name);

/* The whole file, which must be there. */
struct file_bytes capture_file_bytes(const char *path);
/* Through the capture reader; NULL and *message (to be freed) set where it refuses. */
struct profile *capture_read_bytes(const void *data, size_t size, char **message);
/* Fails the test where the file cannot be read. */
struct profile *capture_read_file(const char *path);

/* The count of the notes of a kind. */
uint64_t capture_note_count(const struct profile *p, enum note_kind kind);

/* Fails the test unless the profile is the first `samples` samples of the recording, in order. */
void capture_expect_equal(
	const struct random_capture *r, const struct profile *p, size_t samples, bool names);

/* A finished recording of some samples; its path is to be freed. */
char *capture_make_file(struct random_capture *r, const char *name, size_t samples, bool symbols);

#endif
