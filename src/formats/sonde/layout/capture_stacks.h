#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_STACKS_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_STACKS_H

/*
 * A STACKS chunk: new frames (addresses in load objects) and new stack tree nodes.  The encoder
 * assigns frame ids, dense from 0; the caller assigns node ids, dense from 1 (node 0 is the empty
 * stack).  Both are valid for the whole file, but each chunk can be decoded on its own, so that
 * damage to a chunk loses only its contents.
 */

#include "base/cursor.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture.h"
#include "formats/sonde/layout/capture_predictor.h"

struct capture_frame {
	uint32_t object;
	uint64_t obj_addr;
};

struct capture_node {
	uint32_t parent; /* a node, less than itself */
	uint32_t frame;
};

/* The encoder stores the frames of the whole file, and nodes until they are encoded. */
struct capture_stacks_encoder;
must_use returns_owned struct capture_stacks_encoder *capture_stacks_encoder_create(void);
void capture_stacks_encoder_destroy(struct capture_stacks_encoder *e);
/* The encoder's handle for a frame; equal frames have the same one. */
uint32_t capture_stacks_frame(struct capture_stacks_encoder *e, struct capture_frame frame);
/* node must be the previous call's plus 1; parent < node; frame is a handle. */
void capture_stacks_node(
	struct capture_stacks_encoder *e, uint32_t node, uint32_t parent, uint32_t frame);
/* The number of nodes not encoded yet. */
size_t capture_stacks_waiting(const struct capture_stacks_encoder *e);
/* Appends a chunk's payload with all waiting nodes, and removes them. */
void capture_stacks_encode(struct capture_stacks_encoder *e, struct strbuf *out);

/*
 * A decoded chunk: frames[i] is frame first_frame + i, and likewise nodes.  A zeroed one is empty.
 */
struct capture_stacks {
	uint32_t first_frame, first_node;
	VEC(struct capture_frame) frames;
	VEC(struct capture_node) nodes;
	struct predictor predictor; /* the decoder's */
};
void capture_stacks_deinit(struct capture_stacks *s);
/*
 * Replaces the contents of *s.  Each node's parent is less than itself, and ids do not wrap; the
 * caller must check that parents and frames of other chunks exist.
 */
must_use struct error *capture_stacks_decode(struct cursor *payload, struct capture_stacks *s);

#endif
