/* lab.h - burstctl as a process of its own, against a burstd that replies as the test wants.
 *
 * The child is forked, not exec'ed, and runs cli_main(), so that sanitizers see it, too. */
#ifndef BURSTD_TEST_CLI_LAB_H
#define BURSTD_TEST_CLI_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAB_REQUESTS_MAX = 16, LAB_TEXT_SIZE = 1 << 16 };

/* Pseudo-replies: do not answer, hang up, send garbage. */
extern const char lab_hang[], lab_hang_up[], lab_garbage[];

struct lab {
	char dir[32], socket[64];
	int listen_fd;
	/* Input: */
	const char *const *replies; /* one for each request; the last one is repeated */
	size_t nreplies;
	size_t stop_after; /* end the child after so many requests; 0: let it end by itself */
	bool tty;          /* its standard output is a terminal ... */
	unsigned columns;  /* ... so wide; 0: of unknown width */
	const char *typed; /* typed on a terminal as standard input; NULL: nothing is */
	const char *fed;   /* content of a file as standard input */
	/* Output: */
	char requests[LAB_REQUESTS_MAX][512]; /* the beginning of each request */
	size_t nrequests;
	char out[LAB_TEXT_SIZE], err[LAB_TEXT_SIZE];
	int rc; /* exit code, -1: killed */
	int64_t took_ms;
};

struct lab *lab_new(void);
void lab_free(struct lab *l);

/* Run "burstctl LINE".  In LINE, SOCKET stands for our socket, DIR for our directory and EMPTY for
 * an empty word. */
void lab_run(struct lab *l, const char *line, const char *const *replies, size_t n);
void lab_run_once(struct lab *l, const char *line, const char *reply);

/* Assert the exit code and output, and that standard error contains err. */
void lab_want(const struct lab *l, int rc, const char *out, const char *err);

/* Write a file in our directory. */
void lab_write(const struct lab *l, const char *name, const char *text);
void lab_remove(const struct lab *l, const char *name);

#endif
