#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "ledger/ascii.h"
#include "ledger/focus_private.h"

/* What has all nine decimals of a nano-unit; the rest are doubles. */
static bool is_exact(const struct focus_column *c)
{
	static const char *const names[] = {"BilledCost", "EffectiveCost", "x_ListCostExact"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(c->name, names[i]) == 0)
			return true;
	return false;
}

/* The names of the metadata are those of the format. */
static json_t *column(const struct focus_column *c)
{
	enum { DECIMALS = 9, DIGITS = 19 };
	json_t *j = mem_check(json_pack("{s:s, s:s}", "ColumnName", c->name, "DataType", c->type));

	if (is_exact(c)) {
		(void)json_object_set_new(j, "NumericPrecision", json_integer(DIGITS));
		(void)json_object_set_new(j, "NumberScale", json_integer(DECIMALS));
	}
	if (strcmp(c->type, "STRING") == 0)
		(void)json_object_set_new(j, "StringEncoding", json_string("ASCII"));
	if (strcmp(c->name, "Tags") == 0)
		(void)json_object_set_new(j, "ProviderTagPrefixes", json_pack("[s]", "burst/"));
	if (c->about[0] != '\0')
		(void)json_object_set_new(j, "x_Description", json_string(c->about));
	return j;
}

static void text(json_t *to, const char *name, const char *value)
{
	struct str s;

	str_init(&s, 1 << 16);
	ascii_name(&s, value);
	(void)json_object_set_new(to, name, json_string(s.p));
	str_fini(&s);
}

char *focus_metadata(const struct focus_options *o, int64_t created_s)
{
	static const char *const versions[] = {"1.2", "1.4"};
	struct focus_line l = {.o = o};
	json_t *j = mem_check(json_object()), *columns = mem_check(json_array());
	const struct focus_column *all[FOCUS_COLUMNS_MAX];
	const size_t n = focus_columns_of(o->version, all);
	char *out;

	str_init(&l.text, 1 << 16);
	text(j, "DataGenerator", "burstd");
	text(j, "DataGeneratorVersion", BURSTD_VERSION);
	text(j, "FocusVersion", versions[o->version]);
	text(j, "CreationDate", focus_time(&l, created_s));
	text(j, "SchemaId", o->version == FOCUS_1_2 ? "burstd-focus-1.2-1" : "burstd-focus-1.4-1");
	text(j, "x_View", o->view == FOCUS_INTERNAL ? "internal" : "provider");
	text(j, "x_ClusterName", o->cluster);
	text(j, "x_BillingPeriodStart", focus_time(&l, o->start_s));
	text(j, "x_BillingPeriodEnd", focus_time(&l, o->end_s));
	text(j, "x_Conformance",
	     o->version == FOCUS_1_2 ? "checked with the rules of FOCUS 1.2"
				     : "columns as in FOCUS 1.4; no rules of 1.4 were checked");
	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(columns, column(all[i]));
	(void)json_object_set_new(j, "ColumnDefinition", columns);
	out = mem_check(json_dumps(j, JSON_INDENT(2) | JSON_ENSURE_ASCII));
	json_decref(j);
	str_fini(&l.text);
	return out;
}
