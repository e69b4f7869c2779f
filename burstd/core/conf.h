/* conf.h - what burstd.conf says, checked.
 *
 * A struct conf is built whole and never changed: a reload builds another and swaps, or refuses and
 * changes nothing.  Reading the file is io/conf_file, the options are core/conf_option; this is the
 * meaning. */
#ifndef BURSTD_CONF_H
#define BURSTD_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"
#include "base/map.h"
#include "base/str.h"
#include "core/conf_alert.h"
#include "core/conf_budget.h"
#include "core/provider.h"

enum {
	CONF_POOLS_MAX = 256,      /* every poll and every page of metrics walks them all */
	CONF_CANARIES_MAX = 64,    /* each is bought in a create of its own */
	CONF_HOPS_MAX = 16,        /* as many switches as a path has (hops.h) */
	CONF_OFFERS_MAX = 32,      /* of one pool: each has a bit in ladder_job.tried */
	CONF_PROVIDERS_MAX = 64,   /* each has connections of its own */
	CONF_ARGS_MAX = 64,        /* words of one command */
	CONF_ARG_MAX = 1024,       /* bytes of one */
	CONF_SECRETS_MAX = 24,     /* options of the section secrets */
	CONF_NODE_URLS_MAX = 8,    /* urls, and conf_servers, of the section nodes */
	CONF_IDS_MAX = 256,        /* of a list; searched at every request on the control socket */
	CONF_PRINT_MAX = 64 << 20, /* conf_print(): every pool with the longest node list */
};

/* How machines prove that they are the ones that were bought (core/attest.h). */
enum conf_attest {
	CONF_ATTEST_OFF, /* machines get neither user-data nor keys from burstd */
	CONF_ATTEST_AWS,
	CONF_ATTEST_GCP,
	CONF_ATTEST_AZURE,
	CONF_ATTEST_CALLBACK, /* by the address, and a port of its root's */
	CONF_ATTEST_ADDRESS,  /* by the address alone: weak */
	CONF_ATTEST_AUTO,     /* as the driver suggests; in attest_as only */
};

/* How its machines become nodes, as an admin says. */
enum conf_bootstrap {
	CONF_BOOTSTRAP_USER_DATA, /* by user-data, or by an image of the admin's choice */
	CONF_BOOTSTRAP_IMAGE,     /* the provider's own image has burst-node in it */
	CONF_BOOTSTRAP_SSH,       /* a program of the admin's installs them */
};

struct conf_driver;
struct conf_rate;
struct conf_provider {
	char *name;
	char *driver;
	char *url;              /* "": the driver's own */
	char *credential_file;  /* NULL: none */
	char *ca_file;          /* NULL: the system's */
	int64_t settle_ms;      /* W: how long a list may lag behind */
	int64_t list_ms;        /* between two lists when nothing moves */
	int64_t cooldown_ms;    /* core/cooldown.h */
	int64_t unreachable_ms; /* after so long without an answer it is away; 0: never */
	int64_t timeout_ms;     /* of one request */
	uint32_t concurrency;   /* requests in flight */
	uint32_t rate;          /* requests per second; 0: provider_caps.limits */
	/* The driver's own options, and the struct with their values; NULL: it has none. */
	const struct conf_driver *own_options;
	void *own;
	char *user_data_file; /* NULL: none */
	char *user_data;      /* its contents: conf_file_load_user_data(), or NULL */
	int bootstrap;        /* enum conf_bootstrap */
	/* Section nodes: how its machines prove what they are. */
	int attest_as;           /* enum conf_attest as written, or CONF_ATTEST_AUTO */
	enum conf_attest attest; /* derived: OFF without a section nodes */
	bool vouchers;           /* derived: a token for the secret store is in the user-data */
	char *address_map;       /* base/netmap.h; "": none */
	char *account;           /* required in identity documents; "": any */
	int check_address;       /* bool: claims must come from the machine's address */
	char *attest_ca_file;    /* NULL: none */
	char *attest_ca;         /* its contents: conf_file_load_attest_ca(), or NULL */
	int line;                /* in the file, where its section ends ... */
	int driver_line, credential_line, ca_line; /* where these options are; 0: not given */
	bool removed; /* only the journal names it: conf_keep_provider() */
};

/* Values of `fabric` that are not names. */
#define CONF_FABRIC_JOB  "job"  /* one for each job of several nodes */
#define CONF_FABRIC_UNIT "unit" /* one for each unit of the pool (core/unit.h) */
#define CONF_FABRIC_NONE "none" /* overrides the pool's */

