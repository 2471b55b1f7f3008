/*
 * Reads heaptrack's interpreted recordings of a program's heap: text, with a letter and hexadecimal
 * numbers on each line. docs/formats/heaptrack.md describes it.
 *
 * Table rows come when they are first needed, numbered by position: strings (s), instruction
 * pointers with their functions (i), traces, which are locations called from other traces (t),
 * allocations of one size by one trace (a).  Between them are the events: + and - of an allocation,
 * the time (c).  So one pass is enough for everything except the allocations at the heap's peak,
 * which take a second pass over + and - up to that moment.
 *
 * There is no written specification; this follows src/analyze/accumulatedtracedata.cpp and
 * src/util/linereader.h of heaptrack as of July 2026, for versions 1 to 3 of the format.
 */
#include "formats/readers.h"

#include "base/str.h"
#include "base/vec.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"

/* ---- suppressions ---- */

/*
 * Suppressed leaks, by LeakSanitizer's patterns.  A pattern matches anywhere in a name, but '^'
 * anchors it at the beginning and '$' at the end; '*' matches any bytes.
 *
 * Source: "Suppressions" of the LeakSanitizer documentation.  heaptrack_print --print-suppressions
 * lists heaptrack's built-in ones.
 */

/* Patterns of leaks to ignore. */
struct heaptrack_suppressions {
	struct str *data; /* borrowed */
	size_t count, capacity;
	size_t over; /* number of patterns beyond the limit */
};

/* A limit, because each pattern is compared with each name. */
#define PATTERNS_MAX 64

static const char *const built_in[] = {
	"__nss_module_allocate",
	"__gconv_read_conf",
	"__new_exitfn",
	"tzset_internal",
	"dl_open_worker",
	"g_main_context_new",
	"g_thread_self",
};

/* Adds heaptrack's built-in patterns. */
static void heaptrack_suppressions_init(struct heaptrack_suppressions *s)
{
	*s = (struct heaptrack_suppressions){0};
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
		vec_push(s, str_from(built_in[i]));
}

static void heaptrack_suppressions_deinit(struct heaptrack_suppressions *s)
{
	vec_deinit(s);
}

/* Adds one from the file: "leak:PATTERN". */
static void heaptrack_suppressions_add(struct heaptrack_suppressions *s, struct str line)
{
	struct str pattern = line;

	while (pattern.size && pattern.data[pattern.size - 1] <= ' ')
		pattern.size--;
	while (text_take(&pattern, STR(" ")))
		;
	if (!text_take(&pattern, STR("leak:")) || pattern.size == 0)
		return;
	if (s->count < PATTERNS_MAX)
		vec_push(s, pattern);
	else
		s->over++;
}

/* Takes the text up to the next '*', and the '*'. */
static struct str take_part(struct str *pattern)
{
	const char *star = memchr(pattern->data, '*', pattern->size);
	struct str part = {pattern->data, star ? (size_t)(star - pattern->data) : pattern->size};
	size_t passed = part.size + (star != NULL);

	pattern->data += passed;
	pattern->size -= passed;
	return part;
}

static bool matches(struct str pattern, struct str name)
{
	bool at_start = text_take(&pattern, STR("^"));
	bool at_end = str_ends_with(pattern, STR("$"));

	pattern.size -= at_end;
	while (pattern.size) {
		struct str part = take_part(&pattern);
		bool is_last = pattern.size == 0 && part.data + part.size == pattern.data;
		if (at_end && is_last && part.size)
			return str_ends_with(name, part) && (!at_start || part.size == name.size);
		if (at_start && !str_starts_with(name, part))
			return false;
		const char *found =
			part.size ? memmem(name.data, name.size, part.data, part.size) : name.data;
		if (found == NULL)
			return false;
		name.size -= (size_t)(found - name.data) + part.size;
		name.data = found + part.size;
		at_start = false;
	}
	return true;
}

/* Whether any pattern matches the name of a function, file or module. */
static bool heaptrack_suppressions_match(const struct heaptrack_suppressions *s, struct str name)
{
	for (size_t i = 0; name.size && i < s->count; i++)
		if (matches(s->data[i], name))
			return true;
	return false;
}

/* ---- the file ---- */

enum { VERSION_MAX = 3 };
enum { METRIC_ALLOCATIONS, METRIC_TEMPORARY, METRIC_LEAKED, METRIC_PEAK, METRICS };

struct ip {
	uint32_t first, count : 30; /* frames, innermost first */
	bool is_new : 1;	    /* operator new, which is hidden */
	bool is_suppressed : 1;
};

