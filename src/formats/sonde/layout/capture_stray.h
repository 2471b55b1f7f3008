#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_STRAY_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_STRAY_H

/*
 * What a recording by the preloaded library lacks, by causes that were seen.
 */

#include <stdint.h>

#include "base/str.h"
#include "formats/sonde/layout/capture.h"

/* Where threads ran that the library did not sample. */
enum capture_stray {
	CAPTURE_STRAY_STATIC,	   /* programs that are statically linked */
	CAPTURE_STRAY_RIGHTS,	   /* programs with rights that their caller has not */
	CAPTURE_STRAY_ENVIRONMENT, /* programs whose environment does not name the library */
	CAPTURE_STRAY_SECCOMP,	   /* threads whose system calls are limited */
	CAPTURE_STRAY_CLONE,	   /* threads that were not made by pthread_create */
	CAPTURE_STRAYS
};

_Static_assert(CAPTURE_STRAY_NS_LAST - CAPTURE_STRAY_NS + 1 == CAPTURE_STRAYS,
	"each cause has its counter");

/*
 * Adds "0.300 s in statically linked programs, 0.100 s it is not known where" of so much time, and
 * how much of it is of each cause: [CAPTURE_STRAYS].
 */
void capture_stray_put(struct strbuf *out, uint64_t all_ns, const uint64_t *stray_ns);

#endif
