#include "providers/simcloud/meter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "providers/simcloud/js.h"

enum {
	FILE_MAX_BYTES = 1 << 30, /* METER_ROWS_MAX rows are about as much */
	LINE_BYTES = 8192,        /* a row's strings are short, but escaping can make 6 of 1 */
	WORD_SIZE = 128,
	HOUR_MS = 3600000,
};

struct meter *meter_new(void)
{
	struct meter *m = mem_zalloc(sizeof(*m));

	m->fd = -1;
	m->words = mem_zalloc(sizeof(*m->words));
	map_init(m->words);
	return m;
}

void meter_free(struct meter *m)
{
	if (m == NULL)
		return;
	if (m->fd >= 0)
		(void)close(m->fd);
	map_fini(m->words);
	free(m->words);
	for (size_t i = 0; i < m->nowned; i++)
		free(m->owned[i]);
	free(m->owned);
	for (uint32_t i = 0; i < m->n; i++)
		free(m->rows[i].later);
	free(m->rows);
	free(m);
}

static const char *intern(struct meter *m, const char *text)
{
	char *word = map_get(m->words, text);

	if (word != NULL)
		return word;
	if (m->nowned == m->owned_cap) {
		m->owned_cap = m->owned_cap == 0 ? 64 : 2 * m->owned_cap;
		m->owned = mem_realloc(m->owned, m->owned_cap * sizeof(*m->owned));
	}
	word = m->owned[m->nowned++] = mem_strdup(text);
	map_put(m->words, word, word);
	return word;
}

static void seen(struct meter *m, int64_t now)
{
	if (now > m->last_ms)
		m->last_ms = now;
}

/* One line, one write: a kill leaves whole lines, a full disk at worst a torn last one. */
static void append(struct meter *m, struct str *line)
{
	str_add(line, "\n", 1);
	assert(!line->full);
	if (write(m->fd, line->p, line->len) != (ssize_t)line->len) {
		(void)fprintf(stderr, "simcloud: state file: %s\n", strerror(errno));
		abort(); /* an audit without all records would be wrong */
	}
	str_fini(line);
}

static void write_row(struct str *s, const struct meter_row *r)
{
	char price[FMT_MONEY_SIZE];

	js_str(s, "name", r->node);
	js_int(s, "generation", (int64_t)r->gen);
	js_str(s, "cluster", r->cluster);
	js_str(s, "type", r->type);
	js_str(s, "region", r->region);
	js_str(s, "zone", r->zone);
	js_str(s, "market", market_word(r->market));
	js_str(s, "price", fmt_money(price, r->price_nano_h));
	js_str(s, "currency", r->currency);
}

static void record(struct meter *m, const char *what, uint32_t row, int64_t now, const char *why)
{
	char id[METER_ID_SIZE], price[FMT_MONEY_SIZE];
	struct str line;

	seen(m, now);
	if (m->fd < 0)
		return;
	str_init(&line, LINE_BYTES);
	js_open(&line, NULL, '{');
	js_str(&line, "e", what);
	js_int(&line, "at", now);
	if (row != UINT32_MAX)
		js_str(&line, "id", meter_id(id, row));
	if (strcmp(what, "start") == 0)
		write_row(&line, &m->rows[row]);
	if (strcmp(what, "price") == 0)
		js_str(&line, "price", fmt_money(price, meter_price_now(&m->rows[row])));
	if (why != NULL)
		js_str(&line, "why", why);
	js_close(&line, '}');
	append(m, &line);
}

static uint32_t add_row(struct meter *m, const struct meter_row *r)
{
	struct meter_row *to;

	if (m->n == m->cap) {
		m->cap = m->cap == 0 ? 256 : 2 * m->cap;
		m->rows = mem_realloc(m->rows, m->cap * sizeof(*m->rows));
	}
	to = &m->rows[m->n];
	*to = *r;
	to->node = intern(m, r->node);
	to->cluster = intern(m, r->cluster);
	to->type = intern(m, r->type);
	to->region = intern(m, r->region);
	to->zone = intern(m, r->zone);
	to->currency = intern(m, r->currency);
	to->later = NULL;
	to->nlater = 0;
	seen(m, r->start_ms);
	return m->n++;
}

