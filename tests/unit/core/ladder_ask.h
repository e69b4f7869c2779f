/* ladder_ask.h - jobs that ask a ladder of offers. */
#ifndef TESTS_LADDER_ASK_H
#define TESTS_LADDER_ASK_H

#include "ladder_conf.h"

enum { RES, SPOT, FAR, OD, US, NRUNGS };

static inline struct conf *five(void)
{
	struct conf *c = empty_conf();

	(void)add_offer(c->pools, "res", "aws", "eu-north-1", "reserved");
	(void)add_offer(c->pools, "spot", "aws", "eu-north-1", "spot");
	(void)add_offer(c->pools, "far", "lambda", "nowhere-1", "spot");
	(void)add_offer(c->pools, "od", "aws", "eu-west-1", "on-demand");
	(void)add_offer(c->pools, "us", "aws", "us-east-1", "on-demand");
	return c;
}

#endif
