/* test_cooldown.c - every transition of a market place that has nothing to sell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "core/cooldown.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A and B differ in the zone, A and C in the market, A and D in the type; E is of another
 * provider; F is A for who wants a fabric. */
enum { A, B, C, D, E, F, G, H, I, J, K };

static const struct cooldown_place places[] = {
	[A] = {{"aws", "p5", "eu-north-1", "a", PROVIDER_SPOT, NULL}},
	[B] = {{"aws", "p5", "eu-north-1", "b", PROVIDER_SPOT, NULL}},
	[C] = {{"aws", "p5", "eu-north-1", "a", PROVIDER_ON_DEMAND, NULL}},
	[D] = {{"aws", "p4", "eu-north-1", "a", PROVIDER_SPOT, NULL}},
	[E] = {{"lambda", "p5", "eu-north-1", "a", PROVIDER_SPOT, NULL}},
	[F] = {{"aws", "p5", "eu-north-1", "a", PROVIDER_SPOT, "job"}},
	/* Purchases that fail for a minute close these; the provider of G answered at 30 s, that of
	 * H never. */
	[G] = {{"aws", "p6", "eu-north-1", "a", PROVIDER_SPOT, NULL}, 0, 60000, 30000},
	[H] = {{"sim", "p6", "eu-north-1", "a", PROVIDER_SPOT, NULL}, 0, 60000, 0},
	/* H, and it said that nothing is to be tried for so long: less than a minute, or more. */
	[I] = {{"sim", "p6", "eu-north-1", "a", PROVIDER_SPOT, NULL}, 0, 60000, 0, 40000},
	[J] = {{"sim", "p6", "eu-north-1", "a", PROVIDER_SPOT, NULL}, 0, 60000, 0, 900000},
	[K] = {{"sim", "p7", "eu-north-1", "a", PROVIDER_SPOT, NULL},
	       20000}, /* first pause: 20 s */
};

enum deed {
	END,
	LOOK,     /* the place is in this state, until then */
	BUY,      /* may it be sent? */
	ANSWERED, /* a purchase sent at `sent` was answered so: what is the news? */
	LISTED,   /* so was another call */
	BACK,     /* the provider answers again */
	ENDS,     /* a purchase that was never answered has bought nothing */
	TAKEN,    /* the place has taken machines back */
};

struct step { /* times in seconds */
	int64_t at;
	enum deed deed;
	int place;
	int arg;  /* LOOK: the state; BUY: the answer; else the provider's code */
	int want; /* LOOK: until; else the news */
	int64_t sent;
};

#define OPEN(t, p)                                                                                 \
	{                                                                                          \
		t, LOOK, p, COOLDOWN_READY, 0, 0                                                   \
	}
#define HALF(t, p)                                                                                 \
	{                                                                                          \
		t, LOOK, p, COOLDOWN_HALF, 0, 0                                                    \
	}
#define PROBING(t, p)                                                                              \
	{                                                                                          \
		t, LOOK, p, COOLDOWN_PROBING, 0, 0                                                 \
	}
#define COOLS(t, p, until)                                                                         \
	{                                                                                          \
		t, LOOK, p, COOLDOWN_CAPACITY, until, 0                                            \
	}
#define QUOTA(t, p, until)                                                                         \
	{                                                                                          \
		t, LOOK, p, COOLDOWN_QUOTA, until, 0                                               \
	}
#define FAILS(t, p, until)                                                                         \
	{                                                                                          \
		t, LOOK, p, COOLDOWN_FAILING, until, 0                                             \
	}
#define DENIED(t, p, until)                                                                        \
	{                                                                                          \
		t, LOOK, p, COOLDOWN_DENIED, until, 0                                              \
	}
#define MAY(t, p)                                                                                  \
	{                                                                                          \
		t, BUY, p, true, 0, 0                                                              \
	}
#define MAY_NOT(t, p)                                                                              \
	{                                                                                          \
		t, BUY, p, false, 0, 0                                                             \
	}
#define TOLD(t, p, c, s, n)                                                                        \
	{                                                                                          \
		t, ANSWERED, p, PROVIDER_##c, COOLDOWN_##n, s                                      \
	}
#define HEARD(t, p, c, s, n)                                                                       \
	{                                                                                          \
		t, LISTED, p, PROVIDER_##c, COOLDOWN_##n, s                                        \
	}

#define IS_BACK(t, p)                                                                              \
	{                                                                                          \
		t, BACK, p, 0, 0, 0                                                                \
	}
#define NOTHING(t, p, s) SHUTS(t, p, s, SAME)
#define SHUTS(t, p, s, n)                                                                          \
	{                                                                                          \
		t, ENDS, p, 0, COOLDOWN_##n, s                                                     \
	}

#define TAKES(t, p)                                                                                \
	{                                                                                          \
		t, TAKEN, p, 0, COOLDOWN_COOLS, 0                                                  \
	}

