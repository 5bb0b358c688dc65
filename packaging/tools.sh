# The tools that make and check packages, each of one version, installed once below the target
# directory; to be sourced at the top of the checkout.
# shellcheck shell=bash

TARGET_DIR=${CARGO_TARGET_DIR:-target}
[[ $TARGET_DIR = /* ]] || TARGET_DIR=$PWD/$TARGET_DIR
TOOLS=$TARGET_DIR/dist-tools
PATH=$TOOLS/venv/bin:$TOOLS/cargo/bin:$TOOLS/npm/node_modules/.bin:$PATH
# `cargo`, or what stands in its place.
CARGO=${CARGO:-cargo}

python_tools() {
    [ -e "$TOOLS/venv/bin/python" ] || python3 -m venv "$TOOLS/venv"
    "$TOOLS/venv/bin/pip" install --quiet --disable-pip-version-check "$@"
}

npm_tools() {
    npm install --silent --no-audit --no-fund --prefix "$TOOLS/npm" "$@"
}

# `cargo_tool NAME VERSION`
cargo_tool() {
    [ -e "$TOOLS/cargo/bin/$1" ] ||
        CARGO_TARGET_DIR=$TOOLS/build "$CARGO" install --quiet --locked --root "$TOOLS/cargo" "$1@$2"
}
