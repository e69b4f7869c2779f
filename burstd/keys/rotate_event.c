#include "keys/rotate.h"

#include <stdio.h>

/* Moves the rotation by an event, and tells people of its progress, or why it stands still. */

void rotate_tell_people(struct rotate *rt, const char *text)
{
	char full[200];

	(void)snprintf(full, sizeof(full), "%s: %s", rotation_kind_str(rt->r.kind), text);
	engine_event(rt->e, "", 0, "rotation", full);
}

void rotate_complain(struct rotate *rt, const char *what, const char *why)
{
	char full[sizeof(rt->error)];

	(void)snprintf(full, sizeof(full), "%.40s: %.200s", what, why);
	if (strcmp(full, rt->error) == 0)
		return;
	memcpy(rt->error, full, sizeof(full));
	engine_event(rt->e, "", 0, "rotation-alarm", full);
	log_write(rt->e->d.log, LOG_ERROR, "the rotation of keys is blocked", "phase",
		  rotation_phase_str(rt->r.phase), "error", full, NULL);
}

bool rotate_advance(struct rotate *rt, const struct rotation_event *ev)
{
	enum rotation_phase was = rt->r.phase;

	if (!rotation_step(&rt->r, ev))
		return false;
	rt->dirty = true;
	if (rt->r.phase == was && ev->type == ROTATION_EV_ALIEN)
		rotate_tell_people(rt, "it continues from the bundle that somebody else wrote");
	if (rt->r.phase == was)
		return true;
	rt->commanded = false;
	rt->tell_ms = 0;
	rt->look_ms = 0;
	rt->stood_ms = 0;
	rotate_tell_people(rt, rotation_phase_str(rt->r.phase));
	if (rt->r.phase == ROTATION_DONE)
		breach_mended(rt->e, &rt->r);
	return true;
}

void rotate_event(struct rotate *rt, enum rotation_event_type type, int64_t version)
{
	const struct rotation_event ev = {
		.type = type, .now_ms = engine_now(rt->e), .version = version};

	(void)rotate_advance(rt, &ev);
}
