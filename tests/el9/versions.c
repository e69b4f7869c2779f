/* versions.c: prints which libraries this host has, as its programs find them and as they were
 * compiled, beside those of Enterprise Linux 9.  Status 1 if one is newer than EL9's: what runs
 * here shows nothing of EL9 then.
 *
 * EL9's are the oldest of its minor releases (9.0), with CRB and EPEL. */
#include <ctype.h>
#include <curl/curl.h>
#include <expat.h>
#include <gnu/libc-version.h>
#include <gnutls/gnutls.h>
#include <jansson.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define TEXT(x)    TEXT_OF(x)
#define TEXT_OF(x) #x

struct library {
	const char *name;
	const char *runs;     /* what the library says of itself */
	const char *compiled; /* what its headers say; NULL: nothing */
	const char *el9;
};

/* <0, 0, >0: by numbers, of which the shorter version need have only the first: 3.0 is 3.0.20, too.
 */
static long compare(const char *version, const char *with)
{
	char *next;
	char *other;

	for (;;) {
		long difference = strtol(version, &next, 10) - strtol(with, &other, 10);

		if (difference != 0 || *next != '.' || *other != '.')
			return difference;
		version = next + 1;
		with = other + 1;
	}
}

/* "OpenSSL 3.0.20 7 Apr 2026", "expat_2.2.10": from its first digit. */
static const char *number(const char *text)
{
	while (*text != '\0' && !isdigit((unsigned char)*text))
		text++;
	return text;
}

static bool too_new(const struct library *l)
{
	return compare(number(l->runs), l->el9) > 0 ||
	       (l->compiled != NULL && compare(number(l->compiled), l->el9) > 0);
}

int main(void)
{
	const struct library libraries[] = {
		{"libcurl", curl_version_info(CURLVERSION_NOW)->version, LIBCURL_VERSION, "7.76.1"},
		{"OpenSSL of libcurl", curl_version_info(CURLVERSION_NOW)->ssl_version, NULL,
		 "3.0"},
		{"OpenSSL", OpenSSL_version(OPENSSL_VERSION), OPENSSL_VERSION_TEXT, "3.0"},
		{"SQLite", sqlite3_libversion(), SQLITE_VERSION, "3.34.1"},
		{"libuv", uv_version_string(),
		 TEXT(UV_VERSION_MAJOR) "." TEXT(UV_VERSION_MINOR) "." TEXT(UV_VERSION_PATCH),
		 "1.42.0"},
		/* 0x00097200 is 0.9.72, but the program says it in words. */
		{"libmicrohttpd", MHD_get_version(), NULL, "0.9.72"},
		{"jansson", jansson_version_str(), JANSSON_VERSION, "2.14"},
		{"GnuTLS", gnutls_check_version(NULL), GNUTLS_VERSION, "3.7.3"},
		{"expat", XML_ExpatVersion(),
		 TEXT(XML_MAJOR_VERSION) "." TEXT(XML_MINOR_VERSION) "." TEXT(XML_MICRO_VERSION),
		 "2.2.10"},
		{"glibc", gnu_get_libc_version(), TEXT(__GLIBC__) "." TEXT(__GLIBC_MINOR__),
		 "2.34"},
		{"gcc", TEXT(__GNUC__), NULL, "11"},
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		const struct library *l = &libraries[i];

		if (too_new(l))
			rc = 1;
		printf("%-20s %-36s %-36s EL9 %-8s%s\n", l->name, l->runs,
		       l->compiled != NULL ? l->compiled : "", l->el9, too_new(l) ? " NEWER" : "");
	}
	return rc;
}
