/*
 * Threads: each has its slot in the shared memory, a timer, and a thread-local key whose destructor
 * reports its end.
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "preload/raw.h"

/*
 * The mapping below a thread's control block is its stack.  The stack's end is known except for the
 * size of the control block, hence the margin.
 */
#define STACK_MARGIN ((uint64_t)16 << 10)

static pthread_key_t end_key;

/* ---- records ---- */

struct preload_thread *preload_enter(void)
{
	struct preload_thread *t = &preload_self;

	/* The child of a vfork, or of a fork unknown to libc, is not this thread. */
	if (!t->active || t->busy || raw0(SYS_gettid) != t->tid)
		return NULL;
	t->busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	return t;
}

void preload_leave(struct preload_thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = false;
}

void *preload_record_begin(struct preload_thread *t, uint32_t type, size_t size)
{
	struct preload_record *record;
	size_t room;

	size += sizeof(*record);
	record = (void *)preload_lane_begin(&t->lane, size, size, &room);
	if (!record)
		return NULL;
	*record = (struct preload_record){
		.type = type, .time_ns = preload_now_ns(), .cpu_ns = preload_cpu_ns()};
	return record + 1;
}

void preload_record_end(struct preload_thread *t, size_t size)
{
	struct preload_record *record = (void *)(t->lane.data + t->lane.begin);

	record->size = (uint32_t)(sizeof(*record) + size);
	preload_lane_end(&t->lane, record->size);
}

void preload_thread_account(struct preload_thread *t, uint32_t type)
{
	if (preload_record_begin(t, type, 0))
		preload_record_end(t, 0);
}

/* ---- threads with slots ---- */

static struct preload_thread *registered;
static atomic_flag list_locked = ATOMIC_FLAG_INIT;

/* For a few instructions; handlers that interrupt them do not use the list. */
static void list_lock(void)
{
	while (atomic_flag_test_and_set(&list_locked))
		continue;
}

static void list_unlock(void)
{
	atomic_flag_clear(&list_locked);
}

static void list_add(struct preload_thread *t)
{
	list_lock();
	t->next = registered;
	registered = t;
	list_unlock();
}

static void list_remove(struct preload_thread *t)
{
	list_lock();
	for (struct preload_thread **at = &registered; *at; at = &(*at)->next)
		if (*at == t) {
			*at = t->next;
			break;
		}
	list_unlock();
}

/* ---- start and end ---- */

static int32_t parse_id(const char **text)
{
	int32_t id = 0;

	while (**text >= '0' && **text <= '9')
		id = id * 10 + (*(*text)++ - '0');
	return id;
}

/*
 * The thread's ids in the recorder's pid namespace, which may be another one.  /proc belongs to the
 * recorder's namespace; otherwise its memory would not have been found.
 */
static void global_ids(int32_t *pid, int32_t *tid)
{
	char link[64];
	long size = raw4(SYS_readlinkat, -100, "/proc/thread-self", link, sizeof(link) - 1);
	const char *text = link;

	*pid = getpid();
	*tid = (int32_t)raw0(SYS_gettid);
	if (size <= 0)
		return;
	link[size] = '\0';
	int32_t process = parse_id(&text);

	if (strncmp(text, "/task/", 6) != 0)
		return;
	text += 6;
	*pid = process;
	*tid = parse_id(&text);
}

static void tell_start(struct preload_thread *t, const struct preload_start *start)
{
	struct preload_start *out = preload_record_begin(t, PRELOAD_START, sizeof(*out));

	if (!out)
		return;
	*out = *start;
	preload_record_end(t, sizeof(*out));
}

void preload_thread_begin(uint32_t kind, int32_t parent_pid, uint64_t low_va, uint64_t high_va)
{
	struct preload_thread *t = &preload_self;
	struct preload_start start = {.kind = kind, .parent_pid = parent_pid};

	if (!preload_process.on || atomic_load(&preload_process.header->stop))
		return;
	global_ids(&start.pid, &start.tid);
	preload_process.global_pid = start.pid;
	if (!preload_lane_take(&t->lane, (uint8_t *)preload_process.header,
		    preload_process.slot_count, (uint32_t)start.tid))
		return;
	if (!preload_piece_map(&t->lane)) {
		preload_lane_refuse(&t->lane);
		return;
	}
	preload_lock_note(t->lane.number, true);
	list_add(t);
	t->tid = (int)raw0(SYS_gettid);
	t->stack_low_va = low_va;
	t->stack_high_va = high_va;
	t->marked = (struct preload_marked){0};
	t->samples = 0;
	prctl(PR_GET_NAME, t->name);
	memcpy(start.name, t->name, sizeof(start.name));
	tell_start(t, &start);
	if (kind == PRELOAD_START_EXEC && preload_process.header->clock_fd_least == 0)
		preload_maps_tell(t, PRELOAD_MAPS_ALL);
	pthread_setspecific(end_key, t);
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = false;
	t->active = true;
	preload_timer_begin(t);
	atomic_store(&t->lane.slot->pid, start.pid);
}

