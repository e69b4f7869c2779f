#include "core/conf_text.h"

#include <stdlib.h>
#include <string.h>

#include "core/conf_alert.h"
#include "core/hardware.h"
#include "core/interconnect.h"
#include "core/period.h"
#include "core/provider.h"

enum {
	CONF_TEXT_MAX = 4096, /* a hundred subnets */
	CONF_CODE_MAX = 8,    /* bytes of a jurisdiction */
	CONF_SIGNAL_MAX = 16,
	CONF_CONTACT_MAX = 100, /* a job's comment has room for it beside the reason */
};

/* The characters that a node accepts, since its shell reads them: those of scripts/node/node-init,
 * which fails on any other. */
static const char node_takes[] =
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._:/,@+=-";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || is_capital(c);
}

bool conf_text_is_name(const char *text)
{
	size_t n = 0;

	for (; text[n] != '\0'; n++)
		if (!is_digit(text[n]) && !is_letter(text[n]) &&
		    (n == 0 || strchr("-_.", text[n]) == NULL))
			return false;
	return n > 0 && n <= PROVIDER_WORD_MAX;
}

bool conf_text_is_plain(const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '"' || *p == '\\')
			return false;
	return strstr(text, "${") == NULL;
}

static bool is_word(const char *text)
{
	return text[0] != '\0' && strlen(text) <= PROVIDER_WORD_MAX && strchr(text, ' ') == NULL;
}

bool conf_text_number(const char **p, int64_t max, int64_t *out)
{
	const char *start = *p;

	for (*out = 0; is_digit(**p) && *out <= max; (*p)++)
		*out = *out * 10 + (**p - '0');
	return *p > start && *out <= max;
}

/* 127.a.b.c:port or [::1]:port.  A name could be made to resolve to anything. */
static bool is_loopback(const char *text)
{
	const char *p = text;
	int64_t v;

	if (strncmp(p, "[::1]", 5) == 0) {
		p += 5;
	} else {
		if (strncmp(p, "127", 3) != 0)
			return false;
		p += 3;
		for (int i = 0; i < 3; i++)
			if (*p++ != '.' || !conf_text_number(&p, 255, &v))
				return false;
	}
	return *p++ == ':' && conf_text_number(&p, 65535, &v) && v > 0 && *p == '\0';
}

static bool is_url(const char *text)
{
	const char *rest = strncmp(text, "https://", 8) == 0  ? text + 8
			   : strncmp(text, "http://", 7) == 0 ? text + 7
							      : "";

	return rest[0] != '\0' && rest[0] != '/' && strchr(text, ' ') == NULL;
}

