#include "ledger/invoice_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/date.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/plain.h"
#include "ledger/csv_in.h"

enum {
	COLUMN_MAX = 128,
	TEXT_MAX = 1 << 16,
	KEY_MAX = CSV_IN_RECORD_MAX + 16,
	NAMES_EACH = 4, /* of one column */
	DAY_S = 86400,
	/* A provider's month may begin by the clock of another zone. */
	ZONES_S = 36 * 3600,
};

enum field {
	INSTANCE,
	AMOUNT,
	CURRENCY,
	KIND, /* what kind of line it is: tax */
	START,
	END,
	NUMBER,  /* of the invoice */
	PERIOD,  /* its begin */
	SERVICE, /* what it is for, in a word ... */
	ABOUT,   /* ... and in words */
	TYPE,    /* of the resource */
	NFIELDS
};

/* Columns by their names, in small letters, with '_' between words; the first that is there. */
static const struct {
	const char *name;
	const char *columns[NFIELDS][NAMES_EACH];
	bool needed[NFIELDS];
} formats[INVOICE_NFORMATS] = {
	[INVOICE_PLAIN] = {"plain",
			   {[INSTANCE] = {"instance", "instance_id", "resource_id", "id"},
			    [AMOUNT] = {"amount", "cost"},
			    [CURRENCY] = {"currency"},
			    [KIND] = {"kind", "category"},
			    [START] = {"start", "from"},
			    [END] = {"end", "to"},
			    [NUMBER] = {"invoice", "invoice_id"},
			    [ABOUT] = {"description", "name"}},
			   {[INSTANCE] = true, [AMOUNT] = true, [CURRENCY] = true}},
	[INVOICE_FOCUS] = {"focus",
			   {[INSTANCE] = {"resource_id"},
			    [AMOUNT] = {"billed_cost"},
			    [CURRENCY] = {"billing_currency"},
			    [KIND] = {"charge_category"},
			    [START] = {"charge_period_start"},
			    [END] = {"charge_period_end"},
			    [NUMBER] = {"invoice_id"},
			    [PERIOD] = {"billing_period_start"},
			    [SERVICE] = {"service_name"},
			    [ABOUT] = {"charge_description"},
			    [TYPE] = {"resource_type"}},
			   {[INSTANCE] = true, [AMOUNT] = true, [CURRENCY] = true, [KIND] = true}},
	[INVOICE_CUR] = {"cur",
			 {[INSTANCE] = {"line_item_resource_id"},
			  [AMOUNT] = {"line_item_unblended_cost"},
			  [CURRENCY] = {"line_item_currency_code"},
			  [KIND] = {"line_item_line_item_type"},
			  [START] = {"line_item_usage_start_date"},
			  [END] = {"line_item_usage_end_date"},
			  [NUMBER] = {"bill_invoice_id"},
			  [PERIOD] = {"bill_billing_period_start_date"},
			  [SERVICE] = {"line_item_product_code"},
			  [ABOUT] = {"line_item_line_item_description"}},
			 {[INSTANCE] = true, [AMOUNT] = true, [CURRENCY] = true, [KIND] = true}},
};

const char *invoice_format_str(enum invoice_format f)
{
	return formats[f].name;
}

int invoice_format_parse(const char *text, enum invoice_format *out, struct err *e)
{
	for (int f = 0; f < INVOICE_NFORMATS; f++)
		if (strcmp(formats[f].name, text) == 0) {
			*out = (enum invoice_format)f;
			return 0;
		}
	return err_set(e, ERR_INVALID, "--format: want plain, focus or cur, not \"%.40s\"", text);
}

struct reading {
	const struct invoice_ask *ask;
	struct invoice_file *f;
	struct csv_in csv;
	size_t at[NFIELDS]; /* SIZE_MAX: there is no such column */
	size_t columns;
	struct digest digest;
	struct map resources; /* "": known or not, once for each */
	char **keys;
	size_t nkeys, keys_cap;
	int64_t number_line;
};

static int wrong(const struct reading *r, const char *what, const char *text, struct err *e)
{
	return err_set(e, ERR_INVALID, "%.120s:%" PRId64 ": %s \"%.40s\"", r->csv.name, r->csv.line,
		       what, text);
}

