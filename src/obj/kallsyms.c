/*
 * /proc/kallsyms: lines of "ADDRESS TYPE NAME[\t[MODULE]]", sorted by address within the kernel and
 * within each module.  Types t, T, w and W are code.
 *
 * Source: the kernel's kernel/kallsyms.c and proc(5).  With kernel.kptr_restrict, all addresses
 * read as 0 without CAP_SYSLOG.
 *
 * The table is one block of bytes, so that it can be stored in a file: a header, the addresses, the
 * end of each line in the text, and the text, lines of "NAME[\t[MODULE]]".
 */
#include "obj/kallsyms.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/search.h"
#include "base/vec.h"

/* Enough for about ten million symbols. */
#define FILE_SIZE_MAX ((uint64_t)1 << 30)
/* No function is larger; addresses further after a last symbol are unknown. */
#define FUNCTION_SIZE_MAX ((uint64_t)1 << 20)

struct kallsym {
	uint64_t va;
	const char *name; /* followed by the module if there is one, to the end of the line */
	uint32_t name_size, module_size;
};

typedef VEC(struct kallsym) kallsym_vec;

/* Increase it when the block's layout changes. */
#define PACKED_VERSION 1

struct packed_header {
	char magic[8]; /* "SONDEKSY" */
	uint32_t version, count;
};

struct kallsyms {
	uint8_t *block;
	size_t block_size;
	const uint64_t *va;  /* [count], ascending */
	const uint32_t *end; /* [count]: where each one's line ends in text */
	const char *text;
	size_t count;
	bool are_hidden;
};

