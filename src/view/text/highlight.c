/*
 * A scanner for one line at a time.  Between lines it remembers only whether a block comment or a
 * directive continues: strings that span lines are rare, and one that is never closed must not
 * colour the rest of the file.
 */
#include "view/text/highlight.h"

#include <stdlib.h>

/* Sorted, for bsearch: the common keywords of C, C++, Rust, Go and D. */
static const char *const keywords[] = {"_Bool", "_Static_assert", "abstract", "alignas", "alignof",
	"as", "asm", "async", "auto", "await", "bool", "break", "case", "catch", "chan", "char",
	"class", "const", "constexpr", "continue", "crate", "decltype", "default", "defer",
	"delete", "do", "double", "dyn", "else", "enum", "explicit", "export", "extern", "false",
	"final", "finally", "float", "fn", "for", "foreach", "friend", "func", "function", "go",
	"goto", "if", "impl", "import", "in", "inline", "instanceof", "int", "interface", "let",
	"long", "loop", "match", "mod", "move", "mut", "mutable", "namespace", "new", "nil",
	"noexcept", "null", "nullptr", "operator", "override", "package", "private", "protected",
	"pub", "public", "range", "ref", "register", "restrict", "return", "select", "self",
	"short", "signed", "sizeof", "static", "struct", "super", "switch", "template", "this",
	"throw", "trait", "true", "try", "type", "typedef", "typeid", "typename", "typeof", "union",
	"unsafe", "unsigned", "use", "using", "var", "virtual", "void", "volatile", "wchar_t",
	"where", "while", "yield"};

static int compare_word(const void *wanted, const void *keyword)
{
	return str_compare(*(const struct str *)wanted, str_from(*(const char *const *)keyword));
}

static bool is_keyword(struct str word)
{
	return bsearch(&word, keywords, sizeof(keywords) / sizeof(keywords[0]), sizeof(keywords[0]),
		       compare_word) != NULL;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || char_is_digit(c) ||
	       (unsigned char)c >= 0x80;
}

static bool starts(struct str rest, const char *with)
{
	return str_starts_with(rest, str_from(with));
}

/* Bytes up to and including the end of a block comment; *open if the line ends first. */
static size_t comment_size(struct str rest, bool *open)
{
	const char *end = memmem(rest.data, rest.size, "*/", 2);

	*open = end == NULL;
	return end ? (size_t)(end + 2 - rest.data) : rest.size;
}

static size_t quoted_size(struct str rest)
{
	char quote = rest.data[0];

	for (size_t i = 1; i < rest.size; i++) {
		if (rest.data[i] == '\\')
			i++;
		else if (rest.data[i] == quote)
			return i + 1;
	}
	return rest.size;
}

/* A quote that does not begin a character is a lifetime, 'a, or separates digits. */
static bool is_character(struct str rest)
{
	size_t size = quoted_size(rest);

	if (size < 3 || rest.data[size - 1] != '\'')
		return false;
	return size == 3 || rest.data[1] == '\\' || (rest.data[1] & 0x80 && size <= 6);
}

static size_t number_size(struct str rest)
{
	size_t i = 1;

	while (i < rest.size) {
		char c = rest.data[i], before = rest.data[i - 1];
		bool is_hex = rest.size > 1 && (rest.data[1] | 0x20) == 'x';
		bool is_exponent = (before | 0x20) == 'p' || (!is_hex && (before | 0x20) == 'e');

		if (!is_word(c) && c != '.' && c != '\'' &&
			!((c == '+' || c == '-') && is_exponent))
			break;
		i++;
	}
	return i;
}

static size_t word_size(struct str rest)
{
	size_t i = 0;

	while (i < rest.size && is_word(rest.data[i]))
		i++;
	return i;
}

static struct syntax_span span_at(struct highlight *h, struct str rest)
{
	char c = rest.data[0];

	if (starts(rest, "//"))
		return (struct syntax_span){rest.size, SOURCE_COMMENT};
	if (starts(rest, "/*")) {
		struct str inner = {rest.data + 2, rest.size - 2};

		return (struct syntax_span){
			2 + comment_size(inner, &h->in_comment), SOURCE_COMMENT};
	}
	if (c == '"' || c == '`' || (c == '\'' && is_character(rest)))
		return (struct syntax_span){quoted_size(rest), SOURCE_STRING};
	if (char_is_digit(c) || (c == '.' && rest.size > 1 && char_is_digit(rest.data[1])))
		return (struct syntax_span){number_size(rest), SOURCE_NUMBER};
	if (is_word(c)) {
		struct str word = {rest.data, word_size(rest)};

		return (struct syntax_span){
			word.size, is_keyword(word) ? SOURCE_KEYWORD : SOURCE_PLAIN};
	}
	return (struct syntax_span){1, SOURCE_PLAIN};
}

static void add_span(struct highlight *h, struct syntax_span span)
{
	struct syntax_span *last = h->spans.count ? &h->spans.data[h->spans.count - 1] : NULL;

	/* Strings and comments in a directive keep their own colour. */
	if (h->in_directive && span.syntax != SOURCE_STRING && span.syntax != SOURCE_COMMENT)
		span.syntax = SOURCE_DIRECTIVE;
	if (last && last->syntax == span.syntax)
		last->size += span.size;
	else
		vec_push(&h->spans, span);
}

/* Blanks, then '#', but no "#[" of Rust's. */
static bool is_directive(struct str line)
{
	size_t i = 0;

	while (i < line.size && (line.data[i] == ' ' || line.data[i] == '\t'))
		i++;
	return i < line.size && line.data[i] == '#' &&
	       (i + 1 == line.size || (line.data[i + 1] != '[' && line.data[i + 1] != '!'));
}

void highlight_line(struct highlight *h, struct str line)
{
	size_t at = 0;

	h->spans.count = 0;
	if (!h->in_comment && is_directive(line))
		h->in_directive = true;
	if (h->in_comment && line.size) {
		at = comment_size(line, &h->in_comment);
		add_span(h, (struct syntax_span){at, SOURCE_COMMENT});
	}
	while (at < line.size) {
		struct str rest = {line.data + at, line.size - at};
		struct syntax_span span = span_at(h, rest);

		add_span(h, span);
		at += span.size;
	}
	h->in_directive = h->in_directive && line.size && line.data[line.size - 1] == '\\';
}

void highlight_deinit(struct highlight *h)
{
	vec_deinit(&h->spans);
}
