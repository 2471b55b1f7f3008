#ifndef SONDE_RECORD_EVENTS_EVENT_NAMES_H
#define SONDE_RECORD_EVENTS_EVENT_NAMES_H

/*
 * The events that have a name of their own: those of the kernel's ABI (perf_event_open(2)), under
 * the names that perf gives them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum event_kind {
	EVENT_SOFTWARE,	  /* counted by the kernel itself */
	EVENT_HARDWARE,	  /* counted by the processor */
	EVENT_CACHE,	  /* the processor's caches */
	EVENT_RAW,	  /* of the processor, by its maker's number */
	EVENT_TRACEPOINT, /* a place in the kernel */
	EVENT_KIND_COUNT
};

#define EVENT_NAME_MAX 40

struct event_name {
	char name[EVENT_NAME_MAX];
	const char *alias; /* or NULL */
	const char *help;  /* what is counted; NULL where the name says it */
	enum event_kind kind;
	uint32_t type;	 /* PERF_TYPE_… */
	uint64_t config; /* PERF_COUNT_… */
	bool in_kernel;	 /* happens in kernel code only: takes the right to sample there */
	bool is_rare;	 /* does not happen on most machines */
};

/* How many there are, the software events first. */
size_t event_name_count(void);
/* The i-th, i < event_name_count(). */
struct event_name event_name_at(size_t i);
/* The event of that name or alias, in whatever case; false: there is none. */
bool event_name_find(struct str name, struct event_name *event);
/* The nearest of all names, NULL: none is near.  Lives for ever or in scratch. */
const char *event_name_nearest(struct str name, struct event_name *scratch);

#endif
