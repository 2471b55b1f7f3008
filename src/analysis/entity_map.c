/*
 * Frames to entities.  A function is identified by what a reader of a report can see: name, load
 * object, file and line; so is a place in it.  The profile's strings are interned, so their ids
 * represent their contents; load objects are interned here by base name.
 */
#include "analysis/entity_map.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sort.h"
#include "model/roots.h"

#define UNKNOWN STR("[unknown]")

static struct str str_or_null(struct str s)
{
	return s.size ? s : (struct str){0};
}

static struct str str_or_unknown(struct str s)
{
	return s.size ? s : UNKNOWN;
}

/* The identity of a frame, in two words; frames with equal ones share an entity. */
struct identity {
	uint64_t a, b;
};

static uint64_t identity_hash(const void *row)
{
	const struct identity *id = row;

	return hash_pair(id->a, id->b);
}

static bool identity_same(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	return x->a == y->a && x->b == y->b;
}

static const struct row_kind identity_rows = {
	sizeof(struct identity), identity_hash, identity_same};

static uint32_t frame_module(const struct entity_map *m, const struct function *f)
{
	return f->object.i == NO_ID ? m->unknown_module : m->module_of_object[f->object.i];
}

/* Name and load object. */
static uint64_t function_identity(const struct entity_map *m, const struct function *f)
{
	bool is_named = profile_string(m->profile, f->name).size > 0;
	uint32_t name = is_named ? f->name.i : m->unknown_name;

	return (uint64_t)name << 32 | frame_module(m, f);
}

static struct identity identify_function(const struct entity_map *m, const struct frame *frame)
{
	const struct function *f = &m->profile->functions[frame->function.i];

	return (struct identity){function_identity(m, f), (uint64_t)f->file.i << 32 | f->line};
}

static struct entity show_function(const struct entity_map *m, const struct frame *frame)
{
	const struct profile *p = m->profile;
	const struct function *f = &p->functions[frame->function.i];

	return (struct entity){
		.name = str_or_unknown(profile_string(p, f->name)),
		.aliases = profile_string(p, f->aliases),
		.module = str_or_null(profile_module(p, f->object)),
		.file = str_or_null(profile_string(p, f->file)),
		.line = f->line,
		.occurrence = 1,
	};
}

static struct identity identify_module(const struct entity_map *m, const struct frame *frame)
{
	return (struct identity){frame_module(m, &m->profile->functions[frame->function.i]), 0};
}

static struct entity show_module(const struct entity_map *m, const struct frame *frame)
{
	const struct function *f = &m->profile->functions[frame->function.i];
	struct str module = profile_module(m->profile, f->object);

	return (struct entity){
		.name = str_or_unknown(module), .module = str_or_null(module), .occurrence = 1};
}

static string_id frame_file(const struct entity_map *m, const struct frame *frame)
{
	return frame->file.i ? frame->file : m->profile->functions[frame->function.i].file;
}

/* Code without a file is kept apart by load object, so that its owner stays visible. */
static struct identity identify_file(const struct entity_map *m, const struct frame *frame)
{
	uint32_t file = frame_file(m, frame).i;

	if (file)
		return (struct identity){file, 1};
	return identify_module(m, frame);
}

static struct entity show_file(const struct entity_map *m, const struct frame *frame)
{
	struct str file = profile_string(m->profile, frame_file(m, frame));
	const struct function *f = &m->profile->functions[frame->function.i];

	if (file.size)
		return (struct entity){.name = file, .file = file, .occurrence = 1};
	return (struct entity){.name = UNKNOWN,
		.module = str_or_null(profile_module(m->profile, f->object)),
		.occurrence = 1};
}

static struct identity identify_line(const struct entity_map *m, const struct frame *frame)
{
	const struct function *f = &m->profile->functions[frame->function.i];

	return (struct identity){
		function_identity(m, f), (uint64_t)frame_file(m, frame).i << 32 | frame->line};
}

static struct entity show_line(const struct entity_map *m, const struct frame *frame)
{
	struct entity e = show_function(m, frame);

	e.file = str_or_null(profile_string(m->profile, frame_file(m, frame)));
	e.line = frame->line;
	return e;
}

/* In the second word of an instruction's identity; there are never that many strings. */
#define IS_ADDRESS (UINT64_C(1) << 63)

/*
 * An inlined call's frame is at the address of the function that it is part of.  If addresses are
 * not known, lines are the closest substitute.
 */
