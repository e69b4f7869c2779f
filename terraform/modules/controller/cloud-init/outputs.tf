output "user_data" {
  description = "cloud-config for the machine. EC2 takes 16 KiB: larger files belong into the image."
  value = join("", ["#cloud-config\n", yamlencode({
    hostname          = var.hostname
    preserve_hostname = false
    write_files       = [for path, f in local.files : { path = path, permissions = f.mode, content = f.content }]
    runcmd            = [["/usr/local/sbin/burst-setup"]]
  })])
}

output "nodes" {
  description = "Section nodes of burstd.conf."
  value       = local.nodes
}

output "cluster_uuid" {
  description = "For modules/iam/aws."
  value       = local.uuid
}
