/*
 * SAMPLES chunks.  A sample's fields go into columns of their own:
 *
 * times	difference to the sample before, less the chunk's usual difference
 * nodes	a sample at a stack never seen before ends at the newest node there is: how many
 * 		nodes were added; 0: an older node, whose id is in the next column
 * threads	runs
 * weights	runs, a column for each metric
 *
 * So a program with one thread and a fixed interval costs one or two bytes per sample, and zstd
 * reduces these to the noise of the clock.
 */
#include "formats/sonde/layout/capture_samples.h"

#include <assert.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "base/wire.h"

enum { TIME_UNIT_NS = 1000 };

struct runs_encoder {
	struct strbuf bytes;
	int64_t value, before; /* of the open run and of the one before it */
	uint64_t length;
};

struct capture_samples_encoder {
	VEC(uint64_t) times; /* in units; encoded at the end, when the usual distance is known */
	uint64_t unit_ns;
	size_t count;
	uint32_t metric_count;
	uint32_t first_high, high;
	struct strbuf nodes, old_nodes, time_bytes;
	struct runs_encoder threads, weights[CAPTURE_METRIC_MAX];
	bool has_zones;
	struct capture_zones zones;
	struct strbuf zone_places, zone_nodes;
	bool has_labels;
	struct runs_encoder labels;
};

/*
 * The zone's index among the latest ones, before it moves to the front; CAPTURE_ZONES_RECENT: none.
 */
static uint32_t zones_find(struct capture_zones *z, uint32_t zone)
{
	uint32_t place = 0;

	while (place < z->count && z->recent[place] != zone)
		place++;
	uint32_t moved = place;

	if (place == z->count) {
		place = CAPTURE_ZONES_RECENT;
		if (z->count < CAPTURE_ZONES_RECENT)
			z->count++;
		else
			moved--;
	}
	memmove(z->recent + 1, z->recent, moved * sizeof(z->recent[0]));
	z->recent[0] = zone;
	return place;
}

static void runs_close(struct runs_encoder *r)
{
	if (r->length == 0)
		return;
	wire_put_sleb(&r->bytes, (int64_t)((uint64_t)r->value - (uint64_t)r->before));
	wire_put_uleb(&r->bytes, r->length);
	r->before = r->value;
	r->length = 0;
}

static void runs_add(struct runs_encoder *r, int64_t value)
{
	if (r->length && r->value != value)
		runs_close(r);
	r->value = value;
	r->length++;
}

static void runs_encode(struct runs_encoder *r, struct strbuf *out)
{
	runs_close(r);
	wire_put_str(out, strbuf_str(&r->bytes));
	strbuf_clear(&r->bytes);
	r->before = 0;
}

struct capture_samples_encoder *capture_samples_encoder_create(void)
{
	struct capture_samples_encoder *e = xalloc(sizeof(*e));

	e->unit_ns = TIME_UNIT_NS;
	return e;
}

void capture_samples_encoder_destroy(struct capture_samples_encoder *e)
{
	if (e == NULL)
		return;
	vec_deinit(&e->times);
	strbuf_deinit(&e->nodes);
	strbuf_deinit(&e->old_nodes);
	strbuf_deinit(&e->time_bytes);
	strbuf_deinit(&e->threads.bytes);
	for (int i = 0; i < CAPTURE_METRIC_MAX; i++)
		strbuf_deinit(&e->weights[i].bytes);
	strbuf_deinit(&e->zone_places);
	strbuf_deinit(&e->zone_nodes);
	strbuf_deinit(&e->labels.bytes);
	free(e);
}

void capture_samples_set_unit(struct capture_samples_encoder *e, uint64_t unit_ns)
{
	e->unit_ns = unit_ns;
}

static void zone_add(struct capture_samples_encoder *e, uint32_t zone)
{
	uint32_t place = zones_find(&e->zones, zone);

	e->has_zones |= zone != 0;
	strbuf_add_char(&e->zone_places, (char)place);
	if (place < CAPTURE_ZONES_RECENT)
		return;
	wire_put_sleb(&e->zone_nodes, (int64_t)zone - (int64_t)e->zones.before);
	e->zones.before = zone;
}

/* Columns are identified by position: labels follow zones. */
static void zones_encode(struct capture_samples_encoder *e, struct strbuf *out)
{
	if (e->has_zones || e->has_labels) {
		wire_put_str(out, strbuf_str(&e->zone_places));
		wire_put_str(out, strbuf_str(&e->zone_nodes));
	}
	strbuf_clear(&e->zone_places);
	strbuf_clear(&e->zone_nodes);
	e->zones = (struct capture_zones){0};
	e->has_zones = false;
}

