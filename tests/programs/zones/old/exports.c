/*
 * As engines in libraries use IProf: a table hands the profiler's insides to other modules, which
 * enter zones by themselves.
 */
#include <prof.h>
#include <prof_internal.h>
#include <stdio.h>

typedef Prof_Zone_Stack *(*AppendFn)(Prof_Zone *zone);
struct engine {
	Prof_Zone_Stack *dummy;
	AppendFn append;
	void (*update)(int record);
};

#ifdef Prof_ENABLED
static struct engine engine = {&Prof_dummy, Prof_StackAppend, Prof_update};

static void frame(Prof_Zone *zone)
{
	Prof_Zone_Stack **stack = &Prof_stack, *before, *top;
	Prof_Zone_Stack *node = engine.append(zone);

	before = *stack;
	Prof_Begin_Raw(*zone);
	top = *stack;
	if (top != node || top == before || top == engine.dummy)
		printf("not entered\n");
	Prof_End_Raw();
	if (*stack != before)
		printf("not left\n");
}

static void run(void)
{
	static Prof_Define(exported);
	Prof_Report *report;

	Prof_Begin(first) Prof_End for (int i = 0; i < 3; i++) frame(&Prof_region_exported);
	engine.update(1);
	Prof_set_report_mode(Prof_SELF_TIME);
	report = Prof_create_report();
	for (int i = 0; i < report->num_record; i++)
		printf("%s %.0f\n", report->record[i].name, report->record[i].values[2]);
	Prof_free_report(report);
}
#else
static void run(void)
{
}
#endif

int main(void)
{
	run();
	return 0;
}
