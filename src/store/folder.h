#ifndef SONDE_STORE_FOLDER_H
#define SONDE_STORE_FOLDER_H

/*
 * A folder of recordings as a store.  An agent writes them, or `sonde push` puts them there.
 *
 * A sample's labels "service" and "host" state where it comes from; without them, the recording's
 * command and host do.
 */

#include "store/store.h"

/* The functions of store.h, for folders. */
must_use struct error *folder_store_send(const char *folder, const struct profile *profile,
	const struct store_rows_options *options, struct store_sent *sent);
must_use struct error *folder_store_fetch(const char *folder, const struct store_query *query,
	const char *source, struct profile **profile);
must_use struct error *folder_store_glance(const char *folder, const struct store_query *query,
	uint64_t known, struct store_glance *glance);
must_use struct error *folder_store_init(const char *folder, struct store_made *made);
must_use struct error *folder_store_status(
	const char *folder, const struct store_query *range, struct store_status *status);
must_use struct error *folder_store_retain(const char *folder,
	const struct store_retention *retention, uint64_t now_s, size_t *dropped);

#endif
