/*
 * The samples of a thread of a Firefox profile.
 *
 * Columns are read side by side, each by a reader of its own, so nothing of them is kept; rows are
 * read one after the other.
 */
#include "formats/firefox/reader.h"

enum { STACK, TIME, TIME_DELTA, WEIGHT, CPU, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = {
	"stack", "time", "timeDeltas", "weight", "threadCPUDelta"};

/* One sample as it stands there. */
struct row {
	bool has[FIELD_COUNT];
	int64_t value[FIELD_COUNT];
};

struct sample_reader {
	struct firefox *f;
	thread_id thread;
	int64_t delta_ns; /* from the whole's times to this process's */
	uint32_t metric;  /* of the weights; NO_ID: they count samples */
	unsigned int digits[FIELD_COUNT];
	uint64_t time_ns; /* of the last sample */
	bool has_before;  /* a sample was before, from which CPU time is counted */
};

static int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

/* Since the profile's start; what was before is at it. */
static uint64_t row_time(struct sample_reader *s, const struct row *row)
{
	int64_t time_ns = (int64_t)s->time_ns;

	if (row->has[TIME])
		time_ns = add_saturated(row->value[TIME], s->delta_ns);
	else if (row->has[TIME_DELTA])
		time_ns = add_saturated(time_ns,
			s->has_before ? row->value[TIME_DELTA]
				      : add_saturated(row->value[TIME_DELTA], s->delta_ns));
	if (time_ns < 0) {
		s->f->early++;
		time_ns = 0;
	}
	return (uint64_t)time_ns;
}

static void add_row(struct sample_reader *s, const struct row *row)
{
	struct firefox *f = s->f;
	int64_t weight[4] = {0};
	int64_t given = row->has[WEIGHT] ? row->value[WEIGHT] : 1;
	bool has_stack = row->has[STACK] && row->value[STACK] >= 0;

	s->time_ns = row_time(s, row);
	weight[f->samples] = s->metric == NO_ID ? given : f->own == NO_ID || given != 0;
	if (s->metric != NO_ID)
		weight[s->metric] = row->has[WEIGHT] ? given : 0;
	if (f->cpu != NO_ID && s->has_before && row->has[CPU] && row->value[CPU] > 0)
		weight[f->cpu] = row->value[CPU];
	s->has_before = true;
	if (!has_stack && row->has[WEIGHT] && given == 0)
		return;
	uint32_t number = !has_stack		      ? NO_ID
			  : row->value[STACK] < NO_ID ? (uint32_t)row->value[STACK]
						      : NO_ID - 1;
	stack_id stack = firefox_stack(f, number, true);
	if (!f->is_totals)
		builder_sample(f->builder, stack, s->thread, s->time_ns, weight);
	else
		builder_weight(f->builder, stack, weight,
			weight[f->samples] < 0 ? UINT64_MAX : (uint64_t)weight[f->samples]);
}

static void read_value(
	struct sample_reader *s, struct json_reader *r, size_t field, struct row *row)
{
	row->has[field] = json_peek(r) == JSON_NUMBER &&
			  json_decimal(r, s->digits[field], &row->value[field]);
}

static void read_rows(struct sample_reader *s, size_t place, const uint8_t *position)
{
	struct json_reader *r = &s->f->json;

	json_seek(r, place);
	if (!json_array(r))
		return;
	while (json_element(r)) {
		struct row row = {0};
		unsigned int at = 0;
		if (!json_array(r))
			continue;
		for (; json_element(r); at++)
			for (size_t field = 0; field < FIELD_COUNT; field++)
				if (position[field] == at && at < FIREFOX_SCHEMA_MAX)
					read_value(s, r, field, &row);
		if (json_ok(r))
			add_row(s, &row);
	}
}

/* So many rows are read at once of each column. */
#define BLOCK 256

/* A reader for each of the columns, all to be gone through side by side. */
struct columns {
	struct json_reader reader[FIELD_COUNT];
	bool has[FIELD_COUNT];
	int64_t value[FIELD_COUNT][BLOCK];
};

static void columns_init(struct columns *c, const struct reader_input *input, const size_t *places)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		struct json_reader *r = &c->reader[i];
		json_reader_init(r, input->data, input->size, input->name);
		json_seek(r, places[i]);
		c->has[i] = places[i] && json_peek(r) == JSON_ARRAY && json_array(r);
	}
}

