#include "io/mail.h"

#include <assert.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "base/secret.h"
#include "io/loop.h"

enum { CONNECT_MS = 10000, SECOND_MS = 1000 };

struct mail {
	uv_async_t async;
	mail_fn fn;
	void *ctx;
	/* The thread's, until it is done. */
	char *url, *from, *user, *password, *ca_file, *text;
	struct curl_slist *to;
	size_t len, at; /* at: so much has been read */
	bool tls;
	uint32_t timeout_ms;
	bool failed;
	struct err why;
	pthread_mutex_t lock; /* for the members below */
	bool done, closed;
	unsigned refs; /* the thread's and the loop's; the last frees it */
};

static void unref(struct mail *m)
{
	unsigned left;

	(void)pthread_mutex_lock(&m->lock);
	left = --m->refs;
	(void)pthread_mutex_unlock(&m->lock);
	if (left > 0)
		return;
	(void)pthread_mutex_destroy(&m->lock);
	curl_slist_free_all(m->to);
	secret_wipe(&m->password);
	free(m->url);
	free(m->from);
	free(m->user);
	free(m->ca_file);
	free(m->text);
	free(m);
}

/* --- in the thread -------------------------------------------------------------------------------
 */

static size_t on_read(char *out, size_t one, size_t n, void *ctx)
{
	struct mail *m = ctx;
	size_t len = m->len - m->at < one * n ? m->len - m->at : one * n;

	memcpy(out, m->text + m->at, len);
	m->at += len;
	return len;
}

/* libcurl asks about once a second. */
static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct mail *m = ctx;
	bool closed;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)pthread_mutex_lock(&m->lock);
	closed = m->closed;
	(void)pthread_mutex_unlock(&m->lock);
	return closed;
}

/* Keep the socket from programs that burstd starts. */
static int on_new_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
	(void)ctx;
	(void)purpose;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	return CURL_SOCKOPT_OK;
}

/* What a server says before the mail is of no interest, and may be long. */
static size_t on_line(char *data, size_t one, size_t n, void *ctx)
{
	(void)data;
	(void)ctx;
	return one * n;
}

/* Abort if setopt had no memory, or another mail would be sent.  Its other errors are programming
 * mistakes. */
static void set(CURLcode rc)
{
	(void)mem_check(rc == CURLE_OUT_OF_MEMORY ? NULL : &rc);
}

static void set_peer(CURL *c, const struct mail *m)
{
	set(curl_easy_setopt(c, CURLOPT_URL, m->url));
#if LIBCURL_VERSION_NUM >= 0x075500
	(void)curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
#else
	(void)curl_easy_setopt(c, CURLOPT_PROTOCOLS, (long)(CURLPROTO_SMTP | CURLPROTO_SMTPS));
#endif
	(void)curl_easy_setopt(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	(void)curl_easy_setopt(c, CURLOPT_USE_SSL,
			       (long)(m->tls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
	(void)curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	set(curl_easy_setopt(c, CURLOPT_PROXY, ""));
	(void)curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	(void)curl_easy_setopt(c, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
	if (m->ca_file != NULL) {
		set(curl_easy_setopt(c, CURLOPT_CAINFO, m->ca_file));
		/* Else the system's directory would be trusted, too. */
		(void)curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
	}
	if (m->user != NULL) {
		set(curl_easy_setopt(c, CURLOPT_USERNAME, m->user));
		set(curl_easy_setopt(c, CURLOPT_PASSWORD, m->password));
	}
}

static void set_limits(CURL *c, struct mail *m)
{
	long connect = m->timeout_ms < CONNECT_MS ? (long)m->timeout_ms : (long)CONNECT_MS;

	(void)curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)m->timeout_ms);
	(void)curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, connect);
	/* The wait for the last word, and for that to QUIT, has no other limit. */
	(void)curl_easy_setopt(c, CURLOPT_SERVER_RESPONSE_TIMEOUT,
			       (long)(m->timeout_ms + SECOND_MS - 1) / SECOND_MS);
	(void)curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	(void)curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	(void)curl_easy_setopt(c, CURLOPT_XFERINFODATA, m);
	(void)curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_line);
	(void)curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_line);
}

