/*
 * Records of perf events, laid out by hand as perf_event_open(2) says, and cut off everywhere.
 */
#include "record/events/perf_record.h"
#include "record/switches/waking.h"
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

/* A record under construction. */
struct record {
	_Alignas(8) uint8_t bytes[1024];
	size_t size;
};

static void put(struct record *r, const void *data, size_t size)
{
	memcpy(r->bytes + r->size, data, size);
	r->size += size;
}

static void put_u32(struct record *r, uint32_t value)
{
	put(r, &value, sizeof(value));
}

static void put_u64(struct record *r, uint64_t value)
{
	put(r, &value, sizeof(value));
}

static void begin(struct record *r, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	*r = (struct record){0};
	put(r, &header, sizeof(header));
}

static const struct perf_event_header *end(struct record *r)
{
	struct perf_event_header *header = (void *)r->bytes;

	header->size = (uint16_t)r->size;
	return header;
}

/* The trailer of all records but samples. */
static const struct perf_event_header *end_with_time(struct record *r, uint64_t time_ns)
{
	put_u32(r, 1);
	put_u32(r, 2);
	put_u64(r, time_ns);
	put_u64(r, 77);
	return end(r);
}

/* A sample with a kernel chain of two, the registers 100 and up, and three words of stack. */
static void put_sample(struct record *r, uint16_t misc, uint64_t bx)
{
	begin(r, PERF_RECORD_SAMPLE, misc);
	put_u64(r, 77);
	put_u64(r, 0x1234);
	put_u32(r, 11);
	put_u32(r, 12);
	put_u64(r, 5000);
	put_u32(r, 3);
	put_u32(r, 0);
	put_u64(r, 997);
	put_u64(r, 3);
	put_u64(r, PERF_CONTEXT_KERNEL);
	put_u64(r, 0xffffffff81000001);
	put_u64(r, 0xffffffff81000002);
	put_u64(r, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < 17; i++)
		put_u64(r, i == 1 ? bx : 100 + i);
	put_u64(r, 32);
	for (uint64_t i = 0; i < 4; i++)
		put_u64(r, 7 + i);
	put_u64(r, 24);
}

TEST(test_sample)
{
	struct perf_sample s;
	struct record r;

	put_sample(&r, PERF_RECORD_MISC_USER, 101);
	assert_true(perf_record_sample(end(&r), true, &s));
	assert_int_equal(perf_record_time_ns((void *)r.bytes), 5000);
	assert_int_equal(s.event_id, 77);
	assert_int_equal(s.ip, 0x1234);
	assert_int_equal(s.pid, 11);
	assert_int_equal(s.tid, 12);
	assert_int_equal(s.time_ns, 5000);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.period, 997);
	assert_false(s.in_kernel);
	assert_int_equal(s.kernel_count, 2);
	assert_true(s.kernel_chain[0] == 0xffffffff81000001);
	assert_true(s.has_user);
	assert_int_equal(s.regs.known, (1u << UNWIND_REG_COUNT) - 1);
	assert_int_equal(s.regs.value[0], 100);		    /* ax */
	assert_int_equal(s.regs.value[3], 101);		    /* bx */
	assert_int_equal(s.regs.value[UNWIND_REG_BP], 106); /* bp */
	assert_int_equal(s.regs.value[UNWIND_REG_SP], 107);
	assert_int_equal(s.regs.value[UNWIND_REG_PC], 108);
	assert_int_equal(s.regs.value[15], 116);
	assert_int_equal(s.stack_size, 24);
	assert_int_equal(s.stack[0], 7);
}

/* The kernel gives -1 for registers that a system call did not save. */
TEST(test_unsaved_registers)
{
	struct perf_sample s;
	struct record r;

	put_sample(&r, PERF_RECORD_MISC_KERNEL, UINT64_MAX);
	assert_true(perf_record_sample(end(&r), true, &s));
	assert_true(s.in_kernel);
	assert_int_equal(s.regs.known & 1u << 3, 0);
	put_sample(&r, PERF_RECORD_MISC_USER, UINT64_MAX);
	assert_true(perf_record_sample(end(&r), true, &s));
	assert_int_not_equal(s.regs.known & 1u << 3, 0);
}

