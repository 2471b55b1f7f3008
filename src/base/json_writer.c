/* Writes JSON.  See json_writer.h. */
#include "base/json_writer.h"

#include <assert.h>
#include <inttypes.h>

#include "base/escape.h"

/* Writes the separator before a value or a key. */
static void before(struct json_writer *w)
{
	if (w->needs_comma && !w->is_value)
		strbuf_add_char(w->out, ',');
	w->needs_comma = true;
	w->is_value = false;
}

static void begin(struct json_writer *w, bool is_object)
{
	assert(w->depth < JSON_WRITER_DEPTH_MAX);
	before(w);
	w->is_object[w->depth++] = is_object;
	strbuf_add_char(w->out, is_object ? '{' : '[');
	w->needs_comma = false;
}

void json_put_object(struct json_writer *w)
{
	begin(w, true);
}

void json_put_array(struct json_writer *w)
{
	begin(w, false);
}

void json_put_end(struct json_writer *w)
{
	assert(w->depth > 0 && !w->is_value);
	strbuf_add_char(w->out, w->is_object[--w->depth] ? '}' : ']');
	w->needs_comma = true;
}

void json_put_line(struct json_writer *w)
{
	if (w->needs_comma)
		strbuf_add_char(w->out, ',');
	strbuf_add_char(w->out, '\n');
	w->needs_comma = false;
}

void json_put_key(struct json_writer *w, const char *key)
{
	assert(w->depth && w->is_object[w->depth - 1] && !w->is_value);
	before(w);
	strbuf_add_char(w->out, '"');
	strbuf_add(w->out, str_from(key));
	strbuf_add(w->out, STR("\":"));
	w->is_value = true;
}

void json_put_key_str(struct json_writer *w, struct str key)
{
	assert(w->depth && w->is_object[w->depth - 1] && !w->is_value);
	before(w);
	quote_json(w->out, key);
	strbuf_add_char(w->out, ':');
	w->is_value = true;
}

void json_put_string(struct json_writer *w, struct str s)
{
	before(w);
	quote_json(w->out, s);
}

void json_put_unsigned(struct json_writer *w, uint64_t value)
{
	char digits[20];
	size_t i = sizeof(digits);

	before(w);
	do
		digits[--i] = (char)('0' + value % 10);
	while (value /= 10);
	strbuf_add(w->out, (struct str){digits + i, sizeof(digits) - i});
}

void json_put_int(struct json_writer *w, int64_t value)
{
	json_put_decimal(w, value, 0);
}

void json_put_decimal(struct json_writer *w, int64_t value, unsigned int digits)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value, one = 1;

	assert(digits <= 18);
	for (; digits && size % 10 == 0; digits--)
		size /= 10;
	for (unsigned int i = 0; i < digits; i++)
		one *= 10;
	if (value < 0) {
		before(w);
		strbuf_add_char(w->out, '-');
		w->is_value = true;
	}
	json_put_unsigned(w, size / one);
	if (digits)
		strbuf_printf(w->out, ".%0*" PRIu64, (int)digits, size % one);
}

void json_put_bool(struct json_writer *w, bool value)
{
	before(w);
	strbuf_add(w->out, value ? STR("true") : STR("false"));
}

void json_put_null(struct json_writer *w)
{
	before(w);
	strbuf_add(w->out, STR("null"));
}
