/*
 * Everything that prof.h and prof_internal.h offer, once: as C99 and C++11 and later, with
 * Prof_ENABLED and without.  A line that names "Prof" has nothing else on it, so a program without
 * zones is this one without these lines (tests/e2e/zones_compile.py).  Prints "work N".
 */
/* It takes Prof_Begin(x) for half a statement. */
/* clang-format off */
#include <stdio.h>
#include <prof.h>
#include <prof_internal.h>
#include <prof_gather.h>

#ifdef __cplusplus
extern "C" Prof_Define(shared_with_c);
#endif
Prof_Define(physics);
static Prof_Define(2d_draw);
extern Prof_Declare(physics);

static volatile unsigned sink;

static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink = sink + i;
}

static void step(unsigned depth)
{
	Prof_Begin(step)
	work(depth);
	Prof_Region(physics)
	work(1);
	Prof_End
	if (depth > 0)
		step(depth - 1);
	{
		Prof_Begin(step)
		Prof_Begin(step)
		Prof_Region(2d_draw)
		work(2);
		Prof_End
		Prof_End
		Prof_End
	}
	Prof_Counter(steps)
	Prof_End
}

static void leaves(void)
{
	work(1);
	Prof_End
}

static void enters(void)
{
	Prof_Begin(left_elsewhere)
	leaves();
}

static unsigned block(int early)
{
	Prof_Block(block);
	Prof_Function;
	if (early)
		return 1;
	Prof_Scope(physics);
	Prof_Block(block);
	{
		Prof_Block(block);
		Prof_Count(turns);
		work(1);
	}
	return 0;
}

static void inside(void)
{
	static Prof_Define(of_function);
	Prof_Begin_Cache(of_function);
	Prof_Begin_Code(Prof_region_of_function);
	work(1);
	Prof_End_Raw();
	Prof_Begin_Raw(Prof_region_of_function);
	work(1);
	Prof_End
}

static void say(const char *name, int number)
{
	Prof_Name(name);
	Prof_text(name);
	Prof_number(number);
	Prof_Begin_Name(name)
	Prof_text("inner");
	work(1);
	Prof_End
}

#ifdef __cplusplus
template <int n> static void scopes()
{
	Prof(scopes);
	Prof_Scope(shared_with_c);
	Prof(1st);
	work(n);
	{
		Prof(scopes);
		work(n);
	}
}
#endif

static void frames(void)
{
	struct {
		unsigned paused : 1;
	} state = {0};

	for (int i = 0; i < 4; i++) {
		step(3);
		enters();
		work(block(i & 1));
		inside();
		say(i & 1 ? "odd" : "even", i);
#ifdef __cplusplus
		scopes<3>();
#endif
		Prof_update(!state.paused);
		Prof_update_stream("half");
		work(state.paused);
	}
	if (sink == 0)
		Prof_update(1);
	else
		work(1);
}

static void control(void)
{
	Prof_set_report_mode(Prof_CALL_GRAPH);
	Prof_set_report_mode(Prof_CALL_GRAPH_DESCENDENTS);
	Prof_set_report_mode(Prof_SORT_SELF_TIME);
	Prof_set_report_mode(Prof_SORT_NAME);
	Prof_set_report_mode(Prof_get_report_mode());
	Prof_set_report_mode(Prof_Last_Mode);
	Prof_set_report_mode(Prof_HIERARCHICAL_TIME);
	Prof_move_cursor(1);
	Prof_set_cursor(0);
	Prof_select();
	Prof_select_parent();
	Prof_move_frame(-1);
	Prof_set_frame(0);
	Prof_set_average(0);
	Prof_set_smoothing(Prof_get_smoothing());
	Prof_set_recursion(Prof_SPREAD_RECURSION);
	Prof_set_recursion(Prof_FLATTEN_RECURSION);
	Prof_freeze_over(0);
	Prof_set_frozen(Prof_get_frozen());
	Prof_set_enabled(0);
	Prof_set_enabled(1);
	Prof_set_events(0);
	Prof_thread_name("main");
	Prof_set_report_mode(Prof_SORT_NAME);
	Prof_report_write(stdout);
	Prof_free_report(Prof_create_report());
	Prof_update(Prof_discard);
	Prof_update(PROF_accumulate);
	work(1);
}

#ifndef WITHOUT_VARIABLES
/* What it takes variables for, which stay without zones. */
static void variables(void)
{
	static Prof_Zone own = Prof_ZONE_("own", __FILE__, __LINE__);
	Prof_enter(&own);
	Prof_count(Prof_zone("from elsewhere", "a.c", 12));
	Prof_leave();
	Prof_Mark mark = Prof_mark();
	Prof_Begin(left_by_a_jump)
	Prof_return_to(mark);
	Prof_Fiber *fiber = Prof_fiber_create("fiber");
	Prof_fiber_switch(fiber);
	static Prof_Fiber *none;
	Prof_fiber_switch(none);
	Prof_fiber_destroy(fiber);
}
#endif

int main(void)
{
	Prof_set_report_mode(Prof_SELF_TIME);
	frames();
	control();
#ifndef WITHOUT_VARIABLES
	variables();
#endif
	printf("work %u\n", sink);
	return 0;
}
