/* ipaddr.h - compares IP addresses, and recognises this machine's own.
 *
 * One IPv6 address has many spellings, and providers, slurmctld and people use different ones. */
#ifndef BURSTD_IPADDR_H
#define BURSTD_IPADDR_H

#include <stdbool.h>

/* Is it an IPv4 or IPv6 address, in any spelling, without a zone, brackets or a port? */
bool ipaddr_is(const char *text);

/* Are both texts the same address, in any spelling: capitals, leading zeros, "::", an IPv4 tail,
 * IPv4 as ::ffff:a.b.c.d?  A text that is no address (a host name) only equals itself. */
bool ipaddr_same(const char *a, const char *b);

/* Is the host at the beginning of text, up to ":", "/" or the end, this machine: an IPv4 address in
 * 127.0.0.0/8, "localhost" or "[::1]"?  A name that begins with "127." may be any machine. */
bool ipaddr_host_is_loopback(const char *text);

#endif
