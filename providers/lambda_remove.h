/* lambda_remove.h - for lambda.c: terminates many instances, some of which Lambda may not know or
 * cannot end now.
 *
 * One such id makes the whole call fail, and the answer does not say which.  So a part is asked
 * for, half as long after each such failure and twice as long after a success, until each id has an
 * answer of its own: at worst in about two requests for each.  What is known is in the cursor:
 * "SIZE:LETTERS", a letter for each id from the first on, and how many to ask for next. */
#ifndef PROVIDERS_LAMBDA_REMOVE_H
#define PROVIDERS_LAMBDA_REMOVE_H

#include "providers/common/rest.h"

enum { LAMBDA_REMOVE_MAX = 64 }; /* no limit is documented */

/* Write the body of the next request; -1: there can be none. */
int lambda_remove_build(struct rest_call *c, const struct provider_op *op, struct err *e);
void lambda_remove_parse(const struct rest *r, const struct provider_op *op,
			 const struct provider_reply *reply, struct provider_result *out);

#endif
