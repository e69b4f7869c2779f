#include <assert.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "base/mem.h"
#include "cloud/cloud.h"
#include "engine/times.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "keys/claim_set.h"

/* --- what an identity document is checked with -------------------------------------------------
 */

static enum attest_kind kind_of(enum conf_attest a)
{
	return a == CONF_ATTEST_AWS     ? ATTEST_AWS
	       : a == CONF_ATTEST_GCP   ? ATTEST_GCP
	       : a == CONF_ATTEST_AZURE ? ATTEST_AZURE
					: ATTEST_NONE;
}

/* *out NULL: the provider's cloud signs nothing.  -1: there is no verifier for its documents. */
static int find_verifier(const struct engine *e, const struct conf_provider *p,
			 const struct attest_ops **out, struct err *err)
{
	enum attest_kind kind = kind_of(p->attest);

	*out = kind != ATTEST_NONE ? e->d.door->verifier(kind) : NULL;
	if (kind == ATTEST_NONE || *out != NULL)
		return 0;
	return err_set(err, ERR_INVALID, "%s:%d: provider \"%s\": attest: there is no %s",
		       e->conf->path, p->line, p->name, attest_kind_str(kind));
}

static int open_prover(struct engine *e, struct claim_prover *v, const struct conf_provider *p,
		       struct err *err)
{
	const struct attest_conf ac = {.trust = p->attest_ca,
				       .trust_len =
					       p->attest_ca != NULL ? strlen(p->attest_ca) : 0};
	const struct attest_ops *ops;

	v->e = e;
	if (find_verifier(e, p, &ops, err) != 0)
		return -1;
	if (ops == NULL)
		return 0;
	if (ops->open(&v->self, &ac, err) != 0)
		return p->attest_ca_file != NULL
			       ? err_wrap(err, "attest_ca_file: %.120s", p->attest_ca_file)
			       : err_wrap(err, "attest");
	v->ops = ops;
	return 0;
}

/* A wrong file only turns the provider off: lists and deletes of the others must go on. */
static int open_or_off(struct engine *e, size_t i, struct err *err)
{
	const struct conf_provider *p = &e->conf->providers[i];
	const struct attest_ops *ops;
	struct err why = {0};

	if (find_verifier(e, p, &ops, err) != 0)
		return -1;
	if (!off_is(&e->cloud->all[i]) &&
	    open_prover(e, &e->keys->claims->provers[i], p, &why) != 0)
		off_shut(&e->cloud->all[i], why.msg);
	return 0;
}

int claim_proof_open(struct engine *e, struct err *err)
{
	struct claims *cs = e->keys->claims;
	char text[FMT_U64_SIZE], hex[CLAIM_SECRET_SIZE];

	cs->provers = mem_zalloc((e->conf->nproviders + 1) * sizeof(*cs->provers));
	cs->nprovers = e->conf->nproviders;
	for (size_t i = 0; i < e->conf->nproviders; i++)
		if (open_or_off(e, i, err) != 0)
			return -1;
	/* The key differs at each start, as used nonces are not kept. */
	claims_mac(e->d.door->claim_key, "burst-nonce-1", fmt_u64(text, (uint64_t)engine_now(e)),
		   hex);
	memcpy(cs->nonce_key, hex, sizeof(cs->nonce_key));
	OPENSSL_cleanse(hex, sizeof(hex));
	return 0;
}

int claims_may_use(struct engine *e, size_t provider, struct err *err)
{
	struct claim_prover *v =
		e->keys->claims != NULL ? &e->keys->claims->provers[provider] : NULL;

	if (v == NULL || v->ops != NULL)
		return 0;
	return open_prover(e, v, &e->conf->providers[provider], err);
}

void claim_proof_free(struct engine *e)
{
	struct claims *cs = e->keys->claims;

	for (size_t i = 0; i < cs->nprovers; i++) {
		struct claim_prover *v = &cs->provers[i];

		if (v->fetching)
			http_client_cancel(e->d.http, v->handle);
		if (v->ops != NULL)
			v->ops->close(v->self);
	}
	free(cs->provers);
	cs->provers = NULL;
}

/* --- documents ---------------------------------------------------------------------------------
 */

static bool is_known(const struct fleet_node *fn)
{
	return fn == NULL || (fn->n.instance[0] != '\0' && fn->n.addr[0] != '\0');
}

/* May the machine be one of this create that is not known yet: without an answer, or without an
 * address? */
static bool any_unknown(const struct engine *e, const struct claim_set *set)
{
	for (struct claim_run *r = set->first; r != NULL; r = r->next_of_id) {
		struct fleet_node *fn = claims_node(e, r);

		if (fn != NULL && node_lives(&fn->n) && !is_known(fn))
			return true;
	}
	return false;
}

