#include "ledger/export_xdmod.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/date.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "ledger/ascii.h"

enum { DAYS_MAX = 400, HOUR_S = 3600, ENTRY_MAX = 1 << 16 };

__extension__ typedef __int128 wide;

static const int64_t nano = 1000000000;

struct day { /* what was ready: nano-seconds of nodes, seconds of CPUs and GPUs */
	wide nodes_ns, gpu_nodes_ns;
	int64_t cpu_s, gpu_s;
	uint32_t cpus, gpus; /* of the largest node */
};

struct reader {
	const struct export_xdmod *o;
	int64_t first;
	size_t n;
	struct day *days;
};

static bool was_ready(const struct charge *c)
{
	return !c->credit && !c->adjust && c->instance[0] != '\0' &&
	       (c->class == ALLOCATE_RUN || c->class == ALLOCATE_LOST ||
		c->class == ALLOCATE_IDLE || c->class == ALLOCATE_DRAIN);
}

static int read_charge(void *arg, const struct charge *c, struct err *e)
{
	struct reader *r = arg;
	const int64_t at = zone_day(r->o->zone, c->start_s) - r->first;
	struct day *d;

	if (!was_ready(c))
		return 0;
	if (at < 0 || at >= (int64_t)r->n)
		return err_set(e, ERR_INVALID, "instance %.60s: a charge outside of the period",
			       c->instance);
	if (c->share_whole <= 0)
		return err_set(e, ERR_INVALID, "instance %.60s: a charge without a share",
			       c->instance);
	d = &r->days[at];
	d->nodes_ns += (wide)c->billed_s * c->share_part * nano / c->share_whole;
	if (c->gpus > 0)
		d->gpu_nodes_ns += (wide)c->billed_s * c->share_part * nano / c->share_whole;
	if (__builtin_add_overflow(d->cpu_s, c->cpu_s, &d->cpu_s) ||
	    __builtin_add_overflow(d->gpu_s, c->gpu_s, &d->gpu_s))
		return err_set(e, ERR_LIMIT, "the sum of all charges is too large");
	d->cpus = c->cpus > d->cpus ? c->cpus : d->cpus;
	d->gpus = c->gpus > d->gpus ? c->gpus : d->gpus;
	return 0;
}

static json_int_t average(wide sum, wide whole)
{
	return (json_int_t)((sum + whole - 1) / whole);
}

static int put_json(json_t *j, const char *before, const struct sink *to, struct err *e)
{
	char *text = mem_check(json_dumps(j, JSON_ENSURE_ASCII | JSON_COMPACT));
	struct str s;
	int rc;

	str_init(&s, ENTRY_MAX);
	str_adds(&s, before);
	str_adds(&s, text);
	rc = sink_flush(to, &s, e);
	str_fini(&s);
	free(text);
	json_decref(j);
	return rc;
}

/* Texts are names of an admin's or a provider's. */
static json_t *name(const char *text)
{
	struct str s;
	json_t *j;

	str_init(&s, ENTRY_MAX);
	ascii_name(&s, text);
	j = mem_check(json_string(s.p));
	str_fini(&s);
	return j;
}

static int put_day(const struct reader *r, size_t i, const struct sink *to, struct err *e)
{
	const struct day *d = &r->days[i];
	const int64_t day = r->first + (int64_t)i;
	const int64_t length_s =
		zone_day_begin(r->o->zone, day + 1) - zone_day_begin(r->o->zone, day);
	char text[DATE_STR_SIZE];

	(void)date_str(text, day);
	return put_json(mem_check(json_pack(
				"{s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:i}", "resource",
				name(r->o->resource), "start_date", text, "end_date", text,
				"cpu_node_count", average(d->nodes_ns, (wide)length_s * nano),
				"cpu_processor_count", average(d->cpu_s, length_s), "cpu_ppn",
				(json_int_t)d->cpus, "gpu_node_count",
				average(d->gpu_nodes_ns, (wide)length_s * nano),
				"gpu_processor_count", average(d->gpu_s, length_s), "gpu_ppn",
				(json_int_t)d->gpus, "percent_allocated", 100)),
			i == 0 ? "[\n" : ",\n", to, e);
}

int export_xdmod_specs(const struct export_xdmod *o, const struct source *from,
		       const struct sink *to, struct err *e)
{
	struct reader r = {.o = o, .first = zone_day(o->zone, o->start_s)};
	const int64_t last = zone_day(o->zone, o->end_s - 1);
	int rc;

	if (last < r.first)
		return err_set(e, ERR_INVALID, "the period has not begun: no machine was up in it");
	if (last - r.first >= DAYS_MAX)
		return err_set(e, ERR_LIMIT, "a period of more than %d days", DAYS_MAX);
	r.n = (size_t)(last - r.first) + 1;
	r.days = mem_zalloc(r.n * sizeof(*r.days));
	rc = from->visit(from->ctx, read_charge, &r, e);
	for (size_t i = 0; i < r.n && rc == 0; i++)
		rc = put_day(&r, i, to, e);
	if (rc == 0)
		rc = to->put(to->ctx, "\n]\n", 3, e);
	free(r.days);
	return rc;
}

static int put_event(const struct export_xdmod_instance *i, const char *type, int64_t at_s,
		     const struct sink *to, struct err *e)
{
	char text[FMT_TIME_SIZE];
	json_t *j;

	(void)fmt_time(text, at_s * 1000);
	(void)snprintf(strchr(text, '.'), 2, "Z");
	j = mem_check(json_pack(
		"{s:n, s:n, s:n, s:o, s:s, s:s, s:{s:o, s:I, s:I, s:i, s:i}, s:o, s:o, s:s, s:[], "
		"s:s}",
		"node_controller", "public_ip", "private_ip", "account", name(i->account),
		"event_type", type, "event_time", text, "instance_type", "name", name(i->type),
		"cpu", (json_int_t)i->cpus, "memory", (json_int_t)i->memory_mb, "disk", 0,
		"networkInterfaces", 1, "image_type", name(i->image), "instance_id",
		name(i->instance), "record_type", "ACCOUNTING", "block_devices", "root_type",
		"instance-store"));
	if (put_json(j, "", to, e) != 0)
		return -1;
	return to->put(to->ctx, "\n", 1, e);
}

int export_xdmod_events(const struct export_xdmod_instance *i, int64_t from_s, int64_t to_s,
			const struct sink *to, struct err *e)
{
	const bool ended = i->end_s != 0 && i->end_s < to_s;
	const int64_t until = ended ? i->end_s : to_s;
	int64_t at = from_s > i->start_s ? from_s : i->start_s + 1;

	if (i->start_s >= from_s && i->start_s < to_s &&
	    put_event(i, "START", i->start_s, to, e) != 0)
		return -1;
	at += (HOUR_S - at % HOUR_S) % HOUR_S;
	for (; at < until; at += HOUR_S)
		if (put_event(i, "STATE_REPORT", at, to, e) != 0)
			return -1;
	if (ended && i->end_s >= from_s)
		return put_event(i, "TERMINATE", i->end_s, to, e);
	return 0;
}
