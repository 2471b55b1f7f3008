/*
 * A folder as a store.
 *
 * Sending a recording writes it with its service, host and labels as labels of its samples.  Its
 * name is made of its start and a hash of what identifies it, so that sending it again replaces it.
 * A query reads the recordings that may match, keeps the samples that it asks for, and adds them up
 * as `sonde merge` does.
 */
#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/draft.h"
#include "base/folder.h"
#include "base/map.h"
#include "base/wire.h"
#include "formats/readers.h"
#include "formats/writers.h"
#include "model/import.h"
#include "model/common_notes.h"
#include "model/merge.h"
#include "model/note_key.h"
#include "model/part.h"
#include "store/fit.h"
#include "store/identity.h"
#include "store/loss_text.h"

/* The most profiles that are merged at once. */
#define MERGE_MAX 32
/* The most metrics of a recording. */
#define METRICS_MAX 16
#define DAY_S	    86400

/* ---- sending ---- */

/* What every sample gets besides its own labels. */
struct added {
	struct str service, host;
	const struct store_rows_options *options;
	VEC(label_id) labels; /* of all samples, then of the one whose set is being made */
	size_t common;	      /* of `labels`, those of all samples */
	label_id own_service, own_host; /* for samples that have none */
	bool keeps_host;		/* of samples that have one */
};

static label_id make_label(struct builder *b, struct str key, struct str value)
{
	const struct label label = {
		builder_string(b, key), builder_string(b, value), 0, builder_string(b, STR(""))};

	return builder_label(b, &label);
}

/* These labels are the first of the new profile, so they are kept, however many a sample has. */
static void make_common_labels(struct builder *b, struct added *added)
{
	added->own_service = make_label(b, STR("service"), added->service);
	added->own_host = make_label(b, STR("host"), added->host);
	for (size_t i = 0; i < added->options->label_count; i++) {
		const struct store_label *label = &added->options->labels[i];

		vec_push(&added->labels, make_label(b, label->key, label->value));
	}
	added->common = added->labels.count;
}

/* As on servers: --service replaces the samples' service, and what is sent, their host. */
static bool is_replaced(const struct added *added, struct str key)
{
	return (str_equal(key, STR("host")) && !added->keeps_host) ||
	       (added->options->service.size && str_equal(key, STR("service")));
}

/* The complete labels of a sample that has `own` in the profile it comes from. */
static label_set_id complete_labels(struct import *im, label_set_id own, struct added *added)
{
	const struct profile *p = im->from;
	struct builder *b = im->to;
	bool has_service = false, has_host = false;

	added->labels.count = added->common;
	for (; own.i; own = p->label_sets[own.i].rest) {
		const struct label *label = &p->labels[p->label_sets[own.i].label.i];
		struct str key = profile_string(p, label->key);

		if (is_replaced(added, key))
			continue;
		has_service |= str_equal(key, STR("service"));
		has_host |= str_equal(key, STR("host"));
		const struct label copy = {import_string(im, label->key),
			import_string(im, label->text), label->number,
			import_string(im, label->unit)};

		vec_push(&added->labels, builder_label(b, &copy));
	}
	if (!has_service)
		vec_push(&added->labels, added->own_service);
	if (!has_host)
		vec_push(&added->labels, added->own_host);
	return builder_label_set_of(b, added->labels.data, added->labels.count);
}

/* [label set of the old profile] complete, for those that samples have. */
static label_set_id *complete_sets(struct import *im, struct added *added)
{
	const struct samples *s = &im->from->samples;
	label_set_id *sets = ARENA_ARRAY(im->scratch, label_set_id, im->from->label_set_count);

	for (size_t i = 0; i < s->count; i++) {
		label_set_id set = s->labels ? s->labels[i] : (label_set_id){0};

		if (sets[set.i].i == 0)
			sets[set.i] = complete_labels(im, set, added);
	}
	return sets;
}

static void copy_samples(struct import *im, struct added *added)
{
	const struct samples *s = &im->from->samples;
	label_set_id *sets = complete_sets(im, added);

	for (size_t i = 0; i < s->count; i++)
		import_sample(im, i, sets[s->labels ? s->labels[i].i : 0]);
}

/* The same for samples that are sums: their metric "samples", the last one, is 0. */
static void copy_sums(struct import *im, struct added *added)
{
	const struct samples *s = &im->from->samples;
	label_set_id *sets = complete_sets(im, added);
	int64_t *weight = ARENA_ARRAY(im->scratch, int64_t, im->from->metric_count + 1);

	for (size_t i = 0; i < s->count; i++) {
		for (size_t m = 0; m < im->from->metric_count; m++)
			weight[m] = s->weight[m][i];
		builder_sample(im->to, im->stacks[s->stack[i].i],
			s->thread ? im->threads[s->thread[i].i] : (thread_id){NO_ID}, UINT64_MAX,
			weight);
		builder_sample_labels(im->to, sets[s->labels ? s->labels[i].i : 0]);
	}
}

