#!/usr/bin/env bats
# Alerts of budgets on a real Slurm, to a server that checks signatures and a mail server: each is told once, nothing is lost by
# kill -9, a receiver that is down is told later, and no secret is anywhere (P7).

# Variables from the helper; scripts for the job to expand.
# shellcheck disable=SC2016,SC2034,SC2154
load helper

setup() {
	calm
	box=$lab_dir/alerts
	rm -rf "$box"
	mkdir -p "$box"
	files
	receive http hook 127.0.0.5 8001
	receive http chat 127.0.0.5 8002
	receive smtp mail 127.0.0.6 2525
}

teardown() {
	[ -n "${BATS_TEST_COMPLETED-}" ] || {
		tail -n 5 "$box"/*.json
		lab_logs
	}
	stop hook chat mail
	lab_burstd_conf
	burstctl reload >/dev/null
}

# Keys, and two CAs of which the second is not that of the servers.
files() {
	local ca
	for ca in ours theirs; do
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$ca" -keyout "$box/$ca.key" \
			-addext 'subjectAltName=IP:127.0.0.5,IP:127.0.0.6' -out "$box/$ca.pem" 2>/dev/null
	done
	(
		umask 077
		echo 0123456789abcdef0123456789abcdef >/etc/burstd/alert.key
		echo 'http://127.0.0.5:8002/services/T0/hidden-in-a-file' >/etc/burstd/slack.url
	)
	chown slurm /etc/burstd/alert.key /etc/burstd/slack.url
	cp "$box"/*.pem /etc/burstd/
}

# receive http|smtp NAME ADDRESS PORT [CERT KEY]: what it gets is in $box/NAME.json
receive() {
	local kind=$1 name=$2 address=$3 port=$4
	shift 4
	[ "$kind" = smtp ] || set -- /etc/burstd/alert.key "$@"
	"$BATS_TEST_DIRNAME/lab/receivers" "$kind" "$address" "$port" "$box/$name.json" "$@" 3>&- >>"$box/$name.log" 2>&1 &
	echo $! >"$box/$name.pid"
	touch "$box/$name.json"
	within 10 eval ": 2>/dev/null </dev/tcp/$address/$port"
}

stop() {
	local name
	for name; do
		kill "$(cat "$box/$name.pid")" 2>/dev/null || true
		wait "$(cat "$box/$name.pid")" 2>/dev/null || true
	done
}

section() {
	printf '%s "%s" {\n' "$1" "$2"
	shift 2
	printf '\t%s\n' "$@" '}'
}

# with TEXT: burstd.conf has these sections
with() {
	lab_burstd_conf
	echo "$1" >>/etc/burstd/burstd.conf
	burstctl reload
}

# A machine costs 29.52 an hour: within five seconds all of it.
tells='amount = "0.04"'
budget() {
	section budget "$1" "$tells" 'notify_at = {50, 90}' 'stop_at = 0' 'contact = "finance@example.org"'
}
hook='url = "http://127.0.0.5:8001/hook"'
key='secret_file = "/etc/burstd/alert.key"'
from='from = "burstd@example.org"'
to='to = {"ops@example.org", "finance@example.org"}'

got() {
	wc -l <"$box/$1.json"
}

# has NAME COUNT: so many messages
has() {
	[ "$(got "$1")" = "$2" ]
}

# hooked FILTER: what jq makes of what the webhook got
hooked() {
	jq -r "$1" "$box/hook.json"
}

spend() {
	job=$(job -N1 --exclusive --time=10 --wrap "$until_over")
	within 40 job_is "$job" RUNNING
}

# waits NAME: a message to it waits, and has been tried
alert_waits() {
	burstctl budget alerts --json | jq -e --arg to "$1" 'any(.alerts[].messages[]; .to == $to and .state == "pending" and .attempts > 0)'
}

@test "a percent is told once: signed, to Slack and by mail, over a reload and kill -9" {
	all="$(section alert hook 'kind = webhook' "$hook" "$key")
$(section alert chat 'kind = slack' 'url_file = "/etc/burstd/slack.url"')
$(section alert mail 'kind = smtp' 'url = "smtp://127.0.0.6:2525"' "$from" "$to")"
	with "$all
$(budget once)"
	spend
	within 40 has hook 1
	within 20 has chat 1
	within 20 has mail 1
	cat "$box"/*.json
	[ "$(hooked '"\(.signed) \(.old) \(.type) \(.path)"')" = 'true false application/json /hook' ]
	[ "$(hooked '.body | "\(.type) \(.alerts[0].kind) \(.alerts[0].percent) \(.alerts[0].budget) \(.alerts[0].contact)"')" = \
		'budget used 90 once finance@example.org' ]
	[ "$(hooked '.id')" = "$(hooked '.body.id')" ]
	jq -e '.body.text | test("^Cluster lab, budget once: 90 % of 0.04 EUR for [0-9-]+ are used up")' "$box/chat.json"
	jq -e '.sender == "burstd@example.org" and .to == ["ops@example.org", "finance@example.org"]' "$box/mail.json"
	# Read by a mail program: Python's.
	jq -r .text "$box/mail.json" | python3 -c '
import email, email.policy, sys
m = email.message_from_file(sys.stdin, policy=email.policy.default)
assert not m.defects, m.defects
assert m["Subject"].startswith("lab: budget once: 90 % of 0.04 EUR"), m["Subject"]
assert m["Auto-Submitted"] == "auto-generated" and m["Date"].datetime and len(m["To"].addresses) == 2
assert "burstctl budget show once" in m.get_content()
'
	burstctl budget alerts
	burstctl reload
	lab_kill burstd
	lab_start burstd
	sleep 35 # two looks
	[ "$(got hook) $(got chat) $(got mail)" = '1 1 1' ]
	# Another amount is another budget.
	tells='amount = "0.05"'
	with "$all
$(budget once)"
	within 40 has hook 2
	over "$job"
}

@test "who is down is told later, and kill -9 between the row and its delivery loses nothing" {
	stop hook
	with "$(section alert hook 'kind = webhook' "$hook" "$key")
$(budget late)"
	spend
	within 40 alert_waits hook
	burstctl budget alerts
	burstctl status --json | jq -e 'any(.problems[]; test("^alert hook: 1 message waits, the last try .* ago failed: .*127.0.0.5"))'
	curl -s http://127.0.0.1:9818/metrics | grep -x 'burstd_alerts_pending{alert="hook"} 1'
	lab_kill burstd
	receive http hook 127.0.0.5 8001
	lab_start burstd
	within 20 has hook 1
	within 10 eval 'burstctl budget alerts --json | jq -e "all(.alerts[].messages[]; .state == \"delivered\")"'
	[ "$(hooked '.body.alerts[0].budget')" = late ]
	over "$job"
}

@test "a message that was taken before kill -9 comes again with the same id" {
	echo 600 >"$box/hook.json.sleep"
	with "$(section alert hook 'kind = webhook' "$hook" "$key")
$(budget again)"
	spend
	within 40 has hook 1
	lab_kill burstd
	rm "$box/hook.json.sleep"
	lab_start burstd
	within 20 has hook 2
	[ "$(hooked .id | sort -u | wc -l)" = 1 ]
	[ "$(hooked .body | jq -cS . | sort -u | wc -l)" = 1 ]
	over "$job"
}

@test "a server's no is tried again, its 410 is not, and a reload tries at once" {
	echo 503 >"$box/hook.json.status"
	with "$(section alert hook 'kind = webhook' "$hook" "$key")
$(budget no)"
	spend
	within 40 alert_waits hook
	burstctl budget alerts --json | jq -e '.receivers[0].error == "the server answered 503"'
	echo 410 >"$box/hook.json.status"
	burstctl reload
	within 20 eval 'burstctl budget alerts --json | jq -e "any(.alerts[].messages[]; .state == \"failed\")"'
	burstctl status --json | jq -e 'any(.problems[]; test("^alert hook: 1 message was given up within the last 7 days"))'
	burstctl events -n 1000 | grep -F 'alert-failed'
	over "$job"
}

@test "twelve budgets at one look are one message" {
	text=$(section alert hook 'kind = webhook' "$hook" "$key" 'budgets = {"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"}')
	for i in {1..12}; do text="$text
$(budget "b$i")"; done
	spend
	sleep 6 # all of them are used up before they are there
	with "$text"
	within 30 has hook 1
	[ "$(hooked '.body.alerts | length')" = 9 ]
	over "$job"
}

@test "a test says how it went, and a certificate of somebody else is refused" {
	stop hook mail
	receive http hook 127.0.0.5 8001 "$box/ours.pem" "$box/ours.key"
	receive smtp mail 127.0.0.6 2525 "$box/ours.pem" "$box/ours.key"
	url='url = "https://127.0.0.5:8001/hook"' smtp='url = "smtp://127.0.0.6:2525"'
	with "$(section alert good 'kind = webhook' "$url" "$key" 'ca_file = "/etc/burstd/ours.pem"')
$(section alert bad 'kind = webhook' "$url" "$key" 'ca_file = "/etc/burstd/theirs.pem"')
$(section alert system 'kind = webhook' "$url" "$key")
$(section alert mail 'kind = smtp' "$smtp" "$from" "$to" 'ca_file = "/etc/burstd/ours.pem"')
$(section alert badmail 'kind = smtp' "$smtp" "$from" "$to" 'ca_file = "/etc/burstd/theirs.pem"')
$(section alert plain 'kind = smtp' "$smtp" "$from" "$to")"
	[ "$(burstctl budget alert-test good)" = 'alert good: the test was delivered' ]
	burstctl budget alert-test mail
	[ "$(hooked '"\(.signed) \(.body.type)"')" = 'true test' ]
	jq -e .tls "$box/mail.json"
	for name in bad system badmail; do
		run burstctl budget alert-test $name
		echo "$output"
		[ $status = 1 ]
		[[ $output =~ certificate|SSL ]]
	done
	run burstctl budget alert-test plain # this server wants TLS
	[ $status = 1 ]
	has hook 1
	has mail 1
	# A server without TLS gets no mail from who demands it.
	stop mail
	receive smtp mail 127.0.0.6 2525
	run burstctl budget alert-test mail
	echo "$output"
	[ $status = 1 ]
	has mail 1
	burstctl budget alert-test plain
	has mail 2
}

@test "an enemy's server neither holds burstd up nor writes to a terminal" {
	text=$(section alert good 'kind = webhook' "$hook" "$key")
	for name in endless silent escapes; do
		text+=$'\n'$(section alert $name 'kind = webhook' "url = \"http://127.0.0.5:8001/$name\"" "$key")
	done
	with "$text"
	burstctl budget alert-test silent >"$box/silent.out" 2>&1 3>&- &
	waiting=$!
	SECONDS=0
	for name in endless escapes; do
		run burstctl budget alert-test $name
		echo "$output"
		[ $status = 1 ]
		[ "${output//[^[:print:]]/}" = "$output" ]
		[[ $output == "burstctl: alert $name: "* ]]
	done
	[[ $output == *'the server answered 500'* ]]
	[ "$(burstctl budget alert-test good)" = 'alert good: the test was delivered' ]
	[ $SECONDS -lt 10 ]
	kill -0 $waiting # the others did not wait for this one
	status=0
	wait $waiting || status=$?
	[ $status = 1 ]
	cat "$box/silent.out"
	grep -F 'alert silent: ' "$box/silent.out"
	[ "$(ps -o rss= "$(pidof burstd)")" -lt 100000 ]
}

@test "secrets are in no answer and no log, and files that others read are refused" {
	with "$(section alert hook 'kind = webhook' "$hook" "$key")
$(section alert chat 'kind = slack' 'url_file = "/etc/burstd/slack.url"')"
	burstctl budget alert-test chat
	echo 503 >"$box/chat.json.status"
	run burstctl budget alert-test chat
	[ $status = 1 ]
	[[ $output = *'the server answered 503'* ]]
	{
		burstctl status --json
		burstctl config show
		burstctl budget alerts --json
		burstctl budget alerts
		burstctl events -n 1000
		burstctl audit -n 1000
		cat /var/log/burstd.log
	} >"$box/said"
	grep -q 'url_file = "/etc/burstd/slack.url"' "$box/said"
	run ! grep -E 'hidden-in-a-file|0123456789abcdef0123' "$box/said"
	run ! grep -a -E 'hidden-in-a-file|0123456789abcdef0123' /var/lib/burstd/journal.db*
	chmod 644 /etc/burstd/alert.key
	run burstctl budget alert-test hook
	echo "$output"
	[ $status = 1 ]
	[[ $output = *'secret_file: '* ]]
	run lab_as slurm "$lab_dir/bin/burstd" --check /etc/burstd/burstd.conf
	echo "$output"
	[[ $output = *'alert "hook": secret_file: '* ]]
	chmod 600 /etc/burstd/alert.key
	burstctl budget alert-test hook # without a reload
	run burstctl budget alert-test nosuch
	[[ $output = *'no alert is named "nosuch"'* ]]
	run lab_as researcher "$lab_dir/bin/burstctl" budget alert-test hook
	echo "$output"
	[ $status = 1 ]
	[[ $output = *'alert-test is for admins'* ]]
}
