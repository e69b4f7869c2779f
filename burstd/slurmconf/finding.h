/* finding.h - what slurm-conf has to say of a file: where, how bad, and what to do. */
#ifndef BURSTD_SLURMCONF_FINDING_H
#define BURSTD_SLURMCONF_FINDING_H

#include <stddef.h>

#include "slurm/require.h"

enum { SLURMCONF_FINDINGS_MAX = 256 }; /* a page or two; more are only counted */

struct slurmconf_place {
	const char *file; /* borrowed; NULL: none */
	int line;         /* 0: of the file as a whole */
};

struct slurmconf_finding {
	enum slurm_severity severity; /* SLURM_ERROR: nothing may be written */
	struct slurmconf_place at;
	char *text; /* printable, without the place */
};

struct slurmconf_findings { /* zeroed: none */
	struct slurmconf_finding *v;
	size_t n;
	size_t more; /* that did not fit; an error takes the place of what is none */
	size_t by_severity[SLURM_ERROR + 1];
};

void slurmconf_find(struct slurmconf_findings *f, enum slurm_severity severity,
		    struct slurmconf_place at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void slurmconf_findings_fini(struct slurmconf_findings *f);

#endif
