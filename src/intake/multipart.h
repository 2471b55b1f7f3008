#ifndef SONDE_INTAKE_MULTIPART_H
#define SONDE_INTAKE_MULTIPART_H

/* Forms with files, multipart/form-data (RFC 7578, RFC 2046), in memory. */

#include <stdbool.h>

#include "base/str.h"

#define MULTIPART_PARTS_MAX 32

/* The boundary of a Content-Type; size 0: it is no such form, or the boundary is invalid. */
struct str multipart_boundary(struct str type);

struct multipart_part {
	struct str name; /* of the field; empty: none is stated */
	struct str body;
};

struct multipart {
	struct str rest, boundary;
	bool is_damaged; /* a boundary, or the end of a part's headers, is missing */
	unsigned count;
};

struct multipart multipart_begin(struct str body, struct str boundary);
/* The next part, borrowed from the body; false: there is none. */
bool multipart_next(struct multipart *m, struct multipart_part *part);

#endif
