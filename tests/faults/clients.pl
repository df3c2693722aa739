#!/usr/bin/perl
# SPDX-License-Identifier: ISC
# Clients of the control socket that behave badly, or in great numbers.
#
#	clients.pl SOCKET flood N M LINE	N connections, M times LINE
#						each; reads every reply
#	clients.pl SOCKET idle N		N connections, kept
#	clients.pl SOCKET half			half a line, kept
#	clients.pl SOCKET trickle		a byte each 0.2 s
#	clients.pl SOCKET deaf M LINE		M times LINE, reads nothing
#
# All but flood say "ready" and stay until the daemon closes the connection
# ("cut after N s" is said) or they are ended.
use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use Time::HiRes qw(time);

my ($path, $mode, @args) = @ARGV;
$| = 1;
$SIG{PIPE} = 'IGNORE';
my $began = time;

sub connection {
	my $s = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path)
	    or die "clients.pl: $path: $!\n";
	return $s;
}

# Until the other end closes; says so.
sub stay {
	my ($s, $send, $every) = @_;
	my $select = IO::Select->new($s);
	while (1) {
		if ($select->can_read($every // 60)) {
			my $n = sysread($s, my $buf, 65536);
			last if !$n;
		}
		last if defined $send && !defined syswrite($s, $send);
	}
	printf "cut after %.1f s\n", time - $began;
}

if ($mode eq 'flood') {
	my ($n, $m, $line) = @args;
	my @all = map { connection() } 1 .. $n;
	print $_ "$line\n" x $m and $_->flush for @all;
	my $good = 0;
	for my $s (@all) {
		for (1 .. $m) {
			my $reply = <$s> // die "clients.pl: cut\n";
			$good++ if $reply =~ /"result"/;
		}
	}
	print "$good\n";
} elsif ($mode eq 'idle') {
	my @all = map { connection() } 1 .. $args[0];
	print "ready\n";
	stay($all[0]);
} elsif ($mode eq 'half') {
	my $s = connection();
	syswrite($s, '{"jsonrpc":"2.0","id":1,');
	print "ready\n";
	stay($s);
} elsif ($mode eq 'trickle') {
	my $s = connection();
	print "ready\n";
	stay($s, '{', 0.2);
} elsif ($mode eq 'deaf') {
	my ($m, $line) = @args;
	my $s = connection();
	$s->blocking(0);
	my $left = "$line\n" x $m;
	my $until = time + 3;
	while (length $left && time < $until) {
		my $n = syswrite($s, $left);
		substr($left, 0, $n) = '' if defined $n;
		select(undef, undef, undef, 0.05) if !defined $n;
	}
	print "ready\n";
	sleep 60;
} else {
	die "clients.pl: what is \"$mode\"?\n";
}
