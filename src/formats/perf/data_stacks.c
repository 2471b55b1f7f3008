/*
 * Stacks from call chains.  See data_stacks.h.
 *
 * Contexts in a chain, numbers that are not addresses, mark the addresses after them as those of
 * the kernel, the program or a guest.
 */
#include "formats/perf/data_stacks.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/hash.h"
#include "formats/sonde/layout/capture.h"
#include "obj/cfi.h"

enum { FRAME_TRUNCATED = 0, FRAME_UNKNOWN = 1, FRAMES_SPECIAL = 2 };
enum { KNOWN_SLOTS = 1 << 15, CHAINS_FIRST = 1 << 12 };
/* The kernel's limit if the event does not set one. */
enum { MAX_STACK_DEFAULT = 127 };
/*
 * Limits by the file's size: a frame takes about 250 bytes in all, a node about 100, while each has
 * 8 in a chain.
 */
enum { FRAMES_FREE = 100000, FRAME_BYTES = 100, NODES_FREE = 300000, NODE_BYTES = 32 };
/* Above the bits of address space generations. */
enum { EPOCH_SHIFT = 44 };

static uint32_t add_frame(struct perf_data_stacks *s, uint32_t object, uint64_t obj_addr)
{
	vec_push(&s->frames, (struct capture_frame){object, obj_addr});
	return (uint32_t)(s->frames.count - 1);
}

/* Adds an object to the names. */
static uint32_t add_named(struct perf_data_stacks *s, struct str path, struct str build_id,
	enum capture_object_kind kind)
{
	uint32_t number = s->object_numbers++;

	capture_names_add_object(s->names,
		&(struct capture_object){
			.object = number, .kind = kind, .path = path, .build_id = build_id});
	return number;
}

void perf_data_stacks_init(struct perf_data_stacks *s, struct perf_data_tasks *tasks,
	struct perf_data_objects *objects, struct perf_data_jit *jit, struct capture_names *names,
	struct arena *arena, size_t input_size)
{
	*s = (struct perf_data_stacks){.tasks = tasks,
		.objects = objects,
		.jit = jit,
		.names = names,
		.arena = arena,
		.frames_most = FRAMES_FREE + input_size / FRAME_BYTES,
		.nodes_most = NODES_FREE + input_size / NODE_BYTES,
		.chain_slots = CHAINS_FIRST,
		.walker = unwind_walker_create()};
	unwind_space_init(&s->kernel);
	child_table_init(&s->nodes, 1);
	s->chains = xcalloc(s->chain_slots, sizeof(*s->chains));
	s->known = xcalloc(KNOWN_SLOTS, sizeof(*s->known));
	add_frame(s, add_named(s, STR("[truncated]"), STR(""), CAPTURE_OBJECT_TRUNCATED), 0);
	add_frame(s, add_named(s, STR("[unknown]"), STR(""), CAPTURE_OBJECT_NONE), 0);
	s->anonymous = perf_data_objects_add(objects, STR("[anon]"), STR(""), OBJECT_JIT);
}

void perf_data_stacks_deinit(struct perf_data_stacks *s)
{
	unwind_walker_destroy(s->walker);
	unwind_space_deinit(&s->kernel);
	child_table_deinit(&s->nodes);
	map_deinit(&s->frame_of_address);
	map_deinit(&s->generations);
	vec_deinit(&s->frames);
	vec_deinit(&s->scratch);
	vec_deinit(&s->named);
	free(s->chains);
	free(s->known);
}

/* ---- mappings ---- */

static bool path_is_file(struct str path)
{
	return path.size > 1 && path.data[0] == '/' && path.data[1] != '/' &&
	       !str_starts_with(path, STR("/dev/zero")) &&
	       !str_starts_with(path, STR("/anon_hugepage")) &&
	       !str_starts_with(path, STR("/memfd:")) && !str_starts_with(path, STR("/SYSV"));
}