uint32_t meter_start(struct meter *m, const struct meter_row *r)
{
	struct meter_row copy = *r;
	uint32_t row;

	assert(m->n < METER_ROWS_MAX);
	copy.deleted_ms = copy.end_ms = -1;
	row = add_row(m, &copy);
	record(m, "start", row, r->start_ms, NULL);
	return row;
}

static void add_price(struct meter_row *r, int64_t from_ms, int64_t nano_h)
{
	r->later = mem_realloc(r->later, (r->nlater + 1) * sizeof(*r->later));
	r->later[r->nlater++] = (struct meter_price){from_ms, nano_h};
}

void meter_price(struct meter *m, uint32_t row, int64_t from_ms, int64_t nano_h)
{
	struct meter_row *r = &m->rows[row];

	assert(from_ms >= (r->nlater > 0 ? r->later[r->nlater - 1].from_ms : r->start_ms));
	add_price(r, from_ms, nano_h);
	record(m, "price", row, from_ms, NULL);
}

int64_t meter_price_now(const struct meter_row *r)
{
	return r->nlater > 0 ? r->later[r->nlater - 1].nano_h : r->price_nano_h;
}

void meter_deleted(struct meter *m, uint32_t row, int64_t now)
{
	if (m->rows[row].deleted_ms >= 0)
		return;
	m->rows[row].deleted_ms = now;
	record(m, "delete", row, now, NULL);
}

void meter_ended(struct meter *m, uint32_t row, int64_t now, const char *why)
{
	assert(m->rows[row].end_ms < 0);
	m->rows[row].end_ms = now;
	record(m, "end", row, now, why);
}

void meter_alive(struct meter *m, int64_t now)
{
	record(m, "alive", UINT32_MAX, now, NULL);
}

char *meter_id(char out[METER_ID_SIZE], uint32_t row)
{
	(void)snprintf(out, METER_ID_SIZE, "sim-%08" PRIx32, row);
	return out;
}

bool meter_row_of(const struct meter *m, const char *id, uint32_t *row)
{
	char again[METER_ID_SIZE];
	unsigned long v;

	if (strncmp(id, "sim-", 4) != 0 || strlen(id) != 12)
		return false;
	v = strtoul(id + 4, NULL, 16);
	if (v >= m->n || strcmp(meter_id(again, (uint32_t)v), id) != 0)
		return false;
	*row = (uint32_t)v;
	return true;
}

