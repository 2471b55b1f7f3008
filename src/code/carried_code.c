/*
 * One JSON object:
 *
 *	"files"		[{"path", "found", "lines": […]} or {"path", "problem"}, …]
 *	"functions"	[{"name", "module", "file", "line", "instructions", "remarks"}, …]
 *	instructions	[[address, bytes, text, [[function, file, line], …]], …]
 *
 * Files are those of all carried functions, by their paths in the profile; problem says why one is
 * not there.
 */
#include "code/carried_code.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/selection.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/map.h"

/* ---- which functions ---- */

/* Parts of the total, and the most functions. */
enum { EXCLUSIVE_PART = 1000, NODE_PART = 100, FUNCTIONS_MAX = 400 };

struct candidate {
	function_id function;
	int64_t exclusive, node; /* node: of its heaviest node */
};

static int heavier(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->exclusive != y->exclusive)
		return x->exclusive < y->exclusive ? 1 : -1;
	if (x->node != y->node)
		return x->node < y->node ? 1 : -1;
	return (x->function.i > y->function.i) - (x->function.i < y->function.i);
}

/* [profile->function_count] the sums of each function; the caller frees them. */
static struct candidate *weigh_functions(
	const struct profile *profile, const struct stack_weights *stacks)
{
	struct candidate *c = xcalloc(profile->function_count + 1, sizeof(*c));
	int64_t *below = xcalloc(profile->stack_count + 1, sizeof(*below));

	for (uint32_t i = 0; i < profile->function_count; i++)
		c[i].function.i = i;
	/* Children have higher numbers than their parents. */
	for (uint32_t i = (uint32_t)profile->stack_count; i-- > 1;) {
		uint32_t parent = stack_weights_parent(stacks, profile, i);
		struct candidate *one = &c[profile->frames[profile->stack_frame[i].i].function.i];

		below[i] += stacks->weight[0][i];
		one->exclusive += stacks->weight[0][i];
		if (below[i] > one->node)
			one->node = below[i];
		below[parent] += below[i];
	}
	free(below);
	return c;
}

/* Moves those that are heavy enough to the front; returns how many. */
static size_t choose(struct candidate *c, size_t count, int64_t total)
{
	size_t chosen = 0;

	for (size_t i = 0; i < count; i++)
		if (c[i].exclusive > total / EXCLUSIVE_PART || c[i].node > total / NODE_PART)
			c[chosen++] = c[i];
	qsort(c, chosen, sizeof(*c), heavier);
	return chosen;
}

/* ---- writing ---- */

struct writing {
	const struct profile *profile;
	const struct annotate_wanted *wanted;
	const struct stack_weights *stacks;
	struct json_writer functions, files;
	struct strbuf function_text, file_text;
	struct map paths; /* of files that are written: their string ids */
	struct carried_counts *counts;
};

static void put_text(struct json_writer *w, const char *key, struct str text)
{
	json_put_key(w, key);
	json_put_string(w, text);
}

static void put_frames(struct json_writer *w, const struct listing_instruction *x)
{
	json_put_array(w);
	for (uint32_t i = 0; i < x->frame_count; i++) {
		json_put_array(w);
		json_put_string(w, x->frames[i].function);
		json_put_string(w, x->frames[i].file);
		json_put_unsigned(w, x->frames[i].line);
		json_put_end(w);
	}
	json_put_end(w);
}

static void put_instructions(struct json_writer *w, const struct listing_code *code)
{
	json_put_key(w, "instructions");
	json_put_array(w);
	for (size_t i = 0; i < code->instruction_count; i++) {
		const struct listing_instruction *x = &code->instructions[i];

		json_put_array(w);
		json_put_unsigned(w, x->code.obj_addr);
		json_put_unsigned(w, x->code.size);
		json_put_string(w, x->text);
		put_frames(w, x);
		json_put_end(w);
	}
	json_put_end(w);
}

static void put_file(struct writing *w, struct str path, const struct code_file *file)
{
	json_put_object(&w->files);
	put_text(&w->files, "path", path);
	if (file->problem) {
		put_text(&w->files, "problem", str_from(file->problem));
	} else {
		put_text(&w->files, "found", file->path);
		json_put_key(&w->files, "changed");
		json_put_unsigned(&w->files, file->changed_unix_ns);
		json_put_key(&w->files, "lines");
		json_put_array(&w->files);
		for (size_t i = 0; i < file->line_count; i++)
			json_put_string(&w->files, file->lines[i]);
		json_put_end(&w->files);
		w->counts->files++;
	}
	json_put_end(&w->files);
}