/*
 * Copies totals as samples, which can have labels: one for each stack, all of this time.  A metric
 * "samples" is added if there is none, so that each does not count as one sample.
 */
static void copy_counted(struct import *im, struct added *added, uint64_t time_ns)
{
	const struct profile *p = im->from;
	int64_t *weight = ARENA_ARRAY(im->scratch, int64_t, p->metric_count + 1);
	label_set_id labels = complete_labels(im, (label_set_id){0}, added);

	for (uint32_t stack = 0; stack < p->stack_count; stack++) {
		if (profile_row(p, stack) == 0)
			continue;
		for (size_t m = 0; m < p->metric_count; m++)
			weight[m] = profile_weight(p, m, stack);
		if (p->row_samples)
			weight[p->metric_count] = (int64_t)profile_samples(p, stack);
		builder_sample(im->to, im->stacks[stack], (thread_id){NO_ID}, time_ns, weight);
		builder_sample_labels(im->to, labels);
	}
}

/* Without labels, totals stay totals: the command and the host state where they come from. */
static void copy_totals(struct import *im, const struct added *added)
{
	const struct profile *p = im->from;
	struct builder_header *header = builder_header(im->to);
	int64_t *weight = ARENA_ARRAY(im->scratch, int64_t, p->metric_count);

	for (uint32_t stack = 0; stack < p->stack_count; stack++) {
		if (profile_row(p, stack) == 0)
			continue;
		for (size_t m = 0; m < p->metric_count; m++)
			weight[m] = profile_weight(p, m, stack);
		builder_weight(im->to, im->stacks[stack], weight,
			p->row_samples ? profile_samples(p, stack) : UINT64_MAX);
	}
	if (added->options->service.size)
		header->command = builder_string(im->to, added->service);
}

/* Copies the weights of a profile, and labels them. */
static void copy_weights(struct import *im, struct added *added)
{
	const struct profile *p = im->from;
	bool counts = store_counts_samples(p);
	bool are_sums = !store_knows_samples(p) && p->metric_count < METRICS_MAX;

	if (p->samples.count == 0 && !counts && added->options->label_count == 0) {
		copy_totals(im, added);
		return;
	}
	make_common_labels(im->to, added);
	if (!counts && (are_sums || p->samples.count == 0))
		(void)builder_metric(im->to, STR("samples"), STR("count"));
	if (p->samples.count == 0)
		copy_counted(im, added, UINT64_MAX);
	else if (are_sums)
		copy_sums(im, added);
	else
		copy_samples(im, added);
}

static struct error *label_profile(
	const struct profile *p, struct added *added, struct profile **labelled)
{
	struct import im;
	struct arena *scratch = arena_create();
	struct builder *to = builder_create();

	import_init(&im, p, to, scratch);
	import_metrics(&im);
	import_frames(&im);
	import_stacks(&im);
	import_threads(&im);
	import_arcs(&im);
	import_ticks(&im);
	import_zone_events(&im);
	import_notes(&im);
	import_header(&im);
	builder_header(to)->host = builder_string(to, added->host);
	if (p->start_unix_ns == 0)
		builder_header(to)->start_unix_ns = added->options->time_s * SECOND_NS;
	copy_weights(&im, added);
	vec_deinit(&added->labels);
	arena_destroy(scratch);
	return builder_finish(to, labelled);
}

/* "20261127T213000Z-0123456789abcdef.prof". */
static char *file_name(const struct profile *p, const struct added *added)
{
	uint64_t start_s = p->start_unix_ns ? p->start_unix_ns / SECOND_NS : added->options->time_s;
	time_t seconds = (time_t)start_s;
	struct strbuf b = {0};
	struct tm utc;
	char text[32];

	gmtime_r(&seconds, &utc);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &utc);
	wire_put_u64(&b, identity_recording(p, added->host, p->start_unix_ns));
	wire_put_str(&b, added->service);
	for (size_t i = 0; i < added->options->label_count; i++) {
		wire_put_str(&b, added->options->labels[i].key);
		wire_put_str(&b, added->options->labels[i].value);
	}
	char *name = xasprintf(
		"%s-%016llx.prof", text, (unsigned long long)identity_bytes(strbuf_str(&b)));
	strbuf_deinit(&b);
	return name;
}

