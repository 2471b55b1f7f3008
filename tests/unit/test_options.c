/*
 * The options parser on a command of its own: every way to spell an option, and every way to get it
 * wrong. What the messages say is for the end-to-end tests; here they only go nowhere.
 */

#include "cli/options.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "../unit.h"

static const char *const fruits[] = {"apple", "pear", "peach", "pea", "file:", NULL};

static const struct option_row rows[] = {
	{'o', 'o', "output", VALUE_FILE, "FILE", {0}, "where to write"},
	{'a', 'a', "all", VALUE_NONE, NULL, {0}, "everything"},
	{'b', 'b', NULL, VALUE_NONE, NULL, {0}, "no long name"},
	{'i', 'i', "inputs", VALUE_FILES, "FILE...", {0}, "what to read"},
	{'p', 0, "index", VALUE_TEXT, "X", {0}, "begins another"},
	{'q', 0, "indexes", VALUE_TEXT, "X", {0}, "begins like another"},
	{'r', 0, "from", VALUE_READER, "FORMAT", {0}, "read"},
	{'w', 0, "to", VALUE_WRITER, "FORMAT", {0}, "written"},
	{'f', 0, "fruit", VALUE_CHOICE, "FRUIT", CHOICES(fruits), "which"},
	{0},
};
static const struct option_row more_rows[] = {
	{'n', 'n', "number", VALUE_NUMBER, "N", {0}, "how many"},
	{0},
};
static const struct option_group groups[] = {{"Some", rows}, {"More", more_rows}, {0}};
static const struct command free_order = {.name = "free", .usage = "", .groups = groups};
static const struct command starter = {
	.name = "starter", .usage = "", .groups = groups, .stops_at_operand = true};

/* Writes what it was given: "o=file a ". */
static struct error *set(void *context, int id, const char *value)
{
	struct strbuf *log = context;

	if (value && strcmp(value, "bad") == 0)
		return error_new(ERROR_USAGE, "refused");
	strbuf_printf(log, value ? "%c=%s " : "%c ", id, value);
	return NULL;
}

/* Points fd at /dev/null; returns a copy of what it was, for stream_back. */
static int stream_away(int fd)
{
	int copy, nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	copy = dup(fd);
	assert_true(copy != -1 && dup2(nowhere, fd) == fd);
	close(nowhere);
	return copy;
}

static void stream_back(int copy, int fd)
{
	fflush(stdout);
	dup2(copy, fd);
	close(copy);
}

/* Parses the words of a line; "GO options | operands", or "EXIT status". */
static char *parse(const struct command *command, const char *line)
{
	static char words[256], result[512];
	struct operands operands;
	struct strbuf log = {0};
	char *argv[32] = {(char *)"name"}, *rest = words, *word;
	int argc = 1, status = -1, out, err;
	bool goes_on;

	snprintf(words, sizeof(words), "%s", line);
	while ((word = strsep(&rest, " ")) != NULL && *word)
		argv[argc++] = word;
	out = stream_away(STDOUT_FILENO);
	err = stream_away(STDERR_FILENO);
	goes_on = options_parse(command, argc, argv, set, &log, &operands, &status);
	stream_back(err, STDERR_FILENO);
	stream_back(out, STDOUT_FILENO);
	if (goes_on) {
		int size = snprintf(result, sizeof(result), "%s|", log.data ? log.data : "");

		for (int i = 0; i < operands.count; i++)
			size += snprintf(result + size, sizeof(result) - (size_t)size, " %s",
				operands.items[i]);
		assert_null(operands.items[operands.count]);
	} else {
		snprintf(result, sizeof(result), "exit %d", status);
	}
	strbuf_deinit(&log);
	return result;
}

TEST(spellings)
{
	assert_string_equal(parse(&free_order, ""), "|");
	assert_string_equal(parse(&free_order, "--output x"), "o=x |");
	assert_string_equal(parse(&free_order, "--output=x"), "o=x |");
	assert_string_equal(parse(&free_order, "--output="), "o= |");
	assert_string_equal(parse(&free_order, "-o x"), "o=x |");
	assert_string_equal(parse(&free_order, "-ox"), "o=x |");
	assert_string_equal(parse(&free_order, "-o -a"), "o=-a |");
	assert_string_equal(parse(&free_order, "-abn 3"), "a b n=3 |");
	assert_string_equal(parse(&free_order, "-abn3"), "a b n=3 |");
	assert_string_equal(parse(&free_order, "--fruit pear"), "f=pear |");
	assert_string_equal(parse(&free_order, "-n 1 -n 2"), "n=1 n=2 |");
}