/* A provider that gives what another one has, and writes down what that is. */
struct recorded {
	struct writing *writing;
	size_t *remark_count; /* of the instructions' remarks */
};

static void record_instructions(const void *data, struct code_search *search)
{
	const struct recorded *r = data;

	r->writing->wanted->code->instructions(r->writing->wanted->data, search);
	*r->remark_count = search->remarks->items.count;
}

static struct code_file record_source(
	const void *data, struct str path, struct str build_id, struct arena *arena)
{
	struct writing *w = ((const struct recorded *)data)->writing;
	struct code_file file = w->wanted->code->source(w->wanted->data, path, build_id, arena);
	uint64_t hash = hash_bytes(path.data, path.size);
	uint32_t value;

	if (!w->wanted->without_source && !map_get(&w->paths, hash, path.size, &value)) {
		map_put(&w->paths, hash, path.size, 1);
		put_file(w, path, &file);
	}
	return file;
}

static const struct code_provider recorder = {record_instructions, record_source};

static void put_key(struct json_writer *w, const struct profile *profile, function_id id)
{
	const struct function *f = &profile->functions[id.i];

	put_text(w, "name", profile_string(profile, f->name));
	put_text(w, "module", profile_module(profile, f->object));
	put_text(w, "file", profile_string(profile, f->file));
	json_put_key(w, "line");
	json_put_unsigned(w, f->line);
}

static void put_function(struct writing *w, function_id function)
{
	struct arena *arena = arena_create();
	struct remarks remarks = {0};
	size_t remark_count = 0;
	const struct recorded data = {w, &remark_count};
	const struct annotate_wanted wanted = {.code = &recorder,
		.data = &data,
		.without_source = w->wanted->without_source,
		.without_instructions = w->wanted->without_instructions};
	const struct listing *listing =
		annotate_listing(w->profile, w->stacks, function, &wanted, arena, &remarks);

	json_put_object(&w->functions);
	put_key(&w->functions, w->profile, function);
	if (!wanted.without_instructions)
		put_instructions(&w->functions, listing->code);
	json_put_key(&w->functions, "remarks");
	json_put_array(&w->functions);
	for (size_t i = 0; i < remark_count; i++)
		json_put_string(&w->functions, str_from(remarks.items.data[i]));
	json_put_end(&w->functions);
	json_put_end(&w->functions);
	w->counts->functions++;
	vec_deinit(&remarks.items);
	arena_destroy(arena);
}

static void put_functions(struct writing *w)
{
	struct candidate *c = weigh_functions(w->profile, w->stacks);
	size_t count = choose(c, w->profile->function_count, w->stacks->total[0]), done = 0;

	while (done < count && done < FUNCTIONS_MAX &&
		w->function_text.size + w->file_text.size < CARRIED_CODE_BYTES_MAX)
		put_function(w, c[done++].function);
	w->counts->left_out = count - done;
	free(c);
}

void carried_code_put(struct strbuf *out, const struct profile *profile,
	const struct annotate_wanted *wanted, struct carried_counts *counts)
{
	struct arena *arena = arena_create();
	const struct selection *all = selection_all(profile, arena);
	struct stack_weights stacks = stack_weights_of(all, &profile->default_metric, 1, arena);
	struct writing w = {
		.profile = profile, .wanted = wanted, .stacks = &stacks, .counts = counts};

	*counts = (struct carried_counts){0};
	w.functions = json_writer(&w.function_text);
	w.files = json_writer(&w.file_text);
	json_put_array(&w.functions);
	json_put_array(&w.files);
	put_functions(&w);
	json_put_end(&w.functions);
	json_put_end(&w.files);
	strbuf_printf(out, "{\"source\": %s, \"asm\": %s, \"functions\": ",
		wanted->without_source ? "false" : "true",
		wanted->without_instructions ? "false" : "true");
	strbuf_add(out, strbuf_str(&w.function_text));
	strbuf_add(out, STR(", \"files\": "));
	strbuf_add(out, strbuf_str(&w.file_text));
	strbuf_add(out, STR("}\n"));
	strbuf_deinit(&w.function_text);
	strbuf_deinit(&w.file_text);
	map_deinit(&w.paths);
	arena_destroy(arena);
}

/* ---- reading ---- */

