/* parse.c - what the driver aws needs to read a page of DescribeInstances, beside expat without
 * handlers on the same bytes.
 *
 *	parse RUNS FILE    {"instances":...,"bytes":...,"driver_us":...,"expat_us":...}
 *
 * By turns, in processor time; of each the best run, for a busy machine only makes them longer. */
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "core/provider.h"
#include "providers/aws.h"

enum { PAGE_MAX_BYTES = 64 << 20 };

static double now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *text = mem_zalloc(PAGE_MAX_BYTES);

	*len = f != NULL ? fread(text, 1, PAGE_MAX_BYTES, f) : 0;
	if (f != NULL)
		(void)fclose(f);
	return text;
}

static double run_expat(const char *text, size_t len)
{
	double began = now_us();
	XML_Parser p = XML_ParserCreate(NULL);
	int rc = XML_Parse(p, text, (int)len, 1);

	XML_ParserFree(p);
	return rc == XML_STATUS_OK ? now_us() - began : 0;
}

static double run_driver(void *self, const char *text, size_t len, size_t *n)
{
	const struct provider_op op = {.kind = PROVIDER_LIST, .u.list.cluster = "c", .cursor = ""};
	const struct provider_reply reply = {.status = 200, .body = text, .len = len};
	struct provider_result r = {0};
	double began = now_us(), took;

	provider_aws.parse(self, &op, &reply, &r);
	took = now_us() - began;
	*n = r.ninstances;
	provider_result_fini(&r);
	return took;
}

static void *open_driver(void)
{
	static const struct aws_options own = {.region = "eu-north-1", .image = "ami-0"};
	static const struct provider_conf conf = {
		.name = "bench",
		.credential = "aws_access_key_id = a\naws_secret_access_key = b\n",
		.options = &own};
	struct err e;
	void *self;

	if (provider_aws.open(&self, &conf, &e) != 0)
		(void)fprintf(stderr, "%s\n", e.msg);
	return self;
}

int main(int argc, char **argv)
{
	double expat = 0, driver = 0;
	size_t len = 0, n = 0;
	void *self = open_driver();
	char *text = argc == 3 ? slurp(argv[2], &len) : NULL;

	for (long i = 0; self != NULL && len > 0 && i < strtol(argv[1], NULL, 10); i++) {
		double e = run_expat(text, len), d = run_driver(self, text, len, &n);

		expat = i == 0 || e < expat ? e : expat;
		driver = i == 0 || d < driver ? d : driver;
	}
	free(text);
	provider_aws.close(self);
	if (n == 0 || expat <= 0)
		return 1;
	return printf("{\"instances\":%zu,\"bytes\":%zu,\"driver_us\":%.1f,\"expat_us\":%.1f}\n", n,
		      len, driver, expat) < 0;
}
