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

/* Where the fields of a sample stand. */
struct otlp_layout {
	uint32_t attribute, link, value;
};

/* Each metric costs 16 bytes a stack. */
#define OTLP_METRICS_MAX 16

/* A message and its dictionary. */
struct otlp_message {
	struct str bytes;
	uint64_t offset;		 /* of bytes in the input; of JSON 0 */
	VEC(uint32_t) rows[TABLE_COUNT]; /* where the field of each begins */
	bool has_dictionary;
	uint32_t first_mapping; /* of row 0, in `code` */
	/* Of rows that were taken apart, plus one; 0: not yet.  NULL before the first. */
	uint32_t *stacks, *locations, *labels;
};

/* Parts of the input that were passed over, by kind. */
enum otlp_fault {
	FAULT_SAMPLE,	 /* without values and times, or with other numbers of them */
	FAULT_ROW,	 /* a number of a row that is not in its table */
	FAULT_MESSAGE,	 /* bytes that are no message */
	FAULT_ATTRIBUTE, /* a value that is a map, or a list of such */
	FAULT_PROFILE,	 /* of more metrics than there may be */
	FAULT_OVERFLOW,	 /* a value that is too large in sonde's unit */
	FAULT_COUNT
};

struct otlp {
	const struct reader_input *input;
	struct builder *builder;
	struct demangler *demangler;
	struct mapped_code *code;
	VEC(struct otlp_message) messages;
	struct otlp_message *message; /* the one at hand */
	struct strbuf json;	      /* messages that were JSON */
	bool is_cut;

	/* What the first pass has found. */
	bool has_times, has_threads, has_labels;
	size_t resource_count; /* with attributes that are to tell them apart */
	uint64_t row_count;
	uint64_t start_ns, end_ns; /* since 1970; UINT64_MAX and 0: not known */
	bool says_start;	   /* a profile says when it began */
	uint64_t last_ns;	   /* after all samples */
	/* What samples tell of the layout. */
	bool is_1_7, is_1_8, is_1_10, may_be_1_8;
	const struct otlp_layout *layout;
	bool keeps_samples; /* else sums by stack */

	struct {
		struct str type, unit;
	} metrics[OTLP_METRICS_MAX];
	bool are_metrics_known;
	size_t metric_count, samples_metric; /* SIZE_MAX: none tells how many samples there were */

	VEC(uint32_t) words;   /* of locations: the number of frames, and these */
	VEC(uint32_t) scratch; /* of a stack */
	uint64_t steps_left;   /* frames that stacks may still be made of */
	uint64_t cut_stacks;
	struct otlp_labels *labels;

	struct fault faults[FAULT_COUNT];
};

/*
 * proto_next; what the end of the file has cut off is given as far as it is there (is_cut).  Bytes
 * that are no fields are a fault.
 */
bool otlp_next(struct otlp *o, struct cursor *c, struct proto_field *f);
/* Units as sonde has them, and what a figure is to be multiplied by. */
struct str otlp_unit(struct str unit, int64_t *scale);

/* ---- json.c ---- */

/* Whether that is an object that has profiles of resources. */
bool otlp_is_json(const uint8_t *data, size_t size);
/* Turns the message that begins `text` into protocol buffers, added to out, and takes it off. */
must_use struct error *otlp_json_convert(
	struct str *text, const char *name, struct strbuf *out, bool *is_cut);

/* ---- tables.c ---- */

/* Notes where the rows of the dictionary stand. */
void otlp_tables_read(struct otlp *o, struct otlp_message *m);
void otlp_tables_deinit(struct otlp_message *m);
/* A row of a table of the message at hand; false, and a fault: there is none. */
bool otlp_row(struct otlp *o, int table, uint64_t number, struct cursor *row, uint64_t offset);
struct str otlp_string(struct otlp *o, uint64_t number, uint64_t offset);
/* The mappings of the message at hand, and addresses without lines, for mapped_code_resolve. */
void otlp_want_names(struct otlp *o);
/* The stack of that number; false: a fault. */
bool otlp_stack(struct otlp *o, uint64_t number, uint64_t offset, stack_id *stack);

/* ---- labels.c ---- */

/* A value of an attribute; of an array each. */
struct otlp_value {
	bool is_number;
	int64_t number;
	struct str text; /* borrowed, until the next */
};
struct otlp_attribute {
	struct str key, unit;
	struct cursor value;
};
/* A KeyValueAndUnit of the dictionary, or (is_resource) a KeyValue of a resource. */
bool otlp_attribute(
	struct otlp *o, struct cursor row, bool is_resource, struct otlp_attribute *attribute);
/* The value where it is one text or number; else false.  text: scratch. */
bool otlp_scalar(
	struct otlp *o, struct cursor value, struct strbuf *text, struct otlp_value *scalar);

void otlp_labels_init(struct otlp *o);
void otlp_labels_deinit(struct otlp *o);
/* Whether keys tell of threads or processes. */
bool otlp_key_is_thread(struct str key);
/* What all samples of a resource have; labels too, where there are several resources. */
void otlp_labels_resource(struct otlp *o, struct cursor resource);
/* What one sample has. */
struct otlp_identity {
	thread_id thread; /* NO_ID: not known of any */
	label_set_id labels;
};
struct otlp_identity otlp_identify(
	struct otlp *o, const uint32_t *attributes, size_t count, uint64_t link, uint64_t offset);

/* ---- samples.c ---- */

/* Which layout samples have: of all messages, first. */
void otlp_samples_layout(struct otlp *o, struct cursor resource_profiles);
/* Metrics and extents: of all messages, before any is read. */
void otlp_samples_survey(struct otlp *o, struct cursor resource_profiles);
void otlp_samples_read(struct otlp *o, struct cursor resource_profiles);

#endif
