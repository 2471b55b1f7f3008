#ifndef SONDE_BASE_ESCAPE_H
#define SONDE_BASE_ESCAPE_H

/*
 * Makes foreign bytes (symbol names, paths, thread names) fit for where they are shown.  Everything
 * that a program under profile can choose passes through here, once, where it is put out.
 */

#include "base/str.h"

/*
 * For people: UTF-8 as it is; bytes that are not UTF-8 become U+FFFD; control characters (C0, DEL,
 * C1) become \xNN, bidirectional and invisible format characters (U+061C, U+200B-200F, U+2028-202E,
 * U+2060-206F, U+FEFF, U+FFF9-FFFB, U+E0000-E007F) become \u{NNNN}.  What is escaped already stays.
 */
void escape_text(struct strbuf *out, struct str s);
/* The inside of a JSON string (RFC 8259 section 7), without the quotes; valid UTF-8 always. */
void escape_json(struct strbuf *out, struct str s);
/*
 * One CSV field (RFC 4180), quoted where needed, passed through escape_text; a field that begins
 * with = + - @ and is not a number gets a leading apostrophe so that no spreadsheet runs it.
 */
void escape_csv(struct strbuf *out, struct str s);
/*
 * One frame of folded text: the name as escape_text has it, with ';' as \x3b, "[unknown]" if it is
 * blank.  with_module: "module`name" if the module is not blank, and every other '`' up to there,
 * at which a reader would part the two, as \x60.
 */
void escape_folded(struct strbuf *out, struct str name, struct str module, bool with_module);
/* A frame so escaped at the start of its line, where a '#' would make a comment: as \x23. */
void escape_folded_first(struct strbuf *out, struct str frame);
/*
 * The inside of a quoted string from which every byte can be had back: \" and \\, and \xNN for each
 * byte of what is not UTF-8 or what escape_text would escape.
 */
void escape_bytes(struct strbuf *out, struct str s);

/*
 * Decodes one UTF-8 character at s (s.size > 0): its length in bytes, and the code point; length 1
 * and code point -1 where the bytes are not UTF-8 (overlong forms and surrogates are not).
 */
size_t utf8_decode(struct str s, int32_t *code_point);
/* Adds a code point, which may be any below 2^21, in UTF-8. */
void utf8_add(struct strbuf *out, uint32_t code_point);
/* Columns that escape_text's result takes on a terminal. */
size_t utf8_width(struct str s);

#endif
