/*
 * Resolver for ELF files: functions, lines and inlined calls from debug information, or, without
 * it, names from the symbol table.
 */
#include "symbolize/resolver.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "obj/debug_info.h"
#include "obj/debugfile.h"
#include "obj/demangle.h"
#include "obj/objfile.h"
#include "obj/symtab.h"
#include "obj/table_memory.h"
#include "obj/tail_calls.h"
#include "symbolize/build_source.h"

/* The files of one object, and the tables read from them. */
struct elf_source {
	struct objfile *object, *debug;
	struct debugfile_places places;
	struct debug_info *info; /* NULL: there is none */
	struct symtab *symtab;	 /* NULL: not read yet */
};

static bool elf_fits(enum object_kind kind)
{
	return kind == OBJECT_USER;
}

/* Asks the symbolizer's further source for a debug file, as struct debugfile_places wants it. */
static char *find_debug(void *context, struct str build_id)
{
	struct resolve_job *job = context;
	char *problem = NULL;
	char *path =
		build_source_find(job->symbolizer->options.source, build_id, BUILD_DEBUG, &problem);

	if (problem)
		resolve_problem(job, "%s", problem);
	free(problem);
	return path;
}

/* Opens the debug file; asks the further source if this machine has no debug information. */
static void open_debug(struct elf_source *source, struct resolve_job *job)
{
	struct build_source *further = job->symbolizer->options.source;
	char *problem = NULL;

	if (further && !objfile_has_contents(source->object, ".debug_info"))
		source->places.find = find_debug;
	source->places.find_context = job;
	source->debug = debugfile_open(source->object, &source->places, &problem);
	if (problem && source->debug == NULL)
		resolve_problem(job, "%s", problem);
	free(problem);
	/* And for what is split off again. */
	source->places.find = further ? find_debug : NULL;
}

static void open_tables(struct elf_source *source, struct resolve_job *job)
{
	objfile_set_store(source->object, &job->symbolizer->sections);
	if (source->debug)
		objfile_set_store(source->debug, &job->symbolizer->sections);
	source->info = debug_info_open(source->object, source->debug, &source->places,
		source->debug ? str_from(objfile_name(source->debug)) : STR(""));
}

static void close_tables(struct elf_source *source)
{
	debug_info_close(source->info);
	symtab_destroy(source->symtab);
}

/* Whether the tables may be read. */
static bool fits_memory(const struct elf_source *source, struct resolve_job *job)
{
	uint64_t most = job->symbolizer->options.memory_max;

	if (most == 0 || (table_memory(source->object) <= most &&
				 (source->debug == NULL || table_memory(source->debug) <= most)))
		return true;
	job->status->is_too_large = true;
	resolve_problem(
		job, "%.*s: its tables are too large to be read now", STR_ARG(job->object->path));
	return false;
}

static bool source_open(struct elf_source *source, struct resolve_job *job)
{
	*source = (struct elf_source){.places = {.known_path = job->object->path,
					      .debug_directory = job->symbolizer->debug_directory}};
	source->object = resolve_open_object(job, &source->places.object_path);
	if (source->object == NULL)
		return false;
	open_debug(source, job);
	if (!fits_memory(source, job)) {
		objfile_close(source->debug);
		objfile_close(source->object);
		return false;
	}
	open_tables(source, job);
	return true;
}

static void source_close(struct elf_source *source)
{
	close_tables(source);
	objfile_close(source->debug);
	objfile_close(source->object);
}

static const struct symtab *symbols_of(struct elf_source *source)
{
	if (source->symtab == NULL)
		source->symtab = symtab_create(source->object, source->debug);
	return source->symtab;
}

/* The name in the symbol table, demangled; empty if there is none. */
static struct str symbol_name(struct elf_source *source, struct resolve_job *job, uint64_t obj_addr)
{
	struct symbol symbol;

