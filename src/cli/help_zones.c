/*
 * sonde help zones: from the first mark in a program to its slowest frames, on one page.
 */
#include "cli/help_topic.h"

#include <stddef.h>

static const char text[] =
	"A zone is a stretch of a program's code that the program names itself. Each entry is\n"
	"timed and counted, exactly, for each stack of zones: two readings of the clock and a few\n"
	"stores, always on. Anybody who may debug the program can look, while it runs.\n"
	"\n"
	"Mark, in C or C++ (in C++ also `Prof(step);`):\n"
	"\n"
	"    #define Prof_ENABLED\n"
	"    #include <prof.h>\n"
	"    void step(void)\n"
	"    {\n"
	"        Prof_Block(step);     a zone until the block ends\n"
	"        ...\n"
	"    }\n"
	"    while (run()) {\n"
	"        step();\n"
	"        Prof_update(1);       a frame of time ends; programs can do without\n"
	"    }\n"
	"\n"
	"Build, with the library or with all in one header (sonde_zones.h):\n"
	"\n"
	"    cc game.c $(pkg-config --cflags --libs sonde-zones)\n"
	"\n"
	"Look at it while it runs:\n"
	"\n"
	"    sonde live                          which programs have zones\n"
	"    sonde live game                     a view of one, by name or number\n"
	"    sonde live game --once              its report as text, or --format json\n"
	"    sonde live game --save game.zones   all it has counted, for sonde report\n"
	"\n"
	"Record zones along with samples, so that each sample knows its zones:\n"
	"\n"
	"    sonde record ./game\n"
	"    sonde report --view zones                    exact times, entries, ticks\n"
	"    sonde report --view zones --tick-over 20ms   only frames that took longer\n"
	"    sonde report --zone physics --view tree      samples taken within a zone\n"
	"    sonde report --level zone --view graph --metric zone-time\n"
	"    sonde convert sonde.prof -o game.trace.json  over time, for ui.perfetto.dev\n"
	"\n"
	"Nothing to edit: compile with -finstrument-functions, and each function is a zone:\n"
	"\n"
	"    sonde record --zones=functions ./game\n"
	"\n"
	"Who may look: the same user, if the program is one that may be debugged, or root. A\n"
	"program that crashes leaves its last state to a view that is open, in a core dump, or in\n"
	"a file if it was started with SONDE_ZONES=file=PATH.\n"
	"\n"
	"More: man sonde-live, man 7 sonde-zones, and docs/zones.md, a game examined.";

const struct help_topic help_topic_zones = {
	.name = "zones",
	.summary = "prof.h, live and recorded: programs that measure themselves",
	.text = text,
};
