// Something for a C++ compiler to chew on: deep template recursion and much of the standard library.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

template <int N> struct fibonacci {
	static constexpr long value = fibonacci<N - 1>::value + fibonacci<N - 2>::value;
};
template <> struct fibonacci<0> {
	static constexpr long value = 0;
};
template <> struct fibonacci<1> {
	static constexpr long value = 1;
};

template <int N> struct stage {
	std::map<std::string, std::vector<std::tuple<int, double, std::string>>> table;
	std::variant<int, double, std::string, std::vector<int>> value;

	long run(std::vector<long> input)
	{
		std::sort(input.begin(), input.end(), [](long a, long b) { return a % (N + 3) < b % (N + 3); });
		for (long x : input)
			table[std::to_string(x % (N + 7))].emplace_back(int(x), x / 2.0, std::to_string(x));
		std::unordered_map<std::string, std::function<long(long)>> calls;
		for (auto &[name, rows] : table)
			calls[name] = [&rows = rows](long x) { return x + long(rows.size()) * N; };
		value = std::vector<int>(N + 1, N);
		long sum = std::visit(
			[](auto &&v) -> long {
				using type = std::decay_t<decltype(v)>;
				if constexpr (std::is_same_v<type, std::vector<int>>)
					return std::accumulate(v.begin(), v.end(), 0L);
				else if constexpr (std::is_same_v<type, std::string>)
					return long(v.size());
				else
					return long(v);
			},
			value);
		for (auto &call : calls)
			sum += call.second(sum);
		if constexpr (N > 0)
			return sum + stage<N - 1>().run(std::move(input));
		return sum;
	}
};

int main()
{
	std::regex pattern("([a-z]+)([0-9]*)(x|y|z)+");
	std::smatch match;
	std::string text = "abc123xyz";
	std::cout << fibonacci<80>::value << std::regex_match(text, match, pattern) << '\n';
	return int(stage<24>().run({5, 3, 9, 1, 7}));
}
