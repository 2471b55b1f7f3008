/*
 * Names for uftrace's addresses.  Maps and symbol files are read on first use, each once, however
 * many sessions and objects refer to them.
 *
 * In a map, the first line of an object has its start address, to which its symbols are relative;
 * further lines of the same object extend it.  Two objects with the same base name have NAME.sym
 * and NAME-XXXX.sym, where XXXX is the beginning of the build ID; the files name their object.
 * Source: uftrace, utils/session.c and utils/symbol.c.
 */
#include "formats/uftrace/names.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "base/str.h"
#include "base/vec.h"
#include "obj/demangle.h"
#include "obj/objfile.h"
#include "obj/symtab.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"

/* ---- symbol files ---- */

struct uftrace_symbol {
	uint64_t low, high;
	struct str name;
};

/* Texts point into the file's bytes. */
struct uftrace_symbols {
	struct str path, build_id;   /* empty: unknown */
	struct uftrace_symbol *data; /* by low */
	size_t count, capacity;
};

static bool is_end(char type, struct str name)
{
	return type == '?' || str_equal(name, STR("__sym_end")) ||
	       str_equal(name, STR("__func_end")) || str_equal(name, STR("__dynsym_end"));
}

/* Ends the last line's symbol at this address, unless it has a size. */
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
	/* Newer files have the size, which begins with a digit, unlike a type. */
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

	return COMPARE(x->low, y->low) ?: COMPARE(x->high, y->high);
}

static void read_header(struct uftrace_symbols *s, struct str line)
{
	struct str rest = line;

	if (text_take(&rest, STR("# path name: ")))
		s->path = rest;
	else if (text_take(&rest, STR("# build-id: ")))
		s->build_id = rest;
}

static void uftrace_symbols_init(struct uftrace_symbols *s, struct str text)
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

static void uftrace_symbols_deinit(struct uftrace_symbols *s)
{
	vec_deinit(s);
}

/* Whether the symbols are of that object: by path and, if both know it, build ID. */
static bool uftrace_symbols_fit(
	const struct uftrace_symbols *s, struct str path, struct str build_id)
{
	if (s->path.size && !str_equal(s->path, path))
		return false;
	return s->build_id.size == 0 || build_id.size == 0 || str_equal(s->build_id, build_id);
}

/* True, with *name set, if a symbol contains the address. */
static bool uftrace_symbols_find(const struct uftrace_symbols *s, uint64_t addr, struct str *name)
{
	size_t next = partition_point(i, 0, s->count, s->data[i].low <= addr);

	if (next == 0 || addr >= s->data[next - 1].high)
		return false;
	*name = s->data[next - 1].name;
	return true;
}

/* The sum of a path's bytes, which uftrace uses in a symbol file's name if there is no build ID. */
static unsigned int uftrace_symbols_sum(struct str path)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < path.size; i++)
		sum += (unsigned int)(int)path.data[i];
	return sum & 0xffff;
}

/* ---- sessions and their objects ---- */

struct module {
	struct str path, build_id; /* borrowed from maps and tasks */
	object_id object;
	bool is_open;
	const struct uftrace_symbols *symbols; /* NULL: there is no symbol file */
	struct objfile *file;		       /* if there is no symbol file */
	struct symtab *table;
};

struct mapping {
	uint64_t start, end;
	uint32_t module;
};

/* The mappings of one session id. */
struct space {
	struct file_bytes bytes;
	VEC(struct mapping) mappings; /* by start */
};

struct symbol_file {
	struct file_bytes bytes;
	struct uftrace_symbols symbols;
};

struct uftrace_names {
	const struct folder *folder;
	struct builder *builder;
	const struct uftrace_tasks *tasks;
	struct arena *arena;
	struct str_table space_ids, module_ids, file_names;
	VEC(struct space) spaces;      /* [id] */
	VEC(struct module) modules;    /* [id] */
	VEC(struct symbol_file) files; /* [id] */
	uint32_t *space_of;	       /* [session] */
	struct map frames;	       /* session, address → frame */
	struct demangler *demangler;
	uint64_t unknown; /* number of unknown addresses */
};

/* ---- maps ---- */

static uint32_t module_of(struct uftrace_names *n, struct str path, struct str build_id)
{
	struct strbuf key = {0};

	strbuf_add(&key, path);
	strbuf_add_char(&key, '\0');
	strbuf_add(&key, build_id);
	uint32_t id = str_table_intern(&n->module_ids, strbuf_str(&key));
	strbuf_deinit(&key);
	if (id == n->modules.count)
		vec_push(&n->modules,
			(struct module){.path = path,
				.build_id = build_id,
				.object = builder_object(n->builder, path, build_id, OBJECT_USER)});
	return id;
}

