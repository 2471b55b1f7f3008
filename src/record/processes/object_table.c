/*
 * The registry of load objects.  A file's identity is its path and its build ID; without a build
 * ID, its path, device, inode and time of last change.  The build ID is read once for each of these
 * (mapped_file.h), so that a file that many processes map is opened, but not read again.
 */
#include "record/processes/object_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/cfi.h"
#include "obj/jitdump.h"
#include "obj/kernel_file.h"
#include "obj/objfile.h"
#include "obj/vdso.h"
#include "perfstream/jit.h"
#include "record/processes/generated_names.h"
#include "record/processes/mapped_file.h"

enum object_state {
	OBJECT_UNTRIED,
	OBJECT_OPEN,
	OBJECT_CLOSED, /* it cannot be opened, or is not a regular file */
};

struct load_object {
	enum capture_object_kind kind;
	enum object_state state;
	bool is_vdso;
	int fd; /* -1: none */
	int64_t pid;
	struct str path, build_id; /* in the arena */
	char fd_path[32];	   /* /proc/self/fd/N; empty: fd is -1 */
	uint64_t begin_ns;	   /* of a generation, whose fd_path is its jitdump's */
	bool is_rewritten;	   /* the file has been written to since it was mapped */
	struct timespec changed;   /* when the file's contents last changed before that */
	uint32_t origin;	   /* of a generation */
	struct objfile *file;
	struct cfi_table *cfi;
};

/* A file that was mapped, as it was then. */
struct known_file {
	uint32_t object;
	struct timespec changed;
};

struct object_table {
	struct arena *arena;
	struct str_table keys; /* the number of a key is its object's */
	VEC(struct load_object) objects;
	struct str_table file_keys; /* path, device and inode: the number of a key is its file's */
	VEC(struct known_file) files;
	struct map jitdumps; /* by pid: the object that is the jitdump */
	struct capture_writer *writer;
};

struct object_table *object_table_create(struct capture_writer *writer)
{
	struct object_table *t = xalloc(sizeof(*t));

	t->arena = arena_create();
	t->writer = writer;
	str_table_init(&t->keys, t->arena);
	str_table_init(&t->file_keys, t->arena);
	return t;
}

static void object_deinit(struct load_object *o)
{
	cfi_table_destroy(o->cfi);
	objfile_close(o->file);
	if (o->fd >= 0)
		close(o->fd);
}

void object_table_destroy(struct object_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->objects.count; i++)
		object_deinit(&t->objects.data[i]);
	vec_deinit(&t->objects);
	vec_deinit(&t->files);
	str_table_deinit(&t->keys);
	str_table_deinit(&t->file_keys);
	map_deinit(&t->jitdumps);
	arena_destroy(t->arena);
	free(t);
}

static void set_fd(struct load_object *o, int fd)
{
	o->fd = fd;
	if (fd >= 0)
		snprintf(o->fd_path, sizeof(o->fd_path), "/proc/self/fd/%d", fd);
}

/* Adds an object and writes it to the file; key must be new. */
static uint32_t object_add(struct object_table *t, struct str key, struct load_object o)
{
	uint32_t number = str_table_intern(&t->keys, key);

	o.path = arena_str(t->arena, o.path);
	o.build_id = arena_str(t->arena, o.build_id);
	set_fd(&o, o.fd);
	vec_push(&t->objects, o);
	if (t->writer)
		capture_writer_object(t->writer, number, o.path, o.build_id, o.kind);
	return number;
}

/* ---- identity ---- */

static struct objfile *open_objfile(const char *path)
{
	struct objfile *file = NULL;

	error_destroy(objfile_open(path, &file));
	return file;
}

/* A memfd may contain a library, or code made at run time. */
static bool is_memfd(struct str path)
{
	return str_starts_with(path, STR("/memfd:"));
}

static uint32_t add_anonymous(struct object_table *t, struct str key, int64_t pid)
{
	return object_add(t, key,
		(struct load_object){.kind = CAPTURE_OBJECT_JIT,
			.state = OBJECT_CLOSED,
			.pid = pid,
			.path = STR("[anon]"),
			.fd = -1});
}

