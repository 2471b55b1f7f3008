#ifndef SONDE_INTAKE_MULTIPART_H
#define SONDE_INTAKE_MULTIPART_H

/* Reads forms with files, multipart/form-data (RFC 7578, RFC 2046), in memory. */

#include <stdbool.h>

#include "base/str.h"

#define MULTIPART_PARTS_MAX 32

/* The boundary that a Content-Type states; size 0: not such a form, or an invalid boundary. */
struct str multipart_boundary(struct str type);

struct multipart_part {
	struct str name; /* of the field; empty: not stated */
	struct str body;
};

struct multipart {
	struct str rest, boundary;
	bool is_damaged; /* a boundary or a part's empty line is missing, or too many parts */
	unsigned count;
};

/* Borrows both texts. */
struct multipart multipart_begin(struct str body, struct str boundary);
/* The next part, borrowed from the body; false: there are no more, or the form is damaged. */
bool multipart_next(struct multipart *m, struct multipart_part *part);

#endif