/* Parses "START-END PERMISSIONS OFFSET DEVICE INODE PATH build-id:HEX", addresses in hex. */
static bool parse_mapping(
	struct str line, struct mapping *m, struct str *path, struct str *build_id)
{
	if (!text_take_hex(&line, &m->start) || !text_take(&line, STR("-")) ||
		!text_take_hex(&line, &m->end))
		return false;
	for (int i = 0; i < 4; i++)
		(void)text_take_word(&line);
	while (line.size && line.data[0] == ' ')
		text_take(&line, STR(" "));
	*path = line;
	*build_id = STR("");
	if (text_find(line, STR(" build-id:"), build_id))
		path->size = (size_t)(build_id->data - line.data) - sizeof(" build-id:") + 1;
	return path->size > 0 && path->data[0] != '[' && m->start < m->end;
}

static void read_map(struct uftrace_names *n, struct space *space)
{
	struct str text = {(const char *)space->bytes.data, space->bytes.size};

	while (text.size) {
		struct str path, build_id;
		struct mapping m, *last = NULL;
		if (!parse_mapping(str_take_line(&text), &m, &path, &build_id))
			continue;
		if (space->mappings.count)
			last = &space->mappings.data[space->mappings.count - 1];
		if (last && str_equal(n->modules.data[last->module].path, path)) {
			last->end = m.end > last->end ? m.end : last->end;
			continue;
		}
		m.module = module_of(n, path, build_id);
		vec_push(&space->mappings, m);
	}
}

static struct error *add_space(struct uftrace_names *n, struct str session_id)
{
	struct space space = {0};
	char *name = xasprintf("sid-%.*s.map", STR_ARG(session_id));
	struct error *err = NULL;

	if (!folder_has(n->folder, name))
		err = error_new(ERROR_INPUT,
			"%s: '%s' is missing, without which no address has a name; copy the whole "
			"folder",
			folder_path(n->folder), name);
	else
		err = folder_read(n->folder, name, 0, &space.bytes);
	free(name);
	if (err)
		return err;
	read_map(n, &space);
	vec_push(&n->spaces, space);
	return NULL;
}

static int mapping_compare(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return COMPARE(x->start, y->start);
}

/* Adds libraries loaded later, where nothing else is mapped; each ends where the next begins. */
static void add_loads(struct uftrace_names *n)
{
	for (size_t i = 0; i < n->tasks->loads.count; i++) {
		const struct uftrace_load *load = &n->tasks->loads.data[i];
		uint32_t id;
		if (!str_table_find(&n->space_ids, load->session_id, &id))
			continue;
		struct mapping m = {.start = load->base,
			.end = UINT64_MAX,
			.module = module_of(n, load->path, STR(""))};
		vec_push(&n->spaces.data[id].mappings, m);
	}
	for (size_t i = 0; i < n->spaces.count; i++)
		if (n->spaces.data[i].mappings.count)
			qsort(n->spaces.data[i].mappings.data, n->spaces.data[i].mappings.count,
				sizeof(struct mapping), mapping_compare);
}

static struct error *add_spaces(struct uftrace_names *n)
{
	const struct uftrace_tasks *tasks = n->tasks;

	n->space_of = xcalloc(tasks->sessions.count + 1, sizeof(*n->space_of));
	for (size_t i = 0; i < tasks->sessions.count; i++) {
		struct str id = tasks->sessions.data[i].id;
		n->space_of[i] = str_table_intern(&n->space_ids, id);
		if (n->space_of[i] < n->spaces.count)
			continue;
		struct error *err = add_space(n, id);
		if (err)
			return err;
	}
	add_loads(n);
	return NULL;
}

/* ---- symbols ---- */

/* The symbols in the file with that name; NULL: there is no such file. */
static const struct uftrace_symbols *symbols_in(struct uftrace_names *n, const char *name)
{
	struct symbol_file file = {0};

	uint32_t id = str_table_intern(&n->file_names, str_from(name));
	if (id == n->files.count) {
		if (folder_has(n->folder, name))
			error_destroy(folder_read(n->folder, name, 0, &file.bytes));
		struct str text = {(const char *)file.bytes.data, file.bytes.size};
		uftrace_symbols_init(&file.symbols, text);
		vec_push(&n->files, file);
	}
	return n->files.data[id].bytes.data ? &n->files.data[id].symbols : NULL;
}

static const struct uftrace_symbols *symbols_of(struct uftrace_names *n, const struct module *m)
{
	struct str base = str_base_name(m->path);
	char *name = xasprintf("%.*s.sym", STR_ARG(base));
	const struct uftrace_symbols *symbols = symbols_in(n, name);

	free(name);
	if (symbols && uftrace_symbols_fit(symbols, m->path, m->build_id))
		return symbols;
	if (m->build_id.size >= 4)
		name = xasprintf("%.*s-%.4s.sym", STR_ARG(base), m->build_id.data);
	else
		name = xasprintf("%.*s-%04x.sym", STR_ARG(base), uftrace_symbols_sum(m->path));
	symbols = symbols_in(n, name);
	free(name);
	return symbols;
}