/* Code without a file: one object per process, as its addresses are meaningless elsewhere. */
static uint32_t mapped_anonymous(struct object_table *t, const struct object_origin *origin)
{
	char key[48];
	uint32_t number;

	snprintf(key, sizeof(key), "[anon]\n%" PRId64, origin->pid);
	if (str_table_find(&t->keys, str_from(key), &number))
		return number;
	return add_anonymous(t, str_from(key), origin->pid);
}

/* Looks for a build ID that is in the file's sections only. */
static struct objfile *look_in_sections(struct mapped_file *file)
{
	char fd_path[32];

	if (file->fd < 0 || !file->is_elf || file->build_id[0] || file->is_rewritten)
		return NULL;
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", file->fd);
	struct objfile *opened = open_objfile(fd_path);

	if (opened)
		snprintf(file->build_id, sizeof(file->build_id), "%.*s",
			STR_ARG(objfile_build_id(opened)));
	return opened;
}

/* The key of an object. */
static char *file_key(const struct object_origin *origin, const struct mapped_file *file)
{
	if (file->build_id[0])
		return xasprintf("%.*s\n%s", STR_ARG(origin->path), file->build_id);
	return xasprintf("%.*s\n%" PRIx64 ":%" PRIu64 " %lld.%09ld%s", STR_ARG(origin->path),
		origin->device, origin->inode, (long long)file->changed.tv_sec,
		file->changed.tv_nsec, file->is_rewritten ? " rewritten" : "");
}

/* The object of a file that was not known, or had other contents.  Takes the descriptor. */
static uint32_t add_file(
	struct object_table *t, const struct object_origin *origin, struct mapped_file *file)
{
	uint32_t number;

	mapped_file_identify(origin, file);
	if (!file->is_elf && is_memfd(origin->path)) {
		mapped_file_close(file);
		return mapped_anonymous(t, origin);
	}
	if (file->is_rewritten)
		file->build_id[0] = '\0';
	struct objfile *opened = look_in_sections(file);
	char *key = file_key(origin, file);

	if (!str_table_find(&t->keys, str_from(key), &number)) {
		number = object_add(t, str_from(key),
			(struct load_object){.kind = CAPTURE_OBJECT_USER,
				.pid = origin->pid,
				.path = origin->path,
				.build_id = str_from(file->build_id),
				.file = opened,
				.fd = file->fd,
				.is_rewritten = file->is_rewritten,
				.changed = file->changed});
	} else {
		struct load_object *o = &t->objects.data[number];

		objfile_close(opened);
		if (o->fd < 0 && file->fd >= 0)
			set_fd(o, file->fd);
		else
			mapped_file_close(file);
	}
	free(key);
	return number;
}

/*
 * A file that cannot be opened, as its process is gone, is the one with that inode that another
 * process has mapped.
 */
static bool is_known(const struct known_file *known, const struct mapped_file *file)
{
	return file->fd < 0 ||
	       (!file->is_rewritten && known->changed.tv_sec == file->changed.tv_sec &&
		       known->changed.tv_nsec == file->changed.tv_nsec);
}

static uint32_t mapped_as_file(struct object_table *t, const struct object_origin *origin)
{
	char *key = xasprintf(
		"%.*s\n%" PRIx64 ":%" PRIu64, STR_ARG(origin->path), origin->device, origin->inode);
	uint32_t place = str_table_intern(&t->file_keys, str_from(key));
	bool is_new = place == t->files.count;
	struct mapped_file file;

	free(key);
	mapped_file_open(origin, &file);
	if (is_new)
		vec_push(&t->files, (struct known_file){0});
	else if (is_known(&t->files.data[place], &file)) {
		mapped_file_close(&file);
		return t->files.data[place].object;
	}
	uint32_t object = add_file(t, origin, &file);

	t->files.data[place] = (struct known_file){object, file.changed};
	return object;
}

