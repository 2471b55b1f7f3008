/* As demos in C use IProf: blocks of Prof_Begin, declarations after it, wrappers, frames. */
/* clang-format off */
#include <prof.h>
#include <prof_internal.h>
#include <stdio.h>
#include <string.h>

#define PROFILER_DEF(x) Prof_Define(x)
#define PROFILER_BEGIN(x) Prof_Begin(x)
#define PROFILER_END Prof_End

static PROFILER_DEF(upload);

static int load(int pages)
{
	Prof_Begin(load)
	int i, sum = 0;

	for (i = 0; i < pages; i++) {
		Prof_Region(upload)
		sum += i;
		if (i & 1) { Prof_End continue; }
		Prof_End
	}
	{ Prof_Begin(flush) Prof_End }
	{ Prof_Begin(flush) Prof_End }
	Prof_Counter(loads)
	Prof_End
	return sum;
}

static void draw(void)
{
	PROFILER_BEGIN(draw)
	{ PROFILER_BEGIN(3d_terrain) load(4); PROFILER_END }
	PROFILER_END
}

#ifdef DRAWS
static void print_text(float x, float y, char *text) { (void)x; (void)y; (void)text; }
static float text_width(char *text) { return 6.0f * (float)strlen(text); }
#endif

int main(void)
{
	int frame;
	for (frame = 0; frame < 5; frame++) {
		if (frame != 3)
			draw();
		Prof_update(PROF_accumulate);
	}
	Prof_set_report_mode(Prof_SELF_TIME);
	Prof_move_cursor(1);
	/* The frame before the last one, in which nothing was drawn, and the one before that. */
	for (frame = 1; frame <= 2; frame++) {
		Prof_Report *report;
		int i;

		Prof_move_frame(-1);
		report = Prof_create_report();
		for (i = 0; i < report->num_record; i++)
			printf("%d %s %.0f\n", frame, report->record[i].name,
				report->record[i].values[2]);
		Prof_free_report(report);
	}
#ifdef DRAWS
	Prof_draw_gl(40, 120, 600, 300, 24, 3, print_text, text_width);
	Prof_draw_graph_gl(40, 420, 2, 8);
#endif
	return 0;
}
