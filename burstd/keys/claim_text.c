/* Writes the answer to a claim, as text or JSON, for node-init. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "jobs/jobs.h"
#include "keys/claim_set.h"
#include "keys/lines.h"

enum { HOSTS_MAX = 64 << 10 /* bytes of addresses in the answer; a node fetches more later */ };

static void finish(struct lines *l, struct http_answer *an, unsigned status)
{
	lines_end(l);
	an->status = l->bad ? 500 : status;
	an->type = l->text ? NULL : "application/json";
	an->secret = true;
	if (!l->bad) {
		an->body = mem_zalloc(l->n + 1);
		an->len = l->n;
		memcpy(an->body, l->p, l->n);
	}
	lines_free(l);
}
static void add_keys(struct lines *l, const struct secrets_released *r)
{
	struct secret_bundle keys;

	if (secret_bundle_read(secret_text(r->bundle), secret_len(r->bundle), &keys, NULL) != 0) {
		l->bad = true;
		return;
	}
	lines_add_n(l, "munge_key", keys.munge_key.p, keys.munge_key.n);
	lines_add_n(l, "slurm_key", keys.slurm_key.p, keys.slurm_key.n);
	lines_add_n(l, "slurm_jwks", keys.slurm_jwks.p, keys.slurm_jwks.n);
	lines_add_n(l, "munge_key_next", keys.munge_key_next.p, keys.munge_key_next.n);
}

static void add_release(struct engine *e, struct lines *l, const struct secrets_released *r)
{
	bool wrap = r->mode == CONF_WRAP;
	int64_t version = door_key_version(r->version);

	lines_add(l, "release", wrap ? "wrap" : "inline");
	if (version != 0) /* as the node says it, too: in numbers */
		lines_add_number(l, "version", (uint64_t)version);
	if (!wrap) {
		add_keys(l, r);
		return;
	}
	lines_add_list(l, "vault", r->addresses, " ");
	lines_add_base64(l, "vault_ca", e->d.store_ca);
	lines_add(l, "creation_path", r->path);
	lines_add(l, "wrap_token", secret_text(r->token));
	lines_add_number(l, "wrap_ttl", (uint64_t)r->ttl_ms / 1000);
}

void claim_keys(struct engine *e, const struct secrets_released *rel, bool now,
		struct http_answer *an)
{
	struct lines *l = lines_new(true);

	add_release(e, l, rel);
	lines_add(l, "switch", now ? "yes" : "no");
	finish(l, an, 200);
}

static void add_least(struct lines *l, const char *key, uint64_t least)
{
	if (least > 0)
		lines_add_number(l, key, least);
}

/* Add the hardware that slurmctld requires, so that node-init finds out before slurmd registers. */
static void add_size(struct engine *e, struct lines *l, const struct fleet_name *nm)
{
	uint32_t percent = prereq_memory_percent(e);

	if (percent == 0)
		return;
	add_least(l, "cpus", nm->cpus);
	add_least(l, "memory_mb", (uint64_t)nm->memory_mb * percent / 100);
	add_least(l, "tmp_mb", nm->tmp_mb);
}

static void add_gpus(struct lines *l, const struct fleet_name *nm)
{
	lines_add(l, "gpu_mig", nm->gpu_parts);
	if (nm->gpus == 0)
		return;
	lines_add_number(l, "gpus", nm->gpus);
	if (nm->gpu_model != NULL)
		lines_add(l, "gpu_type", nm->gpu_model);
}

/* Add which node the machine is to be. */
static void add_node(struct engine *e, struct lines *l, struct claim_run *r)
{
	const struct conf_nodes *n = &e->conf->nodes;
	const struct fleet_node *fn = claims_node(e, r);
	const struct conf_offer *o = fn != NULL ? engine_offer_of(e, &fn->n) : NULL;
	const char *sha256 = NULL;
	char *hosts = hosts_text(e, NULL);

	lines_add_node(l, r->c.node, r->c.gen, &e->conf->providers[claim_entry(r)->set->cloud], n);
	lines_add_slurmd(l, conf_pool_of(e->conf, r->c.node), n);
	lines_add_number(l, "burst_uid", e->d.door->uid);
	if (o != NULL)
		lines_add_word(l, "instance_type", o->type);
	if (fn != NULL) {
		lines_add_word(l, "instance_id", fn->n.instance);
		add_gpus(l, fn->name);
		add_size(e, l, fn->name);
		lines_add_interconnect(l, &e->conf->pools[fn->n.pool], o);
	}
	lines_add_number(l, "deadman", ((uint64_t)n->deadman_ms + 999) / 1000); /* 0: never */
	if (door_stage1(e, &sha256)) {
		lines_add(l, "stage1_url", "/v1/node/stage1");
		lines_add(l, "stage1_sha256", sha256);
	}
	if (hosts != NULL && strlen(hosts) <= HOSTS_MAX)
		lines_add_base64(l, "hosts", hosts);
	free(hosts);
}

void claim_text(struct engine *e, struct claim_run *r, const char *cert,
		const struct secrets_released *rel, bool plain, struct http_answer *an)
{
	struct lines *l = lines_new(plain);

	l->bad = cert == NULL;
	add_node(e, l, r);
	lines_add_base64(l, "cert", cert != NULL ? cert : "");
	add_release(e, l, rel);
	if (l->bad)
		log_write(e->d.log, LOG_ERROR, "cannot write the answer to a node's claim", "node",
			  r->c.node, NULL);
	finish(l, an, 200);
}
