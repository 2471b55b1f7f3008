/* As game modules use IProf: loaded by dlopen, one public zone a file, scopes, a debug window. */
#include <prof.h>
#include <prof_internal.h>

#include <cstdio>

Prof_Define(Goals);
extern "C" Prof_Define(Engine);

namespace {
struct Goal {
	Prof_Zone *zone;
	void update(int depth)
	{
		Prof_Scope(Goals);
#ifdef Prof_ENABLED
		Prof_Scope_Var own(*zone, Prof_cache);
#endif
		{
			Prof(Update);
			Prof(Update_twice);
			if (depth > 0)
				update(depth - 1);
		}
	}
};

class Window {
    public:
	void next_mode()
	{
		static const Prof_Report_Mode modes[] = {
			Prof_SELF_TIME, Prof_HIERARCHICAL_TIME, Prof_CALL_GRAPH};
		mode = (mode + 1) % 3;
		Prof_set_report_mode(modes[mode]);
	}
	void show(const char *focus)
	{
		Prof_set_smoothing(0);
		Prof_set_report_mode(Prof_HIERARCHICAL_TIME);
		Prof_Report *report = Prof_create_report();
		for (int i = 0; i < report->num_record; i++) {
			if (!strcmp_(report->record[i].name, focus))
				Prof_set_cursor(i);
		}
		Prof_free_report(report);
		Prof_select();
		report = Prof_create_report();
		for (int i = 0; i < report->num_record; i++)
			print(report->record[i], i == report->hilight);
		Prof_free_report(report);
		Prof_select_parent();
		if (Prof_get_report_mode() == Prof_CALL_GRAPH)
			Prof_set_report_mode(Prof_SELF_TIME);
	}
	/* As a fork's console does at two keys each: there the last mode is an enumerator. */
	void go_round()
	{
		int last = Prof_get_report_mode();

		for (int i = 0; i < 4; i++) {
			last = (last + 1) % Prof_Last_Mode;
			Prof_set_report_mode((Prof_Report_Mode)last);
			printf("up: %d\n", (int)Prof_get_report_mode());
		}
		for (int i = 0; i < 4; i++) {
			last = last - 1 < 0 ? Prof_Last_Mode : last - 1;
			Prof_set_report_mode((Prof_Report_Mode)last);
			printf("down: %d\n", (int)Prof_get_report_mode());
		}
	}

    private:
	static int strcmp_(const char *a, const char *b)
	{
		while (*a && *a == *b)
			a++, b++;
		return *a - *b;
	}
	static void print(const Prof_Report_Record &record, bool hilight)
	{
		printf("%s%s%c%s %.0f\n", hilight ? ">" : "", record.indent ? "  " : "",
			record.prefix == '-' ? '-' : ' ', record.name, record.values[2]);
	}
	int mode = 0;
};
}

extern "C" __attribute__((visibility("default"))) void module_frame(int count)
{
	static Prof_Zone own = {"own goal", nullptr, 0, 0, nullptr, nullptr};
	Goal goal = {&own};

	Prof_Scope(Engine);
	for (int i = 0; i < count; i++)
		goal.update(2);
}

extern "C" __attribute__((visibility("default"))) void module_show()
{
	Window window;

	Prof_update(1);
	module_frame(4);
	Prof_update(1);
	for (int i = 0; i < 3; i++)
		window.next_mode();
	window.show("Goals");
#ifdef Prof_ENABLED
	window.go_round();
#endif
}