/* Takes a hexadecimal number and the blank after it off the line. */
static bool take_address(struct str *line, uint64_t *address)
{
	size_t i = 0;

	*address = 0;
	for (; i < line->size && i < 17; i++) {
		char c = line->data[i];
		uint64_t digit;
		if (c >= '0' && c <= '9')
			digit = (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (uint64_t)(c - 'a') + 10;
		else
			break;
		*address = *address << 4 | digit;
	}
	if (i == 0 || i > 16 || i == line->size || line->data[i] != ' ')
		return false;
	line->data += i + 1;
	line->size -= i + 1;
	return true;
}

static void parse_line(kallsym_vec *symbols, struct str line, bool *any_address)
{
	struct kallsym s = {0};

	if (!take_address(&line, &s.va) || line.size < 3 || line.data[1] != ' ')
		return;
	*any_address |= s.va != 0;
	if (memchr("tTwW", line.data[0], 4) == NULL)
		return;
	s.name = line.data + 2;
	size_t rest = line.size - 2;
	const char *tab = memchr(s.name, '\t', rest);
	size_t name_size = tab ? (size_t)(tab - s.name) : rest;
	if (name_size == 0 || rest > UINT32_MAX)
		return;
	s.name_size = (uint32_t)name_size;
	s.module_size = tab ? (uint32_t)(rest - name_size - 1) : 0;
	vec_push(symbols, s);
}

/*
 * By address.  At one address: the name without leading underscores, then the shorter, then by
 * letters.
 */
static int kallsym_compare(const void *pa, const void *pb)
{
	const struct kallsym *a = pa, *b = pb;

	if (a->va != b->va)
		return a->va < b->va ? -1 : 1;
	if ((a->name[0] == '_') != (b->name[0] == '_'))
		return a->name[0] == '_' ? 1 : -1;
	if (a->name_size != b->name_size)
		return a->name_size < b->name_size ? -1 : 1;
	return memcmp(a->name, b->name, a->name_size);
}

/* Sorts, and keeps one symbol per address.  The kernel's own symbols are mostly in order. */
static void sort_symbols(kallsym_vec *symbols)
{
	bool is_sorted = true;
	size_t kept = 0;

	for (size_t i = 1; i < symbols->count && is_sorted; i++)
		is_sorted = kallsym_compare(&symbols->data[i - 1], &symbols->data[i]) <= 0;
	if (!is_sorted)
		qsort(symbols->data, symbols->count, sizeof(*symbols->data), kallsym_compare);
	for (size_t i = 0; i < symbols->count; i++)
		if (kept == 0 || symbols->data[i].va != symbols->data[kept - 1].va)
			symbols->data[kept++] = symbols->data[i];
	symbols->count = kept;
}

/* Points to the parts of a block with count symbols. */
static void point_into_block(struct kallsyms *k)
{
	k->va = (const void *)(k->block + sizeof(struct packed_header));
	k->end = (const void *)(k->va + k->count);
	k->text = (const void *)(k->end + k->count);
}

static size_t line_size(const struct kallsym *s)
{
	return s->name_size + (s->module_size > 0 ? 1 + s->module_size : 0);
}

static void pack(struct kallsyms *k, const kallsym_vec *symbols)
{
	struct packed_header header = {
		.magic = "SONDEKSY", .version = PACKED_VERSION, .count = (uint32_t)symbols->count};
	size_t text_size = 0;

	for (size_t i = 0; i < symbols->count; i++)
		text_size += line_size(&symbols->data[i]);
	k->count = symbols->count;
	k->block_size = sizeof(header) + k->count * (sizeof(*k->va) + sizeof(*k->end)) + text_size;
	k->block = xalloc(k->block_size);
	memcpy(k->block, &header, sizeof(header));
	point_into_block(k);
	uint64_t *va = (uint64_t *)(uintptr_t)k->va;
	uint32_t *end = (uint32_t *)(uintptr_t)k->end;
	char *text = (char *)(uintptr_t)k->text;
	uint32_t at = 0;

	for (size_t i = 0; i < k->count; i++) {
		const struct kallsym *s = &symbols->data[i];

		va[i] = s->va;
		memcpy(text + at, s->name, line_size(s));
		at += (uint32_t)line_size(s);
		end[i] = at;
	}
}

struct kallsyms *kallsyms_parse(struct str bytes)
{
	struct kallsyms *k = xalloc(sizeof(*k));
	kallsym_vec symbols = {0};
	bool any_address = false;

	while (bytes.size) {
		const char *end = memchr(bytes.data, '\n', bytes.size);
		size_t size = end ? (size_t)(end - bytes.data) : bytes.size;
		parse_line(&symbols, (struct str){bytes.data, size}, &any_address);
		size += end != NULL;
		bytes.data += size;
		bytes.size -= size;
	}
	if (!any_address) {
		k->are_hidden = symbols.count != 0;
		symbols.count = 0;
	}
	sort_symbols(&symbols);
	pack(k, &symbols);
	vec_deinit(&symbols);
	return k;
}

struct error *kallsyms_open(const char *path, struct kallsyms **kallsyms)
{
	struct file_bytes bytes;
	struct error *err = file_read(path ? path : "/proc/kallsyms", FILE_SIZE_MAX, &bytes);

	if (err)
		return err;
	*kallsyms = kallsyms_parse((struct str){(const char *)bytes.data, bytes.size});
	file_bytes_deinit(&bytes);
	return NULL;
}

void kallsyms_close(struct kallsyms *k)
{
	if (k == NULL)
		return;
	free(k->block);
	free(k);
}

struct str kallsyms_packed(const struct kallsyms *k)
{
	return (struct str){(const char *)k->block, k->block_size};
}

/* Whether addresses ascend and lines are consecutive in the text. */
static bool is_sound(const struct kallsyms *k, size_t text_size)
{
	for (size_t i = 1; i < k->count; i++)
		if (k->va[i] <= k->va[i - 1] || k->end[i] <= k->end[i - 1])
			return false;
	return k->count == 0 ? text_size == 0 : k->end[0] > 0 && k->end[k->count - 1] == text_size;
}

struct kallsyms *kallsyms_unpack(struct str bytes)
{
	struct packed_header header;
	size_t row = sizeof(uint64_t) + sizeof(uint32_t);

	if (bytes.size < sizeof(header))
		return NULL;
	memcpy(&header, bytes.data, sizeof(header));
	if (memcmp(header.magic, "SONDEKSY", sizeof(header.magic)) != 0 ||
		header.version != PACKED_VERSION ||
		header.count > (bytes.size - sizeof(header)) / row)
		return NULL;
	struct kallsyms *k = xalloc(sizeof(*k));

	k->block = xalloc(bytes.size);
	k->block_size = bytes.size;
	k->count = header.count;
	memcpy(k->block, bytes.data, bytes.size);
	point_into_block(k);
	if (is_sound(k, bytes.size - sizeof(header) - k->count * row))
		return k;
	kallsyms_close(k);
	return NULL;
}

bool kallsyms_are_hidden(const struct kallsyms *k)
{
	return k->are_hidden;
}

size_t kallsyms_count(const struct kallsyms *k)
{
	return k->count;
}

/* Splits a symbol's line. */
static struct str line_of(const struct kallsyms *k, size_t i, struct str *module)
{
	uint32_t begin = i > 0 ? k->end[i - 1] : 0;
	struct str line = {k->text + begin, k->end[i] - begin};
	const char *tab = memchr(line.data, '\t', line.size);

	*module = STR("[kernel]");
	if (tab) {
		*module = (struct str){tab + 1, line.size - (size_t)(tab + 1 - line.data)};
		line.size = (size_t)(tab - line.data);
	}
	return line;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t va, struct kernel_symbol *symbol)
{
	size_t next = partition_point(i, 0, k->count, k->va[i] <= va);

	if (next == 0 || va - k->va[next - 1] >= FUNCTION_SIZE_MAX)
		return false;
	*symbol = (struct kernel_symbol){
		.low_va = k->va[next - 1], .high_va = k->va[next - 1] + FUNCTION_SIZE_MAX};
	symbol->name = line_of(k, next - 1, &symbol->module);
	if (next < k->count && k->va[next] < symbol->high_va) {
		struct str module;

		line_of(k, next, &module);
		symbol->high_va = k->va[next];
		symbol->is_bounded = str_equal(module, symbol->module);
	}
	return true;
}
