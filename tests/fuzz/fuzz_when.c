/*
 * WHEN patterns: whatever the text is, it is a pattern or an error with its place, and what a
 * pattern makes of a stack is that stack, one further out, or one of the two that are none.
 */
#include <assert.h>
#include <stdlib.h>

#include "../slow/text_profile.h"
#include "analysis/when.h"
#include "base/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct profile *p, const uint32_t *parent, const uint32_t *shown)
{
	for (uint32_t i = 0; i < p->stack_count; i++) {
		uint32_t outer = i;

		if (shown[i] == SHOWN_UNMATCHED || shown[i] == SHOWN_SPONTANEOUS)
			continue;
		while (outer != shown[i]) {
			assert(outer > 0);
			outer = parent[outer];
		}
	}
}

static void apply(const struct when *when)
{
	struct profile *p = text_profile("m:a m:b n:a n:b m:a m:a 1\nm:a n:b it's 1\nn:a m:b 1\n");
	uint32_t *parent = xcalloc(p->stack_count, sizeof(*parent));
	uint32_t *shown = xcalloc(p->stack_count, sizeof(*shown));

	for (uint32_t i = 1; i < p->stack_count; i++) {
		parent[i] = profile_stack_parent(p, i);
		shown[i] = i;
	}
	when_apply(when, p, parent, shown);
	check(p, parent, shown);
	free(parent);
	free(shown);
	profile_destroy(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct when *when;
	struct error *err = when_compile((struct str){(const char *)data, size},
		size % 2 ? WHEN_OBJECTS : WHEN_SOURCES, &when);

	if (err) {
		assert(err->kind == ERROR_USAGE && err->detail[strlen(err->detail) - 1] == '^');
		error_destroy(err);
		return 0;
	}
	apply(when);
	when_destroy(when);
	return 0;
}
