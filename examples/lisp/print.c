/*
 * The printer: the reader's inverse, but for strings, which are printed bare.
 */

#include "lisp.h"

#include <inttypes.h>

static void print_list(FILE *out, const struct cell *list)
{
	fputc('(', out);
	for (; list->kind == KIND_PAIR; list = list->tail) {
		print_cell(out, list->head);
		if (list->tail != nil)
			fputc(' ', out);
	}
	if (list != nil) {
		fputs(". ", out);
		print_cell(out, list);
	}
	fputc(')', out);
}

void print_cell(FILE *out, const struct cell *cell)
{
	check_depth();
	switch (cell->kind) {
	case KIND_FREE:
		break;
	case KIND_NIL:
		fputs("()", out);
		break;
	case KIND_NUMBER:
		fprintf(out, "%" PRId64, cell->number);
		break;
	case KIND_STRING:
	case KIND_SYMBOL:
		fputs(cell->text, out);
		break;
	case KIND_PAIR:
		print_list(out, cell);
		break;
	case KIND_CLOSURE:
		fputs("#<closure>", out);
		break;
	case KIND_BUILTIN:
		fprintf(out, "#<builtin %s>", cell->builtin.name);
		break;
	case KIND_FORM:
		fprintf(out, "#<form %s>", cell->form.name);
		break;
	}
}
