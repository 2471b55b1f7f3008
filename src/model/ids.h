#ifndef SONDE_MODEL_IDS_H
#define SONDE_MODEL_IDS_H

/*
 * Ids are one-member structs, so that mixing them does not compile.  Each is an index into the
 * profile's table of that noun.
 */

#include <stdint.h>

typedef struct {
	uint32_t i;
} string_id;
typedef struct {
	uint32_t i;
} object_id;
typedef struct {
	uint32_t i;
} function_id;
typedef struct {
	uint32_t i;
} frame_id;
/* A callchain: a node of the stack tree.  0 is the empty stack, the root of the tree. */
typedef struct {
	uint32_t i;
} stack_id;
typedef struct {
	uint32_t i;
} thread_id;
typedef struct {
	uint32_t i;
} process_id;
typedef struct {
	uint32_t i;
} metric_id;

typedef struct {
	uint32_t i;
} label_id;
/* Several labels; 0 is the empty set. */
typedef struct {
	uint32_t i;
} label_set_id;

#define NO_ID UINT32_MAX

#endif
