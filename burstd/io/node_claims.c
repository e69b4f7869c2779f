#include "io/node_claims.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jpull.h"
#include "base/map.h"
#include "base/mem.h"

struct claim {
	uint8_t hash[NODE_CLAIM_HASH];
	unsigned guesses;
	size_t at;   /* index in v */
	bool untold; /* it had too many guesses, which the loop has not asked for yet */
	char from[NODE_ADDR_SIZE]; /* address of the last guess */
	char id[NODE_CLAIM_ID_MAX + 1];
};

struct node_claims {
	pthread_mutex_t lock;
	struct map by_id;
	struct claim **v;
	size_t n, cap;
	size_t untold;
};

struct node_claims *node_claims_new(void)
{
	struct node_claims *t = mem_zalloc(sizeof(*t));

	(void)pthread_mutex_init(&t->lock, NULL);
	map_init(&t->by_id);
	return t;
}

void node_claims_free(struct node_claims *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i]);
	free(t->v);
	map_fini(&t->by_id);
	(void)pthread_mutex_destroy(&t->lock);
	free(t);
}

static void add(struct node_claims *t, struct claim *c)
{
	if (t->n == t->cap) {
		t->cap = t->cap == 0 ? 64 : 2 * t->cap;
		t->v = mem_realloc(t->v, t->cap * sizeof(struct claim *));
	}
	c->at = t->n;
	t->v[t->n++] = c;
	map_put(&t->by_id, c->id, c);
}

int node_claims_put(struct node_claims *t, const char *id, const uint8_t hash[NODE_CLAIM_HASH])
{
	struct claim *c;
	size_t len = strlen(id);

	if (len > NODE_CLAIM_ID_MAX)
		return -1;
	(void)pthread_mutex_lock(&t->lock);
	c = map_get(&t->by_id, id);
	if (c == NULL) {
		c = mem_zalloc(sizeof(*c));
		memcpy(c->id, id, len + 1);
		add(t, c);
	}
	memcpy(c->hash, hash, sizeof(c->hash));
	c->guesses = 0;
	t->untold -= c->untold;
	c->untold = false;
	(void)pthread_mutex_unlock(&t->lock);
	return 0;
}

void node_claims_del(struct node_claims *t, const char *id)
{
	struct claim *c;

	(void)pthread_mutex_lock(&t->lock);
	c = map_get(&t->by_id, id);
	if (c != NULL) {
		t->v[c->at] = t->v[--t->n];
		t->v[c->at]->at = c->at;
		t->untold -= c->untold;
		map_del(&t->by_id, id);
		free(c);
	}
	(void)pthread_mutex_unlock(&t->lock);
}

bool node_claims_guessed(struct node_claims *t, char id[NODE_CLAIM_ID_MAX + 1],
			 char from[NODE_ADDR_SIZE])
{
	bool found = false;

	(void)pthread_mutex_lock(&t->lock);
	for (size_t i = 0; t->untold > 0 && !found && i < t->n; i++) {
		struct claim *c = t->v[i];

		if (!c->untold)
			continue;
		memcpy(id, c->id, sizeof(c->id));
		memcpy(from, c->from, sizeof(c->from));
		c->untold = false;
		t->untold--;
		found = true;
	}
	(void)pthread_mutex_unlock(&t->lock);
	return found;
}

/* --- the thread's side ------------------------------------------------------------------------ */

static void count_guess(struct node_claims *t, struct claim *c, const char *from)
{
	if (c->guesses >= NODE_CLAIM_GUESSES || ++c->guesses < NODE_CLAIM_GUESSES)
		return;
	(void)snprintf(c->from, sizeof(c->from), "%s", from);
	c->untold = true;
	t->untold++;
}

/* A missing claim is compared with a hash that no secret has in practice, and is wrong anyway.
 * Guesses of others never make the right secret wrong: they only use up the connections a second of
 * their own address (node_gate.h). */
