/*
 * The preload engine, for machines without perf events: a library preloaded into the target writes
 * registers and stacks to shared memory from a signal handler.  The engine takes its records in
 * order of time and walks their stacks like those of any other sample.  The timers of the target's
 * threads set the rate (preload/timer.c).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "record/engines/engine.h"
#include "record/engines/preload/preload_batch.h"
#include "record/engines/preload/preload_library.h"
#include "record/engines/preload/preload_memory.h"
#include "record/engines/preload/preload_offcpu.h"
#include "record/engines/preload/preload_strays.h"
#include "record/engines/preload/preload_thread.h"
#include "record/processes/proc.h"

/* ---- mappings ---- */

/*
 * The library reports mappings of code as lines of /proc/self/maps, ascending.
 */

/* The next line that is a mapping of code; false: there is none. */
static bool next_line(struct str *text, struct maps_line *line)
{
	while (text->size > 0) {
		const char *end = memchr(text->data, '\n', text->size);
		size_t size = end ? (size_t)(end - text->data) : text->size;
		struct str one = {text->data, size};

		text->data += size + (end != NULL);
		text->size -= size + (end != NULL);
		if (maps_line_parse(one, line) && line->executable)
			return true;
	}
	return false;
}

/* Whether the process has code in [low, high). */
static bool has_code(const struct process *p, uint64_t low_va, uint64_t high_va)
{
	for (size_t i = 0; i < p->space.count; i++)
		if (p->space.mappings[i].low_va < high_va && p->space.mappings[i].high_va > low_va)
			return true;
	return false;
}

static void unmap(struct process *p, uint64_t low_va, uint64_t high_va)
{
	/* Removing code invalidates cached stacks, so do it only if there is any. */
	if (has_code(p, low_va, high_va))
		unwind_space_remove(&p->space, low_va, high_va);
}

/* Unmaps code between the lines. */
static void unmap_others(struct process *p, struct str text)
{
	struct maps_line line;
	uint64_t low_va = 0;

	while (next_line(&text, &line)) {
		if (line.low_va > low_va)
			unmap(p, low_va, line.low_va);
		if (line.high_va > low_va)
			low_va = line.high_va;
	}
	unmap(p, low_va, UINT64_MAX);
}

static void preload_maps_take(
	struct process_table *processes, struct process *p, struct str text, bool all)
{
	struct maps_line line;

	if (all)
		unmap_others(p, text);
	while (next_line(&text, &line)) {
		struct object_origin origin = {
			.pid = p->pid,
			.parent_pid = p->parent_pid,
			.path = line.path,
			.low_va = line.low_va,
			.high_va = line.high_va,
			.device = line.device,
			.inode = line.inode,
		};

		process_table_map(processes, p, &origin, line.file_off);
	}
}

/* ---- the engine ---- */

/* Time between collections, unless a thread could fill its slot sooner. */
#define TAKE_NS	     (SECOND_NS / 125)
#define TAKE_RECORDS (PRELOAD_RECORDS / 2)
/* The minimum time between checks of threads. */
#define WAIT_LEAST_NS (SECOND_NS / 2000)
/* Each round of checks begins at another thread. */
#define LOOK_STEP 61
/* The delivery of a signal and its return, in addition to the library's handler. */
#define SIGNAL_NS 3000

/* The thread that owns a slot. */
struct peer {
	bool known;  /* its start is known */
	bool ended;  /* its slot must be freed */
	bool sealed; /* it has stopped writing */
	pid_t pid, tid;
	struct preload_account account;
	uint64_t exit_ns; /* when its process began to exit; 0: not yet */
	struct preload_life life;
	uint32_t looks; /* how often it was checked */
	struct preload_want want;
};

