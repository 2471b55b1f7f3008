/*
 * What is said of what an input had no room for.  See budget.h.
 */
#include "model/budget.h"

#define SIZE "than a file of this size may have"

const char *budget_sentence(enum budget_row row)
{
	static const char *const sentences[BUDGET_ROW_COUNT] = {
		[BUDGET_NAME] = "names are shown as [left out]: there are more " SIZE,
		[BUDGET_OBJECT] = "mentions of load objects were summed up under [left out]: there "
				  "are more " SIZE,
		[BUDGET_FUNCTION] = "mentions of functions were summed up under [left out]: there "
				    "are more " SIZE,
		[BUDGET_FRAME] =
			"mentions of places were summed up under [left out]: there are more " SIZE,
		[BUDGET_STACK] = "frames were left out: there are more stacks " SIZE,
		[BUDGET_ARC] = "calls between functions were summed up under [left out]: there are "
			       "more pairs " SIZE,
		[BUDGET_THREAD] = "threads and processes were summed up under [left out]: there "
				  "are more " SIZE,
		[BUDGET_SAMPLE] =
			"samples were summed up in one, at [left out]: there are more " SIZE,
		[BUDGET_LABEL] = "labels were left out: there are more " SIZE,
		[BUDGET_EVENT] = "events of zones were left out: there are more " SIZE,
		[BUDGET_NOTE] = "notes were left out: there are more " SIZE,
	};

	return sentences[row];
}
