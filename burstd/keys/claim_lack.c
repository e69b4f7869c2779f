#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/http_client.h"
#include "keys/claim_set.h"

/* Handles documents that are signed with an unknown key.  It may be a new one, so burstd fetches
 * the cloud's keys; if it is not among them, the document is not the cloud's. */

/* --- what was asked for ------------------------------------------------------------------------
 */

/* Does the status say that nothing is there, rather than that the request failed? */
static bool is_nowhere(long status)
{
	return status == 404 || status == 410 || (status >= 300 && status < 400);
}

/* Is this an answer of the cloud's?  A fixed URL must have keys.  If the document gives the URL of
 * its issuer, and nothing or something else is there, the document is wrong. */
static bool is_answer(const struct claim_prover *v, const struct http_reply *reply, struct err *why)
{
	if (reply->status != 200) {
		(void)err_set(why, ERR_NET, "status %ld", reply->status);
		return v->lack.said && is_nowhere(reply->status);
	}
	return v->ops->learn(v->self, reply->body, reply->len, why) == 0 || v->lack.said;
}

static void mark_answered(struct claim_prover *v)
{
	struct claims *cs = v->e->keys->claims;

	for (size_t i = 0; i < cs->nall; i++) {
		struct claim_set *set = cs->all[i];

		for (size_t k = 0; k < set->nlacks && &cs->provers[set->cloud] == v; k++)
			if (set->lacks[k].from < v->begun &&
			    strcmp(set->lacks[k].l.url, v->lack.url) == 0)
				set->lacks[k].answered = true;
	}
}

static void on_fetched(void *ctx, const struct http_reply *reply, const struct err *err)
{
	struct claim_prover *v = ctx;
	struct err why = {0};
	bool answered;

	v->fetching = false;
	if (v->e->dead)
		return;
	if (err != NULL)
		why = *err;
	answered = err == NULL && is_answer(v, reply, &why);
	v->failed_ms = answered ? 0 : engine_now(v->e);
	v->answered_ms = answered ? engine_now(v->e) : 0;
	if (answered)
		mark_answered(v);
	if (why.code != 0)
		log_write(v->e->d.log, LOG_WARN,
			  "cannot get the keys that verify identity documents", "kind",
			  attest_kind_str(v->ops->kind), "error", why.msg, NULL);
	engine_turn(v->e);
}

/* Was that a moment ago?  A time in the future means that the clock was set back. */
static bool is_lately(int64_t at_ms, int64_t now)
{
	return at_ms != 0 && at_ms <= now && now < at_ms + CLAIM_FETCH_AGAIN_MS;
}

/* Fetch one thing at a time, and not again for CLAIM_FETCH_AGAIN_MS, whether it was answered or
 * not. */
static void fetch(struct claim_prover *v, const struct attest_lack *l)
{
	const struct http_call call = {.method = "GET",
				       .url = l->url,
				       .timeout_ms = CLAIM_FETCH_MS,
				       .max_reply = CLAIM_FETCH_MAX};
	int64_t now = engine_now(v->e);

	if (v->fetching || is_lately(v->failed_ms, now) ||
	    (is_lately(v->answered_ms, now) && strcmp(v->lack.url, l->url) == 0))
		return;
	v->lack = *l;
	v->begun++;
	if (http_client_send(v->e->d.http, &call, on_fetched, v, &v->handle, NULL) == 0)
		v->fetching = true;
	else
		v->failed_ms = now;
}

/* --- who needs it ------------------------------------------------------------------------------
 */

/* Note an unknown key of this create.  Beyond the limit no more are fetched, and the first one
 * decides. */
static struct claim_lack *note(struct claim_set *set, const struct claim_prover *v,
			       const struct attest_lack *l)
{
	for (size_t i = 0; i < set->nlacks; i++)
		if (strcmp(set->lacks[i].l.what, l->what) == 0)
			return &set->lacks[i];
	if (set->nlacks == CLAIM_LACKS_MAX)
		return &set->lacks[0];
	set->lacks = mem_realloc(set->lacks, (set->nlacks + 1) * sizeof(*set->lacks));
	set->lacks[set->nlacks] = (struct claim_lack){.l = *l, .from = v->begun};
	return &set->lacks[set->nlacks++];
}

enum claim_proof claim_lacks(struct engine *e, struct claim_set *set, const struct claim_body *b)
{
	struct claim_prover *v = &e->keys->claims->provers[set->cloud];
	struct attest_lack l;
	struct claim_lack *lack;

	if (v->ops->lacks == NULL ||
	    v->ops->lacks(v->self, (const char *)b->doc, b->doc_len, &l) != 1)
		return CLAIM_DISPROVED;
	lack = note(set, v, &l);
	if (lack->answered)
		return CLAIM_DISPROVED;
	fetch(v, &lack->l);
	return CLAIM_UNKNOWN_YET;
}
