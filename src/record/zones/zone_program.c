/*
 * A program with zones.
 *
 * The clocks are read one after the other: the ticks, the time, the ticks again.  If the two
 * readings of the ticks are far apart, the reading was interrupted.  It is repeated, and the
 * closest pair is used.
 *
 * Thread IDs of another pid namespace are in /proc/PID/status (proc_pid_status(5)): "NSpid" lists a
 * thread's IDs from our namespace inwards, its own last.
 *
 * Threads are found in the process table while they live.  One that has ended, or was never sampled
 * or reported, gets a separate row.  A zone that is a function is a frame of that function's load
 * object, as in a sample's stack; if its code can no longer be found, it is an ordinary zone.
 */
#include "record/zones/zone_program.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* ---- clocks ---- */

/* Minimum time between readings. */
#define LOOK_NS	    (SECOND_NS / 200)
#define TRIES	    5
#define GOOD_NS	    100 /* a reading this close need not be repeated */
#define RECENT_KEEP 32	/* recent pairs kept when there is no room */

__extension__ typedef unsigned __int128 wide;

void zone_clock_init(struct zone_clock *c, const struct zone_region *region)
{
	const struct zonewire_header *h = &region->header;

	*c = (struct zone_clock){.region = region, .count = 1};
	c->pairs[0] = (struct zone_clock_pair){h->start_ticks, h->start_monotonic_ns};
}

static struct zone_clock_pair read_both(const struct zone_region *region)
{
	struct zone_clock_pair best = {0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = zone_region_now(region);
		uint64_t time_ns = clock_monotonic_ns();
		uint64_t width = zone_region_now(region) - before;

		if (width >= best_width)
			continue;
		best_width = width;
		best = (struct zone_clock_pair){before + width / 2, time_ns};
		if (zone_region_duration_ns(region, width) <= GOOD_NS)
			break;
	}
	return best;
}

/*
 * A clock provided by the program is unrelated to time, and that of an ended program has stopped.
 */
static bool goes_with_time(const struct zone_region *region)
{
	return region->header.clock != ZONEWIRE_CLOCK_CALLED && !region->ended_ticks;
}

void zone_clock_look(struct zone_clock *c)
{
	const struct zone_clock_pair *last = &c->pairs[c->count - 1];

	if (!goes_with_time(c->region) ||
		(c->count > 1 && clock_monotonic_ns() < last->time_ns + LOOK_NS))
		return;
	struct zone_clock_pair pair = read_both(c->region);

	if (pair.ticks <= last->ticks || pair.time_ns <= last->time_ns)
		return;
	if (c->count == ZONE_CLOCK_PAIRS) {
		/* The first pair is kept for the rate over the whole run. */
		memmove(c->pairs + 1, c->pairs + ZONE_CLOCK_PAIRS - RECENT_KEEP,
			RECENT_KEEP * sizeof(c->pairs[0]));
		c->count = 1 + RECENT_KEEP;
	}
	c->pairs[c->count++] = pair;
}

/* value · to / from. */
static uint64_t scale(uint64_t value, uint64_t to, uint64_t from)
{
	return from ? (uint64_t)((wide)value * to / from) : 0;
}

static uint64_t region_ticks(const struct zone_region *region, uint64_t duration_ns)
{
	struct zonewire_header h = zone_region_header(region);

	if (h.clock_mult == 0)
		return 0;
	return (uint64_t)(((wide)duration_ns << region->header.clock_shift) / h.clock_mult);
}

/* The last pair that is not later; the first one if all are later. */
static uint32_t place_of(const struct zone_clock *c, uint64_t value, bool is_ticks)
{
	uint32_t i = c->count - 1;

	while (i > 0 && (is_ticks ? c->pairs[i].ticks : c->pairs[i].time_ns) > value)
		i--;
	return i;
}

uint64_t zone_clock_time_ns(const struct zone_clock *c, uint64_t ticks)
{
	uint32_t i = place_of(c, ticks, true);
	const struct zone_clock_pair *a = &c->pairs[i], *b = a + 1;

	if (ticks < a->ticks) {
		uint64_t before_ns = zone_region_duration_ns(c->region, a->ticks - ticks);

		return before_ns < a->time_ns ? a->time_ns - before_ns : 0;
	}
	if (i + 1 == c->count)
		return a->time_ns + zone_region_duration_ns(c->region, ticks - a->ticks);
	return a->time_ns + scale(ticks - a->ticks, b->time_ns - a->time_ns, b->ticks - a->ticks);
}

