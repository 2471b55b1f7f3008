/*
 * Numbers for people, in integer arithmetic throughout: rounding never depends on how a double came
 * about.
 */
#include "view/text/units.h"

#include "base/compiler.h"

static const struct scale scale_count = {"", 1, 0, NULL};

static const struct scale scales_ns[] = {
	{" ns", 1, 0, NULL},
	{" us", 1000, 3, &scales_ns[0]},
	{" ms", 1000000, 3, &scales_ns[1]},
	{" s", 1000000000, 3, &scales_ns[2]},
};

static const struct scale scales_bytes[] = {
	{" B", 1, 0, NULL},
	{" KiB", UINT64_C(1) << 10, 2, &scales_bytes[0]},
	{" MiB", UINT64_C(1) << 20, 2, &scales_bytes[1]},
	{" GiB", UINT64_C(1) << 30, 2, &scales_bytes[2]},
	{" TiB", UINT64_C(1) << 40, 2, &scales_bytes[3]},
};

/* For shares of a whole. */
static const struct scale scales_ppb[] = {
	{" ppb", 1, 0, NULL},
	{"%", 10000000, 2, &scales_ppb[0]},
};

static const struct scale *scale_pick(const struct scale *scales, size_t count, uint64_t largest)
{
	size_t i = count - 1;

	while (i > 0 && largest < scales[i].divisor)
		i--;
	return &scales[i];
}

const struct scale *scale_for(struct str unit, uint64_t largest)
{
	if (str_equal(unit, STR("ns")))
		return scale_pick(scales_ns, ARRAY_SIZE(scales_ns), largest);
	if (str_equal(unit, STR("bytes")))
		return scale_pick(scales_bytes, ARRAY_SIZE(scales_bytes), largest);
	if (str_equal(unit, STR("ppb")))
		return &scales_ppb[1];
	return &scale_count;
}

/* Puts three digits in front of `at` and a comma in front of those; returns where that is. */
static char *group_put(char *at, unsigned value)
{
	*--at = (char)('0' + value % 10);
	*--at = (char)('0' + value / 10 % 10);
	*--at = (char)('0' + value / 100);
	*--at = ',';
	return at;
}

/* A percentage of a small base can have more digits than 64 bits, whose division is far quicker. */
static void grouped_put(struct strbuf *out, unsigned __int128 value)
{
	char digits[64], *end = digits + sizeof(digits), *at = end;
	uint64_t rest;

	for (; value > UINT64_MAX; value /= 1000)
		at = group_put(at, (unsigned)(value % 1000));
	for (rest = (uint64_t)value; rest >= 1000; rest /= 1000)
		at = group_put(at, (unsigned)(rest % 1000));
	do {
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	strbuf_add(out, (struct str){at, (size_t)(end - at)});
}

void number_put(struct strbuf *out, uint64_t value)
{
	grouped_put(out, value);
}

static void fraction_put(struct strbuf *out, uint64_t fraction, unsigned decimals)
{
	char digits[16];

	for (unsigned i = decimals; i > 0; i--) {
		digits[i] = (char)('0' + fraction % 10);
		fraction /= 10;
	}
	digits[0] = '.';
	strbuf_add(out, (struct str){digits, decimals + 1});
}

/* value / divisor with decimals, rounded to nearest; the caller adds the sign. */
static unsigned __int128 scaled(uint64_t value, uint64_t divisor, uint64_t power)
{
	uint64_t product;

	/* Dividing 64 bits is far quicker. */
	if (!__builtin_mul_overflow(value, power, &product) &&
		!__builtin_add_overflow(product, divisor / 2, &product))
		return product / divisor;
	return ((unsigned __int128)value * power + divisor / 2) / divisor;
}

static uint64_t power_of_ten(unsigned decimals)
{
	uint64_t power = 1;

	while (decimals--)
		power *= 10;
	return power;
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static void size_put(struct strbuf *out, const struct scale *scale, uint64_t size)
{
	uint64_t power = power_of_ten(scale->decimals);
	unsigned __int128 figure = scaled(size, scale->divisor, power);

	/* The finest scale has divisor 1 and shows everything. */
	if (figure == 0 && scale->finer) {
		size_put(out, scale->finer, size);
		return;
	}
	grouped_put(out, scale->decimals ? figure / power : figure);
	if (scale->decimals)
		fraction_put(out, (uint64_t)(figure % power), scale->decimals);
	strbuf_add(out, str_from(scale->suffix));
}

unsigned scale_figure_kind(const struct scale *scale, uint64_t size)
{
	unsigned kind = 1;

	if (size == 0)
		return 0;
	for (; scale->finer && scaled(size, scale->divisor, power_of_ten(scale->decimals)) == 0;
		scale = scale->finer)
		kind++;
	return kind;
}

void scale_put_size(struct strbuf *out, const struct scale *scale, uint64_t size)
{
	if (size == 0)
		strbuf_add_char(out, '0');
	else
		size_put(out, scale, size);
}

void scale_put(struct strbuf *out, const struct scale *scale, int64_t value)
{
	if (value < 0)
		strbuf_add_char(out, '-');
	scale_put_size(out, scale, magnitude(value));
}

void time_put(struct strbuf *out, uint64_t time_ns)
{
	size_put(out, scale_for(STR("ns"), time_ns), time_ns);
}

void mean_put(struct strbuf *out, double mean)
{
	uint64_t hundredths = (uint64_t)(mean * 100 + 0.5);

	grouped_put(out, hundredths / 100);
	fraction_put(out, hundredths % 100, 2);
}

unsigned percent_figure_kind(uint64_t size, uint64_t base)
{
	if (size == 0 || base == 0)
		return 0;
	return scaled(size, base, 1000) == 0 ? 1 : 2;
}

void percent_put_size(struct strbuf *out, uint64_t size, uint64_t base)
{
	unsigned __int128 tenths;

	if (size == 0 || base == 0) {
		strbuf_add_char(out, base == 0 ? '-' : '0');
		return;
	}
	tenths = scaled(size, base, 1000);
	if (tenths == 0) {
		strbuf_add(out, STR("<0.1%"));
		return;
	}
	grouped_put(out, tenths / 10);
	fraction_put(out, (uint64_t)(tenths % 10), 1);
	strbuf_add_char(out, '%');
}

void percent_put(struct strbuf *out, int64_t value, int64_t base)
{
	if (value != 0 && base != 0 && (value < 0) != (base < 0))
		strbuf_add_char(out, '-');
	percent_put_size(out, magnitude(value), magnitude(base));
}