static uint32_t mapped_vdso(struct object_table *t, const struct object_origin *origin)
{
	build_id_text build_id;
	uint32_t number;

	if (str_table_find(&t->keys, origin->path, &number))
		return number;
	mapped_file_identify_vdso(build_id);
	return object_add(t, origin->path,
		(struct load_object){.kind = CAPTURE_OBJECT_USER,
			.path = origin->path,
			.build_id = str_from(build_id),
			.is_vdso = true,
			.fd = -1});
}

static bool path_is_file(struct str path)
{
	return path.size > 1 && path.data[0] == '/' && path.data[1] != '/' &&
	       !str_starts_with(path, STR("/dev/zero")) && !str_starts_with(path, STR("/SYSV"));
}

static uint32_t mapped_jitdump(struct object_table *t, const struct object_origin *origin)
{
	uint32_t object = mapped_as_file(t, origin);

	map_put(&t->jitdumps, (uint64_t)origin->pid, 0, object);
	return object;
}

uint32_t object_table_mapped(struct object_table *t, const struct object_origin *origin)
{
	if (str_equal(origin->path, STR("[vdso]")))
		return mapped_vdso(t, origin);
	if (jitdump_is_path(origin->path))
		return mapped_jitdump(t, origin);
	if (path_is_file(origin->path))
		return mapped_as_file(t, origin);
	return mapped_anonymous(t, origin);
}

uint32_t object_table_named(struct object_table *t, enum capture_object_kind kind, struct str name)
{
	uint32_t number;

	if (str_table_find(&t->keys, name, &number))
		return number;
	return object_add(t, name,
		(struct load_object){.kind = kind, .state = OBJECT_CLOSED, .path = name, .fd = -1});
}

uint32_t object_table_kernel(struct object_table *t, const struct object_kernel *kernel)
{
	uint32_t number;

	if (str_table_find(&t->keys, kernel->name, &number))
		return number;
	number = object_add(t, kernel->name,
		(struct load_object){.kind = CAPTURE_OBJECT_KERNEL,
			.state = OBJECT_CLOSED,
			.path = kernel->name,
			.build_id = kernel->build_id,
			.fd = -1});
	for (size_t i = 0; t->writer && i < kernel->mark_count; i++)
		capture_writer_mark(t->writer, number, kernel->marks[i].name, kernel->marks[i].va);
	return number;
}

/* ---- code made at run time ---- */

bool object_table_is_jit(const struct object_table *t, uint32_t object)
{
	return t->objects.data[object].kind == CAPTURE_OBJECT_JIT;
}

struct str object_table_jitdump(const struct object_table *t, uint32_t object)
{
	const struct load_object *o = &t->objects.data[object];
	uint32_t dump;

	if (o->kind != CAPTURE_OBJECT_JIT || !map_get(&t->jitdumps, (uint64_t)o->pid, 0, &dump))
		return STR("");
	return str_from(t->objects.data[dump].fd_path);
}

uint32_t object_table_generation(struct object_table *t, uint32_t object, uint64_t begin_ns)
{
	struct load_object o = t->objects.data[object];
	struct str dump = object_table_jitdump(t, object);
	char *key = xasprintf("[anon]\n%" PRId64 " %" PRIu64, o.pid, begin_ns);
	uint32_t number;

	if (!str_table_find(&t->keys, str_from(key), &number)) {
		o.begin_ns = begin_ns;
		o.origin = object;
		snprintf(o.fd_path, sizeof(o.fd_path), "%.*s", STR_ARG(dump));
		number = object_add(t, str_from(key), o);
	}
	free(key);
	return number;
}

uint32_t object_table_generated(struct object_table *t, int64_t pid)
{
	char key[64];

	snprintf(key, sizeof(key), "[anon]\n%" PRId64 " #%zu", pid, t->objects.count);
	return add_anonymous(t, str_from(key), pid);
}

/* ---- reading objects ---- */

/* All 64-bit programs have the same vdso as ours. */
static struct objfile *open_vdso(void)
{
	struct objfile *file = NULL;
	struct str bytes;

	if (vdso_bytes(&bytes))
		error_destroy(objfile_open_memory(bytes.data, bytes.size, "[vdso]", &file));
	return file;
}

