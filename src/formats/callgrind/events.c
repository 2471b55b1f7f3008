/*
 * Events of callgrind files.  Metrics must be known before the first cost, so a first pass finds
 * all `events:` lines; most files have one.
 *
 * Writers that measure anything but valgrind's counts put the unit into the name: xdebug writes
 * "Time_(10ns)" and "Memory_(bytes)", pprof "cpu(ms)".  These become a metric without the
 * parenthesis, in sonde's unit.
 */
#include "formats/callgrind/events.h"

#include <stdlib.h>

/* Maximum number of lines about events, not counting repetitions; further ones are skipped. */
#define LINES_MAX 4096

struct unit {
	const char *text, *unit;
	int64_t scale;
};

static const struct unit units[] = {
	{"ns", "ns", 1},
	{"10ns", "ns", 10},
	{"100ns", "ns", 100},
	{"nanoseconds", "ns", 1},
	{"us", "ns", 1000},
	{"\302\265s", "ns", 1000},
	{"microseconds", "ns", 1000},
	{"ms", "ns", 1000000},
	{"milliseconds", "ns", 1000000},
	{"s", "ns", 1000000000},
	{"sec", "ns", 1000000000},
	{"seconds", "ns", 1000000000},
	{"bytes", "bytes", 1},
	{"B", "bytes", 1},
	{"kB", "bytes", 1024},
	{"MB", "bytes", 1024 * 1024},
	{"count", "count", 1},
};

void callgrind_events_init(struct callgrind_events *e, struct builder *b)
{
	*e = (struct callgrind_events){.builder = b, .is_plain = true};
}

void callgrind_events_deinit(struct callgrind_events *e)
{
	vec_deinit(&e->lists);
	vec_deinit(&e->descriptions);
	vec_deinit(&e->terms);
}

static struct str trim(struct str s)
{
	while (s.size && (unsigned char)s.data[0] <= ' ')
		s = (struct str){s.data + 1, s.size - 1};
	while (s.size && (unsigned char)s.data[s.size - 1] <= ' ')
		s.size--;
	return s;
}

/* Takes the next word, up to a blank; empty at the end. */
static struct str take_word(struct str *rest)
{
	size_t size = 0;

	*rest = trim(*rest);
	while (size < rest->size && (unsigned char)rest->data[size] > ' ')
		size++;
	struct str word = {rest->data, size};
	*rest = (struct str){rest->data + size, rest->size - size};
	return word;
}

static const struct unit *find_unit(struct str text)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_equal(text, str_from(units[i].text)))
			return &units[i];
	return NULL;
}

/* Takes a known "(UNIT)" and the '_' before it off the end of a name. */
static const struct unit *take_unit(struct str *name)
{
	const char *open = memrchr(name->data, '(', name->size);

	if (open == NULL || open == name->data || name->data[name->size - 1] != ')')
		return NULL;
	struct str text = {open + 1, (size_t)(name->data + name->size - open) - 2};
	const struct unit *unit = find_unit(text);
	if (unit)
		name->size = (size_t)(open - name->data);
	if (unit && name->size > 1 && name->data[name->size - 1] == '_')
		name->size--;
	return unit;
}

/* The metric with that name, or UINT32_MAX. */
static uint32_t find_metric(const struct callgrind_events *e, struct str name)
{
	for (uint32_t i = 0; i < e->metric_count; i++)
		if (str_equal(e->names[i], name))
			return i;
	return UINT32_MAX;
}

/* Adds a metric; name points into the input.  UINT32_MAX: there are too many. */
static uint32_t add_metric(
	struct callgrind_events *e, struct str name, struct str shown, const struct unit *unit)
{
	struct str unit_name = unit ? str_from(unit->unit) : STR("count");

	if (e->metric_count == CALLGRIND_EVENTS_MAX)
		return UINT32_MAX;
	metric_id id = builder_metric(e->builder, shown, unit_name);
	/* "Time_(ms)" next to "Time_(ns)": one of them keeps its original name. */
	if (id.i < e->metric_count)
		id = builder_metric(e->builder, name, STR("count"));
	if (id.i < e->metric_count)
		return id.i;
	e->names[e->metric_count] = name;
	e->scale[e->metric_count] = unit ? unit->scale : 1;
	return (uint32_t)e->metric_count++;
}

/* Callgrind states the unit of its time in a long name: "sysTime : sysTime (elapsed us)". */
static const struct unit *told_unit(const struct callgrind_events *e, struct str name)
{
	for (size_t i = 0; i < e->descriptions.count; i++) {
		struct str text = e->descriptions.data[i], word = take_word(&text);
		const char *told = memmem(text.data, text.size, "(elapsed ", 9);

		if (told == NULL || !str_equal(word, name))
			continue;
		struct str unit = {told + 8, (size_t)(text.data + text.size - told) - 8};
		unit = take_word(&unit);
		unit.size -= unit.size > 0 && unit.data[unit.size - 1] == ')';
		return find_unit(unit);
	}
	return NULL;
}

static uint32_t metric_of(struct callgrind_events *e, struct str name)
{
	uint32_t metric = find_metric(e, name);
	struct str shown = name;

	if (metric != UINT32_MAX)
		return metric;
	const struct unit *unit = take_unit(&shown);
	if (unit == NULL)
		unit = told_unit(e, name);
	return add_metric(e, name, shown, unit);
}

void callgrind_events_select(struct callgrind_events *e, struct str names)
{
	struct str name;

	e->column_count = 0;
	e->is_plain = e->terms.count == 0;
	while ((name = take_word(&names)).size) {
		uint32_t metric = metric_of(e, name);

		if (metric == UINT32_MAX || e->column_count == CALLGRIND_EVENTS_MAX) {
			e->too_many++;
			continue;
		}
		e->is_plain &= metric == e->column_count && e->scale[metric] == 1;
		e->column[e->column_count++] = metric;
	}
	e->is_plain &= e->column_count == e->metric_count;
}

