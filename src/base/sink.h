#ifndef SONDE_BASE_SINK_H
#define SONDE_BASE_SINK_H

/*
 * Where output goes: text gathers in a buffer and leaves for a file descriptor in large writes,
 * packed on the way if it should be.
 * The first failed write is remembered, what comes after it is dropped, and sink_finish tells.
 *
 *	sink_init(&sink, fd, "standard output");
 *	strbuf_add(&sink.text, …); sink_settle(&sink);        once a row
 *	err = sink_finish(&sink);
 */

#include <stdbool.h>

#include "base/compress.h"
#include "base/error.h"
#include "base/str.h"

struct sink {
	struct strbuf text; /* not written yet; anyone may add to it */
	int fd;		    /* borrowed */
	bool in_memory;	    /* nothing leaves: text keeps all */
	const char *name;   /* borrowed; for messages */
	struct error *error;
	struct compressor *compressor; /* NULL: what leaves is the text as it is */
	struct strbuf packed;	       /* of the write under way */
};

void sink_init(struct sink *sink, int fd, const char *name);
/* A sink that keeps all its text, the caller's to free; it is not to be packed or finished. */
void sink_init_memory(struct sink *sink);
/* From the start on all text leaves packed; before the first byte, once. */
void sink_pack(struct sink *sink, enum packing packing);
/* Writes out what has gathered if that is much.  False: writing has failed, more is of no use. */
bool sink_settle(struct sink *sink);
/* Writes out the rest and frees the buffers.  Returns the first failure of any write. */
must_use struct error *sink_finish(struct sink *sink);

#endif
