//! Every setting by its name: for the documentation and for names that are none.

use std::fmt::Write as _;

/// A setting as the documentation shows it.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name in the environment.
    pub name: &'static str,
    /// Its default, in words.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

const fn setting(name: &'static str, default: &'static str, meaning: &'static str) -> Setting {
    Setting {
        name,
        default,
        meaning,
    }
}

/// All settings, in the order of the documentation.
pub const SETTINGS: &[Setting] = &[
    setting(
        "WIKI_BASE_URL",
        "required",
        "The address of the wiki, such as `https://wiki.example.com`.",
    ),
    setting("WIKI_API_TOKEN", "required", "The wiki's API key."),
    setting(
        "WIKI_API_TOKEN_FILE",
        "none",
        "A file that holds the key, in place of `WIKI_API_TOKEN`; both stop the start.",
    ),
    setting(
        "WIKI_GRAPHQL_PATH",
        "`/graphql`",
        "The path of the wiki's API below its address.",
    ),
    setting(
        "WIKI_DEFAULT_LOCALE",
        "`en`",
        "The locale where a call says none.",
    ),
    setting(
        "WIKI_DEFAULT_EDITOR",
        "`markdown`",
        "The editor of new pages.",
    ),
    setting(
        "WIKI_MUTATIONS_ENABLED",
        "`false`",
        "Whether anything may be written at all.",
    ),
    setting(
        "WIKI_MUTATION_DRY_RUN",
        "`true`",
        "Whether every write ends as a preview.",
    ),
    setting(
        "WIKI_MUTATION_CONFIRM_TOKEN",
        "none",
        "The operator's static token that every write must carry.",
    ),
    setting(
        "WIKI_CONFIRM",
        "`token` if a static token is set, else `preview`",
        "How a write is confirmed: `token`, `preview` or `person`.",
    ),
    setting(
        "WIKI_PERSON_TIMEOUT_S",
        "`50`",
        "How long a person who is asked may take, in seconds, 5 to 600.",
    ),
    setting(
        "WIKI_CONFIRM_FALLBACK",
        "`none`",
        "What holds with `WIKI_CONFIRM=person` where the client cannot ask: `none` (nothing is written), `preview`, or `proposal` (as in a dry run).",
    ),
    setting(
        "WIKI_ALLOWED_MUTATION_PATH_PREFIXES",
        "everywhere",
        "Where may be written: comma-separated prefixes of whole segments, compared exactly; `de:docs` holds for one locale.",
    ),
    setting(
        "WIKI_DENIED_MUTATION_PATH_PREFIXES",
        "nowhere",
        "Where may not be written; wins, and is compared without regard to case and Unicode form.",
    ),
    setting(
        "WIKI_TRASH_PREFIX",
        "none",
        "Where `wikijs_delete_page` with `trash` moves pages, as `<prefix>/<id>-<path>`; may lie outside the allowed prefixes.",
    ),
    setting(
        "WIKI_TOOLSETS",
        "`pages`",
        "The tools that are offered, comma-separated: `pages` (the ten), `undo`, `proposals`.",
    ),
    setting(
        "WIKI_HTTP_TIMEOUT_MS",
        "`15000`",
        "How long one try of a read may take.",
    ),
    setting(
        "WIKI_HTTP_MAX_RETRIES",
        "`2`",
        "How many times a read is tried again.",
    ),
    setting(
        "WIKI_HTTP_RETRY_TOTAL_MS",
        "`40000`",
        "How long a read may take with all its tries.",
    ),
    setting(
        "WIKI_HTTP_WRITE_TIMEOUT_MS",
        "`30000`",
        "How long a write may take from sending it on; it is never retried.",
    ),
    setting(
        "WIKI_AUDIT_DIR",
        "`wikijs-mcp/audit` in the user's state directory",
        "Where the audit log and the kept pages lie.",
    ),
    setting(
        "WIKI_AUDIT_KEEP_DAYS",
        "`365`",
        "How old records and kept pages may become; what is older is purged, on record.",
    ),
    setting(
        "WIKI_AUDIT_KEEP_MB",
        "`1024`",
        "How much they may take together, in megabytes (2^20 bytes); beyond it the oldest are purged.",
    ),
    setting(
        "WIKI_PROPOSALS_KEEP_DAYS",
        "`30`",
        "How long proposals are kept after the last thing that became of them; what is older is purged, on record.",
    ),
    setting(
        "WIKI_INDEX",
        "`memory`",
        "Where pages are indexed for searching their content, by the first search that needs it: `memory` (up to 2,000 pages, gone at the end), `disk` (up to 100,000, kept for the next start) or `off`.",
    ),
    setting(
        "WIKI_INDEX_DIR",
        "`wikijs-mcp/index` in the user's state directory",
        "Where indexes on the disk lie, one for each wiki and key.",
    ),
    setting(
        "WIKI_LOG",
        "`info`",
        "How much the program logs: `off`, `error`, `warn`, `info`, `debug` or `trace`.",
    ),
    setting(
        "WIKI_LOG_DIR",
        "none: stderr",
        "A directory for log files, one a day.",
    ),
];

/// The table of settings, as the documentation shows it.
#[must_use]
pub fn table() -> String {
    let mut table = String::from("| name | default | meaning |\n|---|---|---|\n");
    for setting in SETTINGS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| `{}` | {} | {} |",
            setting.name, setting.default, setting.meaning
        );
    }
    table
}

/// The setting whose name is nearest to one that is none.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    SETTINGS
        .iter()
        .map(|setting| (strsim::jaro_winkler(setting.name, name), setting.name))
        .filter(|(likeness, _)| *likeness > 0.85)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