static void work(struct mail *m)
{
	CURL *c = mem_check(curl_easy_init());
	char text[CURL_ERROR_SIZE] = "";
	CURLcode rc;

	(void)curl_easy_setopt(c, CURLOPT_ERRORBUFFER, text);
	set_peer(c, m);
	set_limits(c, m);
	set(curl_easy_setopt(c, CURLOPT_MAIL_FROM, m->from));
	(void)curl_easy_setopt(c, CURLOPT_MAIL_RCPT, m->to);
	(void)curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
	(void)curl_easy_setopt(c, CURLOPT_READFUNCTION, on_read);
	(void)curl_easy_setopt(c, CURLOPT_READDATA, m);
	(void)curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)m->len);
	rc = curl_easy_perform(c);
	if (rc != CURLE_OK) {
		m->failed = true;
		(void)err_set(&m->why, ERR_NET, "%s",
			      text[0] != '\0' ? text : curl_easy_strerror(rc));
	}
	curl_easy_cleanup(c);
}

static void *run(void *arg)
{
	struct mail *m = arg;

	work(m);
	(void)pthread_mutex_lock(&m->lock);
	m->done = true;
	if (!m->closed)
		(void)uv_async_send(&m->async);
	(void)pthread_mutex_unlock(&m->lock);
	unref(m);
	return NULL;
}

/* A thread of its own, not one of libuv's pool: exit() waits for those, and nobody can stop a
 * resolver that hangs. */
static int begin(struct mail *m)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t id;
	int rc;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the loop's */
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&id, &attr, run, m);
	(void)pthread_attr_destroy(&attr);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* --- on the loop ---------------------------------------------------------------------------------
 */

static void on_closed(uv_handle_t *h)
{
	unref(h->data);
}

/* The loop lets go of it; the thread may still work. */
static void let_go(struct mail *m)
{
	(void)pthread_mutex_lock(&m->lock);
	m->closed = true;
	(void)pthread_mutex_unlock(&m->lock);
	uv_close((uv_handle_t *)&m->async, on_closed);
}

static void on_async(uv_async_t *a)
{
	struct mail *m = a->data;
	bool done;

	(void)pthread_mutex_lock(&m->lock);
	done = m->done;
	(void)pthread_mutex_unlock(&m->lock);
	if (!done)
		return;
	let_go(m);
	m->fn(m->ctx, m->failed ? &m->why : NULL);
}

static char *copy(const char *text)
{
	return text != NULL ? mem_strdup(text) : NULL;
}

struct mail *mail_send(struct loop *l, const struct mail_call *call, mail_fn fn, void *ctx,
		       struct err *e)
{
	struct mail *m = mem_zalloc(sizeof(*m));
	int rc;

	assert(call->timeout_ms > 0 && (call->user != NULL) == (call->password != NULL));
	m->fn = fn;
	m->ctx = ctx;
	m->url = mem_strdup(call->url);
	m->from = mem_strdup(call->from);
	m->user = copy(call->user);
	m->password = copy(call->password);
	m->ca_file = copy(call->ca_file);
	m->text = mem_zalloc(call->len + 1);
	memcpy(m->text, call->text, call->len);
	m->len = call->len;
	m->tls = call->tls;
	m->timeout_ms = call->timeout_ms;
	for (const char *const *to = call->to; *to != NULL; to++)
		m->to = mem_check(curl_slist_append(m->to, *to));
	m->refs = 2;
	(void)pthread_mutex_init(&m->lock, NULL);
	(void)uv_async_init(loop_uv(l), &m->async, on_async);
	m->async.data = m;
	rc = begin(m);
	if (rc == 0)
		return m;
	(void)err_set(e, ERR_NOTSENT, "cannot start a thread: %s", strerror(rc));
	m->refs = 1; /* there is no thread that has it */
	let_go(m);
	return NULL;
}

void mail_cancel(struct mail *m)
{
	let_go(m);
}
