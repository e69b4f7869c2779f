/* want.h - the lines that slurm.conf and gres.conf need for burstd's pools, and what of the site's
 * own lines is in their way.
 *
 * A parameter may be in slurm.conf once: where the site has it, right or wrong, burstd's block has
 * it not, and a finding says what to write there.  Prices are not made into Weight: 22.05 ignores
 * it for nodes that are powered down, and where it works jobs are torn across switches. */
#ifndef BURSTD_SLURMCONF_WANT_H
#define BURSTD_SLURMCONF_WANT_H

#include "base/str.h"
#include "core/conf.h"
#include "slurm/version.h"
#include "slurmconf/site.h"

enum {
	SLURMCONF_BODY_MAX = 16 << 20,
	SLURMCONF_LINE_MAX = 2000, /* bytes of a list of nodes in one line */
	/* As in slurm/burst.conf. */
	SLURMCONF_SUSPEND_S = 300,
	SLURMCONF_SUSPEND_TIMEOUT_S = 30,
};

struct slurmconf_want {
	const struct conf *conf;
	const struct slurmconf_site *site;
	const struct slurm_version *version; /* of the slurmctld that will read it */
	const char *programs;                /* directory of burst-resume and the others */
	struct slurmconf_findings *findings;
	int64_t now_ms; /* wall clock: prices begin and end */
};

/* Append the lines of burstd's block in slurm.conf, and in gres.conf, each with its '\n'; none if
 * nothing is needed there. */
void slurmconf_want_slurm(const struct slurmconf_want *w, struct str *out);
void slurmconf_want_gres(const struct slurmconf_want *w, struct str *out);

/* A step of slurmconf_want_slurm(): parameters of the whole cluster (want_settings.c). */
void slurmconf_want_settings(const struct slurmconf_want *w, struct str *out);

/* Call fn for each part of a pool's nodes that fits into a line, in order. */
typedef void (*slurmconf_nodes_fn)(void *ctx, const char *list, size_t part);
void slurmconf_each_list(const struct conf_pool *p, slurmconf_nodes_fn fn, void *ctx);

/* Findings about what is dangerous wherever it stands (danger.c). */
void slurmconf_dangers(const struct slurmconf_want *w);

#endif