static struct objfile *load_object_file(const struct load_object *o)
{
	if (o->is_vdso)
		return open_vdso();
	return o->fd >= 0 ? open_objfile(o->fd_path) : NULL;
}

bool object_table_is_replaced(const struct object_table *t, uint32_t object)
{
	const struct load_object *o = &t->objects.data[object];

	return o->kind == CAPTURE_OBJECT_USER &&
	       (o->is_rewritten || (o->fd >= 0 && mapped_file_has_changed(o->fd, &o->changed)));
}

static bool is_what_was_mapped(const struct object_table *t, uint32_t object)
{
	const struct load_object *o = &t->objects.data[object];

	if (o->build_id.size > 0)
		return str_equal(o->build_id, objfile_build_id(o->file));
	return !object_table_is_replaced(t, object);
}

bool object_table_open(struct object_table *t, uint32_t object)
{
	struct load_object *o = &t->objects.data[object];

	if (o->state != OBJECT_UNTRIED)
		return o->state == OBJECT_OPEN;
	o->state = OBJECT_CLOSED;
	if (!o->file)
		o->file = load_object_file(o);
	if (!o->file || !is_what_was_mapped(t, object))
		return false;
	o->state = OBJECT_OPEN;
	/* Without rules, the walker can still use its heuristics. */
	o->cfi = objfile_open_cfi(o->file);
	return true;
}

void object_table_free_rules(struct object_table *t)
{
	for (size_t i = 0; i < t->objects.count; i++) {
		cfi_table_destroy(t->objects.data[i].cfi);
		t->objects.data[i].cfi = NULL;
	}
}

struct cfi_table *object_table_cfi(const struct object_table *t, uint32_t object)
{
	return t->objects.data[object].cfi;
}

uint64_t object_table_slide(
	const struct object_table *t, uint32_t object, uint64_t va, uint64_t file_off)
{
	const struct load_object *o = &t->objects.data[object];
	uint64_t slide;

	if (o->kind == CAPTURE_OBJECT_JIT)
		return 0;
	if (o->state == OBJECT_OPEN && objfile_slide(o->file, va, file_off, &slide))
		return slide;
	return va - file_off;
}

bool object_table_read(const struct object_table *t, uint32_t object, uint64_t file_off,
	uint8_t *bytes, size_t size)
{
	int fd = t->objects.data[object].fd;

	return fd >= 0 && pread(fd, bytes, size, (off_t)file_off) == (ssize_t)size;
}

bool object_table_read_code(const struct object_table *t, uint32_t object, uint64_t obj_addr,
	uint8_t *bytes, size_t size)
{
	const struct load_object *o = &t->objects.data[object];

	if (o->state != OBJECT_OPEN)
		return false;
	for (size_t i = 0; i < objfile_segment_count(o->file); i++) {
		struct objfile_segment segment = objfile_segment(o->file, i);
		uint64_t off = obj_addr - segment.obj_addr;

		if (off < segment.file_size && segment.file_size - off >= size)
			return object_table_read(t, object, segment.file_off + off, bytes, size);
	}
	return false;
}

size_t object_table_count(const struct object_table *t)
{
	return t->objects.count;
}

struct object_info object_table_info(const struct object_table *t, uint32_t object)
{
	const struct load_object *o = &t->objects.data[object];

	return (struct object_info){.path = o->path,
		.open_path = str_from(o->fd_path),
		.build_id = o->build_id,
		.kind = o->kind,
		.pid = o->pid,
		.begin_ns = o->begin_ns,
		.origin = o->begin_ns ? o->origin : object};
}

/* ---- generations of code ---- */

/*
 * The jitdump is read as it grows, as records of where and when code was loaded.  A generation ends
 * when code replaces other code.  Some programs write the jitdump late.  To distinguish code at one
 * address even then, a generation lasts at most GENERATION_MAX.
 *
 * When a later sample reuses a stack's outer frames, these keep their objects: their code cannot
 * have changed while it was on the stack.
 */

