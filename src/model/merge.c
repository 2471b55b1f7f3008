/*
 * Several profiles as one.  Each is imported into the same builder, which interns equal rows as
 * one; then its weights are added, sample by sample or stack by stack.  So the cost is that of
 * reading all inputs once.
 *
 * A difference is a merger in which every weight goes into two of three metrics: into M, negated
 * for the old side, and unchanged into its side's "M (old)" or "M (new)".
 *
 * The metrics are those of all inputs, in the order in which they are first seen, matched by name.
 * A name with different units in two files means different things, which cannot be summed.  The
 * header names all sources, how much was counted, and what was lost in each part.
 */
#include "model/merge.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/saturate.h"
#include "base/vec.h"
#include "model/builder.h"
#include "model/common_notes.h"
#include "model/import.h"
#include "model/match.h"

/* With more values than this, a header's string ends in an ellipsis. */
enum { VALUES_SHOWN = 4 };

struct merge_input {
	const struct profile *profile;
	struct import import;
	/* [its function]: what it counts as in a difference; else NULL. */
	const struct import_function *functions_as;
	uint32_t *column; /* [its metric]: the column of the union */
	/* Its number of samples is known, but not from one of its metrics. */
	bool fills_samples;
	/* For shares: the whole; how much has been imported, and the share of that. */
	int64_t whole, seen, share;
};

/* A metric of the union. */
struct merge_column {
	struct str name, unit; /* of the first input that has it */
	size_t first_input;
	size_t input_count; /* number of inputs that have it */
};

struct merge {
	struct import_objects objects_as; /* of a difference; from NULL: none */
	struct merge_input *inputs;
	size_t input_count;
	bool is_difference; /* the second input minus the first */
	struct builder *to;
	struct arena *scratch;
	struct str_table words; /* names and units */
	struct map column_of;	/* (name, unit) → column */
	VEC(struct merge_column) columns;
	uint32_t samples_column; /* NO_ID: there is none */
	struct str run_metric;	 /* wanted separately for each input; or empty */
	size_t run_count;
	struct str store;		      /* what the inputs are parts of; or empty */
	const struct common_notes *notes;     /* of the inputs, but not in them; or NULL */
	uint32_t run_of, first_run;	      /* columns; first_run NO_ID: none */
	struct str shared_metric;	      /* shares of this metric are wanted; or empty */
	uint32_t shared_column, share_column; /* share_column NO_ID: none */
	bool with_samples, with_threads, with_times, with_zones, with_arc_costs;
	int64_t *sum; /* [column]: of one row */
	int64_t *row; /* [builder's metric] */
};

/* Whether ticks and zone events are imported: ticks of two programs cannot be compared. */
static bool merge_has_ticks(const struct merge *m)
{
	return m->with_threads && m->with_times && !m->is_difference;
}

/* ---- Metrics, and the weights of a row in them */

/* The column of a metric, made if it is new. */
static uint32_t column_at(struct merge *m, size_t input, struct str name, struct str unit)
{
	bool added;
	uint32_t column = *map_at(&m->column_of, str_table_intern(&m->words, name),
		str_table_intern(&m->words, unit), (uint32_t)m->columns.count, &added);

	if (added)
		vec_push(&m->columns, (struct merge_column){name, unit, input, 0});
	return column;
}

static struct str source_of(const struct merge *m, size_t input)
{
	const struct profile *p = m->inputs[input].profile;
	struct str source = profile_string(p, p->source);

	return source.size ? source : STR("another file");
}

/* Checks that no other input has given the name another unit. */
static struct error *check_unit(
	const struct merge *m, size_t input, struct str name, struct str unit)
{
	uint32_t word, known;

	if (!str_table_find(&m->words, name, &word))
		return NULL;
	if (str_table_find(&m->words, unit, &known) && map_get(&m->column_of, word, known, &known))
		return NULL;
	for (size_t i = 0; i < m->columns.count; i++) {
		const struct merge_column *c = &m->columns.data[i];

		if (c->first_input != input && str_equal(c->name, name))
			return error_new(ERROR_INPUT,
				"cannot add %.*s: its unit is '%.*s' in %.*s, and '%.*s' in %.*s",
				STR_ARG(name), STR_ARG(c->unit),
				STR_ARG(source_of(m, c->first_input)), STR_ARG(unit),
				STR_ARG(source_of(m, input)));
	}
	return NULL;
}

