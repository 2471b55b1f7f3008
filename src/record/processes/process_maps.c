/*
 * The code that processes have mapped: as it is reported, and out of /proc/PID/maps where a stack
 * goes through code that was not.
 */
#include "record/processes/maps.h"
#include "record/processes/process_table_state.h"

/* Between two readings of the maps of one process. */
#define MAPS_PAUSE_NS UINT64_C(100000000)

void process_table_map(struct process_table *t, struct process *p,
	const struct object_origin *origin, uint64_t file_off)
{
	uint32_t object = object_table_mapped(t->objects, origin);
	struct unwind_mapping mapping = {
		.low_va = origin->low_va,
		.high_va = origin->high_va,
		.slide = origin->low_va - file_off,
		.object = object | UNWIND_PENDING,
	};

	p->is_bare = false;
	/* The same again changes nothing: what is cached of the space stays good. */
	if (!unwind_space_has(&p->space, &mapping))
		unwind_space_add(&p->space, mapping);
}

bool process_table_resolve(
	struct process_table *t, struct process *p, uint64_t va, uint64_t time_ns)
{
	const struct unwind_mapping *pending = unwind_space_find(&p->space, va);

	if (!pending || !(pending->object & UNWIND_PENDING))
		return false;
	struct unwind_mapping m = *pending;

	m.object &= ~UNWIND_PENDING;
	object_table_open(t->objects, m.object);
	m.slide = object_table_slide(t->objects, m.object, m.low_va, m.low_va - m.slide);
	m.table = object_table_cfi(t->objects, m.object);
	unwind_space_add(&p->space, m);
	capture_writer_mapping(t->writer, p->number, process_table_file_time(t, time_ns), m.low_va,
		m.high_va, m.slide, m.object);
	return true;
}

struct maps_target {
	struct process_table *table;
	struct process *process;
};

static void add_unreported(void *context, const struct maps_line *line)
{
	struct maps_target *target = context;
	struct object_origin origin = {
		.pid = target->process->pid,
		.path = line->path,
		.build_id = "",
		.low_va = line->low_va,
		.high_va = line->high_va,
		.inode = line->inode,
	};

	if (!line->executable || unwind_space_find(&target->process->space, line->low_va))
		return;
	process_table_map(target->table, target->process, &origin, line->file_off);
}

bool process_table_read_maps(struct process_table *t, struct process *p, uint64_t now_ns)
{
	struct maps_target target = {t, p};

	if (p->is_kernel || (p->maps_read_ns != 0 && now_ns < p->maps_read_ns + MAPS_PAUSE_NS))
		return false;
	p->maps_read_ns = now_ns;
	maps_read(p->pid, add_unreported, &target);
	return true;
}

void process_table_read_all_maps(struct process_table *t, uint64_t now_ns)
{
	for (size_t i = 0; i < t->processes.count; i++)
		if (t->processes.data[i]->maps_read_ns == 0)
			process_table_read_maps(t, t->processes.data[i], now_ns);
}
