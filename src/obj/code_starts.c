/* The starts of functions: a sorted list of addresses. */
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "obj/code_frames.h"

void code_starts_deinit(struct code_starts *starts)
{
	vec_deinit(&starts->addrs);
}

static int compare_addrs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return COMPARE(x, y);
}

void code_starts_sort(struct code_starts *starts)
{
	uint64_t *addrs = starts->addrs.data;
	size_t kept = 0;

	if (starts->addrs.count)
		qsort(addrs, starts->addrs.count, sizeof(*addrs), compare_addrs);
	for (size_t i = 0; i < starts->addrs.count; i++)
		if (kept == 0 || addrs[kept - 1] != addrs[i])
			addrs[kept++] = addrs[i];
	starts->addrs.count = kept;
}

uint64_t code_starts_from(const struct code_starts *starts, uint64_t obj_addr)
{
	size_t at = partition_point(i, 0, starts->addrs.count, starts->addrs.data[i] < obj_addr);

	return at < starts->addrs.count ? starts->addrs.data[at] : UINT64_MAX;
}

uint64_t code_starts_before(const struct code_starts *starts, uint64_t obj_addr)
{
	size_t at = partition_point(i, 0, starts->addrs.count, starts->addrs.data[i] < obj_addr);

	return at ? starts->addrs.data[at - 1] : UINT64_MAX;
}
