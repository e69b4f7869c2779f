#include "ledger/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/str.h"
#include "core/conf.h"
#include "core/conf_option.h"
#include "io/conf_file.h"
#include "providers/options.h"

enum { PATH_MAX_BYTES = 4096 };

#define AT(field) offsetof(struct settings, field), 0, 0

const struct opt settings_options[] = {
	{"allow", 0, OPT_TEXT, "WORDS",
	 "period close: although there are such instances: unpriced, unsettled, unended, "
	 "quarantined",
	 AT(allow)},
	{"attribute", 0, OPT_TEXT, "NAME",
	 "export coldfront: of an allocation (default \"Cloud Budget (EUR)\")", AT(attribute)},
	{"by", 0, OPT_TEXT, "WORDS",
	 "report: sum by these, separated by commas: account user partition qos wckey provider "
	 "market pool type class day month job node",
	 AT(by)},
	{"case", 0, OPT_TEXT, "FILE", "print what the records of this file come to, and exit",
	 AT(file)},
	{"check", 0, OPT_FLAG, NULL, "rebuild: compare, and write nothing", AT(check)},
	{"config", 'c', OPT_TEXT, "FILE", "burstd's configuration (default " PATHS_CONF ")",
	 AT(config)},
	{"cost-component", 0, OPT_TEXT, "TYPE", "export waldur: of the cost (default cost)",
	 AT(cost_component)},
	{"csv", 0, OPT_FLAG, NULL, "report: as comma-separated values", AT(csv)},
	{"currency", 0, OPT_TEXT, "CODE", "export: of the charges (default: burstd.conf's)",
	 AT(currency)},
	{"distribute", 0, OPT_FLAG, NULL,
	 "export statement, xlsx, coldfront: what no job caused, over the accounts",
	 AT(distribute)},
	{"dry-run", 0, OPT_FLAG, NULL,
	 "invoice import: say what it would change, and change nothing", AT(dry_run)},
	{"explain", 0, OPT_FLAG, NULL, "job: with the arithmetic of each piece", AT(explain)},
	{"focus", 0, OPT_TEXT, "VERSION", "export focus: 1.2 or 1.4 (default 1.2)", AT(focus)},
	{"format", 0, OPT_TEXT, "WORD", "invoice import: plain, focus or cur (default plain)",
	 AT(format)},
	{"from", 0, OPT_TEXT, "DAY", "report, export: the first day, such as 2026-03-29", AT(from)},
	{"gpu-component", 0, OPT_TEXT, "TYPE", "export waldur: of GPU hours (default gpu_hours)",
	 AT(gpu_component)},
	{"help", 'h', OPT_FLAG, NULL, "show this help, and exit", AT(help)},
	{"interval", 'i', OPT_DURATION, "TIME", "run: time between two passes (default 60s)",
	 offsetof(struct settings, interval_ms), 1000, 86400000},
	{"invoice", 0, OPT_TEXT, "ID",
	 "invoice import: the provider's number of it; lines of others are left out", AT(invoice)},
	{"journal", 'j', OPT_TEXT, "FILE", "burstd's journal (default: in its state_dir)",
	 AT(journal)},
	{"json", 0, OPT_FLAG, NULL, "report, job, status, period, invoice: as JSON", AT(json)},
	{"ledger", 'l', OPT_TEXT, "FILE", "the ledger (default: ledger.db beside the journal)",
	 AT(ledger)},
	{"output", 'o', OPT_TEXT, "FILE", "export: write it there", AT(output)},
	{"partial", 0, OPT_FLAG, NULL,
	 "invoice import: instances that are not on it are on another, and stay as counted",
	 AT(partial)},
	{"period", 'p', OPT_TEXT, "MONTH", "report, export, invoice: that month, such as 2026-03",
	 AT(period)},
	{"provider", 0, OPT_TEXT, "NAME", "invoice import: whose it is, as in burstd.conf",
	 AT(provider)},
	{"pseudonymise", 0, OPT_TEXT, "FILE",
	 "export: users are pseudonyms by the key in this file, and jobs have no names",
	 AT(pseudonymise)},
	{"reason", 0, OPT_TEXT, "TEXT", "period close, reopen: why; it is kept", AT(reason)},
	{"shared", 0, OPT_TEXT, "RULE",
	 "invoice import: whose what is of no machine is, by account: even, proportional, none "
	 "(default none: nobody's)",
	 AT(shared)},
	{"socket", 0, OPT_TEXT, "PATH",
	 "run: where burstctl asks for reports (default " PATHS_LEDGER_SOCKET ")", AT(socket)},
	{"spreadsheet", 0, OPT_FLAG, NULL, "export focus: CSV that spreadsheets take for UTF-8",
	 AT(spreadsheet)},
	{"to", 0, OPT_TEXT, "DAY", "report, export: the last day", AT(to)},
	{"total", 0, OPT_TEXT, "AMOUNT",
	 "invoice import: what it comes to, if cents were rounded (default: the sum of its lines)",
	 AT(total)},
	{"user", 'u', OPT_TEXT, "USER", "report, job: only what this user's jobs cost", AT(user)},
	{"version", 'V', OPT_FLAG, NULL, "show the version, and exit", AT(version)},
	{"view", 0, OPT_TEXT, "WORD",
	 "export focus: provider or internal, where Slurm's accounts are billed (default provider)",
	 AT(view)},
};
const size_t settings_noptions = sizeof(settings_options) / sizeof(settings_options[0]);

static char *path_in(const char *dir, const char *name)
{
	struct str s;

	str_init(&s, PATH_MAX_BYTES);
	str_addf(&s, "%s/%s", dir, name);
	return str_take(&s);
}

int site_init(struct site *site, const struct settings *s, bool needed, struct err *e)
{
	const char *config = s->config != NULL ? s->config : PATHS_CONF, *dir = PATHS_STATE;
	const bool asked = needed || s->config != NULL;
	struct err why;

	*site = (struct site){0};
	if ((asked || s->ledger == NULL) &&
	    conf_file_load(&site->conf, config, provider_options, &why) < 0) {
		site->conf = NULL;
		if (asked)
			return err_set(e, (enum err_code)why.code, "%s", why.msg);
	}
	if (site->conf != NULL)
		dir = site->conf->state_dir;
	site->journal = s->journal != NULL ? mem_strdup(s->journal) : path_in(dir, "journal.db");
	site->ledger = s->ledger != NULL ? mem_strdup(s->ledger) : path_in(dir, "ledger.db");
	return 0;
}

void site_fini(struct site *site)
{
	conf_free(site->conf);
	free(site->journal);
	free(site->ledger);
	*site = (struct site){0};
}

char *site_account(const struct conf_provider *p)
{
	const struct conf_driver *d = conf_driver_find(provider_options, p->driver);
	const struct conf_option *o = d != NULL ? conf_option_of(d, "project") : NULL;
	struct str s;

	str_init(&s, PATH_MAX_BYTES);
	if (o != NULL && p->own != NULL)
		conf_option_print(o, p->own, &s);
	return str_take(&s);
}