static const char *field(const struct reading *r, enum field what)
{
	const char *text = r->at[what] == SIZE_MAX ? "" : csv_in_field(&r->csv, r->at[what]);

	return text + strspn(text, " ");
}

/* --- columns -----------------------------------------------------------------------------------
 */

/* "lineItem/ResourceId", "Resource ID" and "resource_id" are one. */
static void normalize(const char *text, char out[COLUMN_MAX])
{
	size_t n = 0;

	for (; *text != '\0' && n + 2 < COLUMN_MAX; text++) {
		const bool word =
			isupper((unsigned char)*text) && n > 0 && out[n - 1] != '_' &&
			(islower((unsigned char)text[-1]) ||
			 (isupper((unsigned char)text[-1]) && islower((unsigned char)text[1])));

		if (word)
			out[n++] = '_';
		if (isalnum((unsigned char)*text))
			out[n++] = (char)tolower((unsigned char)*text);
		else if (n > 0 && out[n - 1] != '_')
			out[n++] = '_';
	}
	while (n > 0 && out[n - 1] == '_')
		n--;
	out[n] = '\0';
}

/* Of two with one name nobody can say which is meant. */
static int find_column(struct reading *r, enum field what, const char *name, struct err *e)
{
	char column[COLUMN_MAX];
	size_t at = SIZE_MAX;

	for (size_t i = 0; i < r->csv.n && r->at[what] == SIZE_MAX; i++) {
		normalize(csv_in_field(&r->csv, i), column);
		if (strcmp(column, name) != 0)
			continue;
		if (at != SIZE_MAX)
			return wrong(r, "two columns", name, e);
		at = i;
	}
	if (r->at[what] == SIZE_MAX)
		r->at[what] = at;
	return 0;
}

static int read_head(struct reading *r, struct err *e)
{
	int rc = csv_in_next(&r->csv, e);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_INVALID, "%.120s: it is empty", r->csv.name);
	for (int f = 0; f < NFIELDS; f++) {
		const char *const *names = formats[r->ask->format].columns[f];

		r->at[f] = SIZE_MAX;
		for (size_t i = 0; i < NAMES_EACH && names[i] != NULL; i++)
			if (find_column(r, (enum field)f, names[i], e) < 0)
				return -1;
		if (r->at[f] == SIZE_MAX && formats[r->ask->format].needed[f])
			return err_set(e, ERR_INVALID,
				       "%.120s:%" PRId64 ": no column %s, which format %s has",
				       r->csv.name, r->csv.line, names[0],
				       formats[r->ask->format].name);
	}
	r->columns = r->csv.n;
	return 0;
}

/* "1,234.56" without quotes is two fields, and all that follow are one column off.  Too few are
 * fine: some programs leave out empty ones at the end. */
static int check_fields(const struct reading *r, struct err *e)
{
	for (size_t i = r->columns; i < r->csv.n; i++)
		if (csv_in_field(&r->csv, i)[0] != '\0')
			return wrong(r, "more fields than there are columns:",
				     csv_in_field(&r->csv, i), e);
	return 0;
}

/* --- times -------------------------------------------------------------------------------------
 */

/* n digits, at most max. */
static bool read_number(const char **p, int n, int max, int64_t *out)
{
	*out = 0;
	for (int i = 0; i < n; i++, ++*p) {
		if (**p < '0' || **p > '9')
			return false;
		*out = *out * 10 + (**p - '0');
	}
	return *out <= max;
}

static bool is_utc(const char *p)
{
	static const char *const words[] = {"", "Z", " UTC", "+00:00", "+0000", " +0000 UTC"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(p, words[i]) == 0)
			return true;
	return false;
}

