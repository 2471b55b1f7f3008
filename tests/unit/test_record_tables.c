/*
 * The recorder's tables: stack tree, processes with their address spaces, kernel modules, the lines
 * of /proc/PID/maps, and stack memory read out of a live process (ourselves).
 */
#include "record/processes/process_table.h"

#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scratch.h"
#include "../unit.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "formats/sonde/layout/capture_chunk.h"
#include "formats/sonde/layout/capture_rows.h"
#include "record/file/capture_compact.h"
#include "record/processes/kernel_map.h"
#include "record/processes/object_table.h"
#include "record/processes/proc.h"
#include "record/stacks/stack_memory.h"
#include "record/stacks/stack_tree.h"

/* What all tables write to: a capture file that nobody reads. */
struct fixture {
	char path[64];
	struct capture_writer *writer;
	struct object_table *objects;
	struct process_table *processes;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	snprintf(f->path, sizeof(f->path), "test_record_tables.%d.prof", (int)getpid());
	assert_null(capture_writer_create(f->path, &f->writer));
	f->objects = object_table_create(f->writer);
	f->processes = process_table_create(f->writer, f->objects, 1000);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	process_table_destroy(f->processes);
	object_table_destroy(f->objects);
	capture_writer_abandon(f->writer);
	free(f);
	return 0;
}

/* ---- stack tree ---- */

static void test_tree_interns(void **state)
{
	struct fixture *f = *state;
	struct stack_tree t;

	stack_tree_init(&t, f->writer);
	object_table_named(f->objects, CAPTURE_OBJECT_UNKNOWN, STR("[a]"));
	object_table_named(f->objects, CAPTURE_OBJECT_UNKNOWN, STR("[b]"));
	uint32_t root = stack_tree_intern(&t, 0, 0, 10);
	uint32_t child = stack_tree_intern(&t, root, 0, 10);

	assert_int_equal(root, 1);
	assert_int_equal(child, 2);
	assert_int_equal(stack_tree_intern(&t, 0, 0, 10), root);
	assert_int_equal(stack_tree_intern(&t, root, 0, 10), child);
	assert_int_equal(stack_tree_intern(&t, root, 1, 10), 3);
	/* Growing changes no number. */
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(stack_tree_intern(&t, child, 0, 100 + i), 4 + i);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(stack_tree_intern(&t, child, 0, 100 + i), 4 + i);
	stack_tree_deinit(&t);
}

static void test_tree_addresses(void **state)
{
	struct fixture *f = *state;
	struct stack_addresses a;
	struct stack_tree t;

	stack_tree_init(&t, f->writer);
	for (int i = 0; i < 3; i++)
		object_table_named(f->objects, CAPTURE_OBJECT_UNKNOWN,
			i == 0	 ? STR("[a]")
			: i == 1 ? STR("[b]")
				 : STR("[c]"));
	stack_tree_intern(&t, stack_tree_intern(&t, 0, 2, 9), 2, 5);
	stack_tree_intern(&t, stack_tree_intern(&t, 0, 0, 7), 2, 5);
	stack_tree_addresses(&t, NULL, 3, &a);
	assert_int_equal(a.start[0], 0);
	assert_int_equal(a.start[1], 1);
	assert_int_equal(a.start[2], 1);
	assert_int_equal(a.start[3], 3);
	assert_int_equal(a.addresses[0], 7);
	assert_int_equal(a.addresses[1], 5);
	assert_int_equal(a.addresses[2], 9);
	stack_addresses_deinit(&a);
	/* Nodes are 1 to 4; 4 and its caller 3 are wanted, and what comes behind the list. */
	bool wanted[] = {false, false, false, false, true};
	stack_tree_intern(&t, 0, 1, 11);
	uint8_t *fates = stack_tree_fates(&t, wanted, ARRAY_SIZE(wanted));
	static const uint8_t expected[] = {CAPTURE_PASSES, CAPTURE_DROPS, CAPTURE_DROPS,
		CAPTURE_PASSES, CAPTURE_KEEPS, CAPTURE_KEEPS};
	assert_memory_equal(fates, expected, sizeof(expected));
	stack_tree_addresses(&t, fates, 3, &a);
	assert_int_equal(a.start[3], 3);
	assert_int_equal(a.addresses[0], 7);
	assert_int_equal(a.addresses[1], 11);
	assert_int_equal(a.addresses[2], 5);
	stack_addresses_deinit(&a);
	free(fates);
	stack_tree_deinit(&t);
}

