/*
 * Values with units.  Decimals are exact: digits are collected in integers, never in floating
 * point, so that 0.1s is 100000000ns, and the same text gives the same interval everywhere.
 */

#include "session/values.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"

/* Further digits after the point are below a nanosecond even for hours, and are dropped. */
#define FRACTION_DIGITS_MAX 12

/* value / 10^fraction_digits, as typed. */
struct decimal {
	uint64_t value;
	unsigned int fraction_digits;
};

/* True, with *rest after the number, if text begins with a number that fits. */
static bool decimal_read(const char *text, struct decimal *d, const char **rest)
{
	bool has_digit = false, has_point = false;

	*d = (struct decimal){0};
	for (;; text++) {
		if (*text == '.' && !has_point) {
			has_point = true;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			break;
		has_digit = true;
		if (has_point && d->fraction_digits == FRACTION_DIGITS_MAX)
			continue;
		if (__builtin_mul_overflow(d->value, 10u, &d->value) ||
			__builtin_add_overflow(d->value, (uint64_t)(*text - '0'), &d->value))
			return false;
		d->fraction_digits += has_point;
	}
	*rest = text;
	return has_digit;
}

static unsigned __int128 power_of_ten(unsigned int exponent)
{
	unsigned __int128 power = 1;

	while (exponent--)
		power *= 10;
	return power;
}

struct error *value_count(const char *text, uint64_t least, uint64_t most, uint64_t *count)
{
	struct decimal d;
	const char *rest;

	if (!isdigit((unsigned char)*text) || !decimal_read(text, &d, &rest) || *rest ||
		strchr(text, '.') || d.value < least || d.value > most) {
		if (most == UINT64_MAX)
			return error_new(ERROR_USAGE, "'%s' is not a whole number from %llu", text,
				(unsigned long long)least);
		return error_new(ERROR_USAGE, "'%s' is not a whole number from %llu to %llu", text,
			(unsigned long long)least, (unsigned long long)most);
	}
	*count = d.value;
	return NULL;
}

struct error *value_time(const char *text, uint64_t *time_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"ns", 1},
		{"us", 1000},
		{"µs", 1000},
		{"μs", 1000}, /* the Greek letter; above is the micro sign */
		{"ms", 1000000},
		{"s", 1000000000},
		{"min", 60000000000},
		{"h", 3600000000000},
		{"d", 86400000000000},
	};
	const char *unit;
	struct decimal d;

	if (decimal_read(text, &d, &unit)) {
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			unsigned __int128 scale = power_of_ten(d.fraction_digits), ns;

			if (strcmp(unit, units[i].name) != 0)
				continue;
			ns = ((unsigned __int128)d.value * units[i].ns + scale / 2) / scale;
			if (ns > INT64_MAX)
				break;
			*time_ns = (uint64_t)ns;
			return NULL;
		}
	}
	return error_new(
		ERROR_USAGE, "'%s' is not a time with its unit, like 500us, 1ms or 2.5s", text);
}

struct error *value_frequency(const char *text, uint64_t *period_ns)
{
	unsigned __int128 second_ns = 1000000000, period;
	const char *unit = text;
	struct decimal d = {0};
	bool is_good = decimal_read(text, &d, &unit) && d.value;

	if (strcmp(unit, "k") == 0 || strcmp(unit, "kHz") == 0)
		second_ns = 1000000;
	else if (*unit && strcmp(unit, "Hz") != 0)
		is_good = false;
	if (is_good) {
		period = (second_ns * power_of_ten(d.fraction_digits) + d.value / 2) / d.value;
		is_good = period >= 1 && period <= INT64_MAX;
	}
	if (!is_good)
		return error_new(
			ERROR_USAGE, "'%s' is not a frequency in Hz, like 99, 1000 or 4k", text);
	*period_ns = (uint64_t)period;
	return NULL;
}

struct error *value_size(const char *text, uint64_t *bytes)
{
	static const char *const units[] = {"", "K", "M", "G", "B", "KiB", "MiB", "GiB"};
	const char *unit;
	struct decimal d;

	if (decimal_read(text, &d, &unit)) {
		for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
			unsigned __int128 size = (unsigned __int128)d.value << (10 * (i % 4));

			size /= power_of_ten(d.fraction_digits);
			if (strcmp(unit, units[i]) != 0)
				continue;
			if (size == 0 || size > INT64_MAX)
				break;
			*bytes = (uint64_t)size;
			return NULL;
		}
	}
	return error_new(ERROR_USAGE, "'%s' is not a size, like 64M or 1.5GiB", text);
}

struct error *value_percent(const char *text, double *share)
{
	const char *rest;
	struct decimal d;

	if (decimal_read(text, &d, &rest) && (*rest == '\0' || strcmp(rest, "%") == 0)) {
		double percent = (double)d.value / (double)power_of_ten(d.fraction_digits);

		if (percent > 0 && percent <= 100) {
			*share = percent / 100;
			return NULL;
		}
	}
	return error_new(ERROR_USAGE, "'%s' is not a share up to 100%%, like 1%% or 0.5%%", text);
}

struct error *value_when_error(struct error *err)
{
	if (err == NULL || err->kind != ERROR_USAGE)
		return err;
	struct error *said = error_new(ERROR_USAGE, "%s; see 'sonde help when'", err->message);

	if (err->detail)
		said = error_detail(said, "%s", err->detail);
	error_destroy(err);
	return said;
}

struct str value_stream(const char **text)
{
	const char *equals = strrchr(*text, '=');
	struct str stream = {0};

	if (equals == NULL)
		return stream;
	stream = (struct str){*text, (size_t)(equals - *text)};
	*text = equals + 1;
	return stream;
}
