#ifndef SONDE_FORMATS_GPROFNG_EXPERIMENT_H
#define SONDE_FORMATS_GPROFNG_EXPERIMENT_H

/*
 * The files of a gprofng experiment, a folder: log.xml (command, time, and layout of its packets),
 * map.xml (mappings of the process), and data files, which consist of packets, each with its size
 * and kind, in blocks that end in an empty packet.
 */

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"

/* ---- log.xml ---- */

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
	uint8_t size; /* 4 or 8; 0: the packets lack this field */
};

/* Packets of one kind; data_pckts.h of gprofng has their numbers. */
struct gprofng_kind {
	uint32_t number;
	struct str file; /* the file that contains them */
	struct gprofng_place fields[FIELD_COUNT];
};

enum { KIND_SYNC = 2, KIND_HWC = 3, KIND_HEAP = 5, KIND_MHWC = 7, KIND_CLOCK = 8 };

/* Texts live in the arena. */
struct gprofng_log {
	struct str version, host, command;
	uint64_t pid, word_size; /* in bits; 0: unknown */
	uint64_t start_ns;	 /* on the clock of the packets; 0: unknown */
	uint64_t start_unix_ns, duration_ns;
	uint64_t interval_ns; /* of the sampling clock; 0: there is none */
	VEC(struct gprofng_kind) kinds;
};

void gprofng_log_read(struct gprofng_log *log, struct str text, struct arena *arena);
void gprofng_log_deinit(struct gprofng_log *log);

/* A field of a packet with that size; 0 if the packet does not have it. */
uint64_t gprofng_field(const struct gprofng_kind *kind, const uint8_t *packet, size_t size,
	enum gprofng_field field);

/* ---- map.xml ---- */

struct gprofng_segment {
	uint64_t start, size;
	uint64_t file_off;   /* for segments of objects */
	uint32_t object;     /* index of its path in `paths`; UINT32_MAX: none, as it is a single
			        function */
	struct str function; /* then, the function's name */
};

struct gprofng_map {
	VEC(struct gprofng_segment) segments; /* by start; those loaded later come after others */
	struct str_table paths;
};

void gprofng_map_read(struct gprofng_map *map, struct str text, struct arena *arena);
void gprofng_map_deinit(struct gprofng_map *map);
/* The segment at va; NULL: unknown. */
const struct gprofng_segment *gprofng_map_find(const struct gprofng_map *map, uint64_t va);

/* ---- packets ---- */

struct gprofng_packets {
	const uint8_t *data;
	size_t size, at;
	uint64_t bad; /* number of invalid places */
};

struct gprofng_packet {
	const uint8_t *data;
	uint16_t size, kind;
};

enum { PACKET_FRAME = 11, PACKET_UID = 17 };

void gprofng_packets_init(struct gprofng_packets *p, const struct file_bytes *bytes);
/* The next packet that is not empty; false at the end. */
bool gprofng_packets_next(struct gprofng_packets *p, struct gprofng_packet *packet);

#endif
