/*
 * Decimal numbers.  See decimal.h.
 *
 * Up to 19 digits are read as an integer.  If it is exact, one division or multiplication turns it
 * into a double (W.  Clinger, "How to read floating point numbers accurately", 1990); otherwise
 * strtod does.
 */
#include "base/decimal.h"

#include <stdio.h>
#include <stdlib.h>

static inline void add_digit(struct decimal *n, char c, bool is_fraction)
{
	if (n->digits >= UINT64_C(1000000000000000000)) {
		n->exponent += !is_fraction;
		return;
	}
	n->digits = n->digits * 10 + (uint64_t)(c - '0');
	n->exponent -= is_fraction;
}

/* Reads the exponent at p, after 'e'; NULL: there is none. */
static const char *read_exponent(struct decimal *n, const char *p, const char *end)
{
	bool is_negative = p < end && *p == '-';
	int64_t value = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (p == end || !char_is_digit(*p))
		return NULL;
	for (; p < end && char_is_digit(*p); p++)
		if (value < 1000000)
			value = value * 10 + (*p - '0');
	n->exponent += is_negative ? -value : value;
	return p;
}

size_t decimal_scan(struct str s, struct decimal *n)
{
	const char *p = s.data, *end = s.data + s.size;

	*n = (struct decimal){0};
	if (p < end && *p == '-') {
		n->is_negative = true;
		p++;
	}
	if (p == end || !char_is_digit(*p))
		return 0;
	for (; p < end && char_is_digit(*p); p++)
		add_digit(n, *p, false);
	if (end - p >= 2 && *p == '.' && char_is_digit(p[1]))
		for (p++; p < end && char_is_digit(*p); p++)
			add_digit(n, *p, true);
	if (p < end && (*p == 'e' || *p == 'E')) {
		const char *behind = read_exponent(n, p + 1, end);
		p = behind ? behind : p;
	}
	n->text = (struct str){s.data, (size_t)(p - s.data)};
	return n->text.size;
}

/* digits × 10^exponent, rounded half up, at most UINT64_MAX. */
static uint64_t scale(uint64_t digits, int64_t exponent)
{
	if (digits == 0 || exponent < -20)
		return 0;
	for (; exponent > 0; exponent--)
		if (__builtin_mul_overflow(digits, (uint64_t)10, &digits))
			return UINT64_MAX;
	if (exponent == 0)
		return digits;
	for (; exponent < -1; exponent++)
		digits /= 10;
	return digits / 10 + (digits % 10 >= 5);
}

int64_t decimal_int(const struct decimal *n, unsigned int digits)
{
	uint64_t size = scale(n->digits, n->exponent + (int64_t)digits);

	if (n->is_negative)
		return size > INT64_MAX ? INT64_MIN : -(int64_t)size;
	return size > INT64_MAX ? INT64_MAX : (int64_t)size;
}

static double by_strtod(const struct decimal *n)
{
	char text[64];

	if (n->text.size < sizeof(text)) {
		memcpy(text, n->text.data, n->text.size);
		text[n->text.size] = '\0';
	} else {
		snprintf(text, sizeof(text), "%s%llue%lld", n->is_negative ? "-" : "",
			(unsigned long long)n->digits, (long long)n->exponent);
	}
	return strtod(text, NULL);
}

double decimal_double(const struct decimal *n)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

	if (n->digits > UINT64_C(1) << 53 || n->exponent < -22 || n->exponent > 22)
		return by_strtod(n);
	double v = n->exponent < 0 ? (double)n->digits / powers[-n->exponent]
				   : (double)n->digits * powers[n->exponent];
	return n->is_negative ? -v : v;
}
