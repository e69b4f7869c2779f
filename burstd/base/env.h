/* env.h - the environment that a daemon of ours is left: libraries take their orders from the
 * configuration alone, and nobody who could set a variable gets at TLS keys or sends us elsewhere.
 */
#ifndef BURSTD_ENV_H
#define BURSTD_ENV_H

/* At the start, before any library is begun and any thread.  What the loader was told by LD_... it
 * has done by then; what is dlopen()ed later, and our children, are not told. */
void env_clean(void);

#endif
