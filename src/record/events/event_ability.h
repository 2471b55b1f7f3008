#ifndef SONDE_RECORD_EVENTS_EVENT_ABILITY_H
#define SONDE_RECORD_EVENTS_EVENT_ABILITY_H

/*
 * Which events this machine counts, and which of them for us: found out by trying.
 */

#include "record/events/event_list.h"

enum event_verdict {
	EVENT_POSSIBLE,
	EVENT_FORBIDDEN, /* to us */
	EVENT_ABSENT,	 /* not on this machine */
};

enum event_verdict event_try(const struct event_spec *spec);
/* Of an event that has a name. */
enum event_verdict event_try_name(const struct event_name *name);

/* Whether the processor's counters can be had: EVENT_ABSENT as in most virtual machines. */
enum event_verdict event_try_hardware(void);

/*
 * NULL if the event can be counted, else ERROR_UNSUPPORTED in one line: what forbids it, and what
 * would allow it, or what can be counted in its place.
 */
must_use struct error *event_refusal(const struct event_spec *spec);
/* The names of the software events that can be counted here: "page-faults, minor-faults". */
void event_put_possible(struct strbuf *out);

#endif
