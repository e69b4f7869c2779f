#!/usr/bin/env bats
# Containers by Enroot and Pyxis on machines that burstd buys: node-init says where images and containers are, the prolog makes
# the user's directory there, and the epilog of his last job on the machine removes it.
#
# The real Enroot is used where it is installed with mksquashfs, and Pyxis where spank_pyxis.so is; elsewhere a stand-in for the
# former (tests/e2e/examples/enroot), and what is Pyxis's is skipped.  ENROOT=DIR: one that is installed below DIR.

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154
load helper

setup_file() {
	own_lab || return
	LAB_NODES=2
	LAB_SLURM_EXTRA="Prolog=$lab_dir/node/prolog
		Epilog=$lab_dir/node/epilog
		PrologFlags=Alloc"
	lab_files && lab_slurm_conf && lab_burstd_conf || return
	mkdir -p "$lab_dir/node/bin" "$lab_dir/scratch" "$lab_dir/image"
	local sysconf=/etc/enroot plugin=''
	if [ -n "${ENROOT-}" ]; then
		sysconf=$ENROOT/etc plugin=$ENROOT/spank_pyxis.so
	elif command -v enroot >/dev/null; then
		plugin=$(compgen -G '/usr/lib/*/slurm*/spank_pyxis.so' || compgen -G '/usr/local/lib/slurm/spank_pyxis.so') || :
	else
		echo '# Enroot is not installed here: a stand-in runs' >&3
		cp "$lab_repo/tests/e2e/examples/enroot" "$lab_dir/node/bin/"
	fi
	export containers_path=$lab_dir/node/bin${ENROOT:+:$ENROOT/bin}:$PATH pyxis=''
	if [ -n "$plugin" ] && [ -e "$plugin" ]; then
		pyxis=yes
		echo "required $plugin" >/etc/slurm/plugstack.conf
		echo "PATH=$containers_path" >>/etc/simcloud/boot.conf # Pyxis runs the enroot that slurmd finds
	fi
	cp "$lab_repo"/slurm/{prolog,epilog,gpu-health} "$lab_dir/node/"
	sed -i "s|/etc/burstd/node-init.conf|$lab_dir/node/conf|" "$lab_dir"/node/{prolog,epilog,gpu-health}
	printf '%s\n' "path = $containers_path" "sysfs = $lab_dir/none" "job_scratch = $lab_dir/scratch" 'enroot = yes' \
		"enroot_conf = $sysconf/enroot.conf.d/50-burst.conf" ${pyxis:+'pyxis = yes' "pyxis_plugin = $plugin"} >"$lab_dir/node/conf"
	chmod -R a+rX "$lab_dir/node" "$lab_dir/scratch" "$lab_dir/image"
	# What a machine's node-init does there; the lab's machines without an image share /etc.
	mkdir -p /run/burst/s
	sh "$lab_repo/scripts/node/node-init" --conf "$lab_dir/node/conf" --only container || return
	image || return
	lab_start_all
}

# A shell and cat, as a squashfs where there is what makes one.
image() {
	local root=$lab_dir/tiny lib
	mkdir -p "$root"/{bin,dev,proc,sys,tmp,usr,root,var,run,etc}
	cp -L /bin/dash "$root/bin/sh"
	cp -L /bin/cat "$root/bin/cat"
	ldd /bin/dash /bin/cat | grep -o '/[^ :]*\.so[^ ]*' | sort -u | while read -r lib; do install -D "$lib" "$root$lib"; done
	echo 'NAME="tiny"' >"$root/etc/os-release"
	echo root:x:0:0::/root:/bin/sh >"$root/etc/passwd"
	echo root:x:0: >"$root/etc/group"
	if PATH=$containers_path command -v mksquashfs >/dev/null; then
		PATH=$containers_path mksquashfs "$root" "$lab_dir/image/tiny.sqsh" -noappend -quiet -comp gzip >/dev/null 2>&1
	else
		echo tiny >"$lab_dir/image/tiny.sqsh"
	fi
	chmod -R a+rX "$lab_dir/image"
}

setup() {
	:
}

real() {
	[ "$(PATH=$containers_path enroot version)" != 0.standin ]
}

out() {
	cat "$lab_dir/home/job-$1.out"
}

@test "a container in a job: on the scratch, the user's alone, and gone with his last job there" {
	id=$(job -w c1 -n1 --wrap "export PATH=$containers_path; enroot create -n one $lab_dir/image/tiny.sqsh && enroot list && enroot start one cat /etc/os-release; stat -c '%U %a %n' $lab_dir/scratch/enroot/*; ls $lab_dir/scratch/enroot/\$(id -u)/data; $until_over")
	within 60 eval 'out "$id" | grep -x one'
	second=$(job -w c1 -n1 --wrap "export PATH=$containers_path; enroot list; $until_over")
	within 30 grep -qx one "$lab_dir/home/job-$second.out" # a job beside it shares what is there
	over "$id"
	within 30 job_is "$id" COMPLETED
	sleep 2
	[ -e "$lab_dir/scratch/enroot/$(id -u researcher)/data/one" ]
	over "$second"
	within 30 job_is "$second" COMPLETED
	within 20 test ! -e "$lab_dir/scratch/enroot/$(id -u researcher)"
	out "$id"
	out "$id" | grep -x "researcher 700 $lab_dir/scratch/enroot/$(id -u researcher)"
	if real; then out "$id" | grep -x 'NAME="tiny"'; fi
}

@test "Pyxis: srun --container-image" {
	[ -n "$pyxis" ] || skip 'there is no Pyxis here'
	id=$(job -w c2 -n1 --wrap "export PATH=$containers_path; srun --container-image=$lab_dir/image/tiny.sqsh cat /etc/os-release; ls -d $lab_dir/scratch/enroot/\$(id -u)/data")
	within 60 job_is "$id" COMPLETED || { out "$id"; return 1; }
	out "$id" | grep -x 'NAME="tiny"'
	out "$id" | grep -x "$lab_dir/scratch/enroot/$(id -u researcher)/data"
	within 20 test ! -e "$lab_dir/scratch/enroot/$(id -u researcher)"
}
