/*
 * Writes random profiles as dumps: random_dump FOLDER FIRST COUNT makes FOLDER/SEED.dump of each
 * seed, the same on every machine.  tests/compare shows them to two builds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "random_profile.h"
#include "writer_text.h"

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: random_dump FOLDER FIRST COUNT\n");
		return 2;
	}
	uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *profile = random_profile(seed, &shape);
		struct strbuf text =
			writer_text(&writer_dump, profile, &(struct writer_options){0});
		char path[4096];
		snprintf(path, sizeof path, "%s/%llu.dump", argv[1], (unsigned long long)seed);
		FILE *file = fopen(path, "w");
		if (!file || fwrite(text.data, 1, text.size, file) != text.size || fclose(file)) {
			fprintf(stderr, "random_dump: %s can't be written\n", path);
			return 1;
		}
		strbuf_deinit(&text);
		profile_destroy(profile);
	}
	return 0;
}
