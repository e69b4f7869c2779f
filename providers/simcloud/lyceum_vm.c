/* lyceum_vm.c - writes a machine as Lyceum does, which is in three ways. */
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/lyceum.h"

static const char *const state_words[] = {
	[LYCEUM_PENDING] = "pending", [LYCEUM_PROVISIONING] = "provisioning",
	[LYCEUM_READY] = "ready",     [LYCEUM_TERMINATED] = "terminated",
	[LYCEUM_FAILED] = "failed",   [LYCEUM_ERROR] = "error",
};

/* How it ended.  A reclaimed machine looks like a deleted one. */
static enum lyceum_state ended(const char *why)
{
	if (why == NULL || strcmp(why, "deleted") == 0 || strcmp(why, "reclaimed") == 0)
		return LYCEUM_TERMINATED;
	return strcmp(why, "cannot boot") == 0 ? LYCEUM_FAILED : LYCEUM_ERROR;
}

enum lyceum_state lyceum_state(const struct cloud_instance *i, int64_t now)
{
	switch (cloud_shown(i, now)) {
	case CLOUD_PENDING:
		return LYCEUM_PROVISIONING;
	case CLOUD_RUNNING:
	case CLOUD_RECLAIMING: /* nobody is warned */
		return LYCEUM_READY;
	case CLOUD_STOPPING: /* an accepted delete is told as done, though it may not be yet */
	case CLOUD_ENDED:
		break;
	}
	return ended(i->why);
}

/* The recorded times have microseconds; a create's has no zone. */
static void put_time(struct str *s, int64_t ms, const char *zone)
{
	char at[FMT_TIME_SIZE], text[FMT_TIME_SIZE];

	(void)fmt_time(at, ms);
	(void)snprintf(text, sizeof(text), "%.23s000%s", at, zone);
	js_str(s, "created_at", text);
}

/* Of some machines with a port behind it, and of others without, as recorded.  A ready one may have
 * none yet. */
static void put_address(struct str *s, const struct cloud_instance *i, int64_t now)
{
	enum lyceum_state state = lyceum_state(i, now);
	char host[ADDR_TEXT_SIZE], text[ADDR_TEXT_SIZE + 3];

	if (state <= LYCEUM_PROVISIONING || now < i->address_at) {
		js_null(s, "ip_address");
		return;
	}
	(void)snprintf(text, sizeof(text), "%s%s", addr_text(host, i->addr),
		       i->row % 2 == 1 ? ":22" : "");
	js_str(s, "ip_address", text);
}

static void put_specs(struct str *s, const struct gpu_type *gpu)
{
	js_open(s, "instance_specs", '{');
	js_str(s, "gpu_type", gpu->name);
	js_int(s, "gpu_count", gpu->count);
	js_close(s, '}');
}

static struct gpu_type gpu_of(const struct meter_row *row)
{
	struct gpu_type gpu;

	if (!gpu_type_read(&gpu, row->type))
		gpu.name = row->type; /* another face made it */
	return gpu;
}

static void put_hardware(struct str *s, const struct gpu_type *gpu)
{
	js_str(s, "hardware_profile", gpu->name);
	js_int(s, "gpu_count", gpu->count);
}

static void put_names(struct str *s, const struct meter_row *row, const struct cloud_instance *i)
{
	const char *display = i->order != NULL ? i->order->name : row->node;
	char id[METER_ID_SIZE], text[64];

	js_str(s, "instance_type", market_word(row->market));
	(void)snprintf(text, sizeof(text), "hyd-production-vm-%s", meter_id(id, i->row));
	js_str(s, "name", text);
	if (display[0] != '\0')
		js_str(s, "display_name", display);
	else
		js_null(s, "display_name");
}

static void put_owner(struct str *s)
{
	js_str(s, "user_id", LYCEUM_USER);
	js_str(s, "org_id", LYCEUM_ORG);
}

/* null until there is something to bill. */
static void put_billed(struct str *s, const struct meter_row *row, const struct cloud_instance *i,
		       int64_t now)
{
	if (lyceum_state(i, now) <= LYCEUM_PROVISIONING || now < i->address_at)
		js_null(s, "billed");
	else
		js_money(s, "billed", meter_cost(row, now));
	js_null(s, "croesus_billed");
}

void lyceum_put_created(struct str *s, const struct cloud *c, const struct cloud_instance *i)
{
	static const char polling[] =
		"Instance is provisioning. Check status with GET /api/v2/external/vms/{vm_id}/"
		"status or use the CLI to automatically poll for readiness.";
	const struct meter_row *row = &c->meter->rows[i->row];
	struct gpu_type gpu = gpu_of(row);
	char id[METER_ID_SIZE], text[128];

	js_open(s, NULL, '{');
	js_str(s, "vm_id", meter_id(id, i->row));
	js_str(s, "status", state_words[LYCEUM_PENDING]);
	js_null(s, "ip_address");
	put_time(s, row->start_ms, "");
	put_specs(s, &gpu);
	js_null(s, "hardware_profile");
	js_null(s, "gpu_count");
	put_names(s, row, i);
	js_null(s, "billed");
	js_null(s, "croesus_billed");
	(void)snprintf(text, sizeof(text), "/api/v2/external/vms/%s/status", id);
	js_str(s, "status_check_url", text);
	js_str(s, "polling_message", polling);
	put_owner(s);
	js_close(s, '}');
}

void lyceum_put_listed(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		       int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	struct gpu_type gpu = gpu_of(row);
	char id[METER_ID_SIZE];

	js_open(s, NULL, '{');
	js_str(s, "vm_id", meter_id(id, i->row));
	js_str(s, "status", state_words[lyceum_state(i, now)]);
	put_address(s, i, now);
	put_time(s, row->start_ms, "Z");
	put_specs(s, &gpu);
	put_hardware(s, &gpu);
	put_names(s, row, i);
	put_billed(s, row, i, now);
	js_null(s, "status_check_url");
	js_null(s, "polling_message");
	put_owner(s);
	js_close(s, '}');
}

void lyceum_put_status(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		       int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	struct gpu_type gpu = gpu_of(row);
	int64_t until = row->end_ms >= 0 ? row->end_ms : now;
	char id[METER_ID_SIZE];

	js_open(s, NULL, '{');
	js_str(s, "vm_id", meter_id(id, i->row));
	js_str(s, "status", state_words[lyceum_state(i, now)]);
	put_address(s, i, now);
	js_int(s, "uptime_seconds", (until - row->start_ms) / 1000);
	put_billed(s, row, i, now);
	put_specs(s, &gpu);
	put_hardware(s, &gpu);
	put_time(s, row->start_ms, "Z");
	put_names(s, row, i);
	js_close(s, '}');
}