enum conf_policy { CONF_ORDERED, CONF_CHEAPEST };
enum conf_gang { CONF_ALL_OR_NOTHING, CONF_BEST_EFFORT };
enum conf_checkpoint_to { CONF_TO_BATCH, CONF_TO_STEPS, CONF_TO_FULL };
enum conf_rebalance { CONF_REBALANCE_IGNORE, CONF_REBALANCE_DRAIN };

/* One way to buy a node of a pool: a rung of its ladder.  Known by (pool, name), across reloads. */
struct conf_offer {
	char *name;              /* "": the only rung of a pool without offers */
	char *provider;          /* name of its section */
	uint32_t provider_index; /* derived */
	char *type, *region, *zone;
	int market;               /* enum provider_market */
	int64_t price_nano_h;     /* overrides the provider's; 0: not given */
	int64_t max_price_nano_h; /* limit of this offer; 0: none */
	char *jurisdiction;       /* "": by the table in core/jurisdiction.c */
	char *fabric;             /* as written; "": the pool's; "none": none */
	char *interconnect;       /* likewise */
	char *image;              /* likewise, and then the provider's: conf_image() */
	/* derived: CONF_FABRIC_JOB, CONF_FABRIC_UNIT, or a fabric's name; NULL: none */
	const char *in_fabric;
	int line, provider_line; /* in the file: the end of its section, and `provider` */
};

struct conf_pool {
	char *name;
	char *nodes_text;           /* as written */
	struct hostlist *nodes;     /* derived */
	uint32_t unit;              /* nodes of each placement unit (core/unit.h); 0: none */
	struct map unit_of;         /* derived: node name -> its unit, from 1 */
	char *provider;             /* name of its section; "" when there are offers, as ... */
	uint32_t provider_index;    /* derived; with offers that of the first */
	char *type, *region, *zone; /* ... type and region; zone may be "" */
	bool spot;
	char *jurisdiction;      /* "": by the table */
	char *fabric;            /* of offers without one; "" or "none": none */
	char *interconnect;      /* likewise (core/interconnect.h); "": not checked */
	char *image;             /* of offers without one; "": the provider's */
	uint32_t image_canaries; /* machines that show whether a new image works */
	int64_t image_trial_ms;  /* so long each of them must be up */
	uint32_t image_at_once;  /* machines replaced at a time, for a new image */
	uint32_t fabric_hops;    /* so far from each other machines of one fabric may be (hops.h) */
	uint32_t max_nodes;
	uint32_t warm;                 /* nodes to keep up even without a job */
	int64_t quantum_ms;            /* billing step of the provider; 0: by the second */
	int64_t max_rate_nano_h;       /* currency units x 1e-9 per hour */
	int64_t price_nano_h;          /* overrides the provider's offer; 0: not given */
	int64_t boot_ms;               /* from instance to registration */
	char *node;                    /* of slurm.conf: core/hardware.h; "": by the offers */
	char *gres;                    /* likewise */
	int dynamic;                   /* bool: slurmctld has its nodes by `scontrol create` */
	int policy;                    /* enum conf_policy */
	int gang;                      /* enum conf_gang */
	int64_t max_price_nano_h;      /* of one node, by any offer; 0: none */
	uint32_t spot_share;           /* percent of the pool's nodes, at most */
	uint32_t fallback_refusals;    /* after which a job may have on-demand; 0: not counted */
	int64_t fallback_ms;           /* a wait with the same effect; 0: does not count */
	char **jurisdictions;          /* where it may buy; NULL-terminated; NULL: anywhere */
	int job_comment;               /* bool: a job's comment may hold wishes (core/wish.h) */
	char *checkpoint_signal;       /* "" or NULL: none */
	int checkpoint_to;             /* enum conf_checkpoint_to */
	char **checkpoint_command;     /* NULL-terminated; NULL: none */
	int rebalance;                 /* enum conf_rebalance */
	int64_t rebalance_wait_ms;     /* 0: without end */
	int64_t unmount_wait_ms;       /* from a node's release to its delete */
	struct conf_offer *offers;     /* in the order of the file */
	size_t noffers;                /* 0: `own` is the only rung */
	struct conf_offer own;         /* derived; borrows all but its name from this struct */
	int line;                      /* in the file, where its section ends ... */
	int nodes_line, provider_line; /* ... and where these options are */
	int place_line;                /* of the first option that names a place; 0: none does */
	bool removed; /* only the journal names it, and it buys nothing: conf_keep_pool() */
};

enum conf_release {
	CONF_WRAP,      /* a node gets a token by which it reads the bundle itself, once (mode W) */
	CONF_BROKER,    /* burstd reads it and hands it on (mode B) */
	CONF_USER_DATA, /* the token is in the user-data, for nodes that do not reach burstd (mode
			   U) */
};

