#ifndef SONDE_FORMATS_PERFETTO_WRITER_H
#define SONDE_FORMATS_PERFETTO_WRITER_H

/* Shared by writer.c and writer_samples.c; private to them. */

#include "base/protobuf.h"
#include "formats/perfetto/schema.h"
#include "formats/writers.h"

/* What has been interned, by number; each kind has its own ids. */
struct perfetto_interned {
	bool *event_name; /* [function]: of a zone */
	bool *function;	  /* [function]: its name */
	bool *file;	  /* [string]: a source path */
	bool *mapping;	  /* [object], plus one for code without a load object */
	bool *frame;	  /* [frame] */
	bool *callstack;  /* [stack] */
};

struct perfetto_writer {
	const struct profile *profile;
	struct sink *sink;
	struct strbuf *out; /* the sink's */
	metric_id metric;   /* of the written samples */
	bool has_packet;
	struct perfetto_interned is_interned;
};

/* A packet's fields go between begin and end. */
size_t perfetto_begin(struct perfetto_writer *w, uint64_t time_ns);
void perfetto_end(struct perfetto_writer *w, size_t packet);
/* Writes an interned string, within an InternedData. */
void perfetto_put_text(struct perfetto_writer *w, uint32_t kind, uint64_t iid, struct str text);
/* Writes the samples with weight in the metric, if the profile has times. */
void perfetto_write_samples(struct perfetto_writer *w);

#endif
