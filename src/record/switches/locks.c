/*
 * Locks.  A futex is a word of the process's memory, so its address is that of the lock, or of the
 * part of it that threads wait on.  Its name is that of the variable that contains it; other memory
 * is named by address and kind.  Load objects are opened once, and a process's mappings are read at
 * most twice a second: a server may have a lock for each of its connections.
 *
 * The holder is read from memory a moment after the thread began to wait, and counts if the thread
 * was still waiting then.  Its place depends on the kind of lock:
 *
 * 	PI and robust mutexes, musl's	in the word itself, with two flags (futex(2),
 * 					FUTEX_TID_MASK)
 * 	glibc's other mutexes		two words after it, which is 2 while somebody waits
 * 					(struct __pthread_mutex_s: __lock, __count, __owner)
 *
 * The value must be the id of a thread of the process.  Other locks do not store it: reader-writer
 * locks have many holders, condition variables none.
 */
#include "record/switches/locks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/alloc.h"
#include "base/process_file.h"
#include "base/clock.h"
#include "base/search.h"
#include "obj/data_symbols.h"
#include "obj/debugfile.h"
#include "obj/demangle.h"
#include "obj/kallsyms.h"
#include "obj/objfile.h"
#include "record/processes/proc.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* The system call is within this many frames from the outer end of the kernel stack. */
#define CALL_DEPTH 6
/* Mappings are reread after this time. */
#define REGIONS_NS (SECOND_NS / 2)
/* The state of a glibc mutex with waiters. */
#define GLIBC_WAITED 2

static const struct lock_wait no_lock = {SAMPLE_LABELS_NONE, SAMPLE_LABELS_NONE, 0};

void locks_init(struct locks *l, struct process_table *processes, struct sample_labels *labels)
{
	struct error *err;

	*l = (struct locks){.processes = processes, .labels = labels, .arena = arena_create()};
	str_table_init(&l->paths, l->arena);
	err = kallsyms_open(NULL, &l->kernel);
	if (!err && kallsyms_are_hidden(l->kernel)) {
		kallsyms_close(l->kernel);
		l->kernel = NULL;
	}
	error_destroy(err);
}

void locks_forget(struct locks *l)
{
	map_deinit(&l->names);
	map_deinit(&l->spaces);
	l->names = l->spaces = (struct map){0};
	l->regions.count = 0;
}

bool locks_know_kernel(const struct locks *l)
{
	return l->kernel;
}

/* ---- load objects ---- */

static struct lock_object *object_of(struct locks *l, int64_t pid, const struct lock_region *region)
{
	for (size_t i = 0; i < l->objects.count; i++)
		if (l->objects.data[i].path == region->path &&
			l->objects.data[i].inode == region->inode)
			return &l->objects.data[i];
	struct lock_object object = {.path = region->path, .inode = region->inode};
	char *path =
		xasprintf("/proc/%" PRId64 "/root%s", pid, l->paths.strings[region->path].data);
	struct debugfile_places places = {
		.object_path = str_from(path), .debug_directory = "/usr/lib/debug"};
	char *problem = NULL;

