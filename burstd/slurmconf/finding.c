#include "slurmconf/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/plain.h"

enum { TEXT_SIZE = 1024 };

void slurmconf_find(struct slurmconf_findings *f, enum slurm_severity severity,
		    struct slurmconf_place at, const char *fmt, ...)
{
	char text[TEXT_SIZE];
	va_list ap;

	f->by_severity[severity]++;
	if (f->n == SLURMCONF_FINDINGS_MAX) {
		f->more++;
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	plain_make(text, '?');
	f->v = mem_realloc(f->v, (f->n + 1) * sizeof(*f->v));
	f->v[f->n++] = (struct slurmconf_finding){severity, at, mem_strdup(text)};
}

void slurmconf_findings_fini(struct slurmconf_findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].text);
	free(f->v);
	*f = (struct slurmconf_findings){.n = 0};
}