static uint32_t object_of(struct perf_data_stacks *s, const struct perfstream_mmap *mmap)
{
	bool is_named = mmap->build_id[0] || path_is_file(mmap->path) ||
			str_equal(mmap->path, STR("[vdso]"));

	if (!is_named)
		return s->anonymous;
	uint32_t number = perf_data_objects_add(
		s->objects, mmap->path, str_from(mmap->build_id), OBJECT_USER);
	struct perf_data_object *row = &s->objects->rows.data[number];

	if (row->map_size == 0) {
		row->map_off = mmap->file_off;
		row->map_size = mmap->size;
	}
	return number;
}

static uint32_t code_of(struct perf_data_stacks *s, uint32_t process)
{
	struct perf_data_process *p = &s->tasks->processes.data[process];

	if (p->jit == NO_ID)
		p->jit = perf_data_jit_code(s->jit, p->code_pid);
	return p->jit;
}

/*
 * perf puts the address of a symbol, whose name follows the kernel's, in place of the offset in the
 * file.  A module's mapping begins with its code.
 */
static void set_mark(
	struct perf_data_stacks *s, struct kernel_mark *mark, const struct perfstream_mmap *mmap)
{
	static const struct str kernel = {"[kernel.kallsyms]", 17};

	if (str_starts_with(mmap->path, kernel)) {
		struct str symbol = {mmap->path.data + kernel.size, mmap->path.size - kernel.size};

		s->objects->kernel_va = mmap->file_off;
		if (symbol.size && mark->va == 0)
			*mark = (struct kernel_mark){arena_str(s->arena, symbol), mmap->file_off};
	} else if (mark->va == 0) {
		*mark = (struct kernel_mark){STR(""), mmap->low_va};
	}
}

static void map_kernel(struct perf_data_stacks *s, const struct perfstream_mmap *mmap)
{
	uint32_t object =
		perf_data_objects_add_kernel(s->objects, mmap->path, str_from(mmap->build_id));

	set_mark(s, &s->objects->rows.data[object].mark, mmap);
	if (s->kernel.count < UINT16_MAX)
		unwind_space_add(&s->kernel, (struct unwind_mapping){.low_va = mmap->low_va,
						     .high_va = mmap->low_va + mmap->size,
						     .object = object});
}

/* From now on, the process's generated code is its own, not its parent's. */
static void map_jitdump(struct perf_data_stacks *s, uint32_t process, struct str path)
{
	struct perf_data_process *p = &s->tasks->processes.data[process];

	if (p->code_pid != p->pid) {
		p->code_pid = p->pid;
		p->jit = NO_ID;
	}
	perf_data_jit_dump(s->jit, code_of(s, process), path);
}

void perf_data_stacks_map(struct perf_data_stacks *s, const struct perfstream_mmap *mmap,
	bool in_kernel, uint64_t time_ns)
{
	if (in_kernel || mmap->pid == -1) {
		map_kernel(s, mmap);
		return;
	}
	uint32_t process = perf_data_tasks_process(s->tasks, mmap->pid, time_ns);

	if (jitdump_is_path(mmap->path))
		map_jitdump(s, process, mmap->path);
	if (!mmap->is_code)
		return;
	perf_data_tasks_map(s->tasks, process,
		&(struct unwind_mapping){.low_va = mmap->low_va,
			.high_va = mmap->low_va + mmap->size,
			.slide = mmap->low_va - mmap->file_off,
			.object = object_of(s, mmap) | UNWIND_PENDING});
}

bool perf_data_stacks_resolve(struct perf_data_stacks *s, uint32_t process, uint64_t va)
{
	const struct unwind_mapping *pending = perf_data_tasks_find(s->tasks, process, va);

	if (pending == NULL || !(pending->object & UNWIND_PENDING))
		return false;
	struct unwind_mapping m = *pending;

	m.object &= ~UNWIND_PENDING;
	m.slide = perf_data_objects_slide(s->objects, m.object, m.low_va, m.low_va - m.slide);
	if (s->objects->keeps_open)
		m.table = perf_data_objects_cfi(s->objects, m.object);
	perf_data_tasks_remap(s->tasks, process, &m);
	return true;
}

/* ---- frames ---- */

static void add_mark(struct perf_data_stacks *s, struct capture_names_object *named,
	const struct kernel_mark *mark)
{
	struct kernel_mark *copy;

	if (mark->va == 0)
		return;
	copy = ARENA_NEW(s->arena, struct kernel_mark);
	*copy = *mark;
	named->marks = copy;
	named->mark_count = 1;
}

