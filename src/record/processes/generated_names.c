/*
 * Follows perf maps.  A map is looked for in the /tmp that its process sees, under the process's
 * own number for itself (containers), then in ours.  The folder stays open, so that a map that is
 * written at the very end is found as well (the JVM's DumpPerfMapAtExit).
 *
 * The lines of a piece of the map have the time of the file's last change, within the times of the
 * looks before and after it; those of the first piece hold from the start.  A name that appears
 * after the first sample of its code, where there was none before, is the name of earlier samples
 * too: programs buffer what they write.
 */
#include "record/processes/generated_names.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "obj/perfmap.h"
#include "record/processes/object_table.h"
#include "record/processes/proc.h"
#include "record/processes/process_table.h"

/* The minimum time between two looks at a map. */
#define LOOK_NS	   UINT64_C(5000000)
#define BLOCK_SIZE ((size_t)64 * 1024)
/* At most this much is read at a look, which takes about 50 ms; the next look reads on. */
#define LOOK_SIZE ((uint64_t)4 << 20)
/* Of a map, at most this much is read. */
#define SIZE_MAX_BYTES ((uint64_t)1 << 30)
/* All maps together take at most this much memory, or this part of the memory we may have. */
#define MEMORY_MAX  ((uint64_t)1 << 30)
#define MEMORY_PART 8
/* How exact the times of processes and files are; a clock that is set moves the former. */
#define START_SLACK_NS	 SECOND_NS
#define PROGRAM_SLACK_NS UINT64_C(20000000)
/* Two clocks are read so close to each other. */
#define CLOCKS_EXACT_NS UINT64_C(50000)
/* Since 1970, of times that are distinguished. */
#define LAST_SECOND INT64_C(8000000000)
/* Of what was read last, this much is compared: if it differs, the file was written anew. */
#define TAIL_SIZE 64
#define LATEST	  UINT64_MAX

enum refusal { REFUSED_NOT, REFUSED_OLD, REFUSED_OTHER };

/* A place where a map may be. */
struct place {
	int folder; /* AT_FDCWD: name is a path */
	char name[64];
};

/* The generated code of one program of a process. */
struct generated_code {
	uint32_t index;		 /* in the table */
	int64_t pid, parent_pid; /* parent_pid 0: unknown */
	uint32_t uid;
	uint64_t start_ns, slack_ns; /* when the program began, CLOCK_MONOTONIC; 0: unknown */
	struct generated_code *parent;
	bool is_parent, has_dump;
	bool is_over; /* nothing more is read */
	bool had_map;
	struct place places[2]; /* in the process's namespace, and in ours */
	enum refusal refusal;	/* of the last file */
	bool is_unread;		/* a part of the map was left out */
	bool is_full;		/* there is no memory for more of it */
	int fd;			/* of the map; -1: none yet */
	dev_t device;
	ino_t inode;
	uint64_t offset, looked_ns;
	char tail[TAIL_SIZE]; /* before offset */
	size_t tail_size;
	struct perfmap *map; /* NULL: none yet, or settled */
	uint64_t memory;     /* of the map */
	size_t bad_lines;    /* of a settled one */
	/*
	 * (va, n): the line that is the n-th name there, or PERFMAP_NONE as long as there is none;
	 * (va, LATEST): the last n.  When the code is settled, numbers of names in place of lines.
	 */
	struct map lines;
	VEC(uint32_t) objects; /* of the n-th names */
	VEC(struct str) names; /* in the arena */
	struct arena *arena;   /* NULL: not settled */
};

/* ---- the map's places ---- */

/* What is not known of a process stays as it is. */
struct status {
	uint32_t uid;	/* whose its files are */
	int64_t inner;	/* its number in its own pid namespace */
	int64_t parent; /* the number of its parent */
};

