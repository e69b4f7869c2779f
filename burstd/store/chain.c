/* The audit chain: each record has the hash of the one before it and of itself, so that none can be
 * changed, taken out or moved without changing all that follow; and the last hash is in the log of
 * every minute, which another machine may keep.
 *
 * What is hashed: the 64 digits of the hash before (0 for the first), then seq, at_ms, actor, verb,
 * target, object, reason and request, each as its length, ':', its text and ','. */
#include "store/private.h"

#include <assert.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { CHECK_ROWS = 500 }; /* looked through at once: some milliseconds */

static const struct journal_mark origin = {
	0, "0000000000000000000000000000000000000000000000000000000000000000"};

static void add(EVP_MD_CTX *md, const char *text)
{
	char head[32];
	size_t len = strlen(text);
	int n = snprintf(head, sizeof(head), "%zu:", len);

	/* All that can go wrong in here is memory. */
	(void)mem_check(EVP_DigestUpdate(md, head, (size_t)n) == 1 &&
					EVP_DigestUpdate(md, text, len) == 1 &&
					EVP_DigestUpdate(md, ",", 1) == 1
				? md
				: NULL);
}

static void add_int(EVP_MD_CTX *md, int64_t v)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRId64, v);
	add(md, text);
}

static void print_hex(char out[JOURNAL_HASH_SIZE], const unsigned char *bytes)
{
	for (size_t i = 0; i < JOURNAL_HASH_SIZE / 2; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* Of this record as number seq behind the one with that hash. */
static void hash_of(const char *before, int64_t seq, const struct journal_audit *a,
		    char out[JOURNAL_HASH_SIZE])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *md = mem_check(EVP_MD_CTX_new());
	bool ok = EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1 &&
		  EVP_DigestUpdate(md, before, strlen(before)) == 1;

	(void)mem_check(ok ? md : NULL);
	add_int(md, seq);
	add_int(md, a->at_ms);
	add(md, a->actor);
	add(md, a->verb);
	add(md, a->target);
	add(md, a->object);
	add(md, a->reason);
	add(md, a->request);
	(void)mem_check(EVP_DigestFinal_ex(md, bytes, NULL) == 1 ? md : NULL);
	EVP_MD_CTX_free(md);
	print_hex(out, bytes);
}

/* --- writing -----------------------------------------------------------------------------------
 */

static int get_mark(struct journal *j, const char *name, struct journal_mark *out, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, GET_MARK, e)};
	int rc;

	*out = origin;
	if (c.st == NULL)
		return -1;
	db_put_text(&c, name, strlen(name));
	rc = db_step(j->db, c.st, e);
	if (rc != 1)
		return rc;
	c.at = 0;
	out->seq = db_get_int(&c, 0, INT64_MAX);
	db_copy_text(&c, out->hash, sizeof(out->hash));
	db_reset(c.st);
	return c.bad ? db_damaged(j->db, "audit_mark", e) : 0;
}

static int put_mark(struct journal *j, const char *name, const struct journal_mark *m,
		    struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, PUT_MARK, e)};

	if (c.st == NULL)
		return -1;
	db_put_text(&c, name, strlen(name));
	db_put_int(&c, m->seq);
	db_put_text(&c, m->hash, strlen(m->hash));
	return db_step(j->db, c.st, e);
}

int chain_open(struct journal *j, struct err *e)
{
	/* The machine's openssl.cnf has no say here, and is not read. */
	(void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	if (get_mark(j, "head", &j->head, e) < 0)
		return -1;
	return get_mark(j, "forgotten", &j->forgotten, e);
}

int chain_put(struct journal *j, const struct journal_audit *a, struct err *e)
{
	const char *const texts[] = {a->actor,  a->verb,   a->target,
				     a->object, a->reason, a->request};
	struct db_cursor c = {.st = db_stmt(j->db, PUT_AUDIT, e)};
	char hash[JOURNAL_HASH_SIZE];

	if (c.st == NULL)
		return -1;
	hash_of(j->next_head.hash, j->next_head.seq + 1, a, hash);
	j->next_head.seq++;
	memcpy(j->next_head.hash, hash, sizeof(hash));
	db_put_int(&c, j->next_head.seq);
	db_put_int(&c, a->at_ms);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		db_put_text(&c, texts[i], strlen(texts[i]));
	db_put_text(&c, hash, strlen(hash));
	return db_step(j->db, c.st, e);
}

int chain_put_head(struct journal *j, struct err *e)
{
	return j->next_head.seq != j->head.seq ? put_mark(j, "head", &j->next_head, e) : 0;
}

/* --- forgetting --------------------------------------------------------------------------------
 */

/* *upto: the last one to forget; seq 0 for none. */
static int find_old(struct journal *j, int64_t before_ms, struct journal_mark *upto, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, OLD_AUDIT, e)};
	int rc;

	*upto = (struct journal_mark){.seq = 0};
	if (c.st == NULL)
		return -1;
	db_put_int(&c, JOURNAL_TRIM);
	db_put_int(&c, before_ms);
	db_put_int(&c, j->head.seq - JOURNAL_EVENTS_MAX);
	rc = db_step(j->db, c.st, e);
	if (rc != 1)
		return rc;
	c.at = 0;
	upto->seq = db_get_int(&c, 1, INT64_MAX);
	db_copy_text(&c, upto->hash, sizeof(upto->hash));
	db_reset(c.st);
	return c.bad ? db_damaged(j->db, "audit", e) : 0;
}