	int fd = process_file_open(
		pid, l->paths.strings[region->path].data, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	char *opened = xasprintf("/proc/self/fd/%d", fd);

	if (fd >= 0)
		error_destroy(objfile_open(opened, &object.file));
	if (object.file) {
		object.debug = debugfile_open(object.file, &places, &problem);
		data_symbols_init(&object.symbols, object.file, object.debug);
	}
	if (fd >= 0)
		close(fd);
	free(problem);
	free(opened);
	free(path);
	vec_push(&l->objects, object);
	return &l->objects.data[l->objects.count - 1];
}

static void deinit_objects(struct locks *l)
{
	for (size_t i = 0; i < l->objects.count; i++) {
		struct lock_object *o = &l->objects.data[i];

		data_symbols_deinit(&o->symbols);
		if (o->debug)
			objfile_close(o->debug);
		if (o->file)
			objfile_close(o->file);
	}
	vec_deinit(&l->objects);
}

void locks_deinit(struct locks *l)
{
	if (!l->arena)
		return;
	if (l->kernel)
		kallsyms_close(l->kernel);
	map_deinit(&l->calls);
	locks_forget(l);
	vec_deinit(&l->regions);
	deinit_objects(l);
	str_table_deinit(&l->paths);
	arena_destroy(l->arena);
}

/* Whether the address is in the object's segments, including zeroed data. */
static bool is_in_data(const struct objfile *file, uint64_t obj_addr)
{
	for (size_t i = 0; i < objfile_segment_count(file); i++) {
		struct objfile_segment s = objfile_segment(file, i);

		if (obj_addr >= s.obj_addr && obj_addr - s.obj_addr < s.memory_size)
			return true;
	}
	return false;
}

/* ---- regions ---- */

static void add_region(void *context, const struct maps_line *line)
{
	struct locks *l = context;

	vec_push(&l->regions, (struct lock_region){.low_va = line->low_va,
				      .high_va = line->high_va,
				      .file_off = line->file_off,
				      .inode = line->inode,
				      .path = str_table_intern(&l->paths, line->path)});
}

/* Reads a process's regions, unless that was done recently. */
static void look_at_regions(struct locks *l, const struct thread *thread)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (l->regions.count && l->regions_of == thread->process &&
		now_ns < l->regions_ns + REGIONS_NS)
		return;
	l->regions.count = 0;
	l->regions_of = thread->process;
	l->regions_ns = now_ns;
	maps_read(thread->pid, add_region, l);
}

static bool is_file(const struct locks *l, const struct lock_region *region)
{
	return str_starts_with(l->paths.strings[region->path], STR("/"));
}

/* ---- names ---- */

static void put_variable(struct strbuf *out, const struct lock_object *object, uint64_t obj_addr)
{
	const struct data_symbol *symbol = data_symbols_find(&object->symbols, obj_addr);

	if (!symbol) {
		strbuf_printf(out, "0x%" PRIx64, obj_addr);
		return;
	}
	struct demangler *d = demangler_create();

	strbuf_add(out, demangle(d, symbol->name));
	demangler_destroy(d);
	if (obj_addr > symbol->low)
		strbuf_printf(out, "+0x%" PRIx64, obj_addr - symbol->low);
}

/* Appends "NAME [MODULE]" if va is in the data of the load object mapped there. */
static bool put_static(struct locks *l, struct strbuf *out, int64_t pid,
	const struct lock_region *region, uint64_t va)
{
	const struct lock_object *object = object_of(l, pid, region);
	uint64_t slide;

	if (!object->file ||
		!objfile_slide(object->file, region->low_va, region->file_off, &slide) ||
		!is_in_data(object->file, va - slide))
		return false;
	put_variable(out, object, va - slide);
	strbuf_printf(out, " [%s]", strrchr(l->paths.strings[region->path].data, '/') + 1);
	return true;
}

static void put_name(struct locks *l, struct strbuf *out, const struct thread *thread, uint64_t va)
{
	look_at_regions(l, thread);
	size_t after = partition_point(i, 0, l->regions.count, l->regions.data[i].low_va <= va);
	const struct lock_region *at = after ? &l->regions.data[after - 1] : NULL, *file = at;

	/* Zero-initialised variables are after the file's last mapping, in anonymous memory. */
	if (file && !is_file(l, file) && after > 1)
		file--;
	if (file && is_file(l, file) && put_static(l, out, thread->pid, file, va))
		return;
	struct str kind = at && va < at->high_va ? l->paths.strings[at->path] : STR("");

	strbuf_printf(out, "0x%" PRIx64 " %.*s", va,
		STR_ARG(str_starts_with(kind, STR("[")) ? kind : STR("[anon]")));
}

static uint32_t name_of(struct locks *l, const struct thread *thread, uint64_t va)
{
	bool is_new;
	uint32_t *known = map_at(&l->names, thread->process, va, 0, &is_new);
	struct strbuf name = {0};

	if (is_new) {
		put_name(l, &name, thread, va);
		*known = sample_labels_name(l->labels, strbuf_str(&name));
		strbuf_deinit(&name);
	}
	return *known;
}

/* ---- who holds it ---- */

