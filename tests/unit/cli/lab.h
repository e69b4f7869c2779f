/* lab.h - burstctl as a process of its own, against a burstd that says what the test wants.
 *
 * The child is forked, not exec'ed, and runs cli_main(): so sanitizers see it too. */
#ifndef BURSTD_TEST_CLI_LAB_H
#define BURSTD_TEST_CLI_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAB_REQUESTS_MAX = 16, LAB_TEXT_SIZE = 1 << 16 };

/* Replies that are none. */
extern const char lab_hang[], lab_hang_up[], lab_garbage[];

struct lab {
	char dir[32], socket[64];
	int listen_fd;
	/* What to do ... */
	const char *const *replies; /* one for each request; the last one again and again */
	size_t nreplies;
	size_t stop_after; /* end the child when it has asked so often; 0: let it end by itself */
	bool tty;          /* its standard output is a terminal ... */
	unsigned columns;  /* ... so wide; 0: nobody knows */
	const char *typed; /* its standard input is a terminal where this is typed; NULL: nothing */
	const char *fed;   /* ... or a file with this */
	/* ... and what came of it. */
	char requests[LAB_REQUESTS_MAX][512]; /* how they begin */
	size_t nrequests;
	char out[LAB_TEXT_SIZE], err[LAB_TEXT_SIZE];
	int rc; /* exit code, -1: killed */
	int64_t took_ms;
};

struct lab *lab_new(void);
void lab_free(struct lab *l);

/* Run "burstctl LINE"; in it SOCKET stands for our socket, DIR for our directory and EMPTY for an
 * empty word. */
void lab_run(struct lab *l, const char *line, const char *const *replies, size_t n);
void lab_run_once(struct lab *l, const char *line, const char *reply);

/* Exit code and output are these, and err is in what it complained of. */
void lab_want(const struct lab *l, int rc, const char *out, const char *err);

/* A file in our directory. */
void lab_write(const struct lab *l, const char *name, const char *text);
void lab_remove(const struct lab *l, const char *name);

#endif
