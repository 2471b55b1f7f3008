/*
 * Completion of names: the functions and modules of a WHEN pattern, the functions of a regular
 * expression, threads.  Names that begin with what is typed come before those that contain it;
 * letters count in any case.
 */
#include <ctype.h>

#include "base/map.h"
#include "browse/state.h"
#include "view/tui/find.h"

enum { OFFERS_MAX = 12 };

/* Whether the text up to there is inside of a quoted name, and where that begins. */
static bool quote_begin(const char *text, size_t *begin)
{
	bool is_inside = false;

	for (size_t i = 0; text[i]; i++)
		if (text[i] == '\'') {
			is_inside = !is_inside;
			*begin = i;
		}
	return is_inside;
}

/* Where the name that is typed begins, its quote included. */
static size_t word_begin(const struct browser *b)
{
	const char *text = b->line.text;
	size_t begin = strlen(text), quote;

	if (b->prompt_filter == FILTER_THREAD) {
		while (begin > 0 && text[begin - 1] != ',')
			begin--;
		return begin;
	}
	if (b->prompt_filter != FILTER_WHEN)
		return 0;
	if (quote_begin(text, &quote))
		return quote;
	while (begin > 0 && (isalnum((unsigned char)text[begin - 1]) || text[begin - 1] == '_' ||
				    (unsigned char)text[begin - 1] >= 0x80))
		begin--;
	return begin;
}

/* The name alone: without quote, anchor and escapes. */
static void word_put(const struct browser *b, struct strbuf *out)
{
	const char *word = b->line.text + word_begin(b);
	bool is_regex = b->prompt_filter != FILTER_WHEN && b->prompt_filter != FILTER_THREAD;

	if (*word == '\'' || (is_regex && *word == '^'))
		word++;
	for (; *word; word++)
		if (!(is_regex && (*word == '\\' || (*word == '$' && word[1] == '\0'))))
			strbuf_add_char(out, *word);
	if (out->data == NULL)
		strbuf_add(out, STR(""));
}

static void offer(struct browser *b, struct str_table *seen, struct str name, const char *word,
	bool must_begin)
{
	long at = tui_find(name, word);
	uint32_t index;

	if (b->offers.count >= OFFERS_MAX || name.size == 0 || at < 0 || (at == 0) != must_begin ||
		str_table_find(seen, name, &index))
		return;
	str_table_intern(seen, name);
	vec_push(&b->offers, name);
}

static void offer_all(struct browser *b, struct str_table *seen, const char *word, bool must_begin)
{
	const struct profile *p = b->profile;

	if (b->prompt_filter == FILTER_THREAD) {
		for (size_t i = 0; i < p->thread_count; i++)
			offer(b, seen, profile_string(p, p->threads[i].name), word, must_begin);
		return;
	}
	for (size_t i = 0; i < p->function_count; i++)
		offer(b, seen, profile_string(p, p->functions[i].name), word, must_begin);
	for (size_t i = 0; b->prompt_filter == FILTER_WHEN && i < p->object_count; i++)
		offer(b, seen, str_base_name(profile_string(p, p->objects[i].path)), word,
			must_begin);
}

void browser_offers_update(struct browser *b)
{
	struct strbuf word = {0};

	b->offers.count = 0;
	b->offer = SIZE_MAX;
	if (b->prompt != PROMPT_FILTER || b->prompt_filter == FILTER_TIME)
		return;
	word_put(b, &word);
	if (word.size) {
		struct arena *arena = arena_create();
		struct str_table seen;

		str_table_init(&seen, arena);
		offer_all(b, &seen, word.data, true);
		offer_all(b, &seen, word.data, false);
		str_table_deinit(&seen);
		arena_destroy(arena);
	}
	strbuf_deinit(&word);
}

/* Whether a pattern can have the name without quotes. */
static bool is_plain(struct str name)
{
	for (size_t i = 0; i < name.size; i++)
		if (!isalnum((unsigned char)name.data[i]) && name.data[i] != '_')
			return false;
	return name.size > 0 && !char_is_digit(name.data[0]);
}

static void name_put(const struct browser *b, struct strbuf *out, struct str name)
{
	if (b->prompt_filter == FILTER_THREAD ||
		(b->prompt_filter == FILTER_WHEN && is_plain(name))) {
		strbuf_add(out, name);
	} else if (b->prompt_filter != FILTER_WHEN) {
		browser_regex_put(out, name);
	} else {
		strbuf_add_char(out, '\'');
		for (size_t i = 0; i < name.size; i++) {
			if (name.data[i] == '\'')
				strbuf_add_char(out, '\'');
			strbuf_add_char(out, name.data[i]);
		}
		strbuf_add_char(out, '\'');
	}
}

/* Where the last completion begins, as it may end with a quote. */
static size_t taken_begin(const struct browser *b)
{
	struct strbuf taken = {0};
	size_t begin = word_begin(b), size = strlen(b->line.text);

	if (b->offer != SIZE_MAX) {
		name_put(b, &taken, b->offers.data[b->offer]);
		if (taken.size <= size &&
			memcmp(b->line.text + size - taken.size, taken.data, taken.size) == 0)
			begin = size - taken.size;
	}
	strbuf_deinit(&taken);
	return begin;
}

void browser_offers_take(struct browser *b, int by)
{
	struct strbuf text = {0};

	if (b->offers.count == 0)
		browser_offers_update(b);
	if (b->offers.count == 0)
		return;
	strbuf_add(&text, (struct str){b->line.text, taken_begin(b)});
	if (b->offer == SIZE_MAX)
		b->offer = by > 0 ? 0 : b->offers.count - 1;
	else
		b->offer = (b->offer + (by > 0 ? 1 : b->offers.count - 1)) % b->offers.count;
	name_put(b, &text, b->offers.data[b->offer]);
	if (text.size < sizeof(b->line.text))
		tui_line_set(&b->line, strbuf_str(&text));
	strbuf_deinit(&text);
}
