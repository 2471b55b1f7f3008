#ifndef SONDE_OBJ_BUILD_ID_H
#define SONDE_OBJ_BUILD_ID_H

#include <stddef.h>
#include <stdint.h>

/* Longer build IDs are ignored. */
enum { BUILD_ID_SIZE_MAX = 64 };
typedef char build_id_text[2 * BUILD_ID_SIZE_MAX + 1];

/*
 * Looks for a build ID in ELF notes, as in a file's sections and in /sys/kernel/notes.  Sets text
 * to it, in lower-case hex, and returns its length; 0 and "": there is none.
 */
size_t build_id_in_notes(const void *notes, size_t size, uint64_t alignment, build_id_text text);

#endif
