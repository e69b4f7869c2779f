/* What is reported by. */
#include <string.h>

#include "ledger/report.h"

static const char *const names[REPORT_NKEYS] = {
	"account", "user",     "partition", "qos", "wckey", "provider", "market", "pool",
	"type",    "currency", "class",     "day", "month", "job",      "node"};

const char *report_key_str(enum report_key k)
{
	return names[k];
}

int report_parse(struct report_want *w, const char *text, struct err *e)
{
	w->n = 0;
	while (*text != '\0') {
		size_t len = strcspn(text, ","), k = 0;

		while (k < REPORT_NKEYS &&
		       (strncmp(names[k], text, len) != 0 || names[k][len] != '\0'))
			k++;
		if (k == REPORT_NKEYS)
			return err_set(e, ERR_INVALID,
				       "cannot report by \"%.*s\"; want account, user, partition, "
				       "qos, wckey, provider, market, pool, type, class, day, "
				       "month, job or node",
				       (int)(len < 40 ? len : 40), text);
		for (size_t i = 0; i < w->n; i++)
			if (w->keys[i] == k)
				return err_set(e, ERR_INVALID, "%s: named twice", names[k]);
		if (w->n == REPORT_KEYS_MAX - 1)
			return err_set(e, ERR_INVALID, "at most %d words to report by",
				       REPORT_KEYS_MAX - 1);
		if (k != REPORT_CURRENCY)
			w->keys[w->n++] = (enum report_key)k;
		text += len;
		text += *text == ',';
	}
	w->keys[w->n++] = REPORT_CURRENCY;
	return 0;
}
