#include "slurm/exclude.h"

#include "slurm/look.h"
#include "slurm/show.h"

struct slurm_text slurm_exclude_setting(struct slurm_text config)
{
	return slurm_show_setting(config, "SuspendExcNodes");
}

bool slurm_exclude_next(struct slurm_text *rest, struct hostlist **h, int64_t *count)
{
	struct slurm_text list, number;

	*h = NULL;
	if (!slurm_look_cut(rest, &list, &number))
		return false;
	*count = number.p != NULL ? slurm_show_number(number) : -1;
	if (number.p != NULL && *count < 0)
		*count = 0; /* an unreadable count keeps no node */
	if (list.n > 0)
		(void)hostlist_parse(h, list.p, list.n, NULL);
	return true;
}

bool slurm_exclude_is_fixed(struct slurm_text value)
{
	struct slurm_text list, number;

	while (slurm_look_cut(&value, &list, &number))
		if (number.p != NULL)
			return true;
	return false;
}
