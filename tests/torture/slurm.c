/* slurm.c - in place of scontrol and squeue: a slurmctld of two nodes and one job, in a file.
 *
 * A smaller one than tests/bench/standin.c, for a job must go through refusals here: what is sent
 * back powers down and is wanted again, as a requeued job wants its nodes.
 *
 *	slurm init     both powered down
 *	slurm submit   the job wants them: POWERING_UP
 *	slurm cancel   it has ended: POWERING_DOWN
 *	slurm show     resumes since `init`, and of each node a letter and its address
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FILE_NAME "/run/torture/slurm"
enum { NODES = 2, BOOT_MS = 20, DOWN_MS = 40, REQUEUE_MS = 60 };

enum state { POWERED_DOWN, POWERING_UP, UP, POWERING_DOWN, NSTATES };

static const char *const words[NSTATES] = {
	[POWERED_DOWN] = "IDLE+CLOUD+POWERED_DOWN",
	[POWERING_UP] = "ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP",
	[UP] = "ALLOCATED+CLOUD",
	[POWERING_DOWN] = "IDLE+CLOUD+POWERING_DOWN",
};

struct cluster {
	bool wanted;
	unsigned resumes;
	struct node {
		int64_t since_ms; /* POWERING_UP: when it had an address; 0: not yet */
		enum state state;
		bool down;
		char addr[48];
	} node[NODES];
};

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void set(struct cluster *c, enum state s)
{
	for (int i = 0; i < NODES; i++) {
		struct node *n = &c->node[i];

		n->state = s;
		n->since_ms = s == POWERING_UP ? 0 : now_ms();
		if (s == POWERING_UP)
			(void)snprintf(n->addr, sizeof(n->addr), "c%d", i + 1);
	}
	c->resumes += s == POWERING_UP;
}

/* What slurmctld does by itself as time goes by. */
static void advance(struct cluster *c)
{
	int64_t now = now_ms();
	int down = 0;

	for (int i = 0; i < NODES; i++) {
		struct node *n = &c->node[i];

		if (n->state == POWERING_UP && n->since_ms != 0 && now >= n->since_ms + BOOT_MS)
			n->state = UP;
		if (n->state == POWERING_DOWN && now >= n->since_ms + DOWN_MS)
			n->state = POWERED_DOWN;
		down += n->state == POWERED_DOWN && now >= n->since_ms + REQUEUE_MS;
	}
	if (c->wanted && down == NODES)
		set(c, POWERING_UP);
}

static struct cluster *map(void)
{
	int fd = open(FILE_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *p;

	if (fd < 0 || flock(fd, LOCK_EX) != 0 || ftruncate(fd, sizeof(struct cluster)) != 0)
		exit(9);
	p = mmap(NULL, sizeof(struct cluster), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		exit(9);
	return p; /* and the lock, until we end */
}

static int show_nodes(struct cluster *c)
{
	for (int i = 0; i < NODES; i++) {
		const struct node *n = &c->node[i];

		(void)printf("NodeName=c%d CoresPerSocket=1 CPUAlloc=0 CPUTot=8 NodeAddr=%s "
			     "NodeHostName=c%d "
			     "RealMemory=1000 State=%s%s ThreadsPerCore=1 Partitions=cloud "
			     "BootTime=None\n",
			     i + 1, n->addr, i + 1, n->down ? "DOWN+" : "", words[n->state]);
	}
	return fflush(stdout) != 0;
}

static const char *after(const char *arg, const char *key)
{
	return strncmp(arg, key, strlen(key)) == 0 ? arg + strlen(key) : NULL;
}

static void change(struct cluster *c, struct node *n, const char *addr, const char *state)
{
	if (addr != NULL) {
		(void)snprintf(n->addr, sizeof(n->addr), "%.*s", (int)strcspn(addr, ","), addr);
		if (n->state == POWERING_UP)
			n->since_ms = now_ms();
	}
	if (state == NULL)
		return;
	if (strcmp(state, "DOWN") == 0)
		n->down = true;
	if (strcmp(state, "RESUME") == 0)
		n->down = false;
	if (strncmp(state, "POWER_DOWN", 10) == 0) { /* the job goes back into the queue, whole */
		n->down = false;
		set(c, POWERING_DOWN);
	}
}

static int update(struct cluster *c, int argc, char **argv)
{
	const char *nodes = NULL, *addrs = NULL, *state = NULL, *v;

	for (int i = 2; i < argc; i++) {
		if ((v = after(argv[i], "nodename=")) != NULL)
			nodes = v;
		else if ((v = after(argv[i], "nodeaddr=")) != NULL)
			addrs = v;
		else if ((v = after(argv[i], "state=")) != NULL)
			state = v;
	}
	while (nodes != NULL) {
		int i = nodes[0] == 'c' ? nodes[1] - '1' : -1;

		if (i < 0 || i >= NODES)
			return 1;
		change(c, &c->node[i], addrs, state);
		nodes = strchr(nodes, ',');
		nodes += nodes != NULL;
		addrs = addrs != NULL ? strchr(addrs, ',') : NULL;
		addrs += addrs != NULL;
	}
	return 0;
}

static int squeue(const struct cluster *c)
{
	bool up = true, powered = true;

	for (int i = 0; i < NODES; i++) {
		up = up && c->node[i].state == UP;
		powered = powered && (c->node[i].state == UP || c->node[i].state == POWERING_UP);
	}
	if (c->wanted)
		(void)printf("7|7|%s|cloud|None|%s\n",
			     up        ? "RUNNING"
			     : powered ? "CONFIGURING"
				       : "PENDING",
			     powered ? "c[1-2]" : "");
	return fflush(stdout) != 0;
}

static int show(const struct cluster *c)
{
	(void)printf("%u", c->resumes);
	for (int i = 0; i < NODES; i++)
		(void)printf(" %c%s", "duUD"[c->node[i].state], c -> node[i].addr);
	return puts("") < 0;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/'), *what = argc > 1 ? argv[1] : "";
	struct cluster *c = map();

	name = name != NULL ? name + 1 : argv[0];
	advance(c);
	if (strcmp(name, "squeue") == 0)
		return squeue(c);
	if (strcmp(name, "scontrol") == 0 && argc > 3 && strcmp(argv[3], "nodes") == 0)
		return show_nodes(c);
	if (strcmp(name, "scontrol") == 0)
		return strcmp(what, "update") == 0 ? update(c, argc, argv) : 0;
	if (strcmp(what, "init") == 0) {
		memset(c, 0, sizeof(*c));
		set(c, POWERED_DOWN);
	} else if (strcmp(what, "submit") == 0) {
		c->wanted = true;
		set(c, POWERING_UP);
	} else if (strcmp(what, "cancel") == 0) {
		c->wanted = false;
		set(c, POWERING_DOWN);
	} else if (strcmp(what, "show") != 0) {
		return 2;
	}
	return strcmp(what, "show") == 0 ? show(c) : 0;
}
