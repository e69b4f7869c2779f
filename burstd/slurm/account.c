#include "slurm/account.h"

#include <string.h>

#include "slurm/show.h"

/* "phys(3)" without its number. */
static struct slurm_text bare(struct slurm_text t)
{
	const char *bracket = t.n > 0 ? memchr(t.p, '(', t.n) : NULL;

	if (bracket != NULL)
		t.n = (size_t)(bracket - t.p);
	return t;
}

size_t slurm_account_parse(const char *text, size_t len, slurm_account_fn fn, void *ctx)
{
	struct slurm_text rest = {text, len}, line;
	size_t n = 0;

	while (slurm_show_cut(&rest, '\n', &line)) {
		struct slurm_text account = slurm_show_word(line, "Account");
		struct slurm_text user = slurm_show_word(line, "UserName");
		struct slurm_text parent = bare(slurm_show_word(line, "ParentAccount"));

		n += account.n > 0;
		if (account.n > 0 && user.p != NULL && user.n == 0 && parent.n > 0)
			fn(ctx, account, parent);
	}
	return n;
}