static struct claim_run *by_instance(const struct engine *e, const struct claim_set *set,
				     const char *instance, bool *unknown)
{
	*unknown = false;
	for (struct claim_run *r = set->first; r != NULL; r = r->next_of_id) {
		const struct fleet_node *fn = claims_node(e, r);

		if (fn != NULL && strcmp(fn->n.instance, instance) == 0)
			return r;
		*unknown =
			*unknown || (fn != NULL && node_lives(&fn->n) && fn->n.instance[0] == '\0');
	}
	return NULL;
}

/* The region of a create: the one that its driver buys in, or the offer's.  NULL: the offer was
 * removed before a restart. */
static const char *region_of(const struct engine *e, const struct claim_set *set)
{
	const struct fleet_node *fn = claims_node(e, set->first);
	const struct conf_offer *o = fn != NULL ? engine_offer_of(e, &fn->n) : NULL;
	const char *region = e->cloud->all[set->cloud].caps.region;

	return region != NULL ? region : o != NULL ? o->region : NULL;
}

/* The region is not known: the configuration is wrong, not the machine, which waits until its claim
 * expires. */
static enum claim_proof tell_no_region(struct engine *e, struct claim_set *set)
{
	if (!set->nowhere)
		log_write(e->d.log, LOG_WARN,
			  "cannot verify an identity document: its offer was removed", "claim",
			  set->mark, "hint", "put the offer back until its machines have booted",
			  NULL);
	set->nowhere = true;
	return CLAIM_UNKNOWN_YET;
}

/* Verify the document by the engine's time, or by the provider's clock, in case the engine's is
 * wrong. */
static int verify_now(struct engine *e, const struct claim_set *set,
		      const struct attest_expect *want, const struct claim_body *b,
		      struct attest_identity *id, struct err *err)
{
	const struct claim_prover *v = &e->keys->claims->provers[set->cloud];
	const char *doc = (const char *)b->doc;
	int64_t now = engine_now(e), wall = engine_wall(e, now);
	int64_t theirs = times_of(&e->cloud->all[set->cloud], now);
	int rc = v->ops->verify(v->self, want, doc, b->doc_len, wall, id, err);

	if (rc == 0 || err->code != ERR_TIME || theirs == wall)
		return rc;
	return v->ops->verify(v->self, want, doc, b->doc_len, theirs, id, err);
}

/* Is the document signed, and as expected, apart from the instance? */
static enum claim_proof verify(struct engine *e, struct claim_set *set, const struct claim_body *b,
			       struct attest_identity *id, char why[160])
{
	const struct conf_provider *p = &e->conf->providers[set->cloud];
	struct claim_prover *v = &e->keys->claims->provers[set->cloud];
	char audience[CLAIM_ID_MAX + 8];
	struct attest_expect want = {
		.account = p->account != NULL && p->account[0] != '\0' ? p->account : NULL};
	struct err err = {0};

	if (b->attest != v->ops->kind) {
		(void)snprintf(why, 160, "its identity document is not of kind %s",
			       attest_kind_str(v->ops->kind));
		return CLAIM_DISPROVED;
	}
	(void)snprintf(audience, sizeof(audience), "burst:%s", set->id);
	if (p->attest == CONF_ATTEST_AWS)
		want.region = region_of(e, set);
	else
		want.nonce = p->attest == CONF_ATTEST_GCP ? audience : b->nonce;
	if (p->attest == CONF_ATTEST_AWS && want.region == NULL)
		return tell_no_region(e, set);
	if (verify_now(e, set, &want, b, id, &err) == 0)
		return CLAIM_PROVED;
	(void)snprintf(why, 160, "%.159s", err.msg);
	if (err.code == ERR_TIME)
		return CLAIM_UNTIMELY;
	return err.code == ERR_LIMIT ? claim_lacks(e, set, b) : CLAIM_DISPROVED;
}

/* Does the request come from a port that only the machine's root can use, or need it not?  The
 * machine's firewall blocks these ports for containers, and NAT gives them other ports. */
static bool is_by_root(const struct engine *e, uint32_t cloud, const struct node_request *rq,
		       char why[160])
{
	if (e->conf->providers[cloud].attest != CONF_ATTEST_CALLBACK ||
	    (rq->port >= CLAIM_PORT_MIN && rq->port <= CLAIM_PORT_MAX))
		return true;
	(void)snprintf(why, 160,
		       "it comes from port %u, not from %d to %d: not sent by root, or behind NAT, "
		       "where \"callback\" does not work",
		       (unsigned)rq->port, CLAIM_PORT_MIN, CLAIM_PORT_MAX);
	return false;
}