static struct error *plan_input(struct merge *m, size_t input)
{
	const struct profile *p = m->inputs[input].profile;
	uint32_t *column = ARENA_ARRAY(m->scratch, uint32_t, p->metric_count);

	for (size_t i = 0; i < p->metric_count; i++) {
		struct str name = profile_string(p, p->metrics[i].name);
		struct str unit = profile_string(p, p->metrics[i].unit);
		struct error *err = check_unit(m, input, name, unit);

		if (err)
			return err;
		column[i] = column_at(m, input, name, unit);
		m->columns.data[column[i]].input_count++;
	}
	m->inputs[input].column = column;
	return NULL;
}

static bool all_know_samples(const struct merge *m)
{
	for (size_t k = 0; k < m->input_count; k++)
		if (m->inputs[k].profile->row_samples == NULL)
			return false;
	return true;
}

static uint32_t find_samples_column(const struct merge *m)
{
	for (uint32_t i = 0; i < m->columns.count; i++)
		if (metric_counts_samples(m->columns.data[i].name, m->columns.data[i].unit))
			return i;
	return NO_ID;
}

static bool has_column(const struct merge_input *input, uint32_t column)
{
	for (size_t i = 0; i < input->profile->metric_count; i++)
		if (input->column[i] == column)
			return true;
	return false;
}

static void plan_samples_column(struct merge *m)
{
	bool wants = m->is_difference || str_equal(m->run_metric, STR("samples"));

	if (wants && all_know_samples(m))
		(void)column_at(m, 0, STR("samples"), STR("count"));
	m->samples_column = find_samples_column(m);
	if (m->samples_column == NO_ID)
		return;
	for (size_t k = 0; k < m->input_count; k++) {
		struct merge_input *input = &m->inputs[k];

		input->fills_samples =
			input->profile->row_samples && !has_column(input, m->samples_column);
		m->columns.data[m->samples_column].input_count += input->fills_samples;
	}
}

/* An input's total in a column. */
static int64_t total_of(const struct merge *m, size_t input, uint32_t column)
{
	const struct merge_input *in = &m->inputs[input];
	const struct profile *p = in->profile;
	int64_t total = 0;

	for (size_t i = 0; i < p->metric_count; i++)
		if (in->column[i] == column)
			return p->total[i];
	if (!in->fills_samples || column != m->samples_column)
		return 0;
	if (m->with_samples)
		return (int64_t)p->samples.count;
	for (size_t i = 0; i < p->row_count; i++)
		total += (int64_t)p->row_samples[i];
	return total;
}

static bool find_column(const struct merge *m, struct str name, uint32_t *column)
{
	for (uint32_t i = 0; i < m->columns.count; i++)
		if (str_equal(m->columns.data[i].name, name)) {
			*column = i;
			return true;
		}
	return false;
}

static const char *run_name(struct arena *arena, struct str metric, size_t k)
{
	return arena_printf(arena, "%.*s (run %zu)", STR_ARG(metric), k + 1);
}

bool profile_find_run(const struct profile *difference, struct str metric, size_t k, metric_id *run)
{
	struct arena *arena = arena_create();
	bool is_there = profile_find_metric(difference, str_from(run_name(arena, metric, k)), run);

	arena_destroy(arena);
	return is_there;
}

static void plan_runs(struct merge *m)
{
	uint32_t taken;

	m->first_run = NO_ID;
	if (m->run_count == 0 || !find_column(m, m->run_metric, &m->run_of) ||
		find_column(m, str_from(run_name(m->scratch, m->run_metric, 0)), &taken))
		return;
	m->first_run = (uint32_t)m->columns.count;
	for (size_t k = 0; k < m->run_count; k++) {
		uint32_t column = column_at(m, 0, str_from(run_name(m->scratch, m->run_metric, k)),
			m->columns.data[m->run_of].unit);

		m->columns.data[column].input_count = m->input_count;
	}
}

