/*
 * Side-band records to process table.
 */
#include "record/sideband.h"

#include "record/perf_record.h"

static void apply_mmap(struct process_table *processes, const struct perf_event_header *header)
{
	struct perf_mmap m;

	if (!perf_record_mmap(header, &m) || !m.executable)
		return;
	struct process *p = process_table_get(processes, m.pid, m.time_ns);
	struct object_origin origin = {
		.pid = m.pid,
		.path = m.path,
		.build_id = m.build_id,
		.low_va = m.low_va,
		.high_va = m.high_va,
		.inode = m.inode,
	};

	process_table_map(processes, p, &origin, m.file_off);
}

static void apply_comm(struct process_table *processes, const struct perf_event_header *header)
{
	struct perf_comm comm;

	if (perf_record_comm(header, &comm))
		process_table_comm(
			processes, comm.pid, comm.tid, comm.exec, comm.name, comm.time_ns);
}

static void apply_task(struct process_table *processes, const struct perf_event_header *header)
{
	struct perf_task task;

	if (!perf_record_task(header, &task))
		return;
	if (header->type == PERF_RECORD_FORK)
		process_table_fork(processes, task.pid, task.parent_pid, task.tid, task.time_ns);
	else
		process_table_exit(processes, task.pid, task.tid, task.time_ns);
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
	struct perf_mmap m;
	struct perf_comm comm;
	struct perf_task task;

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return perf_record_mmap(header, &m) && process_table_find(processes, m.pid);
	case PERF_RECORD_COMM:
		return perf_record_comm(header, &comm) && process_table_find(processes, comm.pid);
	case PERF_RECORD_FORK:
		return perf_record_task(header, &task) &&
		       process_table_find(processes, task.parent_pid);
	case PERF_RECORD_EXIT:
		return perf_record_task(header, &task) && process_table_find(processes, task.pid);
	default:
		return true;
	}
}