/* "2026-11-03", "2026-11-03T04:05:06Z", "2026-11-03 04:05:06.000", in UTC. */
static bool read_time(const char *text, int64_t *out)
{
	char day[] = "2026-11-03";
	int64_t h = 0, m = 0, s = 0;
	const char *p = text;

	if (strlen(text) < sizeof(day) - 1)
		return false;
	memcpy(day, text, sizeof(day) - 1);
	if (!date_parse(day, out))
		return false;
	p += sizeof(day) - 1;
	if (*p == 'T' || *p == ' ') {
		p++;
		if (!read_number(&p, 2, 24, &h) || *p++ != ':' || !read_number(&p, 2, 59, &m))
			return false;
		if (*p == ':') {
			p++;
			if (!read_number(&p, 2, 60, &s))
				return false;
		}
		if (*p == '.')
			p += 1 + strspn(p + 1, "0123456789");
	}
	*out = *out * DAY_S + h * 3600 + m * 60 + s;
	return is_utc(p);
}

static int time_of(const struct reading *r, enum field what, int64_t otherwise, int64_t *out,
		   struct err *e)
{
	const char *text = field(r, what);

	*out = otherwise;
	if (text[0] != '\0' && !read_time(text, out))
		return wrong(r, "want a time such as 2026-11-03T04:05:06Z, not", text, e);
	return 0;
}

static int check_period(const struct reading *r, struct err *e)
{
	const char *text = field(r, PERIOD);
	int64_t begin;

	if (time_of(r, PERIOD, r->ask->start_s, &begin, e) < 0)
		return -1;
	if (begin < r->ask->start_s - ZONES_S || begin > r->ask->start_s + ZONES_S)
		return wrong(r, "it is of another month, which begins", text, e);
	return 0;
}

/* --- items -------------------------------------------------------------------------------------
 */

static const char *keep_key(struct reading *r, struct str *key)
{
	if (r->nkeys == r->keys_cap) {
		r->keys_cap = r->keys_cap == 0 ? 64 : 2 * r->keys_cap;
		r->keys = mem_realloc(r->keys, r->keys_cap * sizeof(*r->keys));
	}
	r->keys[r->nkeys++] = str_take(key);
	return r->keys[r->nkeys - 1];
}

static const char *end_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* As ask->knows. */
static int knows(struct reading *r, const char *instance, struct err *e)
{
	const uintptr_t had = (uintptr_t)map_get(&r->resources, instance);
	struct str key;
	int rc;

	if (had != 0)
		return (int)had - 1;
	rc = r->ask->knows(r->ask->ctx, instance, e);
	if (rc < 0)
		return -1;
	str_init(&key, KEY_MAX);
	str_adds(&key, instance);
	map_put(&r->resources, keep_key(r, &key), (void *)((uintptr_t)rc + 1));
	return rc;
}

static bool has_word(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (; *text != '\0'; text++)
		if (strncasecmp(text, word, n) == 0)
			return true;
	return false;
}

/* Of a machine that the ledger does not know; what else has an id, such as a disk, is shared. */
static bool is_machine(const struct reading *r, const char *instance)
{
	return r->ask->format == INVOICE_PLAIN || strncmp(end_of(instance), "i-", 2) == 0 ||
	       has_word(field(r, TYPE), "instance") || has_word(field(r, TYPE), "virtual machine");
}

/* *id: which machine it is, however a line spells it. */
static int kind_of(struct reading *r, const char *instance, enum ledger_invoice_kind *out,
		   const char **id, struct err *e)
{
	int rc = instance[0] != '\0' ? knows(r, instance, e) : 0;

	if (rc < 0)
		return -1;
	*out = strcasecmp(field(r, KIND), "tax") == 0           ? LEDGER_INVOICE_TAX
	       : rc > 0                                         ? LEDGER_INVOICE_INSTANCE
	       : instance[0] != '\0' && is_machine(r, instance) ? LEDGER_INVOICE_UNKNOWN
								: LEDGER_INVOICE_SHARED;
	*id = rc == 2 ? end_of(instance) : instance;
	return 0;
}

static void name_of(const struct reading *r, enum ledger_invoice_kind kind, const char *instance,
		    struct str *out)
{
	const char *service = field(r, SERVICE), *about = field(r, ABOUT);

