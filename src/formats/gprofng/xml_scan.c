/* Scans XML. See xml_scan.h; the grammar is that of XML 1.0, sections 2.3, 2.4, 3.1 and 4.6. */
#include "formats/gprofng/xml_scan.h"

#include "base/escape.h"
#include "formats/common/text_field.h"

static void drop(struct str *s, size_t size)
{
	s->data += size;
	s->size -= size;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void drop_spaces(struct str *s)
{
	while (s->size && is_space(s->data[0]))
		drop(s, 1);
}

static struct str take_name(struct str *s)
{
	size_t size = 0;

	while (size < s->size && !is_space(s->data[size]) && !strchr("=/><\"'", s->data[size]))
		size++;
	struct str name = {s->data, size};
	drop(s, size);
	return name;
}

/* The end of a tag: the next '>' outside quotes. */
static const char *tag_end(struct str s)
{
	char quote = 0;

	for (size_t i = 0; i < s.size; i++) {
		char c = s.data[i];
		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '>')
			return s.data + i;
	}
	return NULL;
}

bool xml_scan_next(struct xml_scan *scan, struct xml_element *element)
{
	for (;;) {
		const char *start =
			scan->rest.size ? memchr(scan->rest.data, '<', scan->rest.size) : NULL;
		if (start == NULL)
			return false;
		drop(&scan->rest, (size_t)(start - scan->rest.data) + 1);
		const char *end = tag_end(scan->rest);
		if (end == NULL)
			return false;
		struct str tag = {scan->rest.data, (size_t)(end - scan->rest.data)};
		drop(&scan->rest, tag.size + 1);
		element->name = take_name(&tag);
		if (element->name.size == 0 || strchr("!?", element->name.data[0]))
			continue;
		element->attributes = tag;
		const char *next =
			scan->rest.size ? memchr(scan->rest.data, '<', scan->rest.size) : NULL;
		element->text = scan->rest;
		if (next)
			element->text.size = (size_t)(next - scan->rest.data);
		return true;
	}
}

/* Takes an entity, "&lt;", "&#60;" or "&#x3c;"; false: unknown. */
static bool take_entity(struct str *s, struct strbuf *out)
{
	static const struct {
		const char *name;
		char character;
	} entities[] = {
		{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
	struct str rest = *s;
	uint64_t code;

	for (size_t i = 0; i < ARRAY_SIZE(entities); i++)
		if (text_take(s, str_from(entities[i].name))) {
			strbuf_add_char(out, entities[i].character);
			return true;
		}
	bool is_number = text_take(&rest, STR("&#x"))
				 ? text_take_hex(&rest, &code)
				 : text_take(&rest, STR("&#")) && text_take_number(&rest, &code);
	if (!is_number || !text_take(&rest, STR(";")) || code == 0 || code > 0x10ffff)
		return false;
	utf8_add(out, (uint32_t)code);
	*s = rest;
	return true;
}

static void unescape(struct str s, struct strbuf *out)
{
	strbuf_clear(out);
	while (s.size) {
		if (s.data[0] == '&' && take_entity(&s, out))
			continue;
		strbuf_add_char(out, s.data[0]);
		drop(&s, 1);
	}
}

/* Takes the next attribute, with its value unprocessed; false at the end. */
static bool take_attribute(struct str *s, struct str *name, struct str *value)
{
	drop_spaces(s);
	*name = take_name(s);
	drop_spaces(s);
	if (name->size == 0 || !text_take(s, STR("=")))
		return false;
	drop_spaces(s);
	if (s->size == 0 || (s->data[0] != '"' && s->data[0] != '\''))
		return false;
	const char *end = memchr(s->data + 1, s->data[0], s->size - 1);
	if (end == NULL)
		return false;
	*value = (struct str){s->data + 1, (size_t)(end - s->data) - 1};
	drop(s, value->size + 2);
	return true;
}

static bool find_attribute(const struct xml_element *element, const char *name, struct str *value)
{
	struct str rest = element->attributes, found;

	while (take_attribute(&rest, &found, value))
		if (str_equal(found, str_from(name)))
			return true;
	return false;
}

bool xml_attribute(const struct xml_element *element, const char *name, struct strbuf *value)
{
	struct str raw;

	if (!find_attribute(element, name, &raw))
		return false;
	unescape(raw, value);
	return true;
}

uint64_t xml_number(const struct xml_element *element, const char *name, uint64_t otherwise)
{
	struct str raw;
	uint64_t number;

	if (!find_attribute(element, name, &raw))
		return otherwise;
	(void)text_take(&raw, STR("+"));
	if (text_take(&raw, STR("0x")))
		return text_take_hex(&raw, &number) ? number : otherwise;
	return text_take_number(&raw, &number) ? number : otherwise;
}

uint64_t xml_seconds(const struct xml_element *element, const char *name, uint64_t otherwise)
{
	struct str raw;
	uint64_t ns;

	return find_attribute(element, name, &raw) && text_seconds(raw, STR(""), &ns) ? ns
										      : otherwise;
}