/* ---- processes ---- */

static void map_anonymous(struct fixture *f, struct process *p, uint64_t low_va)
{
	struct object_origin origin = {
		.pid = p->pid,
		.path = STR("//anon"),
		.low_va = low_va,
		.high_va = low_va + 0x1000,
	};

	process_table_map(f->processes, p, &origin, low_va);
}

static void test_fork_copies_and_exec_clears(void **state)
{
	struct fixture *f = *state;
	struct process *parent = process_table_get(f->processes, 100, 2000);
	struct process *child;

	map_anonymous(f, parent, 0x1000);
	process_table_fork(f->processes, 101, 100, 101, 3000);
	child = process_table_find(f->processes, 101);
	assert_non_null(child);
	assert_int_equal(child->parent, parent->number);
	assert_non_null(unwind_space_find(&child->space, 0x1800));
	map_anonymous(f, child, 0x5000);
	assert_null(unwind_space_find(&parent->space, 0x5000));
	process_table_comm(f->processes, 101, 101, true, STR("a very long program name"), 4000);
	assert_string_equal(child->name, "a very long pro");
	assert_null(unwind_space_find(&child->space, 0x1800));
	assert_non_null(unwind_space_find(&parent->space, 0x1800));
}

static void test_pid_is_used_again(void **state)
{
	struct fixture *f = *state;

	process_table_fork(f->processes, 100, 1, 100, 2000);
	uint32_t first = process_table_find(f->processes, 100)->number;

	process_table_exit(f->processes, 100, 100, 5000);
	assert_null(process_table_find(f->processes, 100));
	process_table_fork(f->processes, 100, 1, 100, 3000);
	assert_int_not_equal(process_table_find(f->processes, 100)->number, first);
	/* Even if its exit was never told. */
	process_table_fork(f->processes, 100, 1, 100, 4000000);
	assert_int_equal(process_table_find(f->processes, 100)->start_ns, 4000000);
}

static void test_process_outlives_its_first_thread(void **state)
{
	struct fixture *f = *state;
	struct process *p;

	process_table_fork(f->processes, 100, 1, 100, 2000);
	process_table_fork(f->processes, 100, 100, 105, 2500);
	process_table_exit(f->processes, 100, 100, 5000);
	p = process_table_find(f->processes, 100);
	assert_non_null(p);
	assert_non_null(process_table_thread(f->processes, p, 105, 2600));
	process_table_exit(f->processes, 100, 105, 5000);
	assert_null(process_table_find(f->processes, 100));
	process_table_exit(f->processes, 100, 105, 5000); /* told twice: nothing happens */
	process_table_exit(f->processes, 100, 105, 1000000000);
}

/* The kernel reports an end before the last samples, which have no tid at the very end. */
static void test_late_records_belong_to_the_ended_thread(void **state)
{
	struct fixture *f = *state;
	struct process *p;
	struct thread *first, *second;

	process_table_fork(f->processes, 100, 1, 100, 2000);
	process_table_fork(f->processes, 100, 100, 105, 2500);
	p = process_table_find(f->processes, 100);
	first = process_table_thread(f->processes, p, 100, 2600);
	second = process_table_thread(f->processes, p, 105, 2600);
	process_table_exit(f->processes, 100, 100, 5000);
	assert_true(first->is_over);
	assert_ptr_equal(process_table_thread(f->processes, p, 100, 6000), first);
	assert_ptr_equal(process_table_thread(f->processes, p, -1, 6000), first);
	process_table_exit(f->processes, 100, 100, 6000); /* told twice: nothing happens */
	assert_int_equal(p->threads, 1);
	process_table_exit(f->processes, 100, 105, 7000);
	assert_true(p->is_over);
	assert_ptr_equal(process_table_thread(f->processes, p, 105, 8000), second);
	assert_ptr_equal(process_table_thread(f->processes, p, -1, 8000), second);
	assert_ptr_equal(process_table_thread(f->processes, p, 100, 8000), first);
	/* After some time, they are forgotten. */
	process_table_exit(f->processes, 999, 999, 1000000000);
	assert_null(process_table_find_late(f->processes, 100));
	assert_null(process_table_find_tid(f->processes, 100));
	assert_null(process_table_find_tid(f->processes, 105));
}

