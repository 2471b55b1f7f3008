/*
 * What the browser writes for a frame: "0x7fff7d962da1", "name (in library) + 12", "name
 * (http://site/script.js:12:5)[3]", "http://site/script.js:12", "Startup::XRE_Main".
 *
 * The shapes and their order are those of src/profile-logic/process-profile.ts of
 * firefox-devtools/profiler; they are told from the end, without regular expressions.
 */
#include "formats/firefox/reader.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes `text` off the end of s. */
static bool take_end(struct str *s, struct str text)
{
	if (!str_ends_with(*s, text))
		return false;
	s->size -= text.size;
	return true;
}

/* Takes the last digits and the `before` that stands before them off s. */
static bool take_number(struct str *s, char before, uint32_t *value)
{
	size_t i = s->size;

	while (i > 0 && is_digit(s->data[i - 1]))
		i--;
	if (i == s->size || i == 0 || s->data[i - 1] != before)
		return false;
	uint64_t number = 0;
	for (size_t k = i; k < s->size && number <= UINT32_MAX; k++)
		number = number * 10 + (uint64_t)(s->data[k] - '0');
	*value = number < NO_ID ? (uint32_t)number : 0;
	s->size = i - 1;
	return true;
}

static bool read_address(struct str s, uint64_t *address)
{
	*address = 0;
	if (!str_starts_with(s, STR("0x")) || s.size == 2 || s.size > 18)
		return false;
	for (size_t i = 2; i < s.size; i++) {
		char c = s.data[i], low = c | 0x20;
		if (is_digit(c))
			*address = *address << 4 | (uint64_t)(c - '0');
		else if (low >= 'a' && low <= 'f')
			*address = *address << 4 | (uint64_t)(low - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* The last " (" of s, or SIZE_MAX. */
static size_t last_open(struct str s)
{
	for (size_t i = s.size; i > 1; i--)
		if (s.data[i - 1] == '(' && s.data[i - 2] == ' ')
			return i - 2;
	return SIZE_MAX;
}

/* "name (in library)", with or without " + 12" or " (file:12)" behind it. */
static bool read_native(struct str s, struct firefox_place *place)
{
	struct str rest = s;
	uint32_t offset;

	if (take_number(&rest, ' ', &offset))
		(void)take_end(&rest, STR(" +"));
	size_t open = last_open(rest);
	if (open != SIZE_MAX && open > 0 && rest.data[open - 1] == ')' && rest.size > open + 2 &&
		memchr(rest.data + open, ':', rest.size - open)) {
		rest.size = open;
		open = last_open(rest);
	}
	if (open == SIZE_MAX || !take_end(&rest, STR(")")))
		return false;
	struct str module = {rest.data + open + 2, rest.size - open - 2};
	if (!str_starts_with(module, STR("in ")))
		return false;
	place->name = (struct str){rest.data, open};
	place->module = (struct str){module.data + 3, module.size - 3};
	return true;
}

/* Behind the last " -> ": the script that loaders loaded. */
static struct str real_uri(struct str uri)
{
	for (size_t i = uri.size; i >= 4; i--)
		if (memcmp(uri.data + i - 4, " -> ", 4) == 0)
			return (struct str){uri.data + i, uri.size - i};
	return uri;
}

/* "http://site:80" of an address on the web, else the whole. */
static struct str uri_origin(struct str uri)
{
	size_t start = str_starts_with(uri, STR("http://"))    ? 7
		       : str_starts_with(uri, STR("https://")) ? 8
							       : 0;
	const char *slash = start ? memchr(uri.data + start, '/', uri.size - start) : NULL;

	return slash ? (struct str){uri.data, (size_t)(slash - uri.data)} : uri;
}

/* "name (uri:line:column)[source]" or the same without a name. */
static bool read_script(struct str s, struct firefox_place *place)
{
	struct str rest = s;
	uint32_t number, line;

	if (take_end(&rest, STR("]")) && !take_number(&rest, '[', &number))
		return false;
	bool has_name = take_end(&rest, STR(")"));
	if (!take_number(&rest, ':', &line))
		return false;
	if (take_number(&rest, ':', &number))
		line = number;
	size_t open = has_name ? last_open(rest) : SIZE_MAX;
	if (rest.size == 0 || (has_name && (open == SIZE_MAX || open + 2 == rest.size)))
		return false;
	if (has_name) {
		place->name = (struct str){rest.data, open};
		rest = (struct str){rest.data + open + 2, rest.size - open - 2};
	}
	place->file = real_uri(rest);
	place->module = uri_origin(place->file);
	place->line = line;
	return true;
}

struct firefox_place firefox_location(struct str text)
{
	struct firefox_place place = {.name = text};

	if (str_starts_with(text, STR("0x"))) {
		place.is_address = read_address(text, &place.address);
		return place;
	}
	if (read_native(text, &place))
		return place;
	place.name = (struct str){text.data, 0};
	if (read_script(text, &place))
		return place;
	return (struct firefox_place){.name = text};
}
