/* export_usage.h - usage of a period by account and user, for the portals where accounts come from.
 *
 * Waldur (site agent): component usage of each resource and of each of its users.  ColdFront: usage
 * of an allocation's attribute.  Amounts are decimal texts of the currency's places and hours of
 * two, rounded so that users add up to their account. */
#ifndef BURSTD_LEDGER_EXPORT_USAGE_H
#define BURSTD_LEDGER_EXPORT_USAGE_H

#include "ledger/sink.h"
#include "ledger/tally.h"

struct export_usage {
	const char *currency;
	int64_t start_s; /* of the period: the date of the usage */
	/* Waldur's types of component; NULL: that one is not reported. */
	const char *cost_component, *gpu_component;
	/* ColdFront's name of the attribute: "Cloud Budget (EUR)". */
	const char *attribute;
};

/* {"date": ..., "resources": [{"account": ..., "usages": [{"type": ..., "amount": ...}], "users":
 * [{"username": ..., "usages": [...]}]}]}, by account and user; account is the backend id of the
 * resource, and each list of usages is set_usage's, or of a user set_user_usage's.  Direct cost
 * alone.  -1: a charge of another currency, too many users, or the sink failed. */
int export_waldur(const struct export_usage *o, const struct source *from, const struct sink *to,
		  struct err *e);
/* [{"slurm_account_name": ..., "attribute": ..., "usage": ...}], by account: what it was charged,
 * its part of the overhead included if that is distributed. */
int export_coldfront(const struct export_usage *o, const struct tally *t, const struct sink *to,
		     struct err *e);

#endif
