/*
 * Forms: what looks like a call, but decides itself which of its arguments are evaluated.
 */

#include "lisp.h"

static struct step value(struct cell *cell)
{
	return (struct step){cell, NULL};
}

/* The n-th argument of a form, from 0. */
static struct cell *part(struct cell *arguments, int n)
{
	while (n-- && arguments->kind == KIND_PAIR)
		arguments = arguments->tail;
	if (arguments->kind != KIND_PAIR)
		fail("a form lacks a part", NULL);
	return arguments->head;
}

static struct step form_quote(struct cell *arguments, struct cell *scope)
{
	(void)scope;
	return value(part(arguments, 0));
}

static struct step form_if(struct cell *arguments, struct cell *scope)
{
	if (eval(part(arguments, 0), scope) != nil)
		return (struct step){part(arguments, 1), scope};
	return arguments->tail->tail == nil ? value(nil) : (struct step){part(arguments, 2), scope};
}

/* (cond (TEST EXPRESSION...)...) */
static struct step form_cond(struct cell *clauses, struct cell *scope)
{
	for (; clauses->kind == KIND_PAIR; clauses = clauses->tail) {
		if (eval(part(clauses->head, 0), scope) != nil)
			return eval_body(clauses->head->tail, scope);
	}
	return value(nil);
}

static struct step form_and(struct cell *arguments, struct cell *scope)
{
	if (arguments == nil)
		return value(truth);
	for (; arguments->tail != nil; arguments = arguments->tail) {
		if (eval(arguments->head, scope) == nil)
			return value(nil);
	}
	return (struct step){arguments->head, scope};
}

static struct step form_or(struct cell *arguments, struct cell *scope)
{
	for (; arguments != nil; arguments = arguments->tail) {
		struct cell *cell = eval(arguments->head, scope);

		if (cell != nil)
			return value(cell);
	}
	return value(nil);
}

static struct step form_begin(struct cell *arguments, struct cell *scope)
{
	return eval_body(arguments, scope);
}

static struct step form_lambda(struct cell *arguments, struct cell *scope)
{
	return value(make_closure(part(arguments, 0), arguments->tail, scope));
}

/* (define NAME EXPRESSION), (define (NAME PARAMETER...) EXPRESSION...): always global. */
static struct step form_define(struct cell *arguments, struct cell *scope)
{
	struct cell *name = part(arguments, 0), *cell;

	if (name->kind == KIND_PAIR) {
		cell = make_closure(name->tail, arguments->tail, scope);
		name = name->head;
	} else {
		cell = eval(part(arguments, 1), scope);
	}
	if (name->kind != KIND_SYMBOL)
		fail("not a name:", name);
	name->value = cell;
	return value(name);
}

static struct step form_set(struct cell *arguments, struct cell *scope)
{
	struct cell *cell = eval(part(arguments, 1), scope);

	scope_set(scope, part(arguments, 0), cell);
	return value(cell);
}

/* (let ((NAME EXPRESSION)...) EXPRESSION...); each sees those before it. */
static struct step form_let(struct cell *arguments, struct cell *scope)
{
	for (struct cell *b = part(arguments, 0); b->kind == KIND_PAIR; b = b->tail) {
		struct cell *cell = eval(part(b->head, 1), scope);

		scope = make_pair(make_pair(part(b->head, 0), cell), scope);
	}
	return eval_body(arguments->tail, scope);
}

void define_forms(void)
{
	define_form("quote", form_quote);
	define_form("if", form_if);
	define_form("cond", form_cond);
	define_form("and", form_and);
	define_form("or", form_or);
	define_form("begin", form_begin);
	define_form("lambda", form_lambda);
	define_form("define", form_define);
	define_form("set!", form_set);
	define_form("let", form_let);
}
