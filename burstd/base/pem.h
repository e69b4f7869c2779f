/* pem.h - PEM to bytes: one block after the other, and no more than that.
 *
 * OpenSSL's own reader passes over what it does not know, and asks at the terminal for the password
 * of a block that says it is encrypted: nothing for a text that comes from the network. */
#ifndef BURSTD_PEM_H
#define BURSTD_PEM_H

#include <stddef.h>

/* The next block of this label ("CERTIFICATE") in *text: its bytes into out, *text and *len move
 * behind it.  1; 0: there is none, and what is left may be anything but a block; -1: it is another
 * block, has headers, is no base64, or does not fit. */
int pem_next(const char **text, size_t *len, const char *label, unsigned char *out, size_t size,
	     size_t *n);

#endif
