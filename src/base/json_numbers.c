/*
 * Columns of numbers in JSON: while all values are plain or null, the loop needs only the reader's
 * position.
 */
#include "base/json_plain.h"
#include "base/json_reader.h"

/* Reads numbers and nulls separated only by commas, up to anything else. */
static size_t read_plain(struct json_reader *r, unsigned int digits, int64_t *values, size_t most)
{
	enum { ROOM = 1 + 4 + 1 }; /* for null and the characters around it */
	const uint8_t *p = r->at, *end = r->end;
	bool is_first = r->is_first;
	size_t count = 0;

	for (; count < most && end - p >= ROOM && (*p == ',' || is_first); count++) {
		const uint8_t *value = p + !is_first;
		const uint8_t *behind = plain_number(value, end, digits, &values[count]);
		if (behind == NULL) {
			if (memcmp(value, "null", 4) != 0 || (value[4] != ',' && value[4] != ']'))
				break;
			values[count] = JSON_NO_NUMBER;
			behind = value + 4;
		}
		p = behind;
		is_first = false;
	}
	r->at = p;
	r->is_first = is_first;
	return count;
}

size_t json_numbers(struct json_reader *r, unsigned int digits, int64_t *values, size_t most)
{
	size_t count = 0;

	while (count < most) {
		if (likely(r->bad == NULL && !r->at_value && r->depth > 0))
			count += read_plain(r, digits, values + count, most - count);
		if (count == most)
			break;
		enum json_kind kind = json_number_element(r, digits, &values[count]);
		if (kind == JSON_NONE)
			break;
		if (kind != JSON_NUMBER)
			values[count] = JSON_NO_NUMBER;
		else if (values[count] == JSON_NO_NUMBER)
			values[count]++; /* saturated beyond 64 bits */
		count++;
	}
	return count;
}