/* Writes to a draft and renames it, so that no reader sees a part of it. */
static struct error *write_recording(
	const struct profile *p, const char *folder, const char *name, uint64_t *bytes)
{
	const struct writer_options options = {.metric = p->default_metric};
	char *path = xasprintf("%s/%s", folder, name);
	struct draft draft;
	struct error *err = draft_open(&draft, AT_FDCWD, path, 0600), *finish;
	struct sink sink;
	struct stat info;

	if (err == NULL) {
		draft_share(&draft);
		sink_init(&sink, draft.fd, path);
		err = writer_sonde.write(&sink, p, &options);
		finish = sink_finish(&sink);
		if (err)
			error_destroy(finish);
		else
			err = finish;
		if (fstat(draft.fd, &info) == 0)
			*bytes = (uint64_t)info.st_size;
		err = draft_end(&draft, err);
	}
	free(path);
	return err;
}

struct error *folder_store_send(const char *folder, const struct profile *profile,
	const struct store_rows_options *options, struct store_sent *sent)
{
	struct added added = {.options = options,
		.service = options->service.size ? options->service : store_own_service(profile)};
	struct strbuf scratch = {0};
	struct profile *labelled;
	struct error *err;
	struct stat info;

	if (stat(folder, &info) != 0)
		return error_system(
			errno, "%s; sonde fleet init --store %s makes the folder", folder, folder);
	if (profile->arc_count && options->label_count && !store_counts_samples(profile))
		return error_new(ERROR_UNSUPPORTED,
			"%.*s has counts of calls, but not of samples: in a folder, --label needs "
			"them",
			STR_ARG(profile_string(profile, profile->source)));
	added.host = store_host(profile, options, &scratch);
	err = label_profile(profile, &added, &labelled);
	if (err) {
		strbuf_deinit(&scratch);
		return err;
	}
	char *name = file_name(profile, &added);
	err = write_recording(labelled, folder, name, &sent->bytes);
	sent->where = xasprintf("%s/%s", folder, name);
	sent->profiles = 1;
	sent->stacks = labelled->row_count - 1;
	sent->frames = labelled->frame_count;
	sent->pairs = sent->stacks * labelled->metric_count;
	free(name);
	strbuf_deinit(&scratch);
	profile_destroy(labelled);
	return err;
}

/* ---- reading ---- */

/* The value of a label in a set; data NULL: it has no such label. */
static struct str label_value(
	const struct profile *p, label_set_id set, struct str key, struct strbuf *scratch)
{
	for (; set.i; set = p->label_sets[set.i].rest) {
		label_id id = p->label_sets[set.i].label;

		if (str_equal(profile_string(p, p->labels[id.i].key), key))
			return profile_label_value(p, id, scratch);
	}
	return (struct str){0};
}

static bool is_named(struct str name, const struct str *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (str_equal(name, names[i]))
			return true;
	}
	return false;
}

static bool is_in_range(const struct store_query *q, uint64_t time_ns)
{
	return time_ns / SECOND_NS >= q->since_s &&
	       (q->until_s == 0 || time_ns / SECOND_NS < q->until_s);
}

/* Whether the query asks for samples of that service and host. */
static bool is_asked(const struct store_query *q, struct str service, struct str host)
{
	return (q->services.count == 0 || is_named(service, q->services.data, q->services.count)) &&
	       (q->hosts.count == 0 || is_named(host, q->hosts.data, q->hosts.count)) &&
	       !is_named(service, q->not_services.data, q->not_services.count) &&
	       !is_named(host, q->not_hosts.data, q->not_hosts.count);
}

static bool has_label(const struct profile *p, label_set_id set, const struct store_label *label)
{
	struct strbuf scratch = {0};
	struct str value = label_value(p, set, label->key, &scratch);
	bool has = value.data && str_equal(value, label->value);

	strbuf_deinit(&scratch);
	return has;
}

/* All labels that the query asks for, and none that it excludes. */
static bool has_labels(const struct profile *p, label_set_id set, const struct store_query *q)
{
	for (size_t i = 0; i < q->labels.count; i++)
		if (!has_label(p, set, &q->labels.data[i]))
			return false;
	for (size_t i = 0; i < q->not_labels.count; i++)
		if (has_label(p, set, &q->not_labels.data[i]))
			return false;
	return true;
}