struct engine_preload {
	struct engine engine;
	struct recording *recording;
	struct target *target;
	uint64_t interval_ns; /* between samples, as requested */
	bool rate_changed;
	uint64_t stolen_ns;
	struct preload_memory memory;
	struct preload_pool pool;
	struct preload_looks looks;
	struct preload_strays strays;
	uint64_t look_ns;    /* the next check of a thread */
	uint32_t first_look; /* slot to check first, so that all get their turn */
	struct peer peers[PRELOAD_SLOTS];
	struct preload_batch batch; /* being taken */
};

static struct engine_preload *self(struct engine *e)
{
	return (struct engine_preload *)e;
}

/* ---- threads ---- */

/* A record without a stack: it only has the CPU time used so far. */
static void use(struct engine_preload *e, struct peer *peer, const struct preload_record *head)
{
	preload_pool_use(&e->pool, &peer->account, head->cpu_ns);
	preload_looks_ran(&peer->life, peer->tid, head, OFFCPU_NO_NODE, e->interval_ns);
}

static void end_peer(struct engine_preload *e, uint32_t slot, uint64_t time_ns, bool exits)
{
	struct peer *peer = &e->peers[slot];

	if (!peer->known || peer->ended)
		return;
	if (e->engine.has_real_clock)
		preload_looks_end(&e->looks, &peer->life, peer->pid, peer->tid, time_ns);
	if (exits) {
		preload_pool_end(&e->pool, &peer->account);
		process_table_exit(e->recording->processes, peer->pid, peer->tid, time_ns);
	}
	atomic_store(&e->memory.slots[slot].pid, 0);
	peer->ended = true;
}

/* An exec ends all threads except the first, which keeps its CPU time so far. */
static struct preload_account end_others(
	struct engine_preload *e, const struct peer *now, const struct preload_record *head)
{
	uint32_t used = atomic_load(&e->memory.header->slots_used);
	struct preload_account account = {0};

	for (uint32_t slot = 0; slot < used && slot < PRELOAD_SLOTS; slot++) {
		struct peer *peer = &e->peers[slot];

		if (peer == now || !peer->known || peer->ended || peer->pid != now->pid)
			continue;
		if (peer->tid == now->tid) {
			use(e, peer, head);
			account = peer->account;
		}
		end_peer(e, slot, head->time_ns, peer->tid != now->tid);
	}
	return account;
}

static void start_process(
	struct engine_preload *e, const struct preload_start *start, uint64_t time_ns)
{
	struct process_table *processes = e->recording->processes;

	if (!process_table_find(processes, start->pid) || start->kind == PRELOAD_START_FORK) {
		/* If the parent is unknown, it is not part of the target. */
		bool has_parent = process_table_find(processes, start->parent_pid) != NULL;

		process_table_fork(processes, start->pid,
			has_parent ? start->parent_pid : start->pid, start->tid, time_ns);
	}
	if (start->kind == PRELOAD_START_EXEC)
		process_table_comm(
			processes, start->pid, start->tid, true, str_from(start->name), time_ns);
}

static void take_start(struct engine_preload *e, uint32_t slot, const struct preload_record *head,
	const struct preload_start *start)
{
	struct peer *peer = &e->peers[slot];

	if (peer->known || start->pid <= 0 || start->tid <= 0)
		return;
	*peer = (struct peer){.known = true, .pid = start->pid, .tid = start->tid};
	if (start->kind == PRELOAD_START_EXEC)
		peer->account = end_others(e, peer, head);
	if (start->kind == PRELOAD_START_THREAD)
		process_table_fork(
			e->recording->processes, start->pid, start->pid, start->tid, head->time_ns);
	else
		start_process(e, start, head->time_ns);
	preload_pool_use(&e->pool, &peer->account, head->cpu_ns);
	if (e->engine.has_real_clock)
		preload_looks_begin(
			&e->looks, &peer->life, peer->pid, peer->tid, head->time_ns, head->cpu_ns);
}