static int forget(struct journal *j, const struct journal_mark *upto, struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, DEL_AUDITS, e)};

	if (c.st == NULL || db_begin(j->db, e) < 0)
		return -1;
	db_put_int(&c, upto->seq);
	/* The mark first: it lets the records go. */
	if (put_mark(j, "forgotten", upto, e) < 0 || db_step(j->db, c.st, e) < 0) {
		db_rollback(j->db);
		return -1;
	}
	return db_commit(j->db, e);
}

int chain_trim(struct journal *j, int64_t before_ms, bool *more, struct err *e)
{
	struct journal_mark upto;

	*more = false;
	if (find_old(j, before_ms, &upto, e) < 0) {
		j->broken = true;
		return -1;
	}
	if (upto.seq == 0)
		return 0;
	if (forget(j, &upto, e) == 0) {
		*more = upto.seq - j->forgotten.seq >= JOURNAL_TRIM;
		j->forgotten = upto;
		return 0;
	}
	j->broken = !db_was_full(j->db); /* not worth the reserve */
	return j->broken ? -1 : 0;
}

/* --- reading -----------------------------------------------------------------------------------
 */

const struct journal_mark *journal_audit_head(const struct journal *j)
{
	return &j->head;
}

static int read_audit(const struct journal *j, struct db_cursor *c, struct journal_audit *a,
		      struct err *e)
{
	const char **const texts[] = {&a->actor,  &a->verb,    &a->target, &a->object,
				      &a->reason, &a->request, &a->hash};

	c->at = 0;
	a->seq = db_get_int(c, INT64_MIN, INT64_MAX);
	a->at_ms = db_get_int(c, INT64_MIN, INT64_MAX);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		*texts[i] = db_get_text(c, JOURNAL_TEXT_MAX);
	return c->bad ? db_damaged(j->db, "audit", e) : 0;
}

int journal_audits(struct journal *j, int64_t after, unsigned limit, journal_audit_fn fn, void *ctx,
		   struct err *e)
{
	struct db_cursor c = {.st = db_stmt(j->db, AUDITS, e)};
	struct journal_audit a;
	int rc;

	if (c.st == NULL)
		return -1;
	db_put_int(&c, after);
	db_put_int(&c, limit);
	while ((rc = db_step(j->db, c.st, e)) == 1) {
		rc = read_audit(j, &c, &a, e);
		if (rc < 0 || fn(ctx, &a) != 0)
			break;
	}
	db_reset(c.st);
	return rc;
}

struct walk { /* over some rows */
	struct journal_chain *c;
	unsigned rows;
	bool found; /* find_next() */
};

static int bad(struct journal_chain *c, int64_t seq, const char *what)
{
	c->bad = seq;
	c->what = what;
	return 1;
}

/* Is it the one known from elsewhere, and another one? */
static bool is_another(const struct journal_chain *c)
{
	return c->known != NULL && c->known->seq == c->at.seq &&
	       strcmp(c->known->hash, c->at.hash) != 0;
}

static int check_row(void *ctx, const struct journal_audit *a)
{
	struct walk *w = ctx;
	struct journal_chain *c = w->c;
	char hash[JOURNAL_HASH_SIZE];

	w->rows++;
	if (a->seq != c->at.seq + 1)
		return bad(c, c->at.seq + 1, "missing");
	hash_of(c->at.hash, a->seq, a, hash);
	if (strcmp(hash, a->hash) != 0)
		return bad(c, a->seq, "changed");
	c->at.seq = a->seq;
	memcpy(c->at.hash, hash, sizeof(hash));
	c->records++;
	return is_another(c) ? bad(c, a->seq, "changed") : 0;
}

/* Would this one be good in the place of the first bad one? */
static int find_next(void *ctx, const struct journal_audit *a)
{
	struct walk *w = ctx;
	char hash[JOURNAL_HASH_SIZE];

	hash_of(w->c->at.hash, w->c->at.seq + 1, a, hash);
	w->found = strcmp(hash, a->hash) == 0;
	return w->found;
}

/* A record that should be here and is found further on was moved. */
static int look_further(struct journal *j, struct walk *w, struct err *e)
{
	if (journal_audits(j, w->c->at.seq + 1, CHECK_ROWS, find_next, w, e) < 0)
		return -1;
	if (w->found)
		w->c->what = "reordered";
	return 0;
}

static int begin(const struct journal *j, struct journal_chain *c, struct err *e)
{
	if (!c->begun && c->known != NULL && c->known->seq < j->forgotten.seq)
		return err_set(e, ERR_INVALID, "record %" PRId64 " is not kept any more",
			       c->known->seq);
	if (!c->begun || c->at.seq < j->forgotten.seq)
		c->at = j->forgotten;
	c->begun = true;
	if (is_another(c))
		(void)bad(c, c->at.seq, "changed");
	return 0;
}

int journal_audit_check(struct journal *j, struct journal_chain *c, struct err *e)
{
	struct walk w = {.c = c};

	c->more = false;
	if (begin(j, c, e) < 0)
		return -1;
	if (c->bad != 0)
		return 0;
	if (journal_audits(j, c->at.seq, CHECK_ROWS, check_row, &w, e) < 0)
		return -1;
	if (c->bad != 0)
		return c->at.seq < c->bad ? look_further(j, &w, e) : 0;
	c->more = w.rows == CHECK_ROWS;
	if (c->more)
		return 0;
	if (c->at.seq < j->head.seq || (c->known != NULL && c->at.seq < c->known->seq))
		(void)bad(c, c->at.seq + 1, "cut");
	else if (c->at.seq > j->head.seq)
		(void)bad(c, j->head.seq + 1, "added");
	else if (strcmp(c->at.hash, j->head.hash) != 0)
		(void)bad(c, c->at.seq, "changed");
	return 0;
}
