#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_ROWS_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_ROWS_H

/*
 * The small tables of a capture file, row by row: facts, metrics, load objects, processes, threads,
 * mappings, counters.  A chunk of such a type is a sequence of rows, so payloads of chunks of one
 * type may be concatenated.  Each row begins with its size, so that a reader can skip fields that a
 * later version has added at the end.
 *
 * capture_put_x adds one row.  capture_get_x reads the next one: false at the end, and at a bad row
 * (see cursor_error); strings are borrowed from the payload.
 */

#include "base/cursor.h"
#include "base/str.h"
#include "formats/sonde/layout/capture.h"

/* Longer strings in rows are truncated. */
#define CAPTURE_STRING_MAX ((size_t)1 << 20)

struct capture_fact {
	uint32_t key; /* enum capture_key, or one from the future */
	struct str string;
	uint64_t number; /* if capture_fact_is_number(key) */
};
static inline bool capture_fact_is_number(uint32_t key)
{
	return key >= CAPTURE_START_UNIX_NS;
}
void capture_put_fact(struct strbuf *out, const struct capture_fact *fact);
bool capture_get_fact(struct cursor *c, struct capture_fact *fact);

struct capture_metric {
	uint32_t metric;
	struct str name, unit;
};
void capture_put_metric(struct strbuf *out, const struct capture_metric *metric);
bool capture_get_metric(struct cursor *c, struct capture_metric *metric);

struct capture_object {
	uint32_t object;
	uint32_t kind; /* enum capture_object_kind, or one from the future */
	struct str path, build_id;
	bool is_replaced; /* when the recording ended, its file was another build */
};
void capture_put_object(struct strbuf *out, const struct capture_object *object);
bool capture_get_object(struct cursor *c, struct capture_object *object);

/*
 * Where a part of the kernel was in memory, so that its other addresses can be found in its file:
 * see struct kernel_mark.
 */
struct capture_mark {
	uint32_t object; /* of kind CAPTURE_OBJECT_KERNEL */
	struct str name;
	uint64_t va;
};
void capture_put_mark(struct strbuf *out, const struct capture_mark *mark);
bool capture_get_mark(struct cursor *c, struct capture_mark *mark);

/*
 * A tail call between two frames of an object, the callee's directly in the caller's: an address in
 * the jump.  Rows of the same two frames follow one another, outermost first.
 */
struct capture_tail {
	uint32_t object;
	uint64_t caller, callee, jump; /* obj_addr */
};
void capture_put_tail(struct strbuf *out, const struct capture_tail *tail);
bool capture_get_tail(struct cursor *c, struct capture_tail *tail);

struct capture_process {
	uint32_t process;
	uint32_t parent; /* process, or CAPTURE_NO_ID */
	int64_t pid;
	uint64_t start_ns;
	struct str name;
};
void capture_put_process(struct strbuf *out, const struct capture_process *process);
bool capture_get_process(struct cursor *c, struct capture_process *process);

struct capture_thread {
	uint32_t thread, process;
	int64_t tid;
	uint64_t start_ns;
	struct str name;
};
void capture_put_thread(struct strbuf *out, const struct capture_thread *thread);
bool capture_get_thread(struct cursor *c, struct capture_thread *thread);

struct capture_mapping {
	uint32_t process, object;
	uint64_t time_ns, low_va, high_va, slide;
};
/* The mappings of code, for information only: frames do not depend on them. */
void capture_put_mapping(struct strbuf *out, const struct capture_mapping *mapping);
/* The size is not checked: high_va may have overflowed. */
bool capture_get_mapping(struct cursor *c, struct capture_mapping *mapping);

struct capture_count {
	uint32_t counter; /* enum capture_counter, or one from the future */
	uint64_t value;
};
void capture_put_count(struct strbuf *out, const struct capture_count *count);
bool capture_get_count(struct cursor *c, struct capture_count *count);

/*
 * The last chunk's payload: the number of samples in the file, and of those that could not be
 * written.
 */
void capture_put_end(struct strbuf *out, uint64_t samples, uint64_t dropped);
bool capture_get_end(struct cursor *c, uint64_t *samples, uint64_t *dropped);

/* A tick of a stream of a program with zones. */
struct capture_tick {
	uint32_t process;
	struct str stream;
	uint64_t number, start_ns, duration_ns;
	uint32_t thread; /* that ended it; CAPTURE_NO_ID: not known, as in older files */
};
void capture_put_tick(struct strbuf *out, const struct capture_tick *tick);
bool capture_get_tick(struct cursor *c, struct capture_tick *tick);

/* ---- of written profiles ---- */

/* A label of samples; numbered from 0. */
struct capture_label {
	struct str key, text, unit;
	int64_t number;
};
void capture_put_label(struct strbuf *out, const struct capture_label *label);
bool capture_get_label(struct cursor *c, struct capture_label *label);

/* A set of labels: those of set `rest`, plus one with a higher number; sets are numbered from 1. */
struct capture_label_set {
	uint32_t rest, label;
};
void capture_put_label_set(struct strbuf *out, const struct capture_label_set *set);
bool capture_get_label_set(struct cursor *c, struct capture_label_set *set);

struct capture_note {
	uint32_t kind; /* enum note_kind */
	uint64_t count;
	struct str text;
};
void capture_put_note(struct strbuf *out, const struct capture_note *note);
bool capture_get_note(struct cursor *c, struct capture_note *note);

/*
 * In STACKS and SYMBOLS, the addresses first … first + count - 1 of an object represent several
 * frames at one address, or frames without an address: obj_addr.
 */
struct capture_address {
	uint32_t object;
	uint64_t first, count, obj_addr;
};
void capture_put_address(struct strbuf *out, const struct capture_address *address);
bool capture_get_address(struct cursor *c, struct capture_address *address);

/* A function outside all stacks, or with counted calls. */
struct capture_function_row {
	uint32_t function, object, line;
	struct str name, file;
	struct str aliases; /* each NUL-terminated; old files have none */
};
void capture_put_function(struct strbuf *out, const struct capture_function_row *function);
bool capture_get_function(struct cursor *c, struct capture_function_row *function);

struct capture_arc {
	uint32_t caller, callee; /* numbers in FUNCTIONS; caller: CAPTURE_NO_ID if unknown */
	uint64_t calls;
	/* With CAPTURE_PROFILE_COSTS: the costs of the calls, one per metric. */
	int64_t cost[CAPTURE_METRIC_MAX];
	uint32_t cost_count;
};
void capture_put_arc(struct strbuf *out, const struct capture_arc *arc);
bool capture_get_arc(struct cursor *c, struct capture_arc *arc);

#endif
