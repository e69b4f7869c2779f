/* flood.c - the node-facing listener under attack and under load, and what those feel of it who ask
 * at the control socket, on the same loop.
 *
 *	flood serve CERT KEY [alone]
 *	flood attack PORT CLAIMS CONNS SECONDS
 *	flood claim PORT NODES SECONDS
 *	flood beat PORT CA NODES SECONDS
 *	flood ask N
 *
 * serve: the real listener and the real control socket on one loop, as in burstd; a
 * request is answered after one fdatasync.  Prints the port; on SIGTERM the listener's counters, as
 *JSON.  alone: without a control socket.
 *
 * attack: so many bad claims a second if the listener lets them in, and so many new connections;
 * prints what came of them.  It comes from 127.0.0.0/8, which has addresses enough.
 *
 * claim: so many nodes, within so many seconds, each with a good claim, an address of its own and
 * the patience of stage0; prints how long it took them.
 *
 * beat: nodes c1, c2, ... with certificates of the authority in the file CA (its key too) keep a
 * connection each and send a heartbeat each 30 s.  Prints "up" when all are connected, and after so
 * many seconds more what came of it.
 *
 * ask: so many requests at the control socket, one each 20 ms: "STATUS MICROSECONDS". */
#include "flood.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	if ((argc == 4 || argc == 5) && strcmp(argv[1], "serve") == 0)
		return serve(argv[2], argv[3], argc == 5);
	if (argc == 6 && strcmp(argv[1], "attack") == 0)
		return attack(argv + 2);
	if (argc == 5 && strcmp(argv[1], "claim") == 0)
		return nodes_claim(argv + 2);
	if (argc == 6 && strcmp(argv[1], "beat") == 0)
		return nodes_beat(argv + 2);
	if (argc == 3 && strcmp(argv[1], "ask") == 0)
		return ask(strtoul(argv[2], NULL, 10));
	(void)fprintf(stderr,
		      "usage: flood serve CERT KEY [alone] | attack PORT CLAIMS CONNS SECONDS\n"
		      "     | claim PORT NODES SECONDS | beat PORT CA NODES SECONDS | ask N\n");
	return 2;
}
