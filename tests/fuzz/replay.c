/* replay.c - a main for one harness: runs it on the files of a corpus and on small changes of each,
 * the same every time.
 *
 * `make test` builds and runs all harnesses so: no harness rots, and what was ever found stays
 * mended. libFuzzer, which looks for more, is `make fuzz`. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

enum { FILE_MAX = 1 << 16, CUTS = 4, CHANGES = 8 };

/* A copy of just that size, so that ASan sees a read behind its end. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		abort();
	if (size > 0)
		memcpy(copy, data, size);
	(void)LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* The file as it is, cut short, and with one byte changed. */
static void run_around(uint8_t *data, size_t size)
{
	uint32_t random = (uint32_t)size * 2654435761u + 1;

	run(data, size);
	for (size_t i = 1; i < CUTS; i++)
		run(data, size * i / CUTS);
	for (size_t i = 0; i < CHANGES && size > 0; i++) {
		size_t at;
		uint8_t was;

		random = random * 1664525u + 1013904223u;
		at = (random >> 8) % size;
		was = data[at];
		data[at] = (uint8_t)(random >> 24);
		run(data, size);
		data[at] = was;
	}
}

static void run_file(const char *path)
{
	static uint8_t data[FILE_MAX];
	FILE *f = fopen(path, "rbe");

	if (f == NULL) {
		perror(path);
		exit(2);
	}
	run_around(data, fread(data, 1, sizeof(data), f));
	(void)fclose(f);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static size_t run_corpus(const char *dir)
{
	struct dirent **all = NULL;
	int n = scandir(dir, &all, NULL, by_name);
	size_t ran = 0;

	for (int i = 0; i < n; i++) {
		char path[1024];

		(void)snprintf(path, sizeof(path), "%s/%s", dir, all[i]->d_name);
		if (all[i]->d_name[0] != '.') {
			run_file(path);
			ran++;
		}
		free(all[i]);
	}
	free(all);
	return ran;
}

int main(int argc, char **argv)
{
	size_t ran;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s DIR\n", argv[0]);
		return 2;
	}
	if (LLVMFuzzerInitialize != NULL)
		(void)LLVMFuzzerInitialize(&argc, &argv);
	run(NULL, 0);
	ran = run_corpus(argv[1]);
	printf("%s: %zu files\n", argv[0], ran);
	return ran > 0 ? 0 : 1;
}
