/*
 * Finds a function's code on this machine.  The profile has the sampled addresses of the function
 * in a load object; the object's symbols give the start and end of the function around them; its
 * debug information gives the source line of each instruction, and so the files to read.
 */
#include "code/machine_code.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "obj/debugfile.h"
#include "obj/object_open.h"
#include "obj/objfile.h"
#include "obj/symtab.h"
#include "symbolize/build_source.h"
#include "symbolize/symbolize.h"

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

static void disassemble_ranges(struct code_search *s, const struct machine_code *machine,
	struct objfile *file, const struct symtab *names, const struct code_range *ranges,
	size_t count)
{
	struct error *err = NULL;

	for (size_t i = 0; i < count && err == NULL; i++) {
		const struct instruction *instructions;
		size_t instruction_count;

		err = disassemble(file, names, ranges[i], machine->syntax, s->arena, &instructions,
			&instruction_count);
		if (err == NULL)
			add_instructions(s, instructions, instruction_count);
	}
	if (err)
		remark(s->remarks, s->arena, "%s", err->message);
	error_destroy(err);
}

static void search_object(struct code_search *s, const struct machine_code *machine,
	struct objfile *file, struct str path, const uint64_t *addrs, size_t count)
{
	struct debugfile_places places = {
		.object_path = path, .known_path = path, .debug_directory = "/usr/lib/debug"};
	struct code_range *ranges = xcalloc(count, sizeof(*ranges));
	char *problem = NULL;
	struct objfile *debug = debugfile_open(file, &places, &problem);
	struct symtab *names = symtab_create(file, debug);
	size_t range_count = code_ranges_find(file, names, addrs, count, ranges);

	disassemble_ranges(s, machine, file, names, ranges, range_count);
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

/* With a root, the object is opened below it, and then known by its descriptor; *fd -1: by path. */
static struct error *find_object(struct code_search *s, const struct machine_code *machine,
	struct str path, int *fd, struct str *opened)
{
	const struct source_root *root = machine->root;
	struct str shown;

	*fd = -1;
	if (root == NULL)
		return NULL;
	*fd = source_root_find(root, path, s->arena, &shown);
	if (*fd < 0)
		return error_new(ERROR_INPUT, "%.*s: not found below %.*s", STR_ARG(path),
			STR_ARG(source_root_path(root)));
	*opened = str_from(arena_printf(s->arena, "/proc/self/fd/%d", *fd));
	return NULL;
}

static void open_and_search(struct code_search *s, const struct machine_code *machine,
	const struct object *object, const uint64_t *addrs, size_t count)
{
	int fd;
	struct str path = profile_string(s->profile, object->path), opened = path;
	struct objfile *file = NULL;
	struct error *err = find_object(s, machine, path, &fd, &opened);

	if (err == NULL)
		err = object_open(
			path, opened, profile_string(s->profile, object->build_id), &file);
	if (err) {
		remark(s->remarks, s->arena, "no instructions: %s", err->message);
		error_destroy(err);
		return;
	}
	check_age(s, object, opened);
	search_object(s, machine, file, opened, addrs, count);
	objfile_close(file);
	if (s->instructions.count)
		symbolize_instructions(s, object, opened);
	if (fd >= 0)
		close(fd);
}

static void find_instructions(const void *data, struct code_search *s)
{
	object_id id = s->profile->functions[s->function.i].object;
	uint64_t *addrs;
	size_t count = annotate_addresses(s->profile, s->stacks, s->function, &addrs, s->arena);

	if (count == 0 || id.i == NO_ID)
		return;
	const struct object *object = &s->profile->objects[id.i];

	if (object->kind == OBJECT_USER)
		open_and_search(s, data, object, addrs, count);
	else
		remark(s->remarks, s->arena, "no instructions: %.*s is %s code and has no file",
			STR_ARG(profile_module(s->profile, id)), object_kind_names[object->kind]);
}

/* Asks the further source for a file of that build; if it has none, *file says why. */
static void fetch_source(const struct machine_code *machine, struct str path, struct str build_id,
	struct source_file *file, struct arena *arena)
{
	char *problem = NULL;
	char *fetched = build_source_find_text(machine->source, build_id, path, &problem);

	if (fetched)
		*file = source_file_read_at(fetched, path, arena);
	else
		file->problem = arena_printf(arena, "%.*s: not found here, and %s", STR_ARG(path),
			problem ? problem : "no server has it");
	free(problem);
	free(fetched);
}

struct code_file machine_code_source(const struct machine_code *machine, struct str path,
	struct str build_id, struct arena *arena)
{
	struct source_file file = source_file_read(path, &machine->map, machine->root, arena);

	if (file.problem && machine->source)
		fetch_source(machine, path, build_id, &file, arena);
	return (struct code_file){
		file.path, file.lines, file.line_count, file.changed_unix_ns, file.problem};
}

static struct code_file find_source(
	const void *data, struct str path, struct str build_id, struct arena *arena)
{
	return machine_code_source(data, path, build_id, arena);
}

const struct code_provider machine_code_provider = {find_instructions, find_source};
