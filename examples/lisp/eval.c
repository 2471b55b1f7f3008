/*
 * Evaluation. A scope is a list of (name . value) pairs whose end is shared with the scope around
 * it; global values stand in the symbols themselves.
 *
 * eval goes round instead of calling itself where an expression's value is that of another one, so
 * loops written as tail calls run in constant stack; every other call is a call of C.
 */

#include "lisp.h"

static struct cell **scope_find(struct cell *scope, struct cell *name)
{
	for (; scope != nil; scope = scope->tail) {
		if (scope->head->head == name)
			return &scope->head->tail;
	}
	if (!name->value)
		fail("no such variable", name);
	return &name->value;
}

struct cell *scope_bind(struct cell *parameters, struct cell *arguments, struct cell *scope)
{
	for (; parameters->kind == KIND_PAIR; parameters = parameters->tail) {
		if (arguments->kind != KIND_PAIR)
			fail("too few arguments for", parameters);
		scope = make_pair(make_pair(parameters->head, arguments->head), scope);
		arguments = arguments->tail;
	}
	if (parameters->kind == KIND_SYMBOL) /* (lambda (a . rest)) takes the rest as a list */
		return make_pair(make_pair(parameters, arguments), scope);
	if (arguments != nil)
		fail("too many arguments:", arguments);
	return scope;
}

void scope_set(struct cell *scope, struct cell *name, struct cell *value)
{
	if (name->kind != KIND_SYMBOL)
		fail("not a variable:", name);
	*scope_find(scope, name) = value;
}

static struct cell *eval_list(struct cell *list, struct cell *scope)
{
	struct cell *first = nil, *last = nil;

	for (; list->kind == KIND_PAIR; list = list->tail) {
		struct cell *next = make_pair(eval(list->head, scope), nil);

		if (last == nil)
			first = next;
		else
			last->tail = next;
		last = next;
	}
	return first;
}

struct step eval_body(struct cell *body, struct cell *scope)
{
	if (body->kind != KIND_PAIR)
		return (struct step){nil, NULL};
	for (; body->tail->kind == KIND_PAIR; body = body->tail)
		eval(body->head, scope);
	return (struct step){body->head, scope};
}

static struct step enter(struct cell *function, struct cell *arguments)
{
	if (function->kind == KIND_BUILTIN)
		return (struct step){function->builtin.call(arguments), NULL};
	if (function->kind != KIND_CLOSURE)
		fail("not a function:", function);
	return eval_body(function->closure.body,
		scope_bind(function->closure.parameters, arguments, function->closure.scope));
}

struct cell *apply(struct cell *function, struct cell *arguments)
{
	struct step step = enter(function, arguments);

	return step.scope ? eval(step.expression, step.scope) : step.expression;
}

static struct step eval_step(struct cell *call, struct cell *scope)
{
	struct cell *function = eval(call->head, scope);

	if (function->kind == KIND_FORM)
		return function->form.expand(call->tail, scope);
	return enter(function, eval_list(call->tail, scope));
}

struct cell *eval(struct cell *expression, struct cell *scope)
{
	struct step step = {expression, scope};

	check_depth();
	while (step.scope) {
		if (step.expression->kind == KIND_SYMBOL)
			return *scope_find(step.scope, step.expression);
		if (step.expression->kind != KIND_PAIR)
			break;
		step = eval_step(step.expression, step.scope);
	}
	return step.expression;
}
