#ifndef SONDE_TESTS_READ_PROFILE_H
#define SONDE_TESTS_READ_PROFILE_H

/*
 * What readers make of bytes: of a copy of just their size, so that a read behind it is seen by
 * ASan.  name: of the file that they would stand in; from: the format, NULL: by their content.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/readers.h"
#include "unit.h"

must_use static inline struct error *try_profile(
	struct str bytes, const char *name, const char *from, struct profile **p)
{
	uint8_t *data = xalloc(bytes.size);
	struct reader_input input = {.name = name, .data = data, .size = bytes.size};

	memcpy(data, bytes.data, bytes.size);
	struct error *err = profile_read_bytes(&input, from, p);
	free(data);
	return err;
}

/* Of bytes that a reader takes. */
static inline struct profile *read_profile(struct str bytes, const char *name, const char *from)
{
	struct profile *p = NULL;
	struct error *err = try_profile(bytes, name, from, &p);

	if (err)
		fail_msg("%s", err->message);
	return p;
}

/* That there is an error, which says this; destroys it. */
static inline void expect_refusal(struct error *err, const char *part)
{
	if (err == NULL)
		fail_msg("no error, wanted '%s'", part);
	if (strstr(err->message, part) == NULL)
		fail_msg("wanted '%s', got '%s'", part, err->message);
	error_destroy(err);
}

/* The same, of that kind. */
static inline void expect_refusal_of(struct error *err, enum error_kind kind, const char *part)
{
	if (err && err->kind != kind)
		fail_msg("wanted kind %d, got %d: %s", (int)kind, (int)err->kind, err->message);
	expect_refusal(err, part);
}

#endif
