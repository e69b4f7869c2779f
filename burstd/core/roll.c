#include "core/roll.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const stages[ROLL_NSTAGES] = {
	[ROLL_SETTLED] = "settled",
	[ROLL_CANARY] = "canary",
	[ROLL_ROLLING] = "rolling",
	[ROLL_STOPPED] = "stopped",
};

const char *roll_stage_str(enum roll_stage s)
{
	assert(s < ROLL_NSTAGES);
	return stages[s];
}

int roll_stage_parse(const char *word)
{
	for (int s = 0; s < ROLL_NSTAGES; s++)
		if (strcmp(word, stages[s]) == 0)
			return s;
	return -1;
}

static void set(char to[PROVIDER_IMAGE_MAX + 1], const char *image)
{
	char copy[PROVIDER_IMAGE_MAX + 1]; /* image may be to */

	(void)snprintf(copy, sizeof(copy), "%s", image);
	memcpy(to, copy, sizeof(copy));
}

static void enter(struct roll *r, enum roll_stage stage, const char *why, const char *by,
		  int64_t now_ms)
{
	r->stage = stage;
	r->passed = 0;
	r->since_ms = now_ms;
	(void)snprintf(r->why, sizeof(r->why), "%s", why);
	(void)snprintf(r->by, sizeof(r->by), "%s", by);
}

void roll_init(struct roll *r, const char *image, int64_t now_ms)
{
	*r = (struct roll){.stage = ROLL_SETTLED};
	set(r->old, image);
	set(r->next, image);
	enter(r, ROLL_SETTLED, "", "", now_ms);
}

bool roll_want(struct roll *r, const char *image, int64_t now_ms)
{
	if (strcmp(r->next, image) == 0)
		return false;
	if (strcmp(r->old, image) == 0) {
		set(r->next, image); /* back to what works */
		enter(r, ROLL_ROLLING, "", "", now_ms);
		return true;
	}
	if (r->stage == ROLL_ROLLING) /* its canaries have worked */
		set(r->old, r->next);
	set(r->next, image);
	enter(r, ROLL_CANARY, "", "", now_ms);
	return true;
}

const char *roll_usual(const struct roll *r)
{
	return r->stage == ROLL_CANARY || r->stage == ROLL_STOPPED ? r->old : r->next;
}

uint32_t roll_room(const struct roll *r, uint32_t most, uint32_t untried)
{
	if (r->stage != ROLL_CANARY || r->passed + untried >= most)
		return 0;
	return most - r->passed - untried;
}

bool roll_passed(struct roll *r, uint32_t most, int64_t now_ms)
{
	if (r->stage != ROLL_CANARY)
		return false;
	r->passed++;
	return roll_enough(r, most, now_ms);
}

bool roll_enough(struct roll *r, uint32_t most, int64_t now_ms)
{
	char by[ROLL_BY_SIZE]; /* who resumed it stays */

	if (r->stage != ROLL_CANARY || r->passed < most)
		return false;
	memcpy(by, r->by, sizeof(by));
	enter(r, ROLL_ROLLING, "", by, now_ms);
	return true;
}

bool roll_stop(struct roll *r, const char *why, const char *by, int64_t now_ms)
{
	if ((r->stage != ROLL_CANARY && r->stage != ROLL_ROLLING) || strcmp(r->old, r->next) == 0)
		return false;
	enter(r, ROLL_STOPPED, why, by, now_ms);
	return true;
}

bool roll_resume(struct roll *r, const char *by, int64_t now_ms)
{
	if (r->stage != ROLL_STOPPED)
		return false;
	enter(r, ROLL_CANARY, "", by, now_ms);
	return true;
}

void roll_end(struct roll *r, int64_t now_ms)
{
	set(r->old, r->next);
	enter(r, ROLL_SETTLED, "", "", now_ms);
}

bool roll_replaces(const struct roll *r, const char *image)
{
	const bool next = strcmp(image, r->next) == 0;

	if (r->stage == ROLL_ROLLING)
		return !next;
	if (r->stage == ROLL_SETTLED)
		return false;
	if (next)
		return r->stage == ROLL_STOPPED;
	return image[0] != '\0' && strcmp(image, r->old) != 0;
}
