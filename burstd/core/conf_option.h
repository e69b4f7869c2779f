/* conf_option.h - the options of burstd.conf: the tables by which they are read, printed, compared
 * and documented.
 *
 * A new option is one line of conf_options[] and one field of struct conf, conf_provider,
 * conf_pool, conf_offer, conf_budget or conf_alert; one that only a driver knows is a line of that
 * driver's table and a field of a struct of its own. */
#ifndef BURSTD_CONF_OPTION_H
#define BURSTD_CONF_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Before the name of a credential that systemd loads (LoadCredential= of the unit). */
#define CONF_CREDENTIAL "credential:"

/* The syntax of a value, and the type of its field. */
enum conf_option_type {
	CONF_NAME,     /* char *: letters, digits, '-', '_', '.' */
	CONF_WORD,     /* char *: printable, no spaces */
	CONF_TEXT,     /* char *: longer, likewise; "" when it may be empty and is */
	CONF_PHRASE,   /* char *: as CONF_TEXT, with blanks between its words */
	CONF_PATH,     /* char *: absolute; NULL when it may be empty and is */
	CONF_SECRET,   /* char *: likewise, of a file; or credential:NAME, until the file is read */
	CONF_PROGRAM,  /* char *: absolute path of a program; may not be empty */
	CONF_URL,      /* char *: http:// or https://; "" when it may be empty and is */
	CONF_LISTEN,   /* char *: loopback address:port, or "" */
	CONF_BIND,     /* char *: any address:port, or "" */
	CONF_FILE,     /* char *: absolute, or "" when it may be empty */
	CONF_LINE,     /* char *: words of a command line, or "" when it may be empty */
	CONF_NODES,    /* char *: a node list, expanded by conf_finish() */
	CONF_CURRENCY, /* char[4] */
	CONF_LEVEL,    /* int, enum log_level */
	CONF_MARKET,   /* bool: is it spot? */
	CONF_COUNT,    /* uint32_t, min to max */
	CONF_DURATION, /* int64_t, milliseconds, min to max */
	CONF_MONEY,    /* int64_t, nano-units; 0 when it may be empty and is, and only then */
	CONF_LIMIT,    /* int64_t, nano-units; 0 is 0 */
	CONF_DATE,     /* int64_t, ms: the midnight UTC at which a day begins; 0 when it is "" */
	CONF_USERS,    /* a list of users: struct conf_ids; not for conf_option_set() */
	CONF_GROUPS,   /* likewise of groups */
	CONF_ARGV,     /* char **, NULL-terminated: a command; conf_option_add_arg(); NULL: none */
	CONF_HOOK,     /* likewise, about a job */
	CONF_SIGNAL,   /* char *: a signal's name without SIG; "" when it may be empty and is */
	CONF_CODES,    /* char **, likewise: jurisdictions */
	CONF_CODE,     /* char *: a jurisdiction, capital letters */
	CONF_LINKS,    /* char *: core/interconnect.h; "" when it is */
	CONF_HARDWARE, /* char *: a node, by core/hardware.h; "" when it is */
	CONF_GRES,     /* char *: likewise its GRES */
	CONF_URLS,     /* char **, likewise: https://HOST[:PORT], without a path */
	CONF_HOSTS,    /* char **, likewise: HOST:PORT */
	CONF_NAMES,    /* char **, likewise: words of Slurm's or of this file */
	CONF_MAILS,    /* char **, likewise: mail addresses */
	CONF_PERCENTS, /* struct conf_percents: a list of numbers, min to max, increasing */
	CONF_SHARE,    /* uint32_t: a percent, min to max, as "20%"; 0 when it is "none" */
	CONF_ZONE,     /* char *: IANA name of a time zone, which a file's reader checks */
	CONF_PERIOD,   /* char *: core/period.h */
	CONF_CONTACT,  /* char *: printable ASCII; "" when it may be empty and is */
	CONF_MAIL,     /* char *: a mail address, NAME@DOMAIN; "" when it may be empty and is */
	CONF_ALERT_KIND, /* int, enum conf_alert_kind */
	CONF_ANYMARKET,  /* int, enum provider_market, or CONF_MARKET_ANY */
	CONF_EACH,       /* int, enum conf_each */
	CONF_RESERVE,    /* int, enum conf_reserve */
	CONF_UNKNOWN,    /* int, enum conf_unknown */
	CONF_AWAY,       /* int, enum conf_away */
	CONF_AUTH,       /* int, enum conf_auth */
	CONF_ATTEST,     /* int, enum conf_attest, or CONF_ATTEST_AUTO */
	CONF_MARKETS,    /* int, enum provider_market: these are one of a few words */
	CONF_POLICY,     /* int, enum conf_policy */
	CONF_GANG,       /* int, enum conf_gang */
	CONF_TO,         /* int, enum conf_checkpoint_to */
	CONF_REBALANCE,  /* int, enum conf_rebalance */
	CONF_BOOTSTRAP,  /* int, enum conf_bootstrap */
	CONF_RELEASE,    /* int, enum conf_release */
	CONF_YES,        /* int: 0 or 1, written false or true */
};

