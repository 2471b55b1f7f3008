#ifndef SONDE_FORMATS_SONDE_WRITER_KEYS_H
#define SONDE_FORMATS_SONDE_WRITER_KEYS_H

/*
 * Frames of a profile as frames of a capture file, which knows them by an object and an address in
 * it.  The first frame at an address has that one; others, such as inlined calls, and functions of
 * no known address, are given addresses that no frame has.
 */

#include "model/profile.h"

struct sonde_key {
	uint32_t object; /* row of the profile's; object_count: none is known */
	uint64_t addr;
};

struct sonde_keys {
	struct sonde_key *of_frame; /* [frame] */
	uint32_t *order;	    /* [frame_count]: frames, ascending by key */
};

void sonde_keys_init(struct sonde_keys *k, const struct profile *p);
void sonde_keys_deinit(struct sonde_keys *k);

#endif
