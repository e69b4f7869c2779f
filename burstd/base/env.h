/* env.h - cleans the environment of a daemon, so that a variable can neither configure a library,
 * nor leak TLS keys, nor redirect requests. */
#ifndef BURSTD_ENV_H
#define BURSTD_ENV_H

/* Call it at the start, before any library is initialised and any thread runs.  The loader has used
 * LD_... by then; later dlopen()s and children do not see them. */
void env_clean(void);

#endif
