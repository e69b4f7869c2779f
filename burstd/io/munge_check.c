#include "io/munge_check.h"

#include <munge.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

#include "base/mem.h"
#include "io/loop.h"

enum { FIELDS = 7, HASH_HEX = 2 * SHA256_DIGEST_LENGTH };

struct check { /* one credential; its thread's while that works on it, else the loop's */
	struct check *next;
	struct munge_check *m;
	struct munge_ask ask; /* its texts are copies */
	char **hosts;
	munge_check_fn fn;
	void *ctx;
	enum munge_word word;
	struct err why;
	char *cred; /* libmunge's, malloc'd */
};

struct munge_check {
	struct loop *loop;
	char *socket;
	struct check *first, **last; /* waiting for a thread */
	struct check *back;          /* finished, and being reported */
	unsigned waiting, working;
	uv_async_t async;
	pthread_mutex_t lock; /* for the members below, which the threads use, too */
	struct check *done, **done_last;
	bool closed;
	unsigned refs; /* one for the loop, and one for each thread; the last frees it */
};

const char *munge_word_str(enum munge_word w)
{
	static const char *const words[] = {
		[MUNGE_GOOD] = "good",       [MUNGE_REPLAYED] = "replayed",
		[MUNGE_EXPIRED] = "expired", [MUNGE_REWOUND] = "rewound",
		[MUNGE_WRONG] = "wrong",     [MUNGE_AWAY] = "away",
	};

	return words[w];
}

/* --- what a credential must say --------------------------------------------------------------- */

static void hash_of(const struct munge_ask *ask, char out[HASH_HEX + 1])
{
	unsigned char hash[SHA256_DIGEST_LENGTH];

	(void)mem_check(SHA256((const unsigned char *)ask->body, ask->len, hash));
	for (size_t i = 0; i < sizeof(hash); i++)
		(void)snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

static bool is_ours(const struct munge_ask *ask, const char *host)
{
	for (size_t i = 0; ask->hosts[i] != NULL; i++)
		if (strcasecmp(ask->hosts[i], host) == 0)
			return true;
	return false;
}

int munge_check_payload(const struct munge_ask *ask, const char *payload, size_t len,
			char nonce[MUNGE_CHECK_NONCE + 1], struct err *e)
{
	static const char *const what[FIELDS] = {"protocol", "host", "method", "path",
						 "body",     "node", "nonce"};
	char text[MUNGE_CHECK_PAYLOAD_MAX + 1], hash[HASH_HEX + 1];
	const char *f[FIELDS],
		*want[FIELDS] = {"burst1", NULL, ask->method, ask->path, hash, ask->node, NULL};
	size_t n = 0, at = 0;

	nonce[0] = '\0';
	if (len > MUNGE_CHECK_PAYLOAD_MAX)
		return err_set(e, ERR_INVALID, "credential has more than %d bytes of payload",
			       MUNGE_CHECK_PAYLOAD_MAX);
	if (len > 0)
		memcpy(text, payload, len);
	text[len] = '\0';
	for (; n < FIELDS && at <= len; at += strlen(text + at) + 1)
		f[n++] = text + at;
	if (n < FIELDS || at != len + 1)
		return err_set(e, ERR_INVALID, "credential has a malformed payload");
	hash_of(ask, hash);
	for (size_t i = 0; i < FIELDS; i++)
		if (want[i] != NULL && strcmp(want[i], f[i]) != 0)
			return err_set(e, ERR_AUTH, "credential is for another %s", what[i]);
	if (!is_ours(ask, f[1]))
		return err_set(e, ERR_AUTH, "credential is for another host");
	if (strlen(f[6]) != MUNGE_CHECK_NONCE ||
	    strspn(f[6], "0123456789abcdef") != MUNGE_CHECK_NONCE)
		return err_set(e, ERR_INVALID, "credential has a malformed nonce");
	memcpy(nonce, f[6], MUNGE_CHECK_NONCE + 1);
	return 0;
}

/* --- in the thread ---------------------------------------------------------------------------- */

static enum munge_word word_of(munge_err_t rc)
{
	switch (rc) {
	case EMUNGE_SUCCESS:
		return MUNGE_GOOD;
	case EMUNGE_CRED_REPLAYED:
		return MUNGE_REPLAYED;
	case EMUNGE_CRED_EXPIRED:
		return MUNGE_EXPIRED;
	case EMUNGE_CRED_REWOUND:
		return MUNGE_REWOUND;
	case EMUNGE_SNAFU:
	case EMUNGE_NO_MEMORY:
	case EMUNGE_SOCKET:
	case EMUNGE_TIMEOUT:
		return MUNGE_AWAY;
	default:
		return MUNGE_WRONG;
	}
}

static munge_ctx_t new_ctx(const struct munge_check *m)
{
	munge_ctx_t ctx = mem_check(munge_ctx_create());

	if (m->socket[0] != '\0')
		(void)munge_ctx_set(ctx, MUNGE_OPT_SOCKET, m->socket);
	return ctx;
}

static void fail(struct check *c, enum munge_word word, munge_ctx_t ctx, munge_err_t rc)
{
	const char *text = munge_ctx_strerror(ctx);

	c->word = word;
	(void)err_set(&c->why, word == MUNGE_AWAY ? ERR_NET : ERR_AUTH, "munge: %s",
		      text != NULL ? text : munge_strerror(rc));
}

/* Make a credential for root with just the nonce. */
static void encode(struct check *c, const char *nonce)
{
	munge_ctx_t ctx = new_ctx(c->m);
	munge_err_t rc;

	(void)munge_ctx_set(ctx, MUNGE_OPT_TTL, (int)MUNGE_CHECK_TTL_S);
	(void)munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, (uid_t)0);
	rc = munge_encode(&c->cred, ctx, nonce, MUNGE_CHECK_NONCE);
	if (rc != EMUNGE_SUCCESS)
		fail(c, MUNGE_AWAY, ctx, rc);
	munge_ctx_destroy(ctx);
}

