/*
 * Opens perf events on tasks or CPUs, with their output to the CPU's rings, and switches them on
 * and off.
 */
#include "record/engines/perf/perf_event.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/search.h"
#include "record/engines/perf/perf_plan.h"

/* ---- events ---- */

static enum perf_stream stream_of(enum perf_role role)
{
	switch (role) {
	case PERF_ROLE_TRACK:
		return PERF_STREAM_TRACK;
	case PERF_ROLE_SWITCH:
		return PERF_STREAM_SWITCHES;
	case PERF_ROLE_SWITCH_STACK:
		return PERF_STREAM_SWITCH_STACKS;
	case PERF_ROLE_COUNTER:
		return PERF_STREAM_COUNTERS;
	case PERF_ROLE_CLOCK:
		break;
	}
	return PERF_STREAM_SAMPLES;
}

static bool is_sampler(struct perf_source source)
{
	return source.role != PERF_ROLE_TRACK && source.role != PERF_ROLE_SWITCH;
}

/* Opens one event, with its output to the CPU's ring. 0, or an errno. */
static int event_open(struct perf_event_set *set, const struct perf_event_cpu *cpu,
	struct perf_source source, pid_t task, bool on_exec)
{
	struct perf_event event = {.source = source, .cpu_number = cpu->number, .task = task};
	struct perf_event_attr attr;
	int code = 0;

	perf_plan_attr(set, source, &attr);
	attr.disabled |= set->is_held;
	attr.enable_on_exec = on_exec && is_sampler(source) && perf_plan_runs(set, source);
	if (task < 0) {
		attr.inherit = 0;
		attr.exclude_idle = source.role == PERF_ROLE_CLOCK;
	}
	event.fd = perf_attr_open(&attr, task, cpu->number);
	if (event.fd < 0)
		return errno;
	if (ioctl(event.fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->anchor_fd[stream_of(source.role)]) ||
		ioctl(event.fd, PERF_EVENT_IOC_ID, &event.id))
		code = errno;
	if (!code && set->spec.exact && is_sampler(source))
		code = exact_attach(set->spec.exact, event.fd);
	if (code) {
		close(event.fd);
		return code;
	}
	vec_push(&set->events, event);
	return 0;
}

static void drop_events(struct perf_event_set *set, size_t from)
{
	while (set->events.count > from)
		close(set->events.data[--set->events.count].fd);
}

static int events_open_on(struct perf_event_set *set, const struct perf_event_cpu *cpu, pid_t task,
	bool on_exec, enum perf_role role, size_t count)
{
	int code = 0;

	for (uint32_t i = 0; i < count && !code; i++)
		code = event_open(
			set, cpu, (struct perf_source){role, i, set->rank}, task, on_exec);
	return code;
}

static int task_open(struct perf_event_set *set, pid_t task, bool on_exec)
{
	struct perf_role_count wanted[PERF_ROLE_COUNT];
	size_t before = set->events.count;
	int code = 0;

	perf_plan_task(set, task, &wanted);
	set->rank++;
	for (size_t i = 0; i < set->cpus.count; i++)
		for (size_t k = 0; k < PERF_ROLE_COUNT && !code; k++)
			code = events_open_on(set, &set->cpus.data[i], task, on_exec,
				wanted[k].role, wanted[k].count);
	if (code)
		drop_events(set, before);
	return code;
}

