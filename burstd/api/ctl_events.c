/* Events: what happened to nodes, jobs and pools, as the journal keeps it. */
#include <string.h>

#include "api/ctl_api.h"
#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "core/node.h"
#include "store/journal_events.h"

enum {
	TAIL_WINDOW = 1024, /* events to look through first for the last ones of some nodes */
	DETAIL_MAX = 4096,  /* bytes; the longest is a provider's message */
};

struct filter {                       /* which are wanted; both NULL: all */
	const char *node;             /* those of this node */
	const struct conf_pool *pool; /* those of its nodes, and its own */
	const struct conf *conf;
};

struct page {
	struct ctl_reply *r;
	struct filter f;
	int64_t last;     /* the last one looked at */
	unsigned n, skip; /* wanted so far, of which the first `skip` are not shown */
	unsigned looked;
	bool full;
};

/* Is the event about the pool itself: paused, closed?  Then its name follows the word "pool". */
static bool names_pool(const char *detail, const char *name)
{
	static const char word[] = "pool ";
	const size_t len = strlen(name);

	for (const char *p = strstr(detail, word); p != NULL; p = strstr(p, word)) {
		p += sizeof(word) - 1;
		if (strncmp(p, name, len) == 0 && strchr(":,. ", p[len]) != NULL)
			return true;
	}
	return false;
}

static bool is_wanted(const struct filter *f, const struct journal_event *ev)
{
	if (f->pool == NULL) /* the journal has filtered by node */
		return true;
	if (ev->node[0] == '\0')
		return names_pool(ev->detail, f->pool->name);
	return conf_pool_of(f->conf, ev->node) == f->pool;
}

/* How much is left in a budget is for those whom it concerns, and whose job an event is about is
 * not known here: who may only look gets what stands before, and until when the job runs. */
static void put_detail(struct ctl_reply *r, const char *type, const char *detail)
{
	static const char own[] = "budget-", until[] = ": this job is ";
	const char *budget = ctl_is(r->who, CTL_SEES_SUMS) ? NULL : strstr(detail, "budget ");
	const char *ends;
	struct str s;

	if (budget == NULL) {
		jsonw_text(&r->w, "detail", detail);
		return;
	}
	if (strncmp(type, own, sizeof(own) - 1) == 0) {
		jsonw_text(&r->w, "detail", "about a budget; finance and operators see the rest");
		return;
	}
	ends = strstr(budget, until);
	str_init(&s, DETAIL_MAX);
	str_add(&s, detail, (size_t)(budget - detail));
	str_adds(&s, node_reason_text(NODE_BECAUSE_BUDGET));
	str_adds(&s, ends != NULL ? ends : "");
	jsonw_text(&r->w, "detail", s.p);
	str_fini(&s);
}

static int put_event(void *ctx, const struct journal_event *ev)
{
	struct page *p = ctx;
	struct jsonw *w = &p->r->w;
	struct ctl_row row = ctl_reply_row(p->r);

	p->looked++;
	if (!is_wanted(&p->f, ev) || ++p->n <= p->skip) {
		p->last = ev->seq;
		return 0;
	}
	jsonw_open(w, NULL, '{');
	jsonw_int(w, "seq", ev->seq);
	ctl_reply_time(p->r, "at_ms", ev->at_ms);
	jsonw_text(w, "node", ev->node);
	jsonw_int(w, "generation", (int64_t)ev->gen);
	jsonw_text(w, "type", ev->type);
	put_detail(p->r, ev->type, ev->detail);
	jsonw_close(w, '}');
	if (!ctl_reply_fits(p->r, row)) {
		p->full = true;
		return -1;
	}
	p->last = ev->seq;
	return 0;
}

static int count_event(void *ctx, const struct journal_event *ev)
{
	struct page *p = ctx;

	p->n += is_wanted(&p->f, ev);
	return 0;
}

static int put_events(struct page *p, int64_t after, unsigned limit)
{
	struct ctl_reply *r = p->r;
	int rc;

	jsonw_open(&r->w, "events", '[');
	rc = journal_events(r->api->journal, after, p->f.node, limit, put_event, p, &r->err);
	jsonw_close(&r->w, ']');
	return p->full ? 0 : rc;
}

/* The last `count` events that are wanted, oldest first: look back in growing steps until there are
 * enough of them.  *last: ask for what follows with this. */
