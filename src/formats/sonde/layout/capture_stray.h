#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_STRAY_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_STRAY_H

/* CPU time missing from a recording by the preloaded library, by cause. */

#include <stdint.h>

#include "base/str.h"
#include "formats/sonde/layout/capture.h"

/* Where threads ran without being sampled by the library. */
enum capture_stray {
	CAPTURE_STRAY_STATIC,	   /* programs that are statically linked */
	CAPTURE_STRAY_RIGHTS,	   /* programs with more privileges than their caller */
	CAPTURE_STRAY_ENVIRONMENT, /* programs without the library in their environment */
	CAPTURE_STRAY_SECCOMP,	   /* threads with restricted system calls */
	CAPTURE_STRAY_CLONE,	   /* threads not created by pthread_create */
	CAPTURE_STRAYS
};

_Static_assert(CAPTURE_STRAY_NS_LAST - CAPTURE_STRAY_NS + 1 == CAPTURE_STRAYS,
	"each cause has its counter");

/*
 * Appends "0.300 s in statically linked programs, 0.100 s it is not known where";
 * stray_ns[CAPTURE_STRAYS]: the part of all_ns with each cause.
 */
void capture_stray_put(struct strbuf *out, uint64_t all_ns, const uint64_t *stray_ns);

#endif
