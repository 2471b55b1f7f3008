/*
 * The folded reader on any bytes: no crash, and what it accepts is a whole profile that the writer
 * can write and the reader read again to the same total.
 */
#include <assert.h>
#include <string.h>

#include "../writer_text.h"
#include "formats/readers.h"

static struct strbuf write_folded(const struct profile *p)
{
	struct writer_options options = {.metric = p->default_metric, .with_modules = true};

	return writer_text(&writer_folded, p, &options);
}

/* What was written is read with the same total, and written again as the same text. */
static void check_back(const struct strbuf *text, const struct profile *p)
{
	struct reader_input input = {
		.name = "written", .data = (const uint8_t *)text->data, .size = text->size};
	struct profile *q = NULL;

	assert(profile_read_bytes(&input, "folded", &q) == NULL);
	assert(q->total[0] == p->total[p->default_metric.i]);
	struct strbuf again = write_folded(q);
	assert(str_equal(strbuf_str(text), strbuf_str(&again)));
	strbuf_deinit(&again);
	profile_destroy(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct profile *read_folded(const void *data, size_t size)
{
	struct reader_input input = {.name = "input", .data = data, .size = size};
	struct profile *p = NULL;
	struct error *err = profile_read_bytes(&input, "folded", &p);

	error_destroy(err);
	return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = read_folded(data, size);

	(void)reader_folded.bid(data, size);
	if (p == NULL)
		return 0;
	struct strbuf text = write_folded(p);
	if (text.size)
		check_back(&text, p);
	strbuf_deinit(&text);
	profile_destroy(p);
	return 0;
}
