/*
 * The samples of a pprof profile.  See reader.h.
 *
 * A sample's locations are listed from the leaf, but the stack tree is built from the root, so the
 * list is read backwards.  That works on the encoded bytes: the last byte of each number is the one
 * without the high bit.  Neighbouring samples share most of their callers, and so the ends of their
 * lists: bytes that are equal there are a known stack.
 */
#include "formats/pprof/reader.h"

/*
 * A location of the last sample's stack, with the position of its bytes, from the end of the list.
 */
struct step {
	uint32_t end;
	uint32_t frames; /* index after its frames in the current run */
	stack_id stack;
	bool has_kept; /* it or a caller belongs to a function that is not dropped */
};

struct sample {
	struct str locations; /* packed */
	size_t value_count;
	int64_t values[PPROF_METRICS_MAX];
	uint64_t offset;
	bool is_bad;
};

struct samples_reader {
	struct pprof *p;
	struct pprof_labels *labels; /* NULL: no sample has labels */
	VEC(struct step) steps;	     /* of the current stack */
	VEC(frame_id) frames;	     /* of a run of locations, outermost first */
	VEC(stack_id) stacks;	     /* of these frames */
	uint64_t dropped;	     /* samples with dropped callees */
	struct str last;	     /* the locations of the previous sample */
	/* For lists that are not packed as one field; the previous sample's stays valid. */
	struct strbuf lists[2];
	size_t list;
};

/* ---- decoding a sample ---- */

static void add_values(struct pprof *p, struct sample *s, struct proto_numbers numbers)
{
	uint64_t value;

	while (proto_number(&numbers, &value)) {
		if (s->value_count < p->metric_count)
			s->values[s->value_count] = (int64_t)value;
		s->value_count++;
	}
	s->is_bad |= !cursor_ok(&numbers.packed);
}

/* Whether packed numbers end with the bytes; earlier ones need no check. */
static bool ends_whole(struct str packed)
{
	return packed.size == 0 || (packed.data[packed.size - 1] & 0x80) == 0;
}

static void add_locations(struct samples_reader *r, struct sample *s, const struct proto_field *f)
{
	struct strbuf *list = &r->lists[r->list];

	if (f->type == PROTO_BYTES && s->locations.size == 0) {
		s->locations = f->bytes;
		s->is_bad |= !ends_whole(f->bytes);
		return;
	}
	if (s->locations.data != list->data) {
		strbuf_clear(list);
		strbuf_add(list, s->locations);
	}
	if (f->type == PROTO_BYTES) {
		strbuf_add(list, f->bytes);
		s->is_bad |= !ends_whole(f->bytes);
	} else {
		proto_put_packed(list, f->value);
	}
	s->locations = strbuf_str(list);
}

static void read_sample(struct samples_reader *r, struct cursor message, struct sample *s)
{
	struct pprof *p = r->p;
	struct proto_field field;

	s->locations = STR("");
	s->value_count = 0;
	s->is_bad = false;
	s->offset = cursor_offset(&message);
	while (proto_next(&message, &field)) {
		if (field.number == SAMPLE_LOCATION)
			add_locations(r, s, &field);
		else if (field.number == SAMPLE_VALUE)
			add_values(p, s, proto_numbers(&message, &field, PROTO_VARINT));
	}
	s->is_bad |= !cursor_ok(&message) || s->value_count != p->metric_count;
}

/* ---- its stack ---- */

static size_t common_end(struct str a, struct str b)
{
	size_t most = a.size < b.size ? a.size : b.size, i = 0;
	uint64_t x, y;

	for (; most - i >= 8; i += 8) {
		memcpy(&x, a.data + a.size - i - 8, 8);
		memcpy(&y, b.data + b.size - i - 8, 8);
		if (x != y)
			return i + (size_t)__builtin_clzll(x ^ y) / 8;
	}
	while (i < most && a.data[a.size - 1 - i] == b.data[b.size - 1 - i])
		i++;
	return i;
}

/* Whether a number begins this many bytes before the end. */
static bool begins_at(struct str list, size_t end)
{
	return end == list.size || (list.data[list.size - 1 - end] & 0x80) == 0;
}

/* Drops the steps of the last stack that are not a common suffix with the list. */
static void keep_common_steps(struct samples_reader *r, struct str list)
{
	size_t common = common_end(r->last, list);

	while (r->steps.count) {
		size_t end = r->steps.data[r->steps.count - 1].end;

		if (end <= common && begins_at(list, end))
			break;
		r->steps.count--;
	}
}

/* The number whose last byte is this many bytes before the end; *end moves to its first byte. */
static uint64_t number_before(struct str list, size_t *end)
{
	const uint8_t *bytes = (const uint8_t *)list.data;
	size_t last = list.size - 1 - *end, first = last;
	uint64_t value = bytes[last] & 0x7f;

	while (first > 0 && (bytes[first - 1] & 0x80))
		value = value << 7 | (bytes[--first] & 0x7f);
	*end = list.size - first;
	/* A longer one has more than 64 bits: no location has that id. */
	return last - first < 10 ? value : 0;
}

/* Stacks are made in runs of this many frames, or of one location. */
#define RUN_FRAMES 1024

