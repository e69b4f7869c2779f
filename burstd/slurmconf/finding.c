#include "slurmconf/finding.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"

enum { TEXT_SIZE = 1024 };

/* Drop the last that is no error.  false: all are. */
static bool make_room(struct slurmconf_findings *f)
{
	size_t i = f->n;

	while (i > 0 && f->v[i - 1].severity == SLURM_ERROR)
		i--;
	if (i == 0)
		return false;
	free(f->v[i - 1].text);
	memmove(&f->v[i - 1], &f->v[i], (f->n - i) * sizeof(*f->v));
	f->n--;
	return true;
}

void slurmconf_find(struct slurmconf_findings *f, enum slurm_severity severity,
		    struct slurmconf_place at, const char *fmt, ...)
{
	char text[TEXT_SIZE];
	va_list ap;

	f->by_severity[severity]++;
	if (f->n == SLURMCONF_FINDINGS_MAX) {
		f->more++;
		if (severity != SLURM_ERROR || !make_room(f))
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
