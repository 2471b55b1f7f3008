/*
 * What comes again in the text of `perf script`.  See script_repeat.h.
 *
 * A line that is known by its parts must become what perf_head_scan makes of it.  That takes the
 * first word for the time that ends in a colon and is one, so nothing may stand before it that
 * could be taken for it; what follows is read as the same bytes were.
 */
#include "formats/perf/script_repeat.h"

/* Longer ones are read line by line. */
#define BLOCK_MAX ((size_t)1 << 20)
/* What a block costs in the table, about, while that grows. */
#define BLOCK_COST 96
/* What they may take up of a small input. */
#define BLOCKS_MIN ((size_t)1 << 20)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Where in the first line of s the first word ends that has a colon at its end; s.size: nowhere. */
static size_t find_colon(struct str s)
{
	const uint64_t colons = span_eight(':'), ends = span_eight('\n');

	for (size_t i = 0; s.size - i >= 16; i += 8) {
		uint64_t word = span_load(s.data + i, 8, 0);
		uint64_t found = span_find_byte(word, colons) | span_find_byte(word, ends);

		for (; found; found &= found - 1) {
			size_t at = i + (size_t)__builtin_ctzll(found) / 8;
			char next = s.data[at + 1];
			/* Only the lowest bit is sure to be one. */
			if (s.data[at] == '\n' || next == '\t' || next == '\r')
				return s.size;
			if (s.data[at] == ':' && (next == ' ' || next == '\n'))
				return at;
		}
	}
	return s.size;
}

/* The time that ends before the colon, with 6 or 9 decimals and a blank before; false: none. */
static bool parse_time(const char *line, size_t colon, size_t *start, uint64_t *time_ns)
{
	size_t decimals = colon > 10 && line[colon - 10] == '.' ? 9 : 6;

	if (colon < decimals + 3 || line[colon - decimals - 1] != '.')
		return false;
	size_t dot = colon - decimals - 1, first = dot;
	uint64_t value = 0;
	while (first && is_digit(line[first - 1]))
		first--;
	if (first == dot || dot - first > 9 || first == 0 || line[first - 1] != ' ')
		return false;
	for (size_t i = first; i < dot; i++)
		value = value * 10 + (uint64_t)(line[i] - '0');
	for (size_t i = dot + 1; i < colon; i++) {
		if (!is_digit(line[i]))
			return false;
		value = value * 10 + (uint64_t)(line[i] - '0');
	}
	*start = first;
	*time_ns = decimals == 6 ? value * 1000 : value;
	return true;
}

/*
 * Passes over the number behind the blanks at *at, and takes it for the period; false, and nothing
 * is passed over, if there is none.
 */
static bool take_period(struct str s, size_t *at, uint64_t *period)
{
	size_t first = *at, i;
	uint64_t value = 0;

	while (first < s.size && s.data[first] == ' ')
		first++;
	for (i = first; i < s.size && is_digit(s.data[i]) && i - first < 18; i++)
		value = value * 10 + (uint64_t)(s.data[i] - '0');
	if (i == first || i == s.size || s.data[i] != ' ')
		return false;
	*at = i;
	*period = value;
	return true;
}

/* The line's who, time and period, and where it goes on behind them. */
struct parts {
	size_t who_end, tail;
	uint64_t time_ns, period;
	bool has_period;
};

static bool take_apart(struct str s, struct parts *parts)
{
	size_t colon = find_colon(s);

	if (colon == s.size || s.data[0] == '#' || s.data[0] == '\t' ||
		!parse_time(s.data, colon, &parts->who_end, &parts->time_ns))
		return false;
	parts->tail = colon + 1;
	parts->period = UINT64_MAX;
	parts->has_period = take_period(s, &parts->tail, &parts->period);
	return true;
}

/* Where a who is kept; 8 bytes behind its end can be read, as the time is there. */
static struct perf_who *who_at(struct perf_heads *h, const char *data, size_t size)
{
	uint64_t hash = size;
	size_t i = 0;

	for (; size - i >= 8; i += 8)
		hash = span_hash_step(hash, span_load(data + i, 8, 0));
	uint64_t last = span_load(data + i, 8, 0) & (((uint64_t)1 << 8 * (size - i)) - 1);
	hash = span_hash_step(hash, last);
	return &h->whos[hash % PERF_WHOS];
}

/* The thread that a line begins with. */
static uint32_t thread_of(
	struct perf_heads *h, struct perf_tasks *tasks, const char *data, size_t size)
{
	struct perf_who *who = who_at(h, data, size);

	if (who->data == NULL || who->size != size || memcmp(who->data, data, size) != 0) {
		struct perf_head head = {.who = str_trim((struct str){data, size})};
		*who = (struct perf_who){.data = data,
			.size = (uint32_t)size,
			.thread = perf_tasks_find(tasks, &head)};
	}
	return who->thread;
}

