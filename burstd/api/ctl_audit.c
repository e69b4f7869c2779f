/* The audit log: shows its records, and checks whether any was changed. */
#include <string.h>

#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "base/hostlist.h"
#include "slurm/command.h"
#include "store/journal_audit.h"

enum { RECORDS_MAX = 1000 }; /* of one answer */

struct page {
	struct ctl_reply *r;
	const char *job;              /* "": records about any, or about none */
	const struct conf_pool *pool; /* NULL: likewise */
	int64_t last;                 /* the last one looked at */
};

/* Is the record's object a list of jobs' ids, and not of nodes?  The request of an order that was
 * not sent names what it would have done. */
static bool is_of_jobs(const struct journal_audit *a)
{
	const char *verb = strcmp(a->verb, "unsent") == 0 ? a->request : a->verb;

	return command_verb_of_jobs(verb) || strcmp(verb, "checkpoint") == 0;
}

static bool has_node_of(const struct conf *c, const char *object, const struct conf_pool *pool)
{
	struct hostlist *h;
	bool found = false;

	if (hostlist_parse(&h, object, strlen(object), NULL) != 0)
		return false;
	for (size_t i = 0; i < h->n && !found; i++)
		found = conf_pool_of(c, h->names[i]) == pool;
	hostlist_free(h);
	return found;
}

static bool is_wanted(const struct page *p, const struct journal_audit *a)
{
	/* One order may be for several jobs. */
	if (p->job[0] != '\0' && !(is_of_jobs(a) && slurm_job_among(a->object, p->job)))
		return false;
	return p->pool == NULL || has_node_of(engine_conf(p->r->api->engine), a->object, p->pool);
}

static int put_record(void *ctx, const struct journal_audit *a)
{
	struct page *p = ctx;
	struct jsonw *w = &p->r->w;
	struct ctl_row row = ctl_reply_row(p->r);

	if (!is_wanted(p, a)) {
		p->last = a->seq;
		return 0;
	}
	jsonw_open(w, NULL, '{');
	jsonw_int(w, "seq", a->seq);
	ctl_reply_time(p->r, "at_ms", a->at_ms);
	jsonw_text(w, "actor", a->actor);
	jsonw_text(w, "verb", a->verb);
	jsonw_text(w, "target", a->target);
	jsonw_text(w, "object", a->object);
	jsonw_bool(w, "jobs", is_of_jobs(a));
	jsonw_text(w, "reason", a->reason);
	jsonw_text(w, "request", a->request);
	jsonw_text(w, "hash", a->hash);
	jsonw_close(w, '}');
	if (!ctl_reply_fits(p->r, row))
		return -1; /* there will be another page */
	p->last = a->seq;
	return 0;
}

static int get_first(void *ctx, const struct journal_audit *a)
{
	*(struct ctl_record *)ctx = (struct ctl_record){a->seq, a->at_ms};
	return 0;
}

static int next_after(struct ctl_reply *r, int64_t after, struct ctl_record *out)
{
	return journal_audits(r->api->journal, after, 1, get_first, out, &r->err);
}

static int get_filter(struct ctl_reply *r, struct page *p)
{
	const char *pool;

	if (ctl_reply_text(r, "job", "", &p->job) != 0 || ctl_reply_text(r, "pool", "", &pool) != 0)
		return -1;
	if (pool[0] == '\0')
		return 0;
	p->pool = conf_pool_named(engine_conf(r->api->engine), pool);
	return p->pool != NULL
		       ? 0
		       : ctl_reply_refuse(r, "not-found", "there is no pool \"%.63s\"", pool);
}

int ctl_audit_show(struct ctl_reply *r)
{
	const int64_t end = journal_audit_head(r->api->journal)->seq;
	const struct ctl_records records = {end, next_after};
	int64_t since, tail;
	struct page p = {.r = r};
	int rc;

	if (ctl_reply_int(r, "since", INT64_MAX, 0, &since) != 0 ||
	    ctl_reply_int(r, "tail", RECORDS_MAX, 0, &tail) != 0 || get_filter(r, &p) != 0 ||
	    ctl_reply_since(r, &records, &since) != 0)
		return -1;
	if (json_object_get(r->args, "tail") != NULL) /* numbers have no gaps */
		since = end > tail ? end - tail : 0;
	p.last = since;
	jsonw_open(&r->w, "records", '[');
	rc = journal_audits(r->api->journal, since, RECORDS_MAX, put_record, &p, &r->err);
	jsonw_close(&r->w, ']');
	jsonw_int(&r->w, "last", p.last);
	jsonw_bool(&r->w, "more", p.last < end);
	return rc;
}

/* A place in the chain, from its number and its hash; both, or none. */
static int get_mark(struct ctl_reply *r, const char *seq, const char *hash, struct journal_mark *m,
		    bool *given)
{
	const char *text;

	*given = json_object_get(r->args, seq) != NULL;
	if (ctl_reply_int(r, seq, INT64_MAX, 0, &m->seq) != 0 ||
	    ctl_reply_text(r, hash, *given ? NULL : "", &text) != 0)
		return -1;
	if (*given && (strlen(text) != JOURNAL_HASH_SIZE - 1 ||
		       strspn(text, "0123456789abcdef") != JOURNAL_HASH_SIZE - 1))
		return ctl_reply_refuse(r, "invalid", "\"%s\": want 64 hexadecimal digits", hash);
	if (*given)
		memcpy(m->hash, text, sizeof(m->hash));
	return 0;
}

/* Check a part of the log; the caller asks for the next part with what this answers. */
int ctl_audit_verify(struct ctl_reply *r)
{
	const struct journal_mark *head = journal_audit_head(r->api->journal);
	struct journal_chain c = {.begun = false};
	struct journal_mark known;
	bool given;

	if (get_mark(r, "after", "hash", &c.at, &c.begun) != 0 ||
	    get_mark(r, "known", "known_hash", &known, &given) != 0)
		return -1;
	if (given && known.seq == 0)
		return ctl_reply_refuse(r, "invalid", "\"known\": want a record's number");
	c.known = given ? &known : NULL;
	if (journal_audit_check(r->api->journal, &c, &r->err) != 0) {
		r->code = r->err.code == ERR_INVALID ? "invalid" : "failed";
		return -1;
	}
	jsonw_int(&r->w, "records", c.records);
	jsonw_int(&r->w, "after", c.at.seq);
	jsonw_text(&r->w, "hash", c.at.hash);
	jsonw_bool(&r->w, "more", c.more);
	jsonw_int(&r->w, "bad", c.bad);
	jsonw_text(&r->w, "what", c.what != NULL ? c.what : "");
	jsonw_int(&r->w, "head", head->seq);
	jsonw_text(&r->w, "head_hash", head->hash);
	return 0;
}
