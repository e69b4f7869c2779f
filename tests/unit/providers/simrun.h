/* simrun.h - for tests: a real simcloud in a child process, asked over HTTP. */
#ifndef TESTS_SIMRUN_H
#define TESTS_SIMRUN_H

#include <curl/curl.h>
#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/provider.h"
#include "providers/simcloud/app.h"

enum { SIMRUN_ARGS = 32 };

struct simrun {
	pid_t pid;
	char dir[64], url[64];
};

struct simrun_reply {
	long status;
	CURLcode rc;
	struct str body;
	json_t *json; /* NULL: not JSON */
	char retry_after[32];
	char heads[2048]; /* all headers, as they came; those that do not fit are left out */
};

/* Start simcloud; args is NULL-terminated, without "simcloud" itself. */
static inline void simrun_start(struct simrun *s, const char *const *args)
{
	const char *argv[SIMRUN_ARGS + 2] = {"simcloud"};
	int pipes[2], argc = 1;
	ssize_t n = 0, got;

	while (args != NULL && args[argc - 1] != NULL) {
		assert_true(argc < SIMRUN_ARGS);
		argv[argc] = args[argc - 1];
		argc++;
	}
	assert_int_equal(pipe(pipes), 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(pipes[1], 1);
		(void)close(pipes[0]);
		(void)close(pipes[1]);
		_exit(app_main(argc, (char **)(uintptr_t)argv));
	}
	(void)close(pipes[1]);
	memset(s->url, 0, sizeof(s->url));
	while (n < (ssize_t)sizeof(s->url) - 1 && memchr(s->url, '\n', sizeof(s->url)) == NULL &&
	       (got = read(pipes[0], s->url + n, sizeof(s->url) - 1 - (size_t)n)) > 0)
		n += got;
	(void)close(pipes[0]);
	s->url[strcspn(s->url, "\n")] = '\0';
	assert_non_null(strstr(s->url, "http://127.0.0.1:"));
}

/* Stop it by sig; returns the exit status, or -1 if it died of a signal. */
static inline int simrun_stop(struct simrun *s, int sig)
{
	int status;

	(void)kill(s->pid, sig);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	s->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void simrun_dir(struct simrun *s)
{
	(void)snprintf(s->dir, sizeof(s->dir), "%s/simcloud-test.XXXXXX",
		       getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(s->dir));
}

enum { SIMRUN_PATH = 512 };

static inline char *simrun_path(char out[SIMRUN_PATH], const char *dir, const char *name)
{
	int n = snprintf(out, SIMRUN_PATH, "%s/%s", dir, name);

	assert_true(n > 0 && n < SIMRUN_PATH);
	return out;
}

static inline void simrun_remove(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *de;

	while (d != NULL && (de = readdir(d)) != NULL) {
		char sub[SIMRUN_PATH];

		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		(void)simrun_path(sub, path, de->d_name);
		if (unlink(sub) != 0)
			simrun_remove(sub);
	}
	if (d != NULL)
		(void)closedir(d);
	(void)rmdir(path);
}

static inline void simrun_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

static inline size_t simrun_on_body(char *data, size_t size, size_t n, void *ctx)
{
	str_add(ctx, data, size * n);
	return size * n;
}

static inline size_t simrun_on_header(char *data, size_t size, size_t n, void *ctx)
{
	struct simrun_reply *r = ctx;

	if (strlen(r->heads) + size * n < sizeof(r->heads))
		(void)strncat(r->heads, data, size * n);
	if (size * n > 13 && strncasecmp(data, "Retry-After: ", 13) == 0)
		(void)snprintf(r->retry_after, sizeof(r->retry_after), "%.*s",
			       (int)strcspn(data + 13, "\r"), data + 13);
	return size * n;
}

/* Send a request; headers may be NULL, body NULL: none. */
static inline void simrun_send(struct simrun_reply *r, const char *method, const char *url,
			       struct curl_slist *headers, const char *body)
{
	CURL *h = curl_easy_init();

	*r = (struct simrun_reply){0};
	str_init(&r->body, 1 << 26);
	(void)curl_easy_setopt(h, CURLOPT_URL, url);
	(void)curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, method);
	(void)curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
	(void)curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, 20000L);
	(void)curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, simrun_on_body);
	(void)curl_easy_setopt(h, CURLOPT_WRITEDATA, &r->body);
	(void)curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, simrun_on_header);
	(void)curl_easy_setopt(h, CURLOPT_HEADERDATA, r);
	if (body != NULL)
		(void)curl_easy_setopt(h, CURLOPT_POSTFIELDS, body);
	r->rc = curl_easy_perform(h);
	(void)curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &r->status);
	curl_easy_cleanup(h);
	r->json = json_loadb(r->body.p, r->body.len, 0, NULL);
}

static inline void simrun_done(struct simrun_reply *r)
{
	str_fini(&r->body);
	json_decref(r->json);
}

/* All headers of a reply, as the engine has them. */
static inline struct headers simrun_headers(const struct simrun_reply *r)
{
	struct headers all = {0};
	char line[1024];

	for (const char *p = r->heads; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
		char *colon;

		(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\r\n"), p);
		colon = strchr(line, ':');
		if (colon == NULL)
			continue;
		*colon = '\0';
		headers_add(&all, line, colon + 1 + strspn(colon + 1, " "));
	}
	return all;
}

/* Run one operation as the engine would: build, send, parse.  -1: no reply. */
static inline int simrun_drive(const struct provider_ops *ops, const void *driver,
			       const struct provider_op *op, struct provider_result *out)
{
	struct provider_request rq = {0};
	struct curl_slist *headers = NULL;
	struct simrun_reply r;
	struct provider_reply reply;

	*out = (struct provider_result){0};
	assert_int_equal(ops->build(driver, op, &rq, NULL), 0);
	for (int i = 0; rq.headers[i] != NULL; i++)
		headers = curl_slist_append(headers, rq.headers[i]);
	simrun_send(&r, rq.method, rq.url, headers, rq.body);
	curl_slist_free_all(headers);
	provider_request_fini(&rq);
	if (r.rc == CURLE_OK) {
		reply = (struct provider_reply){.status = r.status,
						.body = r.body.p,
						.len = r.body.len,
						.headers = simrun_headers(&r)};
		ops->parse(driver, op, &reply, out);
		if (ops->request_id != NULL)
			ops->request_id(driver, &reply, out->request_id);
		headers_free(&reply.headers);
	}
	simrun_done(&r);
	return r.rc == CURLE_OK ? 0 : -1;
}

/* Send a request to s, which must answer `status`; the reply is the caller's. */
static inline json_t *simrun_ask(const struct simrun *s, const char *method, const char *path,
				 const char *body, long status)
{
	struct simrun_reply r;
	char url[512];
	json_t *json;

	(void)snprintf(url, sizeof(url), "%s%s", s->url, path);
	simrun_send(&r, method, url, NULL, body);
	if (r.status != status)
		print_error("%s %s: %ld %s\n", method, path, r.status, r.body.p);
	assert_int_equal(r.status, status);
	json = json_incref(r.json);
	simrun_done(&r);
	return json;
}

/* Likewise, when only the effect matters. */
static inline void simrun_do(const struct simrun *s, const char *method, const char *path,
			     const char *body)
{
	json_decref(simrun_ask(s, method, path, body, 200));
}

static inline int64_t simrun_int(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return (int64_t)json_integer_value(json_object_get(o, key));
}

#endif
