# burstd.conf, from what the other modules say of it.  No provider.
#
# A section is a map of options, as in burstd.conf(5): text, numbers, booleans or lists of text.  An option that is null
# is left out.  What is a wrong option burstd itself says: `burstctl config check`.

terraform {
  required_version = ">= 1.6"
}

locals {
  # Only what burstd can read: it takes neither quotes nor backslashes inside of text.
  text = {
    for name, section in merge(
      { "" = merge({ cluster = var.cluster, currency = var.currency }, var.top) },
      length(var.slurm) > 0 ? { "slurm" = var.slurm } : {},
      length(var.secrets) > 0 ? { "secrets" = var.secrets } : {},
      length(var.nodes) > 0 ? { "nodes" = var.nodes } : {},
      { for title, options in var.clouds : "provider \"${title}\"" => options },
      { for title, options in var.pools : "pool \"${title}\"" => options },
      ) : name => join("", [
        for option, value in section : format("%s%s = %s\n", name == "" ? "" : "\t", option,
          startswith(jsonencode(value), "[") ? "{${join(", ", [for x in try(tolist(value), []) : "\"${x}\""])}}" :
          startswith(jsonencode(value), "\"") ? "\"${value}\"" : jsonencode(value)
        ) if value != null
    ])
  }
  order = concat([""],
    [for name in ["slurm", "secrets", "nodes"] : name if contains(keys(local.text), name)],
    [for title in keys(var.clouds) : "provider \"${title}\""],
    [for title in keys(var.pools) : "pool \"${title}\""],
  )
  section = { for name in local.order : name => name == "" ? local.text[name] : "${name} {\n${local.text[name]}}\n" }
}
