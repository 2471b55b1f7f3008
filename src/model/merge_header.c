/*
 * A merged profile's header: its sources, how much was counted, and what was lost in each part.
 */
#include "model/merge.h"
#include "model/merge_state.h"

#include "base/alloc.h"
#include "base/saturate.h"

/* With more values than this, a header's string ends in an ellipsis. */
enum { VALUES_SHOWN = 4 };

uint64_t merge_start_unix_ns(const struct merge *m)
{
	uint64_t first = UINT64_MAX;

	for (size_t k = 0; k < m->input_count; k++)
		if (m->inputs[k].profile->start_unix_ns < first)
			first = m->inputs[k].profile->start_unix_ns;
	return first;
}

/* The distinct values of a header's string, with commas. */
static string_id join_strings(struct merge *m, size_t offset)
{
	struct strbuf list = {0};
	struct str shown[VALUES_SHOWN];
	size_t count = 0;
	bool more = false;

	for (size_t k = 0; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;
		string_id id;
		size_t i = 0;

		memcpy(&id, (const char *)p + offset, sizeof(id));
		struct str s = profile_string(p, id);
		while (i < count && !str_equal(shown[i], s))
			i++;
		if (s.size == 0 || i < count)
			continue;
		if (count == VALUES_SHOWN) {
			more = true;
			continue;
		}
		strbuf_add(&list, count ? STR(", ") : STR(""));
		strbuf_add(&list, s);
		shown[count++] = s;
	}
	if (more)
		strbuf_add(&list, STR(", …"));
	string_id joined = builder_string(m->to, strbuf_str(&list));
	strbuf_deinit(&list);
	return joined;
}

static uint64_t stat_of(const struct merge *m, size_t input, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)&m->inputs[input].profile->stats + offset, sizeof(value));
	return value;
}

/* UINT64_MAX if one is not known. */
static uint64_t sum_stat(const struct merge *m, size_t offset)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < m->input_count; k++)
		add_saturating(&sum, stat_of(m, k, offset));
	return sum;
}

/* The mean over all inputs, in which each sample counts once. */
static uint64_t mean_interval(const struct merge *m)
{
	const size_t at = offsetof(struct profile_stats, interval_ns);
	unsigned __int128 sum = 0;
	uint64_t count = 0;
	bool equal = true;

	for (size_t k = 0; k < m->input_count; k++) {
		const struct profile_stats *s = &m->inputs[k].profile->stats;

		equal &= s->interval_ns == stat_of(m, 0, at);
		if (s->interval_ns == UINT64_MAX)
			return UINT64_MAX;
		add_saturating(&count, s->counted);
		sum += (unsigned __int128)s->interval_ns * s->counted;
	}
	if (equal)
		return stat_of(m, 0, at);
	return count == 0 || count == UINT64_MAX ? UINT64_MAX : (uint64_t)(sum / count);
}

/* The value that all share, if they agree. */
static uint64_t common_stat(const struct merge *m, size_t offset)
{
	for (size_t k = 1; k < m->input_count; k++)
		if (stat_of(m, k, offset) != stat_of(m, 0, offset))
			return UINT64_MAX;
	return stat_of(m, 0, offset);
}

static void set_stats(struct merge *m)
{
	struct profile_stats *stats = &builder_header(m->to)->stats;

	if (m->is_difference) {
		*stats = m->inputs[m->input_count - 1].profile->stats;
		return;
	}
	for (const struct stat_field *f = stat_fields; f->name; f++) {
		uint64_t sum = sum_stat(m, f->offset);

		memcpy((char *)stats + f->offset, &sum, sizeof(sum));
	}
	stats->interval_ns = mean_interval(m);
	stats->interval_asked_ns =
		common_stat(m, offsetof(struct profile_stats, interval_asked_ns));
}

/* The column of the default metric: of all inputs, if they agree, else of the last or the first. */
static metric_id default_metric(const struct merge *m)
{
	const struct merge_input *in = &m->inputs[m->is_difference ? m->input_count - 1 : 0];
	uint32_t column = in->column[in->profile->default_metric.i];

	return (metric_id){m->is_difference ? DIFFERENCE_METRICS * column : column};
}

/* A note that several inputs may have. */
struct common_note {
	enum note_kind kind;
	struct str text;
	uint64_t sum, most;
	size_t input_count;
};

struct common_notes {
	struct map place_of; /* (text, kind) */
	VEC(struct common_note) rows;
};

static void collect_note(
	struct merge *m, struct common_notes *notes, const struct profile *p, size_t i)
{
	const struct note *note = &p->notes[i];
	struct str text = profile_string(p, note->text);
	bool added;
	uint32_t place = *map_at(&notes->place_of, str_table_intern(&m->words, text), note->kind,
		(uint32_t)notes->rows.count, &added);

	if (added)
		vec_push(&notes->rows, (struct common_note){.kind = note->kind, .text = text});
	struct common_note *row = &notes->rows.data[place];

	add_saturating(&row->sum, note->count);
	if (note->count > row->most)
		row->most = note->count;
	row->input_count++;
}

/*
 * A shown count is the sum.  A text without a count is about a single thing, "a sample was lost",
 * so no count can be put before it; and a count of what the text lists stays.
 */
static void put_note(struct merge *m, const struct common_note *row)
{
	struct note one = {.kind = row->kind, .count = row->most};
	struct note sum = {.kind = row->kind, .count = row->sum};

	if (!note_shows_count(&sum))
		builder_note(m->to, row->kind, row->most, "%.*s", STR_ARG(row->text));
	else if (note_shows_count(&one))
		builder_note(m->to, row->kind, row->sum, "%.*s", STR_ARG(row->text));
	else
		builder_note(m->to, row->kind, 1, "in %zu of the files: %.*s", row->input_count,
			STR_ARG(row->text));
}