static struct identity identify_instruction(const struct entity_map *m, const struct frame *frame)
{
	const struct function *f = &m->profile->functions[frame->function.i];

	if (frame->obj_addr == 0)
		return identify_line(m, frame);
	return (struct identity){frame->obj_addr, frame_module(m, f) | IS_ADDRESS};
}

static struct entity show_instruction(const struct entity_map *m, const struct frame *frame)
{
	struct entity e = show_line(m, frame);

	e.address = frame->obj_addr;
	return e;
}

struct kind {
	struct identity (*identify)(const struct entity_map *m, const struct frame *frame);
	struct entity (*show)(const struct entity_map *m, const struct frame *frame);
	bool is_of_function; /* only a frame's function matters */
};

static const struct kind kinds[LEVEL_COUNT] = {
	[LEVEL_FUNCTION] = {identify_function, show_function, true},
	[LEVEL_MODULE] = {identify_module, show_module, true},
	[LEVEL_FILE] = {identify_file, show_file, false},
	[LEVEL_LINE] = {identify_line, show_line, false},
	[LEVEL_INSTRUCTION] = {identify_instruction, show_instruction, false},
	[LEVEL_ZONE] = {identify_function, show_function, true},
	/* Levels of tasks have no frames. */
};

/* Load objects by base name, so that two copies of a library are one module. */
static void entity_map_modules(struct entity_map *m, struct arena *scratch)
{
	const struct profile *p = m->profile;

	str_table_init(&m->modules, scratch);
	m->unknown_module = str_table_intern(&m->modules, (struct str){0});
	m->module_of_object = ARENA_ARRAY(scratch, uint32_t, p->object_count);
	for (uint32_t i = 0; i < p->object_count; i++)
		m->module_of_object[i] =
			str_table_intern(&m->modules, profile_module(p, (object_id){i}));
}

/* The profile's string with that text; 0: none has it. */
static uint32_t find_string(const struct profile *p, struct str text)
{
	for (uint32_t i = 1; i < p->string_count; i++)
		if (str_equal(p->strings[i], text))
			return i;
	return 0;
}

/* An inlined call's frame gives way to that of the function whose instruction it is. */
static uint32_t entity_map_add(struct entity_map *m, const struct frame *frame)
{
	const struct kind *kind = &kinds[m->level];
	struct identity id = kind->identify(m, frame);
	uint32_t index = row_table_intern(&m->identities, &identity_rows, &id);

	if (index == m->entities.count) {
		vec_push(&m->entities, kind->show(m, frame));
		vec_push(&m->is_inline, frame->is_inline);
	} else if (m->level == LEVEL_INSTRUCTION && m->is_inline.data[index] && !frame->is_inline) {
		m->entities.data[index] = kind->show(m, frame);
		m->is_inline.data[index] = false;
	}
	return index;
}

/* An identity that no frame has, and that is never looked up. */
static const struct identity nobody = {UINT64_MAX, UINT64_MAX};

/* The entity that a rule makes; a function known only by that name is the same entity. */
static uint32_t entity_map_rule(struct entity_map *m, struct str name)
{
	uint32_t string = find_string(m->profile, name), index = (uint32_t)m->entities.count;
	struct identity id = {(uint64_t)string << 32 | m->unknown_module, 0};

	/* Two rules with the same name share an entity. */
	for (uint32_t e = 0; e < m->entities.count; e++)
		if (str_equal(m->entities.data[e].name, name))
			return e;
	if (string)
		(void)row_table_intern(&m->identities, &identity_rows, &id);
	else
		(void)row_table_push(&m->identities, &identity_rows, &nobody);
	vec_push(&m->entities, (struct entity){.name = name, .occurrence = 1});
	vec_push(&m->is_inline, false);
	return index;
}

/* [function]: the entity of the first rule that matches it; NO_ID: none does. */
static uint32_t *entity_map_same(
	struct entity_map *m, const struct entity_spec *spec, struct arena *scratch)
{
	size_t count = m->profile->function_count;
	uint32_t *of = ARENA_ARRAY(scratch, uint32_t, count);

	for (size_t i = 0; i < count; i++)
		of[i] = NO_ID;
	for (size_t r = 0; r < spec->same_count; r++) {
		const struct same_rule *rule = &spec->same[r];
		bool *matches = name_pattern_matches(rule->pattern, m->profile, scratch);
		uint32_t entity = entity_map_rule(m, rule->name);

		for (size_t i = 0; i < count; i++)
			if (matches[i] && of[i] == NO_ID)
				of[i] = entity;
	}
	return of;
}

