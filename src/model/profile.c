/*
 * The frozen profile: look-ups, and its end.
 */
#include "model/profile.h"

#include <inttypes.h>

const char *const object_kind_names[OBJECT_KIND_COUNT + 1] = {
	[OBJECT_USER] = "user",
	[OBJECT_KERNEL] = "kernel",
	[OBJECT_JIT] = "jit",
	[OBJECT_UNKNOWN] = "unknown",
	[OBJECT_ZONE] = "zone",
};

#define STAT(name)                                                                                 \
	{                                                                                          \
#name, offsetof(struct profile_stats, name)                                        \
	}

const struct stat_field stat_fields[] = {
	STAT(counted),
	STAT(expected),
	STAT(lost),
	STAT(foreign),
	STAT(critical),
	STAT(excluded),
	STAT(duration_ns),
	STAT(cpu_ns),
	STAT(interval_ns),
	STAT(interval_asked_ns),
	STAT(guessed),
	{NULL, 0},
};

const char *const note_kind_names[NOTE_KIND_COUNT + 1] = {
	[NOTE_LOST] = "lost",
	[NOTE_TRUNCATED] = "truncated",
	[NOTE_NO_SYMBOLS] = "no-symbols",
	[NOTE_BAD_RECORD] = "bad-record",
	[NOTE_INCOMPLETE] = "incomplete",
	[NOTE_GUESSED] = "guessed",
	[NOTE_INFO] = "info",
};

bool note_is_of_loss(const struct note *note)
{
	return note->kind != NOTE_NO_SYMBOLS && note->kind != NOTE_GUESSED &&
	       note->kind != NOTE_INFO;
}

bool note_shows_count(const struct note *note)
{
	return note->kind != NOTE_NO_SYMBOLS && note->kind != NOTE_INCOMPLETE &&
	       note->kind != NOTE_INFO && note->count > 1;
}

void profile_note_text(const struct profile *p, const struct note *note, struct strbuf *out)
{
	if (note_shows_count(note))
		strbuf_printf(out, "%" PRIu64 " ", note->count);
	strbuf_add(out, profile_string(p, note->text));
}

void profile_destroy(struct profile *p)
{
	if (p)
		arena_destroy(p->arena);
}

struct str profile_module(const struct profile *p, object_id id)
{
	if (id.i == NO_ID)
		return STR("");
	return str_base_name(profile_string(p, p->objects[id.i].path));
}

struct error *profile_needs_stacks(const struct profile *p, const char *what)
{
	if (p->has_stacks)
		return NULL;
	struct str source = profile_string(p, p->source);

	return error_new(ERROR_UNSUPPORTED,
		"%s needs call stacks, and %.*s has none, only functions and the calls between "
		"them; '--view functions' and '--view graph' show those",
		what, STR_ARG(source.size ? source : STR("this profile")));
}

bool metric_counts_samples(struct str name, struct str unit)
{
	return str_equal(name, STR("samples")) && str_equal(unit, STR("count"));
}

const int64_t *profile_sample_counts(const struct profile *p)
{
	for (size_t m = 0; m < p->metric_count && p->samples.count > 0; m++)
		if (metric_counts_samples(profile_string(p, p->metrics[m].name),
			    profile_string(p, p->metrics[m].unit)))
			return p->samples.weight[m];
	return NULL;
}

bool profile_find_metric(const struct profile *p, struct str name, metric_id *id)
{
	for (uint32_t m = 0; m < p->metric_count; m++) {
		if (str_equal(profile_string(p, p->metrics[m].name), name)) {
			*id = (metric_id){m};
			return true;
		}
	}
	return false;
}

bool profile_is_empty(const struct profile *p)
{
	for (size_t m = 0; m < p->metric_count; m++)
		for (size_t i = 0; i < p->row_count; i++)
			if (p->row_weight[m][i] != 0)
				return false;
	return true;
}

struct error *profile_needs_threads(const struct profile *p)
{
	if (p->samples.count > 0 ? p->samples.thread != NULL : profile_is_empty(p))
		return NULL;
	return error_new(ERROR_UNSUPPORTED,
		"%.*s does not say which processes and threads were sampled",
		STR_ARG(profile_string(p, p->source)));
}

struct error *profile_needs_times(const struct profile *p)
{
	if (p->samples.count > 0 ? p->samples.time_ns != NULL : profile_is_empty(p))
		return NULL;
	return error_new(ERROR_UNSUPPORTED, "%.*s does not say when samples were taken",
		STR_ARG(profile_string(p, p->source)));
}

struct error *profile_needs_zones(const struct profile *p)
{
	if (p->samples.count > 0 ? p->samples.zone != NULL : profile_is_empty(p))
		return NULL;
	return error_new(ERROR_UNSUPPORTED,
		"%.*s knows no zones: link the program with libsonde-zones and record it without "
		"--zones=none, or compile it with -finstrument-functions and record with "
		"--zones=functions",
		STR_ARG(profile_string(p, p->source)));
}