static bool is_right(struct node_claims *t, const char *id, const char *secret, const char *from)
{
	static const uint8_t none[NODE_CLAIM_HASH];
	uint8_t hash[EVP_MAX_MD_SIZE], want[NODE_CLAIM_HASH];
	struct claim *c;
	bool right;

	(void)EVP_Digest(secret, strlen(secret), hash, NULL, EVP_sha256(), NULL);
	(void)pthread_mutex_lock(&t->lock);
	c = map_get(&t->by_id, id);
	memcpy(want, c != NULL ? c->hash : none, sizeof(want));
	right = CRYPTO_memcmp(want, hash, sizeof(want)) == 0 && c != NULL;
	if (c != NULL && !right)
		count_guess(t, c, from);
	(void)pthread_mutex_unlock(&t->lock);
	OPENSSL_cleanse(hash, sizeof(hash));
	OPENSSL_cleanse(want, sizeof(want));
	return right;
}

static bool known(struct node_claims *t, const char *id)
{
	bool yes;

	(void)pthread_mutex_lock(&t->lock);
	yes = map_get(&t->by_id, id) != NULL;
	(void)pthread_mutex_unlock(&t->lock);
	return yes;
}

struct said {
	char id[NODE_CLAIM_ID_MAX + 1], secret[NODE_SECRET_MAX + 1];
};

static int read_body(struct said *out, const struct http_request *rq)
{
	struct jpull j;
	struct jpull_value key;
	int id = 0, secret = 0;

	jpull_init(&j, rq->body, rq->len);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &key)) {
		struct jpull_value v = jpull_take(&j);

		/* Refuse a key that comes twice: the loop might read the other one. */
		if (jpull_is(&key, "claim_id"))
			id = id != 0 ? -1 : jpull_text(&v, out->id, sizeof(out->id));
		else if (jpull_is(&key, "claim_secret"))
			secret =
				secret != 0 ? -1 : jpull_text(&v, out->secret, sizeof(out->secret));
		if (id < 0 || secret < 0)
			return -1;
	}
	return jpull_end(&j) && id == 1 ? 0 : -1;
}

static bool refuse(struct http_answer *an, unsigned status)
{
	an->status = status;
	return true;
}

static bool check_claim(struct node_claims *t, const struct node_request *rq,
			struct http_answer *an)
{
	struct said said = {0};
	int rc = read_body(&said, &rq->http);
	bool right = rc == 0 && is_right(t, said.id, said.secret, rq->address);

	OPENSSL_cleanse(&said, sizeof(said));
	if (rc != 0)
		return refuse(an, 400);
	return right ? false : refuse(an, 401);
}

static bool check_alarm(struct node_claims *t, const struct node_request *rq,
			struct http_answer *an)
{
	struct said said = {0};
	int rc = read_body(&said, &rq->http);
	bool is = rc == 0 && known(t, said.id);

	OPENSSL_cleanse(&said, sizeof(said));
	if (rc != 0)
		return refuse(an, 400);
	return is ? false : refuse(an, 401);
}

/* /v1/claim/ID/nonce */
static bool check_nonce(struct node_claims *t, const char *path, struct http_answer *an)
{
	char id[NODE_CLAIM_ID_MAX + 1];
	size_t n = strcspn(path, "/");

	if (n == 0 || n >= sizeof(id) || strcmp(path + n, "/nonce") != 0)
		return refuse(an, 404);
	memcpy(id, path, n);
	id[n] = '\0';
	return known(t, id) ? false : refuse(an, 401);
}

bool node_claims_check(void *ctx, struct node_request *rq, struct http_answer *an)
{
	static const char claims[] = "/v1/claim/", nodes[] = "/v1/node/";
	const char *path = rq->http.path;
	bool get = strcmp(rq->http.method, "GET") == 0, post = strcmp(rq->http.method, "POST") == 0;

	if (post && strcmp(path, "/v1/claim") == 0)
		return check_claim(ctx, rq, an);
	if (post && strcmp(path, "/v1/alarm") == 0)
		return check_alarm(ctx, rq, an);
	if (get && strncmp(path, claims, sizeof(claims) - 1) == 0)
		return check_nonce(ctx, path + sizeof(claims) - 1, an);
	if (strncmp(path, nodes, sizeof(nodes) - 1) == 0) {
		rq->lazy = strcmp(path + sizeof(nodes) - 1, "heartbeat") == 0;
		return rq->peer.known ? false : refuse(an, 401);
	}
	return refuse(an, 404);
}