/* The store of the cluster's keys (core/secret_store.h); driver "": none, images have the keys. */
struct conf_secrets {
	char *driver;
	char *address, *ca_file, *namespace, *mount, *name, *auth_mount, *role_id, *role_name;
	char *credential_file;                   /* NULL: none */
	char *rotate_role_id, *rotate_role_name; /* of the AppRole that may write the bundle */
	char **switch_command;                   /* NULL: none */
	char *region, *role, *sts_url, *metadata_url;
	char *dir;                   /* NULL: none */
	int release;                 /* enum conf_release */
	int64_t wrap_ms;             /* life of such a token */
	int64_t poll_ms;             /* between two polls for another version */
	int64_t timeout_ms;          /* of one request */
	int line;                    /* in the file, where the section ends; 0: there is none */
	int lines[CONF_SECRETS_MAX]; /* ... and its options, in the order of conf_options[] */
};

enum conf_auth { CONF_AUTH_MUNGE, CONF_AUTH_SLURM }; /* Slurm's AuthType */

struct conf_ids { /* of users, or of groups */
	uint32_t *v;
	size_t n;
};

/* Who may do more than look, besides root and burstd's own user (io/ctl_role.h). */
struct conf_people {
	struct conf_ids admins;
	struct conf_ids admin_groups, operator_groups, finance_groups;
};

/* The listener for nodes, and what new machines are told. */
struct conf_nodes {
	char *listen;        /* "ADDRESS:PORT"; "": burstd does not boot nodes */
	char **urls;         /* of that listener, as nodes reach it; NULL-terminated */
	char **conf_servers; /* "HOST:PORT" of slurmctld; NULL-terminated */
	int64_t claim_ms;    /* time to claim, from the create; 0: the pool's boot timeout */
	int64_t deadman_ms;  /* burst-agent powers off a node that burstd has forgotten; 0: never */
	int auth;            /* enum conf_auth */
	char *munge_socket;  /* of the munged that has the cluster's key; "": the usual */
	char *node_init;     /* a file for machines whose image lacks it; "": none */
	char *slurmd_options; /* "": none */
	int line;             /* in the file, where the section ends; 0: there is none */
};

struct conf {
	char *path;    /* of the file, for messages */
	char *cluster; /* Slurm's ClusterName */
	char currency[4];
	char *report_zone; /* IANA name of the zone of days and months (base/zone.h) */
	int budgets_away;  /* enum conf_away */
	char *state_dir;
	char *listen;    /* "ADDRESS:PORT" for /metrics, "" for none */
	int listen_jobs; /* bool: it shows a table of jobs, too */
	int log_level;   /* enum log_level */
	int64_t events_keep_ms;
	char *slurm_bin;             /* directory of scontrol and squeue */
	char *slurm_conf;            /* SLURM_CONF for them; NULL: Slurm's default */
	int64_t reconfigure_ms;      /* between two `scontrol reconfigure` of burstd's, at least */
	int64_t billing_unit_nano_h; /* of Slurm's billing, in money an hour; 0: it is no money */
	struct conf_people people;
	struct conf_secrets secrets;
	struct conf_nodes nodes;
	struct conf_provider *providers;
	size_t nproviders;
	struct conf_pool *pools;
	size_t npools;
	struct conf_budget *budgets; /* in the order of the file */
	size_t nbudgets;
	struct conf_alert *alerts; /* likewise */
	size_t nalerts;
	char *prices_file;       /* absolute path of prices.conf; NULL: none */
	struct conf_rate *rates; /* what it says (core/rates.h) */
	size_t nrates;
	struct map by_node; /* derived: node name -> struct conf_pool */
	/* in the file; 0: not given */
	int state_dir_line, slurm_bin_line, slurm_conf_line, prices_line;
};

/* Empty, every option unset; path is copied.  The caller's: conf_free(). */
struct conf *conf_new(const char *path);
void conf_free(struct conf *c); /* with everything its fields hold; NULL is fine */

/* Check what concerns several options (providers exist, no name twice, each node in one pool, at
 * most HOSTLIST_NAMES_MAX of them) and fill in the derived fields, once.  -1: *e begins "FILE:LINE:
 * " and c is only good for conf_free(). */
int conf_finish(struct conf *c, struct err *e);

/* A step of conf_finish(): fill in attest and vouchers of each provider (conf_nodes.c). */
int conf_nodes_finish(struct conf *c, struct err *e);

/* The index of the provider or pool of that name; one that is missing is appended as removed: the
 * configuration does not have it any more, but the journal has rows of it, and a row needs an
 * index.  A removed pool has no nodes, no rungs and no limits; a removed provider has no driver. */
uint32_t conf_keep_provider(struct conf *c, const char *name);
uint32_t conf_keep_pool(struct conf *c, const char *name);
/* Give next the removed sections of old, at the same indices, unless next has them again. */
void conf_keep_removed(struct conf *next, const struct conf *old);