/* In a container, thread ids differ from ours. */
static bool has_our_ids(struct locks *l, const struct thread *thread)
{
	char path[64], theirs[64], ours[64];
	bool is_new;
	uint32_t *is_ours = map_at(&l->spaces, thread->process, 0, 0, &is_new);

	if (!is_new)
		return *is_ours;
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/ns/pid", thread->pid);
	ssize_t size = readlink(path, theirs, sizeof(theirs));

	*is_ours = size > 0 && size == readlink("/proc/self/ns/pid", ours, sizeof(ours)) &&
		   memcmp(theirs, ours, (size_t)size) == 0;
	return *is_ours;
}

/* The id of the holder, from the words at the futex and after it; 0: unknown. */
static uint32_t holder_in(const uint32_t words[3], uint32_t operation, uint32_t expected)
{
	bool is_pi = operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;

	if (is_pi || expected & FUTEX_WAITERS)
		return words[0] & FUTEX_TID_MASK;
	if (expected == GLIBC_WAITED && words[0] == GLIBC_WAITED)
		return words[2];
	return 0;
}

static uint32_t holder_of(struct locks *l, const struct thread *thread, uint64_t va,
	uint32_t operation, uint32_t expected)
{
	uint32_t words[3] = {0};
	struct iovec local = {words, sizeof(words)},
		     remote = {(void *)(uintptr_t)va, sizeof(words)};

	if (!has_our_ids(l, thread) || process_vm_readv((pid_t)thread->pid, &local, 1, &remote, 1,
					       0) < (ssize_t)sizeof(*words))
		return SAMPLE_LABELS_NONE;
	uint32_t tid = holder_in(words, operation, expected);
	const struct thread *holder = tid ? process_table_find_tid(l->processes, tid) : NULL;

	if (!holder || holder->pid != thread->pid || holder->is_over)
		return SAMPLE_LABELS_NONE;
	return sample_labels_thread(l->labels, str_from(holder->name), holder->tid, "");
}

static struct lock_wait look(struct locks *l, const struct thread *thread, uint64_t va,
	uint32_t operation, uint32_t expected)
{
	operation &= (uint32_t)FUTEX_CMD_MASK;
	if (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET &&
		operation != FUTEX_LOCK_PI && operation != FUTEX_LOCK_PI2 &&
		operation != FUTEX_WAIT_REQUEUE_PI)
		return no_lock;
	uint32_t holder = holder_of(l, thread, va, operation, expected);

	return (struct lock_wait){name_of(l, thread, va), holder, clock_monotonic_ns()};
}

/* ---- which call ---- */

static bool is_in_futex(struct locks *l, uint64_t va)
{
	static const char ending[] = "sys_futex";
	size_t size = sizeof(ending) - 1;
	struct kernel_symbol symbol;
	bool is_new;
	uint32_t *is_it = map_at(&l->calls, va, 0, 0, &is_new);

	if (is_new && kallsyms_find(l->kernel, va, &symbol))
		*is_it = symbol.name.size >= size &&
			 memcmp(symbol.name.data + symbol.name.size - size, ending, size) == 0;
	return *is_it;
}

/* Gets the arguments of a thread's current system call. */
static bool take_arguments(const struct unwind_regs *regs, uint64_t arguments[3])
{
	for (size_t i = 0; i < 3; i++) {
		uint8_t slot = arch_here()->syscall_arguments[i];

		if (slot == ARCH_REG_NONE || (regs->known >> slot & 1) == 0)
			return false;
		arguments[i] = regs->value[slot];
	}
	return true;
}

struct lock_wait locks_of_sample(
	struct locks *l, const struct thread *thread, const struct perf_sample *sample)
{
	uint64_t arguments[3];

	if (!l->kernel || !sample->has_user || !take_arguments(&sample->regs, arguments))
		return no_lock;
	for (size_t i = 0; i < CALL_DEPTH && i < sample->kernel_count; i++)
		if (is_in_futex(l, sample->kernel_chain[sample->kernel_count - 1 - i]))
			return look(l, thread, arguments[0], (uint32_t)arguments[1],
				(uint32_t)arguments[2]);
	return no_lock;
}

struct lock_wait locks_of_call(
	struct locks *l, const struct thread *thread, const struct blocked_call *call)
{
	if (call->number != SYS_futex)
		return no_lock;
	return look(l, thread, call->arguments[0], (uint32_t)call->arguments[1],
		(uint32_t)call->arguments[2]);
}