static void read_status(int64_t pid, struct status *status)
{
	char *path = xasprintf("/proc/%" PRId64 "/status", pid);
	FILE *file = fopen(path, "re");
	char line[256];

	free(path);
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');
		if (last == NULL)
			continue;
		/* The last one is that of files. */
		if (strncmp(line, "Uid:", 4) == 0)
			status->uid = (uint32_t)strtoul(last + 1, NULL, 10);
		/* "NSpid:\t123\t1": the last one is the innermost. */
		if (strncmp(line, "NSpid:", 6) == 0)
			status->inner = strtoll(last + 1, NULL, 10);
		if (strncmp(line, "PPid:", 5) == 0)
			status->parent = strtoll(last + 1, NULL, 10);
	}
	fclose(file);
}

static void find_places(struct generated_code *c)
{
	struct status status = {.uid = geteuid(), .inner = c->pid};
	char folder[64];

	read_status(c->pid, &status);
	c->uid = status.uid;
	c->parent_pid = status.parent;
	snprintf(folder, sizeof(folder), "/proc/%" PRId64 "/root/tmp", c->pid);
	/* Not through a link: one to an absolute path would lead into our own root. */
	c->places[0].folder = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(
		c->places[0].name, sizeof(c->places[0].name), "perf-%" PRId64 ".map", status.inner);
	c->places[1].folder = AT_FDCWD;
	snprintf(c->places[1].name, sizeof(c->places[1].name), "/tmp/perf-%" PRId64 ".map", c->pid);
}

static void close_places(struct generated_code *c)
{
	if (c->places[0].folder >= 0)
		close(c->places[0].folder);
	c->places[0].folder = -1;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/* ---- reading ---- */

/* When CLOCK_MONOTONIC began, in time since 1970.  We may be preempted between the two clocks. */
static int64_t clocks_apart_ns(void)
{
	uint64_t least_ns = UINT64_MAX;
	int64_t apart_ns = 0;

	for (int i = 0; i < 8 && least_ns > CLOCKS_EXACT_NS; i++) {
		uint64_t before_ns = clock_monotonic_ns(), unix_ns = clock_unix_ns();
		uint64_t took_ns = clock_monotonic_ns() - before_ns;

		if (took_ns < least_ns) {
			least_ns = took_ns;
			apart_ns = (int64_t)(unix_ns - before_ns);
		}
	}
	return apart_ns;
}

/* A file's time on CLOCK_MONOTONIC; 0: before that clock's start. */
static uint64_t changed_ns(const struct stat *st)
{
	/* Anybody may set a file's time, to any year. */
	int64_t unix_s = st->st_mtim.tv_sec < LAST_SECOND ? st->st_mtim.tv_sec : LAST_SECOND;

	if (unix_s <= 0)
		return 0;
	int64_t time_ns = unix_s * (int64_t)SECOND_NS + st->st_mtim.tv_nsec - clocks_apart_ns();

	return time_ns > 0 ? (uint64_t)time_ns : 0;
}

static bool is_older(const struct generated_code *c, const struct stat *st)
{
	return c->start_ns && changed_ns(st) + c->slack_ns < c->start_ns;
}

/* Whether the map in that place is open now. */
static bool open_place(struct generated_code *c, const struct place *place, struct stat *st)
{
	int fd;

	if (place->folder == -1)
		return false;
	struct error *err = perfmap_open_fd(place->folder, place->name, c->uid, &fd, st);
	if (err) {
		c->refusal = REFUSED_OTHER; /* a link, a pipe, of another user, unreadable … */
		error_destroy(err);
		return false;
	}
	if (is_older(c, st)) {
		c->refusal = REFUSED_OLD;
		close(fd);
		return false;
	}
	if (c->fd >= 0)
		close(c->fd);
	c->fd = fd;
	if (c->map == NULL)
		c->map = perfmap_create();
	else
		perfmap_rewind(c->map);
	c->device = st->st_dev;
	c->inode = st->st_ino;
	c->offset = c->tail_size = 0;
	return true;
}

/* Opens the map, unless the open one is still there.  True, with its state: one is open. */
static bool find_map(struct generated_code *c, struct stat *st)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->places); i++) {
		const struct place *place = &c->places[i];

		if (place->folder == -1 ||
			fstatat(place->folder, place->name, st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (c->fd >= 0 && st->st_dev == c->device && st->st_ino == c->inode)
			return true;
		if (open_place(c, place, st))
			return true;
	}
	return c->fd >= 0 && fstat(c->fd, st) == 0;
}

/* Whether the file is not a continuation of what was read. */
static bool is_rewritten(const struct generated_code *c, const struct stat *st)
{
	char tail[TAIL_SIZE];

	if ((uint64_t)st->st_size < c->offset)
		return true;
	return c->tail_size && (uint64_t)st->st_size > c->offset &&
	       (pread(c->fd, tail, c->tail_size, (off_t)(c->offset - c->tail_size)) !=
			       (ssize_t)c->tail_size ||
		       memcmp(tail, c->tail, c->tail_size) != 0);
}

static uint64_t memory_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
		limit.rlim_cur / MEMORY_PART > MEMORY_MAX)
		return MEMORY_MAX;
	return limit.rlim_cur / MEMORY_PART;
}

