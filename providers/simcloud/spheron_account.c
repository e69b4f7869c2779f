/* spheron_account.c - what Spheron says of the account: balance, teams, and the keys it keeps. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/spheron.h"
#include "providers/simcloud/token.h"

#define CREDIT_NANO (1000 * INT64_C(1000000000)) /* invented */

/* A quota of no machine at all is an account without credit. */
static void balance(const struct cloud *c, struct face_reply *out)
{
	struct str s;

	str_init(&s, SPHERON_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "teams", '[');
	js_open(&s, NULL, '{');
	js_str(&s, "teamId", SPHERON_TEAM);
	js_str(&s, "teamName", "simcloud");
	js_money(&s, "balance", c->conf->quota == 0 ? 0 : CREDIT_NANO);
	js_bool(&s, "isCurrentTeam", true);
	js_str(&s, "role", "owner");
	js_close(&s, '}');
	js_close(&s, ']');
	js_str(&s, "currency", "USD");
	js_close(&s, '}');
	face_body(out, &s);
}

static void literal(const char *text, struct face_reply *out)
{
	struct str s;

	str_init(&s, SPHERON_BODY_MAX);
	str_adds(&s, text);
	face_body(out, &s);
}

/* The fingerprint is no real one. */
static void put_key(struct str *s, const struct sshkey *k)
{
	char at[FMT_TIME_SIZE], text[32];

	(void)snprintf(text, sizeof(text), "SHA256:%016" PRIx64,
		       token_hash(k->text, strlen(k->text)));
	js_open(s, NULL, '{');
	js_str(s, "id", k->id);
	js_str(s, "name", k->name);
	js_str(s, "fingerprint", text);
	js_str(s, "publicKey", k->text);
	js_str(s, "teamId", SPHERON_TEAM);
	js_str(s, "createdAt", fmt_time(at, k->created_ms));
	js_close(s, '}');
}

static void keys(const struct cloud *c, struct face_reply *out)
{
	struct str s;

	str_init(&s, SPHERON_BODY_MAX);
	js_open(&s, NULL, '[');
	for (size_t k = 0; k < c->sshkeys.n; k++)
		put_key(&s, &c->sshkeys.v[k]);
	js_close(&s, ']');
	face_body(out, &s);
}

static void add_key(const struct spheron_call *x, struct cloud *c, int64_t now,
		    struct face_reply *out)
{
	const struct sshkey *k = sshkeys_add(&c->sshkeys, x->name, x->key, now);
	struct str s;

	if (k == NULL) {
		spheron_error(out, CODE_INVALID, "Too many SSH keys");
		return;
	}
	str_init(&s, SPHERON_BODY_MAX);
	put_key(&s, k);
	face_body(out, &s);
}

/* A success has no body. */
static void drop_key(const struct face_call *f, struct cloud *c, struct face_reply *out)
{
	if (!sshkeys_drop(&c->sshkeys, f->ids[0]))
		spheron_error(out, CODE_NOT_FOUND, "SSH key not found");
}

void spheron_account(const struct face_call *f, struct cloud *c, int64_t now,
		     struct face_reply *out)
{
	const struct spheron_call *x = f->own;

	switch (x->action) {
	case SPHERON_BALANCE:
		balance(c, out);
		break;
	case SPHERON_TEAMS:
		literal("{\"teams\":[{\"id\":\"" SPHERON_TEAM "\",\"name\":\"simcloud\"}]}", out);
		break;
	case SPHERON_KEYS:
		keys(c, out);
		break;
	case SPHERON_ADD_KEY:
		add_key(x, c, now, out);
		break;
	case SPHERON_DROP_KEY:
		drop_key(f, c, out);
		break;
	default:
		literal("[\"spheron-ai\",\"massed-compute\",\"voltage-park\"]", out);
		break;
	}
}
