/*
 * Brackets of JSON, 64 bytes at a time.  See json_brackets.h.
 *
 * The parity of the quotes before each of 64 bytes shows which are within strings, as G.
 * Langdale and D. Lemire do ("Parsing Gigabytes of JSON per Second", 2019, section 3.1).
 */
#include "base/json_brackets.h"

#include "base/bytes16.h"
#include "base/compiler.h"

/* The special characters among 64 bytes: bit i of each mask is byte i. */
struct signs {
	uint64_t quotes, slashes, opens, closes;
};

static inline void add_signs(struct signs *s, const uint8_t *p, unsigned int i)
{
	bytes16 v = load16(p + i), curled = v | 0x20;

	s->quotes |= found_bits((bytes16)(v == '"')) << i;
	s->slashes |= found_bits((bytes16)(v == '\\')) << i;
	s->opens |= found_bits((bytes16)(curled == '{')) << i;
	s->closes |= found_bits((bytes16)(curled == '}')) << i;
}

static inline struct signs signs_at(const uint8_t *p)
{
	struct signs s = {0};

	add_signs(&s, p, 0);
	add_signs(&s, p, 16);
	add_signs(&s, p, 32);
	add_signs(&s, p, 48);
	return s;
}

/*
 * Whether 64 bytes hold only numbers and separators: no special character and no letter. All
 * special characters except '"' have the bit that letters have.
 */
static inline bool are_numbers(const uint8_t *p)
{
	bytes16 a = load16(p), b = load16(p + 16), c = load16(p + 32), d = load16(p + 48);
	bytes16 quotes = (bytes16)(a == '"') | (bytes16)(b == '"') | (bytes16)(c == '"') |
			 (bytes16)(d == '"');

	return found_bits(quotes | (bytes16)(((a | b | c | d) & 0x40) != 0)) == 0;
}

/*
 * Which of 64 bytes follow a '\\' that is not itself escaped; *is_carried: in, whether the first
 * byte does; out, whether the first of the next 64 does.
 */
static uint64_t escaped_bits(uint64_t slashes, bool *is_carried)
{
	uint64_t escaped = *is_carried;

	*is_carried = false;
	for (slashes &= ~escaped; slashes;) {
		uint64_t slash = slashes & -slashes;
		escaped |= slash << 1;
		*is_carried = slash >> 63;
		slashes &= ~(slash | slash << 1);
	}
	return escaped;
}

/* Bit i: whether an odd number of bits up to it is set. */
static inline uint64_t parity_up_to(uint64_t bits)
{
	bits ^= bits << 1;
	bits ^= bits << 2;
	bits ^= bits << 4;
	bits ^= bits << 8;
	bits ^= bits << 16;
	bits ^= bits << 32;
	return bits;
}

/* The special characters at p outside strings; zeros after the end. */
static inline struct signs signs_outside(struct json_passing *at, const uint8_t *p, size_t left)
{
	struct signs s;

	if (likely(left >= 64)) {
		s = signs_at(p);
	} else {
		uint8_t last[64] = {0};
		memcpy(last, p, left);
		s = signs_at(last);
	}
	if (unlikely(s.slashes || at->is_escaped))
		s.quotes &= ~escaped_bits(s.slashes, &at->is_escaped);
	at->in_string ^= parity_up_to(s.quotes);
	s.opens &= ~at->in_string;
	s.closes &= ~at->in_string;
	at->in_string = -(at->in_string >> 63);
	return s;
}

const uint8_t *json_find_close(struct json_passing *at, const uint8_t *p, const uint8_t *limit)
{
	for (; p < limit; p += 64) {
		if (limit - p >= 64 && are_numbers(p) && !at->is_escaped)
			continue;
		struct signs s = signs_outside(at, p, (size_t)(limit - p));
		for (uint64_t both = s.opens | s.closes; both; both &= both - 1) {
			at->depth += s.opens & both & -both ? 1 : SIZE_MAX;
			if (at->depth == 0)
				return p + __builtin_ctzll(both) + 1;
		}
	}
	return NULL;
}
