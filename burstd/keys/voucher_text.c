#include "keys/vouchers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/userdata.h"
#include "keys/lines.h"

/* Writes the user-data of a machine with a token, with what the answer to a claim would have. */

#define NODE_INIT "/usr/libexec/burstd/node-init"

/* In the order of the configuration, whichever address made the token, so that a repeat has the
 * same bytes. */
static void add_vaults(struct lines *l, const struct engine *e)
{
	struct str s;
	const char *one;

	str_init(&s, USERDATA_LINES_MAX);
	for (uint32_t i = 0; (one = secrets_address(e, i)) != NULL; i++)
		str_addf(&s, "%s%s", i > 0 ? " " : "", one);
	lines_add(l, "vault", s.p);
	str_fini(&s);
}

static int add_ca(struct lines *l, const char *pem, struct err *err)
{
	size_t n = pem != NULL ? strlen(pem) : 0;

	if (n == 0 || n > USERDATA_CA_MAX)
		return err_set(err, ERR_LIMIT,
			       "user-data: ca_file of section secrets has %zu bytes, and machines "
			       "need 1 to %d",
			       n, USERDATA_CA_MAX);
	lines_add_base64(l, "vault_ca", pem);
	return 0;
}

static int add_lines(struct lines *l, const struct engine *e, const struct voucher *v,
		     const struct conf_pool *p, const struct conf_offer *o, struct err *err)
{
	char id[sizeof(v->node) + FMT_U64_SIZE + 24], g[FMT_U64_SIZE];

	(void)snprintf(id, sizeof(id), "burst-%.8s-%s-%s", e->d.uuid, v->node, fmt_u64(g, v->gen));
	lines_add(l, "claim_id", id);
	lines_add(l, "burstd", "none");
	lines_add_node(l, v->node, v->gen, &e->conf->providers[o->provider_index], &e->conf->nodes);
	lines_add_slurmd(l, p, &e->conf->nodes);
	lines_add_word(l, "instance_type", o->type);
	if (v->gpus > 0)
		lines_add_number(l, "gpus", v->gpus);
	lines_add(l, "gpu_type", v->gpu_type);
	lines_add_interconnect(l, p, o);
	lines_add(l, "release", "wrap");
	if (v->version != 0)
		lines_add_number(l, "version", (uint64_t)v->version);
	add_vaults(l, e);
	if (add_ca(l, e->d.store_ca, err) != 0)
		return -1;
	lines_add(l, "creation_path", secrets_path(e));
	lines_add(l, "wrap_token", secret_text(v->token));
	lines_end(l);
	return l->bad ? err_set(err, ERR_LIMIT, "user-data: it is too much for a machine") : 0;
}

char *vouchers_user_data(const struct engine *e, const struct keys_for *k,
			 const struct conf_offer *o, struct err *err)
{
	const struct member *m = &k->members[0];
	const struct voucher *v = k->n == 1 ? vouchers_of(e, m->name->name, m->gen) : NULL;
	struct lines *l = lines_new(true);
	const struct userdata_token u = {
		.lines = l->p, .node_init = NODE_INIT, .sha256 = e->keys->vouchers->sha256};
	char *out = NULL;

	if (v == NULL || v->token == NULL)
		(void)err_set(err, ERR_INVALID, "there is no token for node %s", m->name->name);
	else if (add_lines(l, e, v, &e->conf->pools[m->name->pool], o, err) == 0)
		(void)userdata_fill_token(&out, &u, USERDATA_LIMIT, err);
	lines_free(l);
	return out;
}