static void test_tid_is_used_again(void **state)
{
	struct fixture *f = *state;
	struct process *p;

	process_table_fork(f->processes, 100, 1, 100, 2000);
	process_table_fork(f->processes, 100, 100, 105, 2500);
	p = process_table_find(f->processes, 100);
	uint32_t number = process_table_thread(f->processes, p, 105, 2600)->number;

	process_table_exit(f->processes, 100, 105, 5000);
	process_table_fork(f->processes, 100, 100, 105, 1000000);
	struct thread *second = process_table_thread(f->processes, p, 105, 1000001);

	assert_int_not_equal(second->number, number);
	assert_false(second->is_over);
	assert_int_equal(p->threads, 2);
	/* The first one's grave does not take it. */
	process_table_exit(f->processes, 999, 999, 1000000000);
	process_table_fork(f->processes, 999, 1, 999, 2000000000);
	process_table_exit(f->processes, 999, 999, 2000000000);
	assert_ptr_equal(process_table_find_tid(f->processes, 105), second);
}

/* The thread that runs the program ends the others, and then has the tid of the first. */
static void test_exec_by_another_thread(void **state)
{
	struct fixture *f = *state;
	struct process *p;
	struct thread *thread;

	process_table_fork(f->processes, 100, 1, 100, 2000);
	process_table_fork(f->processes, 100, 100, 105, 2500);
	p = process_table_find(f->processes, 100);
	process_table_exit(f->processes, 100, 100, 5000);
	process_table_comm(f->processes, 100, 100, true, STR("other"), 6000);
	thread = process_table_thread(f->processes, p, 100, 7000);
	assert_false(thread->is_over);
	assert_string_equal(thread->name, "other");
}

static void test_threads_are_numbered_when_sampled(void **state)
{
	struct fixture *f = *state;
	struct process *p = process_table_get(f->processes, 100, 2000);
	struct thread *late = process_table_thread(f->processes, p, 107, 2000);

	process_table_fork(f->processes, 100, 100, 108, 2000);
	assert_int_equal(late->number, 0);
	assert_int_equal(process_table_thread(f->processes, p, 109, 2000)->number, 1);
	assert_int_equal(process_table_thread(f->processes, p, 107, 2000)->number, 0);
}

/* An end is reported before all work is done; what is sampled after it is of the same thread. */
static void test_the_dead_are_kept_for_a_while(void **state)
{
	struct fixture *f = *state;
	struct process *p;
	uint32_t number;

	process_table_fork(f->processes, 100, 1, 100, 2000);
	p = process_table_find(f->processes, 100);
	number = process_table_number(
		f->processes, process_table_thread(f->processes, p, 100, 3000));
	process_table_exit(f->processes, 100, 100, 5000);
	assert_null(process_table_find(f->processes, 100));
	assert_ptr_equal(process_table_find_late(f->processes, 100), p);
	assert_ptr_equal(process_table_get(f->processes, 100, 6000), p);
	assert_int_equal(process_table_thread(f->processes, p, 100, 6000)->number, number);
	/* Another's end, much later, lets them go. */
	process_table_fork(f->processes, 101, 1, 101, 7000);
	process_table_exit(f->processes, 101, 101, 900000000);
	assert_null(process_table_find_late(f->processes, 100));
	assert_non_null(process_table_find_late(f->processes, 101));
}

/* Two trackers report one fork. */
/* All that malloc has given out; 0: another allocator, of a sanitizer. */
static size_t held_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Each pid only once: what is kept of the dead is nothing. */
static void test_the_dead_take_no_memory(void **state)
{
	struct fixture *f = *state;
	uint64_t time_ns = 0;
	size_t some = 0;

	for (int64_t pid = 1000; pid < 101000; pid++, time_ns += 1000000) {
		process_table_fork(f->processes, pid, 1, pid, time_ns);
		process_table_fork(f->processes, pid, pid, pid + 1000000, time_ns);
		process_table_exit(f->processes, pid, pid + 1000000, time_ns + 100);
		process_table_exit(f->processes, pid, pid, time_ns + 200);
		if (pid % 1000 == 0)
			capture_writer_flush(f->writer, time_ns);
		if (pid == 11000)
			some = held_bytes();
	}
	assert_int_equal(process_table_process_total(f->processes), 100001);
	/* What is written is buffered. */
	if (some > 0)
		assert_in_range(held_bytes(), 0, some + (256 << 10));
}

