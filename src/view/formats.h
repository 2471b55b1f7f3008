#ifndef SONDE_VIEW_FORMATS_H
#define SONDE_VIEW_FORMATS_H

/*
 * The formats in which a report leaves.
 *
 * To add one: a function that draws reports into a sink, in a file of its own, and a row in
 * formats.c.  --format and its help follow.
 */

#include "view/report.h"
#include "base/sink.h"
#include "view/text/text.h"

struct format {
	const char *name;
	/*
	 * Of what `sonde convert` can make, too: what it is, in a line, and how names of files end,
	 * with the dot; else NULL.
	 */
	const char *summary, *extension;
	size_t default_limit;	 /* rows, where --limit does not say; 0: all */
	bool draws_all;		 /* whatever the limit */
	bool several;		 /* whether it can hold more than one report */
	bool takes_columns;	 /* whether --columns makes sense */
	const struct view *only; /* the one view that it draws; NULL: any */
	bool notes_apart;	 /* notes go to standard error, whether it draws some or not */
	bool takes_modules;	 /* whether --modules makes sense */
	enum collapse collapse;	 /* of a tree, where --collapse does not say */
	const struct view *view; /* where --view does not say */
	/* reports: of one profile, count ≥ 1. style: means nothing to formats but text. */
	void (*draw)(struct sink *sink, const struct text_style *style,
		const struct report *const *reports, size_t count);
};

/* "text", "json", "csv", "folded", "svg", "dot"; ends with one without a name. */
extern const struct format formats[];

#endif