static struct error *plan_shares(struct merge *m)
{
	m->share_column = NO_ID;
	if (m->shared_metric.size == 0 || !find_column(m, m->shared_metric, &m->shared_column))
		return NULL;
	for (size_t k = 0; k < m->input_count; k++) {
		struct merge_input *in = &m->inputs[k];
		struct error *err = profile_needs_stacks(in->profile, "a share of the total");

		if (err)
			return err;
		in->whole = total_of(m, k, m->shared_column);
		if (in->whole <= 0)
			return error_new(ERROR_UNSUPPORTED,
				"the total of '%.*s' in %.*s is %s, so there are no shares of it",
				STR_ARG(m->shared_metric), STR_ARG(source_of(m, k)),
				in->whole ? "negative" : "zero");
	}
	m->share_column = column_at(m, 0,
		str_from(arena_printf(m->scratch, "%.*s (share)", STR_ARG(m->shared_metric))),
		SHARE_UNIT);
	m->columns.data[m->share_column].input_count = m->input_count;
	return NULL;
}

must_use static struct error *merge_plan_metrics(struct merge *m)
{
	for (size_t k = 0; k < m->input_count; k++) {
		struct error *err = plan_input(m, k);

		if (err)
			return err;
	}
	plan_samples_column(m);
	plan_runs(m);
	struct error *err = plan_shares(m);

	if (err)
		return err;
	m->sum = ARENA_ARRAY(m->scratch, int64_t, m->columns.count);
	m->row = ARENA_ARRAY(m->scratch, int64_t, DIFFERENCE_METRICS * m->columns.count);
	return NULL;
}

/* The names of an input's metrics, for the user to choose from. */
static const char *names_of(const struct merge *m, size_t input)
{
	const struct profile *p = m->inputs[input].profile;
	const char *list = "";

	for (size_t i = 0; i < p->metric_count; i++)
		list = arena_printf(m->scratch, "%s%s%.*s", list, i ? ", " : "",
			STR_ARG(profile_string(p, p->metrics[i].name)));
	return list;
}

/* If the metric is a side's default, also lists what it can be compared with. */
static void note_one_sided(struct merge *m, const struct merge_column *c)
{
	size_t side = c->first_input, other = 1 - side;
	const struct profile *p = m->inputs[side].profile;
	bool is_main = p->metric_count &&
		       str_equal(profile_string(p, p->metrics[p->default_metric.i].name), c->name);

	builder_note(m->to, NOTE_INFO, 1, "%.*s is in %s only, and counts as 0 in %s%s%s",
		STR_ARG(c->name), side == 0 ? "old" : "new", side == 0 ? "new" : "old",
		is_main ? ", which has: " : "", is_main ? names_of(m, other) : "");
}

static void note_missing(struct merge *m, const struct merge_column *c)
{
	if (c->input_count == m->input_count || m->store.size)
		return;
	if (m->is_difference)
		note_one_sided(m, c);
	else
		builder_note(m->to, NOTE_INFO, 1,
			"%.*s is in %zu of the %zu files only, and counts as 0 in the others",
			STR_ARG(c->name), c->input_count, m->input_count);
}

/* The first input with a metric of that name. */
static struct str source_with(const struct merge *m, struct str name)
{
	metric_id metric;

	for (size_t i = 0; i < m->input_count; i++)
		if (profile_find_metric(m->inputs[i].profile, name, &metric))
			return profile_string(m->inputs[i].profile, m->inputs[i].profile->source);
	return STR("a file");
}

static struct error *add_metric(struct merge *m, uint32_t column)
{
	static const char *const suffix[DIFFERENCE_METRICS] = {"", " (old)", " (new)"};
	const struct merge_column *c = &m->columns.data[column];
	uint32_t count = m->is_difference ? DIFFERENCE_METRICS : 1;

	for (uint32_t i = 0; i < count; i++) {
		const char *name = arena_printf(m->scratch, "%.*s%s", STR_ARG(c->name), suffix[i]);

		if (builder_metric(m->to, str_from(name), c->unit).i != count * column + i)
			return error_new(ERROR_INPUT,
				"%.*s has a metric '%s', as a difference has; compare the files "
				"that it was made from",
				STR_ARG(source_with(m, str_from(name))), name);
	}
	note_missing(m, c);
	return NULL;
}

/* After m->to is created. */
must_use static struct error *merge_add_metrics(struct merge *m)
{
	for (uint32_t i = 0; i < m->columns.count; i++) {
		struct error *err = add_metric(m, i);

		if (err)
			return err;
	}
	return NULL;
}