void capture_samples_add(struct capture_samples_encoder *e, const struct capture_sample *sample,
	uint32_t metric_count)
{
	assert(metric_count <= CAPTURE_METRIC_MAX);
	e->metric_count = metric_count;
	e->count++;
	vec_push(&e->times, sample->time_ns / e->unit_ns);
	if (sample->node > e->high) {
		wire_put_uleb(&e->nodes, sample->node - e->high);
		e->high = sample->node;
	} else {
		wire_put_uleb(&e->nodes, 0);
		wire_put_uleb(&e->old_nodes, sample->node);
	}
	runs_add(&e->threads, sample->thread);
	zone_add(e, sample->zone);
	runs_add(&e->labels, sample->labels);
	e->has_labels |= sample->labels != 0;
	for (uint32_t i = 0; i < metric_count; i++)
		runs_add(&e->weights[i], sample->weight[i]);
}

size_t capture_samples_waiting(const struct capture_samples_encoder *e)
{
	return e->count;
}

static int distance_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return COMPARE(x, y);
}

/* The median time between the first samples. */
static uint64_t usual_distance(const struct capture_samples_encoder *e)
{
	int64_t distances[255];
	size_t count = 0;

	for (; count < ARRAY_SIZE(distances) && count + 1 < e->count; count++)
		distances[count] = (int64_t)(e->times.data[count + 1] - e->times.data[count]);
	if (count == 0)
		return 0;
	qsort(distances, count, sizeof(distances[0]), distance_compare);
	int64_t median = distances[count / 2];
	return median > 0 ? (uint64_t)median : 0;
}

static void times_encode(struct capture_samples_encoder *e, uint64_t usual)
{
	uint64_t before = e->times.data[0] - usual;

	strbuf_clear(&e->time_bytes);
	for (size_t i = 0; i < e->count; i++) {
		uint64_t time = e->times.data[i];
		wire_put_sleb(&e->time_bytes, (int64_t)(time - before - usual));
		before = time;
	}
}

static void labels_encode(struct capture_samples_encoder *e, struct strbuf *out)
{
	struct strbuf none = {0};

	runs_encode(&e->labels, e->has_labels ? out : &none);
	strbuf_deinit(&none);
	e->has_labels = false;
}

void capture_samples_encode(struct capture_samples_encoder *e, struct strbuf *out)
{
	uint64_t usual = usual_distance(e);

	assert(e->count);
	times_encode(e, usual);
	wire_put_uleb(out, e->count);
	wire_put_uleb(out, e->unit_ns);
	wire_put_uleb(out, e->times.data[0]);
	wire_put_uleb(out, usual);
	wire_put_uleb(out, e->first_high);
	wire_put_uleb(out, e->metric_count);
	wire_put_str(out, strbuf_str(&e->time_bytes));
	wire_put_str(out, strbuf_str(&e->nodes));
	wire_put_str(out, strbuf_str(&e->old_nodes));
	runs_encode(&e->threads, out);
	for (uint32_t i = 0; i < e->metric_count; i++)
		runs_encode(&e->weights[i], out);
	zones_encode(e, out);
	labels_encode(e, out);
	strbuf_clear(&e->nodes);
	strbuf_clear(&e->old_nodes);
	e->times.count = e->count = 0;
	e->first_high = e->high;
}

struct error *capture_samples_begin(struct capture_samples_decoder *d, struct cursor *payload)
{
	*d = (struct capture_samples_decoder){0};
	d->left = wire_uleb(payload);
	d->unit_ns = cursor_uleb_to(payload, 1000000000);
	d->time = wire_uleb(payload);
	d->usual = wire_uleb(payload);
	d->time -= d->usual;
	d->high = (uint32_t)cursor_uleb_to(payload, UINT32_MAX);
	d->metric_count = (uint32_t)cursor_uleb_to(payload, CAPTURE_METRIC_MAX);
	d->times = wire_column(payload);
	d->nodes = wire_column(payload);
	d->old_nodes = wire_column(payload);
	d->threads.bytes = wire_column(payload);
	for (uint32_t i = 0; i < d->metric_count; i++)
		d->weights[i].bytes = wire_column(payload);
	d->has_zones = cursor_ok(payload) && !cursor_at_end(payload);
	if (d->has_zones) {
		d->zone_places = wire_column(payload);
		d->zone_nodes = wire_column(payload);
	}
	d->has_labels = cursor_ok(payload) && !cursor_at_end(payload);
	if (d->has_labels)
		d->labels.bytes = wire_column(payload);
	if (d->left > cursor_left(&d->times) || d->left > cursor_left(&d->nodes))
		cursor_fail(payload, "more samples than there are bytes for");
	return cursor_error(payload);
}

