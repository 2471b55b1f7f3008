#ifndef SONDE_FORMATS_OTLP_WRITER_H
#define SONDE_FORMATS_OTLP_WRITER_H

/*
 * Shared by the parts of the OTLP writer; private to them.
 *
 * Rows of a dictionary's tables are identified by the bytes of their message, so equal rows are
 * stored once, and a row has a number when something first refers to it.  Row 0 is the empty
 * message.
 */

#include "base/map.h"
#include "base/protobuf.h"
#include "base/sink.h"
#include "base/vec.h"
#include "model/profile.h"
#include "formats/common/exporter.h"
#include "formats/otlp/schema.h"

struct otlp_writer {
	const struct profile *profile;
	struct sink *sink;
	struct arena *arena;
	/* Stacks are identified by their numbers in the profile, so they need no table. */
	struct str_table tables[TABLE_COUNT];
	uint32_t *string_number;   /* [string]: row plus 1; 0: not yet */
	struct code_places places; /* the format's locations */
	uint32_t *location_of;	   /* [place]: row plus 1; 0: not yet */
	uint32_t *stack_number;	   /* [stack]: row; 0: not yet, or the empty stack */
	VEC(uint32_t) stacks;	   /* [row - 1] */
	struct strbuf row;	   /* scratch */
};

void otlp_writer_tables_init(
	struct otlp_writer *w, const struct profile *profile, struct sink *sink);
void otlp_writer_tables_deinit(struct otlp_writer *w);
/* The row of a text, after escaping unprintable characters. */
uint32_t otlp_writer_text(struct otlp_writer *w, struct str text);
uint32_t otlp_writer_string(struct otlp_writer *w, string_id id);
/* The row of these bytes in a TABLE_*. */
uint32_t otlp_writer_row(struct otlp_writer *w, uint32_t table, struct str bytes);
uint32_t otlp_writer_stack(struct otlp_writer *w, stack_id stack);
/* The row of an attribute with that value, an AnyValue. */
uint32_t otlp_writer_attribute(
	struct otlp_writer *w, uint32_t key, struct str any_value, uint32_t unit);
/* Writes the dictionary with all requested rows. */
void otlp_put_dictionary(struct otlp_writer *w);

/* ---- writer_identity.c ---- */

/*
 * Adds the fields of a Sample that identify it: stack, attributes (of the thread, and labels) and
 * link.  The same arguments add the same bytes.
 */
void otlp_put_identity(struct otlp_writer *w, struct strbuf *out, stack_id stack, thread_id thread,
	label_set_id labels);

#endif