struct trace {
	stack_id stack;
	uint32_t cost : 31; /* index of its cost; NO_COST: none yet */
	bool is_suppressed : 1;
};
#define NO_COST 0x7fffffffu

struct cost {
	int64_t allocations, temporary, leaked, peak;
	stack_id stack;
};

struct allocation {
	uint64_t size;
	uint32_t cost;
};

struct heaptrack {
	const struct reader_input *input;
	struct builder *builder;
	struct heaptrack_suppressions suppressions;
	uint64_t version;
	VEC(struct str) strings;
	VEC(bool) is_suppressed; /* [string] */
	VEC(struct ip) ips;
	VEC(uint32_t) frames;
	VEC(struct trace) traces;
	VEC(struct allocation) allocations;
	VEC(struct cost) costs;
	uint32_t last; /* the allocation made last, if nothing was freed since; NO_ID: none */
	uint64_t time_ms;
	uint64_t heap, peak, peak_ms; /* bytes allocated now; the maximum, and its time */
	uint64_t allocated, freed;    /* total bytes: bounds of all sums */
	uint64_t events, peak_event;  /* + and - so far; the number at the peak */
	uint64_t suppressed;	      /* bytes of suppressed leaks */
	struct bad_lines bad;
	uint64_t line_number;
	bool is_raw, overflows, is_debuggee_known;
};

/* ---- tables ---- */

static bool add_string(struct heaptrack *h, struct str line)
{
	struct str string = line;
	uint64_t size;

	if (h->version >= 3) {
		if (!text_take_hex(&string, &size))
			return false;
		(void)text_take(&string, STR(" "));
		string.size = string.size < size ? string.size : (size_t)size;
	}
	vec_push(&h->strings, string);
	vec_push(&h->is_suppressed, heaptrack_suppressions_match(&h->suppressions, string));
	return true;
}

/* Takes a number and the blank after it. */
static bool take(struct str *line, uint64_t *number)
{
	if (!text_take_hex(line, number))
		return false;
	(void)text_take(line, STR(" "));
	return true;
}

/* The string with a number, from 1; empty for 0 and unknown numbers. */
static struct str string_at(const struct heaptrack *h, uint64_t number)
{
	return number && number <= h->strings.count ? h->strings.data[number - 1] : STR("");
}

static bool is_suppressed(const struct heaptrack *h, uint64_t number)
{
	return number && number <= h->strings.count && h->is_suppressed.data[number - 1];
}

static bool is_operator_new(struct str name)
{
	return str_starts_with(name, STR("operator new")) &&
	       (str_equal(name, STR("operator new(unsigned long)")) ||
		       str_equal(name, STR("operator new[](unsigned long)")) ||
		       str_equal(name, STR("operator new(unsigned int)")) ||
		       str_equal(name, STR("operator new[](unsigned int)")));
}

/* The numbers of a frame. */
struct place {
	uint64_t function, file, line;
};

static bool take_place(struct str *line, struct place *place)
{
	return take(line, &place->function) && take(line, &place->file) && take(line, &place->line);
}

static void add_frame(
	struct heaptrack *h, object_id object, struct str name, struct place place, bool is_inline)
{
	struct builder *b = h->builder;
	string_id file = builder_string(b, string_at(h, place.file));
	function_id function =
		builder_function(b, builder_string(b, name), object, (string_id){0}, 0);
	frame_id frame = builder_frame(b, function, file,
		place.line <= INT32_MAX ? (uint32_t)place.line : 0, is_inline, 0);

	vec_push(&h->frames, frame.i);
}

/* Frames without a name are shown by address, as in heaptrack. */
static void add_nameless(struct heaptrack *h, object_id object, uint64_t addr, struct place place)
{
	struct strbuf name = {0};

	strbuf_printf(&name, "0x%llx", (unsigned long long)addr);
	add_frame(h, object, strbuf_str(&name), place, false);
	strbuf_deinit(&name);
}

/* Adds "ADDRESS MODULE [FUNCTION FILE LINE]...", the innermost first. */
static bool add_ip(struct heaptrack *h, struct str line)
{
	struct ip ip = {.first = (uint32_t)h->frames.count};
	object_id object = {NO_ID};
	uint64_t addr, module;
	struct place place = {0}, next;

	if (!take(&line, &addr) || !take(&line, &module))
		return false;
	struct str path = string_at(h, module);
	if (path.size)
		object = builder_object(h->builder, path, STR(""), OBJECT_USER);
	ip.is_suppressed = is_suppressed(h, module);
	bool more = take_place(&line, &place);
	struct str name = string_at(h, place.function);
	ip.is_new = is_operator_new(name);
	while (more) {
		bool has_next = take_place(&line, &next);
		ip.is_suppressed |=
			is_suppressed(h, place.function) || is_suppressed(h, place.file);
		if (!has_next)
			break;
		add_frame(h, object, name, place, true);
		place = next;
		name = string_at(h, place.function);
	}
	if (name.size)
		add_frame(h, object, name, place, false);
	else
		add_nameless(h, object, addr, place);
	ip.count = (uint32_t)(h->frames.count - ip.first) & 0x3fffffff;
	vec_push(&h->ips, ip);
	return true;
}

