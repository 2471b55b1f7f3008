#ifndef SONDE_VIEW_BRIEF_H
#define SONDE_VIEW_BRIEF_H

/*
 * Brief reports: answers of bounded size for people in a hurry and for programs that pay by the
 * word.  A brief report has few rows, and few lines of each entry; an id for each row that a
 * follow-up question can name; margins of error if the profile has what they need; how fit the
 * recording is and what it lost; and what to ask next.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

struct note;
struct profile;
struct report;
struct view;

/* Characters of a brief report in text, by default; JSON may take JSON_FACTOR times as many. */
#define BRIEF_BUDGET	  2000u
#define BRIEF_BUDGET_MIN  1000u
#define BRIEF_JSON_FACTOR 3u
/* Lines of each part of an entry (callers, callees …). */
#define BRIEF_PART_ROWS 5u
/* Longer names are shortened, in JSON as well. */
#define BRIEF_NAME_MAX 100u
/* Notes, and characters of each. */
#define BRIEF_NOTES	4u
#define BRIEF_NOTE_MAX	200u
#define BRIEF_STEPS_MAX 4u

/* How follow-up questions are written. */
enum brief_form {
	BRIEF_COMMANDS, /* as commands for the shell */
	BRIEF_TOOLS,	/* as calls of tools: sonde serve --mcp */
};

/* What follow-up questions repeat, so that they are about the same. */
struct brief_subject {
	enum brief_form form;
	bool is_difference;
	/*
	 * Files and filters.  Commands: words for the shell, each after a blank; tools: members of
	 * a JSON object, a comma between them.
	 */
	const char *arguments;
};

/* A question to ask next. */
struct brief_step {
	/* "report", "annotate" …, or of tools "callers" … */
	const char *command;
	/* Further words for the shell, or members of a JSON object; may be empty. */
	const char *arguments;
	const char *shows; /* what the answer is about; may have any bytes of names */
};

/* A note of the profile, or a remark. */
struct brief_note {
	const struct note *note; /* NULL: a remark */
	const char *text;	 /* with the note's count */
};

/* How many rows a brief report of that view has without --limit. */
size_t brief_limit(const struct view *view);
/* Whether the recording, or both of a difference, is fit as evidence. */
enum brief_fitness { BRIEF_FIT, BRIEF_UNFIT, BRIEF_UNKNOWN };
enum brief_fitness brief_fitness(const struct report *report);
/*
 * How good the recording is, one line: "fit as evidence: 3,247 of 3,249 samples due, 0 lost, 2
 * truncated".
 */
const char *brief_recording(const struct report *report, struct arena *arena);
/* The same of a profile. */
const char *brief_recording_of(const struct profile *profile, struct arena *arena);
/*
 * The notes and remarks that a brief report shows, those of losses first; returns their number ≤
 * BRIEF_NOTES.
 */
size_t brief_notes(const struct report *report, struct arena *arena,
	struct brief_note notes[BRIEF_NOTES], size_t *left_out);
/* The next questions, most useful first; returns their number ≤ BRIEF_STEPS_MAX. */
size_t brief_next(
	const struct report *report, struct arena *arena, struct brief_step steps[BRIEF_STEPS_MAX]);
/* Adds the step as one could type it. */
void brief_step_put(struct strbuf *out, const struct report *report, const struct brief_step *step);
/* A name as brief reports show it: whole if it is short. */
struct str brief_name(struct str name, struct strbuf *scratch);

#endif