/* Takes the memory of a map into account. */
static void weigh(struct generated_names *t, struct generated_code *c)
{
	uint64_t memory = c->map ? perfmap_memory(c->map) : 0;

	t->memory += memory - c->memory;
	c->memory = memory;
}

/* Keeps the end of what was read. */
static void keep_tail(struct generated_code *c, const char *block, size_t size)
{
	c->tail_size = size < TAIL_SIZE ? size : TAIL_SIZE;
	memcpy(c->tail, block + size - c->tail_size, c->tail_size);
}

static void read_map(struct generated_names *t, struct generated_code *c, uint64_t size,
	uint64_t most, uint64_t from_ns, uint64_t until_ns)
{
	char *block = size > c->offset ? xalloc(BLOCK_SIZE) : NULL;
	uint64_t end = size - c->offset > most ? c->offset + most : size;

	while (c->offset < end) {
		uint64_t left = end - c->offset;
		if (t->memory >= memory_max()) {
			c->is_unread = c->is_full = true;
			break;
		}
		ssize_t got = pread(
			c->fd, block, left < BLOCK_SIZE ? left : BLOCK_SIZE, (off_t)c->offset);
		if (got <= 0)
			break;
		perfmap_add(c->map, (struct str){block, (size_t)got}, from_ns, until_ns);
		weigh(t, c);
		keep_tail(c, block, (size_t)got);
		c->offset += (uint64_t)got;
	}
	free(block);
}

/* Reads what has been added to the map since the last look, if it was changed before that time. */
static void look(
	struct generated_names *t, struct generated_code *c, uint64_t most, uint64_t before_ns)
{
	uint64_t now_ns = clock_monotonic_ns(), last_ns = c->looked_ns;
	bool is_first = c->map == NULL;
	struct stat st;

	c->looked_ns = now_ns;
	if (!find_map(c, &st))
		return;
	uint64_t time_ns = changed_ns(&st);

	if (time_ns > before_ns)
		return;
	if (is_rewritten(c, &st)) {
		perfmap_rewind(c->map);
		c->offset = c->tail_size = 0;
	}
	if (time_ns < last_ns)
		time_ns = last_ns;
	if (time_ns > now_ns)
		time_ns = now_ns;
	uint64_t size =
		(uint64_t)st.st_size < SIZE_MAX_BYTES ? (uint64_t)st.st_size : SIZE_MAX_BYTES;

	c->is_unread |= (uint64_t)st.st_size > SIZE_MAX_BYTES;
	if (size > c->offset && !c->is_full)
		read_map(t, c, size, most, is_first ? 0 : time_ns, time_ns);
}

