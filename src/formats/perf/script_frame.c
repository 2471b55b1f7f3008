/*
 * Frames, as perf-script(1) prints them (tools/perf/util/evsel_fprintf.c of Linux), one a line,
 * leaf first:
 *
 *	ADDRESS NAME+0xOFFSET (LOAD OBJECT)
 *	ADDRESS NAME+0xOFFSET (inlined)
 *
 * Names hold blanks and parentheses, and so do paths, with " (deleted)" at their end; so the load
 * object is found from the line's end, by the parenthesis that the last one closes.
 */
#include "formats/perf/script_frame.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The hexadecimal number that begins s, in at most 16 digits, and a blank or the end behind it. */
static bool take_address(struct str *s, uint64_t *address)
{
	size_t i = str_starts_with(*s, STR("0x")) ? 2 : 0, first = i;
	uint64_t value = 0;

	for (; i < s->size && hex_value(s->data[i]) >= 0; i++)
		value = value << 4 | (uint64_t)hex_value(s->data[i]);
	if (i == first || i - first > 16 || (i < s->size && !is_blank(s->data[i])))
		return false;
	*address = value;
	*s = str_trim((struct str){s->data + i, s->size - i});
	return true;
}

/* Where the parenthesis opens that the last character closes; s.size if none does. */
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

/* What names of load objects begin with, and arguments of functions do not. */
static bool begins_object(char c)
{
	return c == '/' || c == '[';
}

/* Takes "(LOAD OBJECT)" off the end of s, if it is there with a blank before it. */
static bool take_object(struct str *s, struct str *object)
{
	if (s->size == 0 || s->data[s->size - 1] != ')')
		return false;
	size_t at = find_opening(*s);
	if (at == s->size || (at > 0 && !is_blank(s->data[at - 1]))) {
		/* The parentheses of a name do not always match, and may have blanks in front. */
		for (at = s->size; at > 1; at--)
			if (s->data[at - 1] == '(' && is_blank(s->data[at - 2]) &&
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

	while (i && hex_value(s->data[i - 1]) >= 0)
		i--;
	if (i < s->size && i >= 3 && memcmp(s->data + i - 3, "+0x", 3) == 0)
		s->size = i - 3;
}

/* What -F brstackinsn, insn and --xed print looks like frames. */
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

/* Takes the number behind the last ':' off s. */
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
