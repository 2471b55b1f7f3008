/*
 * As simulations use IProf: zones wrapped in classes that begin one in a method and end it in
 * another, by the low-level macros, and an on-screen switch for everything.
 */
#include <prof.h>
#include <prof_gather.h>
#include <prof_internal.h>

#include <cstdio>
#include <memory>

struct Scope {
	virtual ~Scope() {}
	virtual void open() = 0;
	virtual void close() = 0;
};
#define SCOPE(name)                                                                                \
	struct Scope_##name : Scope {                                                              \
		Prof_Zone *zone;                                                                   \
		void open()                                                                        \
		{                                                                                  \
			static Prof_Define(name);                                                  \
			ZONE_OF(name);                                                             \
			Prof_Begin_Cache(name);                                                    \
			Prof_Begin_Code(*zone);                                                    \
		}                                                                                  \
		void close()                                                                       \
		{                                                                                  \
			Prof_End                                                                   \
		}                                                                                  \
	}
#ifdef Prof_ENABLED
#define ZONE_OF(name) zone = &Prof_region_##name
#else
#define ZONE_OF(name) zone = nullptr
#endif
SCOPE(Steering);
SCOPE(Physics);

struct Node {
	explicit Node(Scope *s) : scope(s)
	{
		scope->open();
	}
	~Node()
	{
		scope->close();
	}
	Scope *scope;
};

static void move_all(int objects)
{
	static Scope_Steering steering;
	static Scope_Physics physics;

	for (int i = 0; i < objects; i++) {
		std::unique_ptr<Node> outer(new Node(&steering));
		std::unique_ptr<Node> inner(new Node(&physics));
	}
}

int main()
{
	Prof_Int64 before, after;
	unsigned update = 0;

	Prof_get_timestamp(&before);
	for (int frame = 0; frame < 6; frame++) {
		move_all(200);
		Prof_update(update = !update);
	}
	Prof_get_timestamp(&after);
	Prof_set_smoothing(0);
	Prof_set_report_mode(Prof_HIERARCHICAL_TIME);
	Prof_Report *report = Prof_create_report();
	for (int i = 0; i < report->num_record; i++)
		printf("%s %.0f\n", report->record[i].name, report->record[i].values[2]);
	Prof_free_report(report);
	return after <= before;
}
