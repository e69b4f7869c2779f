# shellcheck shell=bash
# Completion of burst-ledger for bash.  burst-ledger knows its commands and options itself.

_burst_ledger() {
	local line word answers=() answer lead=''
	# bash cuts words at = and :, burst-ledger does not.
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
}
complete -F _burst_ledger burst-ledger