void preload_thread_forked(int32_t parent_pid)
{
	struct preload_thread *t = &preload_self;

	if (!t->active)
		return;
	t->active = t->has_timer = t->has_tick = false;
	preload_piece_unmap(&t->lane);
	registered = NULL;
	atomic_flag_clear(&list_locked);
	preload_thread_begin(PRELOAD_START_FORK, parent_pid, t->stack_low_va, t->stack_high_va);
}

static void thread_end(void *self)
{
	struct preload_thread *t = self;

	list_remove(t);
	if (!preload_enter())
		return;
	preload_thread_account(t, PRELOAD_END);
	t->active = false;
	atomic_store(&t->lane.slot->pid, 0);
	preload_lock_note(t->lane.number, false);
	preload_timer_end(t);
	preload_leave(t);
	preload_piece_unmap(&t->lane);
}

__attribute__((constructor(101))) static void make_key(void)
{
	pthread_key_create(&end_key, thread_end);
}

/* ---- seccomp ---- */

/* Prevents further signals to it. */
static void withdraw(struct preload_thread *t)
{
	atomic_store(&t->lane.slot->pid, 0);
	preload_timer_end(t);
}

void preload_thread_seal(void)
{
	struct preload_thread *t = &preload_self;

	t->was_active = preload_enter() != NULL;
	if (t->was_active) {
		withdraw(t);
		t->active = false;
		preload_thread_account(t, PRELOAD_SEALED);
		preload_leave(t);
	}
	preload_signals_hold(true);
	t->sealed = true;
	atomic_fetch_add(&preload_process.header->sealed, 1);
}

void preload_thread_unseal(void)
{
	struct preload_thread *t = &preload_self;

	if (!t->sealed)
		return;
	t->sealed = false;
	atomic_fetch_sub(&preload_process.header->sealed, 1);
	preload_signals_hold(false);
	if (!t->was_active)
		return;
	t->active = true;
	preload_timer_begin(t);
	atomic_store(&t->lane.slot->pid, preload_process.global_pid);
}

void preload_thread_seal_all(void)
{
	struct timespec moment = {.tv_nsec = 100000};

	list_lock();
	for (struct preload_thread *t = registered; t; t = t->next) {
		withdraw(t);
		t->active = false;
		/* It may be writing, or about to set its timer again. */
		while (t->busy && t != &preload_self)
			raw2(SYS_nanosleep, &moment, NULL);
		withdraw(t);
		atomic_fetch_add(&preload_process.header->sealed, 1);
	}
	list_unlock();
	preload_signals_end();
	preload_self.sealed = true;
}

/* ---- pthread_create ---- */

struct thread_call {
	void *(*run)(void *);
	void *argument;
};

struct thread_plan {
	atomic_flag taken;
	bool is_heap;
	bool blocked; /* the program has blocked our signal */
	struct thread_call call;
	size_t stack_bytes;
};

/* Enough for threads being created; allocating would use the program's own heap. */
static struct thread_plan plans[64];

static struct thread_plan *plan_take(void)
{
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		if (!atomic_flag_test_and_set(&plans[i].taken))
			return &plans[i];
	struct thread_plan *plan = calloc(1, sizeof(*plan));

	if (plan)
		plan->is_heap = true;
	return plan;
}

static void plan_release(struct thread_plan *plan)
{
	if (plan->is_heap)
		free(plan);
	else
		atomic_flag_clear(&plan->taken);
}

static size_t stack_bytes_of(const pthread_attr_t *attributes)
{
	pthread_attr_t usual;
	size_t size = 0;

	if (attributes) {
		pthread_attr_getstacksize(attributes, &size);
	} else if (pthread_getattr_default_np(&usual) == 0) {
		pthread_attr_getstacksize(&usual, &size);
		pthread_attr_destroy(&usual);
	}
	return size;
}

static __attribute__((noinline)) struct thread_call thread_begin(struct thread_plan *plan)
{
	struct thread_call call = plan->call;
	uint64_t high_va = (uint64_t)(uintptr_t)raw_thread_pointer();
	uint64_t size = plan->stack_bytes;
	bool blocked = plan->blocked;

	plan_release(plan);
	preload_signals_thread(blocked);
	if (size > STACK_MARGIN && size < high_va)
		preload_thread_begin(PRELOAD_START_THREAD, preload_process.global_pid,
			high_va - size + STACK_MARGIN, high_va);
	else
		preload_thread_begin(PRELOAD_START_THREAD, preload_process.global_pid, 0, 0);
	return call;
}

/* The last call leaves no frame of ours on the stack. */
static void *thread_main(void *plan)
{
	struct thread_call call = thread_begin(plan);

	return call.run(call.argument);
}

typedef int pthread_create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

preload_exported int pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	static _Atomic(pthread_create_fn *) real;
	pthread_create_fn *create = real;
	struct thread_plan *plan;

	if (!create)
		real = create = (pthread_create_fn *)dlsym(RTLD_NEXT, "pthread_create");
	if (!preload_process.on || preload_self.sealed || !(plan = plan_take()))
		return create(thread, attributes, run, argument);
	plan->call = (struct thread_call){run, argument};
	plan->blocked = preload_signals_blocked();
	plan->stack_bytes = stack_bytes_of(attributes);
	int code = create(thread, attributes, thread_main, plan);

	if (code != 0)
		plan_release(plan);
	return code;
}
