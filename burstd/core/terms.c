#include "core/terms.h"

#include <inttypes.h>
#include <string.h>

#include "base/fmt.h"

struct provider_terms terms_known(const struct provider_ops *ops, const void *self,
				  const struct provider_place *place)
{
	return ops->terms != NULL ? ops->terms(self, place) : (struct provider_terms){0};
}

int terms_take_data(const struct provider_terms *t, const char *text, struct err *e)
{
	const size_t n = text != NULL ? strlen(text) : 0;

	if (n == 0)
		return 0;
	if (t->data == PROVIDER_DATA_NONE)
		return err_set(e, ERR_INVALID,
			       "its machines get no user-data: they would never run it");
	if (t->data_max != 0 && n > t->data_max)
		return err_set(e, ERR_LIMIT,
			       "the user-data has %zu bytes, and the provider takes at most "
			       "%" PRIu32,
			       n, t->data_max);
	if (t->data == PROVIDER_DATA_SCRIPT && strncmp(text, "#!", 2) != 0)
		return err_set(e, ERR_INVALID,
			       "the user-data must be a script that begins with \"#!\": the "
			       "provider takes no other");
	return 0;
}

int terms_boot(const struct provider_terms *t, struct err *e)
{
	if (t->data != PROVIDER_DATA_NONE || t->own_image)
		return 0;
	return err_set(e, ERR_INVALID,
		       "its machines get no user-data, and no image of yours: nothing would make "
		       "them nodes");
}

const char *terms_data_str(enum provider_data data)
{
	static const char *const words[] = {
		[PROVIDER_DATA_UNSAID] = "",
		[PROVIDER_DATA_NONE] = "none",
		[PROVIDER_DATA_SCRIPT] = "script",
		[PROVIDER_DATA_ANY] = "cloud-init",
	};

	return words[data];
}

const char *terms_stock_str(enum provider_stock stock)
{
	static const char *const words[] = {
		[PROVIDER_STOCK_UNSAID] = "",
		[PROVIDER_STOCK_NONE] = "none",
		[PROVIDER_STOCK_SOME] = "some",
	};

	return words[stock];
}

void terms_print(const struct provider_terms *t, struct str *out)
{
	char text[FMT_DUR_SIZE];

	if (t->quantum_ms != 0)
		str_addf(out, "; billed in steps of %s", fmt_duration(text, t->quantum_ms));
	if (t->minimum_ms > 0)
		str_addf(out, "; at least %s %s billed", fmt_duration(text, t->minimum_ms),
			 t->minimum_ms == 1000 ? "is" : "are");
	else if (t->minimum_ms == PROVIDER_NO_MINIMUM)
		str_adds(out, "; no minimum rental");
	if (t->data == PROVIDER_DATA_NONE)
		str_adds(out, "; no user-data");
	else if (t->data != PROVIDER_DATA_UNSAID)
		str_addf(out, "; user-data: %s", terms_data_str(t->data));
	if (t->data_max != 0)
		str_addf(out, "%s of at most %" PRIu32 " bytes",
			 t->data == PROVIDER_DATA_UNSAID ? "; user-data" : "", t->data_max);
	if (t->interconnect[0] != '\0')
		str_addf(out, "; interconnect: %s", t->interconnect);
}