/* [label set] whether the query asks for its samples; the caller frees it. */
static bool *asked_sets(const struct profile *p, const struct store_query *q)
{
	bool *asked = xcalloc(p->label_set_count, sizeof(*asked));
	struct strbuf scratch[2] = {{0}};

	for (uint32_t i = 0; i < p->label_set_count; i++) {
		label_set_id set = {i};
		struct str service = label_value(p, set, STR("service"), &scratch[0]),
			   host = label_value(p, set, STR("host"), &scratch[1]);

		asked[i] = is_asked(q, service.data ? service : store_own_service(p),
				   host.data ? host : profile_string(p, p->host)) &&
			   has_labels(p, set, q);
		strbuf_clear(&scratch[0]);
		strbuf_clear(&scratch[1]);
	}
	strbuf_deinit(&scratch[0]);
	strbuf_deinit(&scratch[1]);
	return asked;
}

/* *part: what the query asks for of the profile, which it destroys; NULL: nothing. */
static struct error *take_part(
	struct profile *p, const struct store_query *q, struct profile **part)
{
	const struct samples *s = &p->samples;
	size_t count = 0;
	struct error *err = NULL;

	*part = NULL;
	if (s->count == 0) {
		if (q->labels.count == 0 &&
			is_asked(q, store_own_service(p), profile_string(p, p->host)) &&
			is_in_range(q, p->start_unix_ns))
			*part = p;
		else
			profile_destroy(p);
		return NULL;
	}
	bool *sets = asked_sets(p, q), *kept = xcalloc(s->count, sizeof(*kept));

	for (size_t i = 0; i < s->count; i++) {
		uint64_t time_ns = p->start_unix_ns + (s->time_ns ? s->time_ns[i] : 0);

		kept[i] = sets[s->labels ? s->labels[i].i : 0] && is_in_range(q, time_ns);
		count += kept[i];
	}
	if (count == s->count)
		*part = p;
	else if (count)
		err = profile_part(
			p, kept, NULL, "a part of what was recorded: a service, or a time", part);
	if (*part != p)
		profile_destroy(p);
	free(sets);
	free(kept);
	return err;
}

/* The service of all samples; data NULL: they have several. */
static struct str single_service(const struct profile *p, struct strbuf *scratch)
{
	const struct samples *s = &p->samples;
	struct str single = {0};
	struct strbuf other = {0};

	for (size_t i = 0; i < (s->labels ? s->count : 1); i++) {
		label_set_id set = s->labels ? s->labels[i] : (label_set_id){0};
		struct str service;

		if (i > 0 && set.i == s->labels[i - 1].i)
			continue;
		service = label_value(p, set, STR("service"), i ? &other : scratch);
		service = service.data ? service : store_own_service(p);
		if (i > 0 && !str_equal(service, single)) {
			single = (struct str){0};
			break;
		}
		single = i ? single : service;
		strbuf_clear(&other);
	}
	strbuf_deinit(&other);
	return single;
}

/* Whether the query asks for labels or times of samples, and the profile has none. */
static bool lacks_samples(const struct profile *p, const struct store_query *q)
{
	if (p->row_count <= 1)
		return false;
	return q->by_time ? p->samples.time_ns == NULL
			  : (q->by_label || q->by_service) && p->samples.count == 0;
}

/* Copies samples with the time of their profile's start. */
static void copy_at_start(struct import *im, struct added *added)
{
	const struct samples *s = &im->from->samples;
	label_set_id *sets = complete_sets(im, added);
	int64_t *weight = ARENA_ARRAY(im->scratch, int64_t, im->from->metric_count);

	for (size_t i = 0; i < s->count; i++) {
		for (size_t m = 0; m < im->from->metric_count; m++)
			weight[m] = s->weight[m][i];
		builder_sample(im->to, im->stacks[s->stack[i].i],
			s->thread ? im->threads[s->thread[i].i] : (thread_id){NO_ID}, 0, weight);
		builder_sample_labels(im->to, sets[s->labels ? s->labels[i].i : 0]);
	}
}

/*
 * Makes samples of its totals, and gives samples a time, so that it does not take labels and times
 * from all others that it is added to.  Calls, which need totals, are left out.
 */
static struct error *make_samples(struct profile **p, const struct store_query *q)
{
	const struct store_rows_options none = {0};
	struct added added = {.options = &none,
		.service = store_own_service(*p),
		.host = profile_string(*p, (*p)->host),
		.keeps_host = true};
	struct profile *made = NULL;
	struct import im;
	struct arena *scratch = arena_create();
	struct builder *to = builder_create();

