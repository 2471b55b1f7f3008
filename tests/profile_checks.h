#ifndef SONDE_TESTS_PROFILE_CHECKS_H
#define SONDE_TESTS_PROFILE_CHECKS_H

/* What tests ask of a profile. */

#include <string.h>

#include "model/profile.h"
#include "unit.h"
#include "writer_text.h"

/* Whether a note says this. */
static inline bool has_note(const struct profile *p, const char *part)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (strstr(profile_string(p, p->notes[i].text).data, part))
			return true;
	return false;
}

/* The same of notes of a kind. */
static inline bool has_note_of(const struct profile *p, enum note_kind kind, const char *part)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind &&
			strstr(profile_string(p, p->notes[i].text).data, part))
			return true;
	return false;
}

static inline void expect_note(
	const struct profile *p, enum note_kind kind, uint64_t count, const char *part)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind && p->notes[i].count == count &&
			strstr(profile_string(p, p->notes[i].text).data, part))
			return;
	fail_msg("no note '%s' of kind %s and count %llu", part, note_kind_names[kind],
		(unsigned long long)count);
}

/* The stacks and their weights in the metric of that name, as folded text. */
static inline void expect_folded(const struct profile *p, const char *metric, const char *wanted)
{
	struct writer_options options = {0};

	if (!profile_find_metric(p, str_from(metric), &options.metric))
		fail_msg("no metric %s", metric);
	struct strbuf text = writer_text(&writer_folded, p, &options);
	assert_string_equal(text.data, wanted);
	strbuf_deinit(&text);
}

#endif
