# What CI checks, and the tests last.
ci:
    bash .ci/run

# The README's test command.
test:
    cargo test

# The ten slowest tests, by name.
slowest:
    tests/slowest

# The budgets of both builds, measured in one run and written into docs/figures.md; fails if one is missed.
bench:
    #!/usr/bin/env bash
    set -euo pipefail
    built=$(realpath -m "${CARGO_TARGET_DIR:-target}")/release/wikijs-gate
    cargo build --release --locked
    # The bench's own build lies at the same place.
    cp "$built" "$built-readme"
    cargo bench --bench budgets -- --readme "$built-readme" --write

# The first build by the README's command, and the unit tests behind a changed line, in an empty target directory.
build-times:
    cargo bench --profile dev --bench budgets -- --only build --write

# The binary of before change sets; compares an edit with: cargo bench --bench budgets -- --only writes --former FILE --write
former:
    #!/usr/bin/env bash
    set -euo pipefail
    [ -d target/former ] || git worktree add --detach target/former 8556681 >&2
    (cd target/former && CARGO_TARGET_DIR=target cargo build --release --locked >&2)
    echo "$PWD/target/former/target/release/wikijs-gate"

# A mix of calls over stdio and HTTP for minutes; fails if memory, descriptors or tasks grow.
soak minutes="10":
    cargo bench --bench budgets -- --only soak --minutes {{minutes}} --write

# The protocol's official conformance suite, over HTTP (needs npm).
conformance:
    tests/conformance/run

# The docs' block for nginx, in a real nginx before a real server (installs nginx as root).
proxy:
    tests/proxy/run

# People who sign in: oidc-provider, others' clients, a browser (needs npm; Python and Chromium, or skips them).
sign-in:
    tests/sign_in/run

# Several servers on one PostgreSQL behind nginx, killed and stopped under load for ten minutes (needs nginx and PostgreSQL).
replicas *arguments:
    tests/replicas/run {{ arguments }}

# Other people's clients, over stdio and HTTP (needs npm and Python).
clients:
    tests/clients/run

# The conformance suite, other people's clients, a report, the review page and its walk in headless Chromium with
# axe-core from npm (skipped where there is none), a wiki of 10,000 pages and 50 MB (the embedded one, or a real one at HEAVY_WIKI_URL that examples/large_wiki filled, with
# HEAVY_WIKI_KEY), and the soak (ten minutes).
heavy: conformance clients
    cargo test --test it in_a_browser -- --ignored --nocapture
    STORE_KILLS=200 cargo test --test it a_server_killed_at_any_moment
    cargo bench --bench budgets -- --only heavy --only soak --write

# What once went wrong at the doors, played again on a running wiki at PLAYED_WIKI_URL with a key of full access,
# PLAYED_WIKI_KEY. `cargo test` plays it on the embedded wiki.
played:
    cargo test --test it played_again -- --include-ignored --nocapture

# What the unit tests of gates, changes and stages let through when the code is changed (needs cargo-mutants). A failing
# case must not be kept for the next change.
mutants:
    PROPTEST_DISABLE_FAILURE_PERSISTENCE=1 cargo mutants

# Format.
fmt:
    cargo fmt --all

# Each fuzz target for a minute, then its corpus, which git does not keep, made small again (needs cargo-fuzz; without
# a nightly compiler, this one is asked to play it).
fuzz seconds="60":
    #!/usr/bin/env bash
    set -euo pipefail
    for target in $(ls fuzz/fuzz_targets | sed 's/\.rs$//'); do
        RUSTC_BOOTSTRAP=1 cargo fuzz run "$target" --sanitizer none -- -max_total_time={{seconds}}
        RUSTC_BOOTSTRAP=1 cargo fuzz cmin "$target" --sanitizer none
    done

# Take new golden files and snapshots as they are; look at the diff before you commit.
accept:
    INSTA_UPDATE=always cargo test

# Every package, from a clean checkout into dist/ (docs/packages.md).
dist *args:
    packaging/dist {{args}}

# Each package of dist/ in an empty root or environment of its own (as root; skipped by name where a tool is missing).
dist-test:
    packaging/test
