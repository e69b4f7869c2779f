#include "core/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

void provider_request_fini(struct provider_request *r)
{
	free(r->url);
	for (size_t i = 0; i < PROVIDER_HEADERS_MAX && r->headers[i] != NULL; i++) {
		explicit_bzero(r->headers[i],
			       strlen(r->headers[i])); /* one carries the credential */
		free(r->headers[i]);
	}
	for (size_t i = 0; r->argv != NULL && r->argv[i] != NULL; i++)
		free(r->argv[i]);
	free(r->argv);
	if (r->body != NULL) /* a create's user-data has secrets of claims */
		explicit_bzero(r->body, r->body_len);
	free(r->body);
	*r = (struct provider_request){0};
}

void provider_result_fini(struct provider_result *r)
{
	free(r->items);
	free(r->instances);
	free(r->failures);
	free(r->quotes);
	secret_wipe(&r->session);
	free(r->notices);
	free(r->ended);
	free(r->ack);
	free(r->fabrics);
	free(r->paths);
	secret_wipe(&r->console);
	*r = (struct provider_result){0};
}

int provider_path_add(struct provider_path *p, const char *name)
{
	size_t had = strlen(p->path), more = strlen(name);

	for (const char *at = name; *at != '\0'; at++)
		if (*at <= ' ' || *at > '~' || *at == '/')
			return -1;
	if (more == 0 || had + (had > 0) + more > PROVIDER_PATH_MAX)
		return -1;
	if (had > 0)
		p->path[had++] = '/';
	memcpy(p->path + had, name, more + 1);
	return 0;
}

const char *provider_code_str(enum provider_code c)
{
	static const char *const words[PROVIDER_NCODES] = {
		[PROVIDER_OK] = "ok",
		[PROVIDER_CAPACITY] = "capacity",
		[PROVIDER_QUOTA] = "quota",
		[PROVIDER_DENIED] = "denied",
		[PROVIDER_INVALID] = "invalid",
		[PROVIDER_NOT_FOUND] = "not-found",
		[PROVIDER_CONFLICT] = "conflict",
		[PROVIDER_NOT_YET] = "not-yet",
		[PROVIDER_RATE] = "rate",
		[PROVIDER_TRANSIENT] = "transient",
		[PROVIDER_AMBIGUOUS] = "ambiguous",
		[PROVIDER_MORE] = "more",
	};

	return (unsigned)c < PROVIDER_NCODES ? words[c] : "?";
}

const char *provider_op_str(enum provider_op_kind k)
{
	static const char *const words[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = "create",
		[PROVIDER_LIST] = "list",
		[PROVIDER_DELETE] = "delete",
		[PROVIDER_QUOTES] = "quotes",
		[PROVIDER_LOGIN] = "login",
		[PROVIDER_NOTICES] = "notices",
		[PROVIDER_FABRIC_MAKE] = "fabric-make",
		[PROVIDER_FABRIC_LIST] = "fabric-list",
		[PROVIDER_FABRIC_DROP] = "fabric-drop",
		[PROVIDER_REPORT] = "report",
		[PROVIDER_CONSOLE] = "console",
		[PROVIDER_TOPOLOGY] = "topology",
		[PROVIDER_STEP] = "step",
	};

	return (unsigned)k < PROVIDER_NOPS ? words[k] : "?";
}

const char *provider_notice_str(enum provider_notice_kind k)
{
	static const char *const words[PROVIDER_NNOTICES] = {
		[PROVIDER_NOTICE_RECLAIM] = "reclaim",
		[PROVIDER_NOTICE_REBALANCE] = "rebalance",
		[PROVIDER_NOTICE_MAINTENANCE] = "maintenance",
		[PROVIDER_NOTICE_FAULTY] = "faulty",
	};

	return (unsigned)k < PROVIDER_NNOTICES ? words[k] : "?";
}

int provider_notice_parse(const char *word, enum provider_notice_kind *k)
{
	for (int i = 0; i < PROVIDER_NNOTICES; i++)
		if (strcmp(word, provider_notice_str((enum provider_notice_kind)i)) == 0) {
			*k = (enum provider_notice_kind)i;
			return 0;
		}
	return -1;
}

const char *provider_market_str(enum provider_market m)
{
	static const char *const words[PROVIDER_NMARKETS] = {
		[PROVIDER_ON_DEMAND] = "on-demand",
		[PROVIDER_SPOT] = "spot",
		[PROVIDER_RESERVED] = "reserved",
	};

	return (unsigned)m < PROVIDER_NMARKETS ? words[m] : "?";
}

bool provider_says_prices(const struct provider_caps *c, enum provider_market market,
			  const char *currency)
{
	return c->spot_prices == NULL ||
	       (market == PROVIDER_SPOT && strcmp(c->spot_prices, currency) == 0);
}

int provider_market_parse(const char *word, enum provider_market *m)
{
	for (int i = 0; i < PROVIDER_NMARKETS; i++)
		if (strcmp(word, provider_market_str((enum provider_market)i)) == 0) {
			*m = (enum provider_market)i;
			return 0;
		}
	return -1;
}
