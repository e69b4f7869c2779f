/* spheron_deployment.c - writes a deployment as Spheron does. */
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/spheron.h"

/* Whoever did not delete it is the provider: a reclaim or a broken host. */
static const char *ended(const char *why)
{
	if (why == NULL || strcmp(why, "deleted") == 0)
		return "terminated";
	return strcmp(why, "cannot boot") == 0 ? "failed" : "terminated-provider";
}

const char *spheron_status(const struct cloud_instance *i, int64_t now)
{
	switch (cloud_shown(i, now)) {
	case CLOUD_PENDING:
		return "deploying";
	case CLOUD_RUNNING:
	case CLOUD_RECLAIMING: /* nobody is warned */
		return "running";
	case CLOUD_STOPPING: /* by itself, or since an accepted delete, which is told as done */
		return i->why != NULL && strcmp(i->why, "exited") == 0 ? "stopped" : "terminated";
	case CLOUD_ENDED:
		break;
	}
	return ended(i->why);
}

bool spheron_is_gone(const struct cloud_instance *i, int64_t now)
{
	return strcmp(spheron_status(i, now), "stopped") != 0 &&
	       (i->state == CLOUD_ENDED || i->stop_at >= 0);
}

static void put_time(struct str *s, const char *key, int64_t ms)
{
	char text[FMT_TIME_SIZE];

	if (ms < 0)
		js_null(s, key);
	else
		js_str(s, key, fmt_time(text, ms));
}

static void put_text(struct str *s, const char *key, const char *text)
{
	if (text == NULL || text[0] == '\0')
		js_null(s, key);
	else
		js_str(s, key, text);
}

static void put_key(struct str *s, const struct cloud *c, const struct cloud_instance *i)
{
	const char *id = i->order != NULL ? i->order->key : "";
	const struct sshkey *key = sshkeys_find(&c->sshkeys, id);

	put_text(s, "sshKeyId", id);
	js_null(s, "tempSshKeyId");
	put_text(s, "sshKeyName", key != NULL ? key->name : NULL);
	js_null(s, "sshKeyFingerprint");
}

/* The address is there long before the machine is; sshPort is null at some providers for good. */
static void put_address(struct str *s, const struct cloud_instance *i, int64_t port, int64_t now)
{
	bool known = now >= i->address_at && i->state != CLOUD_ENDED;
	char text[ADDR_TEXT_SIZE];

	put_text(s, "ipAddress", known ? addr_text(text, i->addr) : NULL);
	put_text(s, "user", known ? "ubuntu" : NULL);
	if (known && port > 0)
		js_int(s, "sshPort", port);
	else
		js_null(s, "sshPort");
}

static void put_money(struct str *s, const struct meter_row *row, int64_t now)
{
	int64_t price = meter_price_now(row);

	js_null(s, "lastCreditDeduction");
	js_money(s, "totalCost", meter_cost(row, now));
	js_money(s, "hourlyRate", price);
	js_money(s, "originalHourlyRate", price);
	js_int(s, "discountPercentage", 0);
	js_bool(s, "hasDiscount", false);
}

void spheron_put(struct str *s, const char *key, const struct cloud *c,
		 const struct cloud_instance *i, int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	bool booted = cloud_shown(i, now) != CLOUD_PENDING;
	struct spheron_offer o;
	char id[METER_ID_SIZE];

	if (!spheron_offer_of(&o, i->pool)) /* another face made it */
		o.kind = "DEDICATED";
	js_open(s, key, '{');
	js_str(s, "id", meter_id(id, i->row));
	js_str(s, "name", i->order != NULL ? i->order->name : row->node);
	js_str(s, "status", spheron_status(i, now));
	js_str(s, "providerId", o.provider->name);
	js_str(s, "gpuModelId", o.gpu_name);
	js_int(s, "gpuCount", o.gpu.count);
	js_str(s, "region", row->region);
	js_str(s, "instanceType", o.kind);
	put_key(s, c, i);
	put_address(s, i, o.provider->ssh_port, now);
	put_time(s, "createdAt", row->start_ms);
	put_time(s, "startedAt", booted ? row->start_ms : -1);
	put_time(s, "stoppedAt", row->end_ms >= 0 ? row->end_ms : row->deleted_ms);
	put_money(s, row, now);
	js_close(s, '}');
}
