#ifndef SONDE_FORMATS_PPROF_WRITER_H
#define SONDE_FORMATS_PPROF_WRITER_H

/*
 * Shared by the parts of the pprof writer; private to them.
 *
 * Rows are numbered when something first refers to them, and written after everything that refers
 * to them: samples, then locations, functions, mappings, and finally the strings.
 */

#include "base/map.h"
#include "base/protobuf.h"
#include "base/sink.h"
#include "base/vec.h"
#include "model/profile.h"
#include "formats/common/exporter.h"
#include "formats/pprof/schema.h"

/* A function in the format: it has a single file, so there may be several for one function. */
struct pprof_function {
	uint32_t function;
	string_id file;
};

struct pprof_writer {
	const struct profile *profile;
	struct sink *sink;
	struct arena *arena;
	struct str_table strings;
	uint32_t *string_number;   /* [string]: number in `strings` plus 1; 0: not yet */
	struct code_places places; /* the format's locations */
	VEC(uint32_t) location_of; /* [place]: the location's id; 0: not used */
	VEC(uint32_t) locations;   /* places, by id - 1 */
	struct map function_of;	   /* (function, file) → index in functions */
	VEC(struct pprof_function) functions;
	uint32_t *mapping_of; /* [object]: id */
};

void pprof_writer_init(struct pprof_writer *w, const struct profile *profile, struct sink *sink);
void pprof_writer_deinit(struct pprof_writer *w);
/* The number of a text, after escaping unprintable characters. */
uint64_t pprof_writer_text(struct pprof_writer *w, struct str text);
uint64_t pprof_writer_string(struct pprof_writer *w, string_id id);
/* Writes the ids of a stack's locations, leaf first; call it between proto_begin and proto_end. */
void pprof_put_locations(struct pprof_writer *w, stack_id stack);
/* Writes all rows in use. */
void pprof_put_rows(struct pprof_writer *w);

#endif
