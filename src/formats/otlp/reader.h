#ifndef SONDE_FORMATS_OTLP_READER_H
#define SONDE_FORMATS_OTLP_READER_H

/*
 * Shared by the parts of the OTLP reader; private to them.
 *
 * A file consists of messages, each with its own dictionary.  Only the positions of a dictionary's
 * rows are stored, four bytes each; a row is decoded when a sample first needs it.
 */

#include "base/map.h"
#include "base/protobuf.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "formats/common/importer.h"
#include "formats/common/mapped_code.h"
#include "formats/otlp/schema.h"
#include "formats/readers.h"

/* The positions of a sample's fields. */
struct otlp_layout {
	uint32_t attribute, link, value;
};

/* Each metric costs 16 bytes per stack. */
#define OTLP_METRICS_MAX 16

/* A message and its dictionary. */
struct otlp_message {
	struct str bytes;
	uint64_t offset;		 /* of bytes in the input; 0 for JSON */
	VEC(uint32_t) rows[TABLE_COUNT]; /* offset of each row's field */
	bool has_dictionary;
	uint32_t first_mapping; /* of row 0, in `code` */
	/* Decoded rows plus 1; 0: not decoded yet.  NULL before the first one. */
	uint32_t *stacks, *locations, *labels;
};

/* Skipped parts of the input, by kind. */
enum otlp_fault {
	FAULT_SAMPLE,	 /* has no values and times, or their numbers differ */
	FAULT_ROW,	 /* a reference to a row that does not exist */
	FAULT_MESSAGE,	 /* bytes that are not a valid message */
	FAULT_ATTRIBUTE, /* a value that is a map, or a list of maps */
	FAULT_PROFILE,	 /* beyond the maximum number of metrics */
	FAULT_OVERFLOW,	 /* a value that is too large in sonde's unit */
	FAULT_COUNT
};

struct otlp {
	const struct reader_input *input;
	struct builder *builder;
	struct demangler *demangler;
	struct mapped_code *code;
	VEC(struct otlp_message) messages;
	struct otlp_message *message; /* the current one */
	struct strbuf json;	      /* messages converted from JSON */
	bool is_cut;

	/* Found in the first pass. */
	bool has_times, has_threads, has_labels;
	size_t resource_count; /* with attributes that distinguish them */
	uint64_t row_count;
	uint64_t start_ns, end_ns; /* since 1970; UINT64_MAX and 0: unknown */
	bool says_start;	   /* a profile states when it began */
	uint64_t last_ns;	   /* later than all samples */
	/* What samples show about the layout. */
	bool is_1_7, is_1_8, is_1_10, may_be_1_8;
	const struct otlp_layout *layout;
	bool keeps_samples; /* false: only sums by stack are kept */

	struct {
		struct str type, unit;
	} metrics[OTLP_METRICS_MAX];
	bool are_metrics_known;
	size_t metric_count, samples_metric; /* SIZE_MAX: none is the number of samples */

	VEC(uint32_t) words;   /* for each location, the number of its frames, then the frames */
	VEC(uint32_t) scratch; /* of a stack */
	uint64_t steps_left;   /* number of frames that stacks may still have */
	uint64_t cut_stacks;
	struct otlp_labels *labels;

	struct fault faults[FAULT_COUNT];
};

/*
 * Like proto_next, but returns the available part of a truncated last field (is_cut), and counts a
 * fault for bytes that are not a field.
 */
bool otlp_next(struct otlp *o, struct cursor *c, struct proto_field *f);
/* Converts a unit to sonde's, and sets the factor for its values. */
struct str otlp_unit(struct str unit, int64_t *scale);

/* ---- json.c ---- */

/* Whether the data is an object that contains resource profiles. */
bool otlp_is_json(const uint8_t *data, size_t size);
/* Takes the message at the start of `text`, and appends it to out as protocol buffers. */
must_use struct error *otlp_json_convert(
	struct str *text, const char *name, struct strbuf *out, bool *is_cut);

/* ---- tables.c ---- */

/* Stores the positions of the dictionary's rows. */
void otlp_tables_read(struct otlp *o, struct otlp_message *m);
void otlp_tables_deinit(struct otlp_message *m);
/* A row of a table of the current message; false, and a fault: there is none. */
bool otlp_row(struct otlp *o, int table, uint64_t number, struct cursor *row, uint64_t offset);
struct str otlp_string(struct otlp *o, uint64_t number, uint64_t offset);
/*
 * Adds the mappings of the current message, and addresses without lines, for mapped_code_resolve.
 */
void otlp_want_names(struct otlp *o);
/* The stack with that number; false: a fault. */
bool otlp_stack(struct otlp *o, uint64_t number, uint64_t offset, stack_id *stack);

/* ---- labels.c ---- */

/* A value of an attribute; for an array, one of its values. */
struct otlp_value {
	bool is_number;
	int64_t number;
	struct str text; /* borrowed, until the next call */
};
struct otlp_attribute {
	struct str key, unit;
	struct cursor value;
};
/* Reads a KeyValueAndUnit of the dictionary, or (is_resource) a KeyValue of a resource. */
bool otlp_attribute(
	struct otlp *o, struct cursor row, bool is_resource, struct otlp_attribute *attribute);
/* The value if it is a single text or number, else false.  text: scratch. */
bool otlp_scalar(
	struct otlp *o, struct cursor value, struct strbuf *text, struct otlp_value *scalar);

void otlp_labels_init(struct otlp *o);
void otlp_labels_deinit(struct otlp *o);
/* Whether a key describes threads or processes. */
bool otlp_key_is_thread(struct str key);
/*
 * Takes what all samples of a resource have in common; if there are several resources, also labels.
 */
void otlp_labels_resource(struct otlp *o, struct cursor resource);
/* What identifies a sample. */
struct otlp_identity {
	thread_id thread; /* NO_ID: no thread */
	label_set_id labels;
};
struct otlp_identity otlp_identify(
	struct otlp *o, const uint32_t *attributes, size_t count, uint64_t link, uint64_t offset);

/* ---- samples.c ---- */

/* First step, for all messages: detects the layout of samples. */
void otlp_samples_layout(struct otlp *o, struct cursor resource_profiles);
/* Second step, for all messages: finds metrics and time ranges. */
void otlp_samples_survey(struct otlp *o, struct cursor resource_profiles);
void otlp_samples_read(struct otlp *o, struct cursor resource_profiles);

#endif