static const struct story {
	const char *name;
	struct step steps[16];
} stories[] = {
	{"a place nobody was refused at is open", {OPEN(9, A), MAY(9, A), MAY(9, A), OPEN(9, A)}},
	{"a refusal closes it for a minute, and it alone",
	 {TOLD(10, A, CAPACITY, 9, COOLS), COOLS(10, A, 70), MAY_NOT(10, A), COOLS(69, A, 70),
	  OPEN(10, B), OPEN(10, C), OPEN(10, D), OPEN(10, E), MAY(10, B)}},
	{"who asks for a fabric has a place of his own, and the same quota",
	 {TOLD(10, F, CAPACITY, 9, COOLS), COOLS(10, F, 70), OPEN(10, A), MAY(10, A),
	  TOLD(11, A, CAPACITY, 10, COOLS), COOLS(11, F, 70), TOLD(12, F, QUOTA, 11, NO_QUOTA),
	  QUOTA(12, A, 912)}},
	{"then one purchase may be tried, and no other beside it",
	 {TOLD(10, A, CAPACITY, 9, COOLS), HALF(70, A), HALF(71, A), MAY(71, A), PROBING(71, A),
	  MAY_NOT(71, A), PROBING(80, A), OPEN(80, B)}},
	{"it was bought: open, and the next refusal is a first one",
	 {TOLD(10, A, CAPACITY, 9, COOLS), MAY(71, A), TOLD(72, A, OK, 71, AGAIN), OPEN(72, A),
	  MAY(72, A), TOLD(74, A, CAPACITY, 73, COOLS), COOLS(74, A, 134)}},
	{"it was refused: closed twice as long, up to a quarter of an hour",
	 {TOLD(0, A, CAPACITY, 0, COOLS), MAY(60, A), TOLD(61, A, CAPACITY, 60, COOLS),
	  COOLS(61, A, 181), MAY(181, A), TOLD(181, A, CAPACITY, 181, COOLS), COOLS(182, A, 421),
	  MAY(421, A), TOLD(421, A, CAPACITY, 421, COOLS), COOLS(422, A, 901), MAY(901, A),
	  TOLD(901, A, CAPACITY, 901, COOLS), COOLS(902, A, 1801), MAY(1801, A),
	  TOLD(1801, A, CAPACITY, 1801, COOLS), COOLS(1802, A, 2701)}},
	{"what was sent before a refusal was known is part of it",
	 {TOLD(10, A, CAPACITY, 9, COOLS), TOLD(11, A, CAPACITY, 8, SAME),
	  TOLD(12, A, CAPACITY, 10, SAME), COOLS(12, A, 70), TOLD(13, A, OK, 9, SAME),
	  TOLD(13, A, OK, 10, SAME), COOLS(13, A, 70)}},
	{"a late answer does not end the purchase that is tried",
	 {TOLD(10, A, CAPACITY, 9, COOLS), MAY(71, A), TOLD(72, A, CAPACITY, 8, SAME),
	  PROBING(72, A), TOLD(73, A, RATE, 9, SAME), PROBING(73, A)}},
	{"what says nothing of the place leaves it half-open, for another try",
	 {TOLD(10, A, CAPACITY, 9, COOLS), MAY(71, A), TOLD(72, A, TRANSIENT, 71, SAME),
	  HALF(72, A), MAY(72, A), TOLD(73, A, AMBIGUOUS, 72, SAME), HALF(73, A), MAY(73, A),
	  TOLD(74, A, INVALID, 73, SAME), HALF(74, A)}},
	{"a purchase that never tells is waited for a quarter of an hour",
	 {TOLD(10, A, CAPACITY, 9, COOLS), MAY(71, A), PROBING(970, A), HALF(971, A), MAY(971, A)}},
	{"throttled, failed, lost: none of it cools",
	 {TOLD(10, A, RATE, 9, SAME), TOLD(10, A, NOT_YET, 9, SAME),
	  TOLD(10, A, TRANSIENT, 9, SAME), TOLD(10, A, AMBIGUOUS, 9, SAME),
	  TOLD(10, A, INVALID, 9, SAME), TOLD(10, A, CONFLICT, 9, SAME),
	  TOLD(10, A, NOT_FOUND, 9, SAME), TOLD(10, A, OK, 9, SAME), OPEN(10, A), MAY(10, A)}},
	{"failing for a minute closes it, while the provider answers what else it is asked (F26)",
	 {TOLD(10, G, AMBIGUOUS, 9, SAME), OPEN(10, G), MAY(11, G), MAY(11, G),
	  TOLD(69, G, TRANSIENT, 11, SAME), OPEN(69, G), TOLD(70, G, TRANSIENT, 11, FAILS),
	  FAILS(70, G, 130), OPEN(70, H), MAY_NOT(129, G)}},
	{"... for longer, when it does so again, until one is answered",
	 {TOLD(10, G, TRANSIENT, 9, SAME), TOLD(70, G, TRANSIENT, 11, FAILS), HALF(130, G),
	  MAY(130, G), PROBING(131, G), TOLD(132, G, TRANSIENT, 130, FAILS), FAILS(132, G, 252),
	  MAY(252, G), TOLD(253, G, OK, 252, AGAIN), OPEN(253, G)}},
	{"... which is none of it when it answers nothing: then it is away",
	 {TOLD(10, H, TRANSIENT, 9, SAME), TOLD(70, H, TRANSIENT, 69, SAME),
	  TOLD(500, H, AMBIGUOUS, 499, SAME), OPEN(500, H)}},
	{"... nor when it answered before, and not since",
	 {TOLD(30, G, TRANSIENT, 29, SAME), TOLD(90, G, TRANSIENT, 89, SAME), OPEN(90, G)}},
	{"... nor when it was away between two failures",
	 {TOLD(10, G, TRANSIENT, 9, SAME), IS_BACK(60, G), TOLD(75, G, TRANSIENT, 74, SAME),
	  OPEN(75, G), NOTHING(140, G, 74), OPEN(140, G)}},
	{"... but another's outage is none of it, and what is closed stays so",
	 {TOLD(10, G, TRANSIENT, 9, SAME), IS_BACK(60, H), TOLD(70, G, TRANSIENT, 69, FAILS),
	  TOLD(70, A, CAPACITY, 69, COOLS), IS_BACK(71, G), FAILS(71, G, 130), COOLS(71, A, 130)}},
	{"a purchase between two failures, and the count begins anew",
	 {TOLD(10, G, TRANSIENT, 9, SAME), TOLD(20, G, OK, 9, SAME),
	  TOLD(75, G, TRANSIENT, 74, SAME), OPEN(75, G)}},
	{"... likewise when it was denied: that is an answer",
	 {TOLD(10, G, TRANSIENT, 9, SAME), TOLD(20, G, DENIED, 19, OFF),
	  TOLD(75, G, TRANSIENT, 74, SAME), DENIED(75, G, 320)}},
	{"... likewise when long nobody tried",
	 {TOLD(10, G, TRANSIENT, 9, SAME), TOLD(1211, G, TRANSIENT, 1210, SAME), OPEN(1211, G)}},
	{"throttled for a minute closes it, too: that is an answer (F7)",
	 {TOLD(10, H, RATE, 9, SAME), MAY(11, H), TOLD(69, H, RATE, 68, SAME), OPEN(69, H),
	  TOLD(70, H, RATE, 69, FAILS), TOLD(71, H, RATE, 70, SAME), FAILS(71, H, 130), MAY(130, H),
	  TOLD(132, H, OK, 131, AGAIN), OPEN(132, H)}},
	{"... for longer when it does so again for a minute",
	 {TOLD(10, H, RATE, 9, SAME), TOLD(70, H, RATE, 69, FAILS), MAY(130, H),
	  TOLD(131, H, RATE, 130, SAME), HALF(131, H), MAY(132, H), TOLD(190, H, RATE, 189, SAME),
	  HALF(190, H), TOLD(191, H, RATE, 190, FAILS), FAILS(191, H, 311),
	  TOLD(320, H, RATE, 319, SAME), TOLD(1521, H, RATE, 1520, SAME), HALF(1521, H)}},
	{"... of which what it says while it is closed, or to what was sent before, is no part",
	 {TOLD(0, H, RATE, 0, SAME), TOLD(60, H, RATE, 59, FAILS), TOLD(100, H, RATE, 99, SAME),
	  FAILS(101, H, 120), TOLD(130, H, RATE, 60, SAME), TOLD(190, H, RATE, 189, SAME),
	  TOLD(249, H, RATE, 248, SAME), TOLD(250, H, RATE, 249, FAILS)}},
	{"... from the end of the pause on",
	 {TOLD(0, H, RATE, 0, SAME), TOLD(60, H, RATE, 59, FAILS), TOLD(120, H, RATE, 119, SAME),
	  TOLD(180, H, RATE, 179, FAILS)}},
	{"... even where 20 minutes lie between the two, but not more",
	 {TOLD(0, H, RATE, 0, SAME), TOLD(60, H, RATE, 59, FAILS), TOLD(130, H, RATE, 129, SAME),
	  TOLD(1330, H, RATE, 1329, FAILS), HALF(2000, H), TOLD(2000, H, RATE, 1999, SAME),
	  TOLD(3201, H, RATE, 3200, SAME), TOLD(3260, H, RATE, 3259, SAME)}},
	{"... counted from the last answer, not from the end of the pause",
	 {TOLD(0, H, RATE, 0, SAME), TOLD(60, H, RATE, 59, FAILS), TOLD(1270, H, RATE, 1269, SAME),
	  TOLD(1325, H, RATE, 1324, SAME), TOLD(1331, H, RATE, 1330, FAILS)}},
	{"... not where one in between was bought",
	 {TOLD(10, H, RATE, 9, SAME), TOLD(40, H, OK, 39, SAME), TOLD(70, H, RATE, 69, SAME),
	  OPEN(70, H)}},
	{"... nor where nobody gives up",
	 {TOLD(10, A, RATE, 9, SAME), TOLD(3000, A, RATE, 2999, SAME), OPEN(3000, A)}},
	{"... and at once where it says that it will be throttled for so long, for as long",
	 {TOLD(10, I, RATE, 9, SAME), TOLD(29, I, RATE, 28, SAME), OPEN(29, I),
	  TOLD(30, I, RATE, 29, FAILS), FAILS(30, I, 90), TOLD(100, J, RATE, 99, FAILS),
	  FAILS(100, J, 1000)}},
	{"... or so long that it was forgotten",
	 {TOLD(10, G, TRANSIENT, 9, SAME), TOLD(70, G, TRANSIENT, 69, FAILS), HALF(3730, G),
	  OPEN(3731, G), TOLD(3732, G, TRANSIENT, 3731, SAME), OPEN(3732, G)}},
	{"failures 20 minutes apart are one run, and those further apart are not",
	 {TOLD(0, G, TRANSIENT, 0, SAME), TOLD(1200, G, TRANSIENT, 1199, FAILS),
	  TOLD(2000, H, RATE, 1999, SAME), TOLD(3201, H, RATE, 3200, SAME),
	  TOLD(3260, H, RATE, 3259, SAME), TOLD(3261, H, RATE, 3260, FAILS)}},
	{"an answer in a run counts to its end, and not for the next run",
	 {TOLD(0, H, RATE, 0, SAME), TOLD(60, H, TRANSIENT, 59, FAILS), TOLD(0, I, RATE, 0, SAME),
	  OPEN(9000, H), TOLD(9000, H, RATE, 8999, SAME), TOLD(10201, H, TRANSIENT, 10200, SAME),
	  TOLD(10261, H, TRANSIENT, 10260, SAME)}},
	{"a place that fails again when it was forgotten is not closed at once",
	 {TOLD(0, G, TRANSIENT, 0, SAME), TOLD(60, G, TRANSIENT, 59, FAILS),
	  TOLD(3721, G, TRANSIENT, 3720, SAME), OPEN(3721, G)}},
	{"a purchase before it closed is no probe",
	 {TOLD(0, H, RATE, 0, SAME), MAY(50, H), TOLD(61, H, RATE, 49, FAILS), HALF(121, H)}},
	{"the first pause may be another, and the next is twice that",
	 {TOLD(0, K, CAPACITY, 0, COOLS), COOLS(0, K, 20), TOLD(20, K, CAPACITY, 20, COOLS),
	  COOLS(20, K, 60)}},
	{"a probe is waited for half a minute",
	 {TOLD(10, A, CAPACITY, 9, COOLS), MAY(71, A), {80, LOOK, A, COOLDOWN_PROBING, 101, 0}}},
	{"a denied purchase is no failure of its place",
	 {TOLD(0, G, DENIED, 0, OFF), TOLD(61, G, TRANSIENT, 60, SAME), DENIED(61, G, 300)}},
	{"a list that was sent before the denial was known says nothing",
	 {TOLD(10, A, DENIED, 9, OFF), HEARD(20, A, OK, 10, SAME), DENIED(20, A, 310),
	  HEARD(30, A, DENIED, 29, SAME), HEARD(40, A, OK, 30, SAME), DENIED(40, A, 0)}},
	{"the clock goes back, and then machines are taken back (F57)",
	 {OPEN(100, A), TAKES(60, A), COOLS(60, A, 120)}},
	{"the clock goes back while a purchase is in doubt (F57)",
	 {TOLD(1040, H, RATE, 1039, SAME), TOLD(1100, H, RATE, 1099, FAILS), NOTHING(1060, H, 960),
	  FAILS(1060, H, 1160)}},
	{"what was sent before it closed neither opens nor lengthens it",
	 {TOLD(10, G, TRANSIENT, 9, SAME), TOLD(70, G, TRANSIENT, 69, FAILS),
	  TOLD(71, G, OK, 70, SAME), TOLD(72, G, TRANSIENT, 69, SAME), FAILS(72, G, 130)}},
	{"what may have been bought there, and was not: the pause counts from when that is known",
	 {TOLD(10, G, AMBIGUOUS, 9, SAME), TOLD(70, G, AMBIGUOUS, 11, FAILS), HALF(150, G),
	  NOTHING(200, G, 150), FAILS(200, G, 260), MAY(260, G),
	  TOLD(275, G, AMBIGUOUS, 260, FAILS), NOTHING(280, G, 260), FAILS(280, G, 400),
	  NOTHING(400, G, 260), NOTHING(410, G, 405), FAILS(539, G, 540), HALF(540, G)}},
	{"... and is as long as the doubt was, up to a quarter of an hour",
	 {TOLD(10, G, AMBIGUOUS, 9, SAME), TOLD(70, G, AMBIGUOUS, 11, FAILS), NOTHING(200, G, 11),
	  FAILS(200, G, 389), NOTHING(1000, G, 11), FAILS(1000, G, 1900)}},
	{"... and closes a place where repeats have failed for less than a minute",
	 {TOLD(10, G, AMBIGUOUS, 9, SAME), TOLD(40, G, AMBIGUOUS, 9, SAME), NOTHING(69, G, 9),
	  OPEN(69, G), SHUTS(70, G, 9, FAILS), FAILS(70, G, 131)}},
	{"... but not for one failure, nor when the provider was away meanwhile",
	 {TOLD(10, G, AMBIGUOUS, 9, SAME), NOTHING(100, G, 9), OPEN(100, G),
	  TOLD(40, H, AMBIGUOUS, 39, SAME), TOLD(50, H, AMBIGUOUS, 39, SAME), NOTHING(200, H, 39),
	  OPEN(200, H)}},
	{"... unless one was answered meanwhile, or it is forgotten",
	 {TOLD(10, G, AMBIGUOUS, 9, SAME), NOTHING(61, H, 9), OPEN(61, H),
	  TOLD(70, G, AMBIGUOUS, 11, FAILS), NOTHING(3731, G, 9), OPEN(3731, G),
	  TOLD(3740, G, AMBIGUOUS, 3739, SAME), TOLD(3800, G, OK, 3799, SAME), NOTHING(3801, G, 9),
	  OPEN(3801, G)}},
	{"... and it is nothing to who has none to sell, or no more for us",
	 {TOLD(10, A, CAPACITY, 9, COOLS), TOLD(10, A, QUOTA, 9, NO_QUOTA), NOTHING(60, A, 1),
	  QUOTA(60, A, 910), HALF(910, A)}},
	{"the clock goes back while it fails (F57)",
	 {TOLD(100010, G, TRANSIENT, 100009, SAME), TOLD(10, G, TRANSIENT, 9, SAME),
	  TOLD(69, G, TRANSIENT, 68, SAME), TOLD(70, G, TRANSIENT, 69, FAILS)}},
	{"after an hour without a try it is forgotten",
	 {TOLD(0, A, CAPACITY, 0, COOLS), HALF(3660, A), OPEN(3661, A),
	  TOLD(3662, A, CAPACITY, 3661, COOLS), COOLS(3662, A, 3722)}},
	{"forgotten likewise when nobody looked",
	 {TOLD(0, A, CAPACITY, 0, COOLS), TOLD(3661, A, CAPACITY, 3660, COOLS),
	  COOLS(3661, A, 3721)}},
	{"and then as many may be sent as ever",
	 {TOLD(0, A, CAPACITY, 0, COOLS), MAY(3661, A), MAY(3661, A)}},
	{"the clock goes back before a list is answered (F57)",
	 {TOLD(100000, A, DENIED, 99999, OFF), HEARD(50000, A, RATE, 49999, SAME),
	  DENIED(50001, A, 50300)}},
	{"not while a purchase is tried",
	 {TOLD(0, A, CAPACITY, 0, COOLS), MAY(3600, A), PROBING(3661, A)}},
	{"a quota is the account's: every zone, but not another type or market",
	 {TOLD(10, A, QUOTA, 9, NO_QUOTA), QUOTA(10, A, 910), QUOTA(10, B, 910), MAY_NOT(10, B),
	  OPEN(10, C), OPEN(10, D), OPEN(10, E)}},
	{"a quota has steps of its own, up to four hours",
	 {TOLD(0, A, QUOTA, 0, NO_QUOTA), MAY(900, B), PROBING(900, A),
	  TOLD(900, B, QUOTA, 900, NO_QUOTA), QUOTA(901, A, 2700),
	  TOLD(2700, A, QUOTA, 2700, NO_QUOTA), TOLD(6300, A, QUOTA, 6300, NO_QUOTA),
	  QUOTA(6301, A, 13500), TOLD(13500, A, QUOTA, 13500, NO_QUOTA), QUOTA(13501, A, 27900),
	  TOLD(27900, A, QUOTA, 27900, NO_QUOTA), QUOTA(27901, A, 42300)}},
	{"bought: the quota is there again",
	 {TOLD(0, A, QUOTA, 0, NO_QUOTA), MAY(900, B), TOLD(901, B, OK, 900, AGAIN), OPEN(901, A),
	  OPEN(901, B)}},
	{"a quota is worse news than capacity, and outlives it",
	 {TOLD(0, A, CAPACITY, 0, COOLS), TOLD(0, A, QUOTA, 0, NO_QUOTA), QUOTA(1, A, 900),
	  QUOTA(60, A, 900), HALF(900, A), MAY(900, A), TOLD(901, A, OK, 900, AGAIN),
	  OPEN(901, A)}},
	{"refused for capacity, the quota is not known to be there",
	 {TOLD(0, A, QUOTA, 0, NO_QUOTA), MAY(900, A), TOLD(901, A, CAPACITY, 900, COOLS),
	  COOLS(901, A, 961), HALF(901, B)}},
	{"denied: the provider is off, all of it and no other",
	 {TOLD(10, A, DENIED, 9, OFF), DENIED(10, A, 310), DENIED(10, B, 310), DENIED(10, D, 310),
	  OPEN(10, E), MAY_NOT(10, C), TOLD(11, B, DENIED, 9, SAME), DENIED(11, A, 310)}},
	{"the alarm is one, and the next try comes later each time, up to an hour",
	 {TOLD(0, A, DENIED, 0, OFF), MAY(300, B), PROBING(300, A), TOLD(300, B, DENIED, 300, SAME),
	  DENIED(301, A, 900), TOLD(900, A, DENIED, 900, SAME), TOLD(2100, A, DENIED, 2100, SAME),
	  DENIED(2101, A, 4500), TOLD(4500, A, DENIED, 4500, SAME), DENIED(4501, A, 8100)}},
	{"an alarm is not forgotten",
	 {TOLD(0, A, DENIED, 0, OFF), HALF(1000000, A), MAY(1000000, A), MAY_NOT(1000000, B)}},
	{"bought: on again",
	 {TOLD(0, A, DENIED, 0, OFF), MAY(300, B), TOLD(301, B, OK, 300, AGAIN), OPEN(301, A)}},
	{"who has no capacity has let us in",
	 {TOLD(0, A, DENIED, 0, OFF), MAY(300, A), TOLD(301, A, CAPACITY, 300, COOLS),
	  COOLS(301, A, 361), OPEN(301, B)}},
	{"who has a quota for us has let us in",
	 {TOLD(0, A, DENIED, 0, OFF), MAY(300, A), TOLD(301, A, QUOTA, 300, NO_QUOTA),
	  QUOTA(301, A, 1201), OPEN(301, D)}},
	{"a purchase that was on its way does not turn it on",
	 {TOLD(10, A, DENIED, 9, OFF), TOLD(11, B, OK, 8, SAME), DENIED(11, A, 310)}},
	{"a list was denied as well, and is let in again: purchases are not",
	 {TOLD(10, A, DENIED, 9, OFF), HEARD(20, A, DENIED, 19, SAME), DENIED(20, A, 0),
	  HEARD(30, A, OK, 29, SAME), DENIED(30, A, 310), HALF(310, A)}},
	{"a list that works says nothing of purchases that are denied",
	 {TOLD(10, A, DENIED, 9, OFF), HEARD(20, A, OK, 19, SAME), DENIED(20, A, 310)}},
	{"a list that is denied turns it off until a list works",
	 {HEARD(10, A, DENIED, 9, OFF), DENIED(10, A, 0), DENIED(100000, B, 0), OPEN(10, E),
	  MAY_NOT(100000, A), HEARD(100001, A, DENIED, 100000, SAME), DENIED(100001, A, 0),
	  HEARD(100002, A, OK, 9, SAME), DENIED(100002, A, 0), HEARD(100003, A, OK, 100002, AGAIN),
	  OPEN(100003, A)}},
	{"other failures of a list are nothing",
	 {HEARD(10, A, TRANSIENT, 9, SAME), HEARD(10, A, RATE, 9, SAME), HEARD(10, A, OK, 9, SAME),
	  OPEN(10, A)}},
	{"the clock goes back a day (F57): no longer than the step that was due",
	 {TOLD(100000, A, CAPACITY, 99999, COOLS), COOLS(13600, A, 13660), HALF(13660, A),
	  MAY(13661, A), TOLD(13662, A, CAPACITY, 13661, COOLS), COOLS(13662, A, 13782)}},
	{"the clock goes back while a purchase is tried (F57): it is still the one",
	 {TOLD(100000, A, QUOTA, 99999, NO_QUOTA), MAY(100900, A), PROBING(50000, A),
	  PROBING(50899, A), HALF(50900, A)}},
	{"the clock goes back and the answer comes (F57): it opens",
	 {TOLD(100000, A, CAPACITY, 99999, COOLS), MAY(100060, A), PROBING(50000, A),
	  TOLD(50001, A, OK, 100060, AGAIN), OPEN(50001, A)}},
	{"the clock jumps ahead: half-open early, which costs one refused call",
	 {TOLD(10, A, CAPACITY, 9, COOLS), HALF(3000, A)}},
};

