output "top" {
  description = "For `top` of modules/conf."
  value       = { listen = var.listen }
}

output "debian_packages" {
  description = "For modules/controller/cloud-init."
  value       = ["prometheus"]
}

output "files" {
  description = "For modules/controller/cloud-init, or a host of yours: path and text."
  value = merge(
    { "/etc/prometheus/prometheus.yml" = local.config },
    { for name, text in local.rules : "/etc/prometheus/rules/${name}" => text },
  )
}
