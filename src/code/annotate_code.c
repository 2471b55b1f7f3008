/*
 * Finds a function's code.  The profile has the sampled addresses of the function in a load object;
 * the object's symbols give the start and end of the function around them; its debug information
 * gives the source line of each instruction, and so the files to read.
 */
#include "code/annotate_code.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "obj/debugfile.h"
#include "obj/object_open.h"
#include "obj/objfile.h"
#include "obj/symtab.h"
#include "symbolize/symbolize.h"

void remark(struct remarks *remarks, struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	vec_push(&remarks->items, arena_str(arena, str_from(text)).data);
	free(text);
}

struct code_search {
	const struct profile *profile;
	const struct stack_weights *stacks;
	function_id function;
	const struct annotate_wanted *wanted;
	struct arena *arena;
	struct remarks *remarks;
	VEC(struct listing_instruction) instructions;
	VEC(struct listing_file) files;
	int object_fd;	/* of the load object below the root; -1: none */
	size_t missing; /* source files of inlined functions that are not here */
};

static const struct function *searched(const struct code_search *s)
{
	return &s->profile->functions[s->function.i];
}

/* ---- instructions ---- */

/* Checks that the object's path is a file that has not changed since. */
static void check_age(struct code_search *s, const struct object *object, struct str opened)
{
	struct str path = profile_string(s->profile, object->path);
	struct stat info;

	if (profile_string(s->profile, object->build_id).size || s->profile->start_unix_ns == 0 ||
		stat(opened.data, &info) != 0)
		return;
	if ((uint64_t)info.st_mtim.tv_sec > s->profile->start_unix_ns / 1000000000)
		remark(s->remarks, s->arena,
			"%.*s was changed after the recording and has no build-id: its "
			"instructions may be others than those that ran",
			STR_ARG(path));
}

static void add_instructions(
	struct code_search *s, const struct instruction *instructions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct instruction *x = &instructions[i];

		vec_push(
			&s->instructions, (struct listing_instruction){
						  .code = {x->obj_addr, x->size}, .text = x->text});
	}
}

static void disassemble_ranges(struct code_search *s, struct objfile *file,
	const struct symtab *names, const struct code_range *ranges, size_t count)
{
	struct error *err = NULL;

	for (size_t i = 0; i < count && err == NULL; i++) {
		const struct instruction *instructions;
		size_t instruction_count;

		err = disassemble(file, names, ranges[i], s->wanted->syntax, s->arena,
			&instructions, &instruction_count);
		if (err == NULL)
			add_instructions(s, instructions, instruction_count);
	}
	if (err)
		remark(s->remarks, s->arena, "%s", err->message);
	error_destroy(err);
}

static void search_object(struct code_search *s, struct objfile *file, struct str path,
	const uint64_t *addrs, size_t count)
{
	struct debugfile_places places = {
		.object_path = path, .known_path = path, .debug_directory = "/usr/lib/debug"};
	struct code_range *ranges = xcalloc(count, sizeof(*ranges));
	char *problem = NULL;
	struct objfile *debug = debugfile_open(file, &places, &problem);
	struct symtab *names = symtab_create(file, debug);
	size_t range_count = code_ranges_find(file, names, addrs, count, ranges);

	disassemble_ranges(s, file, names, ranges, range_count);
	symtab_destroy(names);
	objfile_close(debug);
	free(problem);
	free(ranges);
}

/* Finds the line, and the inlined functions, of each instruction. */
static void symbolize_instructions(
	struct code_search *s, const struct object *object, struct str opened)
{
	size_t count = s->instructions.count;
	struct symbolize_object asked = {.path = opened,
		.build_id = profile_string(s->profile, object->build_id),
		.kind = object->kind};
	struct symbolizer *symbolizer = symbolizer_create(&(struct symbolize_options){0});
	uint64_t *addrs = ARENA_ARRAY(s->arena, uint64_t, count);
	struct symbol_place *found = ARENA_ARRAY(s->arena, struct symbol_place, count);
	struct symbolize_status status;

