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

/* More than any tool writes; each costs 16 bytes a stack. */
#define PPROF_METRICS_MAX 64

/* Where the rows of a table stand in the input, by their ids. */
struct pprof_rows {
	uint64_t *ids; /* [count], ascending; NULL: a row's id is its number */
	uint32_t *at;  /* [count]: the offset of its field, plus one; 0: there is none */
	size_t count;
	uint64_t id_max;
	size_t found; /* messages, in the first pass */
};

/* Parts of the input that were passed over, by kind. */
enum pprof_fault {
	FAULT_SAMPLE,	/* cut, or with another number of values than there are types */
	FAULT_LOCATION, /* that a sample names and that is not there */
	FAULT_ROW,	/* of a table: cut, without an id or with one that is taken */
	FAULT_STRING,	/* a number behind the table of strings */
	FAULT_COUNT
};

/*
 * A location's frame, or where its frames stand among those of all, if they are several: most have
 * one, and each sample asks for some dozens.
 */
struct pprof_place {
	union {
		frame_id only;
		uint32_t first;
	};
	uint32_t count; /* 0: it is not taken apart yet */
};

/* The profile's own fields that are not repeated, the last of each. */
struct pprof_facts {
	uint64_t value[PROFILE_FIELD_COUNT];
	uint64_t offset[PROFILE_FIELD_COUNT]; /* 0: there is none, of repeated ones too */
	struct cursor period_type;
	uint64_t types_at; /* where the first type of samples stands */
	size_t types;
};

struct pprof {
	const struct reader_input *input;
	struct builder *builder;
	struct demangler *demangler;
	struct mapped_code *code;
	/* Where a top-level fault ended the reading; the rest is lost. */
	const char *problem;
	uint64_t problem_offset;

	uint32_t *string_at; /* [string_count]: as pprof_rows.at */
	size_t string_count;
	struct pprof_rows functions, locations, mappings;
	uint32_t *mapping_of_row;   /* [mappings.count]: number in `code`, plus one; 0: not yet */
	struct pprof_place *places; /* [locations.count] */
	VEC(frame_id) frames;	    /* of locations that have several, the innermost first */
	frame_id unknown;
	bool has_labels; /* any sample */
	struct pprof_facts facts;
	size_t sample_count;

	size_t metric_count;
	int64_t scale[PPROF_METRICS_MAX]; /* of values, to the metric's unit */
	size_t samples_metric;		  /* SIZE_MAX: none tells how many samples there were */
	/* Frames that stacks may still be walked along, those that are there already too. */
	uint64_t walk;

	struct pprof_drop *drop; /* NULL: no frames are to be left out */

	struct fault faults[FAULT_COUNT];
	uint64_t cut; /* samples whose stacks are cut for want of memory, or of walk */
};

/* ---- tables.c ---- */

/* The row of an id in a table; false: there is none. */
bool pprof_row_find(const struct pprof_rows *rows, uint64_t id, size_t *row);
/* Finds all rows and facts.  ERROR_INPUT where nothing can be made of the file. */
must_use struct error *pprof_tables_read(struct pprof *p);
void pprof_tables_deinit(struct pprof *p);
/* Empty, and a fault, if there is none of that number. */
struct str pprof_string(struct pprof *p, uint64_t number, uint64_t offset);
/* Collects the locations that have an address and no lines, and has them named. */
void pprof_name_addresses(struct pprof *p);
static inline struct mapped_frames pprof_place_frames(
	const struct pprof *p, const struct pprof_place *place)
{
	return (struct mapped_frames){
		place->count == 1 ? &place->only : p->frames.data + place->first, place->count};
}
/* What pprof_location does for one that it has not taken apart yet. */
struct mapped_frames pprof_location_new(struct pprof *p, uint64_t id, uint64_t offset);
/*
 * The frames of a location, innermost first, taken apart at first sight; of one that is not there
 * "[unknown]".  What is returned is good until the next call.
 */
static inline struct mapped_frames pprof_location(struct pprof *p, uint64_t id, uint64_t offset)
{
	if (p->locations.ids || id >= p->locations.count || p->places[id].count == 0)
		return pprof_location_new(p, id, offset);
	return pprof_place_frames(p, &p->places[id]);
}

/* ---- drop.c ---- */

/* What is left of a stack at a location of a function that is to be left out. */
enum pprof_end {
	END_NONE,  /* it is no such location */
	END_ABOVE, /* its callers alone */
	END_HERE,  /* the calls of it that the dropped one is inlined into, too */
};

/* By the profile's drop_frames and keep_frames; leaves p->drop NULL where there are none. */
void pprof_drop_init(struct pprof *p);
void pprof_drop_deinit(struct pprof *p);
/*
 * Looks at a location that was just taken apart, whose frames stand among those of all, and cuts
 * what is inlined below a dropped call.
 */
void pprof_drop_location(struct pprof *p, size_t row);
enum pprof_end pprof_drop_end(const struct pprof *p, uint64_t location);
/* How many samples were cut. */
void pprof_drop_notes(struct pprof *p, uint64_t cut);

/* ---- samples.c ---- */

void pprof_samples_read(struct pprof *p);

/* ---- labels.c ---- */

struct pprof_labels;

/* Looks at all samples' labels: whether they tell threads and times.  NULL: there are none. */
must_use struct pprof_labels *pprof_labels_create(struct pprof *p);
void pprof_labels_destroy(struct pprof_labels *l);
struct pprof_sample_labels {
	thread_id thread; /* NO_ID: not known of any sample */
	uint64_t time_ns; /* UINT64_MAX: the same */
	label_set_id set;
};
/* Of one sample, a good one. */
struct pprof_sample_labels pprof_labels_of(struct pprof_labels *l, struct cursor sample);

#endif