/* The stack of a place below its caller's stack. */
static stack_id stack_below(struct heaptrack *h, stack_id stack, const struct ip *ip)
{
	for (uint32_t i = ip->count; i > 0; i--)
		stack = builder_stack(
			h->builder, stack, (frame_id){h->frames.data[ip->first + i - 1]});
	return stack;
}

/* Adds "IP PARENT".  An invalid trace is added too, so that later ones keep their numbers. */
static bool add_trace(struct heaptrack *h, struct str line)
{
	struct trace trace = {.cost = NO_COST};
	uint64_t number = 0, parent = 0;
	bool good = take(&line, &number) && take(&line, &parent);

	if (good && parent && parent <= h->traces.count) {
		trace.stack = h->traces.data[parent - 1].stack;
		trace.is_suppressed = h->traces.data[parent - 1].is_suppressed;
	} else if (parent) {
		good = false;
	}
	if (good && number && number <= h->ips.count) {
		const struct ip *ip = &h->ips.data[number - 1];
		trace.is_suppressed |= ip->is_suppressed;
		if (!ip->is_new)
			trace.stack = stack_below(h, trace.stack, ip);
	} else if (number) {
		good = false;
	}
	vec_push(&h->traces, trace);
	return good;
}

/* The index of a trace's cost; trace 0 and unknown ones share the last one's. */
static uint32_t cost_of(struct heaptrack *h, uint64_t number)
{
	struct trace *trace =
		number && number <= h->traces.count ? &h->traces.data[number - 1] : NULL;

	if (trace && trace->cost != NO_COST)
		return trace->cost;
	uint32_t row = (uint32_t)h->costs.count;
	vec_push(&h->costs, (struct cost){.stack = trace ? trace->stack : (stack_id){0}});
	if (trace)
		trace->cost = row & NO_COST;
	return row;
}

/* Adds "SIZE TRACE". */
static bool add_allocation(struct heaptrack *h, struct str line)
{
	struct allocation a = {0};
	uint64_t trace = 0;
	bool good = take(&line, &a.size) && take(&line, &trace) && a.size <= INT64_MAX;

	if (!good)
		a.size = 0;
	a.cost = cost_of(h, trace);
	vec_push(&h->allocations, a);
	return good;
}

/* ---- events ---- */

static struct allocation *take_allocation(struct heaptrack *h, struct str *line, uint64_t *number)
{
	if (!take(line, number) || *number >= h->allocations.count)
		return NULL;
	return &h->allocations.data[*number];
}

static bool allocate(struct heaptrack *h, struct str line)
{
	uint64_t number;
	const struct allocation *a = take_allocation(h, &line, &number);

	if (a == NULL)
		return false;
	h->overflows |= __builtin_add_overflow(h->allocated, a->size, &h->allocated) ||
			h->allocated > INT64_MAX;
	if (h->overflows)
		return true;
	h->costs.data[a->cost].allocations++;
	h->costs.data[a->cost].leaked += (int64_t)a->size;
	h->last = (uint32_t)number;
	h->events++;
	h->heap += a->size;
	if (h->heap > h->peak) {
		h->peak = h->heap;
		h->peak_ms = h->time_ms;
		h->peak_event = h->events;
	}
	return true;
}

/* An allocation freed with no other event in between was temporary. */
static bool release(struct heaptrack *h, struct str line)
{
	uint64_t number;
	const struct allocation *a = take_allocation(h, &line, &number);
	struct cost *cost = a ? &h->costs.data[a->cost] : NULL;

	if (a == NULL || cost->leaked < (int64_t)a->size)
		return false;
	h->events++;
	h->heap -= a->size;
	cost->leaked -= (int64_t)a->size;
	cost->temporary += h->last == number;
	h->last = NO_ID;
	return true;
}

static bool tell_time(struct heaptrack *h, struct str line)
{
	uint64_t time_ms;

	if (!take(&line, &time_ms) || time_ms < h->time_ms || time_ms > INT64_MAX / 1000000)
		return false;
	h->time_ms = time_ms;
	return true;
}

