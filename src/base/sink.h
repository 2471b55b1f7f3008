#ifndef SONDE_BASE_SINK_H
#define SONDE_BASE_SINK_H

/*
 * Output: text is collected in a buffer and written to a file descriptor in large writes,
 * optionally compressed.  The first failed write is remembered, later output is dropped, and
 * sink_finish returns the error.
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
	bool in_memory;	    /* nothing is written: text keeps everything */
	const char *name;   /* borrowed; for messages */
	struct error *error;
	struct compressor *compressor; /* NULL: text is written uncompressed */
	struct strbuf packed;	       /* the current write, compressed */
};

void sink_init(struct sink *sink, int fd, const char *name);
/* A sink that keeps all its text, which the caller frees; it must not be packed or finished. */
void sink_init_memory(struct sink *sink);
/* Compresses all output; call it once, before the first byte. */
void sink_pack(struct sink *sink, enum packing packing);
/*
 * Writes the collected text if there is enough.  False: a write has failed, so further output is
 * useless.
 */
bool sink_settle(struct sink *sink);
/* Writes the rest and frees the buffers.  Returns the first failure of any write. */
must_use struct error *sink_finish(struct sink *sink);

#endif
