# shellcheck shell=bash
# Completion of burstctl for bash.  burstctl knows its commands and options itself, and asks burstd for nodes and pools.

_burstctl() {
	local line word answers=() answer lead=''
	# bash cuts words at = and :, burstctl does not.
	read -ra line <<<"${COMP_LINE:0:COMP_POINT}"
	[[ ${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]] || line+=('')
	word=${line[-1]}
	mapfile -t answers < <("${line[0]}" complete -- "${line[@]:1}" 2>/dev/null)
	case $word in
	*=*) [[ $COMP_WORDBREAKS != *=* ]] || lead=${word%"${word##*=}"} ;;
	esac
	COMPREPLY=()
	if [ "${answers[*]}" = @files ]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "${word#"$lead"}")
		return
	fi
	for answer in "${answers[@]}"; do
		COMPREPLY+=("${answer#"$lead"}")
	done
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _burstctl burstctl
