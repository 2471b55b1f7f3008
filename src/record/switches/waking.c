/*
 * Wakeups.  sched_waking is reported where and when a thread is woken.  The kernel's other
 * tracepoints, sched_wakeup and sched_wakeup_new, are reported where it will run, or for new
 * threads.  The data's first fields are the same for all tracepoints
 * (Documentation/trace/events.rst).  Their flags show whether an interrupt was being served (the
 * kernel's include/linux/trace_events.h).
 *
 * A device or a timer wakes a thread in an interrupt, whichever thread runs on that CPU, so the
 * running thread is not named.  The kernel defers work to softirqs, which run at the end of an
 * interrupt, but also when a thread itself has caused them, as when it sends a message to the same
 * machine.  The kernel does not distinguish these cases, so the thread is named, with a mark.
 */
#include "record/switches/waking.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "record/events/event_ability.h"
#include "record/events/event_list.h"
#include "record/events/perf_attr.h"
#include "record/events/perf_record.h"
#include "record/processes/proc.h"

#define TRACEPOINT "sched:sched_waking"

/* Of the kernel's enum trace_flag_type. */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10
/* In the kernel's common fields: type, flags, preempt_count, pid. */
#define FLAGS_OFFSET 2
/* Such a description has about 500 bytes. */
#define FORMAT_BYTES_MAX 65536
/* A name is read again after this time. */
#define NAME_NS (SECOND_NS / 2)

/* ---- the format ---- */

bool waking_format_parse(struct str text, struct waking_format *format)
{
	static const char field[] = "field:pid_t pid;\toffset:";
	const char *at = text.size ? memmem(text.data, text.size, field, sizeof(field) - 1) : NULL;
	uint32_t offset = 0;

	if (!at)
		return false;
	for (at += sizeof(field) - 1; at < text.data + text.size && *at >= '0' && *at <= '9'; at++)
		offset = offset < 10000 ? offset * 10 + (uint32_t)(*at - '0') : offset;
	format->tid_offset = offset;
	return offset >= 8 && offset < 4096 && at < text.data + text.size && *at == ';';
}

static struct error *read_format(const char *directory, struct waking_format *format)
{
	struct strbuf path = {0};
	struct file_bytes text;
	struct error *err;

	strbuf_printf(&path, "%s/sched/sched_waking/format", directory);
	err = file_read(path.data, FORMAT_BYTES_MAX, &text);
	if (!err && !waking_format_parse((struct str){(const char *)text.data, text.size}, format))
		err = error_new(ERROR_UNSUPPORTED,
			"this kernel describes its tracepoint " TRACEPOINT
			" in another way than sonde knows (%s)",
			path.data);
	file_bytes_deinit(&text);
	strbuf_deinit(&path);
	return err;
}

/*
 * Tracepoints report the ids that threads have on the host.  The number of the host's namespace is
 * the kernel's PROC_PID_INIT_INO.
 */
static bool is_on_host(void)
{
	static const char host[] = "pid:[4026531836]";
	char link[64];
	ssize_t size = readlink("/proc/self/ns/pid", link, sizeof(link));

	return size == sizeof(host) - 1 && memcmp(link, host, sizeof(host) - 1) == 0;
}

/* NULL if it may be opened for all tasks. */
static struct error *try_tracepoint(uint64_t id)
{
	int code = perf_attr_try(PERF_TYPE_TRACEPOINT, id, true, true);

	if (code == 0)
		return NULL;
	struct error *cause = error_system(code, "perf_event_open");
	struct error *refusal = ability_refusal_machine(cause);

	error_destroy(cause);
	return refusal;
}

struct error *waking_format_read(struct waking_format *format)
{
	struct event_list list = {0};
	struct error *err = event_list_add(&list, TRACEPOINT);

	if (!err) {
		format->id = list.specs.data[0].config;
		err = read_format(event_tracepoint_directory(), format);
	}
	event_list_deinit(&list);
	if (!err)
		err = try_tracepoint(format->id);
	if (!err && !is_on_host())
		err = error_new(ERROR_UNSUPPORTED,
			"the kernel names threads as the host does: record on the host, with -p or "
			"--cgroup");
	return err ? error_prefix(err, "who wakes threads can't be recorded") : NULL;
}

/* ---- records ---- */

bool waking_read(const struct perf_event_header *header, const struct waking_format *format,
	struct waking *waking)
{
	static const struct perfstream_layout layout = {.sample_type = PERF_RECORD_WAKING_FIELDS};
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_sample sample;
	int32_t tid;

	if (!perfstream_sample_decode(&record, &layout, &sample) ||
		sample.raw_size < FLAGS_OFFSET + 1 ||
		sample.raw_size < format->tid_offset + sizeof(tid))
		return false;
	uint8_t flags = sample.raw[FLAGS_OFFSET];

	memcpy(&tid, sample.raw + format->tid_offset, sizeof(tid));
	*waking = (struct waking){
		.time_ns = sample.time_ns,
		.tid = tid,
		.waker_pid = (int32_t)sample.pid,
		.waker_tid = (int32_t)sample.tid,
		.in_interrupt = flags & FLAG_HARDIRQ,
		.in_softirq = flags & FLAG_SOFTIRQ,
	};
	return true;
}

/* ---- names ---- */

void wakers_init(struct wakers *w, struct process_table *processes, struct sample_labels *labels)
{
	*w = (struct wakers){.processes = processes, .labels = labels};
}

void wakers_deinit(struct wakers *w)
{
	map_deinit(&w->found);
	vec_deinit(&w->names);
}

static uint32_t put_name(struct wakers *w, const struct waking *waking, struct str name)
{
	return sample_labels_thread(
		w->labels, name, waking->waker_tid, waking->in_softirq ? ", softirq" : "");
}

/* The name of a thread that is not recorded, or that has ended. */
static uint32_t ask_name(struct wakers *w, const struct waking *waking)
{
	struct proc_stat stat;
	bool is_there = proc_stat_read(waking->waker_pid, waking->waker_tid, &stat);

	return put_name(w, waking, is_there ? str_from(stat.name) : STR("[ended]"));
}

uint32_t wakers_name(struct wakers *w, const struct waking *waking)
{
	if (waking->in_interrupt || waking->waker_tid <= 0)
		return sample_labels_name(w->labels, STR("[interrupt]"));
	const struct thread *thread = process_table_find_tid(w->processes, waking->waker_tid);
	bool is_new;

	if (thread && thread->pid == waking->waker_pid)
		return put_name(w, waking, str_from(thread->name));
	uint32_t *place = map_at(&w->found, (uint64_t)waking->waker_tid, waking->in_softirq,
		(uint32_t)w->names.count, &is_new);

	if (is_new)
		vec_push(&w->names, (struct waker_name){0});
	struct waker_name *name = &w->names.data[*place];

	if (is_new || waking->time_ns > name->read_ns + NAME_NS)
		*name = (struct waker_name){waking->time_ns, ask_name(w, waking)};
	return name->name;
}