int64_t meter_cost(const struct meter_row *r, int64_t now)
{
	int64_t end = r->end_ms >= 0 ? r->end_ms : now, from = r->start_ms, price = r->price_nano_h;
	__extension__ typedef __int128 wide;
	wide sum = 0; /* ms x nano an hour: rounded once */

	for (uint32_t i = 0; i <= r->nlater; i++) {
		int64_t to = i < r->nlater && r->later[i].from_ms < end ? r->later[i].from_ms : end;

		if (to > from)
			sum += (wide)(to - from) * price;
		if (i == r->nlater)
			break;
		from = r->later[i].from_ms;
		price = r->later[i].nano_h;
	}
	sum = (sum + HOUR_MS / 2) / HOUR_MS;
	return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct words {
	char node[WORD_SIZE], cluster[WORD_SIZE], type[WORD_SIZE], region[WORD_SIZE];
	char zone[WORD_SIZE], currency[WORD_SIZE], market[WORD_SIZE], price[WORD_SIZE];
};

static int read_row(struct meter *m, const json_t *o, int64_t start, struct err *e)
{
	struct words w = {.market = "on-demand"};
	struct meter_row r = {.start_ms = start, .deleted_ms = -1, .end_ms = -1};
	int64_t gen = 0;

	if (js_get_str(o, "name", w.node, WORD_SIZE, e) != 0 ||
	    js_get_int(o, "generation", &gen, e) != 0 ||
	    js_get_str(o, "cluster", w.cluster, WORD_SIZE, e) != 0 ||
	    js_get_str(o, "type", w.type, WORD_SIZE, e) != 0 ||
	    js_get_str(o, "region", w.region, WORD_SIZE, e) != 0 ||
	    js_get_str(o, "zone", w.zone, WORD_SIZE, e) != 0 ||
	    js_get_str(o, "currency", w.currency, WORD_SIZE, e) != 0 ||
	    js_get_str(o, "market", w.market, WORD_SIZE, e) != 0 ||
	    js_get_str(o, "price", w.price, WORD_SIZE, e) != 0 ||
	    fmt_money_parse(w.price, &r.price_nano_h, e) != 0 ||
	    market_parse(w.market, &r.market, e) != 0)
		return -1;
	r.gen = (uint64_t)gen;
	r.node = w.node;
	r.cluster = w.cluster;
	r.type = w.type;
	r.region = w.region;
	r.zone = w.zone;
	r.currency = w.currency;
	(void)add_row(m, &r);
	return 0;
}

static int read_line(struct meter *m, const json_t *o, struct err *e)
{
	char what[16] = "", id[METER_ID_SIZE] = "", price[WORD_SIZE] = "";
	int64_t at = -1, nano_h;
	uint32_t row;

	if (js_get_str(o, "e", what, sizeof(what), e) != 0 || js_get_int(o, "at", &at, e) != 0 ||
	    js_get_str(o, "id", id, sizeof(id), e) != 0)
		return -1;
	if (at < 0)
		return err_set(e, ERR_INVALID, "no time");
	seen(m, at);
	if (strcmp(what, "alive") == 0)
		return 0;
	if (strcmp(what, "start") == 0)
		return read_row(m, o, at, e);
	if (!meter_row_of(m, id, &row))
		return err_set(e, ERR_INVALID, "no such id: %s", id);
	if (strcmp(what, "delete") == 0)
		m->rows[row].deleted_ms = at;
	else if (strcmp(what, "end") == 0)
		m->rows[row].end_ms = at;
	else if (strcmp(what, "price") == 0 && js_get_str(o, "price", price, WORD_SIZE, e) == 0 &&
		 fmt_money_parse(price, &nano_h, e) == 0)
		add_price(&m->rows[row], at, nano_h);
	else
		return err_set(e, ERR_INVALID, "unknown record \"%s\"", what);
	return 0;
}

static int read_lines(struct meter *m, const char *text, size_t len, struct err *e)
{
	const char *end = text + len, *nl;
	unsigned line = 1;

	for (; (nl = memchr(text, '\n', (size_t)(end - text))) != NULL; text = nl + 1, line++) {
		json_t *o = json_loadb(text, (size_t)(nl - text), JSON_REJECT_DUPLICATES, NULL);
		int rc = o != NULL ? read_line(m, o, e) : err_set(e, ERR_INVALID, "not JSON");

		json_decref(o);
		if (rc != 0)
			return err_wrap(e, "line %u", line);
	}
	return 0;
}

static int read_prices(struct meter_row *r, const json_t *list, struct err *e)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		const json_t *from = json_array_get(v, 0);
		const char *price = json_string_value(json_array_get(v, 1));
		int64_t nano_h;

		if (!json_is_integer(from) || price == NULL ||
		    fmt_money_parse(price, &nano_h, e) != 0)
			return err_set(e, ERR_INVALID, "prices: want [MS, \"PRICE\"]");
		add_price(r, json_integer_value(from), nano_h);
	}
	return 0;
}

static int read_answer(struct meter *m, const json_t *doc, struct err *e)
{
	const json_t *rows = json_object_get(doc, "rows"), *o;
	int64_t now = 0;
	size_t i;

	if (js_get_int(doc, "now_ms", &now, e) != 0)
		return -1;
	json_array_foreach(rows, i, o)
	{
		struct meter_row *r;
		int64_t start = -1, deleted = -1, end = -1;

		if (js_get_int(o, "start_ms", &start, e) != 0 ||
		    js_get_int(o, "deleted_ms", &deleted, e) != 0 ||
		    js_get_int(o, "end_ms", &end, e) != 0 || read_row(m, o, start, e) != 0)
			return err_wrap(e, "row %zu", i);
		if (start < 0)
			return err_set(e, ERR_INVALID, "row %zu: no start_ms", i);
		r = &m->rows[m->n - 1];
		r->deleted_ms = deleted;
		r->end_ms = end;
		if (read_prices(r, json_object_get(o, "prices"), e) != 0)
			return err_wrap(e, "row %zu", i);
		seen(m, end);
	}
	seen(m, now);
	return 0;
}

