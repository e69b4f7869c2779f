/* claims_proved.h - machines that prove themselves by documents.  The verifier is the test's: its
 * documents are words, "INSTANCE ACCOUNT REGION NONCE". */
#ifndef TESTS_CLAIMS_PROVED_H
#define TESTS_CLAIMS_PROVED_H

#include "claims_run.h"

static struct {
	int64_t created_ms; /* of the machine, by its document */
	int64_t at_ms;      /* documents are good for a minute around that; 0: always */
} V;

static inline int v_open(void **self, const struct attest_conf *conf, struct err *e)
{
	(void)conf;
	(void)e;
	*self = &V;
	return 0;
}

static inline void v_close(void *self)
{
	(void)self;
}

static inline int v_verify(const void *self, const struct attest_expect *want, const char *doc,
			   size_t len, int64_t now_ms, struct attest_identity *out, struct err *e)
{
	(void)self;
	assert_int_equal(strlen(doc), len);
	memset(out, 0, sizeof(*out));
	if (strcmp(doc, "tampered") == 0)
		return err_set(e, ERR_AUTH, "the signature does not hold");
	if (sscanf(doc, "%63s %63s %63s %63s", out->instance, out->account, out->region,
		   out->nonce) < 3)
		return err_set(e, ERR_INVALID, "its content is not in it");
	out->created_ms = V.created_ms;
	if (attest_match(out, want, e) < 0)
		return -1;
	if (V.at_ms != 0 && llabs(now_ms - V.at_ms) > 60000)
		return err_set(e, ERR_TIME, "it has expired");
	return 0;
}

static inline const struct attest_ops *find(enum attest_kind k)
{
	static struct attest_ops ops = {.open = v_open, .close = v_close, .verify = v_verify};

	ops.kind = k;
	return &ops;
}

/* One that cannot be opened. */
static inline int v_refuse(void **self, const struct attest_conf *conf, struct err *e)
{
	(void)self;
	(void)conf;
	return err_set(e, ERR_INVALID, "no certificate in it");
}

static inline const struct attest_ops *find_refusing(enum attest_kind k)
{
	static struct attest_ops ops = {.open = v_refuse, .close = v_close};

	ops.kind = k;
	return &ops;
}

static inline int begin(int attest)
{
	memset(&V, 0, sizeof(V));
	(void)setup_with(attest, CONF_BROKER);
	F.door.verifier = find;
	restart();
	return 0;
}

static inline int aws(void **state)
{
	(void)state;
	return begin(CONF_ATTEST_AWS);
}

static inline uint64_t shows(const char *doc)
{
	return says((struct says){.create = 1, .attest = "aws-rsa2048", .doc = doc});
}

static inline void refused(const char *doc, bool ends)
{
	uint64_t t = shows(doc);

	assert_int_equal(status(t), 403);
	assert_int_equal(F.released, 0);
	turn();
	assert_int_equal(goes(1, NODE_BECAUSE_BREACH), ends);
	assert_int_equal(events("claim-refused"), 1);
	assert_int_equal(audits("claim-refuse"), 1);
}

static inline void shows_address(int i)
{
	(void)snprintf(row(i)->n.addr, sizeof(row(i)->n.addr), "10.0.0.%d", i);
}

#endif