bool claim_is_from_machine(const struct engine *e, struct claim_run *r,
			   const struct node_request *rq, char why[160])
{
	uint32_t cloud = claim_entry(r)->set->cloud;
	const struct conf_provider *p = &e->conf->providers[cloud];
	const struct fleet_node *fn = claims_node(e, r);

	/* whether documents can be checked or not */
	if (kind_of(p->attest) != ATTEST_NONE && !p->check_address)
		return true;
	if (fn != NULL && fn->n.addr[0] != '\0' && !ipaddr_same(fn->n.addr, rq->address)) {
		(void)snprintf(why, 160, "it comes from another address than its machine has");
		return false;
	}
	return is_by_root(e, cloud, rq, why);
}

/* Has the provider not shown the machine's address yet? */
static bool is_nowhere(const struct engine *e, struct claim_run *r)
{
	const struct fleet_node *fn = claims_node(e, r);

	return fn == NULL || fn->n.addr[0] == '\0';
}

/* Compare the start time in the document with the one in the provider's list, which is by the same
 * clock.  If the list has none, the start must not be long before the create, by the engine's time
 * or the provider's clock. */
static enum claim_proof when_started(const struct engine *e, struct claim_run *r,
				     const struct attest_identity *id, char why[160])
{
	const struct fleet_node *fn = claims_node(e, r);
	int64_t theirs = times_of(&e->cloud->all[claim_entry(r)->set->cloud], r->c.issued_ms);
	int64_t asked = engine_wall(e, r->c.issued_ms);

	if (id->created_ms == 0 || fn == NULL)
		return CLAIM_PROVED;
	if (theirs < asked)
		asked = theirs;
	if (fn->said_ms != 0) {
		if (id->created_ms >= fn->said_ms - NODE_SKEW_MS &&
		    id->created_ms <= fn->said_ms + NODE_SKEW_MS)
			return CLAIM_PROVED;
		(void)snprintf(why, 160,
			       "its identity document has another start time than the provider");
		return CLAIM_UNTIMELY;
	}
	if (id->created_ms >= asked - NODE_SKEW_MS)
		return CLAIM_PROVED;
	if (fn->seen_ms == 0) /* the next list may have it */
		return CLAIM_UNKNOWN_YET;
	(void)snprintf(why, 160, "its identity document has a start time before its request");
	return CLAIM_UNTIMELY;
}

/* Write what an admin can do about a wrong clock. */
static void blame_clock(const struct engine *e, uint32_t cloud, char why[160])
{
	int64_t ahead = engine_clock_ahead(e, cloud);
	size_t n = strlen(why);
	char text[FMT_DUR_SIZE];

	if (ahead == 0)
		(void)snprintf(why + n, 160 - n, "; is the clock here right?");
	else
		(void)snprintf(why + n, 160 - n, "; the clock here is %s %s the provider's",
			       fmt_duration(text, ahead > 0 ? ahead : -ahead),
			       ahead > 0 ? "ahead of" : "behind");
}

static enum claim_proof by_document(struct engine *e, struct claim_set *set,
				    const struct claim_body *b, const struct node_request *rq,
				    struct claim_run **whose, char why[160])
{
	const struct conf_provider *p = &e->conf->providers[set->cloud];
	struct attest_identity id;
	enum claim_proof rc = verify(e, set, b, &id, why);
	bool unknown;

	if (rc != CLAIM_PROVED && rc != CLAIM_UNTIMELY)
		return rc;
	*whose = by_instance(e, set, id.instance, &unknown);
	if (*whose == NULL && unknown)
		return CLAIM_UNKNOWN_YET;
	if (*whose == NULL) {
		(void)snprintf(why, 160, "its identity document is of another instance, %.95s",
			       id.instance);
		return CLAIM_DISPROVED;
	}
	if (!claim_is_from_machine(e, *whose, rq, why))
		return CLAIM_DISPROVED;
	if (p->check_address && is_nowhere(e, *whose))
		return CLAIM_UNKNOWN_YET;
	if (rc == CLAIM_PROVED)
		rc = when_started(e, *whose, &id, why);
	if (rc == CLAIM_UNTIMELY)
		blame_clock(e, set->cloud, why);
	if (rc != CLAIM_PROVED)
		return rc;
	if (p->attest == CONF_ATTEST_AZURE && !claim_nonce_use(e, set->id, b->nonce)) {
		*whose = NULL;
		(void)snprintf(why, 160, "the nonce is unknown, used or too old");
		return CLAIM_UNKNOWN_YET; /* the machine asks for a new nonce each time */
	}
	return CLAIM_PROVED;
}

/* --- addresses ---------------------------------------------------------------------------------
 */

