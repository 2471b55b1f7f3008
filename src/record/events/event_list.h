#ifndef SONDE_RECORD_EVENTS_EVENT_LIST_H
#define SONDE_RECORD_EVENTS_EVENT_LIST_H

/*
 * The events that are counted and sampled in addition to time, as `-e LIST` names them:
 *
 *	LIST  = EVENT { , EVENT }
 *	EVENT = NAME { : period=N | : freq=HZ }
 *	NAME  = a name of event_name_at() | rHEX | GROUP:TRACEPOINT
 *
 * Each becomes a metric of the recording, whose weights are numbers of events.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "record/events/perf_attr.h"

/* ---- names ---- */

/* Named events: those of the kernel's ABI (perf_event_open(2)), with perf's names. */

enum event_kind {
	EVENT_SOFTWARE,	  /* counted by the kernel itself */
	EVENT_HARDWARE,	  /* counted by the processor */
	EVENT_CACHE,	  /* the processor's caches */
	EVENT_RAW,	  /* of the processor, by its vendor's number */
	EVENT_TRACEPOINT, /* a place in the kernel */
	EVENT_KIND_COUNT
};

#define EVENT_NAME_MAX 40

struct event_name {
	char name[EVENT_NAME_MAX];
	const char *alias; /* or NULL */
	const char *help;  /* what is counted; NULL if the name is clear */
	enum event_kind kind;
	uint32_t type;	 /* PERF_TYPE_… */
	uint64_t config; /* PERF_COUNT_… */
	bool in_kernel;	 /* happens only in kernel code: needs the right to sample there */
	bool is_rare;	 /* does not happen on most machines */
};

/* The number of named events; software events come first. */
size_t event_name_count(void);
/* The i-th, i < event_name_count(). */
struct event_name event_name_at(size_t i);
/* The most similar name; NULL: none is similar.  Static, or in scratch. */
const char *event_name_nearest(struct str name, struct event_name *scratch);

/* ---- lists ---- */

/* The default number of samples per second for an event. */
#define EVENT_FREQUENCY_DEFAULT 1000u

struct event_spec {
	struct str name, unit; /* of its metric: "page-faults", "count" */
	enum event_kind kind;
	uint32_t type;	 /* PERF_TYPE_… */
	uint64_t config; /* PERF_COUNT_… or the tracepoint's number */
	bool in_kernel;	 /* happens in kernel code only */
	/* One of the two is 0. */
	uint64_t period;       /* a sample after this many events */
	uint64_t frequency_hz; /* a period that gives this rate */
};

struct event_list {
	struct arena *arena; /* of the names */
	VEC(struct event_spec) specs;
};

/* A zeroed list is an empty one. */
void event_list_deinit(struct event_list *list);

/*
 * Adds the events named in text.  ERROR_USAGE: an unknown event, or one named twice with different
 * periods.  ERROR_UNSUPPORTED: a tracepoint's number cannot be read.  On failure, the list has the
 * events before that one.
 */
must_use struct error *event_list_add(struct event_list *list, const char *text);

/* What to open for the events, in order; lives as long as the list. */
const struct perf_counter *event_list_counters(const struct event_list *list);

/*
 * The directory of tracepoints, "/sys/kernel/tracing/events" or wherever tracefs is mounted; NULL:
 * not readable.  Static.
 */
const char *event_tracepoint_directory(void);

#endif
