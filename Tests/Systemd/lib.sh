# What the scripts that run inside a machine of their own share (scripts/nspawn): promises, waiting,
# users. A promise is a sentence and a function; its commands run under set -e.

PS4='+ '
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
unset PICKERSYNC_SOCKET PICKERSYNC_FORM
promises=0
failures=0

promise() { # SENTENCE FUNCTION [ARGUMENT...]
    local sentence=$1 output status
    shift
    promises=$((promises + 1))
    set +e
    # Its own shell, so that set -e holds in it, and neither what it sets nor what it started leaks.
    # shellcheck disable=SC2046
    output=$(exec 2>&1; trap 'set +x; kill $(jobs -p) 2>/dev/null || true' EXIT; set -euxo pipefail; "$@")
    status=$?
    set -e
    if [ "$status" -eq 0 ]; then
        printf 'ok      %s\n' "$sentence"
    else
        failures=$((failures + 1))
        printf 'FAILED  %s\n' "$sentence"
        printf '%s\n' "$output" | tail -n 60 | sed 's/^/        /'
        journalctl --no-pager -n 25 -o cat -u pickersyncd.service -u pickersyncd.socket 2>/dev/null |
            sed 's/^/        | /'
    fi
}

finish() { # What the promises were about.
    if [ "$failures" -ne 0 ]; then
        echo "$1: $failures of $promises promises are broken"
        exit 1
    fi
    echo "$1: $promises promises hold"
}

eventually() { # COMMAND...: true within 30 seconds.
    { set +x; } 2>/dev/null
    local _
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.1
    done
    echo "gave up waiting: $*"
    return 1
}

as() { # USER COMMAND...
    local user=$1
    shift
    setpriv --reuid "$user" --regid "$user" --init-groups --reset-env -- "$@"
}

# In the background, so that $! is the command itself; what it says goes to a file, since a promise
# ends when nobody holds its output any more.
as_in_background() { # FILE USER COMMAND...
    local file=$1 user=$2
    shift 2
    exec setpriv --reuid "$user" --regid "$user" --init-groups --reset-env -- \
        "$@" >"$file" 2>"$file.err"
}

exits() { # STATUS COMMAND...: the command ends with this status.
    local expected=$1 status=0
    shift
    "$@" || status=$?
    [ "$status" -eq "$expected" ] || { echo "status $status, not $expected: $*"; return 1; }
}

is() { # EXPECTED FOUND
    [ "$1" = "$2" ] || { printf 'expected %q, found %q\n' "$1" "$2"; return 1; }
}

has() { # PATTERN FILE-OR-TEXT...: the text has it.
    local pattern=$1
    shift
    grep -q -e "$pattern" <<<"$*" || { printf 'no %q in: %s\n' "$pattern" "$*"; return 1; }
}

main_pid() { systemctl show -P MainPID "${1:-pickersyncd.service}"; }
runs() { systemctl is-active --quiet "${1:-pickersyncd.service}"; }
rests() { ! runs "$@"; }
another_pid() { local pid; pid=$(main_pid); [ "$pid" != 0 ] && [ "$pid" != "$1" ]; }

install_package() { # FILE
    # Without a network: what it depends on was fetched when the machine was made.
    apt-get install -y -q --no-install-recommends "$1"
}

# Two who may, one who may not.
make_users() {
    local user
    for user in alice bob mallory; do
        id -u "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$user"
    done
    usermod -a -G pickersync alice
    usermod -a -G pickersync bob
}

subscribers() { # COUNT FORM: so many watch it.
    pickerctl form list -o json | grep "\"form\":\"$2\"" | grep -q "\"subscribers\":$1[,}]"
}

# The form house, whose number n is counted up.
make_house() {
    cat >"$work/house.yaml" <<'END'
form: house
fields: [{id: heating, type: toggle}, {id: n, type: stepper, min: 0, max: 1000000}]
END
    as alice pickerctl form apply --yes "$work/house.yaml"
}

# Counts while COMMAND runs: every set succeeds and counts once, and every watcher sees every
# number once and in order.
under_load() { # WATCHERS WRITERS EDITS COMMAND...
    local watchers=$1 writers=$2 edits=$3 n
    local all=$((writers * edits)) watching=() writing=()
    shift 3
    as alice pickerctl set --form house n=0
    for n in $(seq "$watchers"); do
        as_in_background "$work/watch-$n" bob pickerctl watch --form house n -o json &
        watching+=($!)
    done
    eventually subscribers "$watchers" house
    for n in $(seq "$writers"); do
        as_in_background "$work/writer-$n" alice bash -c '
            for ((edit = 0; edit < '"$edits"'; edit++)); do
                pickerctl set --form house n+=1 || { echo "set ended with $?"; exit 1; }
            done' &
        writing+=($!)
    done
    "$@"
    for n in "${writing[@]}"; do
        wait "$n" || { cat "$work"/writer-* "$work"/writer-*.err; return 1; }
    done
    is "$all" "$(as alice pickerctl get --form house n)"
    seq "$all" >"$work/expected"
    for n in $(seq "$watchers"); do
        eventually grep -q "\"value\":$all[,}]" "$work/watch-$n"
        grep -o '"value":[0-9]*' "$work/watch-$n" | cut -d: -f2 | diff "$work/expected" -
    done
    kill "${watching[@]}"
    rm -f "$work"/watch-* "$work"/writer-*
}