static void runs_open(struct capture_runs *r)
{
	r->value = (int64_t)((uint64_t)r->value + (uint64_t)wire_sleb(&r->bytes));
	r->left = wire_uleb(&r->bytes);
	if (r->left == 0)
		cursor_fail(&r->bytes, "a run of samples without a sample");
}

static inline int64_t runs_next(struct capture_runs *r)
{
	if (r->left == 0)
		runs_open(r);
	r->left--;
	return r->value;
}

static uint32_t node_next(struct capture_samples_decoder *d)
{
	uint64_t more = wire_uleb(&d->nodes);

	if (more == 0)
		return (uint32_t)cursor_uleb_to(&d->old_nodes, UINT32_MAX);
	if (more > UINT32_MAX - d->high)
		cursor_fail(&d->nodes, "a stack's number is out of range");
	else
		d->high += (uint32_t)more;
	return d->high;
}

static uint32_t zone_next(struct capture_samples_decoder *d)
{
	uint32_t place = cursor_u8(&d->zone_places);
	uint32_t zone;

	if (place == 0 && d->zones.count)
		return d->zones.recent[0];
	if (place < d->zones.count) {
		zone = d->zones.recent[place];
	} else {
		int64_t node = (int64_t)d->zones.before;

		if (place != CAPTURE_ZONES_RECENT ||
			__builtin_add_overflow(node, wire_sleb(&d->zone_nodes), &node) ||
			node < 0 || node > UINT32_MAX) {
			d->problem = "a sample's zone is out of range";
			return 0;
		}
		d->zones.before = zone = (uint32_t)node;
	}
	(void)zones_find(&d->zones, zone);
	return zone;
}

static uint32_t labels_next(struct capture_samples_decoder *d)
{
	int64_t labels = runs_next(&d->labels);

	if (labels < 0 || labels > UINT32_MAX) {
		d->problem = "a sample's labels are out of range";
		return 0;
	}
	return (uint32_t)labels;
}

static bool samples_ok(const struct capture_samples_decoder *d)
{
	bool ok = cursor_ok(&d->times) && cursor_ok(&d->nodes) && cursor_ok(&d->old_nodes) &&
		  cursor_ok(&d->threads.bytes) && d->problem == NULL;

	for (uint32_t i = 0; i < d->metric_count; i++)
		ok &= cursor_ok(&d->weights[i].bytes);
	if (d->has_zones)
		ok &= cursor_ok(&d->zone_places) && cursor_ok(&d->zone_nodes);
	if (d->has_labels)
		ok &= cursor_ok(&d->labels.bytes);
	return ok;
}

bool capture_samples_next(struct capture_samples_decoder *d, struct capture_sample *sample)
{
	if (d->left == 0)
		return false;
	d->left--;
	d->time += d->usual + (uint64_t)wire_sleb(&d->times);
	if (__builtin_mul_overflow(d->time, d->unit_ns, &sample->time_ns) ||
		sample->time_ns == UINT64_MAX)
		d->problem = "a sample's time is out of range";
	sample->node = node_next(d);
	int64_t thread = runs_next(&d->threads);
	if (thread < 0 || thread > UINT32_MAX)
		d->problem = "a sample's thread is out of range";
	sample->thread = (uint32_t)thread;
	for (uint32_t i = 0; i < d->metric_count; i++)
		sample->weight[i] = runs_next(&d->weights[i]);
	sample->zone = d->has_zones ? zone_next(d) : 0;
	sample->labels = d->has_labels ? labels_next(d) : 0;
	return samples_ok(d);
}

/* ---- in blocks ---- */

/* Reads each column on its own; errors are reported at the end. */

static void runs_take(struct capture_runs *r, int64_t *to, size_t count)
{
	for (size_t i = 0; i < count;) {
		if (r->left == 0)
			runs_open(r);
		if (r->left == 0)
			return;
		size_t end = r->left < count - i ? i + (size_t)r->left : count;
		r->left -= end - i;
		for (int64_t value = r->value; i < end; i++)
			to[i] = value;
	}
}

/* The same for values of 32 bits; false: a larger one. */
static bool runs_take_u32(struct capture_runs *r, uint32_t *to, size_t count)
{
	for (size_t i = 0; i < count;) {
		if (r->left == 0)
			runs_open(r);
		if (r->left == 0 || r->value < 0 || r->value > UINT32_MAX)
			return false;
		size_t end = r->left < count - i ? i + (size_t)r->left : count;
		r->left -= end - i;
		for (uint32_t value = (uint32_t)r->value; i < end; i++)
			to[i] = value;
	}
	return true;
}