/* A column that ends before the others has no values there. */
static size_t columns_next(struct columns *c, const unsigned int *digits)
{
	size_t rows = 0;

	if (c->has[STACK])
		rows = json_numbers(&c->reader[STACK], digits[STACK], c->value[STACK], BLOCK);
	for (size_t i = STACK + 1; i < FIELD_COUNT; i++) {
		size_t count = 0;
		if (c->has[i])
			count = json_numbers(&c->reader[i], digits[i], c->value[i], rows);
		c->has[i] = count == rows;
		while (count < rows)
			c->value[i][count++] = JSON_NO_NUMBER;
	}
	return rows;
}

/* The first fault of any is that of the whole. */
static void columns_deinit(struct columns *c, struct json_reader *whole)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (json_ok(whole) && !json_ok(&c->reader[i])) {
			whole->bad = c->reader[i].bad;
			whole->problem = c->reader[i].problem;
		}
		json_reader_deinit(&c->reader[i]);
	}
}

static void read_columns(struct sample_reader *s, const size_t *places)
{
	struct columns c;
	size_t rows;

	columns_init(&c, s->f->input, places);
	do {
		rows = columns_next(&c, s->digits);
		firefox_stacks_expect(s->f, c.value[STACK], rows);
		for (size_t i = 0; i < rows; i++) {
			struct row row;
			for (size_t k = 0; k < FIELD_COUNT; k++) {
				row.value[k] = c.value[k][i];
				row.has[k] = row.value[k] != JSON_NO_NUMBER;
			}
			add_row(s, &row);
		}
	} while (rows == BLOCK);
	columns_deinit(&c, &s->f->json);
}

static void read_weight_type(struct sample_reader *s)
{
	struct firefox *f = s->f;
	struct str type;

	if (!json_string(&f->json, &type))
		return;
	if (str_equal(type, STR("tracing-ms"))) {
		s->metric = f->own == NO_ID ? f->tracing : f->own;
		s->digits[WEIGHT] = 6;
	} else if (str_equal(type, STR("bytes"))) {
		s->metric = f->own == NO_ID ? f->bytes : f->own;
	}
}

void firefox_samples(struct firefox *f, size_t place, thread_id thread, int64_t delta_ns)
{
	struct sample_reader s = {.f = f,
		.thread = thread,
		.delta_ns = delta_ns,
		.metric = f->own,
		.digits = {[TIME] = 6, [TIME_DELTA] = 6, [CPU] = f->cpu_digits}};
	uint8_t position[FIELD_COUNT];
	size_t places[FIELD_COUNT] = {0}, data = 0;
	bool has_schema = false;
	struct str key;

	json_seek(&f->json, place);
	if (!json_object(&f->json))
		return;
	while (json_key(&f->json, &key)) {
		if (str_equal(key, STR("schema"))) {
			firefox_schema_read(&f->json, field_names, FIELD_COUNT, position);
			has_schema = true;
		} else if (str_equal(key, STR("data"))) {
			data = json_offset(&f->json);
		} else if (str_equal(key, STR("weightType"))) {
			read_weight_type(&s);
		}
		for (size_t i = 0; i < FIELD_COUNT; i++)
			if (str_equal(key, str_from(field_names[i])))
				places[i] = json_offset(&f->json);
	}
	(void)firefox_is_whole(f);
	if (has_schema && data)
		read_rows(&s, data, position);
	else
		read_columns(&s, places);
	(void)firefox_is_whole(f);
}
