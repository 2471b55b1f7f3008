/*
 * For the single-step oracle: a C++ program with exceptions through several frames, virtual calls and
 * the standard library's templates, in few instructions.  It exits with 0 if its results are right.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

#define NOINLINE __attribute__((noinline, noclone))

int failures;
int destroyed;

NOINLINE void check(bool good, const char *what)
{
	if (good)
		return;
	failures++;
	std::fprintf(stderr, "oracle_cxx: %s\n", what);
}

// A frame that must be cleaned up on the way out.
struct Guard {
	int value;
	explicit Guard(int v) : value(v)
	{
	}
	NOINLINE ~Guard()
	{
		destroyed += value;
	}
};

// ---- exceptions ----

NOINLINE int throw_from(int depth)
{
	Guard guard(1);

	if (depth == 0)
		throw std::runtime_error("deep");
	return throw_from(depth - 1) + guard.value;
}

NOINLINE int rethrow(int depth)
{
	try {
		return throw_from(depth);
	} catch (const std::runtime_error &) {
		Guard guard(10);
		throw;
	}
}

NOINLINE bool catches(int depth)
{
	try {
		rethrow(depth);
	} catch (const std::exception &error) {
		return std::string(error.what()) == "deep";
	}
	return false;
}

struct Half {
	Guard guard{100};
	Half()
	{
		throw 5;
	}
};

NOINLINE int throw_in_constructor()
{
	try {
		Half half;
	} catch (int value) {
		return value;
	}
	return 0;
}

// An exception out of a callback of a C function.
int compare_throwing(const void *, const void *)
{
	throw 'c';
}

NOINLINE bool throw_through_c()
{
	int numbers[] = {3, 1, 2};

	try {
		std::qsort(numbers, 3, sizeof(int), compare_throwing);
	} catch (char value) {
		return value == 'c';
	}
	return false;
}

NOINLINE int nested()
{
	try {
		throw 1;
	} catch (int outer) {
		try {
			throw std::string("inner");
		} catch (const std::string &inner) {
			return outer + static_cast<int>(inner.size());
		}
	}
}

NOINLINE int never_caught_here(int value)
{
	Guard guard(value);

	try {
		if (value > 1)
			throw std::out_of_range("here");
	} catch (const std::bad_alloc &) {
		return -1;
	}
	return value;
}

// ---- virtual calls, functions as values ----

struct Shape {
	virtual ~Shape() = default;
	virtual int area() const = 0;
};

struct Square : Shape {
	int side;
	explicit Square(int s) : side(s)
	{
	}
	NOINLINE int area() const override
	{
		return side * side;
	}
};

struct Label {
	virtual ~Label() = default;
	virtual std::string label() const
	{
		return "label";
	}
};

// The second base's virtual functions are reached through a thunk.
struct Named : Square, Label {
	using Square::Square;
	NOINLINE std::string label() const override
	{
		return "named " + std::to_string(side);
	}
};

NOINLINE int total_area(const std::vector<std::unique_ptr<Shape>> &shapes)
{
	int sum = 0;

	for (const auto &shape : shapes)
		sum += shape->area();
	return sum;
}

NOINLINE int call(const std::function<int(int)> &f, int value)
{
	return f(value);
}

NOINLINE void functions()
{
	int captured = 5;
	std::function<int(int)> add = [&captured](int x) { return x + captured; };
	std::function<int(int)> recursive = [&](int n) { return n ? recursive(n - 1) + 1 : 0; };
	std::function<int(int)> empty;

	check(call(add, 2) == 7, "std::function");
	check(call(recursive, 10) == 10, "recursive std::function");
	try {
		call(empty, 1);
		check(false, "empty std::function");
	} catch (const std::bad_function_call &) {
	}
}

NOINLINE void containers()
{
	std::vector<int> numbers;
	std::map<std::string, int> names;

	for (int i = 0; i < 40; i++)
		numbers.push_back(i * 37 % 41);
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
	check(std::is_sorted(numbers.rbegin(), numbers.rend()), "std::sort");
	for (int i = 0; i < 8; i++)
		names["name " + std::to_string(i * 5 % 8)] = i;
	check(names.size() == 8, "std::map");
}

NOINLINE void shapes()
{
	std::vector<std::unique_ptr<Shape>> all;

	all.push_back(std::make_unique<Square>(2));
	all.push_back(std::make_unique<Named>(3));
	check(total_area(all) == 13, "virtual calls");
	auto *label = dynamic_cast<Label *>(all[1].get());
	check(label && label->label() == "named 3", "a thunk");
}

} // namespace

int main()
{
	check(catches(0), "an exception");
	check(catches(6), "an exception through frames");
	check(destroyed == 1 + 7 + 20, "destructors");
	check(throw_in_constructor() == 5, "an exception in a constructor");
	check(throw_through_c(), "an exception through C");
	check(nested() == 6, "nested exceptions");
	try {
		never_caught_here(2);
	} catch (const std::logic_error &) {
		failures--;
	}
	failures++;
	shapes();
	functions();
	containers();
	return failures != 0;
}