	if (strlen(instance) > INVOICE_NAME_MAX - 20) /* of a path the end tells most */
		instance = end_of(instance);
	if (kind == LEDGER_INVOICE_UNKNOWN || kind == LEDGER_INVOICE_INSTANCE)
		str_addf(out, "%sinstance %.*s", kind == LEDGER_INVOICE_UNKNOWN ? "unknown " : "",
			 INVOICE_NAME_MAX - 20, instance);
	else if (service[0] != '\0' && about[0] != '\0')
		str_addf(out, "%.60s: %.*s", service, INVOICE_NAME_MAX - 62, about);
	else if (service[0] != '\0' || about[0] != '\0')
		str_addf(out, "%.*s", INVOICE_NAME_MAX, service[0] != '\0' ? service : about);
	else
		str_adds(out, kind == LEDGER_INVOICE_TAX ? "tax" : "without a description");
}

/* Takes name. */
static struct invoice_item *add_item(struct reading *r, enum ledger_invoice_kind kind, char *name,
				     struct err *e)
{
	struct invoice_file *f = r->f;

	if (f->n == INVOICE_ITEMS_MAX) {
		free(name);
		(void)err_set(e, ERR_LIMIT, "%.120s: more than %d instances and names", r->csv.name,
			      INVOICE_ITEMS_MAX);
		return NULL;
	}
	if (f->n == f->cap) {
		f->cap = f->cap == 0 ? 64 : 2 * f->cap;
		f->items = mem_realloc(f->items, f->cap * sizeof(*f->items));
	}
	f->items[f->n] = (struct invoice_item){.kind = kind,
					       .instance = mem_strdup(field(r, INSTANCE)),
					       .name = name,
					       .start_s = r->ask->end_s,
					       .end_s = r->ask->start_s,
					       .line = r->csv.line};
	return &f->items[f->n++];
}

/* Machines are told apart by their ids, whole: names may be cut.  All else is by its name. */
static struct invoice_item *item_of(struct reading *r, enum ledger_invoice_kind kind,
				    const char *id, struct err *e)
{
	const bool machine = kind == LEDGER_INVOICE_INSTANCE || kind == LEDGER_INVOICE_UNKNOWN;
	struct invoice_item *item;
	struct str key, name;
	uintptr_t at;

	str_init(&name, TEXT_MAX);
	name_of(r, kind, field(r, INSTANCE), &name);
	plain_make(name.p, '?'); /* it is shown wherever cost is */
	str_init(&key, KEY_MAX);
	str_addf(&key, "%d %s", (int)kind, machine ? id : name.p);
	at = (uintptr_t)map_get(r->f->index, key.p);
	if (at != 0) {
		str_fini(&key);
		str_fini(&name);
		return &r->f->items[at - 1];
	}
	item = add_item(r, kind, str_take(&name), e);
	if (item == NULL)
		str_fini(&key);
	else
		map_put(r->f->index, keep_key(r, &key), (void *)(uintptr_t)r->f->n);
	return item;
}

/* The part of the line's time that is in the month; all of it if none is. */
static int add_time(const struct reading *r, struct invoice_item *i, struct err *e)
{
	const int64_t from = r->ask->start_s, to = r->ask->end_s;
	int64_t start, end;

	if (time_of(r, START, from, &start, e) < 0 || time_of(r, END, to, &end, e) < 0)
		return -1;
	if (end < start)
		return wrong(r, "it ends before it begins:", field(r, END), e);
	if (start >= to || end <= from) {
		start = from;
		end = to;
	}
	start = start < from ? from : start;
	end = end > to ? to : end;
	i->start_s = start < i->start_s ? start : i->start_s;
	i->end_s = end > i->end_s ? end : i->end_s;
	return 0;
}

/* --- rows --------------------------------------------------------------------------------------
 */

/* 1: it is of another invoice, or of none where others have a number and one was asked for: it
 * would be in the import of each. */
static int check_number(struct reading *r, struct err *e)
{
	const char *number = field(r, NUMBER);

	if (number[0] == '\0')
		return r->ask->number != NULL && r->at[NUMBER] != SIZE_MAX;
	if (strlen(number) > INVOICE_NUMBER_MAX || !plain_is(number))
		return wrong(r, "want a number of an invoice, not", number, e);
	if (r->ask->number != NULL)
		return strcmp(number, r->ask->number) != 0;
	if (r->f->number[0] == '\0') {
		free(r->f->number);
		r->f->number = mem_strdup(number);
		r->number_line = r->csv.line;
		return 0;
	}
	if (strcmp(number, r->f->number) == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		       "%.100s:%" PRId64 ": of invoice \"%.30s\", and line %" PRId64
		       " is of \"%.30s\": choose one by --invoice",
		       r->csv.name, r->csv.line, number, r->number_line, r->f->number);
}

