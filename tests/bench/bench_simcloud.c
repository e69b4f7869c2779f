/* bench_simcloud.c - what simcloud costs: requests a second of one core, and memory.
 *
 *   bench_simcloud PATH-OF-SIMCLOUD
 *
 * Floors (the issue): 20,000 requests a second of a core with instances that boot nothing, 10,000
 * instances in 100 MB.  Prints one JSON object a line.  "per core" divides by the processor time
 * that simcloud itself used, so a busy machine or a slow client changes nothing. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONNS = 16, BUF = 1 << 16, FLOOR_PER_S = 20000, FLOOR_RSS_MB = 100 };

struct conn {
	int fd;
	size_t n;
	char buf[BUF];
};

static struct conn conns[CONNS];
static pid_t pid;
static uint16_t port;

static void die(const char *what)
{
	perror(what);
	if (pid > 0)
		(void)kill(pid, SIGKILL);
	exit(2);
}

static void start(const char *program)
{
	char url[64] = "";
	int pipes[2];
	ssize_t n;

	if (pipe(pipes) != 0)
		die("pipe");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(pipes[1], 1);
		(void)execl(program, "simcloud", (char *)NULL);
		_exit(127);
	}
	(void)close(pipes[1]);
	n = read(pipes[0], url, sizeof(url) - 1);
	(void)close(pipes[0]);
	if (n <= 0 || strrchr(url, ':') == NULL)
		die(program);
	port = (uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10);
}

static void dial(struct conn *c)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	int one = 1;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(c->fd, (struct sockaddr *)&a, sizeof(a)) != 0)
		die("connect");
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Is a whole reply in?  Its status must be 200. */
static bool whole(struct conn *c)
{
	const char *end, *len;

	c->buf[c->n] = '\0';
	end = strstr(c->buf, "\r\n\r\n");
	if (end == NULL)
		return false;
	len = strstr(c->buf, "Content-Length: ");
	if (strncmp(c->buf, "HTTP/1.1 200", 12) != 0 || len == NULL) {
		(void)fprintf(stderr, "%s\n", c->buf);
		die("reply");
	}
	return c->n >= (size_t)(end + 4 - c->buf) + strtoul(len + 16, NULL, 10);
}

static void receive(struct conn *c)
{
	ssize_t n = read(c->fd, c->buf + c->n, BUF - 1 - c->n);

	if (n <= 0)
		die("read");
	c->n += (size_t)n;
}

static void send_text(struct conn *c, const char *text)
{
	size_t len = strlen(text);

	c->n = 0;
	if (write(c->fd, text, len) != (ssize_t)len)
		die("write");
}

typedef void (*request_fn)(char *out, size_t size, unsigned k);

static void post(char *out, size_t size, const char *path, const char *body)
{
	(void)snprintf(out, size, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
		       path, strlen(body), body);
}

static void rq_create(char *out, size_t size, unsigned k)
{
	char body[512];

	(void)snprintf(
		body, sizeof(body),
		"{\"token\":\"t%u\",\"cluster\":\"c\",\"type\":\"gpu_8x_h100\",\"region\":"
		"\"eu-north-1\",\"market\":\"on-demand\",\"instances\":[{\"name\":\"node-%u\","
		"\"generation\":1,\"group\":0}]}",
		k, k);
	post(out, size, "/v1/instances", body);
}

static void rq_get(char *out, size_t size, unsigned k)
{
	(void)snprintf(out, size, "GET /v1/instances/sim-%08x HTTP/1.1\r\nHost: x\r\n\r\n",
		       k % 10000);
}

static void rq_delete(char *out, size_t size, unsigned k)
{
	char body[64];

	(void)snprintf(body, sizeof(body), "{\"ids\":[\"sim-%08x\"]}", k);
	post(out, size, "/v1/instances/delete", body);
}

static void rq_list(char *out, size_t size, unsigned k)
{
	(void)snprintf(
		out, size,
		"GET /v1/instances?cluster=c&limit=100&cursor=c%u HTTP/1.1\r\nHost: x\r\n\r\n",
		k % 100 * 100);
}

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Field k (from 1) of /proc/PID/stat after the name. */
static double cpu_seconds(void)
{
	char path[64], text[1024] = "", *p;
	unsigned long sum = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f == NULL || fgets(text, sizeof(text), f) == NULL || (p = strrchr(text, ')')) == NULL)
		die(path);
	(void)fclose(f);
	for (int field = 3; field <= 15; field++) {
		p = strchr(p, ' ') + 1;
		if (field >= 14)
			sum += strtoul(p, NULL, 10);
	}
	return (double)sum / (double)sysconf(_SC_CLK_TCK);
}

static long rss_mb(void)
{
	char path[64];
	long pages = 0, unused;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "r");
	if (f == NULL || fscanf(f, "%ld %ld", &unused, &pages) != 2)
		die(path);
	(void)fclose(f);
	return pages * sysconf(_SC_PAGESIZE) >> 20;
}

/* n requests over all connections, one in flight on each. */
static double run(const char *what, request_fn fn, unsigned n)
{
	struct pollfd fds[CONNS];
	unsigned sent = 0, done = 0;
	double cpu = cpu_seconds(), wall = now();
	char text[1024];

	for (int i = 0; i < CONNS; i++) {
		fds[i] = (struct pollfd){.fd = conns[i].fd, .events = POLLIN};
		fn(text, sizeof(text), sent++);
		send_text(&conns[i], text);
	}
	while (done < n) {
		if (poll(fds, CONNS, 10000) <= 0)
			die("poll");
		for (int i = 0; i < CONNS; i++) {
			if (fds[i].revents == 0)
				continue;
			receive(&conns[i]);
			if (!whole(&conns[i]))
				continue;
			done++;
			if (sent == n) {
				fds[i].fd = -1;
				continue;
			}
			fn(text, sizeof(text), sent++);
			send_text(&conns[i], text);
		}
	}
	cpu = cpu_seconds() - cpu;
	wall = now() - wall;
	(void)printf("{\"bench\":\"simcloud\",\"what\":\"%s\",\"requests\":%u,\"per_s\":%.0f,"
		     "\"per_core_s\":%.0f,\"floor\":%d}\n",
		     what, n, n / wall, n / cpu, FLOOR_PER_S);
	return n / cpu;
}

int main(int argc, char **argv)
{
	double worst = 1e9, got;
	long rss;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: bench_simcloud PATH-OF-SIMCLOUD\n");
		return 2;
	}
	start(argv[1]);
	for (int i = 0; i < CONNS; i++)
		dial(&conns[i]);
	worst = (got = run("create", rq_create, 10000)) < worst ? got : worst;
	rss = rss_mb();
	worst = (got = run("get", rq_get, 100000)) < worst ? got : worst;
	/* A hundred instances each: bytes, not requests, are the cost; no floor of its own. */
	(void)run("list-100", rq_list, 2000);
	worst = (got = run("delete", rq_delete, 10000)) < worst ? got : worst;
	(void)printf("{\"bench\":\"simcloud\",\"what\":\"rss\",\"instances\":10000,\"mb\":%ld,"
		     "\"floor\":%d}\n",
		     rss, FLOOR_RSS_MB);
	(void)kill(pid, SIGTERM);
	(void)waitpid(pid, NULL, 0);
	return worst >= FLOOR_PER_S && rss <= FLOOR_RSS_MB ? 0 : 1;
}
