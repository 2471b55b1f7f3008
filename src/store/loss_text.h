#ifndef SONDE_STORE_LOSS_TEXT_H
#define SONDE_STORE_LOSS_TEXT_H

/*
 * Notes about the same loss, of many recordings, as one: in SQL, for servers, as model/note_key.h
 * does for folders.
 */

#include "base/str.h"

/* Adds an expression of SQL that is the key of the text in a column. */
void loss_text_put_sql(const char *column, struct strbuf *sql);

/*
 * Orders notes by their fitness to stand for all: the greatest count comes first, as its text is in
 * the plural if any is, then the latest.
 */
uint64_t loss_text_rank(uint64_t count, uint64_t time_s);
/* The same in SQL, of two columns. */
void loss_text_put_rank_sql(const char *count, const char *time, struct strbuf *sql);

#endif
