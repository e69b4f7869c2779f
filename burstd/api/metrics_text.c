/* metrics_text.c writes a metric in Prometheus's text format: a family, and its samples with their
 * labels. */
#include <inttypes.h>

#include "api/metrics_private.h"
#include "base/fmt.h"

/* A family begins with its HELP and TYPE and must be written in one piece. */
void metrics_family(struct str *s, const char *name, const char *type, const char *help)
{
	str_addf(s, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_label_value(struct str *s, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			str_adds(s, "\\n");
		else if (*text == '"' || *text == '\\')
			str_addf(s, "\\%c", *text);
		else
			str_add(s, text, 1);
	}
}

static void sample(struct str *s, const char *name, const struct metrics_label *labels, size_t n,
		   const char *value)
{
	str_adds(s, name);
	for (size_t i = 0; i < n; i++) {
		str_addf(s, "%s%s=\"", i == 0 ? "{" : ",", labels[i].name);
		add_label_value(s, labels[i].value);
		str_adds(s, "\"");
	}
	str_addf(s, "%s %s\n", n > 0 ? "}" : "", value);
}

void metrics_sample_u64(struct str *s, const char *name, const struct metrics_label *labels,
			size_t n, uint64_t v)
{
	char text[FMT_U64_SIZE];

	sample(s, name, labels, n, fmt_u64(text, v));
}

void metrics_sample_money(struct str *s, const char *name, const struct metrics_label *labels,
			  size_t n, int64_t nano)
{
	char text[FMT_MONEY_SIZE];

	sample(s, name, labels, n, fmt_money(text, nano));
}

/* Print ms as seconds the way money is printed: both have nine decimals. */
void metrics_sample_seconds(struct str *s, const char *name, const struct metrics_label *labels,
			    size_t n, int64_t ms)
{
	metrics_sample_money(s, name, labels, n, ms * (FMT_NANO / 1000));
}