static void open_module(struct uftrace_names *n, struct module *m)
{
	m->is_open = true;
	m->symbols = symbols_of(n, m);
	if (m->symbols && m->symbols->count)
		return;
	m->symbols = NULL;
	/* Without a build ID, the file there now may not be the one that ran. */
	if (m->build_id.size == 0)
		return;
	char *path = xstrndup(m->path.data, m->path.size);
	error_destroy(objfile_open(path, &m->file));
	free(path);
	if (m->file && str_equal(objfile_build_id(m->file), m->build_id))
		m->table = symtab_create(m->file, NULL);
}

/* The linker's name; false: unknown. */
static bool name_in(const struct module *m, uint64_t start, uint64_t addr, struct str *name)
{
	struct symbol symbol;
	uint64_t slide;

	if (m->symbols)
		return uftrace_symbols_find(m->symbols, addr - start, name);
	if (m->table == NULL || !objfile_slide(m->file, start, 0, &slide) ||
		!symtab_find(m->table, addr - slide, &symbol))
		return false;
	*name = symbol.name;
	return true;
}

/* ---- */

static const struct mapping *find_mapping(const struct space *space, uint64_t addr)
{
	size_t next =
		partition_point(i, 0, space->mappings.count, space->mappings.data[i].start <= addr);

	if (next == 0 || addr >= space->mappings.data[next - 1].end)
		return NULL;
	return &space->mappings.data[next - 1];
}

/* The name of an unknown address, as of other nameless code. */
static string_id nameless(struct uftrace_names *n, const struct module *m, uint64_t addr)
{
	n->unknown++;
	return nameless_code(n->builder, m ? m->path : STR(""), addr);
}

static frame_id make_frame(struct uftrace_names *n, uint32_t session, uint64_t addr)
{
	const struct mapping *at = NULL;
	struct module *m = NULL;
	object_id object = {NO_ID};
	string_id name;
	struct str found;

	if (session != NO_ID)
		at = find_mapping(&n->spaces.data[n->space_of[session]], addr);
	if (at) {
		m = &n->modules.data[at->module];
		object = m->object;
		if (!m->is_open)
			open_module(n, m);
	}
	if (at && name_in(m, at->start, addr, &found))
		name = builder_string(n->builder, demangle(n->demangler, found));
	else
		name = nameless(n, m, at ? addr - at->start : addr);
	return frame_of_name(n->builder, name, object, 0);
}

/* Memory per address in the map. */
#define PLACE_BYTES (4 * sizeof(struct map_slot))

frame_id uftrace_names_frame(struct uftrace_names *n, uint32_t session, uint64_t addr)
{
	uint32_t frame;

	if (!map_get(&n->frames, session, addr, &frame)) {
		frame = make_frame(n, session, addr).i;
		if (builder_has_room(n->builder, PLACE_BYTES))
			map_put(&n->frames, session, addr, frame);
		builder_charge(n->builder, PLACE_BYTES);
	}
	return (frame_id){frame};
}

void uftrace_names_note(const struct uftrace_names *n)
{
	if (n->unknown)
		builder_note(n->builder, NOTE_NO_SYMBOLS, n->unknown,
			"%llu function%s no name: no symbol file of the folder has them",
			(unsigned long long)n->unknown, n->unknown == 1 ? " has" : "s have");
}

struct error *uftrace_names_create(const struct folder *folder, struct builder *builder,
	const struct uftrace_tasks *tasks, struct uftrace_names **names)
{
	struct uftrace_names *n = xalloc(sizeof(*n));

	n->folder = folder;
	n->builder = builder;
	n->tasks = tasks;
	n->arena = arena_create();
	n->demangler = demangler_create();
	str_table_init(&n->space_ids, n->arena);
	str_table_init(&n->module_ids, n->arena);
	str_table_init(&n->file_names, n->arena);
	struct error *err = add_spaces(n);
	if (err)
		uftrace_names_destroy(n);
	else
		*names = n;
	return err;
}

void uftrace_names_destroy(struct uftrace_names *n)
{
	if (n == NULL)
		return;
	for (size_t i = 0; i < n->spaces.count; i++) {
		file_bytes_deinit(&n->spaces.data[i].bytes);
		vec_deinit(&n->spaces.data[i].mappings);
	}
	for (size_t i = 0; i < n->modules.count; i++) {
		symtab_destroy(n->modules.data[i].table);
		objfile_close(n->modules.data[i].file);
	}
	for (size_t i = 0; i < n->files.count; i++) {
		uftrace_symbols_deinit(&n->files.data[i].symbols);
		file_bytes_deinit(&n->files.data[i].bytes);
	}
	vec_deinit(&n->spaces);
	vec_deinit(&n->modules);
	vec_deinit(&n->files);
	str_table_deinit(&n->space_ids);
	str_table_deinit(&n->module_ids);
	str_table_deinit(&n->file_names);
	map_deinit(&n->frames);
	free(n->space_of);
	demangler_destroy(n->demangler);
	arena_destroy(n->arena);
	free(n);
}
