/*
 * Compiled rows by page.  See cfi_pages.h.
 */
#include "obj/cfi_pages.h"

#include <assert.h>
#include <string.h>

#include "base/search.h"

enum { PAGE_BITS = 16 };
#define PAGE_SIZE ((uint64_t)1 << PAGE_BITS)
#define PAGE_MASK (PAGE_SIZE - 1)

void cfi_pages_deinit(struct cfi_pages *pages)
{
	for (size_t i = 0; i < pages->pages.count; i++)
		vec_deinit(&pages->pages.data[i].rows);
	vec_deinit(&pages->pages);
	map_deinit(&pages->at);
}

static uint32_t make_row(uint64_t obj_addr, uint16_t number)
{
	return (uint32_t)(obj_addr << PAGE_BITS) | number;
}

/* The index of the last row in the page that begins at or before obj_addr. */
static size_t row_at(const struct cfi_page *page, uint64_t obj_addr)
{
	const uint32_t *row = page->rows.data;
	uint32_t last = make_row(obj_addr, UINT16_MAX);
	size_t count = page->rows.count;

	/* The page's first row is at its first address. */
	while (count > 1) {
		size_t half = count / 2;
		row = row[half] <= last ? row + half : row;
		count -= half;
	}
	return (size_t)(row - page->rows.data);
}

uint16_t cfi_pages_find(const struct cfi_pages *pages, uint64_t obj_addr)
{
	uint32_t index;

	if (!map_get(&pages->at, obj_addr >> PAGE_BITS, 0, &index))
		return CFI_RULE_UNKNOWN;
	const struct cfi_page *page = &pages->pages.data[index];
	return (uint16_t)page->rows.data[row_at(page, obj_addr)];
}

/* ---- keeping ---- */

/* The page of obj_addr, created if missing. */
static struct cfi_page *page_of(struct cfi_pages *pages, uint64_t obj_addr)
{
	uint32_t fallback = (uint32_t)pages->pages.count;
	bool added;
	uint32_t index = *map_at(&pages->at, obj_addr >> PAGE_BITS, 0, fallback, &added);

	if (added) {
		struct cfi_page page = {.rows = {0}};
		vec_push(&page.rows, CFI_RULE_UNKNOWN);
		vec_push(&pages->pages, page);
		pages->size_bytes += MAP_ENTRY_BYTES + 2 * sizeof(page) + sizeof(uint32_t);
	}
	return &pages->pages.data[index];
}

/* Replaces the rows in [from, to) by `added` rows. */
static void replace(struct cfi_pages *pages, struct cfi_page *page, size_t from, size_t to,
	const uint32_t *rows, size_t added)
{
	size_t before = page->rows.capacity, count = page->rows.count - (to - from) + added;

	vec_reserve(&page->rows, count);
	memmove(page->rows.data + from + added, page->rows.data + to,
		(page->rows.count - to) * sizeof(uint32_t));
	memcpy(page->rows.data + from, rows, added * sizeof(uint32_t));
	page->rows.count = count;
	pages->size_bytes += (page->rows.capacity - before) * sizeof(uint32_t);
}

/*
 * Stores the rows of [low, last], all in one page.  Adds a row for the address after last if the
 * rule there differs.
 */
static void put_in_page(struct cfi_pages *pages, uint64_t low, uint64_t last,
	const struct cfi_rows *rows, size_t *next)
{
	struct cfi_page *page = page_of(pages, low);
	VEC(uint32_t) made = {0};
	size_t from = row_at(page, low), to = row_at(page, last) + 1;
	uint32_t first_place = make_row(low, 0), old = page->rows.data[to - 1];
	uint16_t number = CFI_RULE_UNKNOWN;

	while (*next < rows->rows.count && rows->rows.data[*next].obj_addr <= low)
		++*next;
	assert(*next > 0);
	number = rows->rows.data[*next - 1].number;
	/* A row that begins before low stays. */
	from += page->rows.data[from] >> PAGE_BITS < first_place >> PAGE_BITS;
	vec_push(&made, make_row(low, number));
	for (; *next < rows->rows.count && rows->rows.data[*next].obj_addr <= last; ++*next) {
		number = rows->rows.data[*next].number;
		vec_push(&made, make_row(rows->rows.data[*next].obj_addr, number));
	}
	bool is_last = (last & PAGE_MASK) == PAGE_MASK;
	bool has_next =
		to < page->rows.count && page->rows.data[to] >> PAGE_BITS == (last & PAGE_MASK) + 1;
	if (!is_last && !has_next && (uint16_t)old != number)
		vec_push(&made, make_row(last + 1, (uint16_t)old));
	replace(pages, page, from, to, made.data, made.count);
	vec_deinit(&made);
}

void cfi_pages_put(struct cfi_pages *pages, uint64_t obj_addr, uint64_t low, uint64_t high,
	const struct cfi_rows *rows)
{
	size_t next = 0;

	assert(low <= obj_addr && obj_addr < high);
	if (pages->size_bytes > CFI_CACHE_MAX) {
		cfi_pages_deinit(pages);
		*pages = (struct cfi_pages){.size_bytes = 0};
	}
	if (obj_addr - low > CFI_REACH)
		low = obj_addr - CFI_REACH;
	if (high - obj_addr > CFI_REACH)
		high = obj_addr + CFI_REACH;
	while (low < high) {
		uint64_t last = (low | PAGE_MASK) < high - 1 ? (low | PAGE_MASK) : high - 1;
		put_in_page(pages, low, last, rows, &next);
		low = last + 1;
		if (low == 0)
			break;
	}
}
