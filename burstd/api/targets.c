#include "api/targets.h"

#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"

static void put(struct jsonw *w, const struct conf *c, const struct node *n)
{
	const bool v6 = strchr(n->addr, ':') != NULL;
	char address[PROVIDER_ADDR_MAX + 3];

	(void)snprintf(address, sizeof(address), v6 ? "[%s]" : "%s", n->addr);
	jsonw_open(w, NULL, '{');
	jsonw_open(w, "targets", '[');
	jsonw_text(w, NULL, address);
	jsonw_close(w, ']');
	jsonw_open(w, "labels", '{');
	jsonw_text(w, "__meta_burstd_cluster", c->cluster);
	jsonw_text(w, "__meta_burstd_node", n->name);
	jsonw_text(w, "__meta_burstd_pool", c->pools[n->pool].name);
	jsonw_text(w, "__meta_burstd_offer", n->offer);
	jsonw_text(w, "__meta_burstd_provider", n->provider);
	jsonw_text(w, "__meta_burstd_state", node_state_str(n->state));
	jsonw_close(w, '}');
	jsonw_close(w, '}');
}

/* What boots has no exporter yet, and would be a target that is down. */
static bool runs(const struct node *n)
{
	return (n->state == NODE_READY || n->state == NODE_DRAINING) && n->addr[0] != '\0';
}

void targets_write(const struct api *a, struct str *out)
{
	struct fleet_name *const *all = engine_sorted(a->engine);
	const struct conf *c = engine_conf(a->engine);
	struct jsonw w = {.out = out, .first = true};

	jsonw_open(&w, NULL, '[');
	for (size_t i = 0; i < engine_fleet(a->engine)->nsorted; i++) {
		const struct fleet_node *fn = fleet_live(all[i]);

		if (fn != NULL && runs(&fn->n))
			put(&w, c, &fn->n);
	}
	jsonw_close(&w, ']');
	str_adds(out, "\n");
}