int meter_load(struct meter *m, const char *text, size_t len, struct err *e)
{
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	int rc = json_is_array(json_object_get(doc, "rows")) ? read_answer(m, doc, e)
							     : read_lines(m, text, len, e);

	json_decref(doc);
	return rc;
}

static char *slurp(int fd, size_t *len, struct err *e)
{
	struct stat st;
	char *text;
	ssize_t n = 0;

	*len = 0;
	if (fstat(fd, &st) != 0 || st.st_size > FILE_MAX_BYTES) {
		(void)err_set(e, ERR_LIMIT, "not a file, or larger than 1 GiB");
		return NULL;
	}
	text = mem_zalloc((size_t)st.st_size + 1);
	while (*len < (size_t)st.st_size &&
	       (n = read(fd, text + *len, (size_t)st.st_size - *len)) > 0)
		*len += (size_t)n;
	return text;
}

int meter_attach(struct meter *m, const char *path, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600), rc = -1;
	char *text = NULL;
	size_t len = 0;

	if (fd < 0)
		return err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	text = slurp(fd, &len, e);
	if (text == NULL)
		goto out;
	while (len > 0 && text[len - 1] != '\n')
		len--;
	if (meter_load(m, text, len, e) != 0)
		goto out;
	if (ftruncate(fd, (off_t)len) != 0) {
		(void)err_set(e, ERR_IO, "%s", strerror(errno));
		goto out;
	}
	m->fd = fd;
	rc = 0;
	for (uint32_t i = 0; i < m->n; i++)
		if (m->rows[i].end_ms < 0)
			meter_ended(m, i, m->last_ms, "simcloud stopped");
out:
	free(text);
	if (rc != 0) {
		(void)close(fd);
		(void)err_wrap(e, "%s", path);
	}
	return rc;
}

static void write_prices(struct str *s, const struct meter_row *r)
{
	char price[FMT_MONEY_SIZE];

	js_open(s, "prices", '[');
	for (uint32_t i = 0; i < r->nlater; i++) {
		js_open(s, NULL, '[');
		js_int(s, NULL, r->later[i].from_ms);
		js_str(s, NULL, fmt_money(price, r->later[i].nano_h));
		js_close(s, ']');
	}
	js_close(s, ']');
}

void meter_write(const struct meter *m, struct str *s, int64_t now, const char *cluster)
{
	char text[FMT_MONEY_SIZE], id[METER_ID_SIZE];
	int64_t total = 0;

	js_open(s, NULL, '{');
	js_int(s, "now_ms", now);
	js_open(s, "rows", '[');
	for (uint32_t i = 0; i < m->n; i++) {
		const struct meter_row *r = &m->rows[i];

		if (cluster[0] != '\0' && strcmp(cluster, r->cluster) != 0)
			continue;
		js_open(s, NULL, '{');
		js_str(s, "id", meter_id(id, i));
		write_row(s, r);
		js_int(s, "start_ms", r->start_ms);
		if (r->deleted_ms >= 0)
			js_int(s, "deleted_ms", r->deleted_ms);
		else
			js_null(s, "deleted_ms");
		if (r->end_ms >= 0)
			js_int(s, "end_ms", r->end_ms);
		else
			js_null(s, "end_ms");
		if (r->nlater > 0)
			write_prices(s, r);
		js_str(s, "cost", fmt_money(text, meter_cost(r, now)));
		js_close(s, '}');
		total += meter_cost(r, now);
	}
	js_close(s, ']');
	js_str(s, "total", fmt_money(text, total));
	js_close(s, '}');
}
