/* flood.h - what the parts of flood share: flood.c says what they do. */
#ifndef TESTS_BENCH_FLOOD_H
#define TESTS_BENCH_FLOOD_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PEM_MAX = 16384,
	NET_ATTACK = 0x7f010000, /* 127.1.0.0: addresses of the attackers, ... */
	NET_NODES = 0x7f020000,  /* ... and of nodes, one each */
	ATTACKER_WAITS_S = 2,    /* for an answer, ... */
	NODE_WAITS_S = 10,       /* ... as stage0 does for a connection with its TLS */
};

#define GOOD_CLAIM  "b-900d00000000"
#define GOOD_SECRET "900d56789abcdef0900d56789abcdef0900d56789abcdef0"

int serve(const char *cert_path, const char *key_path, bool alone);
int attack(char **argv);
int nodes_claim(char **argv);
int nodes_beat(char **argv);
int ask(unsigned long n);

/* peer.c: blocking TLS clients */
struct peer {
	gnutls_session_t tls;
	int fd;
};

void die(const char *what);
int64_t now_ms(void);
void wait_until(int64_t at_ms);
void read_pem(char out[PEM_MAX], const char *path);
/* From that address of 127.0.0.0/8, in host order.  -1: refused, or no TLS came of it. */
int peer_open(struct peer *p, uint32_t from, uint16_t port, gnutls_certificate_credentials_t cred);
/* The same without waiting, with no credentials: without a word.  -1: no connection.  Then, later:
 * -1: its TLS is not there, or not yet. */
int peer_begin(struct peer *p, uint32_t from, uint16_t port, gnutls_certificate_credentials_t cred);
int peer_go_on(struct peer *p);
void peer_close(struct peer *p);
int peer_send(struct peer *p, const char *text, size_t len); /* -1: it did not go out */
/* Read n answers with this status line's begin; how many there were until the end, or while it
 * waits. */
unsigned peer_answers(struct peer *p, unsigned n, const char *begin);

/* The status of one short answer; -1: none came while it waits, or the end. */
int peer_status(struct peer *p);

#endif
