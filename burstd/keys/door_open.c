#include <stdlib.h>

#include "base/mem.h"
#include "io/munge_check.h"
#include "keys/door.h"

/* Opens what nodes' requests need: node-init and munge; and sends answers after the commit. */

/* Read node-init.  -1: the old one stays. */
static int read_stage1(struct engine *e, struct err *err)
{
	struct door *d = e->keys->door;
	char *old = d->stage1;

	if (door_read_stage1(e->conf->nodes.node_init, &d->stage1, &d->stage1_len, d->stage1_sha256,
			     err) != 0)
		return -1;
	free(old);
	node_init_off(e, NULL);
	return 0;
}

/* Try to read node-init while there is none. */
static void look_for_stage1(struct engine *e)
{
	struct err err;

	if (read_stage1(e, &err) != 0)
		node_init_off(e, &err);
}

/* --- the answers that wait ---------------------------------------------------------------------
 */

static struct door_late *take_late(struct door *d)
{
	struct door_late *l = d->first;

	d->first = NULL;
	d->last = &d->first;
	return l;
}

/* Commit what is staged, then send the answers to nodes that wait for that.  The last commit may
 * have led to another staged change, mostly an event. */
static void door_run(struct engine *e)
{
	struct door *d = e->keys->door;
	struct door_late *l;

	if (d == NULL)
		return;
	if (node_init_due(e))
		look_for_stage1(e);
	if (d->first != NULL && (e->staging.due || e->staging.n > 0))
		engine_commit(e);
	if (e->dead || e->staging.due || e->staging.n > 0)
		return;
	l = take_late(d);
	while (l != NULL) {
		struct door_late *next = l->next;

		door_count(d, l->an.status);
		e->d.door->answer(e->d.door->ctx, l->ticket, &l->an);
		free(l);
		l = next;
	}
}

/* --- beginning and end ------------------------------------------------------------------------
 */

static void open_munge(struct engine *e)
{
	const struct conf_nodes *n = &e->conf->nodes;
	const char *socket = n->munge_socket != NULL ? n->munge_socket : "";
	struct door *d = e->keys->door;

	if (d->munge != NULL && n->auth == CONF_AUTH_MUNGE && strcmp(d->munge_socket, socket) == 0)
		return;
	munge_check_free(d->munge); /* the listener answers waiting nodes 503 */
	free(d->munge_socket);
	d->munge = NULL;
	d->munge_socket = mem_strdup(socket);
	if (n->auth == CONF_AUTH_MUNGE)
		d->munge = munge_check_new(e->d.loop, socket);
}

/* Take requests from nodes, if the configuration has a section nodes and main gives a listener. */
static int door_open(struct engine *e, struct err *err)
{
	struct door *d;

	(void)err;
	if (e->d.door == NULL || e->conf->nodes.line == 0)
		return 0;
	d = mem_zalloc(sizeof(*d));
	d->e = e;
	d->last = &d->first;
	e->keys->door = d;
	open_munge(e);
	look_for_stage1(e);
	return 0;
}

/* A node-init that cannot be read leaves the old one. */
static void door_reload(struct engine *e)
{
	struct err err = {0};

	if (e->keys->door == NULL)
		return;
	open_munge(e);
	if (engine_init_off(e) != NULL)
		look_for_stage1(e);
	else if (read_stage1(e, &err) != 0)
		log_write(e->d.log, LOG_ERROR, "node-init stays as it was", "error", err.msg, NULL);
}

static void door_free(struct engine *e)
{
	struct door *d = e->keys->door;

	if (d == NULL)
		return;
	for (struct door_late *l = take_late(d), *next; l != NULL; l = next) {
		next = l->next;
		door_drop(&l->an);
		free(l);
	}
	door_keys_free(e);
	munge_check_free(d->munge);
	free(d->munge_socket);
	free(d->hosts.text);
	free(d->stage1);
	free(d);
	e->keys->door = NULL;
}

const struct engine_part door_part = {
	.name = "door",
	.at = {[PART_RELOAD] = door_reload, [PART_SEND] = door_run, [PART_FREE] = door_free},
	.open = door_open,
	.next_ms = node_init_next_ms,
};
