#ifndef SONDE_RECORD_EVENTS_EVENT_LIST_H
#define SONDE_RECORD_EVENTS_EVENT_LIST_H

/*
 * The events that are counted and sampled beside time, as `-e LIST` names them:
 *
 *	LIST  = EVENT { , EVENT }
 *	EVENT = NAME { : period=N | : freq=HZ }
 *	NAME  = a name of event_names.h | rHEX | GROUP:TRACEPOINT
 *
 * Each becomes a metric of the recording, whose weights are numbers of events.
 */

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "record/events/event_names.h"
#include "record/events/perf_attr.h"

/* Samples a second of an event, where nothing else is asked for. */
#define EVENT_FREQUENCY_DEFAULT 1000u

struct event_spec {
	struct str name, unit; /* of its metric: "page-faults", "count" */
	enum event_kind kind;
	uint32_t type;	 /* PERF_TYPE_… */
	uint64_t config; /* PERF_COUNT_… or the tracepoint's number */
	bool in_kernel;	 /* happens in kernel code only */
	/* One of the two is 0. */
	uint64_t period;       /* a sample after so many of them */
	uint64_t frequency_hz; /* as many between samples as come to this rate */
};

struct event_list {
	struct arena *arena; /* of the names */
	VEC(struct event_spec) specs;
};

/* A zeroed list is an empty one. */
void event_list_deinit(struct event_list *list);

/*
 * Adds what text names.  Fails with ERROR_USAGE for what is no event, or is named twice with
 * different periods, and with ERROR_UNSUPPORTED where a tracepoint's number cannot be read.  The
 * list then has the events before that one.
 */
must_use struct error *event_list_add(struct event_list *list, const char *text);

/* What to open for them, in their order; lives as the list does. */
const struct perf_counter *event_list_counters(const struct event_list *list);

/*
 * Where the kernel tells about tracepoints, "/sys/kernel/tracing/events" or where it is mounted
 * otherwise; NULL: not readable.  Static.
 */
const char *event_tracepoint_directory(void);

#endif