	import_init(&im, *p, to, scratch);
	import_metrics(&im);
	if ((*p)->samples.count == 0 && !store_counts_samples(*p))
		(void)builder_metric(to, STR("samples"), STR("count"));
	import_frames(&im);
	import_stacks(&im);
	import_threads(&im);
	import_notes(&im);
	import_header(&im);
	make_common_labels(to, &added);
	if ((*p)->samples.count)
		copy_at_start(&im, &added);
	else
		copy_counted(&im, &added, q->by_time ? 0 : UINT64_MAX);
	vec_deinit(&added.labels);
	arena_destroy(scratch);
	struct error *err = builder_finish(to, &made);

	profile_destroy(*p);
	*p = made;
	return err;
}

/* Profiles to be added up.  When there are MERGE_MAX, they become one. */
struct sum {
	struct profile *profiles[MERGE_MAX];
	size_t count;
};

static void sum_deinit(struct sum *sum)
{
	for (size_t i = 0; i < sum->count; i++)
		profile_destroy(sum->profiles[i]);
	sum->count = 0;
}

static struct error *sum_up(struct sum *sum, const char *source, const struct common_notes *notes)
{
	struct profile *merged;
	struct error *err;

	if (sum->count == 0)
		return NULL;
	err = profile_merge_stored((const struct profile *const *)sum->profiles, sum->count,
		str_from(source), notes, &merged);
	if (err)
		return err;
	sum_deinit(sum);
	sum->profiles[sum->count++] = merged;
	return NULL;
}

static bool is_recording(const char *name)
{
	return str_ends_with(str_from(name), STR(".prof"));
}

/* Whether the file was removed after it was listed, as agents remove old ones. */
static bool is_gone(const struct error *err)
{
	return err && err->kind == ERROR_SYSTEM && err->code == ENOENT;
}

/* A file that was last written before the range begins has no samples in the range. */
static bool is_recent(const struct store_query *query, const struct stat *info)
{
	return (uint64_t)info->st_mtim.tv_sec >= query->since_s;
}

/* *part: what the query asks for of a recording; NULL: nothing, or the file is gone. */
static struct error *read_part(const char *file, const struct stat *info,
	const struct store_query *q, struct profile **part)
{
	struct profile *profile;

	*part = NULL;
	if (!is_recent(q, info))
		return NULL;
	struct error *err = profile_read(file, NULL, &profile);
	if (is_gone(err)) {
		error_destroy(err);
		return NULL;
	}
	if (err == NULL)
		err = take_part(profile, q, part);
	return err || *part == NULL || !lacks_samples(*part, q) ? err : make_samples(part, q);
}

/* Calls `each` for each recording in a folder, until it fails. */
static struct error *for_recordings(const char *path, void *context,
	struct error *(*each)(void *context, const char *file, const struct stat *info))
{
	struct folder *folder;
	struct error *err = folder_open(path, &folder);

	if (err)
		return err;
	for (size_t i = 0; i < folder_count(folder) && err == NULL; i++) {
		char *file = xasprintf("%s/%s", path, folder_name(folder, i));
		struct stat info;

		if (is_recording(file) && lstat(file, &info) == 0 && S_ISREG(info.st_mode))
			err = each(context, file, &info);
		free(file);
	}
	folder_close(folder);
	return err;
}

struct fetch_context {
	struct sum sum;
	struct common_notes notes; /* of all recordings, which have none any more */
	const char *folder;
	const struct store_query *query;
	struct fit fit;
	bool is_chosen;	       /* fit knows what to sum; else it learns that */
	struct error *damaged; /* of the first that cannot be read */
};

/* Notes that a recording cannot be read. */
static void leave_out(struct fetch_context *c, struct error *err)
{
	struct strbuf text = {0};

	/* With digits, so that no two notes are one. */
	strbuf_printf(&text, "1 recording is left out, as it cannot be read: %s", err->message);
	common_notes_add(&c->notes, NOTE_LOST, 1, strbuf_str(&text));
	strbuf_deinit(&text);
	if (c->damaged == NULL)
		c->damaged = err;
	else
		error_destroy(err);
}

/* Whether the part is to be summed, as far as is known yet. */
static bool does_fit(struct fetch_context *c, const struct profile *part)
{
	struct arena *arena = arena_create();
	const struct fit_shape shape = fit_shape_of(part, arena);
	struct strbuf scratch = {0};
	bool does = true;

	if (c->is_chosen) {
		does = fit_has(&c->fit, &shape);
	} else {
		fit_add(&c->fit, &shape, single_service(part, &scratch),
			profile_string(part, part->host), true);
		does = !c->fit.is_mixed;
	}
	strbuf_deinit(&scratch);
	arena_destroy(arena);
	return does;
}

static struct error *add_file(void *context, const char *file, const struct stat *info)
{
	struct fetch_context *c = context;
	struct profile *part;
	struct error *err = read_part(file, info, c->query, &part);

