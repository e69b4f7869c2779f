#include "slurm/feature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/wish.h"
#include "slurm/look.h"
#include "slurm/show.h"

enum { WANTED_MAX = 2 * CONF_OFFERS_MAX * (PROVIDER_WORD_MAX + 1) };

struct slurm_feature *slurm_features_new(const struct conf *c)
{
	struct slurm_feature *f = mem_zalloc((c->npools + 1) * sizeof(*f));
	size_t n = 0;

	for (size_t i = 0; i < c->npools; i++) {
		struct str s;

		str_init(&s, WANTED_MAX);
		wish_features(&c->pools[i], &s);
		n += s.len > 0;
		if (s.len > 0)
			f[i].wanted = str_take(&s);
		else
			str_fini(&s);
	}
	if (n > 0)
		return f;
	free(f);
	return NULL;
}

void slurm_features_free(struct slurm_feature *f, size_t npools)
{
	for (size_t i = 0; f != NULL && i < npools; i++)
		free(f[i].wanted);
	free(f);
}

static bool carries(struct slurm_text have, const char *wanted)
{
	struct slurm_text rest = {wanted, strlen(wanted)}, one;

	while (slurm_show_cut(&rest, ',', &one))
		if (!slurm_look_lists(have, one))
			return false;
	return true;
}

void slurm_features_look(struct slurm_feature *f, const struct conf *c, const struct slurm_node *n)
{
	const struct conf_pool *p = conf_pool_of(c, n->name);
	struct slurm_feature *of = p != NULL ? &f[conf_pool_index(c, p)] : NULL;

	if (of == NULL || of->wanted == NULL || of->bare[0] != '\0' ||
	    carries(n->features, of->wanted))
		return;
	(void)snprintf(of->bare, sizeof(of->bare), "%s", n->name);
}
