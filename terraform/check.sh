#!/bin/bash
# check.sh: what can be said about terraform/ in half a minute, without a provider and without a download, as TAP.  All else is
# `make terraform`.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit
BUILD=$(readlink -m "${BUILD:-build}")
BIN=$(readlink -m "${BIN:-$BUILD/bin}")
# shellcheck source-path=SCRIPTDIR
source terraform/tests/lib.bash
# shellcheck source-path=SCRIPTDIR
source terraform/tests/tap.bash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- one text for documents and modules --------------------------------------------------------------------------------

ok "what documents show of policies and ports is what modules make" terraform/one-text.py

# Each is one change, as somebody makes it in one of the two places alone.
noticed() { # FILE SED
	rm -rf "$work/tree"
	mkdir "$work/tree"
	cp -r docs terraform "$work/tree/"
	sed -i "$2" "$work/tree/$1"
	! cmp -s "$1" "$work/tree/$1" || { echo "$2 changes nothing" && return 1; }
	! "$work/tree/terraform/one-text.py" || { echo "nobody notices $2" && return 1; }
}
ok "a right more in docs/aws.md is noticed" noticed docs/aws.md 's/"ec2:RunInstances", /&"ec2:StopInstances", /'
ok "a right less in the policy is noticed" noticed terraform/modules/iam/aws/burstd-policy.json.tftpl '/"Console"/,+1d'
ok "a wider condition is noticed" noticed terraform/modules/iam/aws/burstd-policy.json.tftpl 's/StringEquals/StringLike/'
ok "another policy of Vault is noticed" noticed terraform/modules/secrets/vault/policy-wrap.hcl.tftpl 's/"read"/"read", "list"/'
# shellcheck disable=SC2016  # sed's
ok "a broker that may revoke is noticed" noticed terraform/modules/secrets/vault/policy-broker.hcl.tftpl \
	'$a path "auth/token/revoke-accessor"  { capabilities = ["update"] }'
ok "another right of a rotation is noticed" noticed docs/secrets.md 's/\["read", "update"\]/["read", "update", "delete"]/'
ok "another access rule of OpenStack is noticed" noticed terraform/modules/iam/openstack/access-rules.json.tftpl 's/"DELETE"/"PUT"/'
ok "another port is noticed" noticed docs/bootstrap.md 's/| 6818, /| 6819, /'
ok "another event for the queue is noticed" noticed terraform/modules/notices/aws/event-pattern.json 's/, "aws.health"//'
ok "a right of Secrets Manager that docs do not name is noticed" noticed terraform/modules/secrets/aws/secrets-policy.json.tftpl \
	's/DescribeSecret/ListSecrets/'

# --- what is left before anything is destroyed ---------------------------------------------------------------------------

# empty.sh with a burstctl that answers NODES, and STATUS.
emptied() { # NODES STATUS
	mkdir -p "$work/bin"
	printf '%s\n' "$1" >"$work/nodes"
	printf '%s\n' "$2" >"$work/status"
	cat >"$work/bin/burstctl" <<-EOF
		#!/bin/sh
		[ "\$2" != --json ] || cat "$work/\$1"
	EOF
	chmod +x "$work/bin/burstctl"
	PATH=$work/bin:$PATH sh terraform/modules/guard/empty.sh 0
}
answered='{"slurm": {"ok": false, "ok_ms": 0, "error": ""}, "providers": [{"name": "a", "ok": true, "ok_ms": 1700000000000, "error": ""}],
	"spool": {"error": ""}, "secrets": {"ok": false, "ok_ms": 0, "error": ""},'
calm="$answered \"problems\": []}"
gone='{"nodes": [{"name": "n-1", "state": "gone", "older": 0}, {"name": "n-2", "state": "none", "older": 0}]}'
ok "a cluster whose nodes are gone is empty" emptied "$gone" "$calm"
ok "one that never had a node is empty" emptied '{"nodes": []}' "$calm"
ok "a node that is there is seen" not emptied '{"nodes": [{"name": "n-1", "state": "deleting", "older": 0}]}' "$calm"
ok "an older machine of a node whose last one is gone is seen" not emptied "${gone/: 0/: 1}" "$calm"
ok "ten older ones are seen" not emptied "${gone/: 0/: 10}" "$calm"
ok "no answer is not empty" not emptied '' "$calm"
ok "no status is not empty" not emptied "$gone" ''
ok "a cloud that has not answered yet is not empty" not emptied "$gone" "${calm/1700000000000/0}"
ok "an instance in no journal is seen (F58)" not emptied "$gone" \
	"$answered \"problems\": [\"provider a: instance i-1 of this cluster is in no journal: it is left alone and may bill; see there\"]}"
ok "instances whose tags cannot be read are seen" not emptied "$gone" \
	"$answered \"problems\": [\"7 more instances have tags that cannot be read\"]}"

# --- by Terraform and OpenTofu, where they are ---------------------------------------------------------------------------

plain() { # modules without a provider
	local d
	for d in terraform/modules/*/ terraform/modules/*/*/; do
		[ ! -e "$d/main.tf" ] || [ -n "$(wants "$d")" ] || echo "${d%/}"
	done
}

# What burstd says of a burstd.conf that modules/conf has made.
accepted() { # PROGRAM
	rm -rf "$work/conf"
	mkdir "$work/conf"
	cat >"$work/conf/main.tf" <<-EOF
		module "conf" {
		  source  = "$PWD/terraform/modules/conf"
		  cluster = "falcon"
		  top     = { listen = "127.0.0.1:9818" }
		  nodes   = { listen = "0.0.0.0:8443", url = ["https://10.0.0.1:8443"], conf_server = ["10.0.0.1:6817"] }
		  secrets = { driver = "aws", region = "eu-west-1", name = "arn:aws:secretsmanager:eu-west-1:1:secret:n", release = "broker" }
		  clouds  = { ec2 = { driver = "aws", region = "eu-west-1", image = "ami-1", subnets = "eu-west-1a=subnet-1", role = null, check_address = true } }
		  pools   = { h100 = { nodes = "h100-[1-4]", provider = "ec2", type = "p5.48xlarge", region = "eu-west-1", market = "spot", max_nodes = 1, max_rate = 60 } }
		}
		output "conf" {
		  value = module.conf.burstd_conf
		}
	EOF
	init "$1" "$work/none" "$work/conf" && "$1" -chdir="$work/conf" apply -auto-approve -no-color >/dev/null &&
		"$1" -chdir="$work/conf" output -raw conf >"$work/burstd.conf" && chmod 600 "$work/burstd.conf" &&
		burstd_takes "$work/burstd.conf"
}

tested() { # PROGRAM MODULE
	copied "$work/copy"
	init "$1" "$work/none" "$work/copy/$2" && "$1" -chdir="$work/copy/$2" test -no-color
}

mkdir -p "$work/none"
[ -n "$(programs)" ] || skip "format, and the tests of modules without a provider" "neither terraform nor tofu is installed"
for program in $(programs); do
	name=${program##*/}
	ok "format, by $name" "$program" fmt -check -diff -recursive terraform
	for module in $(plain); do
		ok "tests of ${module#terraform/modules/}, by $name" tested "$program" "$module"
	done
	if [ -x "$BIN/burstctl" ]; then
		ok "burstd takes the burstd.conf that modules/conf makes, by $name" accepted "$program"
	else
		skip "burstd takes the burstd.conf that modules/conf makes" "burstctl is not built"
	fi
done
echo "1..$n"
