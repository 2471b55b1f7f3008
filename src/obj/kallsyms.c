/*
 * /proc/kallsyms: lines of "ADDRESS TYPE NAME[\t[MODULE]]", sorted by address within the kernel and
 * within each module.  Types t, T, w and W are code.
 *
 * Source: the kernel's kernel/kallsyms.c and proc(5).  With kernel.kptr_restrict all addresses read
 * as 0 to those without CAP_SYSLOG.
 */
#include "obj/kallsyms.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/vec.h"

/* Some ten million symbols. */
#define FILE_SIZE_MAX ((uint64_t)1 << 30)
/* No function is larger; what lies further behind a last symbol is unknown. */
#define FUNCTION_SIZE_MAX ((uint64_t)1 << 20)

struct kallsym {
	uint64_t va;
	const char *name; /* followed by the module if there is one, up to the end of the line */
	uint32_t name_size, module_size;
};

struct kallsyms {
	struct file_bytes bytes; /* if it came from a file */
	VEC(struct kallsym) symbols;
	bool are_hidden;
};

/* A hexadecimal number followed by a blank, taken off the line. */
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

static void parse_line(struct kallsyms *k, struct str line, bool *any_address)
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
	vec_push(&k->symbols, s);
}

/* By address; of several the one without leading underscores, then the shorter, then by letters. */
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

/* One symbol an address. */
static void kallsyms_thin(struct kallsyms *k)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->symbols.count; i++)
		if (kept == 0 || k->symbols.data[i].va != k->symbols.data[kept - 1].va)
			k->symbols.data[kept++] = k->symbols.data[i];
	k->symbols.count = kept;
}

struct kallsyms *kallsyms_parse(struct str bytes)
{
	struct kallsyms *k = xalloc(sizeof(*k));
	bool any_address = false;

	while (bytes.size) {
		const char *end = memchr(bytes.data, '\n', bytes.size);
		size_t size = end ? (size_t)(end - bytes.data) : bytes.size;
		parse_line(k, (struct str){bytes.data, size}, &any_address);
		size += end != NULL;
		bytes.data += size;
		bytes.size -= size;
	}
	if (!any_address) {
		k->are_hidden = k->symbols.count != 0;
		k->symbols.count = 0;
		return k;
	}
	if (k->symbols.count)
		qsort(k->symbols.data, k->symbols.count, sizeof(*k->symbols.data), kallsym_compare);
	kallsyms_thin(k);
	return k;
}

struct error *kallsyms_open(const char *path, struct kallsyms **kallsyms)
{
	struct file_bytes bytes;
	struct error *err = file_read(path ? path : "/proc/kallsyms", FILE_SIZE_MAX, &bytes);

	if (err)
		return err;
	*kallsyms = kallsyms_parse((struct str){(const char *)bytes.data, bytes.size});
	(*kallsyms)->bytes = bytes;
	return NULL;
}

void kallsyms_close(struct kallsyms *k)
{
	if (k == NULL)
		return;
	vec_deinit(&k->symbols);
	file_bytes_deinit(&k->bytes);
	free(k);
}

bool kallsyms_are_hidden(const struct kallsyms *k)
{
	return k->are_hidden;
}

size_t kallsyms_count(const struct kallsyms *k)
{
	return k->symbols.count;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t va, struct kernel_symbol *symbol)
{
	size_t low = 0, high = k->symbols.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (k->symbols.data[middle].va <= va)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	const struct kallsym *s = &k->symbols.data[low - 1];
	if (va - s->va >= FUNCTION_SIZE_MAX)
		return false;
	*symbol = (struct kernel_symbol){.low_va = s->va,
		.high_va = s->va + FUNCTION_SIZE_MAX,
		.name = {s->name, s->name_size},
		.module = STR("[kernel]")};
	if (low < k->symbols.count && k->symbols.data[low].va < symbol->high_va)
		symbol->high_va = k->symbols.data[low].va;
	if (s->module_size)
		symbol->module = (struct str){s->name + s->name_size + 1, s->module_size};
	return true;
}