static int put_tail(struct ctl_reply *r, const struct filter *f, unsigned count, int64_t *last)
{
	struct journal *j = r->api->journal;
	const bool some = f->node != NULL || f->pool != NULL;
	int64_t end = journal_last_event(j), window = some ? TAIL_WINDOW : count, after;
	struct page p = {.r = r, .f = *f};

	for (;; window *= 16) {
		struct page counted = {.f = *f};

		after = end > window ? end - window : 0;
		if (journal_events(j, after, f->node, UINT32_MAX, count_event, &counted, &r->err) !=
		    0)
			return -1;
		p.skip = counted.n > count ? counted.n - count : 0;
		if (counted.n >= count || after == 0)
			break;
	}
	if (put_events(&p, after, UINT32_MAX) != 0)
		return -1;
	*last = p.full ? p.last : end;
	return 0;
}

static int put_since(struct ctl_reply *r, int64_t since, const struct filter *f, unsigned limit,
		     int64_t *last)
{
	int64_t end = journal_last_event(r->api->journal);
	struct page p = {.r = r, .f = *f, .last = since};

	if (put_events(&p, since, limit) != 0)
		return -1;
	*last = p.full || p.looked >= limit ? p.last : end;
	r->nothing = p.n == 0;
	return 0;
}

/* --- from a time on ----------------------------------------------------------------------------
 */

static int get_first(void *ctx, const struct journal_event *ev)
{
	*(struct ctl_record *)ctx = (struct ctl_record){ev->seq, ev->at_ms};
	return 0;
}

static int next_after(struct ctl_reply *r, int64_t after, struct ctl_record *out)
{
	return journal_events(r->api->journal, after, NULL, 1, get_first, out, &r->err);
}

/* --- the request -------------------------------------------------------------------------------
 */

/* Is the node named by no pool, and was it never, as far as the events go back? */
static bool is_stranger(struct ctl_reply *r, const char *node)
{
	struct page p = {.n = 0};

	if (fleet_find(engine_fleet(r->api->engine), node) != NULL ||
	    conf_pool_of(engine_conf(r->api->engine), node) != NULL)
		return false;
	return journal_events(r->api->journal, 0, node, 1, count_event, &p, &r->err) == 0 &&
	       p.n == 0;
}

int ctl_events_stranger(struct ctl_reply *r, const char *name)
{
	return ctl_reply_refuse(r, "not-found",
				"no pool names a node \"%.63s\"; burstd touches no other", name);
}

int ctl_events_of_node(struct ctl_reply *r, const char *node, unsigned count)
{
	const struct filter f = {.node = node};
	int64_t last;

	return put_tail(r, &f, count, &last);
}

static int get_filter(struct ctl_reply *r, struct filter *f)
{
	const char *node, *pool;

	*f = (struct filter){.conf = engine_conf(r->api->engine)};
	if (ctl_reply_text(r, "node", "", &node) != 0 || ctl_reply_text(r, "pool", "", &pool) != 0)
		return -1;
	if (node[0] != '\0')
		f->node = node;
	if (node[0] != '\0' && is_stranger(r, node))
		return ctl_events_stranger(r, node);
	if (pool[0] == '\0')
		return 0;
	f->pool = conf_pool_named(f->conf, pool);
	return f->pool != NULL
		       ? 0
		       : ctl_reply_refuse(r, "not-found", "there is no pool \"%.63s\"", pool);
}

int ctl_show_events(struct ctl_reply *r)
{
	const struct ctl_records records = {journal_last_event(r->api->journal), next_after};
	bool tailed = json_object_get(r->args, "tail") != NULL;
	int64_t since, limit, tail, last;
	struct filter f;
	int rc;

	if (ctl_reply_int(r, "since", INT64_MAX, 0, &since) != 0 ||
	    ctl_reply_int(r, "limit", CTL_API_EVENTS_MAX, CTL_API_EVENTS_MAX, &limit) != 0 ||
	    ctl_reply_int(r, "tail", CTL_API_EVENTS_MAX, 0, &tail) != 0 || get_filter(r, &f) != 0 ||
	    ctl_reply_since(r, &records, &since) != 0)
		return -1;
	if (limit == 0)
		limit = CTL_API_EVENTS_MAX;
	rc = tailed ? put_tail(r, &f, (unsigned)tail, &last)
		    : put_since(r, since, &f, (unsigned)limit, &last);
	if (rc != 0)
		return -1;
	jsonw_int(&r->w, "last", last);
	jsonw_bool(&r->w, "more", last < journal_last_event(r->api->journal));
	r->nothing &= json_is_true(json_object_get(r->args, "wait"));
	return 0;
}
