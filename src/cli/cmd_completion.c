/*
 * sonde completion SHELL: prints a completion script generated from the commands' option rows, so
 * that the shell offers exactly what this program accepts.
 *
 * Each shell has its own notation: bash gets a function with a table of commands and a table of
 * options that take a value; zsh gets specifications for _arguments; fish gets a `complete` line
 * for each completion.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/command.h"
#include "cli/help_topic.h"
#include "cli/message.h"
#include "cli/options.h"
#include "formats/readers.h"
#include "formats/writers.h"
#include "view/formats.h"

static bool takes_files(const struct option_row *row)
{
	return row->value == VALUE_FILE || row->value == VALUE_FILES;
}

static const char *const shell_names[] = {"bash", "zsh", "fish", NULL};

static void print_words(const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		printf("%s%s", i ? " " : "", words[i]);
}

static void print_command_names(void)
{
	for (const struct command *const *c = commands; *c; c++)
		printf("%s%s", c == commands ? "" : " ", (*c)->name);
}

/* What `sonde help` explains. */
static void print_explained_names(void)
{
	print_command_names();
	for (const struct help_topic *const *t = help_topics; *t; t++)
		printf(" %s", (*t)->name);
}

/* Prints text for single quotes; each of the characters in special gets a backslash. */
static void print_quoted(const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			printf("'\\''");
		else
			printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
	}
}

/*
 * Prints the possible words of a command's operand, with the given text around them; nothing for
 * files.
 */
static void print_operand_words(
	const struct command *command, const char *before, const char *after)
{
	if (command->operand != OPERAND_COMMAND && command->operand != OPERAND_SHELL)
		return;
	printf("%s", before);
	if (command->operand == OPERAND_COMMAND)
		print_explained_names();
	else
		print_words(shell_names);
	printf("%s", after);
}

/*
 * The names for a kind of value, valid until the next call: of formats that are read or written, or
 * of choices.
 */
static const char *const *names_of(const struct option_row *row)
{
	static VEC(const char *) names;
	const char *name;

	names.count = 0;
	for (size_t i = 0; row->value == VALUE_READER && readers[i]; i++)
		vec_push(&names, readers[i]->name);
	for (size_t i = 0; row->value == VALUE_WRITER && writers[i]; i++)
		vec_push(&names, writers[i]->name);
	for (size_t i = 0; row->value == VALUE_WRITER && formats[i].name; i++)
		if (formats[i].extension)
			vec_push(&names, formats[i].name);
	for (size_t i = 0; (name = choice_name(row->choices, i)) != NULL; i++)
		vec_push(&names, name);
	vec_push(&names, NULL);
	return names.data;
}

/* The possible words of an option's value, valid until the next call; NULL: any text. */
static const char *const *value_words(const struct option_row *row)
{
	bool has_names = row->value == VALUE_READER || row->value == VALUE_WRITER ||
			 row->value == VALUE_CHOICE;

	return has_names ? names_of(row) : NULL;
}

/* Calls print for each of the command's options, --help last. */
static void each_option(const struct command *command,
	void (*print)(const struct command *command, const struct option_row *row))
{
	const struct option_group *group;

	for (size_t i = 0; (group = options_group(command, i)) != NULL; i++) {
		for (const struct option_row *row = group->rows; option_row_exists(row); row++)
			print(command, row);
	}
}

static void bash_print_names(const struct command *command, const struct option_row *row)
{
	(void)command;
	if (row->short_name)
		printf("-%c ", row->short_name);
	if (row->long_name)
		printf("--%s ", row->long_name);
}

static void bash_print_valued(const struct command *command, const struct option_row *row)
{
	if (row->value != VALUE_NONE)
		bash_print_names(command, row);
}

static void bash_print_command(const struct command *command)
{
	printf("\t%s)\n\t\toptions='", command->name);
	each_option(command, bash_print_names);
	printf("'\n\t\tvalued=' ");
	each_option(command, bash_print_valued);
	printf("'\n\t\t");
	if (command->operand == OPERAND_FILE)
		printf("kind=%s", command->stops_at_operand ? "program" : "file");
	print_operand_words(command, "words='", "'");
	printf(" ;;\n");
}

/* Prints the completion for an option's value. */
static void bash_print_value(const struct command *command, const struct option_row *row)
{
	const char *const *words = value_words(row);

	if (row->value == VALUE_NONE)
		return;
	printf("\t");
	if (row->short_name)
		printf("%s:-%c%s", command->name, row->short_name, row->long_name ? " | " : "");
	if (row->long_name)
		printf("%s:--%s", command->name, row->long_name);
	printf(") words= kind=%s options=", takes_files(row) ? "file" : "none");
	if (words) {
		printf(" words='");
		print_words(words);
		printf("'");
	}
	printf(" ;;\n");
}

