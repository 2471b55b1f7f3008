#ifndef SONDE_FORMATS_GPROFNG_PACKETS_H
#define SONDE_FORMATS_GPROFNG_PACKETS_H

/*
 * Data files of gprofng: packets, each with its size and kind, in blocks that end in an empty one.
 */

#include "base/file.h"

struct gprofng_packets {
	const uint8_t *data;
	size_t size, at;
	uint64_t bad; /* places where something else stood */
};

struct gprofng_packet {
	const uint8_t *data;
	uint16_t size, kind;
};

enum { PACKET_FRAME = 11, PACKET_UID = 17 };

void gprofng_packets_init(struct gprofng_packets *p, const struct file_bytes *bytes);
/* The next packet that is not empty; false: there is none any more. */
bool gprofng_packets_next(struct gprofng_packets *p, struct gprofng_packet *packet);

#endif
