#ifndef SONDE_FORMATS_COMMON_MAPS_TEXT_H
#define SONDE_FORMATS_COMMON_MAPS_TEXT_H

/*
 * Text lists of a process's mappings at the end of gperftools-style profiles: /proc/PID/maps as in
 * proc(5), or the short form "START-END: PATH (@OFFSET) BUILD-ID".
 */

#include "base/vec.h"
#include "formats/common/mapped_code.h"

struct maps_range {
	uint64_t start, limit; /* va */
	uint32_t mapping;      /* of mapped_code */
};

struct maps_text {
	VEC(struct maps_range) ranges; /* ascending once read */
};

/* Adds the executable mappings in text; other lines are skipped. */
void maps_text_read(struct maps_text *maps, struct str text, struct mapped_code *code);
/* The mapping of an address, MAPPING_NONE if there is none. */
uint32_t maps_text_find(const struct maps_text *maps, uint64_t va);
void maps_text_deinit(struct maps_text *maps);

#endif