/* The number of an object in names. */
static uint32_t named_object(struct perf_data_stacks *s, uint32_t object)
{
	static const enum capture_object_kind kinds[OBJECT_KIND_COUNT] = {
		[OBJECT_USER] = CAPTURE_OBJECT_USER,
		[OBJECT_KERNEL] = CAPTURE_OBJECT_KERNEL,
		[OBJECT_JIT] = CAPTURE_OBJECT_JIT,
		[OBJECT_UNKNOWN] = CAPTURE_OBJECT_UNKNOWN,
	};
	const struct perf_data_object *row = &s->objects->rows.data[object];

	while (s->named.count <= object)
		vec_push(&s->named, NO_ID);
	if (s->named.data[object] == NO_ID) {
		uint32_t number = add_named(s, row->path, row->build_id, kinds[row->kind]);
		struct capture_names_object *named = capture_names_object(s->names, number);

		s->named.data[object] = number;
		named->is_missing = perf_data_objects_is_missing(s->objects, object);
		named->open_path = row->open_path;
		add_mark(s, named, &row->mark);
	}
	return s->named.data[object];
}

/* Adds a frame; beyond the limit, all addresses of an object share one. */
static uint32_t intern_frame(struct perf_data_stacks *s, uint32_t object, uint64_t obj_addr)
{
	bool added;

	if (s->frames.count >= s->frames_most)
		obj_addr = 0;
	uint32_t *place =
		map_at(&s->frame_of_address, object, obj_addr, (uint32_t)s->frames.count, &added);
	uint32_t frame = *place;

	if (added)
		add_frame(s, object, obj_addr);
	return frame;
}

static void name_jit(
	struct perf_data_stacks *s, uint32_t number, uint32_t code, uint64_t va, uint64_t time_ns)
{
	struct perf_data_jit_place place;

	if (!perf_data_jit_find(s->jit, code, va, time_ns, s->arena, &place))
		return;
	struct capture_symbol_frame frame = {.function = place.function,
		.file = place.file,
		.function_file = place.file,
		.line = place.line};

	capture_names_add(s->names, number, va, &frame, 1);
}

/* The code at an address changes, so each epoch is a separate object, all with the same name. */
static uint32_t jit_frame(
	struct perf_data_stacks *s, uint32_t process, uint64_t va, uint64_t time_ns)
{
	uint32_t code = code_of(s, process);
	bool added;
	uint32_t *place = map_at(
		&s->generations, code, perf_data_jit_epoch(s->jit, code, time_ns), 0, &added);

	if (added)
		*place = add_named(s, STR("[anon]"), STR(""), CAPTURE_OBJECT_JIT);
	uint32_t number = *place;
	size_t before = s->frames.count;
	uint32_t frame = intern_frame(s, number, va);

	if (s->frames.count != before && s->frames.data[frame].obj_addr == va)
		name_jit(s, number, code, va, time_ns);
	return frame;
}

static uint32_t find_user_frame(
	struct perf_data_stacks *s, uint32_t process, uint64_t va, uint64_t time_ns)
{
	perf_data_stacks_resolve(s, process, va);
	const struct unwind_mapping *m = perf_data_tasks_find(s->tasks, process, va);

	if (m == NULL)
		return FRAME_UNKNOWN;
	if (s->objects->rows.data[m->object].kind == OBJECT_JIT)
		return jit_frame(s, process, va, time_ns);
	return intern_frame(s, named_object(s, m->object), va - m->slide);
}

/* The state that determines what an address means: of the space and of generated code. */
static uint64_t context_of(const struct perf_data_stacks *s, uint32_t process, uint64_t time_ns)
{
	const struct perf_data_process *p = &s->tasks->processes.data[process];
	uint64_t context = p->space ? p->space->space.generation : 0;

	if (p->jit != NO_ID)
		context += (uint64_t)perf_data_jit_epoch(s->jit, p->jit, time_ns) << EPOCH_SHIFT;
	return context;
}

