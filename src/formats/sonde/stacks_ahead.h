#ifndef SONDE_FORMATS_SONDE_STACKS_AHEAD_H
#define SONDE_FORMATS_SONDE_STACKS_AHEAD_H

/* Reads the STACKS chunks of a capture file, which several threads decode. */

#include "formats/sonde/capture_tree.h"
#include "formats/sonde/layout/capture_chunk.h"

/*
 * Adds the STACKS chunks among chunks[count] to the tree, in order; others are passed over.
 * Returns how many could not be read; *first_bad is then the offset of the first.
 */
uint64_t stacks_ahead_read(struct capture_tree *tree, const struct capture_chunk *chunks,
	size_t count, size_t threads, uint64_t *first_bad);

#endif