static void run(struct cooldown *c, const struct step *s)
{
	const struct cooldown_place *p = &places[s->place];
	int64_t now = s->at * 1000, sent = s->sent * 1000;
	struct cooldown_view v;

	switch (s->deed) {
	case LOOK:
		v = cooldown_look(c, p, now);
		assert_int_equal(v.state, s->arg);
		if (s->arg == COOLDOWN_PROBING && s->want == 0) { /* half a minute from its begin */
			assert_true(v.until_ms > 0 && v.until_ms <= now + COOLDOWN_WAIT_MS);
			return;
		}
		assert_int_equal(v.until_ms, (int64_t)s->want * 1000);
		return;
	case BUY:
		assert_int_equal(cooldown_buy(c, p, now), s->arg);
		return;
	case BACK:
		cooldown_back(c, p->place.provider);
		return;
	case TAKEN:
		assert_int_equal(cooldown_taken_back(c, p, now), s->want);
		return;
	case ENDS:
		assert_int_equal(cooldown_doubt_ends(c, p, sent, now), s->want);
		return;
	case ANSWERED:
		assert_int_equal(cooldown_bought(c, p, (enum provider_code)s->arg, sent, now),
				 s->want);
		return;
	default:
		assert_int_equal(
			cooldown_heard(c, p->place.provider, (enum provider_code)s->arg, sent, now),
			s->want);
	}
}

