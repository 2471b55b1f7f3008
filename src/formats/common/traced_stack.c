/* Makes stacks from entries and exits.  See traced_stack.h. */
#include "formats/common/traced_stack.h"

void traced_stack_metrics(struct builder *builder)
{
	(void)builder_metric(builder, STR("samples"), STR("count"));
	builder_header(builder)->default_metric = builder_metric(builder, STR("time"), STR("ns"));
	(void)builder_metric(builder, STR("calls"), STR("count"));
}

void traced_stack_deinit(struct traced_stack *t)
{
	vec_deinit(&t->frames);
}

/* Adds a sample of the innermost frame, unless all its figures would be 0. */
static void add_sample(struct traced_stack *t, uint64_t time_ns, uint64_t spent_ns)
{
	struct traced_frame *top = &t->frames.data[t->frames.count - 1];
	int64_t weight[3] = {0, (int64_t)spent_ns, top->is_new};

	if ((spent_ns == 0 && !top->is_new) || top->stack.i == 0)
		return;
	top->is_new = false;
	builder_sample(t->builder, top->stack, t->thread,
		builder_time(time_ns > t->start_ns ? time_ns - t->start_ns : 0), weight);
}

void traced_stack_until(struct traced_stack *t, uint64_t time_ns)
{
	uint64_t spent_ns = 0;

	if (t->is_running && time_ns < t->now_ns) {
		t->backwards++;
		time_ns = t->now_ns;
	}
	if (t->is_running)
		spent_ns = time_ns - t->now_ns;
	if (t->frames.count)
		add_sample(t, time_ns, spent_ns);
	t->now_ns = time_ns;
	t->is_running = true;
}

void traced_stack_lose(struct traced_stack *t, uint64_t time_ns)
{
	if (t->is_running && time_ns < t->now_ns)
		time_ns = t->now_ns;
	if (t->frames.count)
		add_sample(t, time_ns, 0);
	t->now_ns = time_ns;
	t->is_running = true;
}

/* False: the frame is too deep to be shown; its time goes to the caller. */
static bool push(struct traced_stack *t, frame_id frame, uint32_t depth, bool is_new)
{
	struct traced_frame f = {.depth = depth & TRACED_DEPTH_MAX};
	stack_id now = traced_stack_now(t);

	f.stack = builder_stack(t->builder, now, frame);
	bool is_there = f.stack.i != now.i;
	f.is_new = is_new && is_there;
	vec_push(&t->frames, f);
	return is_there;
}

void traced_stack_inherit(struct traced_stack *t, frame_id frame, uint32_t depth)
{
	(void)push(t, frame, depth, false);
}

void traced_stack_enter(struct traced_stack *t, frame_id frame, uint32_t depth)
{
	function_id caller = builder_stack_function(t->builder, traced_stack_now(t));

	if (push(t, frame, depth, true))
		builder_arc(t->builder, caller,
			builder_stack_function(t->builder, traced_stack_now(t)), 1);
}

void traced_stack_leave(struct traced_stack *t)
{
	/* A call that took no time still counts. */
	add_sample(t, t->now_ns, 0);
	t->frames.count--;
}
