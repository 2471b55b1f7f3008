/*
 * perf-cpuN.dat: records of perf_event_open(2) as the kernel wrote them, of events with sample_id
 * of TID and TIME: a header (type:32, misc:16, size:16), the record, pid, tid, time.
 */
#include "formats/uftrace/switches.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/search.h"

enum {
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_SWITCH = 14,
	MISC_SWITCH_OUT = 1 << 13,
	MISC_SWITCH_OUT_PREEMPT = 1 << 14,
};

static void add_name(struct uftrace_switches *s, uint32_t tid, struct str name)
{
	map_put(&s->name_of, tid, 0, str_table_intern(&s->names, name));
}

static void read_comm(struct uftrace_switches *s, struct cursor *c)
{
	(void)cursor_u32(c);
	uint32_t tid = cursor_u32(c);
	struct str name = {(const char *)c->at, cursor_left(c)};

	name.size = strnlen(name.data, name.size);
	if (cursor_ok(c) && name.size)
		add_name(s, tid, name);
}

static void read_switch(struct uftrace_switches *s, struct cursor *c, uint16_t misc)
{
	struct uftrace_switch sw = {.kind = UFTRACE_IN};

	if (misc & MISC_SWITCH_OUT)
		sw.kind = misc & MISC_SWITCH_OUT_PREEMPT ? UFTRACE_PREEMPTED : UFTRACE_OUT;
	(void)cursor_u32(c);
	sw.tid = cursor_u32(c);
	sw.time_ns = cursor_u64(c);
	if (cursor_ok(c))
		vec_push(&s->all, sw);
}

static void read_end(struct uftrace_switches *s, struct cursor *c)
{
	struct uftrace_switch sw = {.kind = UFTRACE_END};

	cursor_skip(c, 8); /* pid, ppid */
	sw.tid = cursor_u32(c);
	cursor_skip(c, 4); /* ptid */
	sw.time_ns = cursor_u64(c);
	if (cursor_ok(c))
		vec_push(&s->all, sw);
}

static void read_record(
	struct uftrace_switches *s, struct cursor *record, uint32_t type, uint16_t misc)
{
	if (type == RECORD_SWITCH)
		read_switch(s, record, misc);
	else if (type == RECORD_EXIT)
		read_end(s, record);
	else if (type == RECORD_COMM)
		read_comm(s, record);
}

static void read_file(struct uftrace_switches *s, const struct file_bytes *bytes, const char *name)
{
	struct cursor c;

	cursor_init(&c, bytes->data, bytes->size, name, 0);
	while (cursor_ok(&c) && !cursor_at_end(&c)) {
		uint32_t type = cursor_u32(&c);
		uint16_t misc = cursor_u16(&c), size = cursor_u16(&c);
		struct cursor record;
		if (size < 8) {
			cursor_fail(&c, "a record without size");
			break;
		}
		record = cursor_sub(&c, size - 8u);
		if (cursor_ok(&c))
			read_record(s, &record, type, misc);
	}
	s->bad += !cursor_ok(&c);
}

static int switch_compare(const void *a, const void *b)
{
	const struct uftrace_switch *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

void uftrace_switches_init(struct uftrace_switches *s, const struct folder *folder)
{
	*s = (struct uftrace_switches){.arena = arena_create()};
	str_table_init(&s->names, s->arena);
	for (size_t i = 0; i < folder_count(folder); i++) {
		struct str name = str_from(folder_name(folder, i));
		struct file_bytes bytes;
		if (!str_starts_with(name, STR("perf-cpu")) || !str_ends_with(name, STR(".dat")))
			continue;
		struct error *err = folder_read(folder, name.data, 0, &bytes);
		s->bad += err != NULL;
		error_destroy(err);
		if (err)
			continue;
		read_file(s, &bytes, name.data);
		file_bytes_deinit(&bytes);
	}
	if (s->all.count)
		qsort(s->all.data, s->all.count, sizeof(*s->all.data), switch_compare);
}

void uftrace_switches_deinit(struct uftrace_switches *s)
{
	vec_deinit(&s->all);
	str_table_deinit(&s->names);
	map_deinit(&s->name_of);
	arena_destroy(s->arena);
}

size_t uftrace_switches_of(const struct uftrace_switches *s, uint64_t tid)
{
	return partition_point(i, 0, s->all.count, s->all.data[i].tid < tid);
}

struct str uftrace_switches_name(const struct uftrace_switches *s, uint64_t tid)
{
	uint32_t i;

	return map_get(&s->name_of, tid, 0, &i) ? s->names.strings[i] : STR("");
}
