/* pem.h - decodes PEM, block by block, strictly.
 *
 * OpenSSL's own reader skips unknown text, and asks at the terminal for the password of an
 * encrypted block: it is not fit for texts from the network. */
#ifndef BURSTD_PEM_H
#define BURSTD_PEM_H

#include <stddef.h>

/* Decode the next block with this label ("CERTIFICATE") into out, and move *text and *len behind
 * it. 1: done; 0: there are no more blocks; -1: the block has another label, headers, bad base64,
 * or does not fit. */
int pem_next(const char **text, size_t *len, const char *label, unsigned char *out, size_t size,
	     size_t *n);

#endif
