/*
 * Buffered output with one sticky error, so that code that draws rows need not check every write.
 * stdio would do the same, but it does not keep the errno of the first failure.
 */
#include "base/sink.h"

#include <assert.h>

#include "base/file.h"

/* Large enough to make the cost of write(2) negligible, small enough to stay in the cache. */
#define SINK_SETTLE_BYTES 65536u

void sink_init(struct sink *sink, int fd, const char *name)
{
	*sink = (struct sink){.fd = fd, .name = name};
}

void sink_init_memory(struct sink *sink)
{
	*sink = (struct sink){.fd = -1, .in_memory = true, .name = "memory"};
}

void sink_pack(struct sink *sink, enum packing packing)
{
	assert(!sink->in_memory && sink->compressor == NULL && sink->text.size == 0);
	if (packing != PACKING_NONE)
		sink->compressor = compressor_create(packing);
}

static void sink_write(struct sink *sink, bool is_last)
{
	struct str bytes = strbuf_str(&sink->text);

	if (sink->compressor && sink->error == NULL) {
		strbuf_clear(&sink->packed);
		compressor_add(sink->compressor, bytes, is_last, &sink->packed);
		bytes = strbuf_str(&sink->packed);
	}
	if (sink->error == NULL)
		sink->error = file_write_all(sink->fd, bytes.data, bytes.size, sink->name);
	strbuf_clear(&sink->text);
}

bool sink_settle(struct sink *sink)
{
	if (!sink->in_memory && sink->text.size >= SINK_SETTLE_BYTES)
		sink_write(sink, false);
	return sink->error == NULL;
}

struct error *sink_finish(struct sink *sink)
{
	struct error *err;

	assert(!sink->in_memory);
	sink_write(sink, true);
	err = sink->error;
	sink->error = NULL;
	compressor_destroy(sink->compressor);
	sink->compressor = NULL;
	strbuf_deinit(&sink->packed);
	strbuf_deinit(&sink->text);
	return err;
}
