/* Splits a form into its parts, one after the other, without copying. */
#include "intake/multipart.h"

#include <string.h>
#include <strings.h>

/* RFC 2046: at most 70 characters. */
#define BOUNDARY_MAX 70

static bool starts_with_word(struct str s, const char *word)
{
	return s.size >= strlen(word) && strncasecmp(s.data, word, strlen(word)) == 0;
}

static struct str after(struct str s, size_t size)
{
	return (struct str){s.data + size, s.size - size};
}

/*
 * Takes the next parameter, "; name=value" or "; name="value"", from the start of rest; false:
 * there is none.
 */
static bool take_parameter(struct str *rest, struct str *name, struct str *value)
{
	size_t at = 0;

	while (rest->size && memchr("; \t", rest->data[0], 3))
		*rest = after(*rest, 1);
	while (at < rest->size && rest->data[at] != '=' && rest->data[at] != ';')
		at++;
	if (at == 0 || at == rest->size || rest->data[at] != '=')
		return false;
	*name = str_trim((struct str){rest->data, at});
	*rest = after(*rest, at + 1);
	bool is_quoted = rest->size && rest->data[0] == '"';
	const char *end;

	if (is_quoted)
		*rest = after(*rest, 1);
	end = rest->size ? memchr(rest->data, is_quoted ? '"' : ';', rest->size) : NULL;
	if (is_quoted && end == NULL)
		return false;
	*value = (struct str){rest->data, end ? (size_t)(end - rest->data) : rest->size};
	*rest = after(*rest, value->size + (end != NULL));
	if (!is_quoted)
		*value = str_trim(*value);
	return true;
}

static struct str parameter(struct str header, const char *wanted)
{
	const char *semicolon = header.size ? memchr(header.data, ';', header.size) : NULL;
	struct str rest = {
		semicolon, semicolon ? header.size - (size_t)(semicolon - header.data) : 0};
	struct str name, value;

	while (take_parameter(&rest, &name, &value))
		if (name.size == strlen(wanted) && strncasecmp(name.data, wanted, name.size) == 0)
			return value;
	return STR("");
}

struct str multipart_boundary(struct str type)
{
	struct str boundary;

	if (!starts_with_word(type, "multipart/form-data"))
		return STR("");
	boundary = parameter(type, "boundary");
	if (boundary.size > BOUNDARY_MAX)
		return STR("");
	return boundary;
}

/* Where the next delimiter begins, "--" and the boundary at a line's start; SIZE_MAX: none. */
static size_t find_delimiter(struct str text, struct str boundary, bool is_at_line)
{
	size_t whole = boundary.size + 2;

	for (size_t at = 0; at + whole <= text.size;) {
		bool begins = at ? text.data[at - 1] == '\n' : is_at_line;

		if (begins && text.data[at] == '-' && text.data[at + 1] == '-' &&
			memcmp(text.data + at + 2, boundary.data, boundary.size) == 0)
			return at;
		const char *newline = memchr(text.data + at, '\n', text.size - at);

		if (newline == NULL)
			break;
		at = (size_t)(newline - text.data) + 1;
	}
	return SIZE_MAX;
}

struct multipart multipart_begin(struct str body, struct str boundary)
{
	size_t at = find_delimiter(body, boundary, true);

	if (at == SIZE_MAX)
		return (struct multipart){
			.rest = STR(""), .boundary = boundary, .is_damaged = true};
	return (struct multipart){
		.rest = after(body, at + 2 + boundary.size), .boundary = boundary};
}

/* Takes a part's headers and the empty line after them; false: that line is missing. */
static bool take_head(struct str *rest, struct str *name)
{
	while (rest->size) {
		bool has_end = memchr(rest->data, '\n', rest->size) != NULL;
		struct str line = str_take_line(rest);

		if (line.size && line.data[line.size - 1] == '\r')
			line.size--;
		if (!has_end)
			return false;
		if (line.size == 0)
			return true;
		if (starts_with_word(line, "content-disposition:"))
			*name = parameter(line, "name");
	}
	return false;
}

bool multipart_next(struct multipart *m, struct multipart_part *part)
{
	*part = (struct multipart_part){STR(""), STR("")};
	/* "--" after a delimiter ends the form. */
	if (m->is_damaged || str_starts_with(m->rest, STR("--")))
		return false;
	if (m->count++ == MULTIPART_PARTS_MAX) {
		m->is_damaged = true;
		return false;
	}
	(void)str_take_line(&m->rest);
	if (!take_head(&m->rest, &part->name)) {
		m->is_damaged = true;
		return false;
	}
	size_t end = find_delimiter(m->rest, m->boundary, true);

	if (end == SIZE_MAX) {
		m->is_damaged = true;
		return false;
	}
	part->body = (struct str){m->rest.data, end};
	/* The line break before a delimiter belongs to the delimiter. */
	if (part->body.size && part->body.data[part->body.size - 1] == '\n')
		part->body.size--;
	if (part->body.size && part->body.data[part->body.size - 1] == '\r')
		part->body.size--;
	m->rest = after(m->rest, end + 2 + m->boundary.size);
	return true;
}