/* Of functions in arcs: one may have been called and never sampled, and have no frame. */
static void entity_map_functions(struct entity_map *m, const uint32_t *same, struct arena *scratch)
{
	const struct profile *p = m->profile;

	m->of_function = ARENA_ARRAY(scratch, uint32_t, p->function_count);
	for (size_t i = 0; i < p->function_count; i++)
		m->of_function[i] = NO_ID;
	for (size_t i = 0; i < p->arc_count; i++) {
		function_id ends[] = {p->arcs[i].caller, p->arcs[i].callee};

		for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
			struct frame frame = {.function = ends[k]};

			if (ends[k].i == NO_ID || m->of_function[ends[k].i] != NO_ID)
				continue;
			m->of_function[ends[k].i] = same && same[ends[k].i] != NO_ID
							    ? same[ends[k].i]
							    : entity_map_add(m, &frame);
		}
	}
}

static void entity_map_frames(
	struct entity_map *m, const struct entity_spec *spec, struct arena *scratch)
{
	const struct profile *p = m->profile;
	const uint32_t *same = spec->same_count && m->level == LEVEL_FUNCTION
				       ? entity_map_same(m, spec, scratch)
				       : NULL;

	m->of_frame = ARENA_ARRAY(scratch, uint32_t, p->frame_count);
	m->is_one_to_one = same == NULL;
	for (size_t i = 0; i < p->frame_count; i++) {
		const struct frame *frame = &p->frames[i];

		/* Places of one function mostly come together. */
		if (i && kinds[m->level].is_of_function &&
			frame->function.i == frame[-1].function.i)
			m->of_frame[i] = m->of_frame[i - 1];
		else if (same && same[frame->function.i] != NO_ID)
			m->of_frame[i] = same[frame->function.i];
		else
			m->of_frame[i] = entity_map_add(m, frame);
	}
	m->is_one_to_one &= m->entities.count == p->frame_count;
	if (p->arc_count > 0 && m->level != LEVEL_LINE && m->level != LEVEL_INSTRUCTION)
		entity_map_functions(m, same, scratch);
}

/*
 * Threads and processes are not functions; task_name names them.  In a difference they are
 * matched by name.
 */
static void entity_map_threads(struct entity_map *m, const struct entity_spec *spec,
	struct arena *scratch, struct arena *arena)
{
	const struct profile *p = m->profile;
	bool is_thread = m->level == LEVEL_THREAD;

	m->of_thread = ARENA_ARRAY(scratch, uint32_t, p->thread_count);
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct thread *t = &p->threads[i];
		const struct process *process = &p->processes[t->process.i];
		string_id name = is_thread ? t->name : process->name;
		uint32_t number = is_thread ? i : t->process.i;
		struct identity id = {spec->is_difference ? name.i : number, 0};

		m->of_thread[i] = row_table_intern(&m->identities, &identity_rows, &id);
		if (m->of_thread[i] < m->entities.count)
			continue;
		struct str text = profile_string(p, name);
		if (spec->is_difference)
			text = text.size ? text : UNKNOWN;
		else
			text = is_thread ? task_name(text, "thread ", t->tid, arena)
					 : task_name(text, "", process->pid, arena);
		vec_push(&m->entities, (struct entity){.name = text, .occurrence = 1});
	}
}

/* A set's CPU is in its own label or in one of its rest. */
static void entity_map_cpus(struct entity_map *m, struct arena *scratch, struct arena *arena)
{
	const struct profile *p = m->profile;
	struct strbuf value = {0};
	uint32_t none = (uint32_t)m->entities.count;

	vec_push(&m->entities, (struct entity){.name = STR("[no CPU]"), .occurrence = 1});
	m->of_labels = ARENA_ARRAY(scratch, uint32_t, p->label_set_count);
	m->of_labels[0] = none;
	for (size_t i = 1; i < p->label_set_count; i++) {
		label_id label = p->label_sets[i].label;
		bool is_cpu = str_equal(profile_string(p, p->labels[label.i].key), STR("cpu"));
		struct identity id = {label.i, 0};

		m->of_labels[i] = m->of_labels[p->label_sets[i].rest.i];
		if (!is_cpu)
			continue;
		m->of_labels[i] = none + 1 + row_table_intern(&m->identities, &identity_rows, &id);
		if (m->of_labels[i] < m->entities.count)
			continue;
		struct str text = profile_label_value(p, label, &value);

		vec_push(&m->entities, (struct entity){.name = str_from(arena_printf(
							       arena, "CPU %.*s", STR_ARG(text))),
					       .occurrence = 1});
	}
	strbuf_deinit(&value);
}

