/*
 * The key of a text is what is left without numbers, articles, pronouns, auxiliary verbs, and the
 * endings that a plural or a verb may have: a crude stemmer for the sentences of notes.  It cuts
 * too much rather than too little ("process" and "processes" become "proc"), since two losses of
 * one kind whose sentences differ only in such endings are not to be expected.
 *
 * Words are runs of ASCII letters, digits and _, as \w of ClickHouse's regular expressions has it,
 * so that the function here and the expression there cut the same, byte for byte.
 */
#include "store/loss_text.h"

#include "base/compiler.h"

static const char *const small_words[] = {"a", "an", "the", "one", "ones", "once", "times", "is",
	"are", "was", "were", "has", "have", "does", "do", "it", "they", "them", "its", "their",
	"this", "these", "another", "other", "others"};

#define ELLIPSIS STR("…")

static bool is_word_byte(char c)
{
	return char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_small(struct str word)
{
	for (size_t i = 0; i < ARRAY_SIZE(small_words); i++)
		if (str_equal(word, str_from(small_words[i])))
			return true;
	return false;
}

/* Whether it is "ies", "y", "ys", or only of e and s. */
static bool is_ending(struct str s)
{
	if (str_equal(s, STR("ies")) || str_equal(s, STR("y")) || str_equal(s, STR("ys")))
		return true;
	for (size_t i = 0; i < s.size; i++)
		if (s.data[i] != 'e' && s.data[i] != 's')
			return false;
	return true;
}

static void put_word(struct str word, struct strbuf *key)
{
	size_t stem = 0;

	/* Also "0x1f". */
	if (char_is_digit(word.data[0]) || is_small(word))
		return;
	while (!is_ending((struct str){word.data + stem, word.size - stem}))
		stem++;
	for (size_t i = 0; i < stem; i++)
		if (!char_is_digit(word.data[i]))
			strbuf_add_char(key, word.data[i]);
}

void loss_text_put_key(struct str text, struct strbuf *key)
{
	for (size_t i = 0; i < text.size;) {
		struct str word = {text.data + i, 0};

		while (i + word.size < text.size && is_word_byte(word.data[word.size]))
			word.size++;
		if (word.size) {
			put_word(word, key);
			i += word.size;
		} else if (str_starts_with((struct str){text.data + i, text.size - i}, ELLIPSIS)) {
			i += ELLIPSIS.size;
		} else {
			if (strchr(" ,.", text.data[i]) == NULL || text.data[i] == '\0')
				strbuf_add_char(key, text.data[i]);
			i++;
		}
	}
}

void loss_text_put_sql(const char *column, struct strbuf *sql)
{
	strbuf_printf(sql, "replaceRegexpAll(%s, '\\\\b([0-9]\\\\w*", column);
	for (size_t i = 0; i < ARRAY_SIZE(small_words); i++)
		strbuf_printf(sql, "|%s", small_words[i]);
	strbuf_printf(
		sql, ")\\\\b|(ies|ys?|[es]+)\\\\b|[ ,.]|[0-9]+|%.*s', '')", STR_ARG(ELLIPSIS));
}

/* A count that is larger is as good as this one. */
#define COUNT_MAX UINT32_MAX

uint64_t loss_text_rank(uint64_t count, uint64_t time_s)
{
	return (count < COUNT_MAX ? count : COUNT_MAX) << 32 | (time_s & UINT32_MAX);
}

void loss_text_put_rank_sql(const char *count, const char *time, struct strbuf *sql)
{
	strbuf_printf(
		sql, "least(%s, toUInt64(4294967295)) * 4294967296 + toUInt32(%s)", count, time);
}
