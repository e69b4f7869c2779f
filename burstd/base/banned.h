/* banned.h - functions that must not be used: a call is a compile error.
 *
 * The Makefile includes it before every source file (-include).  It does not use GCC's pragma
 * poison, since headers of libraries have members and parameters of these names (OpenSSL's `rand`).
 * It does not include time.h, which pure files must not have: struct tm stays incomplete. */
#ifndef BURSTD_BANNED_H
#define BURSTD_BANNED_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

#pragma GCC diagnostic error "-Wdeprecated-declarations"
#pragma GCC diagnostic error "-Walloca"

/* Before the headers that declare them: clang takes no attribute after glibc's inline definitions.
 */
#define BANNED __attribute__((deprecated("banned by base/banned.h")))
struct _IO_FILE;
struct tm;
char *strcpy(char *to, const char *from) BANNED;
char *stpcpy(char *to, const char *from) BANNED;
char *strncpy(char *to, const char *from, size_t n) BANNED;
char *strcat(char *to, const char *from) BANNED;
char *strncat(char *to, const char *from, size_t n) BANNED;
char *strtok(char *s, const char *delim) BANNED;
int sprintf(char *to, const char *fmt, ...) BANNED;
int vsprintf(char *to, const char *fmt, va_list ap) BANNED;
int sscanf(const char *s, const char *fmt, ...) BANNED;
char *gets(char *s) BANNED;
int atoi(const char *s) BANNED;
long atol(const char *s) BANNED;
long long atoll(const char *s) BANNED;
double atof(const char *s) BANNED;
int rand(void) BANNED;
void srand(unsigned seed) BANNED;
int system(const char *command) BANNED;
struct _IO_FILE *popen(const char *command, const char *mode) BANNED;
char *mktemp(char *template) BANNED;
struct tm *localtime(const time_t *t) BANNED;
char *ctime(const time_t *t) BANNED;
char *asctime(const struct tm *tm) BANNED;
#undef BANNED

/* For clang glibc makes these two macros of other names. */
#include <stdio.h>
#undef sprintf
#undef vsprintf

#endif