static void add_command(struct heaptrack *h, struct str line)
{
	if (!h->is_debuggee_known)
		builder_header(h->builder)->command = builder_string(h->builder, line);
	h->is_debuggee_known = true;
}

/* ---- lines ---- */

/* The text after the letter. */
static struct str rest_of(struct str line)
{
	return line.size > 2 ? (struct str){line.data + 2, line.size - 2} : STR("");
}

/* False: the line is not understood. */
static bool read_line(struct heaptrack *h, char letter, struct str rest)
{
	switch (letter) {
	case 's':
		return add_string(h, rest);
	case 'i':
		return add_ip(h, rest);
	case 't':
		return add_trace(h, rest);
	case 'a':
		return add_allocation(h, rest);
	case '+':
		return allocate(h, rest);
	case '-':
		return release(h, rest);
	case 'c':
		return tell_time(h, rest);
	case 'X':
		add_command(h, rest);
		return true;
	case 'x':
	case 'm':
		h->is_raw = true;
		return true;
	case '#': /* a comment */
	case 'v': /* the version, known already */
	case 'A': /* attached: earlier allocations are unknown */
	case 'I': /* the machine's memory */
	case 'R': /* the process's */
	case 'S': /* a suppression, known already */
		return true;
	default:
		return false;
	}
}

static struct str text_of(const struct heaptrack *h)
{
	return (struct str){(const char *)h->input->data, h->input->size};
}

/*
 * Reads what must be known first: the version, suppressions, and the number of each kind of line.
 */
static void read_ahead(struct heaptrack *h)
{
	struct str text = text_of(h);
	uint64_t count[256] = {0}, program;

	while (text.size) {
		struct str line = str_take_line(&text), rest = rest_of(line);
		if (line.size == 0)
			continue;
		count[(uint8_t)line.data[0]]++;
		if (line.data[0] == 'S')
			heaptrack_suppressions_add(&h->suppressions, rest);
		/* Before 1.0, heaptrack's version was that of the format. */
		if (line.data[0] == 'v' && h->version == 0 && take(&rest, &program) &&
			!take(&rest, &h->version) && program == 0x010200)
			h->version = 1;
	}
	vec_reserve(&h->strings, count['s']);
	vec_reserve(&h->is_suppressed, count['s']);
	vec_reserve(&h->ips, count['i']);
	vec_reserve(&h->traces, count['t']);
	vec_reserve(&h->allocations, count['a']);
	/* A trace takes at least 12 bytes of the file with its allocation, and most have many. */
}

static void read_lines(struct heaptrack *h)
{
	struct str text = text_of(h);

	while (text.size && !h->is_raw && !h->overflows) {
		struct str line = str_take_line(&text);
		h->line_number++;
		if (line.size && !read_line(h, line.data[0], rest_of(line)))
			bad_lines_add(&h->bad, h->line_number);
	}
}

/* Computes each trace's figures at the heap's peak. */
static void find_peaks(struct heaptrack *h)
{
	struct str text = text_of(h);
	uint64_t events = 0, number;

	while (text.size && events < h->peak_event) {
		struct str line = str_take_line(&text), rest = rest_of(line);
		if (line.size == 0 || (line.data[0] != '+' && line.data[0] != '-'))
			continue;
		const struct allocation *a = take_allocation(h, &rest, &number);
		if (a == NULL)
			continue;
		struct cost *cost = &h->costs.data[a->cost];
		if (line.data[0] == '+')
			cost->peak += (int64_t)a->size;
		else if (cost->peak < (int64_t)a->size)
			continue;
		else
			cost->peak -= (int64_t)a->size;
		events++;
	}
}

/* ---- the profile ---- */

static void suppress_leaks(struct heaptrack *h)
{
	for (size_t i = 0; i < h->traces.count; i++) {
		const struct trace *t = &h->traces.data[i];
		if (!t->is_suppressed || t->cost == NO_COST)
			continue;
		h->suppressed += (uint64_t)h->costs.data[t->cost].leaked;
		h->costs.data[t->cost].leaked = 0;
	}
}

/* Frees tables that costs do not need. */
static void free_tables(struct heaptrack *h)
{
	vec_deinit(&h->strings);
	vec_deinit(&h->is_suppressed);
	vec_deinit(&h->ips);
	vec_deinit(&h->frames);
	vec_deinit(&h->traces);
	vec_deinit(&h->allocations);
}

