/*
 * Lines of the text of `perf script`, as perf-script(1) prints them.  See script_text.h.
 */
#include "formats/perf/script_text.h"

#include "formats/common/text_field.h"

/* ---- first lines of samples ---- */

/*
 * First lines of samples, as perf-script(1) prints them (tools/perf/builtin-script.c of Linux):
 *
 * 	comm pid/tid [cpu] flags time: period event: rest
 *
 * Any of these may be missing, and comm may contain blanks, digits and colons.  So the line is
 * parsed outwards from an anchor.  This is the time, a number with 6 or 9 decimals and a colon,
 * which is unique; or without one, the event, the first word that ends in a colon after a process
 * id or a CPU.  The part before the anchor is parsed from its end.
 */

static struct str part(struct str s, size_t from, size_t to)
{
	return (struct str){s.data + from, to - from};
}

/* Takes the last word off s, and trims the rest. */
static struct str take_last_word(struct str *s)
{
	size_t start = s->size;

	while (start && !text_is_blank(s->data[start - 1]))
		start--;
	struct str word = part(*s, start, s->size);
	*s = str_trim(part(*s, 0, start));
	return word;
}

/* Takes the first word off a trimmed s. */
static struct str take_word(struct str *s)
{
	size_t end = 0;

	while (end < s->size && !text_is_blank(s->data[end]))
		end++;
	struct str word = part(*s, 0, end);
	*s = str_trim(part(*s, end, s->size));
	return word;
}

/* Parses s as a whole number below 2^63; false if it is not one. */
static bool parse_number(struct str s, uint64_t *value)
{
	uint64_t n = 0;

	if (s.size == 0 || s.size > 19)
		return false;
	for (size_t i = 0; i < s.size; i++) {
		if (!char_is_digit(s.data[i]))
			return false;
		n = n * 10 + (uint64_t)(s.data[i] - '0');
	}
	*value = n;
	return n <= INT64_MAX;
}

/* Parses an id as perf prints it, including -1. */
static bool parse_id(struct str s, int64_t *id)
{
	uint64_t value;

	if (str_equal(s, STR("-1"))) {
		*id = -1;
		return true;
	}
	if (!parse_number(s, &value))
		return false;
	*id = (int64_t)value;
	return true;
}

/* Parses TID, or PID/TID. */
static bool parse_ids(struct str word, int64_t *pid, int64_t *tid)
{
	const char *slash = memchr(word.data, '/', word.size);
	size_t at = slash ? (size_t)(slash - word.data) : 0;

	*pid = -1;
	if (slash == NULL)
		return parse_id(word, tid);
	return parse_id(part(word, 0, at), pid) && parse_id(part(word, at + 1, word.size), tid);
}

/* Parses "[003]", or "[003" if the line was split there. */
static bool parse_cpu(struct str word, uint64_t *cpu)
{
	return word.size > 2 && word.data[0] == '[' && word.data[word.size - 1] == ']' &&
	       parse_number(part(word, 1, word.size - 1), cpu);
}

static bool is_cpu(struct str word)
{
	uint64_t cpu;

	return parse_cpu(word, &cpu);
}

/* Whether a word consists of the letters of -F misc: U, K, H, G, S, E, … */
static bool is_flags(struct str word)
{
	for (size_t i = 0; i < word.size; i++)
		if (word.data[i] < 'A' || word.data[i] > 'Z')
			return false;
	return word.size && word.size <= 8;
}

/* Parses SECONDS.DECIMALS to nanoseconds; perf prints 6 or 9 decimals. */
static bool parse_time(struct str word, uint64_t *time_ns)
{
	const char *dot = memchr(word.data, '.', word.size);
	size_t at = dot ? (size_t)(dot - word.data) : 0;
	uint64_t seconds, decimals;

	if (dot == NULL || word.size - at - 1 < 3 || word.size - at - 1 > 9 ||
		!parse_number(part(word, 0, at), &seconds) ||
		!parse_number(part(word, at + 1, word.size), &decimals))
		return false;
	for (size_t i = word.size - at - 1; i < 9; i++)
		decimals *= 10;
	if (seconds > INT64_MAX / 1000000000 - 1)
		return false;
	*time_ns = seconds * 1000000000 + decimals;
	return true;
}

