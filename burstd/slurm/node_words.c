#include "slurm/node_words.h"

#include <string.h>

#include "core/hardware.h"
#include "core/wish.h"
#include "slurm/show.h"

static void add_key(struct str *s, const char *key, int64_t v)
{
	if (v != 0)
		str_addf(s, " %s=%lld", key, (long long)v);
}

/* Each once. */
static void add_features(const struct conf_pool *p, struct str *s)
{
	struct slurm_text rest, one;
	struct str wishes;

	str_addf(s, " Feature=%s", SLURM_NODE_FEATURE);
	if (strcmp(p->name, SLURM_NODE_FEATURE) != 0)
		str_addf(s, ",%s", p->name);
	str_init(&wishes, SLURM_NODE_WORDS_MAX);
	wish_features(p, &wishes);
	rest = (struct slurm_text){wishes.p, wishes.len};
	while (slurm_show_item(&rest, &one))
		if (!slurm_show_is(one, SLURM_NODE_FEATURE) && !slurm_show_is(one, p->name))
			str_addf(s, ",%.*s", (int)one.n, one.p);
	str_fini(&wishes);
}

static void add_hardware(const struct conf_pool *p, struct str *s)
{
	struct hardware_node h = {.cpus = 0};

	(void)hardware_parse_node(p->node, &h, NULL); /* conf has checked it */
	add_key(s, "CPUs", h.cpus);
	add_key(s, "Boards", h.boards);
	add_key(s, h.boards != 0 ? "SocketsPerBoard" : "Sockets", h.sockets);
	add_key(s, "CoresPerSocket", h.cores);
	add_key(s, "ThreadsPerCore", h.threads);
	add_key(s, "RealMemory", h.memory_mb);
	add_key(s, "TmpDisk", h.disk_mb);
	if (p->gres != NULL && p->gres[0] != '\0')
		str_addf(s, " Gres=%s", p->gres);
}

void slurm_node_words(const struct conf_pool *p, struct str *out)
{
	add_hardware(p, out);
	add_features(p, out);
}
