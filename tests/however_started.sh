#!/bin/bash
# Run the Python tests however they may be started: tests/however_started.sh [words for pytest].
# For another user, or a path with a space, run it in a clone of that user, at such a path.
set -u
cd "$(dirname "$0")/.." || exit 1
tests=(.venv/bin/pytest -q -p no:cacheprovider "$@")
memory=$(mktemp -d -p /dev/shm) || exit 1
log=$(mktemp)
trap 'rm -rf "$memory" "$log"' EXIT
failed=0

try() { # NAME COMMAND...: one line with what the tests came to
	local name=$1
	shift
	"$@" >"$log" 2>&1 </dev/null
	local code=$?
	printf '%-32s exit code %s: %s\n' "$name" "$code" "$(tail -n 1 "$log" | tr -d '\r')"
	[ "$code" = 0 ] || { failed=1; grep -aE '^(FAILED|ERROR)' "$log"; }
}

# A shell that is not interactive has its background jobs ignore SIGINT.
in_background() { sh -c 'nohup "$@" & wait $!' sh "${tests[@]}"; }
on_a_terminal() { script -qefc "$(printf '%q ' "${tests[@]}") --color no" /dev/null; }
# shellcheck disable=SC2016
strangely() {
	env -u HOME LC_ALL=C COLUMNS=20 NO_COLOR=1 TZ=Asia/Tokyo TMPDIR="$memory" \
		sh -c 'umask 077; exec "$@"' sh "${tests[@]}"
}

try 'on a terminal' on_a_terminal
try 'in the background, with nohup' in_background
try 'without a terminal' setsid --wait "${tests[@]}"
try 'HOME, umask, TMPDIR, locale' strangely
exit $failed