/* An exit ends all threads of the process; only one of them writes a record. */
static void note_exit(struct engine_preload *e, const struct peer *exiting, uint64_t time_ns)
{
	uint32_t used = atomic_load(&e->memory.header->slots_used);

	for (uint32_t slot = 0; slot < used && slot < PRELOAD_SLOTS; slot++)
		if (e->peers[slot].known && e->peers[slot].pid == exiting->pid)
			e->peers[slot].exit_ns = time_ns;
}

/* ---- records ---- */

/*
 * Sets how much of its stack the thread should write next.  other: the stack was read from outside,
 * and is not that of a sample.
 */
static void tell_wants(
	struct engine_preload *e, uint32_t slot, const struct perf_sample *sample, bool other)
{
	struct process *p = process_table_find(e->recording->processes, sample->pid);
	struct thread *thread;

	if (!p)
		return;
	preload_memory_tell_go(&e->memory, slot, p->go_below);
	thread = process_table_thread(e->recording->processes, p, sample->tid, sample->time_ns);
	if (other)
		preload_want_other(&e->peers[slot].want, &e->memory, slot, thread->history,
			sample->stack_size);
	else
		preload_want_next(&e->peers[slot].want, &e->memory, slot,
			&(struct preload_walked){sample->time_ns, thread->history,
				sample->stack_size, e->recording->snapshot.memory.asked});
}

static void take_sample(struct engine_preload *e, uint32_t slot, const struct preload_record *head,
	const uint8_t *body, size_t size)
{
	struct peer *peer = &e->peers[slot];
	struct perf_sample sample = {.time_ns = head->time_ns, .pid = peer->pid, .tid = peer->tid};
	uint64_t took_ns;

	if (!preload_sample_read(body, size, &sample, &e->recording->snapshot.rest, &took_ns)) {
		e->memory.broken++;
		return;
	}
	sample.period = preload_pool_sample(&e->pool, &peer->account, head->cpu_ns);
	struct snapshot_place place = recording_take_clock(e->recording, &sample);

	e->recording->snapshot.rest.others.count = 0;
	preload_looks_ran(&peer->life, peer->tid, head, place.node, e->interval_ns);
	tell_wants(e, slot, &sample, false);
	if (took_ns < SECOND_NS)
		e->stolen_ns += SIGNAL_NS + took_ns;
}

static void take_maps(struct engine_preload *e, const struct peer *peer, struct str text, bool all,
	uint64_t time_ns)
{
	struct process_table *processes = e->recording->processes;

	preload_maps_take(processes, process_table_get(processes, peer->pid, time_ns), text, all);
}

static void take_name(struct engine_preload *e, const struct peer *peer,
	const struct preload_record *head, struct str name)
{
	const char *end = memchr(name.data, '\0', name.size);

	if (end)
		name.size = (size_t)(end - name.data);
	process_table_comm(
		e->recording->processes, peer->pid, peer->tid, false, name, head->time_ns);
}

/* The least size of a record's body. */
static size_t body_least(uint32_t type)
{
	switch (type) {
	case PRELOAD_START:
		return sizeof(struct preload_start);
	case PRELOAD_SAMPLE:
		return sizeof(struct preload_sample);
	case PRELOAD_NAME:
		return 1;
	default:
		return 0;
	}
}

static void take_known(struct engine_preload *e, uint32_t slot, const struct preload_record *head,
	const uint8_t *body, size_t size)
{
	struct peer *peer = &e->peers[slot];
	struct str text = {(const char *)body, size};

	switch (head->type) {
	case PRELOAD_SAMPLE:
		take_sample(e, slot, head, body, size);
		break;
	case PRELOAD_NAME:
		take_name(e, peer, head, text);
		break;
	case PRELOAD_MAPS_ADDED:
	case PRELOAD_MAPS_ALL:
		take_maps(e, peer, text, head->type == PRELOAD_MAPS_ALL, head->time_ns);
		break;
	case PRELOAD_USED:
	case PRELOAD_END:
	case PRELOAD_SEALED:
		use(e, peer, head);
		peer->sealed = head->type == PRELOAD_SEALED;
		if (peer->sealed)
			break;
		if (head->type == PRELOAD_USED)
			note_exit(e, peer, head->time_ns);
		else
			end_peer(e, slot, head->time_ns, true);
		break;
	default:
		break;
	}
}

