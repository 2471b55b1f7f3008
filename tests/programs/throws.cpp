/*
 * throws MILLISECONDS: C++ that spends so much CPU time in destructors while exceptions unwind, in
 * what catches them, and in a virtual function: 20, 1 and 20 parts, which it prints.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "cpu_time.h"
#include "spin.h"

namespace shapes
{

static volatile uint64_t sum;

struct Guard {
	~Guard()
	{
		clean();
	}
	KEEP void clean()
	{
		sum = spin(20000, sum | 1) + 1;
	}
};

KEEP int thrower(int level)
{
	Guard guard;

	if (level == 0)
		throw std::runtime_error("thrown");
	int deeper = thrower(level - 1);
	NO_TAIL_CALL(deeper);
	return deeper + 1;
}

KEEP void caught(const std::exception &e)
{
	sum = spin(20000, (uint64_t)e.what()[0]) + 1;
}

struct Shape {
	virtual ~Shape() = default;
	virtual uint64_t area(uint64_t rounds) = 0;
};

struct Square final : Shape {
	KEEP uint64_t area(uint64_t rounds) override
	{
		return spin(rounds, 3) + 1;
	}
};

} // namespace shapes

int main(int argc, char **argv)
{
	shapes::Shape *shape = new shapes::Square;

	struct cpu_time time = cpu_time_of_process(argc > 1 ? atof(argv[1]) : 1);

	do {
		try {
			shapes::sum = shapes::sum + (uint64_t)shapes::thrower(19);
		} catch (const std::exception &e) {
			shapes::caught(e);
		}
		shapes::sum = shape->area(400000);
	} while (cpu_time_is_left(&time));
	delete shape;
	puts("done");
	return 0;
}
