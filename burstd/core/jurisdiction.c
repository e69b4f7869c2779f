#include "core/jurisdiction.h"

#include <stddef.h>
#include <string.h>

/* EC2's regions; simcloud has the same names. */
static const struct {
	const char *region, *country;
} ec2[] = {
	{"af-south-1", "ZA"},     {"ap-east-1", "HK"},      {"ap-east-2", "TW"},
	{"ap-northeast-1", "JP"}, {"ap-northeast-2", "KR"}, {"ap-northeast-3", "JP"},
	{"ap-south-1", "IN"},     {"ap-south-2", "IN"},     {"ap-southeast-1", "SG"},
	{"ap-southeast-2", "AU"}, {"ap-southeast-3", "ID"}, {"ap-southeast-4", "AU"},
	{"ap-southeast-5", "MY"}, {"ap-southeast-6", "NZ"}, {"ap-southeast-7", "TH"},
	{"ca-central-1", "CA"},   {"ca-west-1", "CA"},      {"cn-north-1", "CN"},
	{"cn-northwest-1", "CN"}, {"eu-central-1", "DE"},   {"eu-central-2", "CH"},
	{"eu-north-1", "SE"},     {"eu-south-1", "IT"},     {"eu-south-2", "ES"},
	{"eu-west-1", "IE"},      {"eu-west-2", "GB"},      {"eu-west-3", "FR"},
	{"eusc-de-east-1", "DE"}, {"il-central-1", "IL"},   {"me-central-1", "AE"},
	{"me-south-1", "BH"},     {"mx-central-1", "MX"},   {"sa-east-1", "BR"},
	{"us-east-1", "US"},      {"us-east-2", "US"},      {"us-gov-east-1", "US"},
	{"us-gov-west-1", "US"},  {"us-west-1", "US"},      {"us-west-2", "US"},
};

/* Countries in a space-separated list; EEA is EU and three more. */
static const char eu[] = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO "
			 "SE SI SK";
static const char eea[] = "EU IS LI NO";

/* ISO 3166-1, alpha-2. */
static const char countries[] =
	"AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ "
	"BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM "
	"DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS "
	"GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN "
	"KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ "
	"MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM "
	"PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV "
	"SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI "
	"VN VU WF WS YE YT ZA ZM ZW";

const char *jurisdiction_of(const char *driver, const char *region)
{
	if (strcmp(driver, "aws") != 0 && strcmp(driver, "sim") != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(ec2) / sizeof(ec2[0]); i++)
		if (strcmp(ec2[i].region, region) == 0)
			return ec2[i].country;
	return NULL;
}

static bool is_in(const char *word, const char *list)
{
	size_t n = strlen(word);

	for (const char *p = list; *p != '\0'; p += *p == ' ') {
		size_t len = strcspn(p, " ");

		if (len == n && memcmp(p, word, n) == 0)
			return true;
		p += len;
	}
	return false;
}

bool jurisdiction_within(const char *place, const char *allowed)
{
	if (place == NULL || place[0] == '\0')
		return false;
	if (strcmp(place, allowed) == 0)
		return true;
	if (strcmp(allowed, "EU") == 0)
		return is_in(place, eu);
	if (strcmp(allowed, "EEA") == 0)
		return is_in(place, eea) || is_in(place, eu);
	return false;
}

bool jurisdiction_is_known(const char *word)
{
	return strcmp(word, "EU") == 0 || strcmp(word, "EEA") == 0 || is_in(word, countries);
}