/* The remembered tail of a line, which becomes the first; NULL: none is the same. */
static const struct perf_tail *tail_of(
	struct perf_heads *h, struct str rest, const struct parts *parts)
{
	size_t left = rest.size - parts->tail;

	for (size_t i = 0; i < h->tail_count; i++) {
		const struct perf_tail tail = h->tails[i];
		if (tail.has_period != parts->has_period || tail.text.size > left ||
			memcmp(rest.data + parts->tail, tail.text.data, tail.text.size) != 0)
			continue;
		h->tails[i] = h->tails[0];
		h->tails[0] = tail;
		return &h->tails[0];
	}
	return NULL;
}

bool perf_heads_take(struct perf_heads *h, struct perf_tasks *tasks, struct str *rest,
	struct perf_sample *sample)
{
	struct parts parts;

	if (h->tail_count == 0 || !take_apart(*rest, &parts) || parts.who_end > UINT32_MAX)
		return false;
	const struct perf_tail *tail = tail_of(h, *rest, &parts);
	if (tail == NULL)
		return false;
	*sample = (struct perf_sample){.thread = thread_of(h, tasks, rest->data, parts.who_end),
		.event = tail->event,
		.time_ns = parts.time_ns,
		.period = parts.period};
	size_t size = parts.tail + tail->text.size;
	*rest = (struct str){rest->data + size, rest->size - size};
	return true;
}

void perf_heads_remember(
	struct perf_heads *h, struct str text, const struct perf_head *head, uint32_t event)
{
	struct parts parts;

	/* Read anew by this reader of few ways, it must say the same. */
	if (!take_apart(text, &parts) || parts.time_ns != head->time_ns ||
		parts.period != head->period || head->rest.size)
		return;
	struct str tail = {text.data + parts.tail, text.size - parts.tail};
	const char *end = memchr(tail.data, '\n', tail.size);
	if (end == NULL)
		return;
	tail.size = (size_t)(end - tail.data) + 1;
	if (h->tail_count < PERF_TAILS)
		h->tail_count++;
	h->tails[h->tail_count - 1] = h->tails[0];
	h->tails[0] =
		(struct perf_tail){.text = tail, .has_period = parts.has_period, .event = event};
}

void perf_blocks_init(struct perf_blocks *b, size_t input_size)
{
	*b = (struct perf_blocks){.most = (BLOCKS_MIN + input_size / 4) / BLOCK_COST};
}

void perf_blocks_deinit(struct perf_blocks *b)
{
	row_table_deinit(&b->spans);
}

bool perf_block_scan(struct str text, struct perf_block *block)
{
	const uint64_t ends = span_eight('\n');
	uint64_t hash = 0x2d358dccaa6c78a5u;
	uint32_t lines = 0;

	if (text.size < 8 || text.data[0] != '\t')
		return false;
	for (size_t i = 0; text.size - i > 8 && i < BLOCK_MAX; i += 8) {
		uint64_t word = span_load(text.data + i, 8, 0);

		for (uint64_t found = span_find_byte(word, ends); found; found &= found - 1) {
			unsigned int bits = (unsigned int)__builtin_ctzll(found) & ~7u;
			size_t at = i + bits / 8;
			/* Only the lowest bit is sure to be one. */
			if (text.data[at] != '\n')
				continue;
			lines++;
			if (text.data[at + 1] == '\t')
				continue;
			hash = span_hash_step(hash, word & (((uint64_t)1 << bits) - 1));
			*block = (struct perf_block){.span = {.data = text.data,
							     .size = (uint32_t)at,
							     .hash = (uint32_t)hash_u64(hash + at)},
				.lines = lines};
			return text.data[at + 1] == '\n';
		}
		hash = span_hash_step(hash, word);
	}
	return false;
}

void perf_blocks_warm(const struct perf_blocks *b, const struct perf_waiting *waiting, size_t count)
{
	const struct span *known[PERF_WAITING_MAX];

	for (size_t i = 0; i < count; i++)
		row_table_warm_slot(&b->spans, waiting[i].block.span.hash);
	for (size_t i = 0; i < count; i++)
		known[i] = row_table_warm_row(&b->spans, &span_rows, waiting[i].block.span.hash);
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0; known[i] && k < 256 && k < known[i]->size; k += 64)
			__builtin_prefetch(known[i]->data + k);
}

void perf_blocks_remember(struct perf_blocks *b, const struct perf_block *block, stack_id stack)
{
	if (b->spans.count < b->most)
		span_intern(&b->spans, block->span)->id = stack.i;
}
