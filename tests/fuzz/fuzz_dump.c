/*
 * The dump reader on any bytes: no crash, and what it accepts comes back: writing what was read
 * from what was written changes nothing.
 */
#include <assert.h>

#include "../writer_text.h"
#include "formats/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct profile *read_dump(const void *data, size_t size)
{
	struct reader_input input = {.name = "input", .data = data, .size = size};
	struct profile *p = NULL;
	struct error *err = profile_read_bytes(&input, "dump", &p);

	error_destroy(err);
	return p;
}

static struct strbuf write_dump(const struct profile *p)
{
	return writer_text(&writer_dump, p, &(struct writer_options){.with_modules = true});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = read_dump(data, size);

	if (p == NULL)
		return 0;
	struct strbuf once = write_dump(p);
	struct profile *q = read_dump(once.data, once.size);
	assert(q);
	struct strbuf twice = write_dump(q);
	assert(str_equal(strbuf_str(&once), strbuf_str(&twice)));
	strbuf_deinit(&once);
	strbuf_deinit(&twice);
	profile_destroy(p);
	profile_destroy(q);
	return 0;
}
