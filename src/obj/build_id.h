#ifndef SONDE_OBJ_BUILD_ID_H
#define SONDE_OBJ_BUILD_ID_H

#include <stdbool.h>
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

/* An ELF file, or its image in memory, where only a few bytes are read. */
struct build_id_source {
	/*
	 * Copies size bytes from offset on, relative to the ELF header; false: not all are there.
	 */
	bool (*read)(void *context, uint64_t offset, void *bytes, size_t size);
	void *context;
	bool is_image; /* segments are where they are mapped, not where they are in the file */
};
/*
 * Sets text to the build ID in the segments of notes, 32-bit files included, and *is_elf to whether
 * the source begins as an ELF file.  Reads less than 100 KB, whatever the source contains.
 */
void build_id_read(const struct build_id_source *source, build_id_text text, bool *is_elf);

#endif
