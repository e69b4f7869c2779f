/* check_cloud_private.h - what check_cloud.c, which judges a provider, and check_cloud_ask.c, which
 * asks it, share.  Only these include this header. */
#ifndef BURSTD_CHECK_CLOUD_PRIVATE_H
#define BURSTD_CHECK_CLOUD_PRIVATE_H

#include "core/conf.h"
#include "core/provider.h"

enum { CHECK_CLOUD_WORDS = 256 };

struct check_cloud_answer { /* of one operation, all of its requests */
	enum provider_code code;
	char words[CHECK_CLOUD_WORDS]; /* the provider's, or why there is no answer; "" if it is OK
					*/
	bool answered;                 /* something came back from the provider */
};

struct check_cloud {
	const struct conf *conf;
	const struct conf_provider *provider;
	const struct provider_ops *ops;
	void *self;          /* of the driver */
	const char *cluster; /* the uuid to ask for */
	struct check_cloud_answer login, list, quotes;
	bool has_login;
	size_t ntypes;    /* that pools buy there; 0: quotes were not asked for */
	size_t instances; /* of the cluster, that have not ended */
	int64_t ahead_ms; /* how far the provider's clock is ahead of ours; 0: not known, or hardly
			   */
	struct provider_quote *quoted; /* the caller's: free() */
	size_t nquoted;
};

/* Ask for all of it.  Each request has the provider's timeout, and so have the pauses between the
 * requests of one operation. */
void check_cloud_ask(struct check_cloud *c);

#endif
