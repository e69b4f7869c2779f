/* burstctl - the command by which admins and users ask burstd. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
