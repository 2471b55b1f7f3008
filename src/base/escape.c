/*
 * Escaping of untrusted bytes: one pass over UTF-8 that copies runs of plain characters and passes
 * every other character to the escape rule of the output.
 *
 * Escapes are ASCII, so the output is always valid UTF-8 without control, bidirectional or
 * invisible characters.
 */
#include "base/escape.h"

struct range {
	int32_t first, last;
};

static bool in_ranges(int32_t c, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

static bool is_control(int32_t c)
{
	return (c >= 0 && c < 0x20) || (c >= 0x7f && c < 0xa0);
}

/* Characters that show nothing, or change the order in which others are shown. */
static bool is_format(int32_t c)
{
	static const struct range ranges[] = {{0x61c, 0x61c}, {0x200b, 0x200f}, {0x2028, 0x202e},
		{0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

	return in_ranges(c, ranges, ARRAY_SIZE(ranges));
}

/* Marks that are shown over the character before them. */
static bool is_combining(int32_t c)
{
	static const struct range ranges[] = {{0x300, 0x36f}, {0x483, 0x489}, {0x591, 0x5bd},
		{0x610, 0x61a}, {0x64b, 0x65f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
		{0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};

	return in_ranges(c, ranges, ARRAY_SIZE(ranges));
}

/* East Asian wide characters and emoji, by blocks. */
static bool is_wide(int32_t c)
{
	static const struct range ranges[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x33ff},
		{0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97f},
		{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60},
		{0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
		{0x20000, 0x3fffd}};

	return in_ranges(c, ranges, ARRAY_SIZE(ranges));
}

/*
 * The length of a character that begins with this byte, and the lowest code point of that length.
 */
static size_t sequence_length(unsigned char lead, int32_t *least)
{
	if (lead >= 0xc2 && lead <= 0xdf) {
		*least = 0x80;
		return 2;
	}
	if (lead >= 0xe0 && lead <= 0xef) {
		*least = 0x800;
		return 3;
	}
	if (lead >= 0xf0 && lead <= 0xf4) {
		*least = 0x10000;
		return 4;
	}
	*least = 0;
	return lead < 0x80 ? 1 : 0;
}

size_t utf8_decode(struct str s, int32_t *code_point)
{
	const unsigned char *p = (const unsigned char *)s.data;
	int32_t least;
	size_t length = sequence_length(p[0], &least);

	*code_point = -1;
	if (length == 0 || length > s.size)
		return 1;
	if (length == 1) {
		*code_point = p[0];
		return 1;
	}
	int32_t c = p[0] & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 1;
	*code_point = c;
	return length;
}

void utf8_add(struct strbuf *out, uint32_t c)
{
	char bytes[4];
	size_t size = 0;

	if (c < 0x80) {
		bytes[size++] = (char)c;
	} else {
		if (c >= 0x10000) {
			bytes[size++] = (char)(0xf0 | c >> 18);
			bytes[size++] = (char)(0x80 | (c >> 12 & 0x3f));
		} else if (c >= 0x800) {
			bytes[size++] = (char)(0xe0 | c >> 12);
		}
		bytes[size++] = (char)(c < 0x800 ? 0xc0 | c >> 6 : 0x80 | (c >> 6 & 0x3f));
		bytes[size++] = (char)(0x80 | (c & 0x3f));
	}
	strbuf_add(out, (struct str){bytes, size});
}

/* Length of the run at the start of s that is printable ASCII and none of the bytes in special. */
static size_t plain_run(struct str s, const char *special)
{
	size_t i = 0;

	for (; i < s.size; i++) {
		unsigned char c = (unsigned char)s.data[i];
		if (c < 0x20 || c >= 0x7f || c == (unsigned char)special[0] ||
			c == (unsigned char)special[1])
			break;
	}
	return i;
}

/* Writes one character that is not plain ASCII; bytes are the ones it was decoded from. */
typedef void escape_rule(struct strbuf *out, int32_t c, struct str bytes);

/* special: two bytes (possibly the same, or NUL) that are also passed to the rule. */
static void escape(struct strbuf *out, struct str s, const char special[2], escape_rule *rule)
{
	while (s.size) {
		size_t run = plain_run(s, special);
		strbuf_add(out, (struct str){s.data, run});
		s.data += run;
		s.size -= run;
		if (s.size == 0)
			break;
		int32_t c;
		size_t length = utf8_decode(s, &c);
		rule(out, c, (struct str){s.data, length});
		s.data += length;
		s.size -= length;
	}
}

static void rule_text(struct strbuf *out, int32_t c, struct str bytes)
{
	if (c < 0)
		strbuf_add(out, STR("\xef\xbf\xbd"));
	else if (is_control(c))
		strbuf_printf(out, "\\x%02x", (unsigned int)c);
	else if (is_format(c))
		strbuf_printf(out, "\\u{%04x}", (unsigned int)c);
	else
		strbuf_add(out, bytes);
}

void escape_text(struct strbuf *out, struct str s)
{
	escape(out, s, "\0", rule_text);
}

/* ---- folded stacks ---- */

static int hex_value(char c)
{
	if (char_is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Characters that escape_folded may write as \xNN; only these are read back. */
static bool is_folded_escape(unsigned char c)
{
	return c <= ' ' || c >= 0x7f || strchr("#123456789;\\`", c);
}

/*
 * The length of an escape as escape_folded writes it, \xNN or \u{NNNN}, at the start of s, and what
 * it stands for; 0: there is none.
 */
static size_t folded_escape(struct str s, uint32_t *c, bool *is_byte)
{
	size_t i;

	if (s.size >= 4 && s.data[0] == '\\' && s.data[1] == 'x' && hex_value(s.data[2]) >= 0 &&
		hex_value(s.data[3]) >= 0) {
		*c = (uint32_t)(hex_value(s.data[2]) * 16 + hex_value(s.data[3]));
		*is_byte = true;
		return is_folded_escape((unsigned char)*c) ? 4 : 0;
	}
	if (!str_starts_with(s, STR("\\u{")))
		return 0;
	*c = 0;
	*is_byte = false;
	for (i = 3; i < s.size && i < 9 && hex_value(s.data[i]) >= 0; i++)
		*c = *c << 4 | (uint32_t)hex_value(s.data[i]);
	if (i < 7 || i == s.size || s.data[i] != '}' || (i > 7 && s.data[3] == '0'))
		return 0;
	return is_format((int32_t)*c) || (*c >= 0x80 && *c < 0xa0) ? i + 1 : 0;
}

/* Unlike in text for people, each byte can be restored. */
static void rule_folded(struct strbuf *out, int32_t c, struct str bytes)
{
	if (c == '`')
		strbuf_add(out, STR("``"));
	else if (c < 0 || c == ';' || c == '\\')
		strbuf_printf(out, "\\x%02x", (unsigned char)bytes.data[0]);
	else if (c >= 0x80 && is_control(c))
		strbuf_printf(out, "\\u{%04x}", (unsigned int)c);
	else
		rule_text(out, c, bytes);
}

static bool continues_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

/* Whether a single '`' with this after it is part of a .NET name, "List`1": before its arity. */
static bool begins_arity(struct str after)
{
	size_t i = 0;

	while (i < after.size && char_is_digit(after.data[i]))
		i++;
	return i > 0 && i <= 3 && after.data[0] != '0' &&
	       (i == after.size || !continues_word(after.data[i]));
}

size_t folded_module_size(struct str frame)
{
	for (size_t i = 0; i < frame.size; i++) {
		const char *tick = memchr(frame.data + i, '`', frame.size - i);

		if (tick == NULL)
			return 0;
		i = (size_t)(tick - frame.data);
		if (i + 1 < frame.size && tick[1] == '`')
			i++;
		else if (!begins_arity((struct str){tick + 1, frame.size - i - 1}))
			return i + 1 < frame.size ? i : 0;
	}
	return 0;
}

static void add_folded(struct strbuf *out, struct str s)
{
	while (s.size) {
		const char *slash = memchr(s.data, '\\', s.size);
		size_t i = slash ? (size_t)(slash - s.data) : s.size;
		bool is_byte;
		uint32_t c;

		escape(out, (struct str){s.data, i}, "`;", rule_folded);
		s = (struct str){s.data + i, s.size - i};
		if (s.size == 0)
			break;
		strbuf_add(out, folded_escape(s, &c, &is_byte) ? STR("\\x5c") : STR("\\"));
		s = (struct str){s.data + 1, s.size - 1};
	}
}

/* Writes a load object and its '`', which no other may precede. */
static void add_folded_module(struct strbuf *out, struct str module)
{
	bool has_tick = str_ends_with(module, STR("`"));

	add_folded(out, (struct str){module.data, module.size - has_tick});
	strbuf_add(out, has_tick ? STR("\\x60`") : STR("`"));
}

static bool is_blank(struct str s)
{
	for (size_t i = 0; i < s.size; i++)
		if (s.data[i] != ' ')
			return false;
	return true;
}

void escape_folded(struct strbuf *out, struct str name, struct str module, bool with_module)
{
	bool has_module = with_module && !is_blank(module);

	if (has_module)
		add_folded_module(out, module);
	if (name.size == 0) {
		strbuf_add(out, STR("[unknown]"));
		return;
	}
	/*
	 * A blank frame would be unknown; behind a module's '`', a number would be an arity, and
	 * another '`' would be one with it.
	 */
	if (is_blank(name) || (has_module && memchr("123456789`", name.data[0], 10))) {
		strbuf_printf(out, "\\x%02x", (unsigned char)name.data[0]);
		name = (struct str){name.data + 1, name.size - 1};
	}
	add_folded(out, name);
}

void escape_folded_first(struct strbuf *out, struct str frame)
{
	bool is_comment = frame.size && frame.data[0] == '#';

	if (is_comment)
		strbuf_add(out, STR("\\x23"));
	strbuf_add(out, (struct str){frame.data + is_comment, frame.size - is_comment});
}

/* What the '`' or '\\' at the start of s stands for; returns its size. */
static size_t take_folded_mark(struct strbuf *out, struct str s)
{
	uint32_t c = (unsigned char)s.data[0];
	bool is_byte = true;
	size_t size = str_starts_with(s, STR("``")) ? 2 : folded_escape(s, &c, &is_byte);

	if (is_byte)
		strbuf_add_char(out, (char)(size ? c : (unsigned char)s.data[0]));
	else
		utf8_add(out, c);
	return size ? size : 1;
}

void unescape_folded(struct strbuf *out, struct str text)
{
	while (text.size) {
		size_t i = 0;

		while (i < text.size && text.data[i] != '`' && text.data[i] != '\\')
			i++;
		strbuf_add(out, (struct str){text.data, i});
		if (i < text.size)
			i += take_folded_mark(out, (struct str){text.data + i, text.size - i});
		text = (struct str){text.data + i, text.size - i};
	}
}

/* \uNNNN, as two surrogates beyond the basic plane. */
static void json_unicode(struct strbuf *out, int32_t c)
{
	unsigned int u = (unsigned int)c;

	if (u < 0x10000)
		strbuf_printf(out, "\\u%04x", u);
	else
		strbuf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((u - 0x10000) >> 10),
			0xdc00 + ((u - 0x10000) & 0x3ff));
}

static void rule_json(struct strbuf *out, int32_t c, struct str bytes)
{
	static const char letters[0x20] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

	if (c == '"' || c == '\\')
		strbuf_printf(out, "\\%c", (char)c);
	else if (c >= 0 && c < 0x20 && letters[c])
		strbuf_printf(out, "\\%c", letters[c]);
	else if (c >= 0 && (is_control(c) || is_format(c)))
		json_unicode(out, c);
	else
		rule_text(out, c, bytes);
}

void escape_json(struct strbuf *out, struct str s)
{
	escape(out, s, "\"\\", rule_json);
}

void quote_json(struct strbuf *out, struct str s)
{
	strbuf_add_char(out, '"');
	escape_json(out, s);
	strbuf_add_char(out, '"');
}

static void rule_bytes(struct strbuf *out, int32_t c, struct str bytes)
{
	if (c == '"' || c == '\\')
		strbuf_printf(out, "\\%c", (char)c);
	else if (c >= 0 && !is_control(c) && !is_format(c))
		strbuf_add(out, bytes);
	else
		for (size_t i = 0; i < bytes.size; i++)
			strbuf_printf(out, "\\x%02x", (unsigned char)bytes.data[i]);
}

void escape_bytes(struct strbuf *out, struct str s)
{
	escape(out, s, "\"\\", rule_bytes);
}

static size_t skip_digits(struct str s, size_t i)
{
	while (i < s.size && s.data[i] >= '0' && s.data[i] <= '9')
		i++;
	return i;
}

/* [+-] digits [. digits], at least one digit. */
static bool is_number(struct str s)
{
	size_t start = s.size && (s.data[0] == '+' || s.data[0] == '-') ? 1 : 0;
	size_t i = skip_digits(s, start);
	size_t digits = i - start;

	if (i < s.size && s.data[i] == '.') {
		size_t end = skip_digits(s, i + 1);
		digits += end - i - 1;
		i = end;
	}
	return digits && i == s.size;
}

static bool csv_needs_quotes(struct str s)
{
	if (s.size == 0)
		return false;
	if (s.data[0] == ' ' || s.data[s.size - 1] == ' ')
		return true;
	return memchr(s.data, ',', s.size) || memchr(s.data, '"', s.size);
}

static void csv_quoted(struct strbuf *out, struct str s)
{
	strbuf_add_char(out, '"');
	for (size_t i = 0; i < s.size; i++) {
		if (s.data[i] == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, s.data[i]);
	}
	strbuf_add_char(out, '"');
}

static bool is_shell_plain(struct str s)
{
	for (size_t i = 0; i < s.size; i++) {
		char c = s.data[i];

		if (!char_is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
			!strchr("_./:@%+=,-", c))
			return false;
	}
	return s.size > 0 && memchr(s.data, '\0', s.size) == NULL;
}

void quote_shell(struct strbuf *out, struct str s)
{
	if (is_shell_plain(s)) {
		strbuf_add(out, s);
		return;
	}
	strbuf_add_char(out, '\'');
	for (size_t i = 0; i < s.size; i++)
		if (s.data[i] == '\'')
			strbuf_add(out, STR("'\\''"));
		else
			strbuf_add_char(out, s.data[i]);
	strbuf_add_char(out, '\'');
}

void escape_csv(struct strbuf *out, struct str s)
{
	struct strbuf field = {0};

	if (s.size && strchr("=+-@", s.data[0]) && s.data[0] && !is_number(s))
		strbuf_add_char(&field, '\'');
	escape_text(&field, s);
	if (csv_needs_quotes(strbuf_str(&field)))
		csv_quoted(out, strbuf_str(&field));
	else
		strbuf_add(out, strbuf_str(&field));
	strbuf_deinit(&field);
}

void escape_xml(struct strbuf *out, struct str s)
{
	struct strbuf safe = {0};

	escape_text(&safe, s);
	for (struct str rest = strbuf_str(&safe); rest.size;) {
		int32_t c;
		size_t size = utf8_decode(rest, &c);

		if (c == '&')
			strbuf_add(out, STR("&amp;"));
		else if (c == '<')
			strbuf_add(out, STR("&lt;"));
		else if (c == '>')
			strbuf_add(out, STR("&gt;"));
		else if (c == '"')
			strbuf_add(out, STR("&quot;"));
		else if (c == 0xfffe || c == 0xffff)
			strbuf_add(out, STR("\xef\xbf\xbd"));
		else
			strbuf_add(out, (struct str){rest.data, size});
		rest = (struct str){rest.data + size, rest.size - size};
	}
	strbuf_deinit(&safe);
}

static size_t character_width(int32_t c)
{
	if (c < 0)
		return 1; /* U+FFFD */
	if (is_control(c))
		return 4; /* \xNN */
	if (is_format(c))
		return c < 0x10000 ? 8 : 9; /* \u{NNNN} */
	if (is_combining(c))
		return 0;
	return is_wide(c) ? 2 : 1;
}

size_t utf8_width(struct str s)
{
	size_t width = 0;

	while (s.size) {
		size_t run = plain_run(s, "\0");
		width += run;
		s.data += run;
		s.size -= run;
		if (s.size == 0)
			break;
		int32_t c;
		size_t length = utf8_decode(s, &c);
		width += character_width(c);
		s.data += length;
		s.size -= length;
	}
	return width;
}
