#include "ledger/csv_in.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int csv_in_open(struct csv_in *c, const char *path, struct err *e)
{
	static const unsigned char bom[] = {0xef, 0xbb, 0xbf}, gzip[] = {0x1f, 0x8b};
	unsigned char head[sizeof(bom)] = {0};

	*c = (struct csv_in){.name = path, .next_line = 1};
	str_init(&c->text, CSV_IN_RECORD_MAX);
	c->f = fopen(path, "re");
	if (c->f == NULL)
		return err_set(e, err_of_errno(errno), "%s: %s", path, strerror(errno));
	if (fread(head, 1, sizeof(head), c->f) < sizeof(head) && ferror(c->f))
		return err_set(e, err_of_errno(errno), "%s: %s", path, strerror(errno));
	if (memcmp(head, gzip, sizeof(gzip)) == 0)
		return err_set(e, ERR_INVALID, "%s: it is compressed: gunzip it first", path);
	if (memcmp(head, bom, sizeof(bom)) != 0 && fseek(c->f, 0, SEEK_SET) != 0)
		return err_set(e, err_of_errno(errno), "%s: %s", path, strerror(errno));
	return 0;
}

void csv_in_close(struct csv_in *c)
{
	if (c->f != NULL)
		(void)fclose(c->f);
	c->f = NULL;
	str_fini(&c->text);
}

static int wrong(const struct csv_in *c, const char *what, struct err *e)
{
	return err_set(e, ERR_INVALID, "%s:%" PRId64 ": %s", c->name, c->line, what);
}

static const char NUL[] = "a byte that is NUL: this is no text";

static void add(struct csv_in *c, int byte)
{
	const char text = (char)byte;

	str_add(&c->text, &text, 1);
}

/* Until the quote that ends the field. */
static int read_quoted(struct csv_in *c, struct err *e)
{
	for (;;) {
		int byte = fgetc(c->f);

		if (byte == EOF)
			return wrong(c, "a quote that does not end", e);
		if (byte == '\0')
			return wrong(c, NUL, e);
		if (byte == '"') {
			byte = fgetc(c->f);
			if (byte != '"') {
				if (byte != EOF)
					(void)ungetc(byte, c->f);
				return 0;
			}
		}
		c->next_line += byte == '\n';
		add(c, byte);
	}
}

/* One field; *last: it is the record's last. */
static int read_field(struct csv_in *c, bool *last, struct err *e)
{
	int byte = fgetc(c->f);

	*last = true;
	if (byte == '"') {
		if (read_quoted(c, e) < 0)
			return -1;
		byte = fgetc(c->f);
	}
	for (; byte != EOF && byte != ',' && byte != '\n'; byte = fgetc(c->f)) {
		if (byte == '\0')
			return wrong(c, NUL, e);
		add(c, byte);
	}
	if (byte == '\n') {
		c->next_line++;
		if (c->text.len > c->at[c->n - 1] && c->text.p[c->text.len - 1] == '\r')
			c->text.p[--c->text.len] = '\0';
	}
	add(c, '\0');
	*last = byte != ',';
	if (ferror(c->f))
		return err_set(e, ERR_IO, "%s: cannot be read", c->name);
	return 0;
}

int csv_in_next(struct csv_in *c, struct err *e)
{
	bool last;

	do {
		int byte = fgetc(c->f);

		if (byte == EOF)
			return ferror(c->f) ? err_set(e, ERR_IO, "%s: cannot be read", c->name) : 0;
		(void)ungetc(byte, c->f);
		c->line = c->next_line;
		c->n = 0;
		str_clear(&c->text);
		do {
			if (c->n == CSV_IN_FIELDS_MAX)
				return wrong(c, "more fields than any invoice has", e);
			c->at[c->n++] = c->text.len;
			if (read_field(c, &last, e) < 0)
				return -1;
			if (c->text.full)
				return wrong(c, "a record of more than 4 MiB", e);
		} while (!last);
	} while (c->n == 1 && csv_in_field(c, 0)[0] == '\0');
	return 1;
}

const char *csv_in_field(const struct csv_in *c, size_t i)
{
	return i < c->n ? c->text.p + c->at[i] : "";
}