void perf_head_who(struct perf_head *head)
{
	struct str rest = head->who, before = rest;
	struct str word = take_last_word(&before);
	uint64_t cpu;

	if (is_flags(word) && before.size) {
		struct str further = before, next = take_last_word(&further);
		if (is_cpu(next) || parse_ids(next, &head->pid, &head->tid)) {
			word = next;
			rest = str_trim(part(rest, 0, (size_t)(next.data + next.size - rest.data)));
			before = further;
		}
	}
	head->cpu = -1;
	if (parse_cpu(word, &cpu)) {
		head->cpu = (int64_t)cpu;
		rest = before;
		word = take_last_word(&before);
	}
	head->pid = head->tid = -1;
	head->comm = rest;
	int64_t pid, tid;
	if (word.size && parse_ids(word, &pid, &tid)) {
		head->pid = pid;
		head->tid = tid;
		head->comm = before;
	}
}

/* Parses the event, a word that ends in ':', and the rest. */
static void scan_event(struct perf_head *head, struct str rest)
{
	struct str after = rest, word = take_word(&after);

	head->rest = rest;
	if (word.size < 2 || word.data[word.size - 1] != ':')
		return;
	head->event = part(word, 0, word.size - 1);
	head->rest = after;
}

/*
 * Parses a period.  One with too many digits becomes the smallest that does not fit into a weight.
 */
static bool parse_period(struct str word, uint64_t *period)
{
	if (parse_number(word, period))
		return true;
	for (size_t i = 0; i < word.size; i++)
		if (!char_is_digit(word.data[i]))
			return false;
	*period = (uint64_t)INT64_MAX + 1;
	return word.size != 0;
}

/* Parses what follows the time: a period, the event, the rest. */
static enum perf_head_kind scan_behind_time(struct perf_head *head, struct str rest)
{
	struct str after = rest, word = take_word(&after);

	if (str_starts_with(word, STR("PERF_RECORD_"))) {
		head->record = rest;
		return PERF_HEAD_RECORD;
	}
	if (parse_period(word, &head->period))
		rest = after;
	else
		head->period = UINT64_MAX;
	scan_event(head, rest);
	return PERF_HEAD_SAMPLE;
}

/*
 * Whether the text before an event ends in a process id or a CPU, optionally followed by a period.
 */
static bool scan_before_event(struct perf_head *head, struct str before)
{
	struct str further = before, word = take_last_word(&further), next = further;
	int64_t pid, tid;

	head->who = before;
	next = take_last_word(&further);
	if (parse_number(word, &head->period) && (is_cpu(next) || parse_ids(next, &pid, &tid))) {
		head->who =
			str_trim(part(before, 0, (size_t)(next.data + next.size - before.data)));
		return true;
	}
	head->period = UINT64_MAX;
	return word.size && (is_cpu(word) || parse_ids(word, &pid, &tid));
}

static void head_init(struct perf_head *head)
{
	*head = (struct perf_head){
		.pid = -1, .tid = -1, .cpu = -1, .time_ns = UINT64_MAX, .period = UINT64_MAX};
}

/* The next word of line from *at on that ends in ':': its start, and its end in *at. */
static bool find_colon_word(struct str line, size_t *at, size_t *start)
{
	while (*at < line.size) {
		const char *colon = memchr(line.data + *at, ':', line.size - *at);
		if (colon == NULL)
			return false;
		size_t i = (size_t)(colon - line.data);
		*at = i + 1;
		if (*at < line.size && !text_is_blank(line.data[*at]) && line.data[*at] != '\r')
			continue;
		while (i && !text_is_blank(line.data[i - 1]))
			i--;
		*start = i;
		return true;
	}
	return false;
}

enum perf_head_kind perf_head_scan(struct str line, struct perf_head *head)
{
	size_t at = 0, start, first_at = 0, first_start = 0;
	bool has_first = false;

	head_init(head);
	while (find_colon_word(line, &at, &start)) {
		if (parse_time(part(line, start, at - 1), &head->time_ns)) {
			head->who = str_trim(part(line, 0, start));
			return scan_behind_time(head, str_trim(part(line, at, line.size)));
		}
		if (!has_first && scan_before_event(head, str_trim(part(line, 0, start)))) {
			has_first = true;
			first_at = at;
			first_start = start;
		}
	}
	if (!has_first)
		return PERF_HEAD_NONE;
	(void)scan_before_event(head, str_trim(part(line, 0, first_start)));
	if (str_starts_with(part(line, first_start, first_at), STR("PERF_RECORD_"))) {
		head->record = str_trim(part(line, first_start, line.size));
		return PERF_HEAD_RECORD;
	}
	scan_event(head, str_trim(part(line, first_start, line.size)));
	return PERF_HEAD_SAMPLE;
}

