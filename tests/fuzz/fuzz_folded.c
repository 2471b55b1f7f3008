/*
 * The folded reader on any bytes: no crash, and what it accepts is a whole profile that the writer
 * can write and the reader read again to the same total.
 */
#include <assert.h>

#include "../writer_text.h"
#include "formats/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct profile *read_folded(const void *data, size_t size)
{
	struct reader_input input = {.name = "input", .data = data, .size = size};
	struct profile *p = NULL;
	struct error *err = profile_read_bytes(&input, "folded", &p);

	error_destroy(err);
	return p;
}

static struct strbuf write_folded(const struct profile *p)
{
	struct writer_options options = {.metric = p->default_metric, .with_modules = true};

	return writer_text(&writer_folded, p, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = read_folded(data, size);

	(void)reader_folded.bid(data, size);
	if (p == NULL)
		return 0;
	struct strbuf text = write_folded(p);
	if (text.size) {
		struct profile *q = read_folded(text.data, text.size);
		/* Where all names at the end of lines end in numbers, it is taken for a difference.
		 */
		assert(q && (q->metric_count > 1 || q->total[0] == p->total[0]));
		profile_destroy(q);
	}
	strbuf_deinit(&text);
	profile_destroy(p);
	return 0;
}