static void bash_print(void)
{
	printf("# bash completion for sonde, made by `sonde completion bash`\n"
	       "_sonde() {\n"
	       "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	       "\tlocal options= valued= words= kind=none program\n"
	       "\tCOMPREPLY=()\n"
	       "\t# bash takes --name=VALUE for three words.\n"
	       "\t[[ $word != = ]] || word=\n"
	       "\t[[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD - 2]}\n"
	       "\tif ((COMP_CWORD == 1)); then\n"
	       "\t\twords='");
	print_command_names();
	printf("' options='--help --version'\n"
	       "\tfi\n"
	       "\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *const *c = commands; *c; c++)
		bash_print_command(*c);
	printf("\tesac\n"
	       "\t# Behind the name of the program to start, that program's own completion takes "
	       "over.\n"
	       "\tif [[ $kind == program ]]; then\n"
	       "\t\tfor ((program = 2; program < COMP_CWORD; program++)); do\n"
	       "\t\t\tcase ${COMP_WORDS[program]} in\n"
	       "\t\t\t--) ((program++)); break ;;\n"
	       "\t\t\t=) ((program++)); continue ;;\n"
	       "\t\t\t-*) ;;\n"
	       "\t\t\t*) break ;;\n"
	       "\t\t\tesac\n"
	       "\t\t\t[[ $valued != *\" ${COMP_WORDS[program]} \"* ]] ||\n"
	       "\t\t\t\t[[ ${COMP_WORDS[program + 1]} == = ]] || ((program++))\n"
	       "\t\tdone\n"
	       "\t\tif ((program < COMP_CWORD)); then\n"
	       "\t\t\tif declare -F _command_offset >/dev/null; then\n"
	       "\t\t\t\t_command_offset \"$program\"\n"
	       "\t\t\t\treturn\n"
	       "\t\t\tfi\n"
	       "\t\t\tkind=file options=\n"
	       "\t\tfi\n"
	       "\tfi\n"
	       "\tcase ${COMP_WORDS[1]}:$before in\n");
	for (const struct command *const *c = commands; *c; c++)
		each_option(*c, bash_print_value);
	printf("\tesac\n"
	       "\tif [[ $word == -* && -n $options ]]; then\n"
	       "\t\twords=$options kind=none\n"
	       "\tfi\n"
	       "\tmapfile -t COMPREPLY < <(\n"
	       "\t\tcompgen -W \"$words\" -- \"$word\"\n"
	       "\t\tcase $kind in\n"
	       "\t\tfile) compgen -f -- \"$word\" ;;\n"
	       "\t\tprogram) compgen -c -- \"$word\"; compgen -f -- \"$word\" ;;\n"
	       "\t\tesac\n"
	       "\t)\n"
	       "}\n"
	       "complete -o filenames -F _sonde sonde\n");
}

/* One specification for _arguments: '(-o --output)'{-o,--output}'[help]:FILE:_files' */
static void zsh_print_option(const struct command *command, const struct option_row *row)
{
	bool has_both = row->short_name && row->long_name;
	/* A short option's value may follow immediately (+), a long one's also after =. */
	const char *short_end = row->value == VALUE_NONE ? "" : "+";
	const char *long_end = row->value == VALUE_NONE ? "" : "=";
	const char *const *words = value_words(row);

	(void)command;
	printf(" \\\n\t\t\t");
	if (has_both)
		printf("'(-%c --%s)'{-%c%s,--%s%s}'[", row->short_name, row->long_name,
			row->short_name, short_end, row->long_name, long_end);
	else if (row->short_name)
		printf("'-%c%s[", row->short_name, short_end);
	else
		printf("'--%s%s[", row->long_name, long_end);
	print_quoted(row->help, "[]\\");
	printf("]");
	if (row->value != VALUE_NONE) {
		printf(":");
		print_quoted(row->value_name, ":\\");
		printf(":");
	}
	if (takes_files(row))
		printf("_files");
	if (words) {
		printf("(");
		for (size_t i = 0; words[i]; i++) {
			printf("%s", i ? " " : "");
			print_quoted(words[i], ":\\");
		}
		printf(")");
	}
	printf("'");
}

static void zsh_print_command(const struct command *command)
{
	printf("\t\t%s)\n\t\t\t_arguments -s -S%s", command->name,
		command->stops_at_operand ? " -A '-*'" : "");
	each_option(command, zsh_print_option);
	if (command->stops_at_operand)
		printf(" \\\n\t\t\t'(-):program:_command_names -e' '*::argument:_normal'");
	else if (command->operand == OPERAND_FILE)
		printf(" \\\n\t\t\t'*:file:_files'");
	print_operand_words(command, " \\\n\t\t\t'1:word:(", ")'");
	printf(" ;;\n");
}

static void zsh_print(void)
{
	printf("#compdef sonde\n"
	       "# zsh completion for sonde, made by `sonde completion zsh`\n"
	       "_sonde() {\n"
	       "\tlocal curcontext=$curcontext state line\n"
	       "\tlocal -a commands=(");
	for (const struct command *const *c = commands; *c; c++) {
		printf("\n\t\t'%s:", (*c)->name);
		print_quoted((*c)->summary, ":\\");
		printf("'");
	}
	printf("\n\t)\n"
	       "\t_arguments -C '(- *)'{-h,--help}'[list the commands]' \\\n"
	       "\t\t'(- *)'{-V,--version}'[show the version]' \\\n"
	       "\t\t'1:command:->command' '*::argument:->argument'\n"
	       "\tcase $state in\n"
	       "\tcommand) _describe -t commands command commands ;;\n"
	       "\targument)\n"
	       "\t\tcurcontext=${curcontext%%:*}-$line[1]:\n"
	       "\t\tcase $line[1] in\n");
	for (const struct command *const *c = commands; *c; c++)
		zsh_print_command(*c);
	printf("\t\tesac ;;\n"
	       "\tesac\n"
	       "}\n"
	       "if [[ $funcstack[1] == _sonde ]]; then _sonde \"$@\"; else compdef _sonde sonde; "
	       "fi\n");
}

static void fish_print_option(const struct command *command, const struct option_row *row)
{
	const char *const *words = value_words(row);

	printf("complete -c sonde -n '__fish_seen_subcommand_from %s'", command->name);
	if (row->short_name)
		printf(" -s %c", row->short_name);
	if (row->long_name)
		printf(" -l %s", row->long_name);
	if (takes_files(row))
		printf(" -r -F");
	else if (row->value != VALUE_NONE)
		printf(" -x");
	if (words) {
		printf(" -a '");
		print_words(words);
		printf("'");
	}
	printf(" -d '");
	/* In fish's single quotes, a quote is written \', and nothing else is special. */
	for (const char *c = row->help; *c; c++)
		printf("%s%c", strchr("'\\", *c) ? "\\" : "", *c);
	printf("'\n");
}

static void fish_print_operand(const struct command *command)
{
	if (command->operand == OPERAND_NONE)
		return;
	printf("complete -c sonde -n '__fish_seen_subcommand_from %s'", command->name);
	if (command->stops_at_operand)
		printf(" -x -a '(__fish_complete_subcommand --fcs-skip=2)'");
	else if (command->operand == OPERAND_FILE)
		printf(" -F");
	print_operand_words(command, " -a '", "'");
	printf("\n");
}

static void fish_print(void)
{
	printf("# fish completion for sonde, made by `sonde completion fish`\n"
	       "complete -c sonde -f\n"
	       "complete -c sonde -n __fish_use_subcommand -s h -l help -d 'list the commands'\n"
	       "complete -c sonde -n __fish_use_subcommand -s V -l version -d 'show the "
	       "version'\n");
	for (const struct command *const *c = commands; *c; c++) {
		printf("complete -c sonde -n __fish_use_subcommand -a %s -d '", (*c)->name);
		for (const char *s = (*c)->summary; *s; s++)
			printf("%s%c", strchr("'\\", *s) ? "\\" : "", *s);
		printf("'\n");
		fish_print_operand(*c);
		each_option(*c, fish_print_option);
	}
}

static void (*const shell_print[])(void) = {bash_print, zsh_print, fish_print};

static int completion_run(const struct command *self, int argc, char **argv)
{
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, NULL, NULL, &operands, &status))
		return status;
	if (operands.count != 1)
		return options_usage_error(self, "name one shell: bash, zsh or fish");
	for (size_t i = 0; shell_names[i]; i++) {
		if (strcmp(shell_names[i], operands.items[0]) == 0) {
			shell_print[i]();
			return EXIT_SUCCESS;
		}
	}
	return options_usage_error(
		self, "'%s' is not a shell it knows: bash, zsh, fish", operands.items[0]);
}

const struct command cmd_completion = {
	.name = "completion",
	.summary = "print a completion script for a shell",
	.usage = "bash|zsh|fish",
	.details = "  bash: sonde completion bash > "
		   "~/.local/share/bash-completion/completions/sonde\n"
		   "  zsh:  sonde completion zsh > DIRECTORY/_sonde, a DIRECTORY of $fpath\n"
		   "  fish: sonde completion fish > ~/.config/fish/completions/sonde.fish",
	.operand = OPERAND_SHELL,
	.run = completion_run,
};
