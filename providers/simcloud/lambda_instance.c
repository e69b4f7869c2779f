/* lambda_instance.c - writes an instance, its type and its region as Lambda does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/lambda.h"

enum { NANO_PER_CENT = 10000000, VCPUS = 26, MEMORY_GIB = 225, STORAGE_GIB = 2816 };

static const char *status_of(const struct cloud_instance *i, enum cloud_state shown)
{
	bool taken = i->why != NULL && strcmp(i->why, "reclaimed") == 0;

	switch (shown) {
	case CLOUD_PENDING:
		return "booting";
	case CLOUD_RUNNING:
	case CLOUD_RECLAIMING: /* nobody is told before */
		return i->faulty ? "unhealthy" : "active";
	case CLOUD_STOPPING:
		return "terminating";
	case CLOUD_ENDED:
		break;
	}
	return taken ? "preempted" : "terminated";
}

/* "gpu_8x_h100": 8 GPUs, "H100"; any other type has none. */
static void read_type(const char *type, int *gpus, char model[SETTINGS_WORD_SIZE])
{
	char *end;

	*gpus = 0;
	(void)snprintf(model, SETTINGS_WORD_SIZE, "N/A");
	if (strncmp(type, "gpu_", 4) != 0)
		return;
	*gpus = (int)strtol(type + 4, &end, 10);
	if (strncmp(end, "x_", 2) != 0)
		return;
	(void)snprintf(model, SETTINGS_WORD_SIZE, "%s", end + 2);
	for (char *p = model; *p != '\0'; p++)
		*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
}

void lambda_put_type(struct str *s, const char *type, int64_t price_nano_h)
{
	char model[SETTINGS_WORD_SIZE], text[SETTINGS_WORD_SIZE + 16];
	int gpus, units;

	read_type(type, &gpus, model);
	units = gpus > 0 ? gpus : 1;
	(void)snprintf(text, sizeof(text), "%dx %s", units, gpus > 0 ? model : "CPU");
	js_open(s, "instance_type", '{');
	js_str(s, "name", type);
	js_str(s, "description", text);
	js_str(s, "gpu_description", model);
	js_int(s, "price_cents_per_hour", (price_nano_h + NANO_PER_CENT / 2) / NANO_PER_CENT);
	js_open(s, "specs", '{');
	js_int(s, "vcpus", VCPUS * units);
	js_int(s, "memory_gib", MEMORY_GIB * units);
	js_int(s, "storage_gib", STORAGE_GIB * units);
	js_int(s, "gpus", gpus);
	js_close(s, '}');
	js_close(s, '}');
}

void lambda_put_region(struct str *s, const char *key, const char *region)
{
	js_open(s, key, '{');
	js_str(s, "name", region);
	js_str(s, "description", region);
	js_close(s, '}');
}

static void put_action(struct str *s, const char *name, enum cloud_state shown, bool booting_too)
{
	bool leaves = shown == CLOUD_STOPPING || shown == CLOUD_ENDED;
	bool available = !leaves && (booting_too || shown != CLOUD_PENDING);

	js_open(s, name, '{');
	js_bool(s, "available", available);
	if (!available) {
		js_str(s, "reason_code", leaves ? "vm-is-terminating" : "vm-has-not-launched");
		js_str(s, "reason_description",
		       leaves ? "The instance is terminating." : "The instance is booting.");
	}
	js_close(s, '}');
}

static void put_actions(struct str *s, enum cloud_state shown)
{
	js_open(s, "actions", '{');
	put_action(s, "migrate", shown, false);
	put_action(s, "rebuild", shown, false);
	put_action(s, "restart", shown, false);
	put_action(s, "cold_reboot", shown, false);
	put_action(s, "terminate", shown, true);
	js_close(s, '}');
}

static void put_tag(struct str *s, const char *key, const char *value)
{
	js_open(s, NULL, '{');
	js_str(s, "key", key);
	js_str(s, "value", value);
	js_close(s, '}');
}

/* An instance that has no order is shown with tags that say the same. */
static void put_tags(struct str *s, const struct meter_row *row, const struct order *order)
{
	char gen[FMT_U64_SIZE];

	js_open(s, "tags", '[');
	for (size_t k = 0; order != NULL && k < order->ntags; k++)
		put_tag(s, order->tags[k].key, order->tags[k].value);
	if (order == NULL) {
		put_tag(s, "burstd-cluster", row->cluster);
		put_tag(s, "burstd-node", row->node);
		put_tag(s, "burstd-generation", fmt_u64(gen, row->gen));
	}
	js_close(s, ']');
}

static void put_address(struct str *s, const struct cloud_instance *i)
{
	const char *hostname = i->order != NULL ? i->order->hostname : "";
	char text[ADDR_TEXT_SIZE];

	(void)addr_text(text, i->addr);
	js_str(s, "ip", text);
	js_str(s, "private_ip", text);
	js_str(s, "hostname", hostname[0] != '\0' ? hostname : text);
}

static void put_name(struct str *s, const struct meter_row *row, const struct order *order)
{
	const char *name = order != NULL ? order->name : row->node;

	if (name[0] != '\0')
		js_str(s, "name", name);
}

void lambda_put_instance(struct str *s, const char *key, const struct cloud *c,
			 const struct cloud_instance *i, int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	enum cloud_state shown = cloud_shown(i, now);
	char id[METER_ID_SIZE];

	js_open(s, key, '{');
	js_str(s, "id", meter_id(id, i->row));
	if (c->conf->tags)
		put_name(s, row, i->order);
	if (now >= i->address_at && shown != CLOUD_ENDED)
		put_address(s, i);
	js_str(s, "status", status_of(i, shown));
	js_open(s, "ssh_key_names", '[');
	if (i->order != NULL && i->order->key[0] != '\0')
		js_str(s, NULL, i->order->key);
	js_close(s, ']');
	js_open(s, "file_system_names", '[');
	js_close(s, ']');
	lambda_put_region(s, "region", row->region);
	lambda_put_type(s, row->type, row->price_nano_h);
	put_actions(s, shown);
	if (c->conf->tags)
		put_tags(s, row, i->order);
	js_close(s, '}');
}