	for (size_t i = 0; i < count; i++)
		addrs[i] = s->instructions.data[i].code.obj_addr;
	symbolize_addresses(symbolizer, &asked, addrs, count, s->arena, found, &status);
	for (size_t i = 0; i < count; i++) {
		struct listing_frame *frames =
			ARENA_ARRAY(s->arena, struct listing_frame, found[i].count);

		for (uint32_t k = 0; k < found[i].count; k++)
			frames[k] = (struct listing_frame){found[i].frames[k].function,
				found[i].frames[k].file, found[i].frames[k].line};
		s->instructions.data[i].frames = frames;
		s->instructions.data[i].frame_count = found[i].count;
	}
	symbolizer_destroy(symbolizer);
}

/* With a root, the object is opened below it, and then known by its descriptor. */
static struct error *find_object(struct code_search *s, struct str path, struct str *opened)
{
	const struct source_root *root = s->wanted->root;
	struct str shown;

	s->object_fd = -1;
	if (root == NULL)
		return NULL;
	s->object_fd = source_root_find(root, path, s->arena, &shown);
	if (s->object_fd < 0)
		return error_new(ERROR_INPUT, "%.*s: not found below %.*s", STR_ARG(path),
			STR_ARG(source_root_path(root)));
	*opened = str_from(arena_printf(s->arena, "/proc/self/fd/%d", s->object_fd));
	return NULL;
}

static void open_and_search(
	struct code_search *s, const struct object *object, const uint64_t *addrs, size_t count)
{
	struct str path = profile_string(s->profile, object->path), opened = path;
	struct objfile *file = NULL;
	struct error *err = find_object(s, path, &opened);

	if (err == NULL)
		err = object_open(
			path, opened, profile_string(s->profile, object->build_id), &file);
	if (err) {
		remark(s->remarks, s->arena, "no instructions: %s", err->message);
		error_destroy(err);
		return;
	}
	check_age(s, object, opened);
	search_object(s, file, opened, addrs, count);
	objfile_close(file);
	if (s->instructions.count)
		symbolize_instructions(s, object, opened);
	if (s->object_fd >= 0)
		close(s->object_fd);
}

static void find_instructions(struct code_search *s)
{
	object_id id = searched(s)->object;
	uint64_t *addrs;
	size_t count = annotate_addresses(s->profile, s->stacks, s->function, &addrs, s->arena);

	if (count == 0 || id.i == NO_ID)
		return;
	const struct object *object = &s->profile->objects[id.i];

	if (object->kind == OBJECT_USER)
		open_and_search(s, object, addrs, count);
	else
		remark(s->remarks, s->arena, "no instructions: %.*s is %s code and has no file",
			STR_ARG(profile_module(s->profile, id)), object_kind_names[object->kind]);
}

/* ---- source ---- */

static bool has_file(const struct code_search *s, struct str path)
{
	for (size_t i = 0; i < s->files.count; i++)
		if (str_equal(s->files.data[i].recorded, path))
			return true;
	return false;
}

static void remark_file(struct code_search *s, const struct source_file *file, bool is_own)
{
	uint64_t start_ns = s->profile->start_unix_ns;

	if (file->problem && is_own)
		remark(s->remarks, s->arena, "no source: %s", file->problem);
	else if (file->problem)
		s->missing++;
	else if (start_ns && file->changed_unix_ns > start_ns)
		remark(s->remarks, s->arena,
			"%.*s was changed after the recording: its lines may be others than those "
			"that were compiled",
			STR_ARG(file->path));
}

static void add_file(struct code_search *s, struct str path, bool is_own)
{
	if (path.size == 0 || has_file(s, path))
		return;
	struct source_file file =
		source_file_read(path, &s->wanted->map, s->wanted->root, s->arena);

	remark_file(s, &file, is_own);
	vec_push(&s->files, (struct listing_file){path, file.path, file.lines, file.line_count});
}

/* Whether the source of a place could be read. */
static bool has_source(const struct code_search *s, const struct annotate_place *place)
{
	struct str path = profile_string(s->profile, place->file);

	for (size_t i = 0; i < s->files.count; i++)
		if (str_equal(s->files.data[i].recorded, path))
			return s->files.data[i].lines != NULL;
	return false;
}