static bool has_note(const struct profile *p, enum note_kind kind, uint64_t count, struct str text)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (p->notes[i].kind == kind && p->notes[i].count == count &&
			str_equal(profile_string(p, p->notes[i].text), text))
			return true;
	return false;
}

/* In a difference it matters which file a note is about. */
static void add_notes_of_sides(struct merge *m)
{
	const struct profile *old_profile = m->inputs[0].profile;
	const struct profile *new_profile = m->inputs[1].profile;

	for (size_t k = 0; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;
		const struct profile *other = k == 0 ? new_profile : old_profile;

		for (size_t i = 0; i < p->note_count; i++) {
			const struct note *note = &p->notes[i];
			struct str text = profile_string(p, note->text);
			bool in_both = has_note(other, note->kind, note->count, text);

			if (k == 0 || !in_both)
				builder_note(m->to, note->kind, note->count, "%.*s (%s)",
					STR_ARG(text),
					in_both	 ? "in old and new"
					: k == 0 ? "in old"
						 : "in new");
		}
	}
}

static void add_notes(struct merge *m)
{
	struct common_notes notes = {0};

	for (size_t k = 0; k < m->input_count; k++)
		for (size_t i = 0; i < m->inputs[k].profile->note_count; i++)
			collect_note(m, &notes, m->inputs[k].profile, i);
	for (size_t i = 0; i < notes.rows.count; i++)
		put_note(m, &notes.rows.data[i]);
	map_deinit(&notes.place_of);
	vec_deinit(&notes.rows);
}

/* Notes the properties of samples that were dropped, as not all inputs have them. */
static void note_samples(struct merge *m)
{
	bool samples = false, threads = false, times = false, zones = false, ticks = false;

	for (size_t k = 0; k < m->input_count; k++) {
		const struct samples *s = &m->inputs[k].profile->samples;

		samples |= s->count > 0;
		threads |= s->count > 0 && s->thread;
		times |= s->count > 0 && s->time_ns;
		zones |= s->count > 0 && s->zone;
		ticks |= m->inputs[k].profile->tick_count > 0;
	}
	if (samples && !m->with_samples)
		builder_note(m->to, NOTE_INFO, 1,
			"single samples are not in all files, so only sums over them were kept");
	else if (threads && !m->with_threads)
		builder_note(
			m->to, NOTE_INFO, 1, "threads are not in all files, so they were left out");
	if (times && m->with_samples && !m->with_times)
		builder_note(m->to, NOTE_INFO, 1,
			"times of samples are not in all files, so they were left out");
	if (zones && m->with_samples && !m->with_zones)
		builder_note(m->to, NOTE_INFO, 1,
			"the zones of samples are not in all files, so they were left out");
	if (ticks && !merge_has_ticks(m))
		builder_note(m->to, NOTE_INFO, 1,
			m->is_difference ? "ticks are not compared"
					 : "ticks were left out: the threads and times of samples "
					   "are not in all files");
	if (times && m->with_times && m->input_count > 1 && merge_start_unix_ns(m) == 0)
		builder_note(m->to, NOTE_INFO, 1,
			"not all files say when they began, so times count from each one's start");
}

static bool is_first_of_its_name(const struct profile *p, uint32_t object)
{
	for (uint32_t i = 0; i < object; i++)
		if (str_equal(profile_module(p, (object_id){i}),
			    profile_module(p, (object_id){object})))
			return false;
	return true;
}

/* Notes each pair of names that a difference treats as one load object. */
static void note_objects(struct merge *m)
{
	const struct import_objects *o = &m->objects_as;

	for (uint32_t i = 0; o->from && i < o->from->object_count; i++)
		if (o->as[i] != NO_ID && is_first_of_its_name(o->from, i))
			builder_note(m->to, NOTE_INFO, 1,
				"%.*s (old) and %.*s (new) are compared as one load object: the "
				"names of their functions agree",
				STR_ARG(profile_module(o->from, (object_id){i})),
				STR_ARG(profile_module(o->to, (object_id){o->as[i]})));
}

static void note_calls(struct merge *m)
{
	size_t arcs = 0, costs = 0;

	for (size_t k = 0; k < m->input_count; k++) {
		arcs += m->inputs[k].profile->arc_count;
		costs += m->inputs[k].profile->arc_cost != NULL;
	}
	if (m->is_difference && arcs)
		builder_note(m->to, NOTE_INFO, 1, "counts of calls are not compared");
	if (costs && !m->with_arc_costs)
		builder_note(m->to, NOTE_INFO, 1,
			"what calls cost is not in all files, so it was left out");
}

void merge_add_header(struct merge *m)
{
	struct builder_header *header = builder_header(m->to);

	header->source = join_strings(m, offsetof(struct profile, source));
	header->format = join_strings(m, offsetof(struct profile, format));
	header->command = join_strings(m, offsetof(struct profile, command));
	header->host = join_strings(m, offsetof(struct profile, host));
	/* All inputs have the same. */
	header->when = builder_string(
		m->to, profile_string(m->inputs[0].profile, m->inputs[0].profile->when));
	header->start_unix_ns = merge_start_unix_ns(m);
	header->default_metric = default_metric(m);
	header->has_stacks = m->inputs[0].profile->has_stacks;
	set_stats(m);
	if (m->is_difference)
		add_notes_of_sides(m);
	else
		add_notes(m);
	note_objects(m);
	note_samples(m);
	note_calls(m);
}