uint64_t zone_clock_ticks(const struct zone_clock *c, uint64_t time_ns)
{
	uint32_t i = place_of(c, time_ns, false);
	const struct zone_clock_pair *a = &c->pairs[i], *b = a + 1;

	if (time_ns < a->time_ns) {
		uint64_t before = region_ticks(c->region, a->time_ns - time_ns);

		return before < a->ticks ? a->ticks - before : 0;
	}
	if (i + 1 == c->count)
		return a->ticks + region_ticks(c->region, time_ns - a->time_ns);
	return a->ticks + scale(time_ns - a->time_ns, b->ticks - a->ticks, b->time_ns - a->time_ns);
}

/* ---- names ---- */

void zone_names_init(
	struct zone_names *n, struct capture_writer *writer, struct object_table *objects)
{
	*n = (struct zone_names){.writer = writer, .objects = objects, .object = UINT32_MAX};
	n->arena = arena_create();
	str_table_init(&n->words, n->arena);
}

void zone_names_deinit(struct zone_names *n)
{
	map_deinit(&n->numbers);
	map_deinit(&n->functions);
	str_table_deinit(&n->words);
	arena_destroy(n->arena);
}

uint32_t zone_names_object(struct zone_names *n)
{
	if (n->object == UINT32_MAX)
		n->object = object_table_named(n->objects, CAPTURE_OBJECT_ZONE, STR("[zones]"));
	return n->object;
}

static void write_name(
	struct zone_names *n, uint32_t number, struct str name, struct str file, uint32_t line)
{
	struct capture_symbol_frame frame = {.function = name,
		.file = file,
		.function_file = file,
		.line = line,
		.function_line = line};

	capture_writer_symbol(n->writer, zone_names_object(n), number, &frame, 1);
}

uint32_t zone_names_number(struct zone_names *n, struct str name, struct str file, uint32_t line)
{
	uint64_t words = (uint64_t)str_table_intern(&n->words, name) << 32 |
			 str_table_intern(&n->words, file);
	bool added;
	uint32_t number = *map_at(&n->numbers, words, line, n->count + 1, &added);

	if (added) {
		n->count++;
		write_name(n, number, name, file, line);
	}
	return number;
}

void zone_names_function(struct zone_names *n, uint32_t object, uint64_t address)
{
	bool added;

	(void)map_at(&n->functions, object, address, 0, &added);
	n->function_count += added;
}

uint32_t zone_names_unknown(struct zone_names *n)
{
	if (!n->has_unknown)
		write_name(n, 0, STR("[unknown]"), STR(""), 0);
	n->has_unknown = true;
	return 0;
}

/* ---- thread IDs ---- */

void zone_tids_init(struct zone_tids *t, int64_t pid, int64_t inner_pid)
{
	*t = (struct zone_tids){.pid = pid, .is_same = pid == inner_pid};
}

void zone_tids_deinit(struct zone_tids *t)
{
	map_deinit(&t->inner_of);
	map_deinit(&t->outer_of);
}

/* The last number of the NSpid line; 0: there is none. */
static int64_t inner_id(int64_t pid, int64_t tid)
{
	char path[64], line[256];
	int64_t inner = 0;

	snprintf(path, sizeof(path), "/proc/%lld/task/%lld/status", (long long)pid, (long long)tid);
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	while (inner == 0 && fgets(line, sizeof(line), f)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			inner = strtoll(last, NULL, 10);
	}
	fclose(f);
	return inner;
}

void zone_tids_learn(struct zone_tids *t)
{
	char path[64];
	const struct dirent *entry;

	if (t->is_same)
		return;
	snprintf(path, sizeof(path), "/proc/%lld/task", (long long)t->pid);
	DIR *folder = opendir(path);

	while (folder && (entry = readdir(folder))) {
		int64_t tid = strtoll(entry->d_name, NULL, 10);
		int64_t inner = tid > 0 ? inner_id(t->pid, tid) : 0;

		if (inner <= 0)
			continue;
		map_put(&t->inner_of, (uint64_t)tid, 0, (uint32_t)inner);
		map_put(&t->outer_of, (uint64_t)inner, 0, (uint32_t)tid);
	}
	if (folder)
		closedir(folder);
}

static int64_t look_up(const struct map *map, int64_t id)
{
	uint32_t other;

	return map_get(map, (uint64_t)id, 0, &other) ? (int64_t)other : 0;
}

int64_t zone_tids_inner(const struct zone_tids *t, int64_t tid)
{
	return t->is_same ? tid : look_up(&t->inner_of, tid);
}

int64_t zone_tids_outer(const struct zone_tids *t, int64_t inner_tid)
{
	return t->is_same ? inner_tid : look_up(&t->outer_of, inner_tid);
}

/* ---- programs ---- */

/* The longest name of a zone or file. */
#define NAME_BYTES 4096

