#ifndef SONDE_FORMATS_SONDE_CAPTURE_NODES_H
#define SONDE_FORMATS_SONDE_CAPTURE_NODES_H

/*
 * Reads a recording to rewrite it: in addition to the profile, maps each node of the file's stack
 * tree to a stack.
 */

#include "formats/readers.h"

struct capture_nodes {
	stack_id *stacks; /* [count] by node; node 0 is the empty stack; free it with free() */
	size_t count;
};

/*
 * Also ERROR_INPUT if parts of the file are missing, so that some nodes are unknown.  Header
 * strings about the input stay empty.
 */
must_use struct error *capture_read_nodes(
	const struct reader_input *input, struct profile **profile, struct capture_nodes *nodes);

#endif
