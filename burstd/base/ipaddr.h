/* ipaddr.h - are two texts the same IP address, and is a host this machine?
 *
 * One IPv6 address has many spellings, and providers, slurmctld and people use different ones. */
#ifndef BURSTD_IPADDR_H
#define BURSTD_IPADDR_H

#include <stdbool.h>

/* The same address, however spelt: capitals, leading zeros, "::", an IPv4 tail, and IPv4 as
 * ::ffff:a.b.c.d.  What is no address (a host name) is the same only as itself. */
bool ipaddr_same(const char *a, const char *b);

/* Is the host at the beginning of text, up to ":", "/" or its end, this machine: an IPv4 address of
 * 127.0.0.0/8, "localhost" or "[::1]"?  A name that begins with "127." is any machine's. */
bool ipaddr_host_is_loopback(const char *text);

#endif