#define GENERATION_MAX UINT64_C(1000000000)
#define GENERATION_MIN UINT64_C(5000000)
/*
 * At most this many records are read per sample, which takes about 50 ms; the next sample reads the
 * next ones.
 */
enum { RECORDS_MAX = 1 << 16 };

struct jit_code {
	char path[32]; /* of the dump */
	struct perfstream_jit jit;
	uint64_t read_ns; /* it was read up to this time */
	uint64_t turns;	  /* of jit at the last call of jit_table_has_turned */
};

void jit_table_init(
	struct jit_table *t, struct object_table *objects, struct generated_names *names)
{
	*t = (struct jit_table){.objects = objects, .names = names};
}

void jit_table_deinit(struct jit_table *t)
{
	for (size_t i = 0; i < t->code.count; i++) {
		perfstream_jit_deinit(&t->code.data[i]->jit);
		free(t->code.data[i]);
	}
	vec_deinit(&t->code);
	map_deinit(&t->by_object);
}

static struct jit_code *code_of(struct jit_table *t, uint32_t object)
{
	bool added;
	uint32_t *place = map_at(&t->by_object, object, 0, (uint32_t)t->code.count, &added);

	if (added) {
		struct jit_code *c = xalloc(sizeof(*c));
		perfstream_jit_init(&c->jit);
		vec_push(&t->code, c);
	}
	return t->code.data[*place];
}

/* It is another file: the process now runs another program. */
static void open_dump(struct jit_table *t, struct jit_code *c, struct str path)
{
	t->bad_before += perfstream_jit_bad_records(&c->jit);
	perfstream_jit_deinit(&c->jit);
	*c = (struct jit_code){0};
	memcpy(c->path, path.data, path.size);
	perfstream_jit_init(&c->jit);
	perfstream_jit_open(&c->jit, c->path, GENERATION_MIN);
}

/* The code of an object as in the dump up to a time; NULL: no dump. */
static struct jit_code *code_at(struct jit_table *t, uint32_t object, uint64_t time_ns)
{
	struct str path = object_table_jitdump(t->objects, object);

	if (path.size == 0 || path.size >= sizeof(((struct jit_code *)NULL)->path))
		return NULL;
	struct jit_code *c = code_of(t, object);

	if (!str_equal(str_from(c->path), path))
		open_dump(t, c, path);
	if (c->jit.fd < 0)
		return NULL;
	if (time_ns != c->read_ns)
		perfstream_jit_read(&c->jit, RECORDS_MAX);
	c->read_ns = time_ns;
	return c;
}

uint32_t jit_table_object(struct jit_table *t, const struct process *p, uint32_t object,
	uint64_t va, uint64_t time_ns)
{
	const struct jit_code *c = code_at(t, object, time_ns);

	if (!c)
		return t->names ? generated_names_object(t->names, p, object, va, time_ns) : object;
	if (t->names)
		generated_names_follow(t->names, p, object);
	uint64_t begin_ns =
		perfstream_jit_begin_ns(&c->jit, perfstream_jit_epoch(&c->jit, time_ns));
	uint64_t slot_ns = time_ns - time_ns % GENERATION_MAX;

	return object_table_generation(t->objects, object, begin_ns > slot_ns ? begin_ns : slot_ns);
}

bool jit_table_has_turned(struct jit_table *t, uint32_t object, uint64_t time_ns)
{
	struct jit_code *c = code_at(t, object, time_ns);

	if (!c || c->turns == c->jit.turns)
		return false;
	c->turns = c->jit.turns;
	return true;
}

bool jit_table_rule(
	struct jit_table *t, uint32_t object, uint64_t va, uint64_t time_ns, struct cfi_rule *rule)
{
	struct jit_code *c = code_at(t, object, time_ns);

	return c && perfstream_jit_rule(&c->jit, va, time_ns, rule);
}

uint64_t jit_table_bad_records(const struct jit_table *t)
{
	uint64_t bad = t->bad_before;

	for (size_t i = 0; i < t->code.count; i++)
		bad += perfstream_jit_bad_records(&t->code.data[i]->jit);
	return bad;
}