struct zone_program *zone_program_create(
	int64_t pid, struct live_memory *memory, int fd, bool is_whole)
{
	struct zone_program *p = xalloc(sizeof(*p));

	p->pid = pid;
	p->process = CAPTURE_NO_ID;
	p->is_whole = is_whole;
	p->memory = *memory;
	p->fd = fd;
	p->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	p->reader = zone_reader_create();
	zone_tids_init(&p->tids, pid, memory->region.header.pid);
	zone_clock_init(&p->clock, &p->memory.region);
	zone_clock_look(&p->clock);
	p->begin_ns = is_whole ? memory->region.header.start_monotonic_ns : clock_monotonic_ns();
	p->row_ns = clock_monotonic_ns();
	if (p->reader)
		return p;
	zone_program_destroy(p);
	return NULL;
}

void zone_program_destroy(struct zone_program *p)
{
	if (p == NULL)
		return;
	zone_reader_destroy(p->reader);
	live_memory_deinit(&p->memory);
	if (p->fd >= 0)
		close(p->fd);
	if (p->pidfd >= 0)
		close(p->pidfd);
	vec_deinit(&p->threads);
	vec_deinit(&p->stacks);
	vec_deinit(&p->frames);
	vec_deinit(&p->given);
	for (int i = 0; i < ZONEWIRE_STREAMS; i++)
		vec_deinit(&p->streams[i].sums);
	map_deinit(&p->slot_of_tid);
	zone_tids_deinit(&p->tids);
	free(p);
}

bool zone_program_read(struct zone_program *p)
{
	live_memory_refresh(&p->memory);
	return zone_reader_read(p->reader, &p->memory.region, &p->reading);
}

bool zone_program_has_process(struct zone_program *p, struct zone_context *c)
{
	const struct process *process;

	if (p->process != CAPTURE_NO_ID)
		return true;
	process = process_table_find_late(c->recording->processes, p->pid);
	if (process)
		p->process = process->number;
	return process != NULL;
}

/* ---- threads ---- */

void zone_program_look_at_slots(struct zone_program *p)
{
	uint32_t count = zone_region_slot_count(&p->memory.region);
	bool is_news = false;

	for (uint32_t i = 0; i < count; i++) {
		struct zonewire_slot slot;

		if (!zone_region_slot(&p->memory.region, i, &slot))
			break;
		if (i == p->threads.count)
			vec_push(&p->threads, (struct zone_thread){.number = CAPTURE_NO_ID,
						      .number_before = CAPTURE_NO_ID});
		struct zone_thread *t = &p->threads.data[i];

		t->state = slot.state;
		p->has_fibers |= slot.state == ZONEWIRE_SLOT_FIBER;
		if (slot.state == ZONEWIRE_SLOT_FIBER)
			t->tid = slot.tid; /* of its current or last fiber */
		if (memcmp(t->name, slot.name, sizeof(t->name)) != 0) {
			memcpy(t->name, slot.name, sizeof(t->name));
			t->is_named = false;
		}
		if (t->tid == slot.tid && t->thread_count == slot.thread_count)
			continue;
		is_news = true;
		t->tid = slot.tid;
		t->thread_count = slot.thread_count;
		t->start_ticks = slot.start_ticks;
		t->number_before = t->number;
		t->number = CAPTURE_NO_ID;
		t->is_named = false;
		if (slot.state != ZONEWIRE_SLOT_FIBER)
			map_put(&p->slot_of_tid, (uint64_t)slot.tid, 0, i);
	}
	if (is_news)
		zone_tids_learn(&p->tids);
}

uint32_t zone_program_slot(struct zone_program *p, int64_t tid)
{
	int64_t inner = zone_tids_inner(&p->tids, tid);
	uint32_t slot;

	if (map_get(&p->slot_of_tid, (uint64_t)inner, 0, &slot) &&
		p->threads.data[slot].tid == inner)
		return slot;
	return UINT32_MAX;
}

/* A thread that is not in the process table. */
static uint32_t past_thread(
	const struct zone_program *p, struct zone_context *c, const struct zone_thread *t)
{
	int64_t tid = zone_tids_outer(&p->tids, t->tid);
	/* The kernel would also have named it after its program. */
	const char *name = t->name[0] ? t->name : p->memory.region.header.program;

	return process_table_past_thread(c->recording->processes, p->process,
		tid > 0 ? tid : p->pid, zone_clock_time_ns(&p->clock, t->start_ticks),
		str_from(name));
}

/* Finds a thread in the process table; in the file it gets the name set by its program. */
static void find_thread(struct zone_program *p, struct zone_context *c, struct zone_thread *t)
{
	struct process_table *processes = c->recording->processes;
	int64_t tid = zone_tids_outer(&p->tids, t->tid);

	t->number = process_table_find_number(processes, p->pid, p->process, tid);
	if (t->number != CAPTURE_NO_ID && t->name[0] && !t->is_named)
		process_table_name_thread(processes, p->pid, p->process, tid, str_from(t->name));
	t->is_named = true;
}

