/* sonde formats: lists what sonde reads and writes, from the two tables. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "formats/readers.h"
#include "formats/writers.h"
#include "view/formats.h"

/* The columns name and file name are two wider than the longest entry. */
#define LAYOUT "%-15s %-5s %-6s %-17s %s\n"

/* extension: for written formats; NULL: not written. */
static void print_row(const char *name, bool reads, const char *extension, const char *what)
{
	printf(LAYOUT, name, reads ? "yes" : "", extension ? "yes" : "", extension ? extension : "",
		what);
}

static void print_table(void)
{
	printf(LAYOUT, "format", "read", "write", "name", "what it is");
	for (size_t i = 0; readers[i]; i++) {
		const struct writer *writer = writer_find(readers[i]->name);

		print_row(readers[i]->name, true, writer ? writer->extension : NULL,
			readers[i]->summary);
	}
	for (size_t i = 0; writers[i]; i++)
		if (reader_find(writers[i]->name) == NULL)
			print_row(writers[i]->name, false, writers[i]->extension,
				writers[i]->summary);
	for (size_t i = 0; formats[i].name; i++)
		if (formats[i].extension)
			print_row(formats[i].name, false, formats[i].extension, formats[i].summary);
	printf("\nA file's contents determine its format, not its name. Files may be compressed "
	       "by\n"
	       "gzip or zstd. sonde convert IN -o OUT turns one into another.\n");
}

static int formats_run(const struct command *self, int argc, char **argv)
{
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, NULL, NULL, &operands, &status))
		return status;
	if (operands.count)
		return options_usage_error(self, "it takes no operands");
	print_table();
	return EXIT_SUCCESS;
}

const struct command cmd_formats = {
	.name = "formats",
	.summary = "list the formats that sonde reads and writes",
	.usage = "",
	.operand = OPERAND_NONE,
	.run = formats_run,
};
