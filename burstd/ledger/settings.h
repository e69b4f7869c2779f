/* settings.h - burst-ledger's options, and what burstd.conf says that the ledger needs. */
#ifndef BURSTD_LEDGER_SETTINGS_H
#define BURSTD_LEDGER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"

struct settings {         /* the options, as given; texts are borrowed from argv; NULL: not given */
	const char *file; /* --case */
	const char *config, *journal, *ledger, *by, *from, *to, *period, *user, *socket;
	const char *output, *currency, *focus, *view; /* export */
	const char *cost_component, *gpu_component, *attribute, *pseudonymise;
	const char *reason, *allow;                               /* period */
	const char *provider, *format, *invoice, *total, *shared; /* invoice */
	int64_t interval_ms;
	bool distribute, partial, dry_run, spreadsheet, json, csv, explain, check, help, version;
};

extern const struct opt settings_options[];
extern const size_t settings_noptions;

struct conf;

struct site {              /* what the ledger is about */
	struct conf *conf; /* NULL: none was read */
	char *journal, *ledger;
};

/* Read burstd.conf, and find out where the files are.  needed: without burstd.conf it is an error;
 * else the files may be where they are by default.  -1: *e. */
int site_init(struct site *site, const struct settings *s, bool needed, struct err *e);
void site_fini(struct site *site);

struct conf_provider;
/* The account or project at the cloud that the provider's section names: the caller's (free()); "":
 * it names none. */
char *site_account(const struct conf_provider *p);

#endif