bool perf_head_scan_weak(struct str line, struct perf_head *head)
{
	struct str before = str_trim(line), whole = before;
	struct str word = take_last_word(&before);

	head_init(head);
	head->who = whole;
	if (word.size > 1 && word.data[word.size - 1] == ':') {
		head->who = before;
		head->event = part(word, 0, word.size - 1);
	}
	return whole.size && !text_is_blank(line.data[0]);
}

/* ---- frames ---- */

/*
 * Frames, as perf-script(1) prints them (tools/perf/util/evsel_fprintf.c of Linux), one per line,
 * leaf first:
 *
 * 	ADDRESS NAME+0xOFFSET (LOAD OBJECT)
 * 	ADDRESS NAME+0xOFFSET (inlined)
 *
 * Names may contain blanks and parentheses, and so may paths, which may end in " (deleted)".  So
 * the load object is found from the line's end: it is what the last parenthesis encloses.
 */

/*
 * Takes the hexadecimal number at the start of s, at most 16 digits, followed by a blank or the
 * end.
 */
static bool take_address(struct str *s, uint64_t *address)
{
	size_t i = str_starts_with(*s, STR("0x")) ? 2 : 0, first = i;
	uint64_t value = 0;

	for (; i < s->size && text_hex_value(s->data[i]) < 16; i++)
		value = value << 4 | (uint64_t)text_hex_value(s->data[i]);
	if (i == first || i - first > 16 || (i < s->size && !text_is_blank(s->data[i])))
		return false;
	*address = value;
	*s = str_trim((struct str){s->data + i, s->size - i});
	return true;
}

/* The opening parenthesis that matches the last character; s.size if there is none. */
static size_t find_opening(struct str s)
{
	size_t depth = 0;

	for (size_t i = s.size; i-- > 0;) {
		if (s.data[i] == ')')
			depth++;
		else if (s.data[i] == '(' && --depth == 0)
			return i;
	}
	return s.size;
}

/* Whether names of load objects can begin so; arguments of functions cannot. */
static bool begins_object(char c)
{
	return c == '/' || c == '[';
}

/* Takes "(LOAD OBJECT)", with a blank before it, off the end of s. */
static bool take_object(struct str *s, struct str *object)
{
	if (s->size == 0 || s->data[s->size - 1] != ')')
		return false;
	size_t at = find_opening(*s);
	if (at == s->size || (at > 0 && !text_is_blank(s->data[at - 1]))) {
		/* The parentheses of a name may be unbalanced, and may follow blanks. */
		for (at = s->size; at > 1; at--)
			if (s->data[at - 1] == '(' && text_is_blank(s->data[at - 2]) &&
				begins_object(s->data[at]))
				break;
		if (at <= 1)
			return false;
		at--;
	}
	*object = (struct str){s->data + at + 1, s->size - at - 2};
	*s = str_trim((struct str){s->data, at});
	return true;
}

/* Takes +0xHEX off the end of s. */
static void take_offset(struct str *s)
{
	size_t i = s->size;

	while (i && text_hex_value(s->data[i - 1]) < 16)
		i--;
	if (i < s->size && i >= 3 && memcmp(s->data + i - 3, "+0x", 3) == 0)
		s->size = i - 3;
}

/* Output of perf script -F brstackinsn, insn and --xed looks similar to frames. */
static bool is_instruction(struct str rest)
{
	return str_starts_with(rest, STR("insn:")) || str_starts_with(rest, STR("ilen:"));
}

bool perf_frame_scan(struct str line, struct perf_frame *frame)
{
	struct str rest = str_trim(line), object = STR("");
	uint64_t address;

	if (!take_address(&rest, &address) || is_instruction(rest))
		return false;
	*frame = (struct perf_frame){.address = address};
	if (take_object(&rest, &object)) {
		frame->is_inline = str_equal(object, STR("inlined"));
		struct str name = rest;
		/* Some versions print both. */
		if (frame->is_inline && take_object(&name, &object) && object.size &&
			begins_object(object.data[0]))
			rest = name;
		else if (frame->is_inline)
			object = STR("");
		if (!str_equal(object, STR("inlined")) && !str_equal(object, STR("[unknown]")))
			frame->object = object;
	}
	take_offset(&frame->object);
	take_offset(&rest);
	frame->name = rest;
	return true;
}

/* Whether s begins with a hexadecimal number, which is a whole word. */
static bool begins_address(struct str s)
{
	uint64_t address;

	text_skip_blanks(&s);
	return take_address(&s, &address);
}

