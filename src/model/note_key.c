/*
 * The key of a text is what is left without numbers, articles, pronouns, auxiliary verbs, and the
 * endings that a plural or a verb may have: a crude stemmer for the sentences of notes.  It cuts
 * too much rather than too little ("process" and "processes" become "proc"), since two losses of
 * one kind whose sentences differ only in such endings are not to be expected.
 *
 * Words are runs of ASCII letters, digits and _, as \w of regular expressions has it, so that an
 * expression can cut the same, byte for byte.
 */
#include "model/note_key.h"

#include <string.h>

#include "base/compiler.h"

const char *const note_key_words[] = {"a", "an", "the", "one", "ones", "once", "times", "is", "are",
	"was", "were", "has", "have", "does", "do", "it", "they", "them", "its", "their", "this",
	"these", "another", "other", "others"};
const size_t note_key_word_count = ARRAY_SIZE(note_key_words);

#define ELLIPSIS STR(NOTE_KEY_ELLIPSIS)

static bool is_word_byte(char c)
{
	return char_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_small(struct str word)
{
	for (size_t i = 0; i < note_key_word_count; i++)
		if (str_equal(word, str_from(note_key_words[i])))
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

void note_key_put(struct str text, struct strbuf *key)
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
