/*
 * Writes what many hosts send to a store in some minutes: RowBinary of its tables (src/store/schema.h), in files of about a
 * million pairs.
 *
 *	make_fleet FOLDER HOSTS MINUTES [SERVICES [SERVICES_A_HOST [SAMPLES [STACKS]]]]
 *
 * Each host runs some services, and each of them takes SAMPLES a minute of STACKS stacks, whose weights fall as Zipf's law
 * has it: with 1,824 of 32,000, a minute has some 800 pairs, as measured of real servers. The stacks of a service share
 * their beginnings, as a walk in a tree does. The same arguments give the same bytes. Prints, as JSON, what is in the files.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX     512
#define PAIRS_A_FILE  1000000
#define FUNCTIONS     6000
#define DEPTH_MAX     40
#define T0	      1700000040u
#define PERIOD_NS     52631579
#define FIRST_SERVICE 1

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t seed;

static uint64_t next_random(void)
{
	return mix(seed++);
}

static FILE *create(const char *folder, const char *table, unsigned number)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s-%04u", folder, table, number);
	FILE *file = fopen(path, "wb");
	if (file == NULL) {
		perror(path);
		exit(1);
	}
	return file;
}

static void put(FILE *f, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, f) != size) {
		perror("make_fleet");
		exit(1);
	}
}

static void put_count(FILE *f, uint64_t count)
{
	for (; count >= 128; count >>= 7)
		fputc((int)(count & 127) | 128, f);
	fputc((int)count, f);
}

static void put_text(FILE *f, const char *text)
{
	put_count(f, strlen(text));
	put(f, text, strlen(text));
}

static void put_u8(FILE *f, uint8_t value)
{
	put(f, &value, sizeof(value));
}

static void put_u32(FILE *f, uint32_t value)
{
	put(f, &value, sizeof(value));
}

static void put_u64(FILE *f, uint64_t value)
{
	put(f, &value, sizeof(value));
}

static void put_labels(FILE *f, unsigned host)
{
	put_count(f, 2);
	put_text(f, "unit");
	put_text(f, "version");
	put_count(f, 2);
	put_text(f, "api.service");
	put_text(f, host % 3 ? "1.4" : "1.5");
}

static uint64_t stack_hash(unsigned service, unsigned stack)
{
	return mix(((uint64_t)service << 32) + stack + 1);
}

static uint64_t frame_id(unsigned service, unsigned function)
{
	return mix(((uint64_t)service << 32) + function + (1u << 31));
}

static void put_stacks(FILE *f, unsigned service, unsigned stacks)
{
	unsigned path[DEPTH_MAX], depth = 0;
	char name[32];

	snprintf(name, sizeof(name), "service-%u", service);
	for (unsigned i = 0; i < stacks; i++) {
		unsigned wanted = 12 + (unsigned)(next_random() % (DEPTH_MAX - 12 + 1));
		unsigned kept = depth ? (unsigned)(next_random() % (depth + 1)) : 0;

		for (depth = kept < wanted ? kept : wanted; depth < wanted; depth++) {
			double u = (double)(next_random() >> 11) / (double)(1ull << 53);
			path[depth] = (unsigned)(u * u * u * FUNCTIONS);
		}
		put_text(f, name);
		put_u64(f, stack_hash(service, i));
		put_u32(f, T0);
		put_u64(f, 0);
		put_u8(f, 0);
		put_count(f, depth);
		for (unsigned d = 0; d < depth; d++)
			put_u64(f, frame_id(service, path[d]));
	}
}

static void put_frames(FILE *f, unsigned service)
{
	char text[64];

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		put_u64(f, frame_id(service, i));
		put_u8(f, 0);
		put_u32(f, 1);
		put_u8(f, 0);
		snprintf(text, sizeof(text), "service-%u", service);
		put_text(f, text);
		put_text(f, "00112233445566778899aabbccddeeff00112233");
		put_u64(f, 0x1000 + 64ull * i);
		snprintf(text, sizeof(text), "ns%u::Class%u::function_%u(int)", i % 40, i % 400, i);
		put_text(f, text);
		put_text(f, "");
		snprintf(text, sizeof(text), "/build/src/part%u/file%u.cc", i % 40, i % 400);
		put_text(f, text);
		put_u32(f, i % 3000);
		put_text(f, text);
		put_u32(f, i % 3000 + 7);
		put_u8(f, 0);
	}
}

struct pair {
	uint64_t stack;
	int64_t value;
};

static int by_stack(const void *a, const void *b)
{
	uint64_t x = ((const struct pair *)a)->stack, y = ((const struct pair *)b)->stack;

	return (x > y) - (x < y);
}

/* Draws from Zipf's law, exponent 1.05, by its cumulative sums. */
static unsigned draw(const double *sums, unsigned count)
{
	double u = (double)(next_random() >> 11) / (double)(1ull << 53) * sums[count - 1];
	unsigned low = 0, high = count - 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (sums[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static unsigned draw_profile(
	const double *sums, unsigned stacks, unsigned samples, unsigned service, struct pair *pairs)
{
	unsigned count = 0;

	for (unsigned i = 0; i < samples; i++)
		pairs[i] = (struct pair){stack_hash(service, draw(sums, stacks)), PERIOD_NS};
	qsort(pairs, samples, sizeof(*pairs), by_stack);
	for (unsigned i = 0; i < samples; i++) {
		if (count && pairs[count - 1].stack == pairs[i].stack)
			pairs[count - 1].value += pairs[i].value;
		else
			pairs[count++] = pairs[i];
	}
	return count;
}

static void put_profile(FILE *f, unsigned service, unsigned host, unsigned minute,
	const struct pair *pairs, unsigned count, int64_t total)
{
	char name[32];
	uint64_t id = mix(((uint64_t)service << 40) + ((uint64_t)host << 16) + minute);

	for (unsigned from = 0, chunk = 0; from < count; from += PAIRS_MAX, chunk++) {
		unsigned n = count - from < PAIRS_MAX ? count - from : PAIRS_MAX;

		snprintf(name, sizeof(name), "service-%u", service);
		put_text(f, name);
		put_text(f, "cpu-time");
		put_u32(f, T0 + 60 * minute);
		put_u64(f, id);
		put_u64(f, mix(id));
		put_u32(f, chunk);
		snprintf(name, sizeof(name), "host-%05u.example", host);
		put_text(f, name);
		put_labels(f, host);
		put_u64(f, (uint64_t)total);
		put_count(f, n);
		for (unsigned i = 0; i < n; i++)
			put_u64(f, pairs[from + i].stack);
		put_count(f, n);
		for (unsigned i = 0; i < n; i++)
			put_u64(f, (uint64_t)pairs[from + i].value);
	}
}

static void put_commit(
	FILE *f, unsigned service, unsigned host, unsigned minute, unsigned count, int64_t total)
{
	char name[32];
	uint64_t id = mix(((uint64_t)service << 40) + ((uint64_t)host << 16) + minute);

	snprintf(name, sizeof(name), "service-%u", service);
	put_text(f, name);
	put_u32(f, T0 + 60 * minute);
	put_u64(f, id);
	put_u64(f, mix(id));
	put_u32(f, T0 + 60 * minute + 61);
	put_u32(f, 60);
	snprintf(name, sizeof(name), "host-%05u.example", host);
	put_text(f, name);
	put_labels(f, host);
	put_u64(f, mix(id + 1));
	put_u32(f, 1);
	put_text(f, "");
	put_text(f, "sonde");
	put_text(f, "");
	put_text(f, "cpu-time");
	put_count(f, 1);
	put_text(f, "cpu-time");
	put_count(f, 1);
	put_text(f, "ns");
	put_count(f, 1);
	put_u64(f, (uint64_t)total);
	put_count(f, 0);
	put_count(f, 0);
	put_count(f, 0);
	put_count(f, 0);
	put_count(f, 0);
	put_u64(f, count);
}

static unsigned argument(int argc, char **argv, int i, unsigned otherwise)
{
	return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: make_fleet FOLDER HOSTS MINUTES [SERVICES [SERVICES_A_HOST "
				"[SAMPLES [STACKS]]]]\n");
		return 2;
	}
	unsigned hosts = argument(argc, argv, 2, 0), minutes = argument(argc, argv, 3, 0);
	unsigned services = argument(argc, argv, 4, 10), of_host = argument(argc, argv, 5, 8);
	unsigned samples = argument(argc, argv, 6, 1824), stacks = argument(argc, argv, 7, 32000);
	double *sums = malloc(stacks * sizeof(*sums)), sum = 0;
	struct pair *pairs = malloc(samples * sizeof(*pairs));
	FILE *stack_file = create(argv[1], "stacks", 0), *frame_file = create(argv[1], "frames", 0);
	FILE *profile_file = NULL, *commit_file = NULL;
	unsigned long long all_pairs = 0, in_file = 0, profiles = 0, weight = 0;
	unsigned files = 0;

	if (sums == NULL || pairs == NULL)
		return 1;
	for (unsigned i = 0; i < stacks; i++)
		sums[i] = sum += pow(i + 1, -1.05);
	for (unsigned s = FIRST_SERVICE; s < FIRST_SERVICE + services; s++) {
		put_stacks(stack_file, s, stacks);
		put_frames(frame_file, s);
	}
	for (unsigned minute = 0; minute < minutes; minute++)
		for (unsigned host = 0; host < hosts; host++)
			for (unsigned k = 0; k < of_host; k++) {
				unsigned service = FIRST_SERVICE + (host + k) % services;
				int64_t total = (int64_t)samples * PERIOD_NS;
				unsigned count =
					draw_profile(sums, stacks, samples, service, pairs);

				if (profile_file == NULL) {
					profile_file = create(argv[1], "profiles", files);
					commit_file = create(argv[1], "commits", files++);
				}
				put_profile(
					profile_file, service, host, minute, pairs, count, total);
				put_commit(commit_file, service, host, minute, count, total);
				profiles++;
				all_pairs += count;
				in_file += count;
				weight += (unsigned long long)total;
				if (in_file >= PAIRS_A_FILE) {
					fclose(profile_file);
					fclose(commit_file);
					profile_file = NULL;
					in_file = 0;
				}
			}
	if (profile_file) {
		fclose(profile_file);
		fclose(commit_file);
	}
	fclose(stack_file);
	fclose(frame_file);
	printf("{\"profiles\": %llu, \"pairs\": %llu, \"stacks\": %u, \"frames\": %u, \"weight\": "
	       "%llu, \"files\": %u}\n",
		profiles, all_pairs, services * stacks, services * FUNCTIONS, weight, files);
	free(sums);
	free(pairs);
	return 0;
}
