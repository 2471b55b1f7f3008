/*
 * Symbol files of uftrace.  A symbol reaches to the next line's address, where lines do not say
 * sizes; "__sym_end", "__func_end" and "__dynsym_end", and all of type '?', are ends and no more.
 * Of two lines with the same address and type the first counts.
 */
#include "formats/uftrace/symbols.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "formats/common/text_field.h"

static bool is_end(char type, struct str name)
{
	return type == '?' || str_equal(name, STR("__sym_end")) ||
	       str_equal(name, STR("__func_end")) || str_equal(name, STR("__dynsym_end"));
}

/* The last line's, which reaches up to this address if nothing else is said. */
static void end_last(struct uftrace_symbols *s, uint64_t addr)
{
	struct uftrace_symbol *last = s->count ? &s->data[s->count - 1] : NULL;

	if (last && last->high == 0 && addr > last->low)
		last->high = addr;
}

static bool parse_line(struct str line, struct uftrace_symbol *symbol, char *type)
{
	uint64_t size = 0;

	if (!text_take_hex(&line, &symbol->low) || !text_take(&line, STR(" ")))
		return false;
	/* Newer ones have the size, which begins with a digit as no type does. */
	if (line.size && line.data[0] >= '0' && line.data[0] <= '9' &&
		(!text_take_hex(&line, &size) || !text_take(&line, STR(" "))))
		return false;
	if (line.size < 3 || line.data[1] != ' ')
		return false;
	*type = line.data[0];
	line.data += 2;
	line.size -= 2;
	const char *tab = memchr(line.data, '\t', line.size);
	symbol->name = (struct str){line.data, tab ? (size_t)(tab - line.data) : line.size};
	symbol->high = size && size <= UINT64_MAX - symbol->low ? symbol->low + size : 0;
	return symbol->name.size > 0;
}

static int symbol_compare(const void *a, const void *b)
{
	const struct uftrace_symbol *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->high > y->high) - (x->high < y->high);
}

static void read_header(struct uftrace_symbols *s, struct str line)
{
	struct str rest = line;

	if (text_take(&rest, STR("# path name: ")))
		s->path = rest;
	else if (text_take(&rest, STR("# build-id: ")))
		s->build_id = rest;
}

void uftrace_symbols_init(struct uftrace_symbols *s, struct str text)
{
	struct uftrace_symbol symbol;
	uint64_t last_addr = UINT64_MAX;
	char type, last_type = 0;

	*s = (struct uftrace_symbols){0};
	while (text.size) {
		struct str line = str_take_line(&text);
		if (line.size && line.data[0] == '#')
			read_header(s, line);
		if (!parse_line(line, &symbol, &type) ||
			(symbol.low == last_addr && type == last_type))
			continue;
		last_addr = symbol.low;
		last_type = type;
		end_last(s, symbol.low);
		if (!is_end(type, symbol.name))
			vec_push(s, symbol);
	}
	if (s->count)
		qsort(s->data, s->count, sizeof(*s->data), symbol_compare);
}

void uftrace_symbols_deinit(struct uftrace_symbols *s)
{
	vec_deinit(s);
}

bool uftrace_symbols_fit(const struct uftrace_symbols *s, struct str path, struct str build_id)
{
	if (s->path.size && !str_equal(s->path, path))
		return false;
	return s->build_id.size == 0 || build_id.size == 0 || str_equal(s->build_id, build_id);
}

bool uftrace_symbols_find(const struct uftrace_symbols *s, uint64_t addr, struct str *name)
{
	size_t next = partition_point(i, 0, s->count, s->data[i].low <= addr);

	if (next == 0 || addr >= s->data[next - 1].high)
		return false;
	*name = s->data[next - 1].name;
	return true;
}

unsigned int uftrace_symbols_sum(struct str path)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < path.size; i++)
		sum += (unsigned int)(int)path.data[i];
	return sum & 0xffff;
}
