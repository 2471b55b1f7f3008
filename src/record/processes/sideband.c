/*
 * Side-band records to process table.
 */
#include "record/processes/sideband.h"

#include "perfstream/format.h"
#include "record/events/perf_record.h"

static void apply_mmap(struct process_table *processes, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_mmap m;

	if (!perfstream_mmap_decode(&record, &m) || !m.is_code)
		return;
	struct process *p = process_table_get(processes, m.pid, perf_record_time_ns(header));
	struct object_origin origin = {
		.pid = m.pid,
		.path = m.path,
		.build_id = m.build_id,
		.low_va = m.low_va,
		.high_va = m.low_va + m.size,
		.inode = m.inode,
	};

	process_table_map(processes, p, &origin, m.file_off);
}

static void apply_comm(struct process_table *processes, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_task comm;

	if (perfstream_task_decode(&record, &comm))
		process_table_comm(processes, comm.pid, comm.tid,
			header->misc & PERFSTREAM_MISC_COMM_EXEC, comm.name,
			perf_record_time_ns(header));
}

static void apply_task(struct process_table *processes, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	uint64_t time_ns = perf_record_time_ns(header);
	struct perfstream_task task;

	if (!perfstream_task_decode(&record, &task))
		return;
	if (header->type == PERF_RECORD_FORK)
		process_table_fork(processes, task.pid, task.parent_pid, task.tid, time_ns);
	else
		process_table_exit(processes, task.pid, task.tid, time_ns);
}

void sideband_apply(struct process_table *processes, const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		apply_mmap(processes, header);
		break;
	case PERF_RECORD_COMM:
		apply_comm(processes, header);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		apply_task(processes, header);
		break;
	default:
		break;
	}
}

bool sideband_concerns(struct process_table *processes, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_mmap m;
	struct perfstream_task task;

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return perfstream_mmap_decode(&record, &m) && process_table_find(processes, m.pid);
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
		return perfstream_task_decode(&record, &task) &&
		       process_table_find(processes, task.pid);
	case PERF_RECORD_FORK:
		return perfstream_task_decode(&record, &task) &&
		       process_table_find(processes, task.parent_pid);
	default:
		return true;
	}
}