uint32_t perf_data_stacks_user_frame(
	struct perf_data_stacks *s, uint32_t process, uint64_t va, uint64_t time_ns)
{
	uint64_t context = context_of(s, process, time_ns);
	struct perf_data_known *slot = &s->known[hash_pair(context, va) & (KNOWN_SLOTS - 1)];

	if (slot->context == context && slot->va == va && context)
		return slot->frame;
	uint32_t frame = find_user_frame(s, process, va, time_ns);

	/* Finding it may have opened its object, which changes the context. */
	context = context_of(s, process, time_ns);
	slot = &s->known[hash_pair(context, va) & (KNOWN_SLOTS - 1)];
	*slot = (struct perf_data_known){context, va, frame};
	return frame;
}

static uint32_t kernel_frame(struct perf_data_stacks *s, uint64_t va)
{
	const struct unwind_mapping *m = unwind_space_find(&s->kernel, va);
	uint32_t object =
		m ? m->object
		  : perf_data_objects_add_kernel(s->objects, STR("[kernel.kallsyms]"), STR(""));

	return intern_frame(s, named_object(s, object), va);
}

static uint32_t foreign_frame(struct perf_data_stacks *s, struct str name, uint64_t va)
{
	uint32_t object = perf_data_objects_add(s->objects, name, STR(""), OBJECT_UNKNOWN);

	return intern_frame(s, named_object(s, object), va);
}

static uint32_t frame_in_mode(struct perf_data_stacks *s, uint32_t process, unsigned int mode,
	uint64_t va, uint64_t time_ns)
{
	switch (mode) {
	case PERFSTREAM_MODE_KERNEL:
		return kernel_frame(s, va);
	case PERFSTREAM_MODE_HYPERVISOR:
		return foreign_frame(s, STR("[hypervisor]"), va);
	case PERFSTREAM_MODE_GUEST_KERNEL:
		return foreign_frame(s, STR("[guest.kernel]"), va);
	case PERFSTREAM_MODE_GUEST_USER:
		return foreign_frame(s, STR("[guest]"), va);
	case PERFSTREAM_MODE_USER:
	default:
		return perf_data_stacks_user_frame(s, process, va, time_ns);
	}
}

/* ---- chains ---- */

/* The mode after a context marker; 0: unknown. */
static unsigned int mode_of_context(uint64_t context)
{
	switch (context) {
	case PERFSTREAM_CONTEXT_HYPERVISOR:
		return PERFSTREAM_MODE_HYPERVISOR;
	case PERFSTREAM_CONTEXT_KERNEL:
		return PERFSTREAM_MODE_KERNEL;
	case PERFSTREAM_CONTEXT_USER:
		return PERFSTREAM_MODE_USER;
	case PERFSTREAM_CONTEXT_GUEST:
	case PERFSTREAM_CONTEXT_GUEST_USER:
		return PERFSTREAM_MODE_GUEST_USER;
	case PERFSTREAM_CONTEXT_GUEST_KERNEL:
		return PERFSTREAM_MODE_GUEST_KERNEL;
	default:
		return 0;
	}
}

/*
 * The address to look up: for callers, one before the return address, as a call may be the last
 * instruction of its function.  The first address in each mode is the interrupted one.
 */
static uint64_t frame_address(uint64_t va, bool is_first)
{
	return va - (is_first ? 0 : 1);
}

void perf_data_stacks_cut(struct perf_data_stacks *s, enum perf_data_cut cut)
{
	s->cuts[cut]++;
	vec_push(&s->scratch, FRAME_TRUNCATED);
}

/* Whether the event's samples have a copy of the user stack, which can be walked. */
static bool has_stack(const struct perf_data_event *event)
{
	return event->layout.sample_type & PERFSTREAM_FIELD_STACK_USER;
}

/*
 * Whether the sample has the active calls recorded by the processor (LBR).  They replace the
 * program's part of the stack that the kernel found by frame pointers.
 */
static bool has_calls(const struct perf_data_event *event, const struct perfstream_sample *sample)
{
	return sample->branches.count && perf_data_event_has_calls(event);
}

