#ifndef SONDE_RECORD_FILE_CAPTURE_WRITER_H
#define SONDE_RECORD_FILE_CAPTURE_WRITER_H

/*
 * Writes a capture file (man/sonde-capture.5): append-only, self-contained chunks, written at least
 * every 100 ms if there is data, so that a kill -9 loses little.
 *
 * The caller chooses ids.  They are dense and ascending, from 0 (nodes from 1: node 0 is the empty
 * stack).  Define an id before anything refers to it; within a chunk the writer puts definitions
 * first.
 *
 * The writer remembers the first failed write (disk full, file size limit).  After that, it accepts
 * and drops everything, and capture_writer_finish returns the error.  The file stays valid up to
 * there.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "formats/sonde/layout/capture.h"

struct capture_writer;
struct capture_tick;

/*
 * Creates a capture file at path ("-": standard output).  An existing regular file is kept as
 * "PATH.old"; the new one is created with O_EXCL and O_NOFOLLOW, mode 0600.
 */
must_use struct error *capture_writer_create(const char *path, struct capture_writer **writer);

/* Facts about the recording: see enum capture_key. */
void capture_writer_string(struct capture_writer *w, enum capture_key key, struct str value);
void capture_writer_number(struct capture_writer *w, enum capture_key key, uint64_t value);

void capture_writer_object(struct capture_writer *w, uint32_t object, struct str path,
	struct str build_id, enum capture_object_kind kind);
/* Writes the object again: by now, its file is another build. */
void capture_writer_replaced(struct capture_writer *w, uint32_t object, struct str path,
	struct str build_id, enum capture_object_kind kind);
/* Where a part of a kernel object was in memory; see struct capture_mark. */
void capture_writer_mark(struct capture_writer *w, uint32_t object, struct str name, uint64_t va);
/* A jump that is a call between two frames; see struct capture_tail. */
struct capture_tail;
void capture_writer_tail(struct capture_writer *w, const struct capture_tail *tail);
/*
 * A process, identified by (pid, start).  Call it again to rename it after an exec.
 * parent_process: UINT32_MAX if unknown.
 */
void capture_writer_process(struct capture_writer *w, uint32_t process, int64_t pid,
	uint32_t parent_process, uint64_t start_ns, struct str name);
void capture_writer_thread(struct capture_writer *w, uint32_t thread, uint32_t process, int64_t tid,
	uint64_t start_ns, struct str name);
void capture_writer_mapping(struct capture_writer *w, uint32_t process, uint64_t time_ns,
	uint64_t low_va, uint64_t high_va, uint64_t slide, uint32_t object);
/* A stack tree node: a frame (an address in an object) called from parent. */
void capture_writer_node(struct capture_writer *w, uint32_t node, uint32_t parent, uint32_t object,
	uint64_t obj_addr);
/*
 * time_ns: since the recording's start; the file has microseconds.  weight[] has one value for each
 * capture_writer_metric.  zone: the node of its zone stack; 0: none.  labels: a set of
 * capture_writer_label_set; 0: none.
 */
void capture_writer_sample(struct capture_writer *w, uint64_t time_ns, uint32_t thread,
	uint32_t node, uint32_t zone, uint32_t labels, const int64_t *weight);
/* A label of samples, numbered from 0. */
void capture_writer_label(struct capture_writer *w, struct str key, struct str value);
/*
 * A set of labels, numbered from 1: those of an earlier set, or 0, and one label with a higher
 * number.
 */
void capture_writer_label_set(struct capture_writer *w, uint32_t rest, uint32_t label);
/*
 * What a thread did at a zone stack in a period that ended at time_ns: exclusive time, and entries.
 */
struct capture_zone_row {
	uint64_t time_ns; /* since the recording's start, as in the next two functions */
	uint32_t thread, node;
	uint64_t self_ns, entries;
};
void capture_writer_zone_row(struct capture_writer *w, const struct capture_zone_row *row);
/* From time_ns on, the thread is at that zone stack; 0: in no zone. */
void capture_writer_zone_event(
	struct capture_writer *w, uint64_t time_ns, uint32_t thread, uint32_t node);
void capture_writer_tick(struct capture_writer *w, const struct capture_tick *tick);
/*
 * A metric of samples' weights, numbered from 0.  Add all before the first sample, at most
 * CAPTURE_METRIC_MAX.
 */
void capture_writer_metric(
	struct capture_writer *w, uint32_t metric, struct str name, struct str unit);
/* A counter's total so far, from 0; see enum capture_counter.  Repeating a value costs nothing. */
void capture_writer_counter(struct capture_writer *w, enum capture_counter counter, uint64_t value);
/*
 * The same for a metric that counts events: its lost samples so far, and its total events
 * (UINT64_MAX: unknown).
 */
void capture_writer_metric_counts(
	struct capture_writer *w, uint32_t metric, uint64_t lost, uint64_t counted);
/* A note for every report: a sentence without full stop, with a count. */
void capture_writer_note(
	struct capture_writer *w, enum capture_note_kind kind, uint64_t count, struct str text);
/* The frames at an address of an object, innermost first, count >= 1; count 0 is not written. */
void capture_writer_symbol(struct capture_writer *w, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count);

/*
 * Sets which nodes of the stack tree stay in the finished file, by node; enum capture_fate.
 * Samples must only be at kept nodes.  Takes ownership of fates.  False: the file cannot be
 * rewritten, so all nodes stay, and fates remain the caller's.
 */
bool capture_writer_keep_nodes(struct capture_writer *w, uint8_t *fates, size_t count);
/* Writes all waiting data now. */
void capture_writer_write(struct capture_writer *w);
/*
 * Diverts writing to a new file at path, which begins with a copy of everything written so far.
 * For a child process whose parent continues with the old file.
 */
must_use struct error *capture_writer_divert(struct capture_writer *w, const char *path);
/*
 * Finishes the file with one more note (CAPTURE_NOTE_INFO), but without compacting it, and goes on
 * in a new file at path, which begins with everything written before the note.  For additions that
 * can do without: whatever happens to them, the first file is whole.
 *
 * After an error, only capture_writer_finish can be called, which fails as well.  *is_whole: the
 * first file is whole, even so if there was no room for the second.
 */
must_use struct error *capture_writer_secure(
	struct capture_writer *w, const char *path, struct str note, bool *is_whole);
/*
 * Writes a chunk if one is due at now_ns (CLOCK_MONOTONIC).  Call it at least every 100 ms.
 */
void capture_writer_flush(struct capture_writer *w, uint64_t now_ns);
/* Whether a write has failed, so that sampling is useless. */
bool capture_writer_failed(const struct capture_writer *w);
/* How many samples were dropped since then. */
uint64_t capture_writer_dropped(const struct capture_writer *w);
uint64_t capture_writer_size_bytes(const struct capture_writer *w);
/*
 * Writes the rest and the end mark, closes, frees.  A regular file is also compacted
 * (capture_compact.h).  *size_bytes, which may be NULL: the file's final size, also on failure; 0
 * if it was moved away.  Returns the first failed write, with the number of dropped samples, or
 * that the file was moved away.
 */
must_use struct error *capture_writer_finish(struct capture_writer *w, uint64_t *size_bytes);
/*
 * For a recording that never began: removes the file, restores one that was kept as "PATH.old",
 * frees.  NULL is allowed.
 */
void capture_writer_abandon(struct capture_writer *w);

#endif
