#ifndef SONDE_TESTS_JSON_TEXT_H
#define SONDE_TESTS_JSON_TEXT_H

/*
 * Text that a JSON reader reads: a copy of just its size, so that a read behind it is seen by ASan.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_reader.h"

struct text {
	char *data;
	struct json_reader reader;
};

static inline struct json_reader *begin_sized(struct text *t, struct str text)
{
	t->data = xalloc(text.size);
	memcpy(t->data, text.data, text.size);
	json_reader_init(&t->reader, t->data, text.size, "test.json");
	return &t->reader;
}

static inline struct json_reader *begin(struct text *t, const char *text)
{
	return begin_sized(t, str_from(text));
}

static inline void end(struct text *t)
{
	json_reader_deinit(&t->reader);
	free(t->data);
}

#endif
