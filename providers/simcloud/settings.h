/* settings.h - how the simulated cloud behaves: --config FILE, and POST /admin/config while it
 * runs.
 *
 * A change is merged into the present settings (objects key by key, anything else replaced) and
 * the result is read again; an invalid change changes nothing. */
#ifndef SIMCLOUD_SETTINGS_H
#define SIMCLOUD_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "providers/simcloud/dist.h"
#include "providers/simcloud/op.h"

enum {
	SETTINGS_WORD_SIZE = 64,
	SETTINGS_GLOBS_MAX = 16,    /* patterns in one list: tests need one or two */
	SETTINGS_OFFERS_MAX = 256,  /* price lists of tests are short */
	SETTINGS_PRICES_MAX = 32,   /* steps of one curve */
	SETTINGS_FABRICS_MAX = 500, /* EC2's limit in a region */
	SETTINGS_BATCH_MAX = 1000,  /* instances in one create or delete, and in one page */
	SETTINGS_CARDS_MAX = 32,    /* network interfaces: EC2's largest types have as many cards */
};

struct settings_globs {
	char v[SETTINGS_GLOBS_MAX][SETTINGS_WORD_SIZE];
	unsigned n;
};

struct settings_bucket {
	int64_t rate_milli; /* tokens per 1000 s; 0: no limit */
	int64_t burst;
	bool per_instance; /* a create or delete takes one token for each instance in it */
};

/* A step of a price curve; from_ms counts from simcloud's start. */
struct settings_price {
	int64_t from_ms, nano_h;
};

struct settings_curve {
	struct settings_price v[SETTINGS_PRICES_MAX];
	unsigned n;        /* number of steps; 0: the price does not change */
	int64_t period_ms; /* the curve repeats after this time; 0: the last price holds */
};

struct settings_offer {
	char type[SETTINGS_WORD_SIZE], region[SETTINGS_WORD_SIZE], zone[SETTINGS_WORD_SIZE];
	char currency[4];
	enum market market;
	int64_t price_nano_h;
	struct settings_curve curve; /* for spot only */
	int64_t capacity;            /* instances that can live at once; -1: unlimited */
};

struct settings {
	bool tokens, tags, filter;
	int64_t login_life_ms; /* how long a session is good */
	int64_t token_life_ms, ended_keep_ms, addr_reuse_ms, min_rental_ms;
	int64_t quota;       /* live instances in the account; -1: no limit */
	int64_t fabric_size; /* machines of one block; 0: all of a place are one block */
	int64_t fabric_max;  /* fabrics in the account */
	int64_t spine_size;  /* blocks below one spine; 0: there are no spines */
	bool fabric_apart;   /* instances of a fabric are spread as all others */
	int64_t page_max, create_max, delete_max;
	struct dist latency[OP_COUNT];
	struct dist boot, stop;    /* create to running; delete accepted to ended */
	struct dist visible;       /* create to visible in list, get and delete */
	struct dist address_after; /* create to address shown */
	struct dist state_lag;     /* change of state to change shown */
	struct dist spot_life;     /* create to reclaim of a spot instance, if spot_dies */
	bool spot_dies;
	int64_t spot_notice_ms;
	int64_t spot_hour_ms;    /* how long an instance keeps a price */
	struct dist clean;       /* a machine's cleaning after its instance has ended */
	int64_t machine_lock_ms; /* how long a machine is locked by a change of its state */
	int64_t machines;        /* machines of an offer without a capacity */
	double flap;             /* probability that a list omits an instance */
	struct settings_globs boot_never, boot_fails, end_never; /* patterns of nodes or types */
	struct settings_globs image_broken;                      /* of images: as boot_never */
	struct settings_globs image_unknown; /* of images: a create from one is refused */
	struct settings_bucket bucket[OP_COUNT];
	struct settings_bucket bucket_items[OP_COUNT]; /* of the instances in them, beside it */
	struct settings_bucket bucket_any;             /* of all requests together */
	int64_t interfaces; /* network interfaces of an instance, where a face shows them */
	struct settings_offer offers[SETTINGS_OFFERS_MAX];
	unsigned noffers;
	json_t *doc; /* all settings given so far, merged */
};

void settings_init(struct settings *c); /* the defaults of docs/simcloud.md */
void settings_fini(struct settings *c);
/* -1: *c is unchanged. */
int settings_merge(struct settings *c, const json_t *change, struct err *e);
bool settings_glob(const struct settings_globs *g, const char *node, const char *type);

#endif