static bool is_name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_' || c == '.';
}

/* Takes "10 L1m", "10*L1m" or "L1m" off the start of a formula, after its sign. */
static bool take_term(struct callgrind_events *e, struct str *rest, struct callgrind_term *term)
{
	size_t at = 0;
	int64_t factor = 0;

	*rest = trim(*rest);
	while (at < rest->size && rest->data[at] >= '0' && rest->data[at] <= '9' &&
		factor < INT32_MAX)
		factor = 10 * factor + (rest->data[at++] - '0');
	term->factor = at ? factor : 1;
	while (at < rest->size && (rest->data[at] == ' ' || rest->data[at] == '*'))
		at++;
	size_t begin = at;
	while (at < rest->size && is_name_char(rest->data[at]))
		at++;
	term->metric = find_metric(e, (struct str){rest->data + begin, at - begin});
	*rest = trim((struct str){rest->data + at, rest->size - at});
	return at > begin && term->metric != UINT32_MAX;
}

/* Parses "A + 10 B"; false if it is not a formula. */
static bool parse_formula(struct callgrind_events *e, struct str formula, uint32_t sum)
{
	struct str rest = trim(formula);
	int64_t sign = 1;

	while (rest.size) {
		struct callgrind_term term = {.sum = sum};

		if (!take_term(e, &rest, &term))
			return false;
		term.factor *= sign;
		vec_push(&e->terms, term);
		if (rest.size == 0)
			return true;
		if (rest.data[0] != '+' && rest.data[0] != '-')
			return false;
		sign = rest.data[0] == '-' ? -1 : 1;
		rest = (struct str){rest.data + 1, rest.size - 1};
	}
	return false;
}

/* "NAME = FORMULA : Long name"; a line without a formula only defines a long name (told_unit). */
static void add_formula(struct callgrind_events *e, struct str text)
{
	const char *equals = memchr(text.data, '=', text.size);
	const char *colon = memchr(text.data, ':', text.size);

	if (equals == NULL || (colon && colon < equals))
		return;
	struct str name = trim((struct str){text.data, (size_t)(equals - text.data)});
	const char *end = colon ? colon : text.data + text.size;
	size_t before = e->terms.count;

	if (name.size == 0 || find_metric(e, name) != UINT32_MAX ||
		e->metric_count == CALLGRIND_EVENTS_MAX) {
		e->bad_formulas++;
		return;
	}
	struct str formula = {equals + 1, (size_t)(end - equals) - 1};
	if (!parse_formula(e, formula, (uint32_t)e->metric_count)) {
		e->terms.count = before;
		e->bad_formulas++;
		return;
	}
	(void)add_metric(e, name, name, NULL);
}

/* Whether the text before `end` is the first word of a line. */
static bool is_line_start(const char *begin, const char *end, struct str word)
{
	if ((size_t)(end - begin) < word.size || memcmp(end - word.size, word.data, word.size) != 0)
		return false;
	return end - word.size == begin || end[-1 - (ptrdiff_t)word.size] == '\n';
}

/* Skips a text equal to the previous one: each part repeats them. */
#define keep_text(e, v, text)                                                                      \
	do {                                                                                       \
		if ((v)->count && str_equal((v)->data[(v)->count - 1], (text)))                    \
			break;                                                                     \
		if ((v)->count < LINES_MAX)                                                        \
			vec_push((v), (text));                                                     \
		else                                                                               \
			(e)->too_many++;                                                           \
	} while (0)

/* Searches for colons, because they are much rarer than lines. */
static void find_lines(struct callgrind_events *e, struct str file)
{
	const char *end = file.data + file.size, *at = file.data, *colon;

	while (at < end && (colon = memchr(at, ':', (size_t)(end - at))) != NULL) {
		bool is_list = is_line_start(file.data, colon, STR("events"));

		at = colon + 1;
		if (!is_list && !is_line_start(file.data, colon, STR("event")))
			continue;
		struct str rest = {at, (size_t)(end - at)}, text = trim(str_take_line(&rest));
		at = rest.data;
		if (is_list)
			keep_text(e, &e->lists, text);
		else
			keep_text(e, &e->descriptions, text);
	}
}

void callgrind_events_find(struct callgrind_events *e, struct str file)
{
	find_lines(e, file);
	for (size_t i = 0; i < e->lists.count; i++) {
		struct str text = e->lists.data[i];
		const char *open = memchr(text.data, '(', text.size);

		e->has_weights_as_calls |= open && open > text.data && open[-1] != '_';
		callgrind_events_select(e, text);
	}
	for (size_t i = 0; i < e->descriptions.count; i++)
		add_formula(e, e->descriptions.data[i]);
	e->column_count = 0;
}

static int64_t clamp(__int128 value)
{
	return value > INT64_MAX ? INT64_MAX : value < -INT64_MAX ? -INT64_MAX : (int64_t)value;
}

void callgrind_events_weigh(
	const struct callgrind_events *e, const int64_t *numbers, int64_t *weight)
{
	memset(weight, 0, e->metric_count * sizeof(*weight));
	for (size_t i = 0; i < e->column_count; i++) {
		uint32_t metric = e->column[i];

		weight[metric] = clamp((__int128)numbers[i] * e->scale[metric] + weight[metric]);
	}
	for (size_t i = 0; i < e->terms.count; i++) {
		const struct callgrind_term *t = &e->terms.data[i];

		weight[t->sum] = clamp((__int128)weight[t->metric] * t->factor + weight[t->sum]);
	}
}
