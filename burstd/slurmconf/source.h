/* source.h - a configuration file of Slurm's with all that it includes, and where in them burstd's
 * block is.
 *
 * Reading is the caller's: this is pure. */
#ifndef BURSTD_SLURMCONF_SOURCE_H
#define BURSTD_SLURMCONF_SOURCE_H

#include <stddef.h>

#include "base/err.h"
#include "slurmconf/block.h"
#include "slurmconf/line.h"

enum {
	SLURMCONF_SOURCES_MAX = 64, /* files of one tree */
	SLURMCONF_DEPTH_MAX = 8,    /* of includes in includes */
};

struct slurmconf_source {
	struct slurmconf_file file;
	struct slurmconf_block block;
};

struct slurmconf_sources {
	struct slurmconf_source *v; /* the first is the file itself; each once */
	size_t n;
	size_t ours;   /* the one that has the block, or will have it */
	char *cluster; /* ClusterName, in lower case; NULL: they do not say it */
};

struct slurmconf_trees { /* borrowed */
	const struct slurmconf_sources *slurm, *gres;
	const struct slurmconf_sources *topology, *cgroup; /* NULL: not read */
};

/* Read a whole file: *text is from malloc(), with a NUL behind its len bytes.  -1: *e. */
typedef int (*slurmconf_read_fn)(void *ctx, const char *path, char **text, size_t *len,
				 struct err *e);

/* Read path and what it includes.  -1: *e is one line, with the place where there is one, and *out
 * is empty. */
int slurmconf_sources_load(struct slurmconf_sources *out, const char *path, slurmconf_read_fn read,
			   void *ctx, struct err *e);
void slurmconf_sources_fini(struct slurmconf_sources *s);

/* The path of a file that is included by root, or by a file that it includes: relative to root's
 * directory, and %c is the cluster, as in Slurm, if it is known (else NULL).  The caller's
 * (free()).
 */
char *slurmconf_include_path(const char *root, const char *cluster, struct slurm_text name);

/* Call fn for each line that is the site's, in the order in which Slurm reads them; never for an
 * Include itself.  -1: fn returned that, or a line cannot be read. */
typedef int (*slurmconf_line_fn)(void *ctx, const struct slurmconf_line *l, struct err *e);
int slurmconf_sources_walk(const struct slurmconf_sources *s, slurmconf_line_fn fn, void *ctx,
			   struct err *e);
/* Likewise, with the lines of burstd's block. */
int slurmconf_sources_walk_all(const struct slurmconf_sources *s, slurmconf_line_fn fn, void *ctx,
			       struct err *e);

#endif
