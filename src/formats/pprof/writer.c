/*
 * Writes pprof profiles (profile.proto), as formats/pprof/reader.c reads them;
 * docs/formats/pprof.md defines the output exactly.
 *
 * A pprof profile is a sum: samples with the same stack, thread and labels become one.  Threads and
 * processes are labels, named as by pprof's perf_to_profile.
 */
#include "formats/pprof/writer.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/row_table.h"
#include "formats/writers.h"

/* Samples with equal keys are summed. */
struct sample_key {
	uint32_t stack, thread, labels;
};

struct sample_sums {
	struct row_table keys;
	VEC(int64_t) values; /* [key][value] */
};

static uint64_t key_hash(const void *row)
{
	const struct sample_key *k = row;

	return hash_pair((uint64_t)k->stack << 32 | k->thread, k->labels);
}

static bool key_same(const void *a, const void *b)
{
	const struct sample_key *x = a, *y = b;

	return x->stack == y->stack && x->thread == y->thread && x->labels == y->labels;
}

static const struct row_kind key_rows = {sizeof(struct sample_key), key_hash, key_same};

/* ---- types ---- */

/*
 * By convention the first type is the number of samples; it is added if it is known but not a
 * metric.
 */
static bool adds_samples(const struct profile *p)
{
	for (size_t i = 0; i < p->metric_count; i++)
		if (str_equal(profile_string(p, p->metrics[i].name), STR("samples")))
			return false;
	return p->row_samples != NULL;
}

static uint64_t put_unit(struct pprof_writer *w, string_id unit)
{
	if (str_equal(profile_string(w->profile, unit), STR("ns")))
		return pprof_writer_text(w, STR("nanoseconds"));
	return pprof_writer_string(w, unit);
}

static void put_type(struct pprof_writer *w, uint32_t field, uint64_t type, uint64_t unit)
{
	struct strbuf *out = &w->sink->text;
	size_t begun = proto_begin(out, field);

	proto_put_varint(out, VALUE_TYPE, type);
	proto_put_varint(out, VALUE_UNIT, unit);
	proto_end(out, begun);
}

static void put_types(struct pprof_writer *w)
{
	const struct profile *p = w->profile;

	if (adds_samples(p))
		put_type(w, PROFILE_SAMPLE_TYPE, pprof_writer_text(w, STR("samples")),
			pprof_writer_text(w, STR("count")));
	for (size_t i = 0; i < p->metric_count; i++)
		put_type(w, PROFILE_SAMPLE_TYPE, pprof_writer_string(w, p->metrics[i].name),
			put_unit(w, p->metrics[i].unit));
}

/* ---- samples ---- */

static void put_label(
	struct pprof_writer *w, uint64_t key, uint64_t text, int64_t number, uint64_t unit)
{
	struct strbuf *out = &w->sink->text;
	size_t begun = proto_begin(out, SAMPLE_LABEL);

	proto_put_varint(out, LABEL_KEY, key);
	if (text)
		proto_put_varint(out, LABEL_TEXT, text);
	if (number)
		proto_put_varint(out, LABEL_NUMBER, (uint64_t)number);
	if (unit)
		proto_put_varint(out, LABEL_UNIT, unit);
	proto_end(out, begun);
}

static void put_number(struct pprof_writer *w, struct str key, int64_t number)
{
	put_label(w, pprof_writer_text(w, key), 0, number, 0);
}

static void put_name(struct pprof_writer *w, struct str key, string_id name)
{
	if (name.i)
		put_label(w, pprof_writer_text(w, key), pprof_writer_string(w, name), 0, 0);
}

/* A process with id -1 is unknown. */
static void put_thread(struct pprof_writer *w, const struct thread *thread)
{
	const struct process *process = &w->profile->processes[thread->process.i];

	put_number(w, STR("tid"), thread->tid);
	put_name(w, STR("thread"), thread->name);
	if (process->pid != -1)
		put_number(w, STR("pid"), process->pid);
	put_name(w, STR("process"), process->name);
}

static void put_labels(struct pprof_writer *w, label_set_id set)
{
	const struct profile *p = w->profile;

	for (; set.i; set = p->label_sets[set.i].rest) {
		const struct label *l = &p->labels[p->label_sets[set.i].label.i];

		if (l->text.i)
			put_label(w, pprof_writer_string(w, l->key),
				pprof_writer_string(w, l->text), 0, 0);
		else
			put_label(w, pprof_writer_string(w, l->key), 0, l->number,
				pprof_writer_string(w, l->unit));
	}
}

static bool any_value(const int64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i])
			return true;
	return false;
}

static void put_sample(
	struct pprof_writer *w, const struct sample_key *key, const int64_t *values, size_t count)
{
	struct strbuf *out = &w->sink->text;