/* HOST:PORT, with [ ] around an IPv6 address. */
static bool is_host_port(const char *text, bool port)
{
	static const char host[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
	const char *p = text;
	int64_t v;

	if (*p == '[') {
		p += 1 + strspn(p + 1, "0123456789abcdefABCDEF:.");
		if (*p++ != ']' || p - text < 4)
			return false;
	} else {
		p += strspn(p, host);
	}
	if (p == text || (!port && *p == '\0'))
		return p != text;
	return *p++ == ':' && conf_text_number(&p, 65535, &v) && v > 0 && *p == '\0';
}

/* ADDRESS:PORT; a name could have several addresses. */
static bool is_bind(const char *text)
{
	return is_host_port(text, true) &&
	       (text[0] == '[' || strspn(text, "0123456789.") == strcspn(text, ":"));
}

static bool is_base_url(const char *text)
{
	return strncmp(text, "https://", 8) == 0 && is_host_port(text + 8, false);
}

bool conf_text_is_nodes_word(const char *text)
{
	return text[strspn(text, node_takes)] == '\0';
}

/* HOST:PORT as a node takes it: without [ ]. */
static bool is_nodes_host_port(const char *text)
{
	return is_host_port(text, true) && conf_text_is_nodes_word(text);
}

/* Words with blanks between them. */
static bool is_line(const char *text)
{
	size_t n = 0;

	while (text[n] == ' ' || (text[n] != '\0' && strchr(node_takes, text[n]) != NULL))
		n++;
	return n <= CONF_TEXT_MAX && text[n] == '\0';
}

bool conf_text_is_currency(const char *text)
{
	return strlen(text) == 3 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

bool conf_text_is_code(const char *text)
{
	size_t n = strlen(text);

	return n >= 2 && n <= CONF_CODE_MAX && is_capital(text[0]) &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == n;
}

/* "USR1", "RTMIN+1" or "10"; scancel knows which signals exist. */
static bool is_signal(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && n <= CONF_SIGNAL_MAX &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+") == n;
}

/* Refuse KILL and STOP: programs cannot catch them to save their work. */
static int check_signal(const char *text, struct err *e)
{
	const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;

	if (!is_signal(text))
		return err_set(e, ERR_INVALID, "want a signal such as USR1");
	if (strcmp(name, "KILL") == 0 || strcmp(name, "9") == 0 || strcmp(name, "STOP") == 0 ||
	    strcmp(name, "19") == 0)
		return err_set(e, ERR_INVALID, "a job cannot catch %s: want a signal such as USR1",
			       text);
	return 0;
}

int conf_text_code(const char *text, struct err *e)
{
	if (conf_text_is_code(text))
		return 0;
	return err_set(e, ERR_INVALID,
		       "\"%.40s\": want capital letters: a country such as DE, EU or EEA", text);
}

static bool is_phrase(const char *text)
{
	size_t n = strlen(text);

	return n > 0 && n <= CONF_TEXT_MAX && text[0] != ' ' && text[n - 1] != ' ';
}

/* A user sees it on a job and in mails, in whatever character set. */
static bool is_contact(const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			return false;
	return is_phrase(text) && strlen(text) <= CONF_CONTACT_MAX;
}

/* NAME@DOMAIN as it may stand in a mail's head and in a command of SMTP, where blanks, commas and
 * angle brackets end it.  Quoted names, which nobody has, are not taken. */
static bool is_mail(const char *text)
{
	const char *at = strchr(text, '@');

	for (const char *p = text; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("()<>[]:;,\\\"", *p) != NULL)
			return false;
	return at != NULL && at > text && at[1] != '\0' && strchr(at + 1, '@') == NULL &&
	       strlen(text) <= CONF_MAIL_MAX;
}

/* One name of a list: two with a comma between them are a slip that would match nothing. */
static int check_listed(const char *text, struct err *e)
{
	if (is_word(text) && strchr(text, ',') == NULL)
		return 0;
	return err_set(e, ERR_INVALID,
		       "\"%.40s\": want names of at most %d bytes, each by itself: {\"a\", \"b\"}",
		       text, PROVIDER_WORD_MAX);
}

static int check_period(const char *text, struct err *e)
{
	struct period_rule rule;

	return period_parse(&rule, text, e);
}

static bool is_absolute(const char *text)
{
	return text[0] == '/';
}

static bool is_secret_file(const char *text)
{
	const size_t n = strlen(CONF_CREDENTIAL);

	return strncmp(text, CONF_CREDENTIAL, n) == 0 ? conf_text_is_name(text + n)
						      : is_absolute(text);
}

static bool is_any(const char *text)
{
	return text[0] != '\0';
}

/* The types whose check is yes or no. */
static int check_simple(enum conf_option_type type, const char *text, struct err *e)
{
	static const struct {
		enum conf_option_type type;
		bool (*is)(const char *text);
		const char *want;
	} checks[] = {
		{CONF_PATH, is_absolute, "want an absolute path"},
		{CONF_SECRET, is_secret_file,
		 "want an absolute path, or " CONF_CREDENTIAL "NAME of a credential of systemd's"},
		{CONF_PROGRAM, is_absolute, "want an absolute path"},
		{CONF_FILE, is_absolute, "want an absolute path"},
		{CONF_URL, is_url, "want http://... or https://..."},
		{CONF_LISTEN, is_loopback,
		 "want a loopback address and port such as 127.0.0.1:9818"},
		{CONF_BIND, is_bind, "want an address and port such as 0.0.0.0:8443"},
		{CONF_NODES, is_any, "want a node list"},
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].type == type)
			return checks[i].is(text) ? 0
						  : err_set(e, ERR_INVALID, "%s", checks[i].want);
	abort(); /* asked about a type that is not kept as it is written */
}

/* What a node is made of: the words of these have a parser of their own. */
static int check_hardware(enum conf_option_type type, const char *text, struct err *e)
{
	struct hardware_gres_list gres;
	struct hardware_node node;
	struct interconnect links;

	if (type == CONF_LINKS)
		return interconnect_parse(text, &links, e);
	return type == CONF_GRES ? hardware_parse_gres(text, &gres, e)
				 : hardware_parse_node(text, &node, e);
}

int conf_text_check(enum conf_option_type type, const char *text, struct err *e)
{
	switch (type) {
	case CONF_NAME:
		if (conf_text_is_name(text))
			return 0;
		return err_set(e, ERR_INVALID,
			       "want a name: letters, digits, '-', '_' and '.', at most %d",
			       PROVIDER_WORD_MAX);
	case CONF_WORD:
		if (is_word(text))
			return 0;
		return err_set(e, ERR_INVALID, "want one word of at most %d bytes",
			       PROVIDER_WORD_MAX);
	case CONF_TEXT:
	case CONF_ZONE:
		if (text[0] != '\0' && strlen(text) <= CONF_TEXT_MAX && strchr(text, ' ') == NULL)
			return 0;
		return err_set(e, ERR_INVALID, "want text of at most %d bytes, without a blank",
			       CONF_TEXT_MAX);
	case CONF_PHRASE:
		if (is_phrase(text))
			return 0;
		return err_set(e, ERR_INVALID,
			       "want text of at most %d bytes, without a blank at either end",
			       CONF_TEXT_MAX);
	case CONF_LINE:
		if (is_line(text))
			return 0;
		return err_set(e, ERR_INVALID,
			       "want words of letters, digits and \"._:/,@+=-\", at most %d bytes: "
			       "nodes accept nothing else",
			       CONF_TEXT_MAX);
	case CONF_URLS:
		if (is_base_url(text))
			return 0;
		return err_set(e, ERR_INVALID, "\"%.60s\": want https://HOST[:PORT], and no path",
			       text);
	case CONF_HOSTS:
		if (is_nodes_host_port(text))
			return 0;
		return err_set(e, ERR_INVALID,
			       "\"%.60s\": want HOST:PORT, without [ ]: nodes cannot parse those",
			       text);
	case CONF_CODE:
		return conf_text_code(text, e);
	case CONF_LINKS:
	case CONF_HARDWARE:
	case CONF_GRES:
		return check_hardware(type, text, e);
	case CONF_NAMES:
		return check_listed(text, e);
	case CONF_PERIOD:
		return check_period(text, e);
	case CONF_CONTACT:
		if (is_contact(text))
			return 0;
		return err_set(e, ERR_INVALID,
			       "want printable ASCII of at most %d bytes, without a blank at "
			       "either end",
			       CONF_CONTACT_MAX);
	case CONF_MAIL:
	case CONF_MAILS:
		if (is_mail(text))
			return 0;
		return err_set(e, ERR_INVALID, "\"%.60s\": want a mail address, NAME@DOMAIN", text);
	case CONF_SIGNAL:
		return check_signal(text, e);
	default:
		return check_simple(type, text, e);
	}
}
