#ifndef SONDE_FORMATS_SONDE_CAPTURE_NODES_H
#define SONDE_FORMATS_SONDE_CAPTURE_NODES_H

/*
 * A recording, read by who wants to rewrite it: beside the profile, which of its stacks each node
 * of the file's own stack tree is.
 */

#include "formats/readers.h"

struct capture_nodes {
	stack_id *stacks; /* [count] by node, 0 the empty one; freed with free() */
	size_t count;
};

/*
 * ERROR_INPUT also where parts of the file are missing, so that not all nodes are known.  Header
 * strings about the input stay empty.
 */
must_use struct error *capture_read_nodes(
	const struct reader_input *input, struct profile **profile, struct capture_nodes *nodes);

#endif