	if (!any_value(values, count))
		return;
	size_t begun = proto_begin(out, PROFILE_SAMPLE);
	size_t list = proto_begin(out, SAMPLE_LOCATION);
	pprof_put_locations(w, (stack_id){key->stack});
	proto_end(out, list);
	list = proto_begin(out, SAMPLE_VALUE);
	for (size_t i = 0; i < count; i++)
		proto_put_packed(out, (uint64_t)values[i]);
	proto_end(out, list);
	if (key->thread != NO_ID)
		put_thread(w, &w->profile->threads[key->thread]);
	put_labels(w, (label_set_id){key->labels});
	proto_end(out, begun);
}

/* ---- samples with threads or labels ---- */

static void sum_samples(const struct profile *p, struct sample_sums *sums, size_t count)
{
	const struct samples *s = &p->samples;
	bool adds = adds_samples(p);

	for (size_t i = 0; i < s->count; i++) {
		struct sample_key key = {.stack = s->stack[i].i,
			.thread = s->thread ? s->thread[i].i : NO_ID,
			.labels = s->labels ? s->labels[i].i : 0};
		uint32_t row = row_table_intern(&sums->keys, &key_rows, &key);

		if (row * count == sums->values.count)
			for (size_t k = 0; k < count; k++)
				vec_push(&sums->values, 0);
		int64_t *values = &sums->values.data[row * count];
		/* In a profile without such a metric, each sample counts as one. */
		if (adds)
			values[0]++;
		for (size_t m = 0; m < p->metric_count; m++)
			values[adds + m] += s->weight[m][i];
	}
}

static void put_samples(struct pprof_writer *w, size_t count)
{
	struct sample_sums sums = {0};

	sum_samples(w->profile, &sums, count);
	for (uint32_t i = 0; i < sums.keys.count; i++) {
		put_sample(w, row_table_row(&sums.keys, &key_rows, i), &sums.values.data[i * count],
			count);
		if (!sink_settle(w->sink))
			break;
	}
	row_table_deinit(&sums.keys);
	vec_deinit(&sums.values);
}

/* ---- samples with only a stack ---- */

static void put_stacks(struct pprof_writer *w, size_t count)
{
	const struct profile *p = w->profile;
	int64_t *values = xcalloc(count, sizeof(*values));
	bool adds = adds_samples(p);

	for (uint32_t i = 0; i < p->stack_count; i++) {
		struct sample_key key = {.stack = i, .thread = NO_ID};

		if (adds)
			values[0] = (int64_t)profile_samples(p, i);
		for (size_t m = 0; m < p->metric_count; m++)
			values[adds + m] = profile_weight(p, m, i);
		put_sample(w, &key, values, count);
		if (!sink_settle(w->sink))
			break;
	}
	free(values);
}

/* ---- the profile's own fields ---- */

static void put_known(struct pprof_writer *w, uint32_t field, uint64_t value)
{
	if (value && value <= INT64_MAX)
		proto_put_varint(&w->sink->text, field, value);
}

static void put_period(struct pprof_writer *w)
{
	const struct profile *p = w->profile;
	const struct metric *m = &p->metrics[p->default_metric.i];
	uint64_t period = p->stats.interval_ns == UINT64_MAX ? p->stats.interval_asked_ns
							     : p->stats.interval_ns;
	bool is_time = str_equal(profile_string(p, m->unit), STR("ns"));

	if (period == 0 || period > INT64_MAX)
		return;
	put_type(w, PROFILE_PERIOD_TYPE,
		is_time ? pprof_writer_string(w, m->name) : pprof_writer_text(w, STR("cpu")),
		pprof_writer_text(w, STR("nanoseconds")));
	put_known(w, PROFILE_PERIOD, period);
}

static void put_comments(struct pprof_writer *w)
{
	const struct profile *p = w->profile;

	for (size_t i = 0; i < p->note_count; i++) {
		struct strbuf text = {0};

		profile_note_text(p, &p->notes[i], &text);
		proto_put_varint(
			&w->sink->text, PROFILE_COMMENT, pprof_writer_text(w, strbuf_str(&text)));
		strbuf_deinit(&text);
	}
}

static struct error *pprof_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	size_t count = profile->metric_count + adds_samples(profile);
	struct pprof_writer w;

	pprof_writer_init(&w, profile, sink);
	put_types(&w);
	put_known(&w, PROFILE_DEFAULT_SAMPLE_TYPE,
		pprof_writer_string(&w, profile->metrics[options->metric.i].name));
	put_known(&w, PROFILE_TIME, profile->start_unix_ns);
	put_known(&w, PROFILE_DURATION, profile->stats.duration_ns);
	put_period(&w);
	put_comments(&w);
	if (profile->samples.thread || profile->samples.labels)
		put_samples(&w, count);
	else
		put_stacks(&w, count);
	pprof_put_rows(&w);
	pprof_writer_deinit(&w);
	return NULL;
}

const struct writer writer_pprof = {
	.name = "pprof",
	.extension = ".pb.gz",
	.other = ".pprof",
	.summary = "pprof profile (profile.proto), for pprof and many other viewers",
	.holds_metrics = true,
	.holds_notes = true,
	.packing = PACKING_GZIP,
	.write = pprof_write,
};