	if (!symtab_find(symbols_of(source), obj_addr, &symbol))
		return STR("");
	struct str name = demangle(job->symbolizer->demangler, symbol.name);
	bool needs_address = symbol.is_twin && symbol.file == NULL;
	if (!symbol.is_plt && !needs_address)
		return name;
	struct strbuf whole = {0};
	strbuf_add(&whole, name);
	if (symbol.is_plt)
		strbuf_add(&whole, STR("@plt"));
	else
		strbuf_printf(&whole, "@0x%llx", (unsigned long long)symbol.start);
	name = resolve_string(job, strbuf_str(&whole));
	strbuf_deinit(&whole);
	return name;
}

/*
 * Debug information has the name from the source, which may be reserved for the library itself,
 * such as "__libc_malloc", while programs call the function by another name.
 */
static struct str public_name(struct elf_source *source, uint64_t obj_addr, struct str name)
{
	struct symbol symbol;

	if (!str_starts_with(name, STR("_")) || str_starts_with(name, STR("_Z")) ||
		!symtab_find_alias(symbols_of(source), obj_addr, name, &symbol))
		return name;
	return symbol.name;
}

/* Code that a linker folded can have thousands of names. */
#define NAMES_MAX 64

/* Whether the list, whose items each end in NUL, contains item. */
static bool list_has(struct str list, struct str item)
{
	while (list.size)
		if (str_equal(str_take_item(&list), item))
			return true;
	return false;
}

/*
 * The other names of the code at obj_addr besides `shown`, demangled, each ending in NUL. Empty if
 * the symbol tables do not have the linker name `own` there: then it is only a part of a function.
 */
static struct str aliases_of(struct elf_source *source, struct resolve_job *job, uint64_t obj_addr,
	struct str own, struct str shown)
{
	struct str names[NAMES_MAX];
	struct strbuf list = {0};
	size_t count = symtab_aliases(symbols_of(source), obj_addr, own, names, NAMES_MAX);

	for (size_t i = 0; i < count; i++) {
		struct str name = demangle(job->symbolizer->demangler, names[i]);

		if (str_equal(name, shown) || list_has(strbuf_str(&list), name))
			continue;
		strbuf_add(&list, name);
		strbuf_add_char(&list, '\0');
	}
	struct str aliases = resolve_string(job, strbuf_str(&list));
	strbuf_deinit(&list);
	return aliases;
}

/*
 * Answers place i from debug information; the outermost function's public name may have to be
 * looked up.
 */
static void answer_from_debug_info(struct elf_source *source, struct resolve_job *job, size_t i,
	const struct debug_place *place)
{
	struct symbol_frame *frames = ARENA_ARRAY(job->arena, struct symbol_frame, place->count);

	for (uint32_t k = 0; k < place->count; k++) {
		const struct debug_frame *from = &place->frames[k];
		bool is_outermost = k + 1 == place->count;
		struct str own = is_outermost
					 ? public_name(source, job->obj_addrs[i], from->function)
					 : from->function;
		struct str function = demangle(job->symbolizer->demangler, own);
		if (function.size == 0 && is_outermost)
			function = symbol_name(source, job, job->obj_addrs[i]);
		frames[k] = (struct symbol_frame){
			.function = resolve_string(job, function),
			.aliases = is_outermost ? aliases_of(source, job, job->obj_addrs[i], own,
							  function)
						: STR(""),
			.file = resolve_string(job, from->file),
			.line = from->line,
			.function_file = resolve_string(job, from->function_file),
			.function_line = from->function_line,
			.is_inline = from->is_inline,
		};
	}
	job->places[i] = (struct symbol_place){.frames = frames, .count = place->count};
	job->is_known[i] = true;
}

/* The aliases, and the name that a twin's address was added to. */
static struct str with_alias(struct resolve_job *job, struct str name, struct str aliases)
{
	struct strbuf list = {0};

	strbuf_add(&list, name);
	strbuf_add_char(&list, '\0');
	strbuf_add(&list, aliases);
	aliases = resolve_string(job, strbuf_str(&list));
	strbuf_deinit(&list);
	return aliases;
}