static void test_a_fork_is_told_twice(void **state)
{
	struct fixture *f = *state;

	process_table_fork(f->processes, 100, 1, 100, 2000);
	uint32_t number = process_table_find(f->processes, 100)->number;

	process_table_fork(f->processes, 100, 1, 100, 2300);
	process_table_fork(f->processes, 100, 100, 105, 3000);
	process_table_fork(f->processes, 100, 100, 105, 3200);
	assert_int_equal(process_table_find(f->processes, 100)->number, number);
	assert_int_equal(process_table_find(f->processes, 100)->threads, 2);
}

/* Ourselves, as somebody who was there before. */
static void test_what_was_there_before_is_looked_up(void **state)
{
	struct fixture *f = *state;
	uint64_t now_ns = clock_monotonic_ns();
	struct process *p;

	process_table_expect_old(f->processes);
	process_table_adopt(f->processes, getppid(), getppid(), now_ns);
	process_table_adopt(f->processes, getpid(), getpid(), now_ns);
	p = process_table_find(f->processes, getpid());
	assert_non_null(p);
	assert_int_equal(p->parent, process_table_find(f->processes, getppid())->number);
	assert_string_equal(p->name, "test_record_tab");
	assert_true(p->start_ns <= now_ns && p->start_ns + SECOND_NS * 3600 > now_ns);
	assert_null(unwind_space_find(
		&p->space, (uint64_t)(uintptr_t)test_the_dead_are_kept_for_a_while));
	process_table_read_all_maps(f->processes, now_ns);
	assert_non_null(unwind_space_find(
		&p->space, (uint64_t)(uintptr_t)test_the_dead_are_kept_for_a_while));
	/* Its fork, told late, makes no other of it; it may have threads that we don't know. */
	process_table_fork(f->processes, getpid(), getppid(), getpid(), p->start_ns + 1000);
	assert_ptr_equal(process_table_find(f->processes, getpid()), p);
	process_table_exit(f->processes, getpid(), getpid() + 1, now_ns);
	assert_ptr_equal(process_table_find(f->processes, getpid()), p);
	process_table_exit(f->processes, getpid(), getpid(), now_ns);
	assert_null(process_table_find(f->processes, getpid()));
}

