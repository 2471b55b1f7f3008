"""The example program does what it says, so that its profile is one of a program that works."""

import harness
from harness import BUILD_ROOT, SOURCE_ROOT, check, run

LISP = BUILD_ROOT / "examples" / "lisp"


def evaluate(folder, text):
	path = folder / "text.lisp"
	path.write_bytes(text if isinstance(text, bytes) else text.encode())
	return run(LISP, path)


@harness.takes_long
def test_demo_computes_what_it_should():
	if harness.SANITIZED:
		raise harness.Skip("the other build runs the same program")
	assert check(run(LISP, SOURCE_ROOT / "examples/lisp/demo.lisp")).out == (
		"queens:     724\n"
		"derivative: (+ (+ (* x x) (* x (* 2 x))) 3)\n"
		"the 7th:    62039\n"
		"sorted:     t\n"
		"parsed:     12164\n")


def test_language(folder):
	for text, value in [
			("(+ 1 (* 2 3))", "7"), ("'(a (b . c) \"d\")", "(a (b . c) d)"),
			("((lambda (a . b) (cons b a)) 1 2 3)", "((2 3) . 1)"),
			("(let ((x 2) (y (* x x))) (set! y (+ y 1)) y)", "5"),
			("(cond (() 1) ((= 1 1) 2))", "2"), ("(map (lambda (x) (- x)) '(1 -2))", "(-1 2)"),
			("(and 1 () (car 1))", "()"), ("(or () 3 (car 1))", "3"),
			("(begin (define (count n) (if (= n 0) 'done (count (- n 1)))) (count 300000))", "done"),
			("(equal? '(1 (2 \"x\")) '(1 (2 \"x\")))", "t")]:
		assert check(evaluate(folder, f"(print {text})")).out == value + "\n", text


def test_errors(folder):
	for text, message in [
			("(car 1)", "not a pair: 1"), ("(nothing)", "no such variable nothing"),
			("(", "a list has no end"), (")", "a ) without its ("), ("'", "nothing to quote"),
			('"x', "a string has no end"), ("(1 2)", "not a function: 1"),
			("((lambda (x) x))", "too few arguments for (x)"), ("(if)", "a form lacks a part"),
			("(quotient 1 0)", "division by 0"), ("99999999999999999999", "a number is too large"),
			("(define (f n) (+ 1 (f n))) (f 1)", "recursion too deep"),
			("(" * 200000, "recursion too deep")]:
		result = check(evaluate(folder, text), 1)
		assert result.err == f"lisp: {message}\n", (text[:40], result)


harness.main()