static uint32_t line_at(
	struct generated_names *t, struct generated_code *c, uint64_t va, uint64_t time_ns)
{
	if (!c->is_over && clock_monotonic_ns() >= c->looked_ns + LOOK_NS)
		look(t, c, LOOK_SIZE, UINT64_MAX);
	if (c->map == NULL)
		return PERFMAP_NONE;
	perfmap_advance(c->map, time_ns);
	uint32_t line = perfmap_find_line(c->map, va);

	t->unsure += line != PERFMAP_NONE && perfmap_is_unsure(c->map, line, time_ns);
	return line;
}

/* ---- programs ---- */

static struct generated_code *add_code(struct generated_names *t, int64_t pid)
{
	struct generated_code *c = xalloc(sizeof(*c));

	c->pid = pid;
	c->index = (uint32_t)t->code.count;
	c->fd = -1;
	find_places(c);
	vec_push(&t->code, c);
	return c;
}

/* When the program that a process runs began; 0: unknown. */
static uint64_t start_of(const struct process *p)
{
	struct proc_stat stat;

	if (p->programs)
		return p->program_ns;
	if (p->is_old)
		return proc_stat_read(p->pid, 0, &stat) ? stat.start_ns : 0;
	return p->parent == UINT32_MAX ? 0 : p->start_ns;
}

/* The code of the program that a process runs. */
static struct generated_code *code_of(struct generated_names *t, const struct process *p)
{
	bool is_new;
	uint32_t *index =
		map_at(&t->by_program, p->number, p->programs, (uint32_t)t->code.count, &is_new);

	if (!is_new)
		return t->code.data[*index];
	struct generated_code *c = add_code(t, p->pid);

	c->start_ns = start_of(p);
	c->slack_ns = p->programs ? PROGRAM_SLACK_NS : START_SLACK_NS;
	return c;
}

/* From now on the object stands for the next names of the code. */
static void add_object(struct generated_names *t, struct generated_code *c, uint32_t object)
{
	map_put(&t->by_object, object, 0, (uint32_t)t->meanings.count);
	vec_push(&t->meanings, (struct generated_meaning){c->index, (uint32_t)c->objects.count});
	vec_push(&c->objects, object);
}

static struct generated_code *code_of_object(const struct generated_names *t, uint32_t object)
{
	uint32_t index;

	if (!map_get(&t->by_object, object, 0, &index))
		return NULL;
	return t->code.data[t->meanings.data[index].code];
}

/* The code of the process that first mapped the object. */
static struct generated_code *parent_code(struct generated_names *t, uint32_t object, int64_t pid)
{
	struct generated_code *c = code_of_object(t, object);

	if (c == NULL) {
		const struct process *p = process_table_find_late(t->processes, pid);

		c = p ? code_of(t, p) : add_code(t, pid);
		if (c->objects.count == 0)
			add_object(t, c, object);
	}
	c->is_parent = true;
	return c;
}