TEST(test_proc_stat)
{
	static const char text[] =
		"4711 (a) b (c) S 12 4711 4711 0 -1 4194560 9 8 7 6 250 50 1 2 20 0 3 0 1234 1 2";
	struct proc_stat stat;

	assert_true(proc_stat_parse(str_from(text), &stat));
	assert_int_equal(stat.pid, 4711);
	assert_int_equal(stat.parent, 12);
	assert_int_equal(stat.state, 'S');
	assert_string_equal(stat.name, "a) b (c");
	assert_false(stat.is_kernel);
	assert_int_equal(stat.threads, 3);
	assert_int_equal(stat.user_ns, 250 * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_int_equal(stat.system_ns, 50 * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_int_equal(stat.start_ns, 1234 * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_false(proc_stat_parse(STR("4711 (a b"), &stat));
	assert_false(proc_stat_parse(STR("4711 (a) S 1 2"), &stat));
	assert_false(proc_stat_parse(STR(""), &stat));
	assert_true(proc_stat_read(getpid(), getpid(), &stat));
	assert_int_equal(stat.parent, getppid());
	assert_false(proc_stat_read(getpid(), 1, &stat));
}

/* We and our child are found below our parent; we are left out, the child is not. */
TEST(test_tasks_of_a_family)
{
	pid_t root = getppid(), child = fork();
	task_vec tasks = {0};
	bool has_child = false, has_us = false, has_root = false;

	if (child == 0) {
		pause();
		_exit(0);
	}
	task_scan(&root, 1, &tasks);
	for (size_t i = 0; i < tasks.count; i++) {
		has_child |= tasks.data[i].pid == child && tasks.data[i].tid == child;
		has_us |= tasks.data[i].pid == getpid();
		has_root |= tasks.data[i].tid == root;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	vec_deinit(&tasks);
	assert_true(has_child);
	assert_false(has_us);
	assert_true(has_root);
}

static int first_slide(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(uint64_t *)context = info->dlpi_addr;
	return 1;
}

/* Our own maps: the mapping of this function gets the slide that the loader gave the program. */
static void test_maps_are_read_and_resolved(void **state)
{
	struct fixture *f = *state;
	struct process *p = process_table_get(f->processes, getpid(), 2000);
	uint64_t here = (uint64_t)(uintptr_t)test_maps_are_read_and_resolved, slide;
	const struct unwind_mapping *m;

	assert_true(process_table_read_maps(f->processes, p, 1));
	assert_false(process_table_read_maps(f->processes, p, 2)); /* not again at once */
	m = unwind_space_find(&p->space, here);
	assert_non_null(m);
	assert_true(m->object & UNWIND_PENDING);
	assert_true(process_table_resolve(f->processes, p, here, 2000));
	assert_false(process_table_resolve(f->processes, p, here, 2000));
	m = unwind_space_find(&p->space, here);
	dl_iterate_phdr(first_slide, &slide);
	assert_int_equal(m->slide, slide);
	assert_false(m->object & UNWIND_PENDING);
	assert_non_null(m->table);
	assert_int_equal(object_table_info(f->objects, m->object).kind, CAPTURE_OBJECT_USER);
}

/* ---- maps, modules ---- */

TEST(test_maps_lines)
{
	struct maps_line m;

	assert_true(
		maps_line_parse(STR("7f00-7f80 r-xp 00001000 fe:01 4711     /usr/lib/a b.so"), &m));
	assert_int_equal(m.low_va, 0x7f00);
	assert_int_equal(m.high_va, 0x7f80);
	assert_int_equal(m.file_off, 0x1000);
	assert_int_equal(m.device, 0xfe00000001);
	assert_int_equal(m.inode, 4711);
	assert_true(m.executable);
	assert_true(str_equal(m.path, STR("/usr/lib/a b.so")));
	assert_true(maps_line_parse(STR("1000-2000 rw-p 00000000 00:00 0"), &m));
	assert_false(m.executable);
	assert_int_equal(m.path.size, 0);
	assert_false(maps_line_parse(STR(""), &m));
	assert_false(maps_line_parse(STR("2000-1000 rw-p 00000000 00:00 0"), &m));
	assert_false(maps_line_parse(STR("nonsense"), &m));
}

/* A machine's /proc and /sys, with two modules; the second one's sections cannot be read. */
static bool make_kernel(const char *root)
{
	return scratch_run(root,
		"mkdir -p proc sys/kernel sys/module/ext4/notes sys/module/ext4/sections "
		"sys/module/loop/notes && "
		"printf 'ext4 8192 1 - Live 0xffffffffc0100000 (E)\\n"
		"nonsense\\nhidden 4096 0 - Live 0x0000000000000000\\n"
		"loop 4096 0 - Live 0xffffffffc0200000\\n' >proc/modules && "
		"printf '0000000000000000 A __per_cpu_start\\n"
		"ffffffff9d600000 T _text\\nffffffff9d600000 T _stext\\n' >proc/kallsyms && "
		"printf '\\004\\0\\0\\0\\002\\0\\0\\0\\003\\0\\0\\0GNU\\0\\253\\315\\0\\0' "
		">sys/kernel/notes && "
		"sed 's/\\xab/\\x12/' sys/kernel/notes >sys/module/ext4/notes/.note.gnu.build-id "
		"&& "
		"cd sys/module/ext4/sections && echo 0xffffffffc0101000 >.text.unlikely && "
		"echo 0xffffffffc0100000 >.text && echo 0xffffffffc0180000 >.data && "
		"echo 0xffffffffc0140000 >.init.text && echo 0x0000000000000000 >.exit.text");
}

/* The marks that were written, as lines of text. */
static void written_marks(struct fixture *f, struct strbuf *text)
{
	struct capture_unpacker *unpacker = capture_unpacker_create();
	struct capture_scan scan;
	struct capture_chunk chunk;
	struct capture_mark mark;
	struct file_bytes bytes;
	struct cursor payload;

	capture_writer_write(f->writer);
	assert_null(file_read(f->path, 0, &bytes));
	capture_scan_init(&scan, bytes.data, bytes.size);
	while (capture_scan_next(&scan, &chunk)) {
		if (chunk.type != CAPTURE_CHUNK_MARKS)
			continue;
		assert_null(capture_unpack(unpacker, &chunk, f->path, &payload));
		while (capture_get_mark(&payload, &mark))
			strbuf_printf(text, "%u '%.*s' %llx\n", mark.object, STR_ARG(mark.name),
				(unsigned long long)mark.va);
	}
	file_bytes_deinit(&bytes);
	capture_unpacker_destroy(unpacker);
}

static void check_object(const struct fixture *f, uint32_t object, const char *path, const char *id)
{
	struct object_info info = object_table_info(f->objects, object);

	assert_int_equal(info.kind, CAPTURE_OBJECT_KERNEL);
	assert_true(str_equal(info.path, str_from(path)));
	assert_true(str_equal(info.build_id, str_from(id)));
}

static void test_kernel_modules(void **state)
{
	struct fixture *f = *state;
	struct kernel_map map;
	struct strbuf marks = {0};
	char *root = scratch_create(), expected[256];

	assert_true(make_kernel(root));
	kernel_map_init(&map, f->objects);
	map.root = root;
	uint32_t ext4 = kernel_map_object(&map, 0xffffffffc0101fff);
	uint32_t kernel = kernel_map_object(&map, 0xffffffffc0102000);
	uint32_t loop = kernel_map_object(&map, 0xffffffffc0200000);
	check_object(f, ext4, "[ext4]", "12cd");
	check_object(f, kernel, "[kernel]", "abcd");
	check_object(f, loop, "[loop]", "");
	assert_int_equal(kernel_map_object(&map, 0xffffffffc0100000), ext4);
	written_marks(f, &marks);
	snprintf(expected, sizeof(expected),
		"%u '_text' ffffffff9d600000\n%u '.text' ffffffffc0100000\n"
		"%u '.text.unlikely' ffffffffc0101000\n%u '' ffffffffc0200000\n",
		kernel, ext4, ext4, loop);
	assert_string_equal(marks.data, expected);
	strbuf_deinit(&marks);
	kernel_map_deinit(&map);
	scratch_destroy(root);
}

/* Where the kernel hides its addresses, everything is "[kernel]", and nothing says where it is. */
static void test_a_hidden_kernel(void **state)
{
	struct fixture *f = *state;
	struct kernel_map map;
	struct strbuf marks = {0};
	char *root = scratch_create();

	assert_true(scratch_run(root,
		"mkdir proc && printf 'ext4 8192 1 - Live 0x0000000000000000\\n' >proc/modules && "
		"printf '0000000000000000 T _text\\n' >proc/kallsyms"));
	kernel_map_init(&map, f->objects);
	map.root = root;
	check_object(f, kernel_map_object(&map, 0xffffffffc0100000), "[kernel]", "");
	written_marks(f, &marks);
	assert_int_equal(marks.size, 0);
	assert_false(kernel_map_add_line(&map, "nonsense\n"));
	kernel_map_deinit(&map);
	scratch_destroy(root);
}

/* ---- stack memory ---- */

#define WORDS	   40000
#define DUMP_WORDS 1000

/* A sample whose dump is the beginning of words; the rest is only in the process. */
static struct perf_sample sample_of(const uint64_t *words, const uint64_t *dump)
{
	struct perf_sample s = {.tid = gettid(), .has_user = true};

	s.regs.value[UNWIND_REG_SP] = (uint64_t)(uintptr_t)words;
	s.stack = (const uint8_t *)dump;
	s.stack_size = DUMP_WORDS * sizeof(*dump);
	return s;
}

static bool read_word(struct stack_memory *m, const uint64_t *at, uint64_t *value)
{
	return m->memory.read(&m->memory, (uint64_t)(uintptr_t)at, value);
}

TEST(test_memory_beyond_the_dump)
{
	static uint64_t words[WORDS], dump[DUMP_WORDS];
	struct stack_memory m;
	uint64_t value;

	for (size_t i = 0; i < WORDS; i++)
		words[i] = i * 3;
	memcpy(dump, words, sizeof(dump));
	struct perf_sample s = sample_of(words, dump);

	stack_memory_init(&m, NULL);
	stack_memory_begin(&m, NULL, &s);
	for (size_t i = 0; i < WORDS; i++) {
		assert_true(read_word(&m, &words[i], &value));
		assert_int_equal(value, i * 3);
	}
	assert_int_not_equal(m.read_count, 0);
	assert_true(m.read_count < 4);		       /* by large pieces */
	assert_true(read_word(&m, &words[5], &value)); /* and back into the dump */
	assert_false(read_word(&m, (uint64_t *)16, &value));
	assert_false(m.raced);
	stack_memory_deinit(&m);
}

/* The stack has changed since its dump: what lies beyond is not believed. */
TEST(test_memory_that_changed)
{
	static uint64_t words[WORDS], dump[DUMP_WORDS];
	struct stack_memory m;
	uint64_t value;

	memcpy(dump, words, sizeof(dump));
	words[DUMP_WORDS - 100] = 1;
	struct perf_sample s = sample_of(words, dump);

	stack_memory_init(&m, NULL);
	stack_memory_begin(&m, NULL, &s);
	assert_true(read_word(&m, &words[DUMP_WORDS - 1], &value));
	assert_false(read_word(&m, &words[DUMP_WORDS + 1], &value));
	assert_true(m.raced);
	/* Nor later in the same stack, but in the next sample's. */
	words[DUMP_WORDS - 100] = 0;
	assert_false(read_word(&m, &words[DUMP_WORDS + 1], &value));
	stack_memory_restart(&m);
	assert_true(read_word(&m, &words[DUMP_WORDS + 1], &value));
	stack_memory_deinit(&m);
}

/*
 * The walk left the dump for another stack: then the frame that it left from must be unchanged, and
 * the dump's end does not matter.
 */
TEST(test_memory_of_another_stack)
{
	static uint64_t words[WORDS], dump[DUMP_WORDS], other[16] = {4711};
	uint64_t sp = (uint64_t)(uintptr_t)&words[300], value;
	struct unwind_frame frames[] = {
		{.sp = sp}, {.sp = (uint64_t)(uintptr_t)words + ((uint64_t)1 << 30)}};
	struct unwind_stack stack = {.frames = frames, .count = 2};
	struct stack_memory m;

	memcpy(dump, words, sizeof(dump));
	words[DUMP_WORDS - 1] = 1;
	struct perf_sample s = sample_of(words, dump);

	stack_memory_init(&m, NULL);
	stack_memory_begin(&m, NULL, &s);
	assert_int_equal(stack_memory_other_stack(&m, &stack), 0); /* nothing was read yet */
	assert_false(read_word(&m, other, &value));
	assert_int_equal(stack_memory_other_stack(&m, &stack), 1);
	stack_memory_check_frame(&m, sp);
	stack_memory_restart(&m);
	assert_true(read_word(&m, other, &value));
	assert_int_equal(value, 4711);
	words[310] = 1;
	stack_memory_restart(&m);
	assert_false(read_word(&m, other, &value));
	assert_true(m.raced);
	stack_memory_check_nothing(&m);
	stack_memory_restart(&m);
	assert_true(read_word(&m, other, &value));
	stack_memory_deinit(&m);
}

#define WITH_TABLES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TABLES(test_tree_interns),
		WITH_TABLES(test_tree_addresses),
		WITH_TABLES(test_fork_copies_and_exec_clears),
		WITH_TABLES(test_pid_is_used_again),
		WITH_TABLES(test_process_outlives_its_first_thread),
		WITH_TABLES(test_late_records_belong_to_the_ended_thread),
		WITH_TABLES(test_tid_is_used_again),
		WITH_TABLES(test_exec_by_another_thread),
		WITH_TABLES(test_threads_are_numbered_when_sampled),
		WITH_TABLES(test_the_dead_are_kept_for_a_while),
		WITH_TABLES(test_the_dead_take_no_memory),
		WITH_TABLES(test_a_fork_is_told_twice),
		WITH_TABLES(test_what_was_there_before_is_looked_up),
		cmocka_unit_test(test_proc_stat),
		cmocka_unit_test(test_tasks_of_a_family),
		WITH_TABLES(test_maps_are_read_and_resolved),
		WITH_TABLES(test_kernel_modules),
		WITH_TABLES(test_a_hidden_kernel),
		cmocka_unit_test(test_maps_lines),
		cmocka_unit_test(test_memory_beyond_the_dump),
		cmocka_unit_test(test_memory_that_changed),
		cmocka_unit_test(test_memory_of_another_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