static void split_sum(struct merge *m, size_t input)
{
	for (size_t i = 0; i < m->columns.count; i++) {
		int64_t *row = &m->row[DIFFERENCE_METRICS * i];

		/* No profile contains INT64_MIN: no sum of negative weights exceeds 63 bits. */
		row[0] = input == 0 ? -m->sum[i] : m->sum[i];
		row[1] = input == 0 ? m->sum[i] : 0;
		row[2] = input == 0 ? 0 : m->sum[i];
	}
}

/*
 * The share of a weight.  The shares so far always sum to the rounded share of the weights so far,
 * so all shares sum to the whole.
 */
static int64_t take_share(struct merge_input *in, int64_t weight)
{
	in->seen += weight;
	__int128 twice = (__int128)in->seen * SHARE_WHOLE * 2;
	int64_t share = (int64_t)((twice + (twice < 0 ? -in->whole : in->whole)) /
				  (2 * (__int128)in->whole));
	int64_t taken = share - in->share;

	in->share = share;
	return taken;
}

/* of[metric of input][i]; samples: the row's number of samples; UINT64_MAX: unknown. */
static const int64_t *merge_row(
	struct merge *m, size_t input, const int64_t *const *of, size_t i, uint64_t samples)
{
	struct merge_input *in = &m->inputs[input];

	memset(m->sum, 0, m->columns.count * sizeof(*m->sum));
	for (size_t k = 0; k < in->profile->metric_count; k++)
		m->sum[in->column[k]] = of[k][i];
	if (in->fills_samples)
		m->sum[m->samples_column] = (int64_t)samples;
	if (m->first_run != NO_ID)
		m->sum[m->first_run + input] = m->sum[m->run_of];
	if (m->share_column != NO_ID)
		m->sum[m->share_column] = take_share(in, m->sum[m->shared_column]);
	if (!m->is_difference)
		return m->sum;
	split_sum(m, input);
	return m->row;
}

/* ---- The fields outside tables */

/* When the inputs' times begin in the merged profile, or 0 if unknown. */
static uint64_t merge_start_unix_ns(const struct merge *m)
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
	struct common_notes notes;

	common_notes_init(&notes);
	for (size_t k = 0; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;

		for (size_t i = 0; i < p->note_count; i++)
			common_notes_add(&notes, p->notes[i].kind, p->notes[i].count,
				profile_string(p, p->notes[i].text));
	}
	if (m->notes)
		common_notes_put(m->notes, m->to, "files");
	common_notes_put(&notes, m->to, "files");
	common_notes_deinit(&notes);
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
			"single samples are not in all files, so only sums over them were kept, "
			"without threads, times and labels");
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

static void merge_add_header(struct merge *m)
{
	struct builder_header *header = builder_header(m->to);

	header->source = m->store.size ? builder_string(m->to, m->store)
				       : join_strings(m, offsetof(struct profile, source));
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

/* ---- The merger */

static bool is_empty(const struct profile *p)
{
	for (size_t i = 0; i < p->row_count; i++) {
		if (p->row_samples && p->row_samples[i])
			return false;
		for (size_t k = 0; k < p->metric_count; k++)
			if (p->row_weight[k][i])
				return false;
	}
	return true;
}

/* Keeps the properties that all non-empty inputs have. */
static void plan_samples(struct merge *m)
{
	m->with_samples = m->with_threads = m->with_times = m->with_zones = true;
	for (size_t k = 0; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;

		if (p->samples.count == 0 && is_empty(p))
			continue;
		m->with_samples &= p->samples.count > 0;
		m->with_threads &= p->samples.thread != NULL;
		m->with_times &= p->samples.time_ns != NULL;
		m->with_zones &= p->samples.zone != NULL;
	}
}

/* Costs of calls are known for the whole if they are known for all calls. */
static void plan_arc_costs(struct merge *m)
{
	bool all = true, any = false;

	for (size_t k = 0; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;

		all &= p->arc_cost != NULL || (p->arc_count == 0 && is_empty(p));
		any |= p->arc_cost != NULL;
	}
	m->with_arc_costs = all && any;
}

static void add_samples(struct merge *m, size_t input)
{
	struct import *im = &m->inputs[input].import;
	const struct samples *s = &im->from->samples;
	const int64_t *const *weight = (const int64_t *const *)s->weight;

	for (size_t i = 0; i < s->count; i++) {
		builder_sample(m->to, im->stacks[s->stack[i].i],
			m->with_threads ? im->threads[s->thread[i].i] : (thread_id){NO_ID},
			m->with_times ? import_time(im, s->time_ns[i]) : UINT64_MAX,
			merge_row(m, input, weight, i, 1));
		if (m->with_zones)
			builder_sample_zone(m->to, im->stacks[s->zone[i].i]);
		builder_sample_labels(m->to, import_sample_labels(im, i));
	}
}

/* In a difference, the samples are the new side's. */
static uint64_t samples_to_count(const struct merge *m, size_t input, uint64_t samples)
{
	return m->is_difference && input == 0 && samples != UINT64_MAX ? 0 : samples;
}

static void add_totals(struct merge *m, size_t input)
{
	const struct import *im = &m->inputs[input].import;
	const struct profile *p = im->from;

	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t row = profile_row(p, i);
		uint64_t samples = p->row_samples ? p->row_samples[row] : UINT64_MAX;

		/* Even an empty input says whether samples are known. */
		if (row == 0 && i > 0)
			continue;
		builder_weight(m->to, im->stacks[i],
			merge_row(m, input, p->row_weight, row, samples),
			samples_to_count(m, input, samples));
	}
}

