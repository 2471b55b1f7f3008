#ifndef SONDE_FORMATS_SONDE_WRITER_KEYS_H
#define SONDE_FORMATS_SONDE_WRITER_KEYS_H

/*
 * Maps a profile's frames to a capture file's frames, which are addresses in objects.  The first
 * frame at an address gets this address.  Others, such as inlined calls, and functions without a
 * known address get unused ones.
 */

#include "model/profile.h"

struct sonde_key {
	uint32_t object; /* row of the profile's objects; object_count: unknown */
	uint64_t addr;
};

struct sonde_keys {
	struct sonde_key *of_frame; /* [frame] */
	uint32_t *order;	    /* [frame_count]: frames, ascending by key */
};

void sonde_keys_init(struct sonde_keys *k, const struct profile *p);
void sonde_keys_deinit(struct sonde_keys *k);

#endif