static void add_costs(struct heaptrack *h)
{
	frame_id unknown = frame_unknown(h->builder);

	for (size_t i = 0; i < h->costs.count; i++) {
		const struct cost *c = &h->costs.data[i];
		const int64_t weight[METRICS] = {c->allocations, c->temporary, c->leaked, c->peak};
		stack_id stack = c->stack;
		if (stack.i == 0)
			stack = builder_stack(h->builder, stack, unknown);
		builder_weight(h->builder, stack, weight, UINT64_MAX);
	}
}

static void add_notes(struct heaptrack *h)
{
	if (h->peak)
		builder_note(h->builder, NOTE_INFO, 1,
			"the heap was largest %llu.%03llu s after the start: %llu bytes",
			(unsigned long long)(h->peak_ms / 1000),
			(unsigned long long)(h->peak_ms % 1000), (unsigned long long)h->peak);
	if (h->suppressed)
		builder_note(h->builder, NOTE_INFO, 1,
			"%llu bytes of leaks are not shown: the program or heaptrack suppresses "
			"them",
			(unsigned long long)h->suppressed);
	counted_note(h->builder, NOTE_BAD_RECORD, h->suppressions.over,
		"a suppression was left out: there are too many",
		"suppressions were left out: there are too many");
	bad_lines_note(&h->bad, h->builder);
	if (h->input->size && h->input->data[h->input->size - 1] != '\n')
		builder_note(h->builder, NOTE_INCOMPLETE, 1, "the last line is cut off");
}

static struct error *check_version(const struct heaptrack *h)
{
	if (h->version == 0)
		return error_new(ERROR_UNSUPPORTED,
			"%s: it has no version, so it is from heaptrack before 1.0 or another "
			"program",
			h->input->name);
	if (h->version > VERSION_MAX)
		return error_new(ERROR_UNSUPPORTED,
			"%s: heaptrack's format of version %llu, and only 1 to %d are known",
			h->input->name, (unsigned long long)h->version, VERSION_MAX);
	return NULL;
}

static struct error *build(struct heaptrack *h)
{
	static const char *const names[METRICS] = {"allocations", "temporary", "leaked", "peak"};

	for (int i = 0; i < METRICS; i++)
		(void)builder_metric(h->builder, str_from(names[i]),
			i >= METRIC_LEAKED ? STR("bytes") : STR("count"));
	builder_header(h->builder)->default_metric = (metric_id){METRIC_PEAK};
	read_lines(h);
	if (h->is_raw)
		return error_new(ERROR_UNSUPPORTED,
			"%s: heaptrack's raw recording, without names; heaptrack --interpret makes "
			"one that has "
			"them (in 1.4 and before: heaptrack_interpret, which reads it from its "
			"input)",
			h->input->name);
	if (h->overflows)
		return error_new(ERROR_INPUT, "%s: the sum of what it allocates exceeds 64 bits",
			h->input->name);
	if (h->costs.count == 0)
		return error_new(ERROR_INPUT, "%s: contains no allocation", h->input->name);
	struct error *err = bad_lines_refuse(
		&h->bad, h->line_number - h->bad.count, h->input->name, "a recording of heaptrack");
	if (err)
		return err;
	find_peaks(h);
	suppress_leaks(h);
	free_tables(h);
	add_costs(h);
	builder_header(h->builder)->stats.duration_ns = h->time_ms * 1000000;
	add_notes(h);
	return NULL;
}

static struct error *heaptrack_read(const struct reader_input *input, struct builder *builder)
{
	struct heaptrack h = {.input = input, .builder = builder, .last = NO_ID};

	heaptrack_suppressions_init(&h.suppressions);
	read_ahead(&h);
	struct error *err = check_version(&h);
	if (err == NULL)
		err = build(&h);
	heaptrack_suppressions_deinit(&h.suppressions);
	free_tables(&h);
	vec_deinit(&h.costs);
	return err;
}

/* Bids for "v VERSION FORMAT", then a line that only heaptrack writes there. */
static int heaptrack_bid(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size < 4096 ? size : 4096};
	struct str line = str_take_line(&text), next = str_take_line(&text);
	uint64_t number;

	if (!text_take(&line, STR("v ")) || !take(&line, &number))
		return 0;
	if (line.size && (!take(&line, &number) || line.size))
		return 0;
	return next.size > 1 && next.data[1] == ' ' && strchr("XxISs", next.data[0]) ? 90 : 0;
}

const struct reader reader_heaptrack = {
	.name = "heaptrack",
	.summary = "allocations that heaptrack recorded (heaptrack.PROGRAM.PID.zst)",
	.bid = heaptrack_bid,
	.read = heaptrack_read,
};
