#ifndef SONDE_TESTS_ZONES_SEEN_H
#define SONDE_TESTS_ZONES_SEEN_H

/*
 * Programs with zones as others see them: what the runtime of this very process has in its memory,
 * read through its memfd.  Each test is a process of its own, since the runtime is made once.
 */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/region.h"

/* In the process of a test: says what is not so, and ends it. */
#define NEED(truth)                                                                                \
	do {                                                                                       \
		if (!(truth))                                                                      \
			zones_need_failed(__FILE__, __LINE__, #truth);                             \
	} while (0)
/* A failure prints both numbers. */
#define NEED_EQUAL(a, b)                                                                           \
	zones_need_equal(__FILE__, __LINE__, #a " == " #b, (uint64_t)(a), (uint64_t)(b))
_Noreturn void zones_need_failed(const char *file, int line, const char *what);
void zones_need_equal(const char *file, int line, const char *what, uint64_t a, uint64_t b);

/* Runs the body in a child, for at most a minute; true: it returned. */
bool zones_apart(void (*body)(void));

/* What is there now; to be closed.  False: this process shows no memory. */
struct zones_seen {
	struct zone_region region;
	struct zone_reader *reader;
	struct zone_reading reading;
};
bool zones_seen_open(struct zones_seen *seen);
/* Reads again. */
void zones_seen_look(struct zones_seen *seen);
void zones_seen_close(struct zones_seen *seen);

/*
 * Sums over all slots of the stack of zones with these names, outermost first and with '/' between
 * them, "" is the root: entries, ticks of its own, ticks with all below.
 */
uint64_t zones_seen_entries(const struct zones_seen *seen, const char *path);
uint64_t zones_seen_self(const struct zones_seen *seen, const char *path);
uint64_t zones_seen_total(const struct zones_seen *seen, const char *path);
/* Of all stacks with this zone innermost. */
uint64_t zones_seen_entries_of(const struct zones_seen *seen, const char *zone);
uint64_t zones_seen_trouble(const struct zones_seen *seen, enum zonewire_trouble trouble);
/* The name of a zone by its id; good until the next call. */
const char *zones_seen_name(const struct zones_seen *seen, uint32_t id);

/* A clock that goes when asked to, in ns; to be set before the first zone. */
void zones_seen_drive_clock(void);
void zones_seen_pass(uint64_t ticks);
/* Nobody reads it. */
void zones_seen_pass_quietly(uint64_t ticks);

#endif
