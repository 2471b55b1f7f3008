#ifndef SONDE_VIEW_TEXT_BRIEF_TEXT_H
#define SONDE_VIEW_TEXT_BRIEF_TEXT_H

#include "view/text/text.h"

/* text_draw for brief reports (view/brief.h): at most query.budget characters. */
void brief_text_draw(struct sink *sink, const struct text_style *style,
	const struct report *const *reports, size_t count);

#endif