TEST(test_sample_without_user)
{
	struct perf_sample s;
	struct record r;

	begin(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	for (int i = 0; i < 5; i++)
		put_u64(&r, 1);
	put_u64(&r, PERF_SAMPLE_REGS_ABI_NONE);
	put_u64(&r, 0);
	put_u64(&r, 0);
	assert_true(perf_record_sample(end(&r), false, &s));
	assert_false(s.has_user);
	assert_int_equal(s.stack_size, 0);
}

/* Cut off anywhere, a record is refused or read within its bytes (the sanitizers see to that). */
TEST(test_cut_off)
{
	struct record r;

	put_sample(&r, 0, 1);
	for (size_t size = sizeof(struct perf_event_header); size < r.size; size++) {
		struct perf_sample s;
		struct perf_event_header *copy = malloc(size);

		assert_non_null(copy);
		memcpy(copy, r.bytes, size);
		copy->size = (uint16_t)size;
		assert_false(perf_record_sample(copy, true, &s));
		perf_record_time_ns(copy);
		free(copy);
	}
}

static void put_mmap(struct record *r, uint16_t misc, const char *path)
{
	begin(r, PERF_RECORD_MMAP2, misc);
	put_u32(r, 21);
	put_u32(r, 22);
	put_u64(r, 0x400000);
	put_u64(r, 0x2000);
	put_u64(r, 0x1000);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		put_u32(r, 4);
		for (uint32_t i = 0; i < 5; i++)
			put_u32(r, 0x0403 + i);
	} else {
		put_u32(r, 8);
		put_u32(r, 1);
		put_u64(r, 4711);
		put_u64(r, 9);
	}
	put_u32(r, 5); /* PROT_READ | PROT_EXEC */
	put_u32(r, 2);
	char padded[16] = {0};

	memcpy(padded, path, strlen(path));
	put(r, padded, sizeof(padded));
}

TEST(test_mmap)
{
	struct perfstream_record record;
	struct perfstream_mmap m;
	struct record r;

	put_mmap(&r, 0, "/lib/x.so");
	record = perf_record_of(end_with_time(&r, 77));
	assert_true(perfstream_mmap_decode(&record, &m));
	assert_int_equal(m.pid, 21);
	assert_int_equal(perf_record_time_ns((void *)r.bytes), 77);
	assert_int_equal(m.low_va, 0x400000);
	assert_int_equal(m.size, 0x2000);
	assert_int_equal(m.file_off, 0x1000);
	assert_int_equal(m.inode, 4711);
	assert_true(m.is_code);
	assert_string_equal(m.build_id, "");
	assert_true(str_equal(m.path, STR("/lib/x.so")));

	/* Another program's event has one; ours never do, although the kernel says so. */
	put_mmap(&r, PERF_RECORD_MISC_MMAP_BUILD_ID, "/lib/y.so");
	record = perf_record_of(end_with_time(&r, 78));
	assert_true(perfstream_mmap_decode(&record, &m));
	assert_string_equal(m.build_id, "");
	assert_true(str_equal(m.path, STR("/lib/y.so")));
}