/* May a running burstd go from old to next?  -1: *e names what needs a restart: a changed option
 * whose `reload` is false in conf_options[], a provider or pool that is gone or has moved, an offer
 * that is gone.  So an index into providers or pools of old means the same in next; new pools come
 * last.  Offers may be new or in another order: they are known by name.  Budgets and alerts may
 * change in any way. */
int conf_may_replace(const struct conf *old, const struct conf *next, struct err *e);

/* One difference between two configurations; everything is borrowed for the call. */
struct conf_change {
	const char *section; /* as in conf_options[] */
	const char
		*title; /* of a provider, pool, budget or alert, else ""; POOL/OFFER of an offer */
	const char *option; /* NULL: a whole section with a title is new, or gone */
	const char *from,
		*to; /* as conf_option_print(); a whole one has NULL where it is missing */
};

typedef void (*conf_change_fn)(void *ctx, const struct conf_change *change);

/* Every difference, in the order of the file.  Sections with titles are known by these. */
void conf_diff(const struct conf *old, const struct conf *next, conf_change_fn fn, void *ctx);

/* `pool "h100" max_nodes: 8 -> 16`, `pool "h100": new` */
void conf_change_print(const struct conf_change *change, struct str *out);

/* The section of a provider as its driver's open() takes it; borrows from p. */
struct provider_conf conf_for_driver(const struct conf_provider *p, const char *credential);

/* Does burstd make the fabrics of this offer, for jobs or units?  in_fabric is no name then. */
bool conf_makes_fabrics(const struct conf_offer *o);

/* The image that the configuration wants for machines bought by o, an offer of p: its own, the
 * pool's, or the one that the section of its provider names; "": none of them says. */
const char *conf_image(const struct conf *c, const struct conf_pool *p, const struct conf_offer *o);

/* The image that the section of a provider names; "": none, or one with a longer name than the
 * journal has room for (PROVIDER_IMAGE_MAX), which burstd does not roll out. */
const char *conf_own_image(const struct conf_provider *p);
/* Likewise, whatever its length; borrows from p. */
const char *conf_own_image_text(const struct conf_provider *p);

/* The place that an offer buys at, as drivers take it; borrows from o. */
struct provider_place conf_place(const struct conf_offer *o);

struct secret_store_conf;
/* Likewise for the driver of the secret store. */
struct secret_store_conf conf_for_store(const struct conf_secrets *s, const char *credential);
/* Can a driver with these flags (enum secret_flags) do what the option release asks for?  -1: *e
 * says what is wrong, without file and line. */
int conf_check_release(const struct conf_secrets *s, unsigned flags, struct err *e);
/* The line of an option of the section secrets, or else of the section; 0: neither is in the file.
 */
int conf_secrets_line(const struct conf *c, const char *option);

/* The pool that names this node; NULL: none does, and burstd must not touch the node. */
const struct conf_pool *conf_pool_of(const struct conf *c, const char *node);
uint32_t conf_pool_index(const struct conf *c, const struct conf_pool *p);
const struct conf_pool *conf_pool_named(const struct conf *c, const char *name); /* or NULL */

uint32_t conf_provider_named(const struct conf *c, const char *name); /* NPROVIDERS: none */

/* The most that a node of the pool may cost, in nano-units per hour: the smaller of max_rate and
 * max_price; *option: which of the two. */
int64_t conf_pool_dearest(const struct conf_pool *p, const char **option);
/* The rungs of a pool's ladder, 1 to CONF_OFFERS_MAX, in the order of the file; none for a removed
 * pool.  n may be NULL. */
const struct conf_offer *conf_rungs(const struct conf_pool *p, size_t *n);
/* The rung of that name; NULL: the configuration does not have it any more.  After conf_finish().
 */
const struct conf_offer *conf_rung_named(const struct conf_pool *p, const char *name);

/* The cloud that a provider's machines are in, and whose metadata service they ask: the one that
 * signs their documents, else the driver's. */
const char *conf_cloud(const struct conf_provider *p);

/* The AuthType of the keys that nodes get; NULL: they get none. */
const char *conf_auth_type(const struct conf *c);

/* The interconnect of machines bought by o, an offer of p or NULL: core/interconnect.h, or "". */
const char *conf_interconnect(const struct conf_pool *p, const struct conf_offer *o);

struct conf_option;
/* Is o an option of a pool that says where to buy?  In a pool with offers these belong to the
 * offers. */
bool conf_is_place(const struct conf_option *o);

/* As a configuration file with every option written out; holds no secret.  Append to *out, which
 * may grow by CONF_PRINT_MAX.  Loading it again gives an equal conf. */
void conf_print(const struct conf *c, struct str *out);

#endif
