/* The connections of nodes: accepts those that the gate lets in, keeps each one's address and peer,
 * and cuts those that must go. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/node_thread_private.h"

void node_count_add(struct node_server *s, enum node_count what)
{
	(void)atomic_fetch_add_explicit(&s->count[what], 1, memory_order_relaxed);
}

/* MHD has no call to close a connection, but notices that the socket is shut down. */
void node_conn_cut(struct node_server *s, struct node_conn *nc, enum node_count why)
{
	if (nc->cut)
		return;
	nc->cut = true;
	node_count_add(s, why);
	(void)shutdown(nc->fd, SHUT_RDWR);
}

void node_conn_oust(struct node_server *s, struct node_gate_conn *c)
{
	if (c != NULL)
		node_conn_cut(s, (struct node_conn *)((char *)c - offsetof(struct node_conn, gate)),
			      NODE_OUSTED);
}

static struct node_gate_key key_of(const struct sockaddr *sa)
{
	struct node_gate_key k = {.octet = {[10] = 0xff, [11] = 0xff}};
	struct sockaddr_in six4;
	struct sockaddr_in6 six;

	if (sa->sa_family == AF_INET) {
		memcpy(&six4, sa, sizeof(six4));
		memcpy(k.octet + 12, &six4.sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(&six, sa, sizeof(six));
		memcpy(k.octet, &six.sin6_addr, 16);
	}
	return k;
}

static uint16_t port_of(const struct sockaddr *sa)
{
	struct sockaddr_in six4 = {0};
	struct sockaddr_in6 six = {0};

	if (sa->sa_family == AF_INET6) {
		memcpy(&six, sa, sizeof(six));
		return ntohs(six.sin6_port);
	}
	memcpy(&six4, sa, sizeof(six4));
	return ntohs(six4.sin_port);
}

enum MHD_Result node_conn_on_accept(void *cls, const struct sockaddr *sa, socklen_t len)
{
	struct node_server *s = cls;
	struct node_gate_key k = key_of(sa);
	struct node_gate_conn *out;

	(void)len;
	switch (node_gate_knock(s->gate, &k, clock_boot_ms(), &out)) {
	case NODE_GATE_OPEN:
		node_conn_oust(s, out);
		return MHD_YES;
	case NODE_GATE_RATE:
		node_count_add(s, NODE_OVER_RATE);
		return MHD_NO;
	case NODE_GATE_FULL:
		break;
	}
	node_count_add(s, NODE_OVER_NUMBER);
	return MHD_NO;
}

static void write_address(struct node_conn *nc, const struct node_gate_key *k)
{
	static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff};

	if (memcmp(k->octet, four, sizeof(four)) == 0)
		(void)inet_ntop(AF_INET, k->octet + 12, nc->address, sizeof(nc->address));
	else
		(void)inet_ntop(AF_INET6, k->octet, nc->address, sizeof(nc->address));
}

static void enter(struct node_server *s, struct MHD_Connection *conn, void **place)
{
	struct node_conn *nc = mem_zalloc(sizeof(*nc));
	int64_t now = clock_boot_ms();
	const struct sockaddr *sa =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
	struct node_gate_key k = key_of(sa);

	nc->s = s;
	nc->fd = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	nc->since_ms = now;
	node_gate_enter(s->gate, &nc->gate, &k, now);
	write_address(nc, &k);
	nc->port = port_of(sa);
	nc->tls = node_tls_ref(s->tls);
	node_tls_use(
		nc->tls,
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session);
	nc->next = s->conns;
	nc->prev = &s->conns;
	if (nc->next != NULL)
		nc->next->prev = &nc->next;
	s->conns = nc;
	s->unheard++;
	s->moves++;
	*place = nc;
	node_count_add(s, NODE_ACCEPTED);
	node_count_add(s, NODE_OPEN);
}

static void leave(struct node_server *s, struct node_conn *nc)
{
	if (!nc->spoke) {
		node_count_add(s, NODE_MUTE);
		s->unheard--;
	}
	s->moves++;
	*nc->prev = nc->next;
	if (nc->next != NULL)
		nc->next->prev = nc->prev;
	node_gate_leave(s->gate, &nc->gate, clock_boot_ms());
	(void)atomic_fetch_sub_explicit(&s->count[NODE_OPEN], 1, memory_order_relaxed);
	/* MHD is about to end the session; it has no more use for the credentials. */
	node_tls_unref(nc->tls);
	free(nc);
}

void node_conn_on_connection(void *cls, struct MHD_Connection *conn, void **place,
			     enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		enter(cls, conn, place);
	else if (*place != NULL)
		leave(cls, *place);
}
