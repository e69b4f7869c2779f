#include "cloud/cloud.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/journal_audit.h"

/* Reports broken hosts to providers that have an API for that; otherwise the provider would sell
 * the host to the next customer, perhaps to this site.  A report is sent once, while the instance
 * still runs.  Its result changes nothing in burstd, and a crash may lose it. */

enum {
	REPORTS_MAX = 1000, /* reports that wait; more are dropped */
	REPORT_WORDS_MAX = 200,
};

struct report { /* a report, until it is answered */
	struct report *next;
	size_t provider;
	uint64_t gen;
	int64_t since_ms;
	char node[HOSTLIST_NAME_MAX + 1];
	char id[PROVIDER_ID_MAX + 1];
	char words[REPORT_WORDS_MAX + 1];
};

static void report_free(struct engine *e)
{
	while (e->cloud->reports != NULL) {
		struct report *r = e->cloud->reports;

		e->cloud->reports = r->next;
		free(r);
	}
}

static void put_record(struct engine *e, const struct report *r, const char *by)
{
	journal_put_audit(engine_tx(e),
			  &(struct journal_audit){.at_ms = engine_now(e),
						  .actor = by[0] != '\0' ? by : "reconciler",
						  .verb = "report",
						  .target = e->cloud->all[r->provider].conf->name,
						  .object = r->node,
						  .reason = r->words,
						  .request = r->id});
}

/* Copy words, cut at a character of UTF-8: a provider would refuse half a character. */
static void cut(char out[REPORT_WORDS_MAX + 1], const char *words)
{
	size_t n = strlen(words);

	if (n > REPORT_WORDS_MAX)
		for (n = REPORT_WORDS_MAX; n > 0 && ((unsigned char)words[n] & 0xC0) == 0x80; n--)
			;
	memcpy(out, words, n);
	out[n] = '\0';
}

void report_want(struct engine *e, struct fleet_node *fn, const char *words, const char *by)
{
	struct cloud *c = cloud_of(e, &fn->n);
	struct report *r;

	if ((c->caps.flags & PROVIDER_REPORTS) == 0 || fn->reported ||
	    e->cloud->nreports == REPORTS_MAX)
		return;
	r = mem_zalloc(sizeof(*r));
	r->provider = (size_t)(c - e->cloud->all);
	r->gen = fn->n.gen;
	r->since_ms = engine_now(e);
	(void)snprintf(r->node, sizeof(r->node), "%s", fn->n.name);
	(void)snprintf(r->id, sizeof(r->id), "%s", fn->n.instance);
	cut(r->words, words[0] != '\0' ? words : node_reason_text(NODE_BECAUSE_FAULTY));
	r->next = e->cloud->reports;
	e->cloud->reports = r;
	e->cloud->nreports++;
	fn->reported = fn->reporting = true;
	put_record(e, r, by); /* before it is done (I28) */
}

/* End a report: the instance may be deleted now. */
static void over(struct engine *e, const struct report *r, const char *failed)
{
	struct fleet_name *nm = fleet_find(&e->fleet, r->node);
	struct fleet_node *fn = nm != NULL ? fleet_gen(nm, r->gen) : NULL;
	char detail[400];

	if (fn != NULL)
		fn->reporting = false;
	(void)snprintf(detail, sizeof(detail), "provider %s, instance %s: %s",
		       e->cloud->all[r->provider].conf->name, r->id,
		       failed != NULL ? failed : r->words);
	engine_event(e, r->node, r->gen, failed != NULL ? "report-failed" : "reported", detail);
}

static int64_t until_ms(const struct engine *e, const struct report *r)
{
	return r->since_ms + e->cloud->all[r->provider].conf->timeout_ms;
}

/* The report was throttled: it waits again, with another audit record (I28). */
static void put_back(struct engine *e, const struct report *r)
{
	struct report *again = mem_zalloc(sizeof(*again));

	*again = *r;
	again->next = e->cloud->reports;
	e->cloud->reports = again;
	e->cloud->nreports++;
	put_record(e, again, "");
}

static void on_report(struct cloud *c, void *ctx, const struct provider_result *r)
{
	const struct report *asked = ctx;

	if (r->code == PROVIDER_RATE && engine_now(c->e) < until_ms(c->e, asked))
		put_back(c->e, asked);
	else
		over(c->e, asked, r->code != PROVIDER_OK ? r->message : NULL);
}

static void send(struct engine *e, struct report *r)
{
	struct provider_op op = {.kind = PROVIDER_REPORT};

	op.u.report.id = r->id;
	op.u.report.words = r->words;
	cloud_send(&e->cloud->all[r->provider], &op, on_report, r);
}

static void report_run(struct engine *e)
{
	struct report **link = &e->cloud->reports;

	if (e->cloud->reports != NULL)
		engine_commit(e); /* the audit records */
	while (*link != NULL && !e->dead) {
		struct report *r = *link;
		bool late = engine_now(e) >= until_ms(e, r);

		if (!late && !cloud_ready(&e->cloud->all[r->provider], PROVIDER_REPORT)) {
			link = &r->next;
			continue;
		}
		*link = r->next;
		e->cloud->nreports--;
		if (!late) {
			send(e, r);
			continue;
		}
		over(e, r, "it could not be sent in time");
		free(r);
	}
}

size_t report_queue(const struct cloud *c, int64_t *oldest_ms)
{
	size_t n = 0;

	for (const struct report *r = c->e->cloud->reports; r != NULL; r = r->next)
		if (&c->e->cloud->all[r->provider] == c) {
			n++;
			*oldest_ms = sooner(*oldest_ms, r->since_ms);
		}
	return n;
}

static int64_t report_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX;

	for (const struct report *r = e->cloud->reports; r != NULL; r = r->next)
		next = until_ms(e, r) < next ? until_ms(e, r) : next;
	return next;
}

const struct engine_part report_part = {
	.name = "reports",
	.at = {[PART_RUN] = report_run, [PART_FREE] = report_free},
	.next_ms = report_next_ms,
};