/* Takes " => ADDRESS …", the target of a branch, off the end of s; false if it has none. */
static bool take_target(struct str *s)
{
	for (size_t end = s->size; end >= 2;) {
		const char *arrow = memrchr(s->data, '=', end);
		size_t at = arrow ? (size_t)(arrow - s->data) : 0;

		if (arrow == NULL)
			return false;
		if (at + 2 < s->size && s->data[at + 1] == '>' && text_is_blank(s->data[at + 2]) &&
			(at == 0 || text_is_blank(s->data[at - 1])) &&
			begins_address(part(*s, at + 2, s->size))) {
			*s = str_trim(part(*s, 0, at));
			return true;
		}
		end = at;
	}
	return false;
}

/* Whether a word is a branch record, "FROM/TO/M/-/-/0", with addresses or names. */
static bool is_branch_record(struct str word)
{
	size_t slashes = 0;

	for (size_t i = 0; i < word.size; i++)
		slashes += word.data[i] == '/';
	for (size_t i = word.size; slashes >= 5 && i-- > 2;)
		if (word.data[i] == '/' && word.data[i - 2] == '/' &&
			memchr("MPN-", word.data[i - 1], 4))
			return true;
	return false;
}

/* Takes what follows a frame and is none of it: cycles, an instruction, branch records. */
static void take_extras(struct str *s)
{
	static const char *const begins[] = {"IPC:", "insn:", "ilen:"};
	struct str before = *s, word;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		struct str found;
		size_t size = strlen(begins[i]);

		if (!text_find(*s, str_from(begins[i]), &found))
			continue;
		size_t at = (size_t)(found.data - s->data) - size;
		if (at && text_is_blank(s->data[at - 1]))
			*s = str_trim(part(*s, 0, at));
	}
	for (before = *s; (word = take_last_word(&before)).size && is_branch_record(word);)
		*s = before;
}

/*
 * Where a word is an address in 16 columns, as perf prints them after something else: its start; 0
 * if there is none.  The last one counts: an accessed address precedes that of the code.
 */
static size_t find_column(struct str s)
{
	size_t found = 0;

	for (size_t i = 0, end = 0; i < s.size; end = i) {
		while (i < s.size && text_is_blank(s.data[i]))
			i++;
		size_t start = i;
		while (i < s.size && !text_is_blank(s.data[i]))
			i++;
		if (start && i - end >= 17 && begins_address(part(s, start, i)))
			found = start;
	}
	return found;
}

/* The first word that is an address and not, as "add", also a name; s.size: none. */
static size_t find_address(struct str s)
{
	for (size_t i = 0; i < s.size;) {
		while (i < s.size && text_is_blank(s.data[i]))
			i++;
		size_t start = i;
		bool has_digit = false;
		for (; i < s.size && !text_is_blank(s.data[i]); i++)
			has_digit |= char_is_digit(s.data[i]);
		if (has_digit && begins_address(part(s, start, i)))
			return start;
	}
	return s.size;
}

bool perf_is_target(struct str line)
{
	line = str_trim(line);
	return take_target(&line) && line.size == 0;
}

struct str perf_head_frame(struct str rest)
{
	bool is_branch = take_target(&rest);

	take_extras(&rest);
	size_t at = find_column(rest);
	if (at == 0 && is_branch && !begins_address(rest))
		at = find_address(rest);
	return part(rest, at, rest.size);
}

/* Takes the number after the last ':' off s. */
static bool take_line_number(struct str *s, uint32_t *line)
{
	uint64_t value = 0;
	size_t i = s->size;

	while (i && s->data[i - 1] >= '0' && s->data[i - 1] <= '9')
		i--;
	if (i == s->size || s->size - i > 9 || i < 2 || s->data[i - 1] != ':')
		return false;
	for (size_t k = i; k < s->size; k++)
		value = value * 10 + (uint64_t)(s->data[k] - '0');
	*line = (uint32_t)value;
	s->size = i - 1;
	return true;
}

/* Takes a mark like "(inlined)" or "(discriminator 3)" off the end of s. */
static bool take_mark(struct str *s, struct str begins)
{
	struct str rest = *s, mark;

	if (!take_object(&rest, &mark) || !str_starts_with(mark, begins))
		return false;
	*s = rest;
	return true;
}

bool perf_frame_scan_place(struct str line, struct perf_frame *frame)
{
	struct str rest = str_trim(line);
	uint32_t number;

	if (!str_starts_with(line, STR("  ")) || rest.size == 0)
		return false;
	if (take_mark(&rest, STR("inlined")))
		frame->is_inline = true;
	(void)take_mark(&rest, STR("discriminator"));
	if (take_line_number(&rest, &number) && !str_equal(rest, STR("??"))) {
		frame->file = rest;
		frame->line = number;
	}
	return true;
}
