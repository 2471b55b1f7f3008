#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_PROGRAM_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_PROGRAM_H

/*
 * The BPF program of the exact engine in the kernel, and the maps that belong to it.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/engines/exact/exact_layout.h"

struct bpf_object;

struct exact_program {
	struct bpf_object *object;
	int fd;
	size_t ring_bytes; /* of the map "rests", as granted */
	bool is_plain;	   /* the one for kernels before 6.2, which is not told a sample's time */
};

/*
 * Loads it with the largest ring that is granted, ring_bytes at most, a power of two.  is_plain:
 * the plain one, though the kernel is new enough for the other.  ERROR_UNSUPPORTED if the kernel
 * takes neither.
 */
must_use struct error *exact_program_load(struct exact_program *p,
	const struct exact_settings *settings, size_t ring_bytes, bool is_plain);
/* A zeroed one is fine. */
void exact_program_unload(struct exact_program *p);
/* The descriptor of one of its maps, which it keeps. */
int exact_program_map(const struct exact_program *p, const char *name);
/* ERROR_UNSUPPORTED: what, the errno, and what libbpf or the verifier said when it was loaded. */
struct error *exact_program_refusal(int code, const char *what);

#endif
