/* store.h - what the files of this tool share. */
#ifndef TESTS_CONTRACT_STORE_H
#define TESTS_CONTRACT_STORE_H

#include <uv.h>

#include "base/jsonw.h"
#include "keys/rotate.h"

enum { TOOL_INPUT_MAX = 8192, TOOL_LINE_BYTES = 32768 };

struct tool {
	struct engine e;
	uv_pipe_t in;
	char text[TOOL_INPUT_MAX];
	size_t len;
	unsigned nodes;
};
extern struct tool T;

/* One line of JSON. */
void tool_begin(struct str *s, struct jsonw *w);
void tool_end(struct str *s, struct jsonw *w);

/* --- rotate.c: commands, and its part of a turn --- */
void tool_rotate(char *words);
void tool_resume(const char *token);
void tool_step(const char *word);
void tool_write(const char *version);
void tool_rotation(void);
void tool_rotate_run(void);
int64_t tool_rotate_next_ms(void);
void tool_rotate_free(void);

#endif