static void switch_event(const struct perf_event *event, bool on)
{
	ioctl(event->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* Brings the samplers from `from` on into the state that they are to be in; old ones stay off. */
static void switch_samplers(struct perf_event_set *set, size_t from)
{
	for (size_t i = from < set->old ? set->old : from; i < set->events.count; i++) {
		struct perf_event *event = &set->events.data[i];

		if (is_sampler(event->source))
			switch_event(event, !set->is_stopped && perf_plan_runs(set, event->source));
	}
}

static int add_task(struct perf_event_set *set, pid_t task)
{
	size_t before = set->events.count;
	int code = task_open(set, task, false);

	if (code)
		return code;
	if (task < 0)
		set->is_wide = set->tracks_all = true;
	if (!set->is_stopped)
		switch_samplers(set, before);
	return 0;
}

int perf_event_set_add(struct perf_event_set *set, pid_t task)
{
	pthread_mutex_lock(&set->lock);
	int code = add_task(set, task);

	pthread_mutex_unlock(&set->lock);
	return code;
}

struct error *perf_event_set_prepare(
	struct perf_event_set *set, const struct perf_event_spec *spec, pid_t tried_on)
{
	struct error *err;

	*set = (struct perf_event_set){.spec = *spec, .is_stopped = true};
	pthread_mutex_init(&set->lock, NULL);
	set->grant = (struct perf_grant){.kernel = true,
		.build_id = true,
		.lost_counts = true,
		.stack_bytes = PERF_STACK_BYTES_MIN};
	int code = perf_grant_probe(&set->grant, tried_on);

	if (code)
		return error_system(code, "perf_event_open");
	err = perf_rings_open(set);
	if (err)
		return err;
	perf_plan(set);
	return NULL;
}

struct error *perf_event_set_open(
	struct perf_event_set *set, const struct perf_event_spec *spec, pid_t first, bool on_exec)
{
	struct error *err = perf_event_set_prepare(set, spec, first);

	if (err)
		return err;
	set->is_stopped = !on_exec;
	int code = task_open(set, first, on_exec);

	if (!code)
		return NULL;
	perf_event_set_close(set);
	return error_system(code, "perf_event_open");
}

void perf_event_set_close(struct perf_event_set *set)
{
	drop_events(set, 0);
	vec_deinit(&set->events);
	vec_deinit(&set->gears);
	perf_rings_close(set);
}

const struct perf_source *perf_event_set_find(const struct perf_event_set *set, uint64_t id)
{
	/* The kernel counts its ids upwards, so the events are in their order. */
	size_t at = partition_point(i, 0, set->events.count, set->events.data[i].id < id);
	if (at < set->events.count && set->events.data[at].id == id)
		return &set->events.data[at].source;
	return NULL;
}

/* ---- while it runs ---- */

/* Closes the events before `end`, and remembers what they have counted. */
static void drop_first_events(struct perf_event_set *set, size_t end)
{
	perf_event_set_remember(set, end);
	for (size_t i = 0; i < end; i++)
		close(set->events.data[i].fd);
	set->events.count -= end;
	memmove(set->events.data, set->events.data + end,
		set->events.count * sizeof(*set->events.data));
}

static bool widen(struct perf_event_set *set)
{
	size_t before = set->events.count;
	bool was_stopped = set->is_stopped;

	/* Nobody shall be sampled twice; to be tracked twice does no harm. */
	set->is_stopped = true;
	int code = add_task(set, -1);

	set->is_stopped = was_stopped;
	if (code)
		return false;
	drop_first_events(set, before);
	switch_samplers(set, 0);
	return true;
}

bool perf_event_set_widen(struct perf_event_set *set)
{
	pthread_mutex_lock(&set->lock);
	bool is_done = widen(set);

	pthread_mutex_unlock(&set->lock);
	return is_done;
}

/* ---- renewing ---- */

void perf_event_set_renew(const struct perf_event_set *set, struct exact *exact,
	uint32_t stack_bytes, struct perf_event_set *fresh)
{
	uint32_t halvings = set->chosen / set->size_count;

	*fresh = (struct perf_event_set){.spec = set->spec,
		.grant = set->grant,
		.rank = set->rank,
		.thinning = set->thinning,
		.is_stopped = true,
		.is_held = true,
		.lock = PTHREAD_MUTEX_INITIALIZER};
	fresh->spec.exact = exact;
	fresh->spec.stack_bytes_most = stack_bytes;
	memcpy(&fresh->cpus, &set->cpus, sizeof(fresh->cpus));
	memcpy(fresh->gear_of, set->gear_of, sizeof(fresh->gear_of));
	perf_plan(fresh);
	fresh->chosen = fresh->clock = halvings * fresh->size_count;
	if (fresh->stack_rates == 1)
		fresh->thinning = 0;
}

static void take_plan(struct perf_event_set *set, struct perf_event_set *fresh)
{
	set->spec = fresh->spec;
	set->grant = fresh->grant;
	memcpy(set->clocks, fresh->clocks, sizeof(set->clocks));
	set->clock_count = fresh->clock_count;
	set->size_count = fresh->size_count;
	set->quick = fresh->quick;
	set->chosen = set->clock = fresh->chosen;
	set->rank = fresh->rank;
	set->stack_rates = fresh->stack_rates;
	set->thinning = fresh->thinning;
	set->is_wide = fresh->is_wide;
	set->tracks_all = fresh->tracks_all;
	vec_deinit(&set->gears);
	memcpy(&set->gears, &fresh->gears, sizeof(set->gears));
}

static void take_events(struct perf_event_set *set, struct perf_event_set *fresh)
{
	set->old = set->events.count;
	for (size_t i = 0; i < fresh->events.count; i++)
		vec_push(&set->events, fresh->events.data[i]);
	vec_deinit(&fresh->events);
}

/* Who is tracked twice for a moment takes no harm; who is sampled twice does. */
void perf_event_set_replace(struct perf_event_set *set, struct perf_event_set *fresh)
{
	pthread_mutex_lock(&set->lock);
	for (size_t i = 0; i < fresh->events.count; i++)
		if (!is_sampler(fresh->events.data[i].source))
			switch_event(&fresh->events.data[i], true);
	for (size_t i = 0; i < set->events.count; i++)
		switch_event(&set->events.data[i], false);
	take_plan(set, fresh);
	take_events(set, fresh);
	switch_samplers(set, set->old);
	pthread_mutex_unlock(&set->lock);
}

void perf_event_set_drop_old(struct perf_event_set *set)
{
	pthread_mutex_lock(&set->lock);
	drop_first_events(set, set->old);
	set->old = 0;
	pthread_mutex_unlock(&set->lock);
}

void perf_event_set_cancel(struct perf_event_set *fresh)
{
	drop_events(fresh, 0);
	vec_deinit(&fresh->events);
	vec_deinit(&fresh->gears);
}

/* ---- which clock ---- */

/* Changes which events are to run. */
static void change(struct perf_event_set *set, uint32_t *choice, uint32_t value)
{
	if (*choice == value)
		return;
	pthread_mutex_lock(&set->lock);
	*choice = value;
	switch_samplers(set, 0);
	pthread_mutex_unlock(&set->lock);
}

void perf_event_set_choose(struct perf_event_set *set, uint32_t halvings, bool small)
{
	uint32_t clock = halvings * set->size_count + (small && set->size_count > 1);

	assert(clock < set->clock_count);
	set->chosen = clock;
	if (set->clock != set->quick)
		change(set, &set->clock, clock);
}

bool perf_event_set_quicken(struct perf_event_set *set, bool quick)
{
	if (set->quick == PERF_NO_CLOCK || set->is_wide)
		return false;
	change(set, &set->clock, quick ? set->quick : set->chosen);
	return true;
}

void perf_event_set_thin(struct perf_event_set *set, double stacks_hz, double switches_hz)
{
	change(set, &set->thinning, perf_plan_thinning(set, stacks_hz, switches_hz));
}

void perf_event_set_shift(struct perf_event_set *set, uint32_t counter, uint32_t gear)
{
	change(set, &set->gear_of[counter], gear);
}

bool perf_event_set_hung_up(const struct perf_event_set *set)
{
	for (size_t i = 0; i < set->events.count; i++) {
		struct pollfd fd = {.fd = set->events.data[i].fd};

		if (set->events.data[i].source.role != PERF_ROLE_CLOCK)
			continue;
		if (poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLHUP | POLLERR)))
			return false;
	}
	return true;
}

static void set_stopped(struct perf_event_set *set, bool is_stopped)
{
	pthread_mutex_lock(&set->lock);
	if (set->is_stopped != is_stopped) {
		__atomic_store_n(&set->is_stopped, is_stopped, __ATOMIC_RELAXED);
		switch_samplers(set, 0);
	}
	pthread_mutex_unlock(&set->lock);
}

void perf_event_set_stop(struct perf_event_set *set)
{
	set_stopped(set, true);
}

void perf_event_set_go_on(struct perf_event_set *set)
{
	set_stopped(set, false);
}

bool perf_event_set_is_stopped(const struct perf_event_set *set)
{
	return __atomic_load_n(&set->is_stopped, __ATOMIC_RELAXED);
}
