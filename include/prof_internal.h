#ifndef PROF_INTERNAL_H
#define PROF_INTERNAL_H

/*
 * The report behind the displays, for programs that draw it themselves: what Prof_draw_gl draws
 * and Prof_report_writefile writes.  Fields and their order are IProf's.
 */

#include <stdio.h>

#include "prof.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NUM_TITLE = 2, NUM_HEADER = 5, NUM_VALUES = 4 };

typedef struct {
	int indent; /* in spaces */
	char *name;
	int number;  /* depth of recursion: shown as "name (n)" if not 0 */
	char prefix; /* '+' has more below it, '-' the focus, '!' mostly overhead, '~' recursion, 0
		      */
	char value_flag;	   /* bit n: values[n] is present */
	double values[NUM_VALUES]; /* ms, ms, count */
	double heat;		   /* 0 steady to 1 */
	void *zone;		   /* a Prof_Zone * if the zone is in this program, else NULL */
} Prof_Report_Record;

typedef struct {
	char *title[NUM_TITLE];	  /* [1] may be NULL */
	char *header[NUM_HEADER]; /* NULL: no such column */
	int num_record;
	int hilight; /* row of the cursor; -1: none */
	Prof_Report_Record *record;
} Prof_Report;

/*
 * Creates the current report, with the current mode, cursor and frame.  The caller owns it, and
 * frees it with Prof_free_report.  Returns NULL if out of memory, or if a signal handler calls it
 * during another call in its thread.
 */
Prof_API_ Prof_Report *Prof_create_report(void);
Prof_API_ void Prof_free_report(Prof_Report *report);

/* Appends the report as text; returns 0 if it could not be written (errno). */
Prof_API_ int Prof_report_write(FILE *file);
Prof_API_ int Prof_report_writefile(const char *path);

/*
 * Passes the graph of self times to the callback, for any device, with one call per zone. values[i]
 * is the self time in seconds in frame x0 + i, for x0 to x1 - 1, oldest first; it is valid only
 * during the call.  The newest frame is num_frames - 1; if fewer are kept, x0 is greater than 0. id
 * is a hash of the zone's name, the same in each run, and never 0: h = 0x55555555; for each char c:
 * h = (h << 5) + (h >> 27) + c.  If an older frame than the newest is shown, a last call has id 0
 * and x0 = x1 = that frame.  Units and id are IProf's.
 */
Prof_API_ void Prof_graph(int num_frames,
	void (*callback)(int id, int x0, int x1, float *values, void *data), void *data);

#ifdef __cplusplus
}
#endif

#ifndef Prof_ENABLED
/* Nothing, as in prof_off.h, except that a report exists, without rows. */
Prof_INLINE_ Prof_Report *Prof_no_report_(void)
{
	static char empty[1];
	static Prof_Report report;

	report.title[0] = empty;
	report.hilight = -1;
	return &report;
}
#define Prof_create_report()	   Prof_no_report_()
#define Prof_free_report(report)   Prof_no_value_(report)
#define Prof_report_write(file)	   Prof_no_success_(file)
#define Prof_report_writefile(...) Prof_no_success_(__VA_ARGS__)
#define Prof_graph(...)		   ((void)0)
#endif

#endif
