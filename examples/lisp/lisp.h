#ifndef LISP_H
#define LISP_H

/*
 * A small Lisp: numbers, strings, symbols, lists, closures; proper tail calls; a collector.  It is
 * built as real interpreters are, so its profile is hard to read without help: eval, eval_list,
 * apply and the built-ins call each other to any depth.
 *
 *	value.c      cells, and the collector
 *	read.c       text to cells
 *	print.c      cells to text
 *	eval.c       evaluation: eval, apply, scopes
 *	forms.c      what is not a function: quote, if, define, lambda, let …
 *	builtins.c   what is: + car equal? map …
 *	main.c       lisp FILE...
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum kind {
	KIND_FREE, /* not in use, on the free list */
	KIND_NIL,  /* the empty list, which is also false */
	KIND_NUMBER,
	KIND_STRING,
	KIND_SYMBOL,
	KIND_PAIR,
	KIND_CLOSURE,
	KIND_BUILTIN,
	KIND_FORM,
};

struct cell;

/* How a form ends: with a value (scope NULL), or with an expression to go on with in its place. */
struct step {
	struct cell *expression;
	struct cell *scope;
};

struct cell {
	enum kind kind;
	bool is_marked;
	union {
		int64_t number;
		struct cell *next_free;
		struct {
			struct cell *head, *tail;
		};
		struct {
			char *text;	    /* of a string or symbol, owned */
			struct cell *value; /* a symbol's global value, NULL: none */
		};
		struct {
			struct cell *parameters, *body, *scope;
		} closure;
		struct {
			const char *name;
			struct cell *(*call)(struct cell *arguments);
		} builtin;
		struct {
			const char *name;
			struct step (*expand)(struct cell *arguments, struct cell *scope);
		} form;
	};
};

extern struct cell *const nil;
/* What predicates answer: the symbol t, which is its own value. */
extern struct cell *truth;

/* value.c */
/* To be called first, from main: the collector looks for cells in the stack from here on. */
void heap_init(void *stack_base);
struct cell *make_number(int64_t number);
struct cell *make_string(const char *text, size_t size);
struct cell *make_pair(struct cell *head, struct cell *tail);
struct cell *make_closure(struct cell *parameters, struct cell *body, struct cell *scope);
/* The one symbol of that name. */
struct cell *symbol(const char *name, size_t size);
void define_builtin(const char *name, struct cell *(*call)(struct cell *arguments));
void define_form(
	const char *name, struct step (*expand)(struct cell *arguments, struct cell *scope));
bool is_equal(const struct cell *a, const struct cell *b);
/* Fails where the stack nears its end, so that a runaway recursion is an error like any other. */
void check_depth(void);

/* read.c */
/* Reads the next expression at *text, and moves it; NULL at the end. */
struct cell *read_expression(const char **text);

/* print.c */
void print_cell(FILE *out, const struct cell *cell);

/* eval.c */
struct cell *eval(struct cell *expression, struct cell *scope);
struct cell *apply(struct cell *function, struct cell *arguments);
/* All but the last expression; that one is left to the caller, as a tail call. */
struct step eval_body(struct cell *body, struct cell *scope);
/* A scope inside another, with parameters bound to arguments. */
struct cell *scope_bind(struct cell *parameters, struct cell *arguments, struct cell *scope);
void scope_set(struct cell *scope, struct cell *name, struct cell *value);

/* forms.c, builtins.c */
void define_forms(void);
void define_builtins(void);

/* main.c */
/* Reports an error about a cell (NULL: about none) and ends the program. */
_Noreturn void fail(const char *message, const struct cell *about);

#endif