struct conf_option {
	const char *section; /* "" at top level, else as in the file: "slurm", "pool", ... */
	const char *name;
	const char *initial; /* the default, as in a file; NULL: required; "": may be empty */
	const char *help;    /* one line */
	bool reload;         /* may change in a running burstd */
	enum conf_option_type type;
	int64_t min, max; /* CONF_COUNT, CONF_DURATION, CONF_PERCENTS, CONF_SHARE */
	size_t offset;    /* of the field; "", "slurm", "secrets" and "nodes" are of struct conf */
};

extern const struct conf_option conf_options[];
extern const size_t conf_noptions;

/* The options of one driver, which stand in the section of a provider beside those of every
 * provider.  Their offsets are in a struct of the driver's own, which open() gets as
 * provider_conf.options; its texts and words may be const there. */
struct conf_driver {
	const char *name;                  /* driver = "name" in burstd.conf */
	const struct conf_option *options; /* section "provider"; no name of conf_options[] */
	size_t noptions;
	size_t size; /* of that struct; 0: there are no options */
	int attest;  /* enum conf_attest, for attest = auto; OFF: its machines have no user-data */
};

const struct conf_option *conf_option_find(const char *section, const char *name); /* or NULL */
/* Likewise of the options that only this driver has. */
const struct conf_option *conf_option_of(const struct conf_driver *d, const char *name);
/* The driver of that name in a table that ends with NULL, or NULL. */
const struct conf_driver *conf_driver_find(const struct conf_driver *const *drivers,
					   const char *name);
/* The name of an option or subsection of this section that is most similar to `name`, for "did you
 * mean"; never NULL. */
const char *conf_option_nearest(const char *section, const char *name,
				const struct conf_driver *const *drivers);

/* Check text and put its value into the field of `object`, the struct that holds the section; the
 * old value is freed.  -1: the field is unchanged and *e says what is wanted, without the option's
 * name. */
int conf_option_set(const struct conf_option *o, void *object, const char *text, struct err *e);
/* Append to a list.  CONF_ARGV: one more word of the command.  The first is an absolute path; in
 * the others %n is the node's name, %a its address and %% a percent sign.  CONF_HOOK: likewise with
 * %j, the job's id, and %d, a time in seconds since 1970, for %a.  CONF_CODES, CONF_URLS,
 * CONF_HOSTS, CONF_NAMES, CONF_MAILS, CONF_PERCENTS: one more.  -1: as conf_option_set(). */
int conf_option_add_arg(const struct conf_option *o, void *object, const char *text, struct err *e);
bool conf_option_is_list(const struct conf_option *o);
/* Append the value as conf_option_set() takes it, without quotes; a list with quotes. */
void conf_option_print(const struct conf_option *o, const void *object, struct str *out);
bool conf_option_same(const struct conf_option *o, const void *a, const void *b);
void conf_option_fini(const struct conf_option *o, void *object); /* release what the field holds */

#endif
