#ifndef SONDE_BASE_ESCAPE_H
#define SONDE_BASE_ESCAPE_H

/*
 * Escapes untrusted bytes (symbol names, paths, thread names) for output.  Everything that a
 * profiled program can choose passes through here once, when it is written.
 */

#include "base/str.h"

/*
 * For people: UTF-8 as it is; bytes that are not UTF-8 become U+FFFD; control characters (C0, DEL,
 * C1) become \xNN, bidirectional and invisible format characters (U+061C, U+200B-200F, U+2028-202E,
 * U+2060-206F, U+FEFF, U+FFF9-FFFB, U+E0000-E007F) become \u{NNNN}.  Existing escapes are
 * unchanged.
 */
void escape_text(struct strbuf *out, struct str s);
/* The contents of a JSON string (RFC 8259 section 7), without the quotes; always valid UTF-8. */
void escape_json(struct strbuf *out, struct str s);
/* The same with the quotes. */
void quote_json(struct strbuf *out, struct str s);
/* A word of a shell command, quoted if it must be. */
void quote_shell(struct strbuf *out, struct str s);
/*
 * One CSV field (RFC 4180), quoted if necessary, with escape_text applied; a field that begins with
 * = + - @ and is not a number gets a leading apostrophe, so that no spreadsheet executes it.
 */
void escape_csv(struct strbuf *out, struct str s);
/*
 * Text or an attribute's value of XML 1.0 or HTML, with escape_text applied: no control characters,
 * and no U+FFFE or U+FFFF (sections 2.2 and 2.4).
 */
void escape_xml(struct strbuf *out, struct str s);
/*
 * One frame of folded text, from which unescape_folded restores every byte: the name as escape_text
 * has it, but bytes that are not UTF-8 as \xNN, and so ';' and a '\' before what would be an
 * escape; '`' doubled; "[unknown]" if it is empty.  with_module: "module`name" if the module is
 * not blank.
 */
void escape_folded(struct strbuf *out, struct str name, struct str module, bool with_module);
/*
 * A frame escaped in this way at the start of its line, where '#' would begin a comment: as \x23.
 */
void escape_folded_first(struct strbuf *out, struct str frame);
/*
 * The size of the load object's name in a frame of folded text, before the first '`' that is
 * neither doubled nor part of a .NET name ("List`1"); 0: it has none.
 */
size_t folded_module_size(struct str frame);
/* Undoes the escapes of escape_folded, and no others, in a module or a name. */
void unescape_folded(struct strbuf *out, struct str text);
/*
 * The contents of a quoted string from which every byte can be restored: \" and \\, and \xNN for
 * each byte of invalid UTF-8 and of everything that escape_text would escape.
 */
void escape_bytes(struct strbuf *out, struct str s);

/*
 * Decodes one UTF-8 character at s (s.size > 0) into its code point, and returns its length in
 * bytes; length 1 and code point -1 if the bytes are invalid (including overlong forms and
 * surrogates).
 */
size_t utf8_decode(struct str s, int32_t *code_point);
/* Adds a code point, any number below 2^21, in UTF-8. */
void utf8_add(struct strbuf *out, uint32_t code_point);
/* The number of terminal columns of escape_text's result. */
size_t utf8_width(struct str s);

#endif
