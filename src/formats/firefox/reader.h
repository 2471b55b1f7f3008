#ifndef SONDE_FORMATS_FIREFOX_READER_H
#define SONDE_FORMATS_FIREFOX_READER_H

/* Shared by reader.c, scan.c and code.c; private to them. */

#include "base/json_reader.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "formats/firefox/table.h"
#include "formats/readers.h"

#define FIREFOX_PROCESSED_MAX 70 /* the newest versions with known tables */
#define FIREFOX_GECKO_MAX     36

/* ---- scan.c: the parts of the file, before anything is built */

/*
 * A process of the browser's own format, or a whole processed profile.  Fields are offsets; 0:
 * none.
 */
struct firefox_process {
	size_t at, meta, libs, threads, shared;
	unsigned int level; /* nesting depth of processes */
};

struct firefox_scan {
	VEC(struct firefox_process) processes; /* the first is the whole */
	size_t sample_count, sample_threads;
	uint64_t tracing, bytes; /* samples whose weights are milliseconds or bytes */
	bool has_cpu;		 /* some thread has CPU times between samples */
	bool lacks_times;	 /* some samples have none */
	uint64_t bad;		 /* number of unreadable parts */
};

/* ---- code.c: functions, frames and stacks, from tables that threads may share */

struct firefox_lib {
	string_id path, build_id;
	uint64_t start, end, offset; /* of its mapping, if given */
};

enum { STRINGS_OF_CATEGORIES_MAX = 256 };

/* The columns of each table about code. */
enum { FUNC_NAME, FUNC_RESOURCE, FUNC_FILE, FUNC_SOURCE, FUNC_LINE, FUNC_COLUMNS };
enum { RESOURCE_NAME, RESOURCE_LIB, RESOURCE_TYPE, RESOURCE_COLUMNS };
enum {
	FRAME_FUNC,
	FRAME_ADDRESS,
	FRAME_LINE,
	FRAME_INLINE,
	FRAME_LIB,
	FRAME_CATEGORY,
	FRAME_LOCATION,
	FRAME_COLUMNS
};
enum { STACK_FRAME, STACK_PREFIX, STACK_OFFSET, STACK_COLUMNS };
enum { SOURCE_FILE, SOURCE_COLUMNS };

struct firefox_code {
	const struct firefox_code *base; /* provides strings, sources and libs that this one
					    lacks; or NULL */
	/* The element after the last column has no name, and ends the table. */
	struct firefox_column functions[FUNC_COLUMNS + 1], resources[RESOURCE_COLUMNS + 1];
	struct firefox_column frames[FRAME_COLUMNS + 1], stacks[STACK_COLUMNS + 1];
	struct firefox_strings strings;
	struct firefox_column sources[SOURCE_COLUMNS + 1];
	VEC(struct firefox_lib) libs;
	VEC(uint32_t) libs_by_start;
	uint32_t *function_ids; /* [function]; NO_ID: not made yet */
	uint32_t *frame_ids[2]; /* [is a leaf][frame]; separate for leaves, whose addresses are
				   not return addresses */
	uint32_t *stack_ids;	/* [stack] */
	VEC(uint32_t) path;	/* scratch */
};

/* ---- The whole */

struct firefox {
	const struct reader_input *input;
	struct builder *builder;
	struct json_reader json, text; /* text: for strings that tables refer to */
	struct demangler *demangler;
	struct firefox_scan scan;
	bool is_processed;
	int64_t version;
	size_t row_max;	  /* maximum rows of a table, by the input's size */
	size_t stack_max; /* stacks that may still be added */
	uint32_t stack_count, function_count;

	/* From meta. */
	uint8_t category_kind[STRINGS_OF_CATEGORIES_MAX]; /* an object_kind, or OBJECT_KIND_COUNT */
	int64_t start_us;				  /* start of the whole profile, since
							     1970 */
	int64_t origin_ns;				  /* start of the recording, relative to
							     start_us */
	unsigned int cpu_digits;
	bool is_cpu_time;
	bool has_no_times;			/* a file by sonde with made-up times */
	struct strbuf metric_name, metric_unit; /* in a file by sonde; empty: it counts samples */
	struct strbuf product, arguments;
	int64_t interval_ns, end_ns;

	/* Numbers of metrics, or NO_ID. */
	uint32_t samples, tracing, bytes, cpu;
	uint32_t own; /* in a file by sonde; replaces all of them */
	size_t metric_count;
	bool is_totals; /* samples are summed, without times and threads */

	struct firefox_code shared;
	struct firefox_code *code; /* of the current thread */
	struct str_table pids;
	struct arena *arena;
	VEC(process_id) processes; /* [pid] */

	size_t idle_threads; /* without samples */
	uint64_t bad_references, cut_stacks, cycles, early;
	bool has_cut_table;
	uint64_t faults;     /* places with invalid JSON */
	size_t fault_offset; /* of the first */
	const char *problem; /* at that offset */
	bool is_cut;	     /* the text is truncated */
};

/* Whether the JSON read last had no fault; counts a fault. */
bool firefox_is_whole(struct firefox *f);

void firefox_scan(struct firefox *f, size_t root);
void firefox_scan_deinit(struct firefox_scan *s);

void firefox_code_init(struct firefox_code *c);
void firefox_code_deinit(struct firefox_code *c);
/* Whether firefox_code_read reads this member. */
bool firefox_code_is_part(struct str name);
/* Reads the tables and libs that the object at `place` has. */
void firefox_code_read(struct firefox *f, struct firefox_code *c, size_t place);
bool firefox_code_has_stacks(const struct firefox_code *c);
void firefox_libs_read(struct firefox *f, struct firefox_code *c, size_t place);
/* The stack with that number, its last frame a leaf or not; NO_ID is the empty stack. */
stack_id firefox_stack(struct firefox *f, uint32_t number, bool is_leaf);
/* Prefetches the known results for stacks that will be requested next. */
void firefox_stacks_expect(const struct firefox *f, const int64_t *numbers, size_t count);

#endif
