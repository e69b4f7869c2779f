/* The columns of the format itself, each a function of a few lines; which of them may be null, and
 * when, is the format's rule. */
#include <string.h>
#include <strings.h>

#include "ledger/ascii.h"
#include "ledger/focus_private.h"
#include "ledger/number.h"

static const double HOUR_S = 3600;

/* Readers guess the type of a column by its values: a site whose accounts are all numbers would
 * have a column of numbers, where the format wants texts. */
static bool is_guessed(const char *text)
{
	static const char *const words[] = {"true", "false", "null", "invalid", "nan", "inf"};

	if (text[strspn(text, "+-.:0123456789eETZ ")] == '\0')
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

/* A name for people; null if it is blank.  what: the word before a name that is a mere number. */
static void name(struct focus_line *l, struct csv *out, const char *what, const char *text)
{
	if (text[strspn(text, " ")] == '\0') {
		csv_null(out);
		return;
	}
	focus_clear(l);
	if (is_guessed(text))
		str_addf(&l->text, "%s ", what);
	ascii_name(&l->text, text);
	csv_text(out, l->text.p);
}

static void real(struct csv *out, double v)
{
	char text[NUMBER_REAL_SIZE];

	csv_own(out, number_real(text, v));
}

static void own_if(struct csv *out, bool is, const char *text)
{
	if (is)
		csv_own(out, text);
	else
		csv_null(out);
}

static bool has_resource(const struct focus_line *l)
{
	return l->c->instance[0] != '\0';
}

/* Of the invoice, for no machine. */
static bool is_shared(const struct focus_line *l)
{
	return l->c->class >= ALLOCATE_SHARED && !has_resource(l);
}

static bool has_sku(const struct focus_line *l)
{
	return l->category == FOCUS_USAGE;
}

const char *focus_category_str(enum focus_category c)
{
	static const char *const words[] = {"Usage", "Credit", "Adjustment", "Tax"};

	return words[c];
}

static void billing_account_id(struct focus_line *l, struct csv *out)
{
	csv_own(out, focus_billing_account(l));
}

static void billing_account_name(struct focus_line *l, struct csv *out)
{
	name(l, out, "account",
	     l->o->view == FOCUS_INTERNAL           ? l->o->cluster
	     : l->provider->account_name[0] != '\0' ? l->provider->account_name
						    : l->c->provider);
}

static void billing_currency(struct focus_line *l, struct csv *out)
{
	csv_own(out, l->o->currency);
}

static void billing_period_start(struct focus_line *l, struct csv *out)
{
	csv_own(out, focus_time(l, l->o->start_s));
}

static void billing_period_end(struct focus_line *l, struct csv *out)
{
	csv_own(out, focus_time(l, l->o->end_s));
}

static void charge_period_start(struct focus_line *l, struct csv *out)
{
	csv_own(out, focus_time(l, l->row->start_s));
}

/* It is exclusive, so it is later. */
static void charge_period_end(struct focus_line *l, struct csv *out)
{
	const struct focus_row *r = l->row;

	csv_own(out, focus_time(l, r->end_s > r->start_s ? r->end_s : r->start_s + 1));
}

static void charge_category(struct focus_line *l, struct csv *out)
{
	csv_own(out, focus_category_str(l->category));
}

static void charge_class(struct focus_line *l, struct csv *out)
{
	own_if(out, l->correction, "Correction");
}

static void charge_description(struct focus_line *l, struct csv *out)
{
	const struct charge *c = l->c;

	focus_clear(l);
	if (is_shared(l)) { /* type: its name on the invoice */
		str_addf(&l->text, "%s: ", allocate_class_str(c->class));
		ascii_name(&l->text, c->type);
		csv_text(out, l->text.p);
		return;
	}
	str_adds(&l->text, c->invoiced ? "adjustment to the invoice"
			   : c->adjust ? "late correction"
				       : allocate_class_str(c->class));
	if (c->credit)
		str_adds(&l->text, " (given back)");
	str_adds(&l->text, " of ");
	if (c->owner == ALLOCATE_JOB) {
		str_adds(&l->text, "job ");
		ascii_name(&l->text, c->job_id);
	} else {
		str_adds(&l->text, c->owner == ALLOCATE_POOL ? "pool " : "cluster ");
		ascii_name(&l->text, c->owner == ALLOCATE_POOL ? c->pool : c->cluster);
	}
	if (has_resource(l)) {
		str_adds(&l->text, " on ");
		ascii_name(&l->text, c->node[0] != '\0' ? c->node : c->instance);
	}
	csv_own(out, l->text.p);
}

static void charge_frequency(struct focus_line *l, struct csv *out)
{
	csv_own(out, l->category == FOCUS_USAGE ? "Usage-Based" : "One-Time");
}

static void billed_cost(struct focus_line *l, struct csv *out)
{
	csv_money(out, l->row->nano, true);
}

/* What its readers compute: the product of the two columns as printed, in binary. */
static void list_cost(struct focus_line *l, struct csv *out)
{
	if (l->category == FOCUS_USAGE)
		real(out, l->price * l->quantity);
	else
		csv_money(out, l->row->nano, true);
}

static void list_unit_price(struct focus_line *l, struct csv *out)
{
	if (l->category == FOCUS_USAGE)
		real(out, l->price);
	else
		csv_null(out);
}

static void pricing_category(struct focus_line *l, struct csv *out)
{
	/* A reservation is no commitment discount with an id, which "Committed" would need. */
	static const char *const words[] = {"Standard", "Dynamic", "Other"};

	own_if(out, l->category == FOCUS_USAGE, words[l->c->market]);
}

static void pricing_quantity(struct focus_line *l, struct csv *out)
{
	if (l->category == FOCUS_USAGE)
		real(out, l->quantity);
	else
		csv_null(out);
}

static void pricing_unit(struct focus_line *l, struct csv *out)
{
	own_if(out, l->category == FOCUS_USAGE, "Hours");
}

static void consumed_quantity(struct focus_line *l, struct csv *out)
{
	if (l->category != FOCUS_USAGE)
		csv_null(out);
	else
		real(out, (double)(l->c->gpus > 0 ? l->row->gpu_s : l->row->cpu_s) / HOUR_S);
}

static void consumed_unit(struct focus_line *l, struct csv *out)
{
	own_if(out, l->category == FOCUS_USAGE, l->c->gpus > 0 ? "GPU-Hours" : "CPU-Hours");
}

static void host_name(struct focus_line *l, struct csv *out)
{
	csv_own(out, l->driver->name);
}

static void provider_name(struct focus_line *l, struct csv *out)
{
	if (l->o->view == FOCUS_PROVIDER) {
		host_name(l, out);
		return;
	}
	focus_clear(l);
	ascii_name(&l->text, l->o->cluster);
	str_adds(&l->text, " burst");
	csv_text(out, l->text.p);
}

const char *focus_invoice(struct focus_line *l, const char *number)
{
	focus_clear(l);
	if (is_guessed(number))
		str_adds(&l->text, "invoice:");
	ascii_id(&l->text, number);
	return l->text.p;
}

/* It is the cloud's; inside a house nobody has written one. */
static void invoice_id(struct focus_line *l, struct csv *out)
{
	const char *id = l->o->invoice;

	if (id[0] == '\0' && l->o->view == FOCUS_PROVIDER && l->provider->invoice != NULL)
		id = l->provider->invoice;
	own_if(out, id[0] != '\0', focus_invoice(l, id));
}

static void region_id(struct focus_line *l, struct csv *out)
{
	name(l, out, "region", l->c->region);
}

static void availability_zone(struct focus_line *l, struct csv *out)
{
	name(l, out, "zone", l->c->zone);
}

static void resource_id(struct focus_line *l, struct csv *out)
{
	own_if(out, has_resource(l), has_resource(l) ? focus_resource(l) : "");
}

static void resource_name(struct focus_line *l, struct csv *out)
{
	name(l, out, "node",
	     !has_resource(l)        ? ""
	     : l->c->node[0] != '\0' ? l->c->node
				     : l->c->instance);
}

static void resource_type(struct focus_line *l, struct csv *out)
{
	own_if(out, has_resource(l), l->c->gpus > 0 ? "GPU Instance" : "Instance");
}

static void service_category(struct focus_line *l, struct csv *out)
{
	csv_own(out, is_shared(l) ? "Other" : "Compute");
}

static void service_subcategory(struct focus_line *l, struct csv *out)
{
	csv_own(out, is_shared(l) ? "Other (Other)" : "Virtual Machines");
}

static void service_name(struct focus_line *l, struct csv *out)
{
	if (is_shared(l)) {
		csv_own(out, "Shared Costs");
		return;
	}
	csv_own(out, l->o->view == FOCUS_INTERNAL ? "Burst GPU Nodes" : l->driver->service);
}

/* Usage must have one; machines of one's own may have no type. */
static void sku(struct focus_line *l)
{
	str_addf(&l->text, "%s:", l->driver->driver);
	ascii_id(&l->text, l->c->type[0] != '\0' ? l->c->type : "machine");
}

static void sku_id(struct focus_line *l, struct csv *out)
{
	focus_clear(l);
	sku(l);
	own_if(out, has_sku(l), l->text.p);
}

static void sku_price_id(struct focus_line *l, struct csv *out)
{
	focus_clear(l);
	sku(l);
	str_adds(&l->text, "/");
	ascii_id(&l->text, l->c->region);
	str_adds(&l->text, "/");
	str_adds(&l->text, provider_market_str(l->c->market));
	own_if(out, has_sku(l), l->text.p);
}

static void sku_meter(struct focus_line *l, struct csv *out)
{
	own_if(out, has_sku(l), "Instance Hours");
}

static void sku_price_details(struct focus_line *l, struct csv *out)
{
	enum { GIB_MB = 1024 };
	char text[NUMBER_REAL_SIZE];

	focus_clear(l);
	str_adds(&l->text, "{");
	if (l->c->cpus > 0)
		str_addf(&l->text, "\"CoreCount\":%u,\"GpuCount\":%u,", l->c->cpus, l->c->gpus);
	if (l->c->type[0] != '\0') {
		str_adds(&l->text, "\"InstanceType\":");
		ascii_json(&l->text, l->c->type);
		str_adds(&l->text, ",");
	}
	if (l->c->memory_mb > 0)
		str_addf(&l->text, "\"MemorySize\":%s,",
			 number_real(text, (double)l->c->memory_mb / GIB_MB));
	str_adds(&l->text, "\"OperatingSystem\":\"Linux\"}");
	own_if(out, has_sku(l), l->text.p);
}

static void sub_account_id(struct focus_line *l, struct csv *out)
{
	if (l->o->view == FOCUS_PROVIDER) {
		billing_account_id(l, out);
		return;
	}
	focus_clear(l);
	str_adds(&l->text, "account:");
	ascii_id(&l->text, l->c->account);
	csv_own(out, l->c->account[0] != '\0' ? l->text.p : "overhead");
}

static void sub_account_name(struct focus_line *l, struct csv *out)
{
	if (l->o->view == FOCUS_PROVIDER)
		billing_account_name(l, out);
	else
		name(l, out, "account", l->c->account[0] != '\0' ? l->c->account : "overhead");
}

static void tags(struct focus_line *l, struct csv *out)
{
	focus_clear(l);
	str_adds(&l->text, "{\"burst/cluster\":");
	ascii_json(&l->text, l->o->cluster);
	str_adds(&l->text, ",\"burst/node\":");
	ascii_json(&l->text, l->c->node);
	str_adds(&l->text, ",\"burst/pool\":");
	ascii_json(&l->text, l->c->pool);
	str_adds(&l->text, "}");
	own_if(out, has_resource(l), l->text.p);
}

#define TEXT    "STRING"
#define DECIMAL "DECIMAL"
#define TIME    "DATETIME"

const struct focus_column focus_columns[] = {
	{"BillingAccountId", FOCUS_BOTH, TEXT, "", billing_account_id},
	{"BillingAccountName", FOCUS_BOTH, TEXT, "", billing_account_name},
	{"BillingCurrency", FOCUS_BOTH, TEXT, "", billing_currency},
	{"BillingPeriodStart", FOCUS_BOTH, TIME, "", billing_period_start},
	{"BillingPeriodEnd", FOCUS_BOTH, TIME, "", billing_period_end},
	{"ChargePeriodStart", FOCUS_BOTH, TIME, "", charge_period_start},
	{"ChargePeriodEnd", FOCUS_BOTH, TIME, "", charge_period_end},
	{"ChargeCategory", FOCUS_BOTH, TEXT, "", charge_category},
	{"ChargeClass", FOCUS_BOTH, TEXT, "", charge_class},
	{"ChargeDescription", FOCUS_BOTH, TEXT, "", charge_description},
	{"ChargeFrequency", FOCUS_BOTH, TEXT, "", charge_frequency},
	{"BilledCost", FOCUS_BOTH, DECIMAL, "", billed_cost},
	{"EffectiveCost", FOCUS_BOTH, DECIMAL, "", billed_cost},
	{"ListCost", FOCUS_BOTH, DECIMAL, "", list_cost},
	{"ContractedCost", FOCUS_BOTH, DECIMAL, "", list_cost},
	{"ListUnitPrice", FOCUS_BOTH, DECIMAL, "", list_unit_price},
	{"PricingCategory", FOCUS_BOTH, TEXT, "", pricing_category},
	{"PricingQuantity", FOCUS_BOTH, DECIMAL, "", pricing_quantity},
	{"PricingUnit", FOCUS_BOTH, TEXT, "", pricing_unit},
	{"ConsumedQuantity", FOCUS_BOTH, DECIMAL, "", consumed_quantity},
	{"ConsumedUnit", FOCUS_BOTH, TEXT, "", consumed_unit},
	{"ProviderName", FOCUS_OLD, TEXT, "", provider_name},
	{"PublisherName", FOCUS_OLD, TEXT, "", provider_name},
	{"ServiceProviderName", FOCUS_NEW, TEXT, "", provider_name},
	{"HostProviderName", FOCUS_NEW, TEXT, "", host_name},
	{"InvoiceIssuerName", FOCUS_BOTH, TEXT, "", provider_name},
	{"InvoiceId", FOCUS_BOTH, TEXT, "", invoice_id},
	{"RegionId", FOCUS_BOTH, TEXT, "", region_id},
	{"RegionName", FOCUS_BOTH, TEXT, "", region_id},
	{"AvailabilityZone", FOCUS_BOTH, TEXT, "", availability_zone},
	{"ResourceId", FOCUS_BOTH, TEXT, "", resource_id},
	{"ResourceName", FOCUS_BOTH, TEXT, "", resource_name},
	{"ResourceType", FOCUS_BOTH, TEXT, "", resource_type},
	{"ServiceCategory", FOCUS_BOTH, TEXT, "", service_category},
	{"ServiceSubcategory", FOCUS_BOTH, TEXT, "", service_subcategory},
	{"ServiceName", FOCUS_BOTH, TEXT, "", service_name},
	{"SkuId", FOCUS_BOTH, TEXT, "", sku_id},
	{"SkuPriceId", FOCUS_BOTH, TEXT, "", sku_price_id},
	{"SkuMeter", FOCUS_BOTH, TEXT, "", sku_meter},
	{"SkuPriceDetails", FOCUS_BOTH, "JSON", "", sku_price_details},
	{"SubAccountId", FOCUS_BOTH, TEXT, "", sub_account_id},
	{"SubAccountName", FOCUS_BOTH, TEXT, "", sub_account_name},
	{"Tags", FOCUS_BOTH, "JSON", "", tags},
	{0},
};
