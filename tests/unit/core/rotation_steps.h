/* rotation_steps.h - one rotation, event by event. */
#ifndef TESTS_ROTATION_STEPS_H
#define TESTS_ROTATION_STEPS_H

#include "core/rotation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/mem.h"
#include "core/secret_store.h"

enum { BEGIN = 1000, MINUTE = 60000, FIRST = 7 };

static inline struct rotation begun(enum rotation_kind kind)
{
	struct rotation r = {.phase = ROTATION_IDLE};

	assert_true(rotation_step(&r, &(struct rotation_event){.type = ROTATION_EV_START,
							       .now_ms = BEGIN,
							       .kind = kind,
							       .id = 0x5f3a,
							       .version = FIRST,
							       .life_ms = MINUTE}));
	return r;
}

static unsigned char fresh[ROTATION_FRESH];

static inline struct rotation at(enum rotation_kind kind, enum rotation_phase phase)
{
	return (struct rotation){.kind = kind, .phase = phase, .id = 0x5f3a, .now = FIRST};
}

static inline void roll(void)
{
	for (size_t i = 0; i < sizeof(fresh); i++)
		fresh[i] = (unsigned char)(i * 37 + 11);
}

#endif