/* Whether the processor's buffer was full, so that calls may be missing. */
static bool is_full(const struct perf_data_stacks *s, size_t calls)
{
	enum { HASWELL = 16, SKYLAKE = 32 }; /* if the file does not state it: perf before 4.18 */

	return s->branch_depth ? calls >= s->branch_depth : calls == HASWELL || calls == SKYLAKE;
}

/* The program's address in the chain, if it has one; else the target of the last call. */
static uint64_t leaf_of_calls(const struct perfstream_sample *sample, size_t at)
{
	uint64_t va = at < sample->chain.count ? perfstream_word(&sample->chain, at)
					       : PERFSTREAM_CONTEXT_MAX;

	if (va < PERFSTREAM_CONTEXT_MAX)
		return va;
	return sample->mode == PERFSTREAM_MODE_USER ? sample->ip
						    : perfstream_word(&sample->branches, 1);
}

/*
 * Adds the program's part from calls: the leaf, then the address of each call itself.  (For the
 * leaf, perf's resolve_lbr_callchain_sample uses the target of the last call, and so the function's
 * first line.)
 */
static void read_calls(struct perf_data_stacks *s, uint32_t process,
	const struct perfstream_sample *sample, uint64_t leaf)
{
	size_t calls = sample->branches.count / PERFSTREAM_BRANCH_WORDS;

	vec_push(&s->scratch, perf_data_stacks_user_frame(s, process, leaf, sample->time_ns));
	for (size_t i = 0; i < calls; i++)
		vec_push(&s->scratch,
			perf_data_stacks_user_frame(s, process,
				perfstream_word(&sample->branches, i * PERFSTREAM_BRANCH_WORDS),
				sample->time_ns));
	if (is_full(s, calls))
		perf_data_stacks_cut(s, PERF_DATA_CUT_CALLS);
}

/* The index where the program's part of a chain begins; its end if there is none. */
static size_t user_part(const struct perfstream_words *chain)
{
	size_t i = 0;

	while (i < chain->count && perfstream_word(chain, i) != PERFSTREAM_CONTEXT_USER)
		i++;
	return i < chain->count ? i + 1 : i;
}

/* Adds the chain's frames to scratch, leaf first; returns whether any are the program's. */
static bool read_chain(struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample)
{
	size_t end = has_calls(event, sample) ? user_part(&sample->chain) : sample->chain.count;
	unsigned int mode = sample->mode;
	bool is_first = true, has_user = false;
	size_t addresses = 0;

	for (size_t i = 0; i < end; i++) {
		uint64_t va = perfstream_word(&sample->chain, i);

		if (va == PERFSTREAM_CONTEXT_DEFERRED)
			break; /* a number follows, not an address */
		if (va >= PERFSTREAM_CONTEXT_MAX) {
			mode = mode_of_context(va);
			is_first = true;
			continue;
		}
		vec_push(&s->scratch, frame_in_mode(s, process, mode, frame_address(va, is_first),
					      sample->time_ns));
		has_user |= mode == PERFSTREAM_MODE_USER;
		is_first = false;
		addresses++;
	}
	if (has_calls(event, sample)) {
		read_calls(s, process, sample, leaf_of_calls(sample, end));
		return true;
	}
	bool is_all = has_user || !has_stack(event);

	if (is_all && addresses == (event->max_stack ? event->max_stack : MAX_STACK_DEFAULT))
		perf_data_stacks_cut(s, PERF_DATA_CUT_MAX);
	return has_user;
}

/* The node of the stack in scratch. */
static uint32_t intern_scratch(struct perf_data_stacks *s)
{
	uint32_t node = 0;
	bool added;

	if (s->nodes.nodes.count + s->scratch.count > s->nodes_most) {
		s->cuts[PERF_DATA_CUT_ROOM]++;
		return child_table_at(&s->nodes, 0, FRAME_TRUNCATED, &added);
	}
	for (size_t i = s->scratch.count; i-- > 0;)
		node = child_table_at(&s->nodes, node, s->scratch.data[i], &added);
	return node;
}