enum gathered { GATHERED_RUN, GATHERED_CUT, GATHERED_DROPPED };

/*
 * Decodes locations into frames and one step each, from at->end on, until the run is long enough or
 * the walk limit is reached.  As in pprof, callees are dropped (drop.c) only below a function that
 * is kept.
 */
static enum gathered gather_run(struct samples_reader *r, const struct sample *s, struct step *at)
{
	r->frames.count = 0;
	for (size_t end = at->end; end < s->locations.size && r->frames.count < RUN_FRAMES;) {
		uint64_t id = number_before(s->locations, &end);
		struct mapped_frames found = pprof_location(r->p, id, s->offset);

		if (found.count == 0 || found.count > r->p->walk)
			return GATHERED_CUT;
		enum pprof_end dropped = r->p->drop ? pprof_drop_end(r->p, id) : END_NONE;
		if (dropped == END_ABOVE && at->has_kept)
			return GATHERED_DROPPED;
		r->p->walk -= found.count;
		for (uint32_t i = found.count; i-- > 0;)
			vec_push(&r->frames, found.frames[i]);
		if (dropped == END_HERE && at->has_kept)
			return GATHERED_DROPPED;
		at->end = (uint32_t)end;
		at->frames = (uint32_t)r->frames.count;
		at->has_kept |= dropped == END_NONE;
		vec_push(&r->steps, *at);
	}
	return GATHERED_RUN;
}

/* Makes the run's stacks; returns how many, as there may not be room for all. */
static size_t run_stacks(struct samples_reader *r, stack_id parent)
{
	vec_reserve(&r->stacks, r->frames.count);
	return builder_stack_path(
		r->p->builder, parent, r->frames.data, r->frames.count, SIZE_MAX, r->stacks.data);
}

/* Sets the stacks of the steps from `first` on, and drops steps without one. */
static void finish_steps(struct samples_reader *r, size_t first, size_t stack_count)
{
	for (size_t i = first; i < r->steps.count; i++) {
		struct step *step = &r->steps.data[i];

		if (step->frames > stack_count) {
			r->steps.count = i;
			return;
		}
		step->stack = r->stacks.data[step->frames - 1];
	}
}

static stack_id stack_of(struct samples_reader *r, const struct sample *s)
{
	enum gathered gathered = GATHERED_RUN;
	struct step at = {0};

	keep_common_steps(r, s->locations);
	if (r->steps.count)
		at = r->steps.data[r->steps.count - 1];
	while (at.end < s->locations.size && gathered == GATHERED_RUN) {
		size_t first = r->steps.count;

		gathered = gather_run(r, s, &at);
		size_t count = run_stacks(r, at.stack);
		if (count < r->frames.count)
			gathered = GATHERED_CUT;
		finish_steps(r, first, count);
		if (count)
			at.stack = r->stacks.data[count - 1];
	}
	r->p->cut += gathered == GATHERED_CUT;
	r->dropped += gathered == GATHERED_DROPPED;
	r->last = s->locations;
	if (s->locations.data == r->lists[r->list].data)
		r->list = !r->list;
	return at.stack;
}

/* ---- all samples ---- */

static int64_t scaled(int64_t value, int64_t scale)
{
	int64_t result;

	/* The builder rejects a profile with such a weight. */
	if (__builtin_mul_overflow(value, scale, &result))
		return INT64_MIN;
	return result;
}

static void add_sample(struct samples_reader *r, struct sample *s, struct cursor message)
{
	struct pprof *p = r->p;
	stack_id stack = stack_of(r, s);
	uint64_t samples = UINT64_MAX;

	for (size_t i = 0; i < p->metric_count; i++)
		s->values[i] = scaled(s->values[i], p->scale[i]);
	if (r->labels) {
		struct pprof_sample_labels labels = pprof_labels_of(r->labels, message);

		builder_sample(p->builder, stack, labels.thread, labels.time_ns, s->values);
		builder_sample_labels(p->builder, labels.set);
		return;
	}
	/* A negative weight is a difference, and does not show how many samples there were. */
	if (p->samples_metric < p->metric_count && s->values[p->samples_metric] >= 0)
		samples = (uint64_t)s->values[p->samples_metric];
	builder_weight(p->builder, stack, s->values, samples);
}

void pprof_samples_read(struct pprof *p)
{
	struct samples_reader r = {.p = p, .labels = pprof_labels_create(p), .last = STR("")};
	struct proto_field field;
	struct sample s;
	struct cursor c;

	cursor_init(&c, p->input->data, p->input->size, p->input->name, 0);
	while (proto_next(&c, &field)) {
		if (field.number != PROFILE_SAMPLE)
			continue;
		struct cursor message = proto_message(&c, &field);
		read_sample(&r, message, &s);
		if (s.is_bad)
			fault_add(&p->faults[FAULT_SAMPLE], field.offset);
		else
			add_sample(&r, &s, message);
	}
	pprof_drop_notes(p, r.dropped);
	pprof_labels_destroy(r.labels);
	vec_deinit(&r.steps);
	vec_deinit(&r.frames);
	vec_deinit(&r.stacks);
	strbuf_deinit(&r.lists[0]);
	strbuf_deinit(&r.lists[1]);
}
