/* The spool has its turn: what hooks left there is read, and what is wrong with it is told. */
#include "buy/buy.h"

#include <stdio.h>
#include <string.h>

#include "io/loop.h"

static void on_wake(void *ctx)
{
	struct engine *e = ctx;

	if (!e->dead)
		timer_at(e->timer, spool_next_ms(e->d.spool));
}

static void intake_watch(struct engine *e)
{
	if (e->d.spool != NULL)
		spool_on_wake(e->d.spool, on_wake, e);
}

static void intake_unwatch(struct engine *e)
{
	if (e->d.spool != NULL)
		spool_on_wake(e->d.spool, NULL, NULL);
}

static int64_t intake_look_next_ms(const struct engine *e)
{
	return e->d.spool != NULL && e->started ? spool_next_ms(e->d.spool) : INT64_MAX;
}

/* Once for each trouble, not every five seconds. */
static void tell_trouble(struct engine *e, const char *error)
{
	char *told = e->buy->spool_trouble;

	if (strcmp(told, error) == 0)
		return;
	(void)snprintf(told, sizeof(e->buy->spool_trouble), "%s", error);
	if (error[0] != '\0')
		log_write(e->d.log, LOG_WARN, "the spool cannot be read", "error", error, NULL);
	else
		log_write(e->d.log, LOG_INFO, "the spool can be read again", NULL);
}

/* Something was wanted, and nobody knows what: slurmctld does. */
static void tell_bad(struct engine *e)
{
	const uint64_t bad = spool_bad(e->d.spool);
	char text[120];

	if (bad == e->count.calls_bad)
		return;
	(void)snprintf(text, sizeof(text),
		       "%llu files in the spool are not complete calls: renamed to NAME.bad",
		       (unsigned long long)(bad - e->count.calls_bad));
	e->count.calls_bad = bad;
	engine_event(e, "", 0, "call-bad", text);
	intake_hint(e);
}

/* Read what came into the spool. */
static void intake_look(struct engine *e)
{
	struct err err = {0};

	if (e->d.spool == NULL || e->dead)
		return;
	if (engine_now(e) < spool_next_ms(e->d.spool))
		return;
	(void)spool_pass(e->d.spool, intake_take, e, &err);
	tell_trouble(e, err.code != 0 ? err.msg : "");
	tell_bad(e);
}

int engine_spool(const struct engine *e, const char **note, struct err *err)
{
	*note = NULL;
	if (e->d.spool == NULL)
		return 0;
	if (spool_look(e->d.spool, note, err) != 0)
		return -1;
	if (e->buy->spool_trouble[0] != '\0')
		return err_set(err, ERR_IO, "%s", e->buy->spool_trouble);
	return 0;
}

const struct engine_part intake_spool_part = {
	.name = "spool",
	.at = {[PART_INIT] = intake_watch, [PART_RUN] = intake_look, [PART_FREE] = intake_unwatch},
	.next_ms = intake_look_next_ms,
};
