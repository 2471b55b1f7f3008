#ifndef SONDE_FORMATS_FIREFOX_READER_H
#define SONDE_FORMATS_FIREFOX_READER_H

/* Shared by reader.c, scan.c and code.c; private to them. */

#include "base/json_reader.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "formats/firefox/table.h"
#include "formats/readers.h"

#define FIREFOX_PROCESSED_MAX 70 /* the newest versions whose tables are known */
#define FIREFOX_GECKO_MAX     36

/* ---- scan.c: what there is, before anything is built */

/* A process of the browser's own format, or the whole of a processed profile.  Offsets; 0: none. */
struct firefox_process {
	size_t at, meta, libs, threads, shared;
	unsigned int level; /* processes within processes */
};

struct firefox_scan {
	VEC(struct firefox_process) processes; /* the first is the whole */
	size_t sample_count, sample_threads;
	uint64_t tracing, bytes; /* samples whose weights are milliseconds or bytes */
	bool has_cpu;		 /* some thread tells what CPU time went by between samples */
	bool lacks_times;	 /* some samples have none */
	uint64_t bad;		 /* parts in which nothing could be found */
};

/* ---- code.c: functions, frames and stacks of the tables that some threads share */

struct firefox_lib {
	string_id path, build_id;
	uint64_t start, end, offset; /* of its mapping, where it is given */
};

enum { STRINGS_OF_CATEGORIES_MAX = 256 };

struct firefox_code {
	const struct firefox_code *base; /* for strings, sources and libs if it has none; or NULL */
	struct firefox_column functions[6], resources[4], frames[8], stacks[4];
	struct firefox_strings strings;
	struct firefox_column sources[2];
	VEC(struct firefox_lib) libs;
	VEC(uint32_t) libs_by_start;
	uint32_t *function_ids; /* [function] or NO_ID: not made yet */
	uint32_t *frame_ids[2]; /* [is it a leaf][frame]; the leaf's: where addresses differ */
	uint32_t *stack_ids;	/* [stack] */
	VEC(uint32_t) path;	/* scratch */
};

/* ---- The whole */

struct firefox {
	const struct reader_input *input;
	struct builder *builder;
	struct json_reader json, text; /* text: of strings that tables refer to */
	struct demangler *demangler;
	struct firefox_scan scan;
	bool is_processed;
	int64_t version;
	size_t row_max;	  /* of any table: what a real one could have by the input's size */
	size_t stack_max; /* further ones of the profile */
	uint32_t stack_count, function_count;

	/* From meta. */
	uint8_t category_kind[STRINGS_OF_CATEGORIES_MAX]; /* an object_kind, or OBJECT_KIND_COUNT */
	int64_t start_us;				  /* of the whole, since 1970 */
	int64_t origin_ns;				  /* since then, of the recording */
	unsigned int cpu_digits;
	bool is_cpu_time;
	bool has_no_times;			/* of a file of sonde's: they are made up */
	struct strbuf metric_name, metric_unit; /* of a file of sonde's; empty: it counts samples */
	struct strbuf product, arguments;
	int64_t interval_ns, end_ns;

	/* Numbers of metrics, or NO_ID. */
	uint32_t samples, tracing, bytes, cpu;
	uint32_t own; /* of a file of sonde's, in the place of them all */
	size_t metric_count;
	bool is_totals; /* samples are summed, without times and threads */

	struct firefox_code shared;
	struct firefox_code *code; /* of the thread at hand */
	struct str_table pids;
	struct arena *arena;
	VEC(process_id) processes; /* [pid] */

	size_t idle_threads; /* without samples */
	uint64_t bad_references, cut_stacks, cycles, early;
	bool has_cut_table;
	uint64_t faults;     /* places where the text is no JSON */
	size_t fault_offset; /* of the first */
	const char *problem; /* there */
	bool is_cut;	     /* the text ends too early */
};

/* Whether the JSON that was read last had no fault; a fault is counted. */
bool firefox_is_whole(struct firefox *f);

void firefox_scan(struct firefox *f, size_t root);
void firefox_scan_deinit(struct firefox_scan *s);

void firefox_code_init(struct firefox_code *c);
void firefox_code_deinit(struct firefox_code *c);
/* Whether that is a member which firefox_code_read looks at. */
bool firefox_code_is_part(struct str name);
/* Of the object at that place, those tables that it has, and its libs. */
void firefox_code_read(struct firefox *f, struct firefox_code *c, size_t place);
bool firefox_code_has_stacks(const struct firefox_code *c);
void firefox_libs_read(struct firefox *f, struct firefox_code *c, size_t place);
/* The stack of that number, its last frame a leaf or not; NO_ID is the empty one. */
stack_id firefox_stack(struct firefox *f, uint32_t number, bool is_leaf);
/* Those stacks will be asked for next: what is known of them is brought into the cache. */
void firefox_stacks_expect(const struct firefox *f, const int64_t *numbers, size_t count);

#endif