	if (err)
		leave_out(c, err);
	if (err || part == NULL)
		return NULL;
	if (!does_fit(c, part)) {
		profile_destroy(part);
		return NULL;
	}
	for (size_t i = 0; i < part->note_count; i++)
		common_notes_add(&c->notes, part->notes[i].kind, part->notes[i].count,
			profile_string(part, part->notes[i].text));
	part->note_count = 0;
	c->sum.profiles[c->sum.count++] = part;
	return c->sum.count == MERGE_MAX ? sum_up(&c->sum, c->folder, NULL) : NULL;
}

static void begin_sum(struct fetch_context *c)
{
	sum_deinit(&c->sum);
	common_notes_deinit(&c->notes);
	common_notes_init(&c->notes);
}

/* Reads the recordings; again, if only a part of them can be added up. */
static struct error *fetch_parts(struct fetch_context *c)
{
	struct error *err = for_recordings(c->folder, c, add_file);

	if (err || !c->fit.is_mixed)
		return err;
	begin_sum(c);
	fit_choose(&c->fit);
	c->is_chosen = true;
	err = for_recordings(c->folder, c, add_file);
	fit_note(&c->fit, &c->notes);
	return err;
}

/* Why there is nothing. */
static struct error *nothing_found(struct fetch_context *c)
{
	struct error *err = c->damaged;

	c->damaged = NULL;
	return err ? err
		   : error_new(ERROR_INPUT,
			     "%s: no recording matches the service, host and time range; "
			     "`sonde fleet status` lists what is there",
			     c->folder);
}

struct error *folder_store_fetch(const char *folder, const struct store_query *query,
	const char *source, struct profile **profile)
{
	struct fetch_context c = {.query = query, .folder = folder};

	fit_init(&c.fit);
	common_notes_init(&c.notes);
	struct error *err = fetch_parts(&c);

	if (err == NULL && c.sum.count == 0)
		err = nothing_found(&c);
	if (err == NULL)
		err = sum_up(&c.sum, source, &c.notes);
	common_notes_deinit(&c.notes);
	fit_deinit(&c.fit);
	error_destroy(c.damaged);
	if (err) {
		sum_deinit(&c.sum);
		return err;
	}
	*profile = c.sum.profiles[0];
	return NULL;
}

/* ---- looking ---- */

static void add_host(struct store_glance *glance, struct str name, uint64_t last_s, uint64_t end_s)
{
	struct store_glance_host *host = NULL;

	for (size_t i = 0; i < glance->hosts.count && host == NULL; i++) {
		if (str_equal(str_from(glance->hosts.data[i].name), name))
			host = &glance->hosts.data[i];
	}
	if (host == NULL) {
		vec_push(&glance->hosts,
			(struct store_glance_host){xstrndup(name.data, name.size), last_s, end_s});
		return;
	}
	host->last_s = last_s > host->last_s ? last_s : host->last_s;
	host->end_s = end_s > host->end_s ? end_s : host->end_s;
}

/* Adds the hosts of a part of a recording. */
static void add_hosts(struct store_glance *glance, const struct profile *p)
{
	const struct samples *s = &p->samples;
	uint64_t last_s = p->start_unix_ns / SECOND_NS, end_s = last_s;
	struct strbuf scratch = {0};

	if (p->stats.duration_ns != UINT64_MAX)
		end_s += p->stats.duration_ns / SECOND_NS;
	for (size_t i = 0; i < (s->labels ? s->count : 1); i++) {
		label_set_id set = s->labels ? s->labels[i] : (label_set_id){0};
		struct str host;

		/* Most samples have the same labels as the one before. */
		if (i > 0 && set.i == s->labels[i - 1].i)
			continue;
		host = label_value(p, set, STR("host"), &scratch);
		add_host(glance, host.data ? host : profile_string(p, p->host), last_s, end_s);
		strbuf_clear(&scratch);
	}
	strbuf_deinit(&scratch);
}

struct glance_context {
	const struct store_query *query;
	struct store_glance *glance;
};

static struct error *mark_file(void *context, const char *file, const struct stat *info)
{
	struct glance_context *c = context;
	const uint64_t facts[] = {identity_bytes(str_from(file)), (uint64_t)info->st_size,
		(uint64_t)info->st_mtim.tv_sec, (uint64_t)info->st_mtim.tv_nsec};

	for (size_t i = 0; i < ARRAY_SIZE(facts) && is_recent(c->query, info); i++)
		c->glance->mark = identity_after(c->glance->mark, facts[i]);
	return NULL;
}

