#include "providers/simcloud/dist.h"

#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/js.h"

enum { DIST_SIGMA_MAX = 3 }; /* then the 99.9th percentile is 10,000 medians: more is a mistake */

static int parse_object(struct dist *d, const json_t *v, struct err *e)
{
	static const char *const known[] = {"dist", "min", "max", "median", "sigma", NULL};
	struct dist out = {.a_ms = -1, .b_ms = -1};
	const json_t *sigma = json_object_get(v, "sigma");
	char kind[16] = "";

	if (js_only(v, known, e) != 0 || js_get_str(v, "dist", kind, sizeof(kind), e) != 0)
		return -1;
	if (strcmp(kind, "uniform") == 0) {
		out.kind = DIST_UNIFORM;
		if (js_get_ms(v, "min", &out.a_ms, e) != 0 ||
		    js_get_ms(v, "max", &out.b_ms, e) != 0)
			return -1;
		if (out.a_ms < 0 || out.b_ms < out.a_ms)
			return err_set(e, ERR_INVALID, "uniform: want min and max, min <= max");
	} else if (strcmp(kind, "lognormal") == 0) {
		out.kind = DIST_LOGNORMAL;
		out.sigma = json_is_number(sigma) ? json_number_value(sigma) : -1;
		if (js_get_ms(v, "median", &out.a_ms, e) != 0)
			return -1;
		if (out.a_ms < 0 || out.sigma < 0 || out.sigma > (double)DIST_SIGMA_MAX)
			return err_set(e, ERR_INVALID, "lognormal: want median, and sigma 0 to 3");
	} else {
		return err_set(e, ERR_INVALID, "dist: want uniform or lognormal");
	}
	*d = out;
	return 0;
}

int dist_parse(struct dist *d, const json_t *v, struct err *e)
{
	int64_t ms;

	if (json_is_object(v))
		return parse_object(d, v, e);
	if (!json_is_string(v))
		return err_set(e, ERR_INVALID, "want a duration or a distribution");
	if (fmt_duration_parse(json_string_value(v), &ms, e) != 0)
		return -1;
	*d = (struct dist){.kind = DIST_CONSTANT, .a_ms = ms};
	return 0;
}

/* e^x for |x| < 40, to 1e-6, as (1 + x/2^20 + ...)^(2^20), to do without libm. */
static double exponential(double x)
{
	double y = x / (1 << 20), r = 1 + y + y * y / 2;

	for (int i = 0; i < 20; i++)
		r *= r;
	return r;
}

/* Sum of twelve uniforms: mean 6, variance 1, tails cut at 6 sigma, which suits a simulator. */
static double normal(struct rng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += rng_unit(r);
	return sum;
}

int64_t dist_sample(const struct dist *d, struct rng *r)
{
	switch (d->kind) {
	case DIST_UNIFORM:
		return d->a_ms + (int64_t)(rng_unit(r) * (double)(d->b_ms - d->a_ms + 1));
	case DIST_LOGNORMAL:
		return (int64_t)((double)d->a_ms * exponential(d->sigma * normal(r)));
	case DIST_CONSTANT:
		break;
	}
	return d->a_ms;
}
