/*
 * Built-in functions: each takes the list of its evaluated arguments.
 */

#include "lisp.h"

#include <string.h>

static struct cell *argument(struct cell *arguments, int n)
{
	while (n-- && arguments->kind == KIND_PAIR)
		arguments = arguments->tail;
	if (arguments->kind != KIND_PAIR)
		fail("too few arguments", NULL);
	return arguments->head;
}

static int64_t number(struct cell *arguments, int n)
{
	struct cell *cell = argument(arguments, n);

	if (cell->kind != KIND_NUMBER)
		fail("not a number:", cell);
	return cell->number;
}

static struct cell *pair(struct cell *arguments)
{
	struct cell *cell = argument(arguments, 0);

	if (cell->kind != KIND_PAIR)
		fail("not a pair:", cell);
	return cell;
}

static struct cell *boolean(bool is_true)
{
	return is_true ? truth : nil;
}

static struct cell *builtin_add(struct cell *arguments)
{
	uint64_t sum = 0; /* unsigned: numbers wrap around */

	for (; arguments != nil; arguments = arguments->tail)
		sum += (uint64_t)number(arguments, 0);
	return make_number((int64_t)sum);
}

static struct cell *builtin_subtract(struct cell *arguments)
{
	uint64_t difference = (uint64_t)number(arguments, 0);

	if (arguments->tail == nil)
		return make_number((int64_t)-difference);
	while ((arguments = arguments->tail) != nil)
		difference -= (uint64_t)number(arguments, 0);
	return make_number((int64_t)difference);
}

static struct cell *builtin_multiply(struct cell *arguments)
{
	uint64_t product = 1;

	for (; arguments != nil; arguments = arguments->tail)
		product *= (uint64_t)number(arguments, 0);
	return make_number((int64_t)product);
}

static int64_t divisor(struct cell *arguments)
{
	int64_t by = number(arguments, 1);

	if (by == 0 || by == -1) /* -1: INT64_MIN / -1 has no value */
		fail("division by", argument(arguments, 1));
	return by;
}

static struct cell *builtin_quotient(struct cell *arguments)
{
	return make_number(number(arguments, 0) / divisor(arguments));
}

static struct cell *builtin_remainder(struct cell *arguments)
{
	return make_number(number(arguments, 0) % divisor(arguments));
}

static struct cell *builtin_number_equal(struct cell *arguments)
{
	return boolean(number(arguments, 0) == number(arguments, 1));
}

static struct cell *builtin_less(struct cell *arguments)
{
	return boolean(number(arguments, 0) < number(arguments, 1));
}

static struct cell *builtin_cons(struct cell *arguments)
{
	return make_pair(argument(arguments, 0), argument(arguments, 1));
}

static struct cell *builtin_car(struct cell *arguments)
{
	return pair(arguments)->head;
}

static struct cell *builtin_cdr(struct cell *arguments)
{
	return pair(arguments)->tail;
}

static struct cell *builtin_list(struct cell *arguments)
{
	return arguments;
}

static struct cell *builtin_is_null(struct cell *arguments)
{
	return boolean(argument(arguments, 0) == nil);
}

static struct cell *builtin_is_pair(struct cell *arguments)
{
	return boolean(argument(arguments, 0)->kind == KIND_PAIR);
}

static struct cell *builtin_is_number(struct cell *arguments)
{
	return boolean(argument(arguments, 0)->kind == KIND_NUMBER);
}

static struct cell *builtin_is_eq(struct cell *arguments)
{
	return boolean(argument(arguments, 0) == argument(arguments, 1));
}

static struct cell *builtin_is_equal(struct cell *arguments)
{
	return boolean(is_equal(argument(arguments, 0), argument(arguments, 1)));
}

static struct cell *builtin_map(struct cell *arguments)
{
	struct cell *function = argument(arguments, 0), *list = argument(arguments, 1);
	struct cell *first = nil, *last = nil;

	for (; list->kind == KIND_PAIR; list = list->tail) {
		struct cell *next = make_pair(apply(function, make_pair(list->head, nil)), nil);

		if (last == nil)
			first = next;
		else
			last->tail = next;
		last = next;
	}
	return first;
}

static struct cell *builtin_apply(struct cell *arguments)
{
	return apply(argument(arguments, 0), argument(arguments, 1));
}

/* The characters of a string, as a list of numbers. */
static struct cell *builtin_characters(struct cell *arguments)
{
	struct cell *string = argument(arguments, 0), *list = nil;

	if (string->kind != KIND_STRING)
		fail("not a string:", string);
	for (size_t i = strlen(string->text); i > 0; i--)
		list = make_pair(make_number((unsigned char)string->text[i - 1]), list);
	return list;
}

static struct cell *builtin_print(struct cell *arguments)
{
	for (; arguments->kind == KIND_PAIR; arguments = arguments->tail) {
		print_cell(stdout, arguments->head);
		putchar(arguments->tail == nil ? '\n' : ' ');
	}
	return nil;
}

void define_builtins(void)
{
	define_builtin("+", builtin_add);
	define_builtin("-", builtin_subtract);
	define_builtin("*", builtin_multiply);
	define_builtin("quotient", builtin_quotient);
	define_builtin("remainder", builtin_remainder);
	define_builtin("=", builtin_number_equal);
	define_builtin("<", builtin_less);
	define_builtin("cons", builtin_cons);
	define_builtin("car", builtin_car);
	define_builtin("cdr", builtin_cdr);
	define_builtin("list", builtin_list);
	define_builtin("null?", builtin_is_null);
	define_builtin("not", builtin_is_null);
	define_builtin("pair?", builtin_is_pair);
	define_builtin("number?", builtin_is_number);
	define_builtin("eq?", builtin_is_eq);
	define_builtin("equal?", builtin_is_equal);
	define_builtin("map", builtin_map);
	define_builtin("apply", builtin_apply);
	define_builtin("characters", builtin_characters);
	define_builtin("print", builtin_print);
}