static void work(struct check *c)
{
	munge_ctx_t ctx = new_ctx(c->m);
	char nonce[MUNGE_CHECK_NONCE + 1];
	void *payload = NULL;
	int len = 0;
	uid_t uid = (uid_t)-1;
	munge_err_t rc = munge_decode(c->ask.credential, ctx, &payload, &len, &uid, NULL);

	c->word = word_of(rc);
	if (c->word != MUNGE_GOOD) {
		fail(c, c->word, ctx, rc);
	} else if (uid != c->ask.uid) {
		c->word = MUNGE_WRONG;
		(void)err_set(&c->why, ERR_AUTH, "credential was made by uid %u", (unsigned)uid);
	} else if (munge_check_payload(&c->ask, payload, (size_t)(len > 0 ? len : 0), nonce,
				       &c->why) != 0) {
		c->word = MUNGE_WRONG;
	} else {
		encode(c, nonce);
	}
	munge_ctx_destroy(ctx);
	free(payload);
}

/* --- the way back ----------------------------------------------------------------------------- */

static void free_check(struct check *c)
{
	/* These are copies, made in copy(). */
	free((void *)(uintptr_t)c->ask.credential);
	free((void *)(uintptr_t)c->ask.method);
	free((void *)(uintptr_t)c->ask.path);
	free((void *)(uintptr_t)c->ask.body);
	free((void *)(uintptr_t)c->ask.node);
	for (size_t i = 0; c->hosts[i] != NULL; i++)
		free(c->hosts[i]);
	free(c->hosts);
	free(c->cred);
	free(c->ctx);
	free(c);
}

static void free_all(struct check *c)
{
	while (c != NULL) {
		struct check *next = c->next;

		free_check(c);
		c = next;
	}
}

static void unref(struct munge_check *m)
{
	unsigned left;

	(void)pthread_mutex_lock(&m->lock);
	left = --m->refs;
	(void)pthread_mutex_unlock(&m->lock);
	if (left > 0)
		return;
	(void)pthread_mutex_destroy(&m->lock);
	free(m->socket);
	free(m);
}

/* In the thread: give the check back to the loop, unless that has closed. */
static void hand_back(struct check *c)
{
	struct munge_check *m = c->m;

	(void)pthread_mutex_lock(&m->lock);
	if (!m->closed) {
		c->next = NULL;
		*m->done_last = c;
		m->done_last = &c->next;
		(void)uv_async_send(&m->async);
		c = NULL;
	}
	(void)pthread_mutex_unlock(&m->lock);
	if (c != NULL)
		free_check(c);
	unref(m);
}

static void *run(void *arg)
{
	struct check *c = arg;

	work(c);
	hand_back(c);
	return NULL;
}

/* Start a thread of its own, not one of libuv's pool: exit() waits for those, and nobody can stop a
 * libmunge that waits for a munged which hangs. */
