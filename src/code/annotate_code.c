/*
 * Joins a function's code, from its provider, with what was measured at it.
 */
#include "code/annotate_code.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"

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

static const struct function *searched(const struct code_search *s)
{
	return &s->profile->functions[s->function.i];
}

/* ---- source ---- */

static bool has_file(const struct code_search *s, struct str path)
{
	for (size_t i = 0; i < s->files.count; i++)
		if (str_equal(s->files.data[i].recorded, path))
			return true;
	return false;
}

static void remark_file(struct code_search *s, const struct code_file *file, bool is_own)
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

static struct str build_id_of(const struct code_search *s)
{
	object_id object = s->profile->functions[s->function.i].object;

	return object.i == NO_ID
		       ? STR("")
		       : profile_string(s->profile, s->profile->objects[object.i].build_id);
}

static void add_file(
	struct code_search *s, const struct annotate_wanted *wanted, struct str path, bool is_own)
{
	if (path.size == 0 || has_file(s, path))
		return;
	struct code_file file = wanted->code->source(wanted->data, path, build_id_of(s), s->arena);

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

static void find_source(struct code_search *s, const struct annotate_wanted *wanted,
	const struct annotation *annotation)
{
	struct str own = profile_string(s->profile, searched(s)->file);

	add_file(s, wanted, own, true);
	for (size_t i = 0; i < annotation->place_count; i++)
		add_file(s, wanted, profile_string(s->profile, annotation->places[i].file),
			own.size == 0 && annotation->places[i].depth == 0);
	for (size_t i = 0; i < s->instructions.count; i++) {
		const struct listing_instruction *x = &s->instructions.data[i];

		for (uint32_t k = 0; k < x->frame_count; k++)
			add_file(s, wanted, x->frames[k].file, false);
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

static struct listing_code *code_found(
	const struct code_search *s, const struct annotate_wanted *wanted)
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
		.without_source = wanted->without_source,
		.without_instructions = wanted->without_instructions};
	return code;
}

struct listing *annotate_listing(const struct profile *profile, const struct stack_weights *stacks,
	function_id function, const struct annotate_wanted *wanted, struct arena *arena,
	struct remarks *remarks)
{
	struct code_search s = {.profile = profile,
		.stacks = stacks,
		.function = function,
		.arena = arena,
		.remarks = remarks};

	if (!wanted->without_instructions)
		wanted->code->instructions(wanted->data, &s);
	const struct annotation *annotation = annotate_found(&s);

	find_source(&s, wanted, annotation);
	if (annotation->inlined_inclusive != 0 && !wanted->without_instructions)
		remark(remarks, arena,
			"the function is inlined into others; instructions of that code are "
			"theirs");
	struct listing *listing =
		listing_create(profile, annotation, code_found(&s, wanted), arena);

	vec_deinit(&s.instructions);
	vec_deinit(&s.files);
	return listing;
}
