#!/bin/bash
# tap.sh TEST [ARG...]: run a test for prove.
#
# cmocka 1.1.5, Debian 12's, writes a test that was skipped (for want of root, say) as "not ok N # SKIP", which is a
# failure by the rules of TAP and to prove.  And prove keeps what a failed test said to itself: under prove its name and
# the comments around it go to standard error too, so that a CI log tells what broke.  The names come once more at the
# end, since the comments can be longer than what is kept of a log.
set -o pipefail
# shellcheck disable=SC2016  # variables of perl
"$@" | TAP_TEST=$1 perl -ne '
	BEGIN { $| = 1; $tell = $ENV{HARNESS_ACTIVE}; select STDERR; $| = 1; select STDOUT }
	s/^not ok (\d* # SKIP)/ok $1/;
	print;
	next unless $tell;
	if (/^not ok (?!.*# TODO)/) {
		print STDERR "\n", map { "$ENV{TAP_TEST}: $_" } @before, $_;
		push @names, $_;
		$failed = 1;
		@before = ();
	} elsif (/^(ok |1\.\.)/) {
		$failed = 0;
		@before = ();
	} elsif ($failed) {
		print STDERR "$ENV{TAP_TEST}: $_";
	} else {
		push @before, $_;
		shift @before if @before > 20;
	}
	END { print STDERR "\n", map { "$ENV{TAP_TEST}: failed: $_" } @names if @names }'
