#!/bin/bash
# ec2_page.sh: docs/first-node-on-ec2.md followed by its reader, as TAP: its commands with a language mark, in their order, by
# AWS's command line against moto, which holds burstctl to the rights that the page gives.  Both come from PyPI; skipped
# where they cannot be had.  ssh is a program that knows the one answer that the page needs.
# shellcheck disable=SC2317  # functions that ok runs
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit
BUILD=${BUILD:-build}
BIN=$(readlink -f "${BIN:-$BUILD/bin}")
page=docs/first-node-on-ec2.md
# shellcheck source-path=SCRIPTDIR/../..
source tests/contract/venv.bash
want_venv "$BUILD/ec2-page" tests/contract/ec2-page.txt
command -v jq >/dev/null || skip 'there is no jq'
python=$(readlink -f "$BUILD/ec2-page")/bin/python
tmp=$(mktemp -d)
servers=()
trap '[ ${#servers[@]} = 0 ] || kill "${servers[@]}" 2>/dev/null; rm -rf "$tmp"' EXIT
failed=0
n=0

ok() { # NAME COMMAND...
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		tail -n 20 "$tmp/said" | sed 's/^/# /'
		failed=1
	fi
}
block() { # N
	awk -v n="$1" '/^```sh$/ { i++; inside = 1; next } /^```$/ { inside = 0 } inside && i == n' "$page"
}
blocks() { grep -c '^```sh$' "$page"; }
free_port() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
answers() { # URL
	for _ in $(seq 100); do
		! curl -s -o /dev/null "$1" || return 0
		sleep 0.2
	done
	return 1
}
# moto, which has one image of Debian's account, and the metadata service of the controller.
clouds() {
	"$python" - >"$tmp/amis.json" <<-'P' || return
		import json
		from moto.ec2.models.amis import AMIS
		print(json.dumps([dict(AMIS[0], ami_id=f"ami-0deb{day}", name=f"debian-12-amd64-202611{day}-1",
		      owner_id="136693071363", creation_date=f"2026-11-{day}T00:00:00.000Z") for day in ("01", "21", "11")]))
	P
	port=$(free_port)
	export AWS_ACCESS_KEY_ID=admin AWS_SECRET_ACCESS_KEY=admin
	MOTO_AMIS_PATH=$tmp/amis.json MOTO_ENABLE_AMI_VALIDATION=true "$python" -m moto.server -H 127.0.0.1 -p "$port" >"$tmp/moto.log" 2>&1 &
	servers+=($!)
	export AWS_ENDPOINT_URL=http://127.0.0.1:$port
	answers "$AWS_ENDPOINT_URL/moto-api/"
}
# The reader's programs: AWS's command line of the environment; ssh, which knows what the page asks of the controller; and
# burstctl, whose files are here, and whose EC2 is moto.
programs() {
	mkdir -p "$tmp/bin" "$tmp/home"
	ln -s "$(dirname "$python")/aws" "$tmp/bin/aws"
	printf '#!/bin/sh\nexec "$@"\n' >"$tmp/bin/sudo"
	printf '#!/bin/sh\nhead -c 128 /dev/urandom | base64 -w0\n' >"$tmp/bin/ssh"
	cat >"$tmp/bin/burstctl" <<-P
		#!/bin/bash
		case "\$1 \${2-}" in
		'init '*) shift; exec "$BIN/burstctl" init --file "$tmp/burstd.conf" --slurm-conf "$tmp/slurm.conf" "\$@" \
			url="$AWS_ENDPOINT_URL/" metadata_url="http://127.0.0.1:\$METADATA" slurm.conf="$tmp/slurm.conf" state_dir="$tmp" ;;
		'config check')
			# The spool is where only root may make one: in a namespace of mounts, if one can be had.
			unshare -rm true 2>/dev/null || exit 0
			exec unshare -rm sh -c 'mount -t tmpfs none /var/spool && mkdir -m 700 /var/spool/burstd && exec "\$@"' - \
				"$BIN/burstctl" config check "$tmp/burstd.conf" ;;
		*' check') exec "$BIN/burstctl" "\$@" "$tmp/burstd.conf" ;;
		esac
		echo "burstctl \$*?" >&2; exit 1
	P
	chmod +x "$tmp"/bin/{sudo,ssh,burstctl}
}
# The reader's shell: one for all blocks.
follow() { # FROM TO
	local i
	{
		# shellcheck disable=SC2016  # for that shell to expand
		echo 'set -eu; cd "$HOME"; [ ! -e state ] || . ./state'
		for ((i = $1; i <= $2; i++)); do
			block "$i"
		done
		echo 'declare -p account me vpc subnet gateway control nodes controller debian address secret builder there image 2>/dev/null >state || true'
		echo 'declare -f let_in rights >>state 2>/dev/null || true'
	} >"$tmp/block"
	HOME=$tmp/home PATH=$tmp/bin:$PATH AWS_DEFAULT_REGION=eu-west-1 AWS_PAGER='' bash "$tmp/block"
}
# As the role of the page, whose rights moto holds burstctl to from now on.
controller() {
	aws() { "$tmp/bin/aws" --region eu-west-1 "$@"; }
	local key
	key=$(aws sts assume-role --role-arn "$(aws iam get-role --role-name burst-controller --query Role.Arn --output text)" \
		--role-session-name page) || return
	METADATA=$(free_port)
	export METADATA
	KEY=$key PYTHONPATH=tests/contract "$python" - <<-'P' >"$tmp/imds.log" 2>&1 &
		import datetime, json, os, imds
		given = json.loads(os.environ["KEY"])["Credentials"]
		end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
		imds.make_server(int(os.environ["METADATA"]), {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": given["AccessKeyId"],
		    "SecretAccessKey": given["SecretAccessKey"], "Token": given["SessionToken"],
		    "Expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ")}).serve_forever()
	P
	servers+=($!)
	answers "http://127.0.0.1:$METADATA/" && authentication 0
}
authentication() { curl -sf -H 'Content-Type: text/plain' -d "$1" "$AWS_ENDPOINT_URL/moto-api/reset-auth" >/dev/null; }
# What burstctl said is what the page shows, but for what differs each time.
check_is_as_shown() {
	awk '/^```text$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" >"$tmp/shown"
	cat "$tmp/checked"
	[ -s "$tmp/shown" ] && while IFS= read -r line; do
		grep -qF -- "$line" "$tmp/checked" || { echo "not said: $line"; return 1; }
	done <"$tmp/shown"
}
# burstd's rights on the page are some of those of docs/aws.md.
rights_are_of_aws_md() {
	awk '/^burstd needs these rights/ { on = 1 } on && /^\t/ { print } on && /\}\]\}/ { exit }' docs/aws.md >"$tmp/aws.json"
	awk "/^cat >rights.json/ { on = 1; next } /^END/ { on = 0 } on" "$page" | sed 's/StringLike/StringEquals/' >"$tmp/page.json"
	jq -S '.Statement[]' -c "$tmp/aws.json" | sort >"$tmp/aws.rights"
	jq -S '.Statement[] | select(.Resource != "SECRET")' -c "$tmp/page.json" | sort >"$tmp/page.rights"
	[ -s "$tmp/page.rights" ] && [ -z "$(comm -13 "$tmp/aws.rights" "$tmp/page.rights" | tee /dev/stderr)" ]
}
nothing_is_left() {
	follow "$last" "$last" || return
	{
		# shellcheck disable=SC2016  # the query's own backquotes
		aws ec2 describe-instances --query 'Reservations[].Instances[?State.Name!=`terminated`].InstanceId' --output text
		aws ec2 describe-vpcs --filters Name=is-default,Values=false --query 'Vpcs[].VpcId' --output text
		aws ec2 describe-images --owners self --query 'Images[].ImageId' --output text
		aws ec2 describe-key-pairs --query 'KeyPairs[].KeyName' --output text
		aws ec2 describe-security-groups --filters 'Name=group-name,Values=burst-*' --query 'SecurityGroups[].GroupId' --output text
		aws iam list-roles --query 'Roles[].RoleName' --output text
		aws iam list-instance-profiles --query 'InstanceProfiles[].InstanceProfileName' --output text
		aws secretsmanager list-secrets --query 'SecretList[].Name' --output text
		find "$tmp/home" -mindepth 1 ! -name state
	} | tee "$tmp/left"
	! grep -q . "$tmp/left"
}

last=$(blocks)
echo 1..7
ok 'a simulated AWS answers' clouds
programs
ok "steps 1 to 7: network, controller, rights and image" follow 1 $((last - 2))
ok 'the rights are some of those that docs/aws.md names' rights_are_of_aws_md
ok 'the controller has them, and no others' controller
ok 'step 8: burstd.conf is written, and EC2 takes the role' follow $((last - 1)) $((last - 1))
cp "$tmp/said" "$tmp/checked"
ok 'burstctl says what the page shows' check_is_as_shown
authentication 1000000
ok 'step 12 leaves nothing' nothing_is_left
exit $failed