static bool times_take(struct capture_samples_decoder *d, uint64_t *to, size_t count)
{
	struct cursor c = d->times;
	uint64_t time = d->time;
	bool is_good = true;

	for (size_t i = 0; i < count; i++) {
		time += d->usual + (uint64_t)wire_sleb(&c);
		is_good &= !__builtin_mul_overflow(time, d->unit_ns, &to[i]) && to[i] != UINT64_MAX;
	}
	d->time = time;
	d->times = c;
	return is_good;
}

static void nodes_take(struct capture_samples_decoder *d, uint32_t *to, size_t count)
{
	struct cursor nodes = d->nodes, old = d->old_nodes;
	uint32_t high = d->high;

	for (size_t i = 0; i < count; i++) {
		uint64_t more = wire_uleb(&nodes);
		uint64_t node = more ? high + more : wire_uleb(&old);

		if (node > UINT32_MAX || node < more)
			cursor_fail(&nodes, "a stack's number is out of range");
		to[i] = (uint32_t)node;
		high = more ? (uint32_t)node : high;
	}
	d->high = high;
	d->nodes = nodes;
	d->old_nodes = old;
}

static bool zones_take(struct capture_samples_decoder *d, uint32_t *to, size_t count)
{
	uint32_t any = 0;

	for (size_t i = 0; i < count; i++)
		any |= to[i] = zone_next(d);
	return any != 0;
}

static bool columns_take(
	struct capture_samples_decoder *d, struct capture_samples_block *block, size_t count)
{
	if (!times_take(d, block->time_ns, count))
		return false;
	nodes_take(d, block->node, count);
	if (!runs_take_u32(&d->threads, block->thread, count))
		return false;
	for (uint32_t i = 0; i < d->metric_count; i++)
		runs_take(&d->weights[i], block->weight[i], count);
	block->has_zones = d->has_zones && zones_take(d, block->zone, count);
	block->has_labels = d->has_labels;
	if (d->has_labels && !runs_take_u32(&d->labels, block->labels, count))
		return false;
	d->left -= count;
	block->count = count;
	return samples_ok(d);
}

static void block_push(struct capture_samples_block *block, const struct capture_sample *sample,
	uint32_t metric_count)
{
	size_t i = block->count++;

	block->time_ns[i] = sample->time_ns;
	block->thread[i] = sample->thread;
	block->node[i] = sample->node;
	block->zone[i] = sample->zone;
	block->labels[i] = sample->labels;
	for (uint32_t m = 0; m < metric_count; m++)
		block->weight[m][i] = sample->weight[m];
}

bool capture_samples_take(struct capture_samples_decoder *d, struct capture_samples_block *block)
{
	struct capture_samples_decoder before = *d;
	struct capture_sample sample;

	if (d->left == 0 || !samples_ok(d))
		return false;
	if (columns_take(d, block,
		    d->left < CAPTURE_SAMPLES_BLOCK ? (size_t)d->left : CAPTURE_SAMPLES_BLOCK))
		return true;
	/* One of them is bad: return those before it. */
	*d = before;
	block->count = 0;
	block->has_zones = block->has_labels = true;
	while (block->count < CAPTURE_SAMPLES_BLOCK && capture_samples_next(d, &sample))
		block_push(block, &sample, d->metric_count);
	return block->count > 0;
}

void capture_samples_of_block(const struct capture_samples_block *block, size_t i,
	uint32_t metric_count, struct capture_sample *sample)
{
	sample->time_ns = block->time_ns[i];
	sample->thread = block->thread[i];
	sample->node = block->node[i];
	sample->zone = block->has_zones ? block->zone[i] : 0;
	sample->labels = block->has_labels ? block->labels[i] : 0;
	for (uint32_t m = 0; m < metric_count; m++)
		sample->weight[m] = block->weight[m][i];
}

struct error *capture_samples_error(const struct capture_samples_decoder *d)
{
	const struct cursor *columns[] = {&d->times, &d->nodes, &d->old_nodes, &d->threads.bytes,
		&d->zone_places, &d->zone_nodes};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if ((i < 4 || d->has_zones) && !cursor_ok(columns[i]))
			return cursor_error(columns[i]);
	for (uint32_t i = 0; i < d->metric_count; i++)
		if (!cursor_ok(&d->weights[i].bytes))
			return cursor_error(&d->weights[i].bytes);
	if (d->has_labels && !cursor_ok(&d->labels.bytes))
		return cursor_error(&d->labels.bytes);
	if (d->problem)
		return error_input(d->times.name, cursor_offset(&d->times), "%s", d->problem);
	return NULL;
}