/* For samples without an open zone: a separate entity, whatever functions are named. */
static void entity_map_no_zone(struct entity_map *m)
{
	m->no_zone = (uint32_t)m->entities.count;
	vec_push(&m->entities, (struct entity){.name = STR("[no zone]"), .occurrence = 1});
	vec_push(&m->is_inline, false);
}

static bool is_namesake(const struct entity *a, const struct entity *b)
{
	return str_equal(a->name, b->name) && str_equal(a->module, b->module);
}

enum apart { APART_BASE, APART_LINE, APART_PATH };

/* What distinguishes an entity; empty if its file is not known. */
static struct str apart_text(const struct entity *e, enum apart form, struct arena *arena)
{
	struct strbuf text = {0};

	strbuf_add(&text, form == APART_PATH ? e->file : str_base_name(e->file));
	if (text.size && form != APART_BASE && e->line)
		strbuf_printf(&text, ":%u", e->line);
	struct str kept = arena_str(arena, strbuf_str(&text));
	strbuf_deinit(&text);
	return kept;
}

/* Distinguishes functions of one name and load object, by the shortest form that does. */
static void set_apart(struct entity_map *m, const struct sort_item *items, size_t count,
	struct arena *scratch, struct arena *arena)
{
	enum apart form = APART_BASE;

	for (; form < APART_PATH; form++) {
		struct str_table texts;
		bool is_alike = false;

		str_table_init(&texts, scratch);
		for (size_t i = 0; i < count; i++)
			is_alike |= str_table_intern(
					    &texts, apart_text(&m->entities.data[items[i].index],
							    form, scratch)) < i;
		str_table_deinit(&texts);
		if (!is_alike)
			break;
	}
	for (size_t i = 0; i < count; i++) {
		struct entity *e = &m->entities.data[items[i].index];

		e->apart = apart_text(e, form, arena);
	}
}

/* Distinguishes all functions whose name and load object others have, too. */
static void entity_map_apart(struct entity_map *m, struct arena *scratch, struct arena *arena)
{
	struct entity *entities = m->entities.data;
	size_t count = m->entities.count, next;
	struct sort_item *items = xcalloc(count + 1, sizeof(*items));

	for (size_t i = 0; i < count; i++)
		items[i] = (struct sort_item){
			hash_pair(hash_bytes(entities[i].name.data, entities[i].name.size),
				hash_bytes(entities[i].module.data, entities[i].module.size)),
			(uint32_t)i};
	sort_items(items, count);
	for (size_t i = 0; i < count; i = next) {
		bool are_namesakes = true;

		for (next = i + 1; next < count && items[next].key == items[i].key; next++)
			are_namesakes &= is_namesake(
				&entities[items[next].index], &entities[items[i].index]);
		if (are_namesakes && next > i + 1)
			set_apart(m, items + i, next - i, scratch, arena);
	}
	free(items);
}

/* Frees data that only the construction needed, and transfers the entities. */
static void entity_map_finish(struct entity_map *m, struct arena *arena)
{
	str_table_deinit(&m->modules);
	row_table_deinit(&m->identities);
	vec_deinit(&m->is_inline);
	if (m->entities.count)
		m->entities.data = xrealloc_array(
			m->entities.data, m->entities.count, sizeof(*m->entities.data));
	arena_adopt(arena, m->entities.data, m->entities.count * sizeof(*m->entities.data));
}

void entity_map_init(struct entity_map *m, const struct profile *p, const struct entity_spec *spec,
	struct arena *scratch, struct arena *arena)
{
	*m = (struct entity_map){
		.profile = p, .level = spec->level, .unknown_name = find_string(p, UNKNOWN)};
	entity_map_modules(m, scratch);
	if (spec->level == LEVEL_CPU)
		entity_map_cpus(m, scratch, arena);
	else if (level_is_of_tasks(spec->level))
		entity_map_threads(m, spec, scratch, arena);
	else
		entity_map_frames(m, spec, scratch);
	if (spec->level == LEVEL_ZONE)
		entity_map_no_zone(m);
	if (spec->level == LEVEL_FUNCTION)
		entity_map_apart(m, scratch, arena);
	entity_map_finish(m, arena);
}
