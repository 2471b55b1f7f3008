/*
 * Options and commands of perf, in two tables.  A row is used only if sonde has no option or
 * command of that name, so it can never hide one.
 */
#include "cli/perf_habits.h"

#include "base/compiler.h"

struct habit {
	const char *commands; /* with blanks around each */
	char short_name;
	const char *long_name;
	const char *answer;
};

#define RECORDS	     " record run "
#define REPORTS	     " report run diff annotate "
#define NO_ADDRESSES "sonde records no addresses of memory accesses: keep perf for them"
#define HAS_NAMES    "a recording of sonde already has all names, and opens on any machine"

static const struct habit habits[] = {
	{RECORDS, 'g', "call-graph",
		"sonde always records whole call stacks, without frame pointers: leave it out"},
	{RECORDS, 'i', "no-inherit",
		"sonde always records child processes: leave it out, and choose with 'sonde report "
		"--pid'"},
	{RECORDS, 'c', "count", "sonde's words are --interval TIME and --frequency HZ"},
	{RECORDS, 't', "tid",
		"sonde records processes, with --pid; 'sonde report --thread' chooses"},
	{RECORDS, 'D', "delay", "sonde's word is --delay TIME, as in --delay 500ms"},
	{RECORDS, 'C', "cpu",
		"sonde records all CPUs with --all, and 'sonde report --level cpu' shows each"},
	{RECORDS, 'm', "mmap-pages", "sonde chooses its buffers itself: leave it out"},
	{RECORDS, 0, "max-size", "sonde's word is --keep TIME: only the last TIME is kept"},
	{RECORDS, 0, "overwrite", "sonde's word is --keep TIME: only the last TIME is kept"},
	{RECORDS, 0, "switch-output",
		"sonde's word is --keep TIME, with a dump at each SIGUSR2 or --control command"},
	{RECORDS, 0, "off-cpu",
		"sonde always records off-CPU time: leave it out, and see 'sonde report --metric "
		"blocked-time'"},
	{REPORTS, 'G', "inverted", "sonde's trees begin with the callers already: leave it out"},
	{REPORTS, 0, "no-inline", "sonde's word is --inline no"},
	{REPORTS, 0, "comm", "sonde's words are --pid NAME and --thread NAME"},
	{REPORTS, 'p', "parent", "sonde's words are --pid NAME and --view callers"},
	{REPORTS, 'g', "call-graph",
		"sonde's words are --view tree (add --invert for callers first), --view callers "
		"and "
		"--view graph"},
	{" report run ", 'i', "input", "sonde takes the file without an option: sonde report FILE"},
	{" diff annotate ", 'i', "input", "sonde takes files without an option: leave it out"},
	{RECORDS REPORTS, 0, "stdio", "sonde prints text already: leave it out"},
	{RECORDS REPORTS, 0, "tui", "sonde prints text, to a pager on a terminal: leave it out"},
	{RECORDS REPORTS, 0, "children",
		"sonde shows inclusive figures already; its word for their order is --sort "
		"inclusive"},
	{RECORDS REPORTS, 0, "no-children",
		"sonde sorts by exclusive figures already: leave it out"},
	{REPORTS, 0, "percent-limit", "sonde's word is --limit N, the number of rows"},
	{REPORTS, 0, "comms", "sonde's words are --pid NAME and --thread NAME"},
	{REPORTS, 'd', "dsos", "sonde's word is --when, as in --when \"'libc.so.6'\""},
	{REPORTS, 'S', "symbols", "sonde's word is --focus REGEX"},
};

static bool is_of(const struct habit *h, const char *command)
{
	const char *found = strstr(h->commands, command);
	size_t size = strlen(command);

	return found && found[-1] == ' ' && found[size] == ' ';
}

const char *perf_habit(const char *command, char short_name, struct str long_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(habits); i++) {
		const struct habit *h = &habits[i];
		bool is_short = short_name && h->short_name == short_name;
		bool is_long = long_name.size && str_equal(str_from(h->long_name), long_name);

		if ((is_short || is_long) && is_of(h, command))
			return h->answer;
	}
	return NULL;
}

static const struct {
	const char *name;
	const char *answer;
} command_habits[] = {
	{"archive", HAS_NAMES},
	{"buildid-cache", HAS_NAMES},
	{"c2c", NO_ADDRESSES},
	{"inject", HAS_NAMES},
	{"list", "sonde's words are 'sonde record -e list'"},
	{"lock", "sonde's words are 'sonde record --locks'"},
	{"mem", NO_ADDRESSES},
	{"sched", "sonde always records waits: 'sonde report --metric blocked-time'; 'sonde record "
		  "--wakers' adds who ends them"},
	{"script", "sonde's words are 'sonde report --format folded', or 'sonde convert FILE -o "
		   "OUT.perf.txt' for perf's own text"},
	{"stat", "sonde counts events with 'sonde record -e LIST', and 'sonde report --metric all' "
		 "shows them by function"},
	{"timechart", "sonde's words are 'sonde report --format html', with threads over time"},
	{"trace", "sonde does not list system calls; 'sonde report --metric blocked-time' shows "
		  "which ones wait"},
};

const char *perf_command_habit(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(command_habits); i++) {
		if (strcmp(command_habits[i].name, name) == 0)
			return command_habits[i].answer;
	}
	return NULL;
}
