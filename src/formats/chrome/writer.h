#ifndef SONDE_FORMATS_CHROME_WRITER_H
#define SONDE_FORMATS_CHROME_WRITER_H

/* What chrome.c and writer_zones.c share; nobody else includes it. */

#include "base/vec.h"
#include "formats/writers.h"

struct chrome_writer {
	const struct profile *profile;
	struct sink *sink;
	metric_id metric;	   /* of the samples that are written */
	metric_id zone_time;	   /* NO_ID: there is none */
	bool has_event;		   /* one is written, so that the next needs a comma */
	bool *thread_has_zones;	   /* [thread]: events tell of its zones */
	struct tick *ticks_by_end; /* [tick_count] those of each process's default stream */
	size_t tick_count;
	bool *is_sampled; /* [stack]: a sample that is written refers to it, or to one below */
};

/* An event's text goes between these two. */
struct strbuf *chrome_begin(struct chrome_writer *w);
void chrome_end(struct chrome_writer *w);
/* A JSON string, escaped. */
void chrome_string(struct strbuf *out, struct str s);
/* Microseconds, to the nanosecond. */
void chrome_us(struct strbuf *out, uint64_t time_ns);
/* Members pid and tid. */
void chrome_task(struct strbuf *out, int64_t pid, int64_t tid);
void chrome_thread(struct chrome_writer *w, uint32_t thread);
/* Of the function that a stack ends in. */
struct str chrome_stack_name(const struct profile *p, uint32_t stack);

/* A zone row: what its program said of a zone's time, and no sample. */
static inline bool chrome_is_zone_row(const struct chrome_writer *w, size_t sample)
{
	return w->zone_time.i != NO_ID && w->profile->samples.weight[w->zone_time.i][sample] != 0;
}

/* Sets ticks_by_end: before the writing. */
void chrome_sort_ticks(struct chrome_writer *w);
void chrome_write_zones(struct chrome_writer *w);
/* After chrome_write_zones: of the threads without events. */
void chrome_write_counters(struct chrome_writer *w);

#endif
