/* sim_vouchers.h - the vouchers that the simulator's journal has. */
#ifndef TESTS_SIM_VOUCHERS_H
#define TESTS_SIM_VOUCHERS_H

#include "core/voucher.h"

struct sim_voucher {
	struct voucher v; /* its token is NULL ... */
	char token[40];   /* ... for it is here; "": none */
	uint64_t number;  /* by which the store knows it */
	/* What sim_voucher.c makes of it. */
	bool leaves;      /* its machine was seen to go, and nobody had let it go before */
	bool let_go;      /* by burstd, for a reason that is not the machine's */
	bool unnoticed;   /* likewise, and nobody had said that its machine goes */
	unsigned up_life; /* 1 + the life of burstd that was told that it is up; 0: none was */
	bool was_up;      /* ... and doubted that later */
	bool doubted;     /* ever */
	bool mistaken;    /* an older machine of that name was taken for its own */
	bool told;        /* an event says that its token was used, or that nobody can say so */
};

struct sim_vouchers {
	struct sim_voucher *v;
	size_t n, cap;
};

void sim_vouchers_copy(struct sim_voucher *out, const struct voucher *v);
/* Insert or replace; what is made of it stays. */
struct sim_voucher *sim_vouchers_put(struct sim_vouchers *s, const struct sim_voucher *x);
struct sim_voucher *sim_vouchers_get(const struct sim_vouchers *s, const char *node, uint64_t gen);
void sim_vouchers_del(struct sim_vouchers *s, const char *node, uint64_t gen);
/* As the journal gives it: its token is the caller's. */
struct voucher sim_vouchers_read(const struct sim_voucher *x);

#endif