TEST(test_tasks_and_names)
{
	struct perfstream_record record;
	struct perfstream_task task;
	struct record r;

	begin(&r, PERF_RECORD_FORK, 0);
	for (uint32_t i = 1; i <= 4; i++)
		put_u32(&r, i);
	put_u64(&r, 5);
	record = perf_record_of(end_with_time(&r, 6));
	assert_true(perfstream_task_decode(&record, &task));
	assert_int_equal(task.pid, 1);
	assert_int_equal(task.parent_pid, 2);
	assert_int_equal(task.tid, 3);
	assert_int_equal(perf_record_time_ns((void *)r.bytes), 6);

	begin(&r, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_u32(&r, 1);
	put_u32(&r, 2);
	put(&r, "name\0\0\0", 8);
	record = perf_record_of(end_with_time(&r, 8));
	assert_true(perfstream_task_decode(&record, &task));
	assert_int_equal(task.tid, 2);
	assert_true(str_equal(task.name, STR("name")));
}

TEST(test_switch)
{
	struct perf_switch s;
	struct record r;

	begin(&r, PERF_RECORD_SWITCH,
		PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	perf_record_switch(end_with_time(&r, 9), &s);
	assert_true(s.out && s.preempted);
	assert_int_equal(s.pid, 1);
	assert_int_equal(s.tid, 2);
	assert_int_equal(s.time_ns, 9);
	assert_int_equal(s.event_id, 77);
	begin(&r, PERF_RECORD_SWITCH_CPU_WIDE, 0);
	put_u64(&r, 0x0000000500000004);
	perf_record_switch(end_with_time(&r, 10), &s);
	assert_false(s.out || s.preempted);
	assert_int_equal(s.tid, 2);
}

static uint64_t lost(struct record *r)
{
	struct perfstream_record record = perf_record_of(end_with_time(r, 1));

	return perfstream_lost(&record);
}

TEST(test_lost)
{
	struct record r;

	begin(&r, PERF_RECORD_LOST, 0);
	put_u64(&r, 1);
	put_u64(&r, 33);
	assert_int_equal(lost(&r), 33);
	begin(&r, PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&r, 44);
	assert_int_equal(lost(&r), 44);
}

TEST(test_waking_format)
{
	static const char text[] = "name: sched_waking\nID: 375\nformat:\n"
				   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				   "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				   "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
	struct waking_format format;
	size_t line = sizeof("\tsize:4;\tsigned:1;\n") - 1;

	assert_true(waking_format_parse(str_from(text), &format));
	assert_int_equal(format.tid_offset, 24);
	for (size_t size = 0; size < sizeof(text) - 1 - line; size++)
		assert_false(waking_format_parse((struct str){text, size}, &format));
	assert_false(waking_format_parse(STR("\tfield:pid_t pid;\toffset:;\t"), &format));
	assert_false(waking_format_parse(STR("\tfield:pid_t pid;\toffset:99999;\t"), &format));
}

/* Who wakes 4711: thread 12 of 11, in a softirq or not, or an interrupt. */
static void put_waking(struct record *r, uint8_t flags)
{
	const uint8_t common[] = {0x77, 1, flags, 0, 12, 0, 0, 0};

	begin(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put_u64(r, 77);
	put_u64(r, 0xffffffff81000001);
	put_u32(r, 11);
	put_u32(r, 12);
	put_u64(r, 5000);
	put_u32(r, 36);
	put(r, common, sizeof(common));
	put(r, "somebody\0\0\0\0\0\0\0", 16);
	put_u32(r, 4711);
	put_u32(r, 120);
	put_u32(r, 1);
}

TEST(test_waking)
{
	const struct waking_format format = {.tid_offset = 24};
	struct record r;
	struct waking w;

	put_waking(&r, 0);
	assert_true(waking_read(end(&r), &format, &w));
	assert_int_equal(w.time_ns, 5000);
	assert_int_equal(w.tid, 4711);
	assert_int_equal(w.waker_pid, 11);
	assert_int_equal(w.waker_tid, 12);
	assert_false(w.in_interrupt || w.in_softirq);
	for (r.size--; r.size >= sizeof(struct perf_event_header); r.size--)
		assert_false(waking_read(end(&r), &format, &w));
	put_waking(&r, 0x11);
	assert_true(waking_read(end(&r), &format, &w));
	assert_true(!w.in_interrupt && w.in_softirq);
	put_waking(&r, 0x08);
	assert_true(waking_read(end(&r), &format, &w));
	assert_true(w.in_interrupt && !w.in_softirq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_unsaved_registers),
		cmocka_unit_test(test_sample_without_user),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_mmap),
		cmocka_unit_test(test_tasks_and_names),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_waking_format),
		cmocka_unit_test(test_waking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
