#ifndef SONDE_BASE_SEARCH_H
#define SONDE_BASE_SEARCH_H

/*
 * Binary search over anything that has an index: the first i in low … end-1 for which `is_before`,
 * an expression of i, is false; end if there is none.  It must be true for all smaller i, and false
 * for all larger ones.  The last entry that begins at or before addr, if there is one (at > 0), is
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
