#ifndef SONDE_FORMATS_PPROF_READER_H
#define SONDE_FORMATS_PPROF_READER_H

/*
 * Shared by the parts of the pprof reader; private to them.
 *
 * A profile is a message whose tables (strings, functions, locations, mappings) come in any order,
 * before or after the samples that refer to them.  So it is read three times: once to count rows
 * and find the largest ids, once for the position of each row, once for the samples.  A row is
 * decoded when a sample first needs it; others take only four bytes.
 */

#include "base/map.h"
#include "base/protobuf.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "formats/common/importer.h"
#include "formats/common/mapped_code.h"
#include "formats/pprof/schema.h"
#include "formats/readers.h"

/* More than any tool writes; each costs 16 bytes per stack. */
#define PPROF_METRICS_MAX 64

/* The positions of a table's rows in the input, by id. */
struct pprof_rows {
	uint64_t *ids; /* [count], ascending; NULL: ids are row numbers */
	uint32_t *at;  /* [count]: the offset of its field plus 1; 0: missing */
	size_t count;
	uint64_t id_max;
	size_t found; /* number of messages, from the first pass */
};

/* Skipped parts of the input, by kind. */
enum pprof_fault {
	FAULT_SAMPLE,	/* truncated, or its number of values differs from that of types */
	FAULT_LOCATION, /* a sample's reference to a missing location */
	FAULT_ROW,	/* of a table: truncated, without an id, or with a duplicate one */
	FAULT_STRING,	/* an index beyond the table of strings */
	FAULT_COUNT
};

/*
 * A location's frame, or if it has several, their position in `frames`.  Most locations have one,
 * and each sample looks up dozens.
 */
struct pprof_place {
	union {
		frame_id only;
		uint32_t first;
	};
	uint32_t count; /* 0: not decoded yet */
};

/* The profile's own fields that are not repeated; the last of each counts. */
struct pprof_facts {
	uint64_t value[PROFILE_FIELD_COUNT];
	uint64_t offset[PROFILE_FIELD_COUNT]; /* 0: missing; also set for repeated ones */
	struct cursor period_type;
	uint64_t types_at; /* offset of the first type of samples */
	size_t types;
};

struct pprof {
	const struct reader_input *input;
	struct builder *builder;
	struct demangler *demangler;
	struct mapped_code *code;
	/* If a top-level error ended reading early: the reason. */
	const char *problem;
	uint64_t problem_offset;

	uint32_t *string_at; /* [string_count]: as pprof_rows.at */
	size_t string_count;
	struct pprof_rows functions, locations, mappings;
	uint32_t *mapping_of_row;   /* [mappings.count]: number in `code` plus 1; 0: not added
				       yet */
	struct pprof_place *places; /* [locations.count] */
	VEC(frame_id) frames;	    /* of locations with several, innermost first */
	frame_id unknown;
	bool has_labels; /* some sample has labels */
	struct pprof_facts facts;
	size_t sample_count;

	size_t metric_count;
	int64_t scale[PPROF_METRICS_MAX]; /* of values, to the metric's unit */
	size_t samples_metric;		  /* SIZE_MAX: no metric is the number of samples */
	/* How many more frames may be visited, including frames of known stacks. */
	uint64_t walk;

	struct pprof_drop *drop; /* NULL: no frames are dropped */

	struct fault faults[FAULT_COUNT];
	uint64_t cut; /* samples with truncated stacks, because memory or walk was used up */
};

/* ---- tables.c ---- */

/* The row of an id in a table; false: there is none. */
bool pprof_row_find(const struct pprof_rows *rows, uint64_t id, size_t *row);
/* Finds all rows and facts.  ERROR_INPUT if the file is unusable. */
must_use struct error *pprof_tables_read(struct pprof *p);
void pprof_tables_deinit(struct pprof *p);
/* The string with a number; empty, and a fault, if missing. */
struct str pprof_string(struct pprof *p, uint64_t number, uint64_t offset);
/* Collects the locations with an address but no lines, and resolves their names. */
void pprof_name_addresses(struct pprof *p);
static inline struct mapped_frames pprof_place_frames(
	const struct pprof *p, const struct pprof_place *place)
{
	return (struct mapped_frames){
		place->count == 1 ? &place->only : p->frames.data + place->first, place->count};
}
/* pprof_location for a location not decoded yet. */
struct mapped_frames pprof_location_new(struct pprof *p, uint64_t id, uint64_t offset);
/*
 * The frames of a location, innermost first, decoded on first use; "[unknown]" if it is missing.
 * Valid until the next call.
 */
static inline struct mapped_frames pprof_location(struct pprof *p, uint64_t id, uint64_t offset)
{
	if (p->locations.ids || id >= p->locations.count || p->places[id].count == 0)
		return pprof_location_new(p, id, offset);
	return pprof_place_frames(p, &p->places[id]);
}

/* ---- drop.c ---- */

/* What remains of a stack at the location of a dropped function. */
enum pprof_end {
	END_NONE,  /* not such a location */
	END_ABOVE, /* only its callers */
	END_HERE,  /* also the calls at it that the dropped one is inlined into */
};

/* Reads the profile's drop_frames and keep_frames; p->drop stays NULL if there are none. */
void pprof_drop_init(struct pprof *p);
void pprof_drop_deinit(struct pprof *p);
/*
 * Checks a newly decoded location, whose frames are in `frames`, and removes frames inlined into a
 * dropped call.
 */
void pprof_drop_location(struct pprof *p, size_t row);
enum pprof_end pprof_drop_end(const struct pprof *p, uint64_t location);
/* Adds notes; cut: the number of samples with dropped frames. */
void pprof_drop_notes(struct pprof *p, uint64_t cut);

/* ---- samples.c ---- */

void pprof_samples_read(struct pprof *p);

/* ---- labels.c ---- */

struct pprof_labels;

/* Surveys all samples' labels: do they have threads and times?  NULL: there are no labels. */
must_use struct pprof_labels *pprof_labels_create(struct pprof *p);
void pprof_labels_destroy(struct pprof_labels *l);
struct pprof_sample_labels {
	thread_id thread; /* NO_ID: no sample has one */
	uint64_t time_ns; /* UINT64_MAX: no sample has one */
	label_set_id set;
};
/* The labels of one valid sample. */
struct pprof_sample_labels pprof_labels_of(struct pprof_labels *l, struct cursor sample);

#endif
