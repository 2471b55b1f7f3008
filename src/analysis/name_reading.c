/*
 * Readings of names.  After a scope means after "::", or after the blank that follows a return
 * type.
 */
#include "analysis/name_reading.h"

/* Whether a name may end before its arguments, or template arguments, there. */
static bool ends_at(struct str name, size_t at)
{
	return at == name.size || name.data[at] == '(' || name.data[at] == '<';
}

/* Whether the name proper begins there: after a scope, or after the return type. */
static bool begins_at(struct str name, size_t at)
{
	return name.data[at - 1] == ' ' ||
	       (at >= 2 && name.data[at - 1] == ':' && name.data[at - 2] == ':');
}

/* Where arguments begin; "(anonymous namespace)" is a scope. */
size_t name_arguments_at(struct str name)
{
	static const struct str scope = STR("(anonymous namespace)");

	for (size_t i = 0; i < name.size; i++) {
		struct str rest = {name.data + i, name.size - i};

		if (name.data[i] != '(')
			continue;
		if (!str_starts_with(rest, scope))
			return i;
		i += scope.size - 1;
	}
	return name.size;
}

enum reading name_reading(struct str name, struct str wanted)
{
	size_t end;

	if (str_equal(name, wanted))
		return READING_WHOLE;
	if (wanted.size == 0 || wanted.size > name.size)
		return READING_NONE;
	if (str_starts_with(name, wanted) && ends_at(name, wanted.size))
		return READING_NO_ARGUMENTS;
	end = name_arguments_at(name);
	for (size_t at = 1; at + wanted.size <= end; at++)
		if (memcmp(name.data + at, wanted.data, wanted.size) == 0 && begins_at(name, at) &&
			ends_at(name, at + wanted.size))
			return READING_NO_SCOPE;
	return READING_NONE;
}

enum reading name_reading_of_any(struct str name, struct str aliases, struct str wanted)
{
	enum reading strictest = name_reading(name, wanted);

	while (aliases.size && strictest > READING_WHOLE) {
		enum reading r = name_reading(str_take_item(&aliases), wanted);

		if (r < strictest)
			strictest = r;
	}
	return strictest;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

/* Whether the keyword is there, as a word. */
static bool has_keyword(struct str name, size_t at, struct str keyword)
{
	struct str rest = {name.data + at, name.size - at};

	return str_starts_with(rest, keyword) && (at == 0 || !is_word(name.data[at - 1])) &&
	       (rest.size == keyword.size || !is_word(rest.data[keyword.size]));
}

/* The position after the parenthesis that closes the one there, perhaps preceded by a blank. */
static size_t skip_parentheses(struct str name, size_t at)
{
	int depth = 0;

	while (at < name.size && name.data[at] == ' ')
		at++;
	for (; at < name.size; at++) {
		depth += (name.data[at] == '(') - (name.data[at] == ')');
		if (depth == 0)
			return at + 1;
	}
	return at;
}

/*
 * Where the name proper begins, including scopes: after the last blank outside brackets before the
 * arguments, or before "operator", whose own name may contain anything.
 */
static size_t proper_at(struct str name)
{
	size_t end = name_arguments_at(name), begin = 0;
	int depth = 0;

	for (size_t i = 0; i < name.size;) {
		char c = name.data[i];

		if (has_keyword(name, i, STR("decltype")) && depth == 0) {
			i = skip_parentheses(name, i + strlen("decltype"));
			end = i;
			end += name_arguments_at((struct str){name.data + i, name.size - i});
			continue;
		}
		if (depth == 0 && (i >= end || has_keyword(name, i, STR("operator"))))
			break;
		depth += (c == '<' || c == '{' || c == '(') - (c == '>' || c == '}' || c == ')');
		i++;
		if (c == ' ' && depth == 0)
			begin = i;
	}
	return begin;
}

static bool begins_with_scope(struct str rest, struct str scope)
{
	return str_starts_with(rest, scope) && rest.size >= scope.size + 2 &&
	       rest.data[scope.size] == ':' && rest.data[scope.size + 1] == ':';
}

bool name_is_in(struct str name, struct str scope)
{
	size_t begin = proper_at(name);

	if (str_ends_with(scope, STR("::")))
		scope.size -= 2;
	while (begin < name.size && (name.data[begin] == '<' || name.data[begin] == '&'))
		begin++;
	struct str rest = {name.data + begin, name.size - begin};

	return begins_with_scope(rest, scope) ||
	       (str_equal(scope, STR("std")) && begins_with_scope(rest, STR("__gnu_cxx")));
}