static void remark_cost(
	struct code_search *s, const struct annotation *a, const bool *wanted, const char *what)
{
	int64_t all = annotate_places_weight(a, NULL), part = annotate_places_weight(a, wanted);

	if (all > 0 && part > 0)
		remark(s->remarks, s->arena, "%.1f%% of the weight of this function's code %s",
			100.0 * (double)part / (double)all, what);
}

/* Reports the weight without known lines or readable source files. */
static void remark_costs(struct code_search *s, const struct annotation *a)
{
	bool *lineless = ARENA_ARRAY(s->arena, bool, a->place_count);
	bool *sourceless = ARENA_ARRAY(s->arena, bool, a->place_count);

	for (size_t i = 0; i < a->place_count; i++) {
		lineless[i] = a->places[i].line == 0;
		sourceless[i] = !lineless[i] && !has_source(s, &a->places[i]);
	}
	remark_cost(s, a, lineless,
		"is at no known line, and seen by instruction only; compile with -g");
	remark_cost(s, a, sourceless, "is in lines whose text was not found");
}

static void find_source(struct code_search *s, const struct annotation *annotation)
{
	struct str own = profile_string(s->profile, searched(s)->file);

	add_file(s, own, true);
	for (size_t i = 0; i < annotation->place_count; i++)
		add_file(s, profile_string(s->profile, annotation->places[i].file),
			own.size == 0 && annotation->places[i].depth == 0);
	for (size_t i = 0; i < s->instructions.count; i++) {
		const struct listing_instruction *x = &s->instructions.data[i];

		for (uint32_t k = 0; k < x->frame_count; k++)
			add_file(s, x->frames[k].file, false);
	}
	if (s->missing)
		remark(s->remarks, s->arena,
			"%zu source file%s of inlined functions %s not found; --source-map OLD=NEW "
			"says where to look",
			s->missing, s->missing == 1 ? "" : "s", s->missing == 1 ? "was" : "were");
	remark_costs(s, annotation);
}

/* ---- both ---- */

static struct annotation *annotate_found(struct code_search *s)
{
	struct annotate_code *code =
		ARENA_ARRAY(s->arena, struct annotate_code, s->instructions.count);

	for (size_t i = 0; i < s->instructions.count; i++)
		code[i] = s->instructions.data[i].code;
	return annotate(s->profile, s->stacks, s->function, code, s->instructions.count, s->arena);
}

static struct listing_code *code_found(struct code_search *s)
{
	struct listing_code *code = ARENA_NEW(s->arena, struct listing_code);
	struct listing_instruction *instructions =
		ARENA_ARRAY(s->arena, struct listing_instruction, s->instructions.count);
	struct listing_file *files = ARENA_ARRAY(s->arena, struct listing_file, s->files.count);

	for (size_t i = 0; i < s->instructions.count; i++)
		instructions[i] = s->instructions.data[i];
	for (size_t i = 0; i < s->files.count; i++)
		files[i] = s->files.data[i];
	*code = (struct listing_code){.files = files,
		.file_count = s->files.count,
		.instructions = instructions,
		.instruction_count = s->instructions.count,
		.without_source = s->wanted->without_source,
		.without_instructions = s->wanted->without_instructions};
	return code;
}

struct listing *annotate_listing(const struct profile *profile, const struct stack_weights *stacks,
	function_id function, const struct annotate_wanted *wanted, struct arena *arena,
	struct remarks *remarks)
{
	struct code_search s = {.profile = profile,
		.stacks = stacks,
		.function = function,
		.wanted = wanted,
		.arena = arena,
		.remarks = remarks};

	if (!wanted->without_instructions)
		find_instructions(&s);
	const struct annotation *annotation = annotate_found(&s);

	find_source(&s, annotation);
	if (annotation->inlined_inclusive != 0 && !wanted->without_instructions)
		remark(remarks, arena,
			"the function is inlined into others; instructions of that code are "
			"theirs");
	struct listing *listing = listing_create(profile, annotation, code_found(&s), arena);

	vec_deinit(&s.instructions);
	vec_deinit(&s.files);
	return listing;
}
