/*
 * Resolver for functions without a known name: names a function of a stripped object by its start
 * address, "[MODULE+0xSTART]", so that it is one function in every view, and only real recursion
 * shows as recursion.
 *
 * Does not change the object's status, as these are not real names.
 */
#include "symbolize/resolver.h"

#include "obj/function_starts.h"
#include "obj/objfile.h"
#include "obj/plt.h"

struct starts_source {
	struct objfile *object;
	struct function_starts *starts;
	struct plt_section plt[PLT_SECTION_MAX];
	size_t plt_count;
};

static bool starts_fits(enum object_kind kind)
{
	return kind == OBJECT_USER;
}

static bool is_in_plt(const struct starts_source *source, uint64_t obj_addr)
{
	for (size_t i = 0; i < source->plt_count; i++)
		if (obj_addr >= source->plt[i].low && obj_addr < source->plt[i].high)
			return true;
	return false;
}

/*
 * Adds the part after the '+'; false if nothing is known about the address.  *is_guess: whether it
 * may be wrong.
 */
static bool add_place(const struct starts_source *source, uint64_t obj_addr, uint64_t symbol_end,
	struct strbuf *name, bool *is_guess)
{
	struct function_extent function = {0};

	/* Unwind rules treat all stubs of a section as one function. */
	if (is_in_plt(source, obj_addr)) {
		strbuf_add(name, STR("plt"));
		return true;
	}
	if (!function_starts_find_from(source->starts, obj_addr, symbol_end, &function))
		return false;
	strbuf_printf(name, "0x%llx", (unsigned long long)function.low);
	*is_guess = function.is_guess;
	return true;
}

static void answer(const struct starts_source *source, struct resolve_job *job, size_t i)
{
	struct str module = str_base_name(job->object->path);
	struct strbuf name = {0};
	bool is_guess = false;

	strbuf_add_char(&name, '[');
	strbuf_add(&name, module);
	strbuf_add_char(&name, '+');
	if (add_place(source, job->obj_addrs[i], job->symbol_ends[i], &name, &is_guess)) {
		strbuf_add_char(&name, ']');
		struct symbol_frame *frame = ARENA_NEW(job->arena, struct symbol_frame);
		frame->function = resolve_string(job, strbuf_str(&name));
		frame->is_nameless = true;
		frame->is_guessed_start = is_guess;
		job->places[i] = (struct symbol_place){.frames = frame, .count = 1};
		job->is_known[i] = true;
	}
	strbuf_deinit(&name);
}

static void starts_resolve(struct resolve_job *job)
{
	struct starts_source source = {0};

	/* A name that stands in would be in the way of the right one. */
	if (job->status->is_too_large)
		return;
	source.object = resolve_open_here(job);
	if (source.object == NULL)
		return;
	source.starts = function_starts_create(source.object);
	source.plt_count = plt_sections(source.object, source.plt);
	for (size_t i = 0; i < job->count; i++)
		if (!job->is_known[i])
			answer(&source, job, i);
	function_starts_destroy(source.starts);
	objfile_close(source.object);
}

const struct resolver resolver_starts = {
	.name = "starts",
	.fits = starts_fits,
	.resolve = starts_resolve,
};
