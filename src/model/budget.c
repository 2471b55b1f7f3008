/*
 * Notes on rows that exceeded an input's budget.  See budget.h.
 */
#include "model/budget.h"

#define THERE_ARE_MORE(what) ": there are more " what "than a file of this size may have"
#define SUMMED_UP	     " were summed up under [left out]"

const char *budget_sentence(enum budget_row row)
{
	static const char *const sentences[BUDGET_ROW_COUNT] = {
		[BUDGET_NAME] = "names are shown as [left out]" THERE_ARE_MORE(""),
		[BUDGET_OBJECT] = "mentions of load objects" SUMMED_UP THERE_ARE_MORE(""),
		[BUDGET_FUNCTION] = "mentions of functions" SUMMED_UP THERE_ARE_MORE(""),
		[BUDGET_FRAME] = "mentions of places" SUMMED_UP THERE_ARE_MORE(""),
		[BUDGET_STACK] = "frames were left out" THERE_ARE_MORE("stacks "),
		[BUDGET_ARC] = "calls between functions" SUMMED_UP THERE_ARE_MORE("pairs "),
		[BUDGET_THREAD] = "threads and processes" SUMMED_UP THERE_ARE_MORE(""),
		[BUDGET_SAMPLE] = "samples were summed up in one, at [left out]" THERE_ARE_MORE(""),
		[BUDGET_LABEL] = "labels were left out" THERE_ARE_MORE(""),
		[BUDGET_EVENT] = "zone events were left out" THERE_ARE_MORE(""),
		[BUDGET_NOTE] = "notes were left out" THERE_ARE_MORE(""),
	};

	return sentences[row];
}
