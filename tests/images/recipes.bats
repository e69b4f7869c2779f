#!/usr/bin/env bats
# The recipes of scripts/images: what tools can say of them without a cloud, and that they name what there is.

# shellcheck disable=SC2016,SC2154  # backquotes of Markdown; output and status, of bats
bats_require_minimum_version 1.5.0

setup() {
	export CHECKPOINT_DISABLE=1 PACKER_CONFIG_DIR=$BATS_TEST_TMPDIR HOME=$BATS_TEST_TMPDIR
}
packer_or_skip() {
	command -v packer >/dev/null || skip 'packer is not installed (scripts/dev/deps.sh images)'
}

@test "packer reads both, and finds them formatted" {
	packer_or_skip
	packer fmt -check scripts/images/packer
	for f in scripts/images/packer/*.pkr.hcl; do packer validate -syntax-only "$f"; done
	# It would say so.
	sed 's/^source "/sauce "/' scripts/images/packer/aws.pkr.hcl >"$BATS_TEST_TMPDIR/bad.pkr.hcl"
	run ! packer validate -syntax-only "$BATS_TEST_TMPDIR/bad.pkr.hcl"
}

# Its syntax check does not look at what a name stands for.
@test "every variable of a Packer file is declared, and used" {
	for f in scripts/images/packer/*.pkr.hcl; do
		diff <(sed -n 's/^variable "\(.*\)" {$/\1/p' "$f" | sort) <(grep -oE '\bvar\.[a-z_]+' "$f" | cut -d. -f2 | sort -u)
		diff <(sed -n '/^locals {/,/^}/s/^  \([a-z]*\) *=.*/\1/p' "$f" | sort) <(grep -oE '\blocal\.[a-z_]+' "$f" | cut -d. -f2 | sort -u)
		run ! grep -nE '= *[a-z_]+\.[a-z_]+' <(grep -vE '(= *|\[)(var|local|path)\.' "$f")
	done
}

@test "packer's builder for EC2 takes what aws.pkr.hcl tells it" {
	packer_or_skip
	packer validate -var region=eu-north-1 -var base_owner=136693071363 -var 'base_name=debian-12-amd64-*' -var burst=VERSION \
		-var 'provision=["FABRIC=efa"]' scripts/images/packer/aws.pkr.hcl
	cp -r scripts/images "$BATS_TEST_TMPDIR/images"
	sed -i 's/instance_type = var/instance_typ = var/' "$BATS_TEST_TMPDIR/images/packer/aws.pkr.hcl"
	run ! packer validate -var region=eu-north-1 -var base_owner=1 -var base_name=x -var burst=VERSION "$BATS_TEST_TMPDIR/images/packer/aws.pkr.hcl"
}

@test "what the recipes tell provision.sh are variables and options of it, and files that are there" {
	local name n=0
	while read -r name; do
		[ "$name" = NAME ] || scripts/images/provision.sh --help | grep -qE "^  $name="
		n=$((n + 1))
	done < <(grep -ohE '"[A-Z_0-9]+=|--set "?[A-Z_0-9]+=' scripts/images/packer/*.hcl scripts/images/Dockerfile scripts/images/mkosi.postinst |
		grep -oE '[A-Z_0-9]+' | sort -u)
	[ $n -ge 2 ]
	grep -q '/../provision.sh"' scripts/images/packer/aws.pkr.hcl
	grep -q '/../provision.sh"' scripts/images/packer/openstack.pkr.hcl
	grep -q '^#   cp scripts/images/provision.sh build/image/extra/opt/image' scripts/images/mkosi.conf
	grep -q '^/opt/image/provision.sh ' scripts/images/mkosi.postinst
	grep -q '^COPY scripts/images/provision.sh ' scripts/images/Dockerfile
}

@test "no recipe has a secret or leaves one: no key, token or password by name" {
	run ! grep -rniE '(secret|access)_key|password *=|token *=|private_key' scripts/images
}

@test "provision.sh: every variable and step is in docs/images.md, and no other" {
	local doc
	doc=$(grep -oE '^\| `[A-Z_0-9]+`' docs/images.md | tr -d '|` ' | sort)
	[ "$doc" = "$(scripts/images/provision.sh --help | sed -n 's/^  \([A-Z_0-9]*\)=.*/\1/p' | sort)" ]
	diff <(scripts/images/provision.sh --list) <(sed -n 's/^| `\([a-z_]*\)` |.*/\1/p' docs/images.md)
}

@test "provision.sh says what it does not know, before it does anything" {
	run -1 scripts/images/provision.sh --set NO_SUCH=1
	[[ $output == *'there is no variable NO_SUCH'* ]]
	run -1 scripts/images/provision.sh --only nothing
	run -1 scripts/images/provision.sh --what
	run -1 scripts/images/provision.sh --vars
	echo NO_SUCH=1 >"$BATS_TEST_TMPDIR/vars"
	run -1 scripts/images/provision.sh --vars "$BATS_TEST_TMPDIR/vars"
	[[ $output == *'there is no variable NO_SUCH'* ]]
}