uint32_t zone_program_thread(struct zone_program *p, struct zone_context *c, uint32_t slot)
{
	struct zone_thread *t;

	if (slot >= p->threads.count)
		zone_program_look_at_slots(p);
	if (slot >= p->threads.count)
		return CAPTURE_NO_ID;
	t = &p->threads.data[slot];
	if ((t->number != CAPTURE_NO_ID && t->is_named) || !zone_program_has_process(p, c))
		return t->number;
	if (t->state != ZONEWIRE_SLOT_FIBER)
		find_thread(p, c, t);
	if (t->number == CAPTURE_NO_ID)
		t->number = past_thread(p, c, t);
	return t->number;
}

/* ---- zones ---- */

uint32_t zone_unknown_stack(struct zone_context *c)
{
	uint32_t number = zone_names_unknown(&c->names);

	return stack_tree_intern(
		&c->recording->snapshot.tree, 0, zone_names_object(&c->names), number);
}

/* The frame of a function that is a zone. */
static bool function_frame(
	struct zone_program *p, struct zone_context *c, uint64_t code_va, struct zone_frame *frame)
{
	struct process_table *table = c->recording->processes;
	struct process *process = process_table_find_late(table, p->pid);
	uint64_t now_ns = clock_monotonic_ns();
	const struct unwind_mapping *m;

	if (process == NULL || process->number != p->process || p->has_execed)
		return false;
	/* If it has ended, its mappings are known or not; the files that they are of are open. */
	m = unwind_space_find(&process->space, code_va);
	if (m == NULL && !p->ended_ns && process_table_read_maps(table, process, now_ns))
		m = unwind_space_find(&process->space, code_va);
	if (m && (m->object & UNWIND_PENDING)) {
		(void)process_table_resolve(table, process, code_va, now_ns);
		m = unwind_space_find(&process->space, code_va);
	}
	if (m == NULL || (m->object & UNWIND_PENDING))
		return false;
	*frame = (struct zone_frame){m->object, code_va - m->slide};
	zone_names_function(&c->names, m->object, code_va - m->slide);
	return true;
}

static struct zone_frame find_frame(struct zone_program *p, struct zone_context *c, uint32_t id)
{
	struct zonewire_zone zone;
	char name[NAME_BYTES], file[NAME_BYTES];
	struct zone_frame frame;

	(void)zone_region_zone(&p->memory.region, id, &zone);
	if (zone.code && function_frame(p, c, zone.code, &frame))
		return frame;
	zone_region_string(&p->memory.region, zone.name, name, sizeof(name));
	zone_region_string(&p->memory.region, zone.file, file, sizeof(file));
	uint32_t number = zone_names_number(&c->names, str_from(name), str_from(file), zone.line);

	return (struct zone_frame){zone_names_object(&c->names), number};
}

/*
 * A zone keeps its first frame, even if more is learned about its code later, so that it stays one
 * row.
 */
static struct zone_frame zone_frame(struct zone_program *p, struct zone_context *c, uint32_t id)
{
	while (p->frames.count <= id)
		vec_push(&p->frames, ((struct zone_frame){UINT32_MAX, 0}));
	if (p->frames.data[id].object == UINT32_MAX) {
		struct zone_frame frame = find_frame(p, c, id);

		p->frames.data[id] = frame;
	}
	return p->frames.data[id];
}

/* The node from the last reading, or after reading again. */
static const struct zone_place *find_place(struct zone_program *p, uint32_t node)
{
	if (node >= p->reading.node_count || p->reading.place[node].zone == ZONEWIRE_ZONE_NONE)
		if (!zone_program_read(p) || node >= p->reading.node_count)
			return NULL;
	const struct zone_place *place = &p->reading.place[node];

	return place->zone == ZONEWIRE_ZONE_NONE ? NULL : place;
}

uint32_t zone_program_stack(struct zone_program *p, struct zone_context *c, uint32_t node)
{
	VEC(uint32_t) path = {0};
	uint32_t stack = 0;

	if (node < p->stacks.count && p->stacks.data[node])
		return p->stacks.data[node];
	if (node == 0 || !zone_program_has_process(p, c) || !find_place(p, node))
		return 0;
	while (p->stacks.count < p->reading.node_count)
		vec_push(&p->stacks, 0);
	/* Goes outwards to a known node, or to the root; parents have smaller numbers. */
	for (uint32_t at = node;; at = p->reading.place[at].parent) {
		stack = p->stacks.data[at];
		if (stack)
			break;
		vec_push(&path, at);
		if (p->reading.place[at].parent == at)
			break;
	}
	while (path.count) {
		uint32_t at = path.data[--path.count];
		struct zone_frame frame = zone_frame(p, c, p->reading.place[at].zone);

		stack = stack_tree_intern(
			&c->recording->snapshot.tree, stack, frame.object, frame.obj_addr);
		p->stacks.data[at] = stack;
	}
	vec_deinit(&path);
	return stack;
}
