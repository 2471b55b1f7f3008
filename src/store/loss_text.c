/*
 * The key is model/note_key.c's, as a regular expression of ClickHouse: it cuts the same words and
 * endings, byte for byte.
 */
#include "store/loss_text.h"

#include "model/note_key.h"

void loss_text_put_sql(const char *column, struct strbuf *sql)
{
	strbuf_printf(sql, "replaceRegexpAll(%s, '\\\\b([0-9]\\\\w*", column);
	for (size_t i = 0; i < note_key_word_count; i++)
		strbuf_printf(sql, "|%s", note_key_words[i]);
	strbuf_add(
		sql, STR(")\\\\b|(ies|ys?|[es]+)\\\\b|[ ,.]|[0-9]+|" NOTE_KEY_ELLIPSIS "', '')"));
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