static struct error *read_hosts(void *context, const char *file, const struct stat *info)
{
	struct glance_context *c = context;
	struct profile *part;
	struct error *err = read_part(file, info, c->query, &part);

	/* store_fetch names those that cannot be read. */
	error_destroy(err);
	if (err || part == NULL)
		return NULL;
	add_hosts(c->glance, part);
	profile_destroy(part);
	return NULL;
}

struct error *folder_store_glance(const char *folder, const struct store_query *query,
	uint64_t known, struct store_glance *glance)
{
	struct glance_context c = {query, glance};
	struct error *err = for_recordings(folder, &c, mark_file);

	if (err == NULL && glance->mark != known)
		err = for_recordings(folder, &c, read_hosts);
	return err;
}

/* ---- keeping it ---- */

struct error *folder_store_init(const char *folder, struct store_made *made)
{
	*made = (struct store_made){.shards = mkdir(folder, 0700) == 0, .manual = 1};
	if (made->shards == 0 && errno != EEXIST)
		return error_system(errno, "%s", folder);
	return NULL;
}

/* The rows that a recording has changed. */
struct touched {
	VEC(size_t) rows;
};

/* Whether it is the first time that this recording changes the row. */
static bool touch(struct touched *touched, size_t row)
{
	for (size_t i = 0; i < touched->rows.count; i++)
		if (touched->rows.data[i] == row)
			return false;
	vec_push(&touched->rows, row);
	return true;
}

static void add_figure(uint64_t *sum, uint64_t value)
{
	if (value != UINT64_MAX)
		*sum = *sum == UINT64_MAX ? value : *sum + value;
}

/* Statistics of a recording of several services belong to none of them. */
static void add_figures(struct store_status_row *row, const struct profile *p, bool is_single)
{
	if (!is_single)
		return;
	add_figure(&row->lost, p->stats.lost);
	add_figure(&row->truncated, p->stats.critical);
	add_figure(&row->unresolved, p->stats.foreign);
}

/* What must be known of a row of losses while others may be added to it. */
struct loss_place {
	char *key;     /* of its texts; notes on symbols list load objects, and have one key */
	uint64_t rank; /* of its text */
};

struct status_context {
	const char *folder;
	const struct store_query *range;
	struct store_status *status;
	VEC(struct loss_place) places; /* as status->losses */
	uint64_t files, bytes;
};

/* The number of the row of such losses, which is added if it is the first. */
static size_t loss_row(struct status_context *c, struct str host, struct str service,
	enum note_kind note_kind, struct str text)
{
	const char *kind = note_kind_names[note_kind];
	struct store_status *status = c->status;
	struct strbuf key = {0};
	size_t row = 0;

	if (note_kind != NOTE_NO_SYMBOLS)
		note_key_put(text, &key);
	while (row < status->losses.count) {
		struct store_loss_row *r = &status->losses.data[row];

		if (strcmp(r->kind, kind) == 0 && str_equal(str_from(r->host), host) &&
			str_equal(str_from(r->service), service) &&
			str_equal(str_from(c->places.data[row].key), strbuf_str(&key)))
			break;
		row++;
	}
	if (row == status->losses.count) {
		vec_push(&status->losses, (struct store_loss_row){.shard = xstrdup(c->folder),
						  .host = xstrndup(host.data, host.size),
						  .service = xstrndup(service.data, service.size),
						  .kind = xstrdup(kind)});
		vec_push(&c->places,
			(struct loss_place){xstrndup(strbuf_str(&key).data, key.size), 0});
	}
	strbuf_deinit(&key);
	return row;
}

/* Adds what a recording lost.  service: empty if it has several. */
static void add_losses(struct status_context *c, const struct profile *p, struct str service)
{
	struct str host = profile_string(p, p->host);
	uint64_t time_s = p->start_unix_ns / SECOND_NS;
	struct touched touched = {0};

	for (size_t i = 0; i < p->note_count; i++) {
		const struct note *note = &p->notes[i];
		struct str text = profile_string(p, note->text);
		uint64_t rank = loss_text_rank(note->count, time_s);

		if (note->kind == NOTE_GUESSED || note->kind == NOTE_INFO)
			continue;
		size_t place = loss_row(c, host, service, note->kind, text);
		struct store_loss_row *row = &c->status->losses.data[place];

		if (row->text == NULL || rank >= c->places.data[place].rank) {
			free(row->text);
			row->text = xstrndup(text.data, text.size);
			c->places.data[place].rank = rank;
		}
		row->last_s = time_s > row->last_s ? time_s : row->last_s;
		row->count += note->count;
		row->recordings += touch(&touched, place);
	}
	vec_deinit(&touched.rows);
}