struct carried_function {
	struct str name, module, file;
	uint32_t line;
	const struct listing_instruction *instructions;
	size_t instruction_count;
	const char *const *remarks;
	size_t remark_count;
};

struct carried_file {
	struct str path; /* in the profile */
	struct code_file file;
};

struct carried_code {
	struct arena *arena;
	bool has_source, has_instructions;
	VEC(struct carried_function) functions;
	VEC(struct carried_file) files;
};

static void *keep(struct carried_code *c, const void *data, size_t bytes)
{
	void *kept = ARENA_ARRAY(c->arena, char, bytes);

	if (bytes)
		memcpy(kept, data, bytes);
	return kept;
}

static struct str read_text(struct carried_code *c, struct json_reader *json)
{
	struct str text = {0};

	return json_string(json, &text) ? arena_str(c->arena, text) : text;
}

static uint64_t read_number(struct json_reader *json)
{
	int64_t number = 0;

	return json_int(json, &number) && number > 0 ? (uint64_t)number : 0;
}

static uint32_t read_line(struct json_reader *json)
{
	uint64_t number = read_number(json);

	return number < UINT32_MAX ? (uint32_t)number : 0;
}

static struct listing_frame read_frame(struct carried_code *c, struct json_reader *json)
{
	struct listing_frame frame = {0};

	if (!json_array(json))
		return frame;
	for (size_t i = 0; json_element(json); i++) {
		if (i == 0)
			frame.function = read_text(c, json);
		else if (i == 1)
			frame.file = read_text(c, json);
		else
			frame.line = read_line(json);
	}
	return frame;
}

static void read_frames(
	struct carried_code *c, struct json_reader *json, struct listing_instruction *x)
{
	VEC(struct listing_frame) frames = {0};

	if (json_array(json))
		while (json_element(json))
			vec_push(&frames, read_frame(c, json));
	x->frames = keep(c, frames.data, sizeof(*frames.data) * frames.count);
	x->frame_count = (uint32_t)frames.count;
	vec_deinit(&frames);
}

static struct listing_instruction read_instruction(struct carried_code *c, struct json_reader *json)
{
	struct listing_instruction x = {0};

	if (!json_array(json))
		return x;
	for (size_t i = 0; json_element(json); i++) {
		if (i == 0)
			x.code.obj_addr = read_number(json);
		else if (i == 1)
			x.code.size = read_line(json);
		else if (i == 2)
			x.text = read_text(c, json);
		else
			read_frames(c, json, &x);
	}
	return x;
}

static void read_instructions(
	struct carried_code *c, struct json_reader *json, struct carried_function *f)
{
	VEC(struct listing_instruction) found = {0};

	if (json_array(json))
		while (json_element(json)) {
			struct listing_instruction x = read_instruction(c, json);
			uint64_t end = 0;

			if (found.count)
				end = found.data[found.count - 1].code.obj_addr +
				      found.data[found.count - 1].code.size;
			if (x.code.size == 0 || x.code.obj_addr < end)
				json_fail(json, "instructions are not in order");
			vec_push(&found, x);
		}
	f->instructions = keep(c, found.data, sizeof(*found.data) * found.count);
	f->instruction_count = found.count;
	vec_deinit(&found);
}

static void read_remarks(
	struct carried_code *c, struct json_reader *json, struct carried_function *f)
{
	VEC(const char *) found = {0};

	if (json_array(json))
		while (json_element(json))
			vec_push(&found, read_text(c, json).data);
	f->remarks = keep(c, found.data, sizeof(*found.data) * found.count);
	f->remark_count = found.count;
	vec_deinit(&found);
}

static void read_function(struct carried_code *c, struct json_reader *json)
{
	struct carried_function f = {0};
	struct str key;

	if (json_object(json))
		while (json_key(json, &key)) {
			if (str_equal(key, STR("name")))
				f.name = read_text(c, json);
			else if (str_equal(key, STR("module")))
				f.module = read_text(c, json);
			else if (str_equal(key, STR("file")))
				f.file = read_text(c, json);
			else if (str_equal(key, STR("line")))
				f.line = read_line(json);
			else if (str_equal(key, STR("instructions")))
				read_instructions(c, json, &f);
			else if (str_equal(key, STR("remarks")))
				read_remarks(c, json, &f);
		}
	vec_push(&c->functions, f);
}