static int check_currency(struct reading *r, struct err *e)
{
	const char *currency = field(r, CURRENCY);

	if (strlen(currency) != 3 || strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
		return wrong(r, "want a currency such as EUR, not", currency, e);
	if (r->f->currency[0] == '\0') {
		free(r->f->currency);
		r->f->currency = mem_strdup(currency);
	}
	if (strcmp(currency, r->f->currency) != 0)
		return err_set(e, ERR_INVALID, "%.120s:%" PRId64 ": in %s, and lines before in %s",
			       r->csv.name, r->csv.line, currency, r->f->currency);
	return 0;
}

static int take_row(struct reading *r, struct err *e)
{
	enum ledger_invoice_kind kind;
	struct invoice_item *item;
	const char *id;
	struct err why;
	atto amount;
	int rc = check_number(r, e);

	if (rc != 0) {
		r->f->left_out += rc > 0;
		return rc < 0 ? -1 : 0;
	}
	if (check_currency(r, e) < 0 || check_period(r, e) < 0)
		return -1;
	if (atto_parse(field(r, AMOUNT), &amount, &why) < 0)
		return err_set(e, ERR_INVALID, "%.120s:%" PRId64 ": %s", r->csv.name, r->csv.line,
			       why.msg);
	if (kind_of(r, field(r, INSTANCE), &kind, &id, e) < 0)
		return -1;
	item = item_of(r, kind, id, e);
	if (item == NULL || add_time(r, item, e) < 0)
		return -1;
	item->amount += amount; /* 2^127 is more than any number of rows comes to */
	r->f->rows++;
	return 0;
}

static int read_rows(struct reading *r, struct err *e)
{
	int rc;

	if (read_head(r, e) < 0)
		return -1;
	while ((rc = csv_in_next(&r->csv, e)) == 1) {
		for (size_t i = 0; i < r->csv.n; i++)
			digest_text(&r->digest, csv_in_field(&r->csv, i));
		digest_text(&r->digest, "\n");
		if (check_fields(r, e) < 0 || take_row(r, e) < 0)
			return -1;
	}
	if (rc < 0)
		return -1;
	if (r->f->rows == 0)
		return err_set(e, ERR_INVALID, "%.120s: no line is of %s%.60s", r->csv.name,
			       r->ask->number != NULL ? "invoice " : "an invoice",
			       r->ask->number != NULL ? r->ask->number : "");
	return 0;
}

static void drop_index(struct invoice_file *f)
{
	map_fini(f->index);
	free(f->index);
	f->index = NULL;
}

int invoice_file_read(struct invoice_file *f, const struct invoice_ask *ask, struct err *e)
{
	struct reading r = {.ask = ask, .f = f};
	int rc;

	*f = (struct invoice_file){.number = mem_strdup(ask->number != NULL ? ask->number : ""),
				   .currency = mem_strdup(""),
				   .index = mem_zalloc(sizeof(*f->index))};
	map_init(f->index);
	map_init(&r.resources);
	digest_begin(&r.digest, "");
	rc = csv_in_open(&r.csv, ask->path, e);
	if (rc == 0)
		rc = read_rows(&r, e);
	csv_in_close(&r.csv);
	digest_end(&r.digest, f->digest);
	drop_index(f);
	map_fini(&r.resources);
	for (size_t i = 0; i < r.nkeys; i++)
		free(r.keys[i]);
	free(r.keys);
	if (rc < 0)
		invoice_file_fini(f);
	return rc;
}

void invoice_file_fini(struct invoice_file *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].instance);
		free(f->items[i].name);
	}
	free(f->items);
	free(f->number);
	free(f->currency);
	*f = (struct invoice_file){0};
}