static void test_every_transition(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(stories); i++) {
		struct cooldown c;

		cooldown_init(&c);
		for (size_t k = 0; k < COUNT(stories[i].steps); k++) {
			const struct step *s = &stories[i].steps[k];

			if (s->deed == END)
				break;
			print_message("# %s: step %zu\n", stories[i].name, k);
			run(&c, s);
		}
		cooldown_fini(&c);
	}
}

static void test_of_an_answer_about_several_the_worst_counts(void **state)
{
	static const struct {
		enum provider_code a, b, want;
	} rows[] = {
		{PROVIDER_OK, PROVIDER_OK, PROVIDER_OK},
		{PROVIDER_OK, PROVIDER_CAPACITY, PROVIDER_CAPACITY},
		{PROVIDER_CAPACITY, PROVIDER_QUOTA, PROVIDER_QUOTA},
		{PROVIDER_QUOTA, PROVIDER_DENIED, PROVIDER_DENIED},
		{PROVIDER_OK, PROVIDER_DENIED, PROVIDER_DENIED},
		{PROVIDER_OK, PROVIDER_AMBIGUOUS, PROVIDER_OK},
		{PROVIDER_CAPACITY, PROVIDER_TRANSIENT, PROVIDER_CAPACITY},
		{PROVIDER_RATE, PROVIDER_RATE, PROVIDER_RATE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(cooldown_worse(rows[i].a, rows[i].b), rows[i].want);
		assert_int_equal(cooldown_worse(rows[i].b, rows[i].a), rows[i].want);
	}
}

static void test_an_admin_opens_a_place(void **state)
{
	struct cooldown c;

	(void)state;
	cooldown_init(&c);
	(void)cooldown_bought(&c, &places[A], PROVIDER_CAPACITY, 0, 0);
	(void)cooldown_bought(&c, &places[A], PROVIDER_QUOTA, 0, 0);
	(void)cooldown_bought(&c, &places[B], PROVIDER_CAPACITY, 0, 0);
	(void)cooldown_heard(&c, "aws", PROVIDER_DENIED, 0, 0);
	cooldown_clear(&c, &places[A]);
	assert_int_equal(cooldown_look(&c, &places[A], 1).state, COOLDOWN_READY);
	assert_int_equal(cooldown_look(&c, &places[B], 1).state, COOLDOWN_CAPACITY);
	cooldown_clear(&c, &places[A]);
	cooldown_fini(&c);
}

static void note(void *ctx, const struct cooldown_row *r)
{
	str_addf(ctx, "%s|%s|%s: state %d until %lld, %u\n", r->reason, r->provider, r->place,
		 (int)r->view.state, (long long)r->view.until_ms, r->times);
}

static void test_all_of_it_for_people(void **state)
{
	struct cooldown_place anywhere = places[A];
	struct cooldown c;
	struct str s;

	(void)state;
	anywhere.place.zone = "";
	cooldown_init(&c);
	str_init(&s, 4096);
	(void)cooldown_bought(&c, &places[A], PROVIDER_CAPACITY, 0, 0);
	(void)cooldown_bought(&c, &anywhere, PROVIDER_CAPACITY, 60000, 60000);
	(void)cooldown_bought(&c, &places[C], PROVIDER_QUOTA, 60000, 60000);
	(void)cooldown_heard(&c, "lambda", PROVIDER_DENIED, 60000, 60000);
	(void)cooldown_bought(&c, &places[G], PROVIDER_TRANSIENT, 60000, 60000); /* not closed */
	cooldown_each(&c, 60001, note, &s);
	assert_string_equal(s.p, "denied|lambda|: state 6 until 0, 1\n"
				 "quota|aws|p5 eu-north-1 on-demand: state 5 until 960000, 1\n"
				 "capacity|aws|p5 eu-north-1  spot: state 3 until 120000, 1\n"
				 "capacity|aws|p5 eu-north-1 a spot: state 1 until 0, 1\n");
	str_clear(&s);
	cooldown_each(&c, INT64_C(1000000000), note, &s); /* the rest is forgotten */
	assert_string_equal(s.p, "denied|lambda|: state 6 until 0, 1\n");
	str_fini(&s);
	cooldown_fini(&c);
}

static void test_memory_is_bounded_and_the_one_that_ends_first_goes(void **state)
{
	struct cooldown_place p = places[A];
	char zone[16];
	struct cooldown c;

	(void)state;
	cooldown_init(&c);
	p.place.zone = zone;
	(void)cooldown_bought(&c, &places[E], PROVIDER_DENIED, 0, 0); /* ends before all others */
	(void)cooldown_bought(&c, &places[C], PROVIDER_QUOTA, 0, 0);  /* ends after all others */
	for (int i = 0; i < 2 * COOLDOWN_PLACES_MAX; i++) {
		(void)snprintf(zone, sizeof(zone), "z%d", i);
		(void)cooldown_bought(&c, &p, PROVIDER_CAPACITY, 400000 + i, 400000 + i);
		assert_in_range(c.places.n, 1, COOLDOWN_PLACES_MAX);
	}
	assert_int_equal(c.places.n, COOLDOWN_PLACES_MAX);
	assert_int_equal(cooldown_look(&c, &p, 409000).state, COOLDOWN_CAPACITY);
	(void)snprintf(zone, sizeof(zone), "z%d", COOLDOWN_PLACES_MAX + 1);
	assert_int_equal(cooldown_look(&c, &p, 409000).state, COOLDOWN_READY);
	(void)snprintf(zone, sizeof(zone), "z%d", COOLDOWN_PLACES_MAX + 2);
	assert_int_equal(cooldown_look(&c, &p, 409000).state, COOLDOWN_CAPACITY);
	assert_int_equal(cooldown_look(&c, &places[E], 409000).state, COOLDOWN_HALF);
	assert_int_equal(cooldown_look(&c, &places[C], 409000).state, COOLDOWN_QUOTA);
	cooldown_fini(&c);
}

static void test_a_hundred_refusals_are_the_longest_step(void **state)
{
	struct cooldown c;

	(void)state;
	cooldown_init(&c);
	for (int64_t i = 1; i <= 100; i++) {
		int64_t at = i * COOLDOWN_CAPACITY_MAX_MS;

		(void)cooldown_bought(&c, &places[A], PROVIDER_CAPACITY, at, at);
	}
	assert_int_equal(cooldown_look(&c, &places[A], 100 * COOLDOWN_CAPACITY_MAX_MS).until_ms,
			 101 * COOLDOWN_CAPACITY_MAX_MS);
	cooldown_fini(&c);
}

static void test_a_clock_that_goes_back_a_millisecond_is_followed(void **state)
{
	struct cooldown c;

	(void)state;
	cooldown_init(&c);
	(void)cooldown_bought(&c, &places[A], PROVIDER_CAPACITY, 1000, 1000);
	assert_int_equal(cooldown_look(&c, &places[A], 999).until_ms, 999 + COOLDOWN_CAPACITY_MS);
	cooldown_fini(&c);
}

/* Whatever happens: never closed for longer than the longest step, and at most one purchase is
 * tried at a time. */
static void test_no_story_closes_a_place_for_good(void **state)
{
	uint64_t dice = 7;
	int64_t now = INT64_C(10000000000000);
	struct cooldown c;

	(void)state;
	cooldown_init(&c);
	for (int i = 0; i < 200000; i++) {
		const struct cooldown_place *p;
		struct cooldown_view v;
		uint64_t d;

		dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407U;
		d = dice >> 20;
		now += (int64_t)(d % 5) == 4 ? -(int64_t)(d % 4000000) : (int64_t)(d % 900000);
		p = &places[d / 5 % COUNT(places)];
		if (d / 25 % 2 == 0) {
			if (cooldown_buy(&c, p, now))
				assert_true(cooldown_look(&c, p, now).state == COOLDOWN_READY ||
					    !cooldown_buy(&c, p, now));
		} else {
			(void)cooldown_bought(&c, p, (enum provider_code)(d / 50 % PROVIDER_NCODES),
					      now - (int64_t)(d % 1000), now);
		}
		v = cooldown_look(&c, p, now);
		assert_true(v.until_ms == 0 || v.until_ms > now || v.state == COOLDOWN_PROBING);
		assert_true(v.until_ms <= now + COOLDOWN_QUOTA_MAX_MS);
		assert_true(v.state != COOLDOWN_CAPACITY ||
			    v.until_ms <= now + COOLDOWN_CAPACITY_MAX_MS);
	}
	cooldown_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_transition),
		cmocka_unit_test(test_of_an_answer_about_several_the_worst_counts),
		cmocka_unit_test(test_an_admin_opens_a_place),
		cmocka_unit_test(test_all_of_it_for_people),
		cmocka_unit_test(test_memory_is_bounded_and_the_one_that_ends_first_goes),
		cmocka_unit_test(test_a_hundred_refusals_are_the_longest_step),
		cmocka_unit_test(test_a_clock_that_goes_back_a_millisecond_is_followed),
		cmocka_unit_test(test_no_story_closes_a_place_for_good),
	};

	return cmocka_run_group_tests_name("cooldown", tests, NULL, NULL);
}
