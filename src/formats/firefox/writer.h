#ifndef SONDE_FORMATS_FIREFOX_WRITER_H
#define SONDE_FORMATS_FIREFOX_WRITER_H

/* Shared by writer.c, writer_tables.c and writer_threads.c; private to them. */

#include "base/json_writer.h"
#include "base/map.h"
#include "base/row_table.h"
#include "base/vec.h"
#include "formats/writers.h"

/* What a thread did during the time of a row. */
enum firefox_state {
	FIREFOX_RUNNING,
	FIREFOX_BLOCKED,
	FIREFOX_PREEMPTED,
	FIREFOX_WOKEN,
	FIREFOX_STATE_COUNT
};

/* meta.categories, by number.  OTHER is the default because its color is grey. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_UNKNOWN,
	FIREFOX_ZONE,
	FIREFOX_OFF_CPU,
};

/* A row of a thread's table of samples. */
struct firefox_row {
	uint32_t stack; /* in the profile */
	uint32_t state;
	uint64_t time_ns;
	int64_t weight, cpu_ns;
};

/* An interval marker. */
struct firefox_marker {
	enum { MARKER_OFF_CPU, MARKER_ZONE, MARKER_TICK } kind;
	uint32_t name;	 /* a string of the file */
	uint32_t state;	 /* for MARKER_OFF_CPU */
	uint32_t stack;	 /* for MARKER_OFF_CPU: in the profile */
	uint64_t number; /* for MARKER_TICK */
	uint32_t level;	 /* for MARKER_ZONE: number of zones around it */
	uint64_t start_ns, end_ns;
};

struct firefox_out_stack {
	uint32_t frame, prefix_offset;
};

struct firefox_writer {
	const struct profile *profile;
	struct sink *sink;
	struct json_writer json;
	metric_id metric;
	uint32_t cpu, off_cpu[FIREFOX_STATE_COUNT], samples, zone_time; /* metrics, or NO_ID */
	const char *weight_type;
	bool is_ns;	  /* weights are times */
	bool has_times;	  /* false: times are made up */
	bool has_cpu;	  /* rows have CPU times */
	size_t row_limit; /* for rows of all threads; beyond it, rows are summed */
	size_t marker_limit;

	uint32_t *pid_repeats; /* [process]: how many earlier ones have the same pid */
	uint32_t *main_thread; /* [process] */

	/* writer_tables.c: numbers in the file; NO_ID: not in it. */
	VEC(struct str) strings;
	uint32_t *string_number; /* [string] */
	uint32_t *source_number; /* [string], for files */
	VEC(string_id) sources;
	uint32_t *function_number; /* [function] */
	VEC(uint32_t) functions;
	string_id *function_file; /* [function] */
	uint32_t *object_number;  /* [object]: its resource */
	VEC(uint32_t) objects;
	uint32_t *lib_number; /* [object] */
	VEC(uint32_t) libs;
	uint32_t *symbol_number;  /* [function] */
	uint64_t *symbol_address; /* [function]: the lowest known one; UINT64_MAX: none */
	VEC(uint32_t) symbols;
	struct row_table frames;
	VEC(struct firefox_out_stack) stacks;
	uint32_t *stack_number[FIREFOX_STATE_COUNT]; /* [stack] */

	/* writer_threads.c: rows */
	uint64_t slot_ns; /* rows with the same stack within such a time slot are summed; 0: not
			     summed */
	uint32_t *order;  /* the samples shown, by thread and time */
	size_t *first;	  /* [thread + 1]: index in order where each thread's samples begin */
	size_t shown;
	uint64_t made_up_ns; /* duration of one unit of weight, if times are made up */

	/* writer_threads.c: markers */
	VEC(struct firefox_marker) zones; /* by thread, without names yet */
	size_t *first_zone;		  /* [thread + 1]: index in zones where each thread's
					     zones begin */
	bool lacks_zones;		  /* omitted, as there are too many */
	uint64_t shortest_ns;		  /* only times off the CPU of at least this length are
					     markers */
	uint32_t state_name[FIREFOX_STATE_COUNT]; /* strings of the file, or NO_ID */
};

/* ---- writer.c */

/* Writes the profile.  profile, sink, metric and the limits must be set, all else zero. */
void firefox_write_limited(struct firefox_writer *w);

/* ---- writer_tables.c */

/* Numbers everything that the marked stacks (stack_number[state][stack] != NO_ID) need. */
void firefox_tables_number(struct firefox_writer *w);
void firefox_tables_deinit(struct firefox_writer *w);
void firefox_tables_write_libs(struct firefox_writer *w);
/* Writes the members of `shared`; strings come last, when all are known. */
void firefox_tables_write_shared(struct firefox_writer *w);
/* The number of a string. */
uint32_t firefox_string_number(struct firefox_writer *w, string_id string);
uint32_t firefox_literal(struct firefox_writer *w, struct str text);

/* ---- writer_threads.c: rows */

/* Selects and sorts the samples to show, and marks their stacks. */
void firefox_rows_plan(struct firefox_writer *w);
void firefox_rows_deinit(struct firefox_writer *w);
/*
 * The rows of a thread, or if threads are unknown, of all (0).  NULL if there are none; the caller
 * frees it.
 */
struct firefox_row *firefox_rows(struct firefox_writer *w, uint32_t thread, size_t *count);
void firefox_rows_write(struct firefox_writer *w, const struct firefox_row *rows, size_t count);

/* ---- writer_threads.c: markers */

void firefox_markers_plan(struct firefox_writer *w);
void firefox_markers_deinit(struct firefox_writer *w);
void firefox_markers_write_schema(struct firefox_writer *w);
/* is_main: also write the ticks of the thread's process. */
void firefox_markers_write(struct firefox_writer *w, uint32_t thread, bool is_main);

/* ---- Columns */

static inline void firefox_put_ms(struct firefox_writer *w, uint64_t ns)
{
	json_put_decimal(&w->json, ns > INT64_MAX ? INT64_MAX : (int64_t)ns, 6);
}
/* Writes a column with the same value in each row. */
void firefox_column_of(struct firefox_writer *w, const char *name, size_t count, int64_t value);
/* Writes a number; NO_ID becomes null or -1. */
void firefox_put_number(struct firefox_writer *w, uint32_t number, bool is_null);

#endif
