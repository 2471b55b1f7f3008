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
	int indent; /* in units of a space */
	char *name;
	int number;  /* of recursion: shown as "name (n)" where it is not 0 */
	char prefix; /* '+' has more below it, '-' the focus, '!' mostly overhead, '~' recursion, 0
		      */
	char value_flag;	   /* bit n: values[n] is there */
	double values[NUM_VALUES]; /* ms, ms, count */
	double heat;		   /* 0 steady to 1 */
	void *zone;		   /* Prof_Zone * where the zone is of this program, else NULL */
} Prof_Report_Record;

typedef struct {
	char *title[NUM_TITLE];	  /* [1] may be NULL */
	char *header[NUM_HEADER]; /* NULL: no such column */
	int num_record;
	int hilight; /* row of the cursor; -1: none */
	Prof_Report_Record *record;
} Prof_Report;

/* The report as mode, cursor and frame are set; the caller's, freed by Prof_free_report. */
Prof_API_ Prof_Report *Prof_create_report(void);
Prof_API_ void Prof_free_report(Prof_Report *report);

/* The report as text, appended; 0: it could not be written (errno). */
Prof_API_ int Prof_report_write(FILE *file);
Prof_API_ int Prof_report_writefile(const char *path);

/*
 * The graph of self times, for any device: for each zone, its values of frames x0 to x1 - 1, oldest
 * first, in ms; num is how many frames at most.
 */
Prof_API_ void Prof_graph(int num_frames,
	void (*callback)(int id, int x0, int x1, float *values, void *data), void *data);

/* ---- drawing with OpenGL: libsonde-zones-gl ---- */

/*
 * Draws the report into the rectangle from (sx, sy), width by height, lines one below the other by
 * line_spacing (negative: y grows upwards), numbers with `precision` digits (1 to 4).  print_text
 * draws a text with its base line's start at (x, y) in the current colour; text_width says how wide
 * one is.  Prof_draw_gl uses glBegin (a legacy or compatibility context).
 */
Prof_API_ void Prof_draw_gl(float sx, float sy, float width, float height, float line_spacing,
	int precision, void (*print_text)(float x, float y, char *text),
	float (*text_width)(char *text));
Prof_API_ void Prof_draw_graph_gl(float sx, float sy, float x_per_frame, float y_per_ms);

#ifdef __cplusplus
}
#endif
#endif