/* Adds what a recording has of each service and host.  is_single: it has one service. */
static void add_status(
	const char *folder, const struct profile *p, bool is_single, struct store_status *status)
{
	const struct samples *s = &p->samples;
	uint64_t *samples = xcalloc(p->label_set_count, sizeof(*samples));
	struct strbuf scratch[2] = {{0}};
	struct touched touched = {0};

	for (size_t i = 0; i < s->count; i++)
		samples[s->labels ? s->labels[i].i : 0]++;
	for (size_t i = 0; i < (s->count ? p->label_set_count : 1); i++) {
		label_set_id set = {(uint32_t)i};
		struct str service = label_value(p, set, STR("service"), &scratch[0]),
			   host = label_value(p, set, STR("host"), &scratch[1]);
		uint64_t start_s = p->start_unix_ns / SECOND_NS;
		struct store_status_row *row = NULL;

		if (s->count && samples[i] == 0)
			continue;
		service = service.data ? service : store_own_service(p);
		host = host.data ? host : profile_string(p, p->host);
		for (size_t k = 0; k < status->rows.count && row == NULL; k++) {
			struct store_status_row *r = &status->rows.data[k];

			if (str_equal(str_from(r->service), service) &&
				str_equal(str_from(r->host), host))
				row = r;
		}
		if (row == NULL) {
			vec_push(&status->rows,
				(struct store_status_row){.shard = xstrdup(folder),
					.service = xstrndup(service.data, service.size),
					.host = xstrndup(host.data, host.size),
					.first_s = start_s,
					.lost = UINT64_MAX,
					.truncated = UINT64_MAX,
					.unresolved = UINT64_MAX});
			row = &status->rows.data[status->rows.count - 1];
		}
		row->first_s = start_s < row->first_s ? start_s : row->first_s;
		row->last_s = start_s > row->last_s ? start_s : row->last_s;
		row->received_s = row->last_s;
		/* Several sets of labels may have the same service and host. */
		if (touch(&touched, (size_t)(row - status->rows.data))) {
			row->profiles++;
			add_figures(row, p, is_single);
		}
		row->pairs += s->count ? samples[i] : p->row_count - 1;
		strbuf_clear(&scratch[0]);
		strbuf_clear(&scratch[1]);
	}
	strbuf_deinit(&scratch[0]);
	strbuf_deinit(&scratch[1]);
	vec_deinit(&touched.rows);
	free(samples);
}

static struct error *read_status(void *context, const char *file, const struct stat *info)
{
	struct status_context *c = context;
	struct profile *profile;
	struct error *err = profile_read(file, NULL, &profile);

	if (is_gone(err)) {
		error_destroy(err);
		return NULL;
	}
	c->files++;
	c->bytes += (uint64_t)info->st_size;
	if (err) {
		vec_push(&c->status->errors, err);
		return NULL;
	}
	if (is_in_range(c->range, profile->start_unix_ns)) {
		struct strbuf scratch = {0};
		struct str service = single_service(profile, &scratch);

		add_status(c->folder, profile, service.data != NULL, c->status);
		add_losses(c, profile, service);
		strbuf_deinit(&scratch);
	}
	profile_destroy(profile);
	return NULL;
}

struct error *folder_store_status(
	const char *folder, const struct store_query *range, struct store_status *status)
{
	struct status_context c = {.folder = folder, .range = range, .status = status};
	struct error *err = for_recordings(folder, &c, read_status);

	for (size_t i = 0; i < c.places.count; i++)
		free(c.places.data[i].key);
	vec_deinit(&c.places);
	vec_push(&status->tables,
		(struct store_table_row){xstrdup(folder), xstrdup("recordings"), c.files, c.bytes});
	return err;
}

struct retain_context {
	uint64_t before_s;
	size_t dropped;
};

static struct error *drop_old(void *context, const char *file, const struct stat *info)
{
	struct retain_context *c = context;

	if ((uint64_t)info->st_mtim.tv_sec >= c->before_s)
		return NULL;
	if (unlink(file) != 0 && errno != ENOENT)
		return error_system(errno, "%s", file);
	c->dropped++;
	return NULL;
}

struct error *folder_store_retain(const char *folder, const struct store_retention *retention,
	uint64_t now_s, size_t *dropped)
{
	uint64_t age_s = (uint64_t)retention->profile_days * DAY_S;
	struct retain_context c = {age_s && age_s < now_s ? now_s - age_s : 0, 0};
	struct error *err = for_recordings(folder, &c, drop_old);

	*dropped = c.dropped;
	return err;
}