static void take_record(struct engine_preload *e, const struct preload_waiting *waiting)
{
	const uint8_t *bytes = preload_memory_copy(&e->memory, waiting->slot, waiting->i);
	struct preload_record head;

	if (!bytes) {
		e->memory.broken++;
		return;
	}
	memcpy(&head, bytes, sizeof(head));
	size_t size = head.size - sizeof(head);

	if (size < body_least(head.type)) {
		e->memory.broken++;
	} else if (head.type == PRELOAD_START) {
		struct preload_start start;

		memcpy(&start, bytes + sizeof(head), sizeof(start));
		start.name[sizeof(start.name) - 1] = '\0';
		take_start(e, waiting->slot, &head, &start);
	} else if (e->peers[waiting->slot].known && !e->peers[waiting->slot].ended) {
		take_known(e, waiting->slot, &head, bytes + sizeof(head), size);
	}
}

/* ---- all waiting records, in order of time ---- */

/* Added mappings are reported after the sample that used them. */
static void take_maps_early(struct engine_preload *e, const struct preload_waiting *waiting)
{
	const struct peer *peer = &e->peers[waiting->slot];
	const uint8_t *bytes = peer->known && !peer->ended
				       ? preload_memory_copy(&e->memory, waiting->slot, waiting->i)
				       : NULL;
	struct preload_record head;

	if (!bytes)
		return;
	memcpy(&head, bytes, sizeof(head));
	if (head.type == PRELOAD_MAPS_ADDED)
		take_maps(e, peer,
			(struct str){(const char *)bytes + sizeof(head), head.size - sizeof(head)},
			false, head.time_ns);
}

static void free_ended(struct engine_preload *e, uint32_t slot)
{
	if (!e->peers[slot].ended || preload_memory_waiting(&e->memory, slot) > 0)
		return;
	e->peers[slot] = (struct peer){0};
	preload_memory_free(&e->memory, slot);
}

static void take_all(struct engine_preload *e)
{
	struct preload_batch *b = &e->batch;

	preload_batch_clear(b);
	preload_batch_take(b, &e->memory);
	for (size_t i = 0; i < b->records.count; i++)
		if (b->records.data[i].type == PRELOAD_MAPS_ADDED)
			take_maps_early(e, &b->records.data[i]);
	for (size_t i = 0; i < b->records.count; i++)
		take_record(e, &b->records.data[i]);
	preload_batch_release(b, &e->memory);
	for (size_t i = 0; i < b->slots.count; i++)
		free_ended(e, b->slots.data[i]);
}

/* ---- threads that ended without a record ---- */

static bool is_gone(const struct peer *peer)
{
	return syscall(SYS_tgkill, peer->pid, peer->tid, 0) != 0 && errno == ESRCH;
}

static void sweep(struct engine_preload *e)
{
	uint32_t used = atomic_load(&e->memory.header->slots_used);
	uint64_t now_ns = clock_monotonic_ns();

	for (uint32_t slot = 0; slot < used && slot < PRELOAD_SLOTS; slot++) {
		struct peer *peer = &e->peers[slot];
		uint32_t owner = preload_memory_owner(&e->memory, slot);

		if (peer->known && !peer->ended && is_gone(peer)) {
			take_all(e);
			end_peer(e, slot, peer->exit_ns ? peer->exit_ns : now_ns, true);
		} else if (!peer->known && owner != 0 &&
			   preload_memory_waiting(&e->memory, slot) == 0 &&
			   kill((pid_t)owner, 0) != 0 && errno == ESRCH) {
			preload_memory_free(&e->memory, slot);
		}
		free_ended(e, slot);
	}
}

