#ifndef SONDE_RECORD_EVENTS_EVENT_ABILITY_H
#define SONDE_RECORD_EVENTS_EVENT_ABILITY_H

/*
 * Which events this machine can count, and which of them we may count, found out by trying; and
 * messages for refused perf events.
 */

#include "record/events/event_list.h"

/* How to allow sampling in a container whose system call filter forbids it. */
extern const char event_container_cure[];
/*
 * An ERROR_UNSUPPORTED for a failure to set up sampling: the cause, and the command that would
 * allow it.  cause stays the caller's.
 */
must_use struct error *ability_refusal(const struct error *cause);
/* The same for the whole machine. */
must_use struct error *ability_refusal_machine(const struct error *cause);

enum event_verdict {
	EVENT_POSSIBLE,
	EVENT_FORBIDDEN, /* to us */
	EVENT_ABSENT,	 /* this machine does not count it */
};

enum event_verdict event_try(const struct event_spec *spec);
/* The same for a named event. */
enum event_verdict event_try_name(const struct event_name *name);

/* Whether the processor's counters are available: EVENT_ABSENT as in most virtual machines. */
enum event_verdict event_try_hardware(void);

/*
 * NULL if the event can be counted, else ERROR_UNSUPPORTED in one line: what forbids it, and what
 * would allow it or could be counted instead.
 */
must_use struct error *event_refusal(const struct event_spec *spec);
/* The names of the software events that can be counted here: "page-faults, minor-faults". */
void event_put_possible(struct strbuf *out);

#endif