/* Options by their beginning; values in any case, too.  What is exact counts first. */
TEST(beginnings)
{
	assert_string_equal(parse(&free_order, "--o x"), "o=x |");
	assert_string_equal(parse(&free_order, "--out=x --al --nu 3"), "o=x a n=3 |");
	assert_string_equal(parse(&free_order, "--al=1"), "exit 2");
	assert_string_equal(parse(&free_order, "--in x"), "exit 2");
	assert_string_equal(parse(&free_order, "--index x"), "p=x |");
	assert_string_equal(parse(&free_order, "--indexes x"), "q=x |");
	assert_string_equal(parse(&free_order, "--INDEX x"), "exit 2");
	assert_string_equal(parse(&starter, "--a prog --al"), "a | prog --al");
	assert_string_equal(parse(&starter, "--i prog"), "exit 125");

	assert_string_equal(parse(&free_order, "--fruit A"), "f=apple |");
	assert_string_equal(parse(&free_order, "--fruit PEAR"), "f=pear |");
	assert_string_equal(parse(&free_order, "--fru=Peac"), "f=peach |");
	assert_string_equal(parse(&free_order, "--fruit pea"), "f=pea |");
	assert_string_equal(parse(&free_order, "--fruit PEA"), "f=pea |");
	assert_string_equal(parse(&free_order, "--fruit pe"), "exit 2");
	assert_string_equal(parse(&free_order, "--fruit file:X"), "f=file:X |");
	assert_string_equal(parse(&free_order, "--fruit fi"), "exit 2");
	assert_string_equal(
		parse(&free_order, "--from PERF-S --to CALLG"), "r=perf-script w=callgrind |");
	/* Two formats begin so; the command refuses the text. */
	assert_string_equal(parse(&free_order, "--from s --to d --to HTML"), "r=s w=d w=html |");
}

TEST(several_values)
{
	assert_string_equal(parse(&free_order, "--inputs x y - -a z"), "i=x i=y i=- a | z");
	assert_string_equal(parse(&free_order, "-a -ix y --inputs=z"), "a i=x i=y i=z |");
	assert_string_equal(parse(&free_order, "-i x -- y"), "i=x | y");
	assert_string_equal(parse(&free_order, "-i x bad"), "exit 2");
	assert_string_equal(parse(&free_order, "-a --inputs"), "exit 2");
}

TEST(operands_anywhere)
{
	assert_string_equal(parse(&free_order, "x -a y -n 1 z"), "a n=1 | x y z");
	assert_string_equal(parse(&free_order, "- -a"), "a | -");
	assert_string_equal(parse(&free_order, "x -- -a --"), "| x -a --");
}

TEST(starters_stop)
{
	assert_string_equal(parse(&starter, "-a prog -a --help"), "a | prog -a --help");
	assert_string_equal(parse(&starter, "-a -- -prog -a"), "a | -prog -a");
	assert_string_equal(parse(&starter, "-n 3 prog -- x"), "n=3 | prog -- x");
}

TEST(usage_errors)
{
	static const char *const wrong[] = {"--outptu x", "-x", "-ax", "--output", "-o", "--all=1",
		"--fruit plum", "--fruit=", "-n bad", "---", "--=x", "-a --fruit", NULL};

	for (size_t i = 0; wrong[i]; i++) {
		assert_string_equal(parse(&free_order, wrong[i]), "exit 2");
		assert_string_equal(parse(&starter, wrong[i]), "exit 125");
	}
}

TEST(help_ends_it)
{
	assert_string_equal(parse(&free_order, "--help"), "exit 0");
	assert_string_equal(parse(&starter, "-h"), "exit 0");
	assert_string_equal(parse(&free_order, "-ah --nonsense"), "exit 0");
	assert_string_equal(parse(&free_order, "-hx"), "exit 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spellings),
		cmocka_unit_test(beginnings),
		cmocka_unit_test(several_values),
		cmocka_unit_test(operands_anywhere),
		cmocka_unit_test(starters_stop),
		cmocka_unit_test(usage_errors),
		cmocka_unit_test(help_ends_it),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
