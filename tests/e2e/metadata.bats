#!/usr/bin/env bats
# simcloud's instances boot with user data and ask 169.254.169.254 about themselves, from namespaces of their own.
# No Slurm and no burstd: the script in the user data says what it saw.

# Variables from the helper; scripts for the instance to expand.
# shellcheck disable=SC2016,SC2034,SC2154
LAB_CLOUD=aws LAB_METADATA=yes
load helper
lab_programs='simcloud'

setup_file() {
	[ -d /run/lab ] || return 1
	lab_up
	echo 'slurmd=no' >/etc/simcloud/boot.conf
}

# ec2 ACTION [CURL ARG...]
ec2() {
	local action=$1
	shift
	curl -sS --fail-with-body --aws-sigv4 aws:amz:eu-north-1:ec2 --user AKIDLAB:lab \
		-d "Action=$action&Version=2016-11-15" "$@" "$lab_url/"
}

# launch FILE TOKEN: two instances with FILE as their user data
launch() {
	ec2 RunInstances -d 'MinCount=2&MaxCount=2&ImageId=ami-1&InstanceType=gpu_8x_h100' -d "ClientToken=$2" \
		-d 'Placement.AvailabilityZone=eu-north-1a&MetadataOptions.HttpTokens=required' \
		-d 'TagSpecification.1.ResourceType=instance&TagSpecification.1.Tag.1.Key=burstd-node' \
		-d 'TagSpecification.1.Tag.1.Value=c[1-2]' --data-urlencode "UserData=$(base64 -w0 "$1")" >"$lab_dir/launched"
	instances=$(grep -o '<instanceId>[^<]*' "$lab_dir/launched" | sed 's/.*>//')
}

# said INSTANCE FILE: what it wrote
said() {
	cat "$lab_dir/saw/$1/$2"
}

@test "an instance runs its user data, and is told who it is by a signed document" {
	mkdir -p "$lab_dir/saw"
	cat >"$lab_dir/script" <<-'S'
		#!/bin/sh
		M=http://169.254.169.254
		T=$(curl -sS -m5 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' $M/latest/api/token)
		G() { curl -sS -m5 -f -H "X-aws-ec2-metadata-token: $T" "$M/latest/$1"; }
		id=$(G meta-data/instance-id)
		D=/run/lab/saw/$id
		mkdir -p $D
		curl -sS -m5 -o /dev/null -w '%{http_code}' $M/latest/user-data >$D/without
		G user-data >$D/user-data
		G meta-data/local-ipv4 >$D/address
		G dynamic/instance-identity/document >$D/document
		G dynamic/instance-identity/rsa2048 >$D/rsa2048
		id -u >$D/uid
		echo $0 >$D/name
		: >$D/done
		until G meta-data/spot/instance-action >$D/action 2>/dev/null; do sleep 0.2; done
		: >$D/warned
	S
	launch "$lab_dir/script" one
	[ "$(echo "$instances" | wc -l)" = 2 ]
	for i in $instances; do
		lab_wait 20 test -e "$lab_dir/saw/$i/done"
		[ "$(said "$i" without)" = 401 ]
		said "$i" user-data | cmp - "$lab_dir/script"
		[ "$(said "$i" uid)" = 0 ]
		said "$i" name | grep -q '^/var/lib/cloud/'
		(echo -----BEGIN PKCS7----- && said "$i" rsa2048 && echo && echo -----END PKCS7-----) |
			openssl smime -verify -inform PEM -certfile /etc/simcloud/identity.pem -noverify -nointern \
				-out "$lab_dir/verified"
		cmp "$lab_dir/verified" "$lab_dir/saw/$i/document"
		[ "$(jq -r .instanceId "$lab_dir/verified")" = "$i" ]
		[ "$(jq -r .privateIp "$lab_dir/verified")" = "$(said "$i" address)" ]
	done
	[ "$(awk 1 "$lab_dir"/saw/*/address | sort -u | wc -l)" = 2 ]
	# Who is no instance is told nothing.
	[ "$(curl -s -o /dev/null -w '%{http_code}' http://169.254.169.254/metadata/v1/id)" = 404 ]
	# Nor does another machine's user data lie where an instance's root finds it by name.
	[ "$(stat -c '%a %U' "$lab_dir/sim/${instances%%[[:space:]]*}/user-data")" = '600 root' ]
	sim POST /admin/reclaim '{"node": "c1", "notice_ms": 60000}' >/dev/null
	lab_wait 10 test -e "$lab_dir/saw/${instances%%[[:space:]]*}/warned"
	said "${instances%%[[:space:]]*}" action | jq -e '.action == "terminate"'
}

@test "what the metadata service sends may pass no router" {
	python3 - >"$lab_dir/ttl" 3>&- <<-'P' &
		import socket
		s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x800))
		s.bind(("lo", 0))
		s.settimeout(10)
		print("listens", flush=True)
		while True:
		    p = s.recv(2048)
		    if p[9] == 6 and p[12:16] == bytes([169, 254, 169, 254]) and p[20:22] == b"\0P" and len(p) > 60:
		        print(p[8])
		        break
	P
	sniffer=$!
	lab_wait 10 grep -q listens "$lab_dir/ttl"
	curl -s -o /dev/null http://169.254.169.254/metadata/v1/id
	wait $sniffer
	[ "$(tail -n 1 "$lab_dir/ttl")" = 1 ]
}