/* Adds calls with their costs; in a difference, only the costs. */
static void add_arcs(struct merge *m, size_t input)
{
	const struct import *im = &m->inputs[input].import;
	const struct profile *p = im->from;

	if (m->is_difference && !m->with_arc_costs)
		return;
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];
		function_id caller = a->caller.i == NO_ID ? a->caller : im->functions[a->caller.i];
		function_id callee = im->functions[a->callee.i];

		if (m->with_arc_costs)
			(void)builder_arc_cost(m->to, caller, callee,
				m->is_difference ? 0 : a->calls,
				merge_row(m, input, p->arc_cost, i, 0));
		else
			builder_arc(m->to, caller, callee, a->calls);
	}
}

/* In a difference, a function that both sides have is one row. */
static void match_sides(struct merge *m)
{
	struct import_function *as_old, *as_new;

	const struct profile *old_profile = m->inputs[0].profile;
	const struct profile *new_profile = m->inputs[1].profile;

	m->objects_as = (struct import_objects){
		old_profile, new_profile, match_objects(old_profile, new_profile, m->scratch)};
	size_t twins = match_functions(
		old_profile, new_profile, m->objects_as.as, m->scratch, &as_old, &as_new);
	if (twins)
		builder_note(m->to, NOTE_INFO, twins,
			"%zu function%s differ%s from others in address only, which another build "
			"does not share; all of one name are compared as one function",
			twins, twins == 1 ? "" : "s", twins == 1 ? "s" : "");
	m->inputs[0].functions_as = as_old;
	m->inputs[1].functions_as = as_new;
}

static void add_input(struct merge *m, size_t input)
{
	struct import *im = &m->inputs[input].import;
	uint64_t start_ns = merge_start_unix_ns(m);

	import_init(im, im->from, m->to, m->scratch);
	im->functions_as = m->inputs[input].functions_as;
	im->objects_as = m->is_difference ? &m->objects_as : NULL;
	if (start_ns)
		im->shift_ns = im->from->start_unix_ns - start_ns;
	import_frames(im);
	import_stacks(im);
	add_arcs(m, input);
	if (m->with_threads)
		import_threads(im);
	if (m->with_samples) {
		import_labels(im);
		add_samples(m, input);
	} else {
		add_totals(m, input);
	}
	if (merge_has_ticks(m)) {
		import_ticks(im);
		import_zone_events(im);
	}
}

static void merge_init(struct merge *m, const struct profile *const *profiles, size_t count)
{
	m->scratch = arena_create();
	m->input_count = count;
	m->inputs = ARENA_ARRAY(m->scratch, struct merge_input, count);
	for (size_t k = 0; k < count; k++) {
		m->inputs[k].profile = profiles[k];
		m->inputs[k].import.from = profiles[k];
	}
	str_table_init(&m->words, m->scratch);
	plan_samples(m);
	plan_arc_costs(m);
}

static void merge_deinit(struct merge *m)
{
	vec_deinit(&m->columns);
	map_deinit(&m->column_of);
	str_table_deinit(&m->words);
	arena_destroy(m->scratch);
}

/* Samples that one profile leaves out would be in the other. */
static struct error *check_when(const struct merge *m)
{
	const struct profile *first = m->inputs[0].profile;