/* Returns the data about a thread with a slot.  False: it has none. */
static bool told_by(void *context, pid_t tid, struct preload_told *told)
{
	const struct engine_preload *e = context;
	uint32_t used = atomic_load(&e->memory.header->slots_used);

	for (uint32_t slot = 0; slot < used && slot < PRELOAD_SLOTS; slot++) {
		const struct peer *peer = &e->peers[slot];

		if (!peer->known || peer->ended || peer->tid != tid)
			continue;
		*told = (struct preload_told){peer->pid, peer->account.used_ns, peer->sealed};
		return true;
	}
	return false;
}

/* ---- checks of threads that write nothing ---- */

/*
 * Threads report their names with samples.  The name of a sleeping thread is read at checks 1, 2,
 * 4, ...
 */
static void look_for_name(struct engine_preload *e, struct peer *peer, uint64_t now_ns)
{
	struct proc_stat stat;

	peer->looks++;
	if ((peer->looks & (peer->looks - 1)) == 0 && proc_stat_read(peer->pid, peer->tid, &stat))
		process_table_comm(e->recording->processes, peer->pid, peer->tid, false,
			str_from(stat.name), now_ns);
}

static void look_at(struct engine_preload *e, uint32_t slot, uint64_t now_ns)
{
	struct peer *peer = &e->peers[slot];
	struct perf_sample sample;

	if (!peer->known || peer->ended || !peer->life.is_on)
		return;
	if (peer->life.due_ns <= now_ns)
		look_for_name(e, peer, clock_monotonic_ns());
	if (peer->life.due_ns <= now_ns &&
		preload_looks_look(&e->looks, &peer->life, peer->pid, peer->tid,
			clock_monotonic_ns(), &sample) == PRELOAD_FOUND_STACK)
		tell_wants(e, slot, &sample, true);
	if (peer->life.look_by_ns < e->look_ns)
		e->look_ns = peer->life.look_by_ns;
}

static void look_at_all(struct engine_preload *e)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint32_t used = atomic_load(&e->memory.header->slots_used);

	if (!e->engine.has_real_clock || now_ns < e->look_ns || used == 0)
		return;
	if (used > PRELOAD_SLOTS)
		used = PRELOAD_SLOTS;
	e->look_ns = now_ns + TAKE_NS;
	for (uint32_t i = 0; i < used && preload_looks_grant(&e->looks, now_ns); i++)
		look_at(e, (e->first_look + i) % used, now_ns);
	e->first_look = (e->first_look + LOOK_STEP) % used;
}

/* The recording ends, which ends the recorded time of all threads that still live. */
static void end_lives(struct engine_preload *e)
{
	for (uint32_t slot = 0; slot < PRELOAD_SLOTS; slot++) {
		struct peer *peer = &e->peers[slot];

		if (!peer->known || peer->ended || !peer->life.is_on)
			continue;
		peer->life.due_ns = 0;
		look_at(e, slot, UINT64_MAX);
		preload_looks_end(
			&e->looks, &peer->life, peer->pid, peer->tid, clock_monotonic_ns());
	}
}

/* ---- the engine ---- */

static void poll_fds(struct engine *engine, pollfd_vec *fds)
{
	(void)engine;
	(void)fds;
}

static void drain(struct engine *engine)
{
	struct engine_preload *e = self(engine);

	atomic_store(&e->memory.header->heartbeat_ns, clock_monotonic_ns());
	take_all(e);
	look_at_all(e);
	if (e->target->ended)
		sweep(e);
}

static uint64_t take_ns(const struct engine_preload *e)
{
	uint64_t fills_ns = TAKE_RECORDS * atomic_load(&e->memory.header->interval_ns);

	return fills_ns < TAKE_NS ? fills_ns : TAKE_NS;
}

static uint64_t wait_ns(struct engine *engine)
{
	const struct engine_preload *e = self(engine);
	uint64_t now_ns = clock_monotonic_ns(), most_ns = take_ns(e);
	uint64_t look_ns = e->look_ns > now_ns ? e->look_ns - now_ns : 0;

	if (!e->engine.has_real_clock || look_ns > most_ns)
		return most_ns;
	if (look_ns < WAIT_LEAST_NS)
		look_ns = WAIT_LEAST_NS;
	return look_ns < most_ns ? look_ns : most_ns;
}