/* Reads the auxiliary vector of a process: its size, 0 if it cannot be read. */
static size_t read_auxv(int64_t pid, uint8_t *bytes, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/auxv", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, bytes, size) : 0;

	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

/*
 * For a process whose fork was not seen: if it runs what its parent ran when it forked, their
 * auxiliary vectors are the same; an exec makes a new one, with other random addresses.
 */
static struct generated_code *older_parent(
	struct generated_names *t, const struct generated_code *c)
{
	const struct process *p =
		c->parent_pid > 0 ? process_table_find(t->processes, c->parent_pid) : NULL;
	uint8_t own[1024], other[1024];
	size_t size = p ? read_auxv(c->pid, own, sizeof(own)) : 0;

	if (size == 0 || read_auxv(c->parent_pid, other, sizeof(other)) != size ||
		memcmp(own, other, size) != 0)
		return NULL;
	struct generated_code *parent = code_of(t, p);

	parent->is_parent = true;
	return parent;
}

/* The code of the process, which has a mapping of the object. */
static struct generated_code *meet(
	struct generated_names *t, const struct process *p, uint32_t object)
{
	size_t before = t->code.count;
	struct generated_code *c = code_of(t, p);
	int64_t pid = object_table_info(t->objects, object).pid;

	if (pid != p->pid && c->parent == NULL)
		c->parent = parent_code(t, object, pid);
	if (pid == p->pid && p->is_old && t->code.count != before)
		c->parent = older_parent(t, c);
	/* An earlier program of the process, or a process with the same pid, may have it. */
	if (pid == p->pid && c->objects.count == 0 && code_of_object(t, object) == NULL)
		add_object(t, c, object);
	return c;
}

/* ---- names ---- */

/* Which of the names at va the line is; line PERFMAP_NONE: unknown, taken as the last one. */
static uint32_t name_number(struct generated_code *c, uint64_t va, uint32_t line)
{
	uint32_t n = 0, last = PERFMAP_NONE;

	if (!map_get(&c->lines, va, LATEST, &n)) {
		map_put(&c->lines, va, LATEST, 0);
		map_put(&c->lines, va, 0, line);
		return 0;
	}
	(void)map_get(&c->lines, va, n, &last);
	if (line == PERFMAP_NONE || line == last)
		return n;
	if (last != PERFMAP_NONE) {
		/* The same function again. */
		if (str_equal(perfmap_name(c->map, line), perfmap_name(c->map, last)))
			return n;
		map_put(&c->lines, va, LATEST, ++n);
	}
	map_put(&c->lines, va, n, line);
	return n;
}

static uint32_t name_object(
	struct generated_names *t, struct generated_code *c, uint64_t va, uint32_t line)
{
	uint32_t n = name_number(c, va, line);

	while (c->objects.count <= n)
		add_object(t, c, object_table_generated(t->objects, c->pid));
	return c->objects.data[n];
}

uint32_t generated_names_object(struct generated_names *t, const struct process *p, uint32_t object,
	uint64_t va, uint64_t time_ns)
{
	struct generated_code *c = meet(t, p, object);
	uint32_t line = line_at(t, c, va, time_ns);

	if (line == PERFMAP_NONE && c->parent && c->parent != c) {
		uint32_t inherited = line_at(t, c->parent, va, time_ns);

		if (inherited != PERFMAP_NONE)
			return name_object(t, c->parent, va, inherited);
	}
	return name_object(t, c, va, line);
}

void generated_names_follow(struct generated_names *t, const struct process *p, uint32_t object)
{
	struct generated_code *c = meet(t, p, object);

	c->has_dump = true;
	(void)line_at(t, c, 0, 0);
}

/* The line of the n-th name at va; without one, the last one of the map. */
static uint32_t line_of(const struct generated_code *c, uint64_t va, uint32_t n)
{
	uint32_t line;

	if (map_get(&c->lines, va, n, &line) && line != PERFMAP_NONE)
		return line;
	return c->map ? perfmap_find_line(c->map, va) : PERFMAP_NONE;
}

bool generated_names_find(
	const struct generated_names *t, uint32_t object, uint64_t va, struct str *name)
{
	uint32_t index, n = 0;

	if (!map_get(&t->by_object, object, 0, &index) &&
		!map_get(&t->by_object, object_table_info(t->objects, object).origin, 0, &index))
		return false;
	const struct generated_code *c = t->code.data[t->meanings.data[index].code];

	n = t->meanings.data[index].number;
	uint32_t line = line_of(c, va, n);

	if (line == PERFMAP_NONE && c->parent && c->parent != c) {
		c = c->parent;
		line = line_of(c, va, 0);
	}
	if (line == PERFMAP_NONE)
		return false;
	*name = c->map ? perfmap_name(c->map, line) : c->names.data[line];
	return true;
}

/* ---- ends ---- */

/* Keeps only the names that samples need. */
static void settle(struct generated_names *t, struct generated_code *c)
{
	c->arena = arena_create();
	for (size_t i = 0; i < c->lines.capacity; i++) {
		struct map_slot *slot = &c->lines.slots[i];

		if (!slot->used || slot->key[1] == LATEST)
			continue;
		uint32_t line = line_of(c, slot->key[0], (uint32_t)slot->key[1]);

		slot->value = line == PERFMAP_NONE ? line : (uint32_t)c->names.count;
		if (line != PERFMAP_NONE)
			vec_push(&c->names, arena_str(c->arena, perfmap_name(c->map, line)));
	}
	c->bad_lines = perfmap_bad_lines(c->map);
	perfmap_close(c->map);
	c->map = NULL;
	weigh(t, c);
}

/* The program has ended, before that time. */
static void end_code(struct generated_names *t, struct generated_code *c, uint64_t before_ns)
{
	if (c->is_over)
		return;
	look(t, c, UINT64_MAX, before_ns);
	c->is_over = true;
	close_places(c);
	if (c->map == NULL)
		return;
	c->had_map = true;
	perfmap_end(c->map, clock_monotonic_ns());
	perfmap_advance(c->map, UINT64_MAX);
	if (!c->is_parent && !c->has_dump)
		settle(t, c);
}

static void end_program(
	struct generated_names *t, const struct process *p, uint32_t programs, uint64_t before_ns)
{
	uint32_t index;

	if (map_get(&t->by_program, p->number, programs, &index))
		end_code(t, t->code.data[index], before_ns);
}

static void on_end(void *context, struct thread *thread, uint64_t time_ns)
{
	struct generated_names *t = context;
	const struct process *p = process_table_find_late(t->processes, thread->pid);

	(void)time_ns;
	if (p && p->is_over && p->number == thread->process)
		end_program(t, p, p->programs, UINT64_MAX);
}

static void on_exec(void *context, struct thread *thread, uint64_t time_ns)
{
	struct generated_names *t = context;
	const struct process *p = process_table_find_late(t->processes, thread->pid);

	if (p && p->programs)
		end_program(t, p, p->programs - 1, time_ns);
}

void generated_names_finish(struct generated_names *t)
{
	for (size_t i = 0; i < t->code.count; i++) {
		struct generated_code *c = t->code.data[i];

		if (c->is_over)
			continue;
		look(t, c, UINT64_MAX, UINT64_MAX);
		if (c->map)
			perfmap_advance(c->map, UINT64_MAX);
	}
}

struct generated_counts generated_names_counts(const struct generated_names *t)
{
	struct generated_counts counts = {.unsure = t->unsure};

	for (size_t i = 0; i < t->code.count; i++) {
		const struct generated_code *c = t->code.data[i];
		bool had_map = c->map || c->had_map;

		counts.bad_lines += c->map ? perfmap_bad_lines(c->map) : c->bad_lines;
		counts.old_maps += !had_map && c->refusal == REFUSED_OLD;
		counts.other_maps += !had_map && c->refusal == REFUSED_OTHER;
		counts.cut_maps += c->is_unread;
	}
	return counts;
}

void generated_names_init(
	struct generated_names *t, struct object_table *objects, struct process_table *processes)
{
	*t = (struct generated_names){.objects = objects, .processes = processes};
	process_table_hook(processes,
		&(struct process_hooks){.execed = on_exec, .ended = on_end, .context = t});
}

void generated_names_deinit(struct generated_names *t)
{
	process_table_unhook(t->processes, t);
	for (size_t i = 0; i < t->code.count; i++) {
		struct generated_code *c = t->code.data[i];

		close_places(c);
		perfmap_close(c->map);
		arena_destroy(c->arena);
		map_deinit(&c->lines);
		vec_deinit(&c->objects);
		vec_deinit(&c->names);
		free(c);
	}
	vec_deinit(&t->code);
	vec_deinit(&t->meanings);
	map_deinit(&t->by_program);
	map_deinit(&t->by_object);
}