static void read_lines(struct carried_code *c, struct json_reader *json, struct code_file *file)
{
	VEC(struct str) lines = {0};

	if (json_array(json))
		while (json_element(json))
			vec_push(&lines, read_text(c, json));
	file->lines = keep(c, lines.data, sizeof(*lines.data) * lines.count);
	file->line_count = lines.count;
	vec_deinit(&lines);
}

static void read_file(struct carried_code *c, struct json_reader *json)
{
	struct carried_file one = {0};
	struct str key;

	if (json_object(json))
		while (json_key(json, &key)) {
			if (str_equal(key, STR("path")))
				one.path = read_text(c, json);
			else if (str_equal(key, STR("found")))
				one.file.path = read_text(c, json);
			else if (str_equal(key, STR("changed")))
				one.file.changed_unix_ns = read_number(json);
			else if (str_equal(key, STR("problem")))
				one.file.problem = read_text(c, json).data;
			else if (str_equal(key, STR("lines")))
				read_lines(c, json, &one.file);
		}
	vec_push(&c->files, one);
}

static void read_all(struct carried_code *c, struct json_reader *json)
{
	struct str key;

	if (!json_object(json))
		return;
	while (json_key(json, &key)) {
		if (str_equal(key, STR("source")))
			json_bool(json, &c->has_source);
		else if (str_equal(key, STR("asm")))
			json_bool(json, &c->has_instructions);
		else if (str_equal(key, STR("functions")) && json_array(json))
			while (json_element(json))
				read_function(c, json);
		else if (str_equal(key, STR("files")) && json_array(json))
			while (json_element(json))
				read_file(c, json);
	}
}

struct error *carried_code_read(const void *text, size_t size, struct carried_code **code)
{
	struct carried_code *c = xcalloc(1, sizeof(*c));
	struct json_reader json;
	struct error *err;

	c->arena = arena_create();
	json_reader_init(&json, text, size, "the carried code");
	read_all(c, &json);
	err = json_error(&json);
	json_reader_deinit(&json);
	if (err)
		carried_code_destroy(c);
	else
		*code = c;
	return err;
}

void carried_code_destroy(struct carried_code *code)
{
	if (code == NULL)
		return;
	vec_deinit(&code->functions);
	vec_deinit(&code->files);
	arena_destroy(code->arena);
	free(code);
}

bool carried_code_has_source(const struct carried_code *code)
{
	return code && code->has_source;
}

bool carried_code_has_instructions(const struct carried_code *code)
{
	return code && code->has_instructions;
}

/* ---- as a provider ---- */

static bool is_of(
	const struct carried_function *f, const struct profile *profile, function_id function)
{
	const struct function *wanted = &profile->functions[function.i];

	return f->line == wanted->line &&
	       str_equal(f->name, profile_string(profile, wanted->name)) &&
	       str_equal(f->file, profile_string(profile, wanted->file)) &&
	       str_equal(f->module, profile_module(profile, wanted->object));
}

static void add_carried(struct code_search *search, const struct carried_function *f)
{
	for (size_t i = 0; i < f->instruction_count; i++)
		vec_push(&search->instructions, f->instructions[i]);
	for (size_t i = 0; i < f->remark_count; i++)
		remark(search->remarks, search->arena, "%s", f->remarks[i]);
}

static void carried_instructions(const void *data, struct code_search *search)
{
	const struct carried_code *c = data;
	uint64_t *addrs;

	/* Filters may leave none of its addresses; then it has no instructions anywhere. */
	if (annotate_addresses(
		    search->profile, search->stacks, search->function, &addrs, search->arena) == 0)
		return;
	for (size_t i = 0; c && i < c->functions.count; i++)
		if (is_of(&c->functions.data[i], search->profile, search->function)) {
			add_carried(search, &c->functions.data[i]);
			return;
		}
	if (c)
		remark(search->remarks, search->arena,
			"no instructions: the page carries those of heavy functions only");
}

static struct code_file carried_source(
	const void *data, struct str path, struct str build_id, struct arena *arena)
{
	(void)build_id;
	const struct carried_code *c = data;

	for (size_t i = 0; c && i < c->files.count; i++)
		if (str_equal(c->files.data[i].path, path))
			return c->files.data[i].file;
	return (struct code_file){
		.problem = arena_printf(arena,
			"%.*s is not in this page; --embed source,asm puts it there, "
			"and sonde serve reads it",
			STR_ARG(path))};
}

const struct code_provider carried_code_provider = {carried_instructions, carried_source};
