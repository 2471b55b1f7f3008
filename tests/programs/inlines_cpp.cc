// C++ names: namespaces, classes, constructors, templates, lambdas, operators, locals of functions.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace shapes {
class square {
	int side;

public:
	explicit square(int s);
	int area() const;
	bool operator<(const square &other) const { return side < other.side; }
};

__attribute__((noinline)) square::square(int s) : side(s * s)
{
}

int square::area() const
{
	return side * side;
}

namespace {
__attribute__((noinline)) int hidden(int x)
{
	return x * 7;
}
}

template <typename T> __attribute__((noinline)) T largest(const std::vector<T> &all)
{
	return *std::max_element(all.begin(), all.end());
}
}

int main(int argc, char **argv)
{
	struct local {
		static __attribute__((noinline)) int twice(int x) { return 2 * x; }
	};
	std::vector<shapes::square> all;
	std::vector<std::string> words(argv, argv + argc);

	for (int i = 0; i < argc + 10; i++)
		all.emplace_back(i);
	auto sum = [&](int from) __attribute__((noinline)) {
		for (auto &s : all)
			from += s.area();
		return from;
	};
	std::sort(words.begin(), words.end(),
		[](const std::string &a, const std::string &b) { return a.size() < b.size(); });
	printf("%d %d %d %d %s\n", sum(argc), local::twice(argc), shapes::hidden(argc),
		shapes::largest(all).area(), shapes::largest(words).c_str());
}