/* Answers place i from the symbol table; returns whether there was a name. */
static bool answer_from_symtab(struct elf_source *source, struct resolve_job *job, size_t i)
{
	uint64_t obj_addr = job->obj_addrs[i];
	struct str name = symbol_name(source, job, obj_addr);
	struct symbol symbol;

	if (name.size == 0 || !symtab_find(symbols_of(source), obj_addr, &symbol)) {
		job->symbol_ends[i] = symtab_end_before(symbols_of(source), obj_addr);
		return false;
	}
	struct str aliases = aliases_of(source, job, obj_addr, symbol.name, name);
	if (symbol.is_twin && symbol.file == NULL)
		aliases =
			with_alias(job, demangle(job->symbolizer->demangler, symbol.name), aliases);
	struct symbol_frame *frame = ARENA_NEW(job->arena, struct symbol_frame);
	*frame = (struct symbol_frame){
		.function = resolve_string(job, name),
		.aliases = aliases,
		.function_file = resolve_string(
			job, symbol.is_twin && symbol.file ? str_from(symbol.file) : STR("")),
	};
	job->places[i] = (struct symbol_place){.frames = frame, .count = 1};
	job->is_known[i] = true;
	return true;
}

static void source_answer(struct elf_source *source, struct resolve_job *job)
{
	uint64_t *addrs = xcalloc(job->count, sizeof(*addrs));
	size_t *which = xcalloc(job->count, sizeof(*which));
	struct debug_place *found = xcalloc(job->count, sizeof(*found));
	size_t count = 0, nameless = 0;

	for (size_t i = 0; i < job->count; i++) {
		if (!job->is_known[i]) {
			addrs[count] = job->obj_addrs[i];
			which[count++] = i;
		}
	}
	if (source->info)
		debug_info_find(source->info, addrs, count, found);
	for (size_t k = 0; k < count; k++) {
		if (found[k].count)
			answer_from_debug_info(source, job, which[k], &found[k]);
		else if (!answer_from_symtab(source, job, which[k]))
			nameless++;
	}
	if (source->info && debug_info_problem(source->info))
		resolve_problem(job, "%.*s: %s", STR_ARG(job->object->path),
			debug_info_problem(source->info));
	job->status->found_file = true;
	job->status->has_lines = source->info != NULL;
	job->status->has_names =
		source->info || nameless == 0 || (source->symtab && symtab_is_full(source->symtab));
	free(found);
	free(which);
	free(addrs);
}

void resolve_in_file(struct resolve_job *job, struct objfile *file)
{
	struct elf_source source = {.object = file,
		.places = {.object_path = str_from(objfile_name(file)),
			.debug_directory = job->symbolizer->debug_directory,
			.find = job->symbolizer->options.source ? find_debug : NULL,
			.find_context = job}};

	open_tables(&source, job);
	source_answer(&source, job);
	close_tables(&source);
}

static void elf_resolve(struct resolve_job *job)
{
	struct elf_source source;
	uint64_t start_ns = clock_monotonic_ns();

	if (!source_open(&source, job))
		return;
	source_answer(&source, job);
	source_close(&source);
	job->is_costly = clock_monotonic_ns() - start_ns > job->symbolizer->options.costly_ns;
}

const struct resolver resolver_elf = {
	.name = "elf",
	.fits = elf_fits,
	.resolve = elf_resolve,
};

void resolve_tail_calls(struct symbolizer *s, const struct symbolize_object *object,
	const struct tail_pair *pairs, size_t count, struct arena *arena, struct tail_chain *chains)
{
	struct symbolize_status status = {0};
	struct resolve_job job = {
		.symbolizer = s, .object = object, .status = &status, .arena = arena};
	struct elf_source source;

	for (size_t i = 0; i < count; i++)
		chains[i] = (struct tail_chain){0};
	if (count == 0 || !elf_fits(object->kind) || !source_open(&source, &job))
		return;
	if (source.info)
		tail_chains_find(source.object, source.info, symbols_of(&source), pairs, count,
			arena, chains);
	source_close(&source);
}
