#include "io/conf_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/str.h"
#include "core/conf_option.h"
#include "io/conf_file_private.h"
#include "io/prices_file.h"

/* --- a text ----------------------------------------------------------------------------------- */

static void parse(struct conf_loader *l, char *text, size_t len)
{
	cfg_t *cfg = conf_section_parser(l);
	char blank[] = " "; /* fmemopen() may refuse to open nothing */
	FILE *in = mem_check(fmemopen(len > 0 ? text : blank, len > 0 ? len : 1, "r"));

	if (cfg_parse_fp(cfg, in) != CFG_SUCCESS)
		conf_loader_fail(l, conf_loader_last_line(cfg), "syntax error");
	(void)fclose(in);
	l->conf->state_dir_line = conf_section_line_of(l, "", "state_dir");
	l->conf->slurm_bin_line = conf_section_line_of(l, "slurm", "bin_dir");
	l->conf->slurm_conf_line = conf_section_line_of(l, "slurm", "conf");
	l->conf->prices_line = conf_section_line_of(l, "", "prices_file");
	if (!l->failed && conf_section_set(l, cfg, l->conf) == 0)
		if (conf_section_set(l, cfg_getsec(cfg, "slurm"), l->conf) == 0 &&
		    conf_section_set(l, cfg_getsec(cfg, "secrets"), l->conf) == 0)
			(void)conf_section_set(l, cfg_getsec(cfg, "nodes"), l->conf);
	conf_section_drop_offers(l); /* offers of a pool without an end */
	map_fini(&l->budgets);
	(void)cfg_free(cfg);
}

int conf_file_parse(struct conf **out, const char *name, const char *text,
		    const struct conf_driver *const *drivers, struct err *e)
{
	struct conf_loader l = {.name = name, .conf = conf_new(name), .e = e, .drivers = drivers};
	size_t len = strnlen(text, CONF_FILE_MAX + 1);
	char *copy = mem_zalloc(len + 2);

	*out = NULL;
	memcpy(copy, text, len);
	if (len > CONF_FILE_MAX)
		conf_loader_fail(&l, 1, "longer than %d bytes", CONF_FILE_MAX);
	else if (conf_scan_text(&l, copy) == 0)
		parse(&l, copy, len);
	free(copy);
	if (l.failed || conf_finish(l.conf, e) < 0) {
		conf_free(l.conf);
		return -1;
	}
	*out = l.conf;
	return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static int check_file(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(e, ERR_IO, "%.150s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_AUTH, "%.150s: not a regular file", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(e, ERR_AUTH,
			       "%.150s: owned by uid %u; must be owned by root or uid %u", path,
			       (unsigned)st.st_uid, (unsigned)geteuid());
	if ((st.st_mode & 022) != 0)
		return err_set(e, ERR_AUTH,
			       "%.150s: writable by group or others (mode %04o): chmod go-w", path,
			       (unsigned)st.st_mode & 07777);
	if (st.st_size > CONF_FILE_MAX)
		return err_set(e, ERR_LIMIT, "%.150s: longer than %d bytes", path, CONF_FILE_MAX);
	return 0;
}

static int read_all(int fd, char *buf, const char *path, struct err *e)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, buf + len, CONF_FILE_MAX + 1 - len)) > 0)
		len += (size_t)n;
	if (n < 0)
		return err_set(e, ERR_IO, "%.150s: %s", path, strerror(errno));
	if (strncmp(buf, "\xff\xfe", 2) == 0 || strncmp(buf, "\xfe\xff", 2) == 0)
		return err_set(e, ERR_INVALID, "%.150s:1: is UTF-16: save the file as UTF-8", path);
	if (strlen(buf) != len)
		return err_set(e, ERR_INVALID, "%.150s: contains a NUL byte", path);
	return 0;
}

/* Load the text of the file that this option names, unless it was loaded. */
static int load_text(char **out, const char *option, const char *path, struct err *e)
{
	int fd = -1, rc = 0;
	char *text = NULL;

	if (path == NULL || *out != NULL)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %.150s: %s", option, path, strerror(errno));
	text = mem_zalloc(CONF_FILE_MAX + 2);
	rc = check_file(fd, path, e);
	if (rc == 0)
		rc = read_all(fd, text, path, e);
	if (rc == 0)
		*out = mem_strdup(text);
	else
		(void)err_wrap(e, "%s", option);
	free(text);
	(void)close(fd);
	return rc;
}

int conf_file_load_user_data(struct conf_provider *p, struct err *e)
{
	return load_text(&p->user_data, "user_data_file", p->user_data_file, e);
}

int conf_file_load_attest_ca(struct conf_provider *p, struct err *e)
{
	return load_text(&p->attest_ca, "attest_ca_file", p->attest_ca_file, e);
}

int conf_file_load_store_ca(const struct conf *c, char **out, struct err *e)
{
	*out = NULL;
	return load_text(out, "ca_file", c->secrets.ca_file, e);
}

/* A credential that systemd loads is a file in a directory that it makes for the service alone. */
static void place(char **path)
{
	const char *dir = getenv("CREDENTIALS_DIRECTORY");
	const size_t n = strlen(CONF_CREDENTIAL);
	struct str s;

	if (*path == NULL || strncmp(*path, CONF_CREDENTIAL, n) != 0)
		return;
	str_init(&s, PATH_MAX);
	str_addf(&s, "%s/%s", dir != NULL && dir[0] == '/' ? dir : PATHS_CREDENTIALS, *path + n);
	free(*path);
	*path = str_take(&s);
}

static void place_credentials(struct conf *c)
{
	place(&c->secrets.credential_file);
	for (size_t i = 0; i < c->nproviders; i++)
		place(&c->providers[i].credential_file);
	for (size_t i = 0; i < c->nalerts; i++) {
		place(&c->alerts[i].url_file);
		place(&c->alerts[i].secret_file);
		place(&c->alerts[i].password_file);
	}
}

/* Load the file of negotiated prices, if one is named. */
static int load_prices(struct conf *c, struct err *e)
{
	char *text = NULL;
	int rc = 0;

	if (load_text(&text, "prices_file", c->prices_file, e) < 0)
		return err_wrap(e, "%.120s:%d", c->path, c->prices_line);
	if (text != NULL)
		rc = prices_file_parse(c, text, e);
	free(text);
	return rc;
}

int conf_file_load(struct conf **out, const char *path, const struct conf_driver *const *drivers,
		   struct err *e)
{
	/* O_NONBLOCK: a FIFO in its place must not hang us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	int rc = -1;

	*out = NULL;
	if (fd < 0 && errno == ENOENT && strcmp(path, PATHS_CONF) == 0)
		return err_set(e, ERR_IO,
			       "%s: %s; to use another file: burstd --config FILE, "
			       "burstctl config check FILE, burstctl check FILE",
			       path, strerror(errno));
	if (fd < 0)
		return err_set(e, ERR_IO, "%.150s: %s", path, strerror(errno));
	if (check_file(fd, path, e) < 0)
		goto out;
	text = mem_zalloc(CONF_FILE_MAX + 2);
	if (read_all(fd, text, path, e) < 0)
		goto out;
	rc = conf_file_parse(out, path, text, drivers, e);
	if (rc == 0)
		place_credentials(*out);
	if (rc == 0 && load_prices(*out, e) < 0) {
		conf_free(*out);
		*out = NULL;
		rc = -1;
	}
out:
	free(text);
	(void)close(fd);
	return rc;
}
