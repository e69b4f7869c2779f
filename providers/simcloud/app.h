/* app.h - the program simcloud: its options, its loop, its end.  main.c only calls it, so that
 * tests can run it in a child process of their own. */
#ifndef SIMCLOUD_APP_H
#define SIMCLOUD_APP_H

/* What main() returns: 0 fine; 1 audit found something, or a run ended in an error; 2 wrong usage,
 * or an input that cannot be read. */
int app_main(int argc, char **argv);

/* `simcloud audit ...`; argv[0] is "audit". */
int app_audit(int argc, char **argv);

#endif
