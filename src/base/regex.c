/*
 * Regular expressions over PCRE2.  RE2, the other candidate, bounds time by itself, but is C++, and
 * its runtime would have to be part of a page's WebAssembly.
 *
 * PCRE2 does not report how many steps a match took, only that a limit was exceeded.  So the limit
 * starts low and grows, and each limit that was too low is charged in full.
 */
#include "base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/alloc.h"

#define PATTERN_BYTES_MAX ((size_t)64 << 10)
/* The memory of a match for alternatives not tried yet. */
#define HEAP_KB_MAX 16384u
/* The first limit, and how it grows. */
#define STEPS_FIRST 256u
#define STEPS_GROW  16u

struct regex {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

static struct error *refusal(struct str pattern, int code, size_t offset)
{
	PCRE2_UCHAR reason[160];

	pcre2_get_error_message(code, reason, sizeof(reason));
	return error_new(ERROR_INPUT, "invalid regular expression '%.*s': %s (after %zu bytes)",
		STR_ARG(pattern), (const char *)reason, offset);
}

struct error *regex_create(struct str pattern, enum regex_extent extent, struct regex **regex)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
			   PCRE2_NO_AUTO_CAPTURE | PCRE2_DOLLAR_ENDONLY;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	int code = 0;
	size_t offset = 0;

	if (extent == REGEX_WHOLE)
		options |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
	pcre2_set_max_pattern_length(context, PATTERN_BYTES_MAX);
	pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)(pattern.data ? pattern.data : ""),
		pattern.size, options, &code, &offset, context);

	pcre2_compile_context_free(context);
	if (compiled == NULL)
		return refusal(pattern, code, offset);
	*regex = xalloc(sizeof(**regex));
	(*regex)->code = compiled;
	(*regex)->data = pcre2_match_data_create(1, NULL);
	(*regex)->limits = pcre2_match_context_create(NULL);
	pcre2_set_heap_limit((*regex)->limits, HEAP_KB_MAX);
	return NULL;
}

void regex_destroy(struct regex *regex)
{
	if (regex == NULL)
		return;
	pcre2_code_free(regex->code);
	pcre2_match_data_free(regex->data);
	pcre2_match_context_free(regex->limits);
	free(regex);
}

enum regex_verdict regex_match(const struct regex *regex, struct str text, uint64_t *work)
{
	for (uint32_t limit = STEPS_FIRST;; limit *= STEPS_GROW) {
		uint32_t steps = limit < *work ? limit : (uint32_t)*work;

		if (steps == 0)
			return REGEX_GAVE_UP;
		*work -= steps;
		pcre2_set_match_limit(regex->limits, steps);
		int code = pcre2_match(regex->code, (PCRE2_SPTR)(text.data ? text.data : ""),
			text.size, 0, 0, regex->data, regex->limits);

		if (code >= 0)
			return REGEX_YES;
		if (code == PCRE2_ERROR_NOMATCH)
			return REGEX_NO;
		/* The heap limit does not grow. */
		if (code != PCRE2_ERROR_MATCHLIMIT || limit > UINT32_MAX / STEPS_GROW)
			*work = 0;
	}
}
