/* explain_report.c passes problems on, a sentence each, but no more than people will read. */
#include "api/explain_private.h"
#include "base/hostlist.h"

void explain_report_say(struct explain_report *r)
{
	if (r->said++ < EXPLAIN_PROBLEMS_MAX)
		r->fn(r->ctx, r->s.p);
	str_clear(&r->s);
}

/* " (h100-[1-4])", or nothing when it would be too long to read. */
void explain_report_add_names(struct str *out, const char *const *names, size_t n)
{
	struct str list;

	str_init(&list, EXPLAIN_NAMES_MAX);
	hostlist_fold(&list, names, n);
	if (!list.full)
		str_addf(out, " (%s)", list.p);
	str_fini(&list);
}