/* Has the machine claimed with another key than this one, which TLS has proved?  Then somebody else
 * has its secret.  A machine that has not claimed yet is not suspect: all machines of its create
 * have the secret, and a thief on one may ask from another. */
static bool is_anothers(const struct claim_run *r, const struct node_request *rq)
{
	return r->c.bound && memcmp(r->c.spki, rq->peer.spki, sizeof(r->c.spki)) != 0;
}

static enum claim_proof by_address(struct engine *e, struct claim_set *set,
				   const struct node_request *rq, struct claim_run **whose,
				   char why[160])
{
	bool calls = e->conf->providers[set->cloud].attest == CONF_ATTEST_CALLBACK;

	for (struct claim_run *r = set->first; r != NULL; r = r->next_of_id) {
		const struct fleet_node *fn = claims_node(e, r);

		if (fn != NULL && fn->n.addr[0] != '\0' && ipaddr_same(fn->n.addr, rq->address))
			*whose = r;
	}
	if (*whose == NULL && any_unknown(e, set))
		return CLAIM_UNKNOWN_YET;
	if (*whose == NULL) {
		(void)snprintf(why, 160, "it comes from an address that none of its machines has%s",
			       calls ? "; \"callback\" does not work behind NAT" : "");
		return CLAIM_DISPROVED;
	}
	if (is_by_root(e, set->cloud, rq, why))
		return CLAIM_PROVED;
	if (!is_anothers(*whose, rq))
		*whose = NULL;
	return CLAIM_DISPROVED;
}

enum claim_proof claim_prove(struct engine *e, struct claim_set *set, const struct claim_body *b,
			     const struct node_request *rq, struct claim_run **whose, char why[160])
{
	*whose = NULL;
	why[0] = '\0';
	if (off_is(&e->cloud->all[set->cloud])) /* the file to check its documents with is missing
						 */
		return CLAIM_UNKNOWN_YET;
	if (e->keys->claims->provers[set->cloud].ops != NULL)
		return by_document(e, set, b, rq, whose, why);
	return by_address(e, set, rq, whose, why);
}

/* --- nonces ------------------------------------------------------------------------------------
 */

enum { NONCE_SIZE = 32, NONCE_HEAD = 16 };

/* The second half of a nonce is a MAC of the first, so that unused nonces need not be kept: anybody
 * who knows an id can ask for one. */
static void seal(const struct claims *cs, const char *id, const char *head,
		 char out[NONCE_SIZE + 1])
{
	char text[CLAIM_ID_MAX + NONCE_HEAD + 2], hex[CLAIM_SECRET_SIZE];

	(void)snprintf(text, sizeof(text), "%.16s %s", head, id);
	claims_mac(cs->nonce_key, "nonce", text, hex);
	(void)snprintf(out, NONCE_SIZE + 1, "%.16s%.16s", head, hex);
}

void claim_nonce_make(struct engine *e, const char *id, char out[33])
{
	struct claims *cs = e->keys->claims;
	uint64_t until = (uint64_t)(engine_now(e) + CLAIM_NONCE_MS) / 1000;
	char head[NONCE_HEAD + 1];

	(void)snprintf(head, sizeof(head), "%08x%08x", (unsigned)(until & UINT32_MAX),
		       (unsigned)(++cs->nonce_count & UINT32_MAX));
	seal(cs, id, head, out);
}

static void forget_old(struct claims *cs, int64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < cs->nnonces; i++)
		if (cs->nonces[i].until_ms > now)
			cs->nonces[n++] = cs->nonces[i];
	cs->nnonces = n;
}

bool claim_nonce_use(struct engine *e, const char *id, const char *nonce)
{
	struct claims *cs = e->keys->claims;
	char want[NONCE_SIZE + 1], head[NONCE_HEAD + 1] = "";
	int64_t now = engine_now(e), until;

	if (strlen(nonce) != NONCE_SIZE)
		return false;
	memcpy(head, nonce, NONCE_HEAD);
	seal(cs, id, head, want);
	head[8] = '\0';
	until = (int64_t)strtoull(head, NULL, 16) * 1000;
	forget_old(cs, now);
	if (CRYPTO_memcmp(want, nonce, NONCE_SIZE) != 0 || until <= now ||
	    cs->nnonces >= CLAIM_NONCES_MAX)
		return false;
	for (size_t i = 0; i < cs->nnonces; i++)
		if (strcmp(cs->nonces[i].text, nonce) == 0)
			return false;
	cs->nonces = mem_realloc(cs->nonces, (cs->nnonces + 1) * sizeof(*cs->nonces));
	memcpy(cs->nonces[cs->nnonces].text, want, sizeof(want));
	cs->nonces[cs->nnonces++].until_ms = until;
	return true;
}
