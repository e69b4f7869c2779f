/* topo.h - what a site's topology.conf says: a tree of switches, or blocks.
 *
 * slurmctld ends at its next start with a bad one, 22.05 already at a reconfigure.  What it ends
 * with is an error here; what it only logs, and then places jobs badly, is a warning.  Which form
 * the file has, TopologyPlugin says. */
#ifndef BURSTD_SLURMCONF_TOPO_H
#define BURSTD_SLURMCONF_TOPO_H

#include "slurm/version.h"
#include "slurmconf/site.h"

enum {
	SLURMCONF_UNITS_MAX = 4096, /* switches or blocks; slurmctld is quadratic in them */
	SLURMCONF_TREE_PASSES = 21, /* of slurmctld over the switches, until it gives up */
	SLURMCONF_BLOCK_LEVELS = 16,
};

enum slurmconf_form {
	SLURMCONF_FLAT, /* topology.conf is not read */
	SLURMCONF_TREE,
	SLURMCONF_BLOCK,
};

/* The switch above those of burstd's pools.  A pool's switch, or block, is named as its NodeSet;
 * that of a unit of it likewise, with "-" and the unit's number. */
#define SLURMCONF_TOP "burst"

struct slurmconf_unit { /* a switch or a block of the site's */
	char *name;
	struct hostlist *nodes, *below; /* NULL: none, or not read here */
	struct slurmconf_place at;
	const struct slurmconf_unit *above; /* NULL: none */
	size_t count;                       /* of its nodes that slurm.conf has */
	bool resolved;                      /* all below it is known and ends */
};

struct slurmconf_topo_pool {
	struct slurmconf_owned nodes; /* that switches or blocks of the site's have */
	/* A switch of the site's with burstd's switch of the pool below it; NULL: none. */
	const struct slurmconf_unit *placed;
};

struct slurmconf_topo {
	enum slurmconf_form form;
	struct slurmconf_unit *units; /* in the order of the file */
	size_t nunits;
	struct map named;                    /* -> struct slurmconf_unit */
	const struct slurmconf_unit *joined; /* has SLURMCONF_TOP below it; NULL: none */
	size_t base;                         /* nodes that each block must have; 0: not known */
	struct slurmconf_topo_pool *pools;   /* as those of conf */
	struct map seen;                     /* a node -> the struct slurmconf_unit that has it */
	size_t names;                        /* expanded so far */
	const struct slurmconf_site *site;   /* borrowed, as ... */
	const struct slurm_version *version; /* ... this is, which reads the file */
};

struct slurmconf_topo_in {                 /* borrowed */
	const struct slurmconf_site *site; /* findings go to its findings */
	const struct slurmconf_sources *files;
	const struct slurm_version *version;
	const char *yaml; /* the path of a topology.yaml beside it; NULL: there is none */
};

/* Read topology.conf; what in is of is borrowed for as long as *out lives.  With a topology.yaml
 * that counts the form is SLURMCONF_FLAT, and lines in both files are an error.  -1: *e has the
 * place, and *out needs no fini. */
int slurmconf_topo_init(struct slurmconf_topo *out, const struct slurmconf_topo_in *in,
			struct err *e);
void slurmconf_topo_fini(struct slurmconf_topo *t);

/* The index of the pool whose switch or block has this name; npools: none has. */
size_t slurmconf_topo_pool_of(const struct slurmconf_topo *t, const char *name);

/* Append the lines of burstd's block in topology.conf (topo_want.c).  A tree: a leaf for each pool,
 * below SLURMCONF_TOP unless the site has put it elsewhere, which is no child of a switch of the
 * site's unless that says so; of a pool with placement units a leaf for each, below a switch of the
 * pool's.  Blocks: one for each unit, or for each pool that is always bought in a fabric.  All
 * nodes of a pool are in it, bought or not, so that the file stays as it is when they come and go;
 * a pool whose nodes the site has placed itself is left out. */
void slurmconf_want_topo(const struct slurmconf_topo *t, struct str *out);

#endif
