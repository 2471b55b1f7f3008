#ifndef SONDE_FORMATS_GPROFNG_LOG_H
#define SONDE_FORMATS_GPROFNG_LOG_H

/*
 * log.xml of a gprofng experiment: who ran, when, and how its packets are laid out.
 */

#include "base/arena.h"
#include "base/vec.h"

enum gprofng_field {
	FIELD_LWPID,
	FIELD_THRID,
	FIELD_CPUID,
	FIELD_TSTAMP,
	FIELD_FRINFO,
	FIELD_MSTATE,
	FIELD_NTICK,
	FIELD_SRQST,
	FIELD_HTYPE,
	FIELD_HSIZE,
	FIELD_HVADDR,
	FIELD_HOVADDR,
	FIELD_HWCTAG,
	FIELD_HWCINT,
	FIELD_COUNT
};

struct gprofng_place {
	uint32_t offset;
	uint8_t size; /* 4 or 8; 0: the packets have no such field */
};

/* Packets of one kind; data_pckts.h of gprofng has their numbers. */
struct gprofng_kind {
	uint32_t number;
	struct str file; /* that they are in */
	struct gprofng_place fields[FIELD_COUNT];
};

enum { KIND_SYNC = 2, KIND_HWC = 3, KIND_HEAP = 5, KIND_MHWC = 7, KIND_CLOCK = 8 };

/* Texts live in the arena. */
struct gprofng_log {
	struct str version, host, command;
	uint64_t pid, word_size; /* in bits; 0: not told */
	uint64_t start_ns;	 /* by the clock of the packets; 0: not told */
	uint64_t start_unix_ns, duration_ns;
	uint64_t interval_ns; /* of the clock that samples; 0: none does */
	VEC(struct gprofng_kind) kinds;
};

void gprofng_log_read(struct gprofng_log *log, struct str text, struct arena *arena);
void gprofng_log_deinit(struct gprofng_log *log);

/* The field of a packet of that size; 0 where it has none. */
uint64_t gprofng_field(const struct gprofng_kind *kind, const uint8_t *packet, size_t size,
	enum gprofng_field field);

#endif
