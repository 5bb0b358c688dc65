# What the scripts that run other people's programs against this server share; to be sourced.
# shellcheck shell=bash

# Where the debug build is, an absolute path.
BIN=${CARGO_TARGET_DIR:-target}/debug
[[ $BIN = /* ]] || BIN=$PWD/$BIN

# Counts what ran: a name with each, and `tally` at the end.
PASSED=0 FAILED=0 SKIPPED=0
passed() { PASSED=$((PASSED + 1)); }
failed() { FAILED=$((FAILED + 1)); echo "failed: $*"; }
skipped() { SKIPPED=$((SKIPPED + 1)); echo "skipped: $*"; }
tally() {
    echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
    [ "$FAILED" -eq 0 ]
}

# What was started in the background ends with the script.
trap 'kill $(jobs -p) 2>/dev/null' EXIT

# Installs npm packages below $DIR, and Node 22, which the package `node` brings by a script that
# newer npm does not run by itself.
npm_packages() {
    mkdir -p "$DIR"
    local done="$DIR/installed ${*//\//-}"
    [ -e "$done" ] && return
    (cd "$DIR" && npm install --prefix . --ignore-scripts --no-audit --no-fund "$@" node@22 &&
        cd node_modules/node && node installArchSpecificPackage.js) >"$DIR/npm.txt" 2>&1 &&
        touch "$done"
}

# Starts a server at a free port of loopback, with the rest as its settings: $URL is its address,
# $SERVING its process. `start_server LOG COMMAND… -- SETTING=VALUE…`; @ stands for the port.
start_server() {
    local log=$1 port command=()
    shift
    port=$(node -e 's = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
    while [ "$1" != -- ]; do
        command+=("${1//@/$port}")
        shift
    done
    shift
    env "${@//@/$port}" "${command[@]}" >"$log" 2>&1 &
    SERVING=$!
    URL=http://127.0.0.1:$port/mcp
    until curl --silent --output /dev/null --max-time 5 "$URL"; do
        kill -0 "$SERVING" 2>/dev/null || return 1
    done
}

stop_server() {
    kill "$SERVING" 2>/dev/null
    wait "$SERVING" 2>/dev/null
}