static bool is_same_chain(const struct perf_data_chain *a, const struct perf_data_chain *b)
{
	return a->hash == b->hash && a->context == b->context && a->count == b->count &&
	       a->mode == b->mode && a->max_stack == b->max_stack &&
	       memcmp(a->bytes, b->bytes, a->count * sizeof(uint64_t)) == 0;
}

/* The slot of the chain, used or free. */
static struct perf_data_chain *find_chain(
	const struct perf_data_stacks *s, const struct perf_data_chain *chain)
{
	size_t mask = s->chain_slots - 1, i = chain->hash & mask;

	while (s->chains[i].bytes && !is_same_chain(&s->chains[i], chain))
		i = (i + 1) & mask;
	return &s->chains[i];
}

static void grow_chains(struct perf_data_stacks *s)
{
	struct perf_data_chain *old = s->chains;
	size_t old_slots = s->chain_slots;

	s->chain_slots *= 2;
	s->chains = xcalloc(s->chain_slots, sizeof(*s->chains));
	for (size_t i = 0; i < old_slots; i++)
		if (old[i].bytes)
			*find_chain(s, &old[i]) = old[i];
	free(old);
}

static struct perf_data_chain chain_of(const struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample)
{
	uint64_t context = context_of(s, process, sample->time_ns);

	return (struct perf_data_chain){
		.hash = (uint32_t)hash_pair(
			hash_bytes(sample->chain.bytes, sample->chain.count * sizeof(uint64_t)),
			context),
		.context = context,
		.bytes = sample->chain.bytes,
		.count = (uint16_t)sample->chain.count,
		.mode = sample->mode,
		.max_stack = event->max_stack,
	};
}

/* The node of a sample whose chain is new. */
static uint32_t new_node(struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample)
{
	s->scratch.count = 0;
	if (!read_chain(s, process, event, sample) && has_stack(event))
		perf_data_stacks_unwind(s, process, event, sample);
	if (s->scratch.count == 0 && (event->layout.sample_type & PERFSTREAM_FIELD_IP))
		vec_push(&s->scratch,
			frame_in_mode(s, process, sample->mode, sample->ip, sample->time_ns));
	return intern_scratch(s);
}

static void keep_chain(struct perf_data_stacks *s, struct perf_data_chain *chain)
{
	if ((s->chain_count + 1) * 2 > s->chain_slots)
		grow_chains(s);
	*find_chain(s, chain) = *chain;
	s->chain_count++;
}

void perf_data_stacks_expect(const struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample,
	struct perf_data_chain *chain)
{
	*chain = (struct perf_data_chain){0};
	if (has_stack(event) || has_calls(event, sample) || sample->chain.count == 0)
		return;
	*chain = chain_of(s, process, event, sample);
	prefetch(&s->chains[chain->hash & (s->chain_slots - 1)]);
}

void perf_data_stacks_fetch(const struct perf_data_stacks *s, const struct perf_data_chain *chain)
{
	enum { LINE = 64, LINES = 2 }; /* the processor prefetches further lines itself */
	const struct perf_data_chain *slot = &s->chains[chain->hash & (s->chain_slots - 1)];

	if (chain->bytes == NULL || slot->hash != chain->hash)
		return;
	for (size_t i = 0; i < LINES; i++)
		prefetch(slot->bytes + i * LINE);
}

uint32_t perf_data_stacks_node(struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample,
	struct perf_data_chain *chain)
{
	if (chain->bytes == NULL)
		return new_node(s, process, event, sample);
	/* If an object was opened in between, addresses have a new meaning. */
	if (chain->context != context_of(s, process, sample->time_ns))
		*chain = chain_of(s, process, event, sample);
	const struct perf_data_chain *known = find_chain(s, chain);

	if (known->bytes) {
		s->cuts[PERF_DATA_CUT_MAX] += known->is_cut;
		return known->node;
	}
	uint64_t cuts = s->cuts[PERF_DATA_CUT_MAX];

	chain->node = new_node(s, process, event, sample);
	chain->is_cut = s->cuts[PERF_DATA_CUT_MAX] != cuts;
	/* If an object was opened for it, the context has changed. */
	if (chain->context == context_of(s, process, sample->time_ns))
		keep_chain(s, chain);
	return chain->node;
}
