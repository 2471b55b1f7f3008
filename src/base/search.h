#ifndef SONDE_BASE_SEARCH_H
#define SONDE_BASE_SEARCH_H

/*
 * Binary search, of anything that is found by its index: the first i of low … end-1 at which
 * `is_before`, an expression of i, is false; end if it is nowhere.  It must be true up to there,
 * and nowhere from there on.  The last that begins at addr or before, if there is one (at > 0), is
 *
 *	size_t at = partition_point(i, 0, table->count, table->data[i].low <= addr);
 *	table->data[at - 1]
 */
#define partition_point(i, low, end, is_before)                                                    \
	({                                                                                         \
		__typeof__((low) + (end)) search_low_ = (low), search_end_ = (end);                \
		while (search_low_ < search_end_) {                                                \
			__typeof__(search_low_) i = search_low_ + (search_end_ - search_low_) / 2; \
			if (is_before)                                                             \
				search_low_ = i + 1;                                               \
			else                                                                       \
				search_end_ = i;                                                   \
		}                                                                                  \
		search_low_;                                                                       \
	})

#endif