	for (size_t k = 1; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;

		if (!str_equal(profile_string(p, p->when), profile_string(first, first->when)))
			return error_new(ERROR_UNSUPPORTED,
				"%.*s and %.*s were recorded with different --when: they cannot be "
				"put together",
				STR_ARG(profile_string(first, first->source)),
				STR_ARG(profile_string(p, p->source)));
	}
	return NULL;
}

/* Whether its metrics are those of a difference, as in difffolded.pl's output. */
static bool is_of_changes(const struct profile *p)
{
	struct strbuf old = {0};
	metric_id metric;

	strbuf_add(&old, profile_string(p, p->metrics[0].name));
	strbuf_add(&old, STR(" (old)"));
	bool has_old = profile_find_metric(p, strbuf_str(&old), &metric);

	strbuf_deinit(&old);
	return has_old;
}

/* Changes and counts have the same name, and their sum would be neither. */
static struct error *check_changes(const struct merge *m)
{
	const struct profile *first = m->inputs[0].profile;

	for (size_t k = 1; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;
		const struct profile *changes = is_of_changes(p) ? p : first;
		const struct profile *counts = changes == p ? first : p;

		if (is_of_changes(p) != is_of_changes(first))
			return error_new(ERROR_UNSUPPORTED,
				"%.*s is a difference and %.*s is none: they cannot be put "
				"together",
				STR_ARG(profile_string(changes, changes->source)),
				STR_ARG(profile_string(counts, counts->source)));
	}
	return NULL;
}

/* Profiles with stacks and without: the data that one lacks would make the sum wrong. */
static struct error *check_stacks(const struct merge *m)
{
	const struct profile *first = m->inputs[0].profile;

	for (size_t k = 1; k < m->input_count; k++) {
		const struct profile *p = m->inputs[k].profile;
		const struct profile *with = p->has_stacks ? p : first;
		const struct profile *without = p->has_stacks ? first : p;

		if (p->has_stacks != first->has_stacks)
			return error_new(ERROR_UNSUPPORTED,
				"%.*s has call stacks and %.*s has none: they cannot be put "
				"together",
				STR_ARG(profile_string(with, with->source)),
				STR_ARG(profile_string(without, without->source)));
	}
	return NULL;
}

static struct error *merge_run(struct merge *m, struct profile **merged)
{
	struct error *err = check_stacks(m);

	if (err == NULL)
		err = check_when(m);
	if (err == NULL)
		err = check_changes(m);
	if (err == NULL)
		err = merge_plan_metrics(m);
	if (err)
		return err;
	m->to = builder_create();
	err = merge_add_metrics(m);
	if (err) {
		builder_destroy(m->to);
		return err;
	}
	if (m->is_difference)
		match_sides(m);
	for (size_t k = 0; k < m->input_count; k++)
		add_input(m, k);
	merge_add_header(m);
	return builder_finish(m->to, merged);
}

struct error *profile_merge(
	const struct profile *const *profiles, size_t count, struct profile **merged)
{
	struct merge m = {.is_difference = false};

	merge_init(&m, profiles, count);
	struct error *err = merge_run(&m, merged);

	merge_deinit(&m);
	return err;
}

struct error *profile_merge_stored(const struct profile *const *profiles, size_t count,
	struct str source, const struct common_notes *notes, struct profile **merged)
{
	struct merge m = {.store = source, .notes = notes};

	merge_init(&m, profiles, count);
	struct error *err = merge_run(&m, merged);

	merge_deinit(&m);
	return err;
}

struct error *profile_merge_runs(const struct profile *const *profiles, size_t count,
	struct str metric, size_t runs, struct profile **merged)
{
	struct merge m = {.run_metric = metric, .run_count = runs};

	merge_init(&m, profiles, count);
	struct error *err = merge_run(&m, merged);

	merge_deinit(&m);
	return err;
}

struct error *profile_difference(const struct profile *old_profile,
	const struct profile *new_profile, struct profile **difference)
{
	return profile_difference_of_shares(old_profile, new_profile, STR(""), difference);
}

struct error *profile_difference_of_shares(const struct profile *old_profile,
	const struct profile *new_profile, struct str metric, struct profile **difference)
{
	const struct profile *const profiles[] = {old_profile, new_profile};
	struct merge m = {.is_difference = true, .shared_metric = metric};

	merge_init(&m, profiles, 2);
	struct error *err = merge_run(&m, difference);

	merge_deinit(&m);
	return err;
}
