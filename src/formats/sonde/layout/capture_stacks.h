#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_STACKS_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_STACKS_H

/*
 * A STACKS chunk: the frames (addresses in load objects) and the stack tree nodes that are new in
 * it.  Frame ids are the encoder's own, dense from 0; node ids are its caller's, dense from 1 (node
 * 0 is the empty stack).  Both are good for the whole file, but each chunk can be decoded without
 * any other, so that damage to one costs only what was in it.
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
	uint32_t parent; /* node; less than its own */
	uint32_t frame;
};

/* The encoder remembers the frames of the whole file, and the nodes until they are encoded. */
struct capture_stacks_encoder;
must_use returns_owned struct capture_stacks_encoder *capture_stacks_encoder_create(void);
void capture_stacks_encoder_destroy(struct capture_stacks_encoder *e);
/* The encoder's handle for a frame; the same frame gives the same. */
uint32_t capture_stacks_frame(struct capture_stacks_encoder *e, struct capture_frame frame);
/* node is one more than that of the call before; parent < node; frame is a handle. */
void capture_stacks_node(
	struct capture_stacks_encoder *e, uint32_t node, uint32_t parent, uint32_t frame);
/* Nodes that wait to be encoded. */
size_t capture_stacks_waiting(const struct capture_stacks_encoder *e);
/* A chunk's payload of what waits, which is then no more. */
void capture_stacks_encode(struct capture_stacks_encoder *e, struct strbuf *out);

/* A decoded chunk: frames[i] is frame first_frame + i, and so on.  A zeroed one is empty. */
struct capture_stacks {
	uint32_t first_frame, first_node;
	VEC(struct capture_frame) frames;
	VEC(struct capture_node) nodes;
	struct predictor predictor; /* of the decoder */
};
void capture_stacks_deinit(struct capture_stacks *s);
/*
 * Replaces what is in *s.  Every node's parent is less than itself and ids do not wrap; whether
 * parents and frames from other chunks exist is the caller's to see.
 */
must_use struct error *capture_stacks_decode(struct cursor *payload, struct capture_stacks *s);

#endif
