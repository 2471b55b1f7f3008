#ifndef SONDE_FORMATS_PPROF_WRITER_H
#define SONDE_FORMATS_PPROF_WRITER_H

/*
 * Shared by the parts of the pprof writer; private to them.
 *
 * Rows are numbered when something first refers to them, and written after everything that does:
 * samples, then locations, functions, mappings, and finally the strings.
 */

#include "base/map.h"
#include "base/protobuf.h"
#include "base/sink.h"
#include "base/vec.h"
#include "model/profile.h"
#include "formats/common/exporter.h"
#include "formats/pprof/schema.h"

/* A function as pprof has it: with the file of its lines; there may be several. */
struct pprof_function {
	uint32_t function;
	string_id file;
};

struct pprof_writer {
	const struct profile *profile;
	struct sink *sink;
	struct arena *arena;
	struct str_table strings;
	uint32_t *string_number; /* [profile's string]: number in `strings`, plus one; 0: not yet */
	struct code_places places; /* locations of the format */
	VEC(uint32_t) location_of; /* [place]: the location's id; 0: not referred to */
	VEC(uint32_t) locations;   /* places, by id - 1 */
	struct map function_of;	   /* function and file → index of functions */
	VEC(struct pprof_function) functions;
	uint32_t *mapping_of; /* [object]: id */
};

void pprof_writer_init(struct pprof_writer *w, const struct profile *profile, struct sink *sink);
void pprof_writer_deinit(struct pprof_writer *w);
/* The number of a text, with what is not fit to be shown escaped. */
uint64_t pprof_writer_text(struct pprof_writer *w, struct str text);
uint64_t pprof_writer_string(struct pprof_writer *w, string_id id);
/* Puts the ids of a stack's locations, leaf first, between proto_begin and proto_end. */
void pprof_put_locations(struct pprof_writer *w, stack_id stack);
/* Puts all rows that were referred to. */
void pprof_put_rows(struct pprof_writer *w);

#endif