static void watch(struct engine *engine)
{
	struct engine_preload *e = self(engine);

	sweep(e);
	preload_strays_look(&e->strays, clock_monotonic_ns());
}

static void slow_down(struct engine *engine, uint32_t halvings)
{
	struct engine_preload *e = self(engine);

	e->rate_changed = true;
	atomic_store(&e->memory.header->interval_ns, e->interval_ns << halvings);
}

static void stop(struct engine *engine)
{
	struct engine_preload *e = self(engine);

	atomic_store(&e->memory.header->stop, 1);
	end_lives(e);
}

static void counts(struct engine *engine, struct engine_counts *counts)
{
	struct engine_preload *e = self(engine);

	*counts = (struct engine_counts){
		.cpu_ns = e->pool.total_ns,
		.lost = e->memory.lost_total,
		.stolen_ns = e->stolen_ns,
		.by_use = true,
		.rate_changed = e->rate_changed,
		.broken_records = e->memory.broken,
		.refused_threads = atomic_load(&e->memory.header->refused),
		.sealed_threads = atomic_load(&e->memory.header->sealed),
		.kernel = true, /* only its time; the library has no kernel frames */
	};
	memcpy(counts->stray_ns, e->strays.ns, sizeof(counts->stray_ns));
}

static bool has_ended(struct engine *engine, uint64_t alive_ns)
{
	(void)engine;
	(void)alive_ns;
	return false;
}

static void close_engine(struct engine *engine)
{
	struct engine_preload *e = self(engine);

	if (e->memory.header)
		atomic_store(&e->memory.header->stop, 1);
	preload_looks_deinit(&e->looks);
	preload_strays_deinit(&e->strays);
	preload_memory_deinit(&e->memory);
	preload_batch_deinit(&e->batch);
	free(e);
}

static const struct engine_ops ops = {
	.name = "preload",
	.poll_fds = poll_fds,
	.drain = drain,
	.wait_ns = wait_ns,
	.watch = watch,
	.slow_down = slow_down,
	.stop = stop,
	.counts = counts,
	.has_ended = has_ended,
	.close = close_engine,
};

struct error *engine_preload_open(const struct engine_setup *setup, struct engine **engine)
{
	struct preload_variables preload = {0};
	struct error *err;

	if (setup->target->kind != TARGET_COMMAND)
		return error_new(ERROR_UNSUPPORTED,
			"the preload engine records a command that it starts, and nothing else");
	if (setup->options->clock == RECORDER_CLOCK_REAL && !preload_looks_are_possible())
		return error_new(ERROR_UNSUPPORTED,
			"the preload engine needs /proc/PID/schedstat for the real clock");
	struct engine_preload *e = xalloc(sizeof(*e));

	err = preload_memory_init(&e->memory, setup->options->interval_ns);

	e->engine = (struct engine){.ops = &ops,
		.has_real_clock = setup->options->clock != RECORDER_CLOCK_VIRTUAL &&
				  preload_looks_are_possible()};
	preload_looks_init(&e->looks, setup->recording);
	e->recording = setup->recording;
	e->target = setup->target;
	e->interval_ns = e->pool.interval_ns = setup->options->interval_ns;
	if (!err)
		err = preload_variables_init(&preload, &e->memory,
			setup->target->preload ? setup->target->preload : getenv("LD_PRELOAD"));
	if (!err)
		err = target_start(setup->target, preload.variables);
	preload_variables_deinit(&preload);
	if (err) {
		close_engine(&e->engine);
		return err;
	}
	e->recording->snapshot.is_copied = true;
	preload_strays_init(&e->strays, setup->target->launch.pid, &e->memory, told_by, e);
	*engine = &e->engine;
	return NULL;
}
