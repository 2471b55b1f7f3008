/*
 * Packets: size (2 bytes), kind (2), what belongs to it.  Kind 0 fills a block up, 65535 closes it;
 * where a size is 0, or is not of whole 4 bytes, reading goes on with the next 16 KiB, which
 * threads fill one by one.
 *
 * Source: gprofng/src/data_pckts.h and Experiment::readPacket of binutils, as read.
 */
#include "formats/gprofng/packets.h"

#include "base/word.h"

enum { HEAD_SIZE = 4, CHUNK_SIZE = 16384, KIND_EMPTY = 0, KIND_CLOSED = 65535 };

void gprofng_packets_init(struct gprofng_packets *p, const struct file_bytes *bytes)
{
	*p = (struct gprofng_packets){.data = bytes->data, .size = bytes->size};
}

bool gprofng_packets_next(struct gprofng_packets *p, struct gprofng_packet *packet)
{
	while (p->size - p->at >= HEAD_SIZE) {
		const uint8_t *at = p->data + p->at;
		uint16_t size = (uint16_t)word_read(at, 2, false);
		uint16_t kind = (uint16_t)word_read(at + 2, 2, false);
		size_t left = p->size - p->at;
		if (size < HEAD_SIZE || size % HEAD_SIZE) {
			size_t skip = CHUNK_SIZE - p->at % CHUNK_SIZE;
			p->bad += size != 0 || kind != 0;
			p->at += skip < left ? skip : left;
			continue;
		}
		if (size > left) {
			p->bad += kind != KIND_EMPTY && kind != KIND_CLOSED;
			break;
		}
		p->at += size;
		if (kind == KIND_EMPTY || kind == KIND_CLOSED)
			continue;
		*packet = (struct gprofng_packet){at, size, kind};
		return true;
	}
	p->at = p->size;
	return false;
}
