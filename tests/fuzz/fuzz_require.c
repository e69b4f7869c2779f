/* fuzz_require.c - any two texts as what scontrol shows, parted by a NUL byte: refused with a
 * reason, or judged, with problems that can be printed and come most severe first. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "slurm/require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	assert(n > 0 && n < size);
	for (size_t i = 0; i < n; i++)
		assert(text[i] >= ' ' && text[i] <= '~');
}

static void check_report(const struct slurm_report *r)
{
	size_t n[SLURM_ERROR + 1] = {0};

	assert(r->n <= SLURM_PROBLEMS_MAX && r->version.text[0] != '\0' && r->boot_time[0] != '\0');
	for (size_t i = 0; i < r->n; i++) {
		const struct slurm_problem *p = &r->problems[i];

		check_text(p->found, sizeof(p->found));
		check_text(p->wanted, sizeof(p->wanted));
		assert(p->setting != NULL && p->why != NULL);
		assert(i == 0 || p[-1].severity >= p->severity);
		n[p->severity]++;
	}
	assert(memcmp(n, r->by_severity, sizeof(n)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = size > 0 ? (const char *)data : "", *nul = memchr(text, '\0', size);
	size_t n = nul != NULL ? (size_t)(nul - text) : size;
	struct slurm_text config = {text, n}, partitions = {text + n, size - n};
	struct slurm_need_pool pools[2] = {{.name = "h100", .boot_ms = 600000},
					   {.name = "cpu", .boot_ms = 1000}};
	struct slurm_need need = {
		.cluster = "lab", .auth = "auth/munge", .pools = pools, .npools = 2};
	struct hostlist *a, *b;
	struct slurm_report r;
	struct err e = {0};

	if (hostlist_parse(&a, "c[1-6]", 6, &e) != 0 || hostlist_parse(&b, "c[7-8]", 6, &e) != 0)
		abort();
	pools[0].nodes = a;
	pools[1].nodes = b;
	if (partitions.n > 0) {
		partitions.p++;
		partitions.n--;
	}
	if (slurm_require(config, partitions, &need, &r, &e) == 0)
		check_report(&r);
	else
		assert(e.code != 0 && e.msg[0] != '\0' && r.n == 0);
	hostlist_free(a);
	hostlist_free(b);
	return 0;
}