static void begin(struct check *c)
{
	struct munge_check *m = c->m;
	sigset_t all, before;
	pthread_t thread;
	int rc;

	(void)pthread_mutex_lock(&m->lock);
	m->refs++;
	(void)pthread_mutex_unlock(&m->lock);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, run, c);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0) {
		(void)pthread_detach(thread);
		return;
	}
	c->word = MUNGE_AWAY;
	(void)err_set(&c->why, ERR_IO, "munge: no thread: %s", strerror(rc));
	hand_back(c);
}

/* --- on the loop ------------------------------------------------------------------------------ */

static void start(struct munge_check *m)
{
	while (m->working < MUNGE_CHECK_AT_ONCE && m->first != NULL) {
		struct check *c = m->first;

		m->first = c->next;
		if (m->first == NULL)
			m->last = &m->first;
		m->waiting--;
		if (m->working++ == 0) /* keep the loop running */
			uv_ref((uv_handle_t *)&m->async);
		begin(c);
	}
}

static void tell(struct check *c)
{
	struct munge_end end = {.word = c->word, .why = c->why.msg, .cred = ""};

	if (c->word == MUNGE_GOOD && c->cred != NULL)
		end.cred = c->cred;
	c->fn(c->ctx, &end);
	free_check(c);
}

static void on_back(uv_async_t *a)
{
	struct munge_check *m = a->data;

	(void)pthread_mutex_lock(&m->lock);
	m->back = m->done;
	m->done = NULL;
	m->done_last = &m->done;
	(void)pthread_mutex_unlock(&m->lock);
	/* The callback may free m, which lives until its handle is closed. */
	while (m->back != NULL) {
		struct check *c = m->back;

		m->back = c->next;
		if (--m->working == 0)
			uv_unref((uv_handle_t *)&m->async);
		start(m);
		tell(c);
	}
}

struct munge_check *munge_check_new(struct loop *l, const char *socket)
{
	struct munge_check *m = mem_zalloc(sizeof(*m));

	m->loop = l;
	m->socket = mem_strdup(socket);
	m->last = &m->first;
	m->done_last = &m->done;
	m->refs = 1;
	(void)pthread_mutex_init(&m->lock, NULL);
	/* It fails only for lack of descriptors, and then the loop's own handle would have failed.
	 */
	(void)mem_check(uv_async_init(loop_uv(l), &m->async, on_back) == 0 ? m : NULL);
	m->async.data = m;
	uv_unref((uv_handle_t *)&m->async);
	return m;
}

static struct check *copy(const struct munge_ask *ask)
{
	struct check *c = mem_zalloc(sizeof(*c));
	char *body = mem_zalloc(ask->len + 1);
	size_t n = 0;

	while (ask->hosts[n] != NULL)
		n++;
	c->hosts = mem_zalloc((n + 1) * sizeof(*c->hosts));
	for (size_t i = 0; i < n; i++)
		c->hosts[i] = mem_strdup(ask->hosts[i]);
	if (ask->len > 0)
		memcpy(body, ask->body, ask->len);
	c->ask = (struct munge_ask){.credential = mem_strdup(ask->credential),
				    .hosts = (const char *const *)c->hosts,
				    .method = mem_strdup(ask->method),
				    .path = mem_strdup(ask->path),
				    .body = body,
				    .len = ask->len,
				    .node = mem_strdup(ask->node),
				    .uid = ask->uid};
	return c;
}

int munge_check_begin(struct munge_check *m, const struct munge_ask *ask, munge_check_fn fn,
		      void *ctx, struct err *e)
{
	struct check *c;

	if (strncmp(ask->credential, "MUNGE:", 6) != 0 ||
	    strlen(ask->credential) > MUNGE_CHECK_CRED_MAX)
		return err_set(e, ERR_INVALID, "not a munge credential");
	if (m->waiting >= MUNGE_CHECK_WAITING_MAX)
		return err_set(e, ERR_LIMIT, "%d credentials wait for munged",
			       MUNGE_CHECK_WAITING_MAX);
	c = copy(ask);
	c->m = m;
	c->fn = fn;
	c->ctx = ctx;
	*m->last = c;
	m->last = &c->next;
	m->waiting++;
	start(m);
	return 0;
}

static void on_closed(uv_handle_t *h)
{
	unref(h->data);
}

void munge_check_free(struct munge_check *m)
{
	struct check *done;

	if (m == NULL)
		return;
	(void)pthread_mutex_lock(&m->lock);
	m->closed = true; /* threads that end later free their own check */
	done = m->done;
	m->done = NULL;
	(void)pthread_mutex_unlock(&m->lock);
	free_all(done);
	free_all(m->back);
	free_all(m->first);
	m->back = m->first = NULL;
	uv_close((uv_handle_t *)&m->async, on_closed);
}
