#ifndef SONDE_VIEW_FORMATS_H
#define SONDE_VIEW_FORMATS_H

/*
 * The output formats of reports.
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
	 * For formats that `sonde convert` can also write: a description of one line, and the file
	 * name extension with the dot; else NULL.
	 */
	const char *summary, *extension;
	size_t default_limit;	 /* rows without --limit; 0: all */
	bool draws_all;		 /* ignores the limit */
	bool is_page;		 /* holds the profile and draws by itself: there is no draw */
	bool several;		 /* whether it can hold more than one report */
	bool takes_columns;	 /* whether --columns makes sense */
	const struct view *only; /* the only view that it draws; NULL: any */
	bool notes_apart;	 /* notes go to standard error, even if it also draws some */
	bool takes_modules;	 /* whether --modules makes sense */
	enum collapse collapse;	 /* of a tree, without --collapse */
	const struct view *view; /* without --view */
	/* reports: of one profile, count ≥ 1.  style: used by text only. */
	void (*draw)(struct sink *sink, const struct text_style *style,
		const struct report *const *reports, size_t count);
};

/* "text", "json", "csv", "folded", "svg", "dot"; the last one has no name. */
extern const struct format formats[];

#endif
