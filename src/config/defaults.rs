//! Lists every setting with its name, kind, scope, default and meaning: for the settings file, flags
//! and the documentation, and to recognise unknown names.

use std::fmt::Write as _;

use super::setting::InSite::{Inherited, Narrower, Own, Server};
use super::setting::Setting;
use super::setting::SettingKind::{
    Choice, Command, Flag, List, Number, Path, PathOrCommand, Secret, Text,
};
use super::setting::Touches::{Gates, Index, Nothing, Reads, Restart, Wiki};
use crate::page::EDITORS;

/// The default of a setting without which no wiki is served.
pub(super) const REQUIRED: &str = "required";

/// Makes the table of rows `NAME (kind, in a site, what a change touches) = default, meaning;`.
macro_rules! settings {
    ($($name:literal ($kind:expr, $in_site:expr, $touches:expr) = $default:expr, $meaning:literal;)*) => {
        /// All settings, in the order of the documentation.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            name: $name,
            kind: $kind,
            in_site: $in_site,
            touches: $touches,
            default: $default,
            meaning: $meaning,
        }),*];
    };
}

settings! {
    "WIKI_BASE_URL" (Text, Own, Restart) = REQUIRED,
        "The address of the wiki, such as `https://wiki.example.com`.";
    "WIKI_API_TOKEN" (Secret, Own, Nothing) = REQUIRED,
        "The wiki's API key.";
    "WIKI_API_TOKEN_FILE" (Path, Own, Nothing) = "none",
        "A file that holds the key, in place of `WIKI_API_TOKEN`; both stop the start. A new key in it is taken without a restart.";
    "WIKI_TOKEN_COMMAND" (Command, Own, Nothing) = "none",
        "A command that prints the key, as an array of arguments (`[\"pass\", \"wiki\"]`), in place of the two above; in a settings file only, run without a shell, for 10 s at most.";
    "WIKI_GRAPHQL_PATH" (Text, Own, Restart) = "`/graphql`",
        "The path of the wiki's API below its address.";
    "WIKI_DEFAULT_LOCALE" (Text, Inherited, Wiki) = "`en`",
        "The locale where a call says none.";
    "WIKI_DEFAULT_EDITOR" (Choice(&EDITORS), Inherited, Wiki) = "`markdown`",
        "The editor of new pages.";
    "WIKI_MUTATIONS_ENABLED" (Flag, Narrower, Gates) = "`false`",
        "Whether anything may be written at all.";
    "WIKI_MUTATION_DRY_RUN" (Flag, Narrower, Gates) = "`true`",
        "Whether every write ends as a preview.";
    "WIKI_MUTATION_CONFIRM_TOKEN" (Secret, Own, Gates) = "none",
        "The operator's static token that every write must carry; at least 16 characters.";
    "WIKI_CONFIRM" (Choice(&["token", "preview", "person", "review"]), Narrower, Gates) = "`token` if a static token is set, else `preview`",
        "How a write is confirmed: `token`, `preview`, `person` (asked through the client) or `review` (decided on the review page).";
    "WIKI_PERSON_TIMEOUT_S" (Number(5, 600), Inherited, Gates) = "`50`",
        "How long a person who is asked may take, and how long a call waits for a decision on the review page, in seconds, 5 to 600.";
    "WIKI_REVIEW_URL" (Text, Server, Nothing) = "none",
        "The public address of the review page, `https://HOST/review`, which answers name; without it they name the address that serves the caller, or the command `wikijs-gate review` where no server has the page. With https the page's cookie goes by TLS alone.";
    "WIKI_CONFIRM_FALLBACK" (Choice(&["none", "preview", "proposal"]), Narrower, Gates) = "`none`",
        "What holds with `WIKI_CONFIRM=person` where the client cannot ask: `none` (nothing is written), `preview`, or `proposal` (as in a dry run).";
    "WIKI_ALLOWED_MUTATION_PATH_PREFIXES" (List, Narrower, Gates) = "everywhere",
        "Where may be written: comma-separated prefixes of whole segments, compared exactly; `de:docs` holds for one locale.";
    "WIKI_DENIED_MUTATION_PATH_PREFIXES" (List, Narrower, Gates) = "nowhere",
        "Where may not be written; wins, and is compared without regard to case and Unicode form.";
    "WIKI_ALLOWED_READ_PATH_PREFIXES" (List, Narrower, Reads) = "everywhere",
        "Where pages may be read: prefixes as for writes. Outside, a page is as if it were not there, and none may be written.";
    "WIKI_DENIED_READ_PATH_PREFIXES" (List, Narrower, Reads) = "nowhere",
        "Where no page may be read; wins, and is compared without regard to case and Unicode form.";
    "WIKI_DENIED_READ_TAGS" (List, Narrower, Reads) = "none",
        "A page with one of these tags may not be read; `*` stands for any text (`hr/*`).";
    "WIKI_TRASH_PREFIX" (Text, Inherited, Gates) = "none",
        "Where `wikijs_delete_page` with `trash` moves pages, as `<prefix>/<id>-<path>`; may lie outside the allowed prefixes.";
    "WIKI_UPLOAD_DIR" (Path, Own, Gates) = "none",
        "A directory whose files `wikijs_upload_asset` may send by their names (`file`). Whoever may upload may publish every file in it, but for links and names that begin with a dot.";
    "WIKI_TOOLSETS" (List, Narrower, Nothing) = "`pages`",
        "The tools that are offered, comma-separated: `pages` (the ten), `undo`, `proposals`, `drafts`, `memory`, `delegate`, `comments`, `assets`, `checks`, `sites`.";
    "WIKI_TOOLS" (List, Narrower, Nothing) = "none",
        "Single tools beside the toolsets; without `WIKI_TOOLSETS`, these alone.";
    "WIKI_EXCLUDE_TOOLS" (List, Narrower, Nothing) = "none",
        "Single tools that are left out, whatever else is set.";
    "WIKI_READ_ONLY" (Flag, Narrower, Nothing) = "`false`",
        "Whether every tool that can change the wiki is left out, whatever else is set. It makes the level of clients `off`, and does not restrict the operator's own commands (`undo`, `files push`, `proposals apply`); `WIKI_MUTATIONS_ENABLED` does.";
    "WIKI_CUSTOM_TOOLS_DIR" (Path, Inherited, Nothing) = "none",
        "A directory of tools of your own: recipes (`*.toml`) over ours and queries (`*.graphql`) to the wiki; taken over when they change.";
    "WIKI_JSON_INDENT" (Number(0, 8), Server, Nothing) = "`0`",
        "How many spaces indent the JSON of answers, 0 to 8; `0` is one line.";
    "WIKI_HTTP_TIMEOUT_MS" (Number(100, 600_000), Inherited, Wiki) = "`15000`",
        "How long one try of a read may take.";
    "WIKI_HTTP_MAX_RETRIES" (Number(0, 10), Inherited, Wiki) = "`2`",
        "How many times a read is tried again.";
    "WIKI_HTTP_RETRY_TOTAL_MS" (Number(100, 600_000), Inherited, Wiki) = "`40000`",
        "How long a read may take with all its tries.";
    "WIKI_HTTP_WRITE_TIMEOUT_MS" (Number(100, 600_000), Inherited, Wiki) = "`30000`",
        "How long a write may take from sending it on; it is never retried.";
    "WIKI_PROXY" (Secret, Inherited, Wiki) = "`HTTPS_PROXY` or `HTTP_PROXY`, by the wiki's scheme, but for hosts in `NO_PROXY`",
        "The HTTP proxy through which the wiki is reached, such as `http://user:password@proxy.example.com:3128`; wins over the environment's, which are not used for a wiki on this machine.";
    "WIKI_CA_FILE" (Path, Own, Wiki) = "none",
        "A file of certificate authorities in PEM that the wiki's certificate may be signed by, beside the system's.";
    "WIKI_EXTRA_HEADERS_FILE" (Path, Own, Wiki) = "none",
        "A file of headers for every request to the wiki, one `Name: value` a line, as access gateways ask for; their values are secrets.";
    "WIKI_CLIENT_CERT_FILE" (Path, Own, Wiki) = "none",
        "The certificate that is shown to the wiki where it asks for one, in PEM, with `WIKI_CLIENT_KEY_FILE`; taken over when the files change.";
    "WIKI_CLIENT_KEY_FILE" (Path, Own, Wiki) = "none",
        "The private key of `WIKI_CLIENT_CERT_FILE` in PEM, in a file that its owner alone may read.";
    "WIKI_AUDIT_DIR" (Path, Server, Restart) = "`wikijs-gate/audit` in the user's state directory",
        "Where the audit log and the kept pages lie.";
    "WIKI_STORE" (Text, Server, Restart) = "`local`",
        "What keeps records, kept pages, proposals and the rest: `local` (files in `WIKI_AUDIT_DIR`) or a database that servers share, such as `postgres://user@host/database`, whose address holds no password; `?sslrootcert=FILE` in it names the authorities that vouch for it.";
    "WIKI_STORE_PASSWORD_FILE" (Path, Server, Restart) = "none",
        "A file that holds the password of the database's user, which its owner alone may read.";
    "WIKI_STORE_PASSWORD_COMMAND" (Command, Server, Restart) = "none",
        "A command that prints this password, as an array of arguments, in place of the file; in a settings file only, run without a shell for each connection, for 10 s at most.";
    "WIKI_AUDIT_KEEP_DAYS" (Number(1, 36_500), Inherited, Nothing) = "`365`",
        "How old records and kept pages may become; what is older is purged, on record.";
    "WIKI_AUDIT_KEEP_MB" (Number(1, u32::MAX), Inherited, Nothing) = "`1024`",
        "How much they may take together, in megabytes (2^20 bytes); beyond it the oldest are purged.";
    "WIKI_AUDIT_ANCHORS" (PathOrCommand, Server, Restart) = "none",
        "Where heads of the log go after each outcome, at most once a second: a file elsewhere that lines are added to or, in a settings file only, a command that reads each line (`[\"logger\", \"-t\", \"wikijs-gate\"]`), run without a shell, for 10 s at most.";
    "WIKI_AUDIT_SIGNING_KEY" (Path, Server, Restart) = "none",
        "The file of the key that signs these lines, as `wikijs-gate audit key new` makes it.";
    "WIKI_MEMORY" (Choice(&["client", "site"]), Inherited, Nothing) = "`client`",
        "Who shares what the toolset `memory` remembers: `client` (each client has its own) or `site` (all clients of a site share theirs).";
    "WIKI_MEMORY_PEER" (Text, Own, Nothing) = "none",
        "The MCP address of another server, such as `https://office.example.com/mcp/docs`, with which `wikijs_sync_site` exchanges what a site remembers: https, or http on this machine; needs `site` in `WIKI_MEMORY`.";
    "WIKI_MEMORY_PEER_TOKEN_FILE" (Path, Own, Nothing) = "none",
        "A file that holds the token of a named client of that server, which its owner alone may read.";
    "WIKI_MEMORY_PEER_TOKEN_COMMAND" (Command, Own, Nothing) = "none",
        "A command that prints this token, as an array of arguments, in place of the file; in a settings file only, run without a shell for each message, for 10 s at most.";
    "WIKI_PROPOSALS_KEEP_DAYS" (Number(1, 36_500), Inherited, Nothing) = "`30`",
        "How long proposals are kept after the last thing that became of them; what is older is purged, on record.";
    "WIKI_INDEX" (Choice(&["memory", "disk", "off"]), Inherited, Index) = "`memory`",
        "Where pages, up to 100,000, are indexed for searching their content, by the first search that needs it: `memory` (in a file without a name, gone at the end), `disk` (kept for the next start) or `off`.";
    "WIKI_INDEX_LOAD" (Number(10, 100), Inherited, Index) = "`50`",
        "The share of its time, in percent, that filling the index may keep the wiki busy.";
    "WIKI_INDEX_DIR" (Path, Server, Index) = "`wikijs-gate/index` in the user's state directory",
        "Where indexes on the disk lie, one for each wiki and key.";
    "WIKI_EMBEDDINGS_URL" (Text, Own, Index) = "none: search by words alone",
        "The address that makes vectors of texts, in the form of OpenAI's `/v1/embeddings`, such as `http://127.0.0.1:8080/v1/embeddings`: then search and `relatedTo` also find pages by meaning. All indexed page text and each search's words go there; needs the index and `WIKI_EMBEDDINGS_MODEL`.";
    "WIKI_EMBEDDINGS_MODEL" (Text, Own, Index) = "none",
        "The name of the model there; under another name all vectors are made anew.";
    "WIKI_EMBEDDINGS_PER_DAY" (Number(1, 10_000_000), Inherited, Index) = "`50000`",
        "How many texts, sections and searches, go there in a day (UTC); the last tenth is left to searches. The index counts them: one in memory counts anew from each start.";
    "WIKI_EMBEDDINGS_KEY_FILE" (Path, Own, Index) = "none",
        "A file that holds the key of that address, sent as a bearer token, which its owner alone may read; in a settings file or by a flag.";
    "WIKI_EMBEDDINGS_KEY_COMMAND" (Command, Own, Index) = "none",
        "A command that prints this key, as an array of arguments, in place of the file; in a settings file only, run without a shell for each request, for 10 s at most.";
    "WIKI_MIRROR" (Choice(&["on", "off"]), Inherited, Nothing) = "`off`",
        "Whether the states of all pages that the key sees are kept beside the record, so that what others deleted can be brought back: `on` or `off`.";
    "WIKI_MIRROR_KEEP_DAYS" (Number(1, 36_500), Inherited, Nothing) = "`365`",
        "How many days the mirror keeps a state that is not a page's newest, and a page that is gone.";
    "WIKI_MIRROR_KEEP_MB" (Number(1, u32::MAX), Inherited, Nothing) = "`1024`",
        "How much the mirror may take, in megabytes (2^20 bytes); beyond it the oldest of these are removed.";
    "WIKI_SERVE_ADDRESS" (Text, Server, Restart) = "none: standard input and output",
        "Where the server listens for HTTP, such as `127.0.0.1:8765`, as `serve --http` does; another address than loopback needs named clients.";
    "WIKI_SERVE_CERT_FILE" (Path, Server, Restart) = "none: plain HTTP",
        "The server's certificate in PEM, with those that vouch for it, for TLS without a proxy; needs `WIKI_SERVE_KEY_FILE`. New contents of both files are taken over while it runs, unless they do not fit each other.";
    "WIKI_SERVE_KEY_FILE" (Path, Server, Restart) = "none",
        "The private key of `WIKI_SERVE_CERT_FILE` in PEM, in a file that its owner alone may read.";
    "WIKI_SERVE_TOKENS_FILE" (Path, Server, Restart) = "none",
        "The file of named clients, as `wikijs-gate token new` writes it; without it callers need no name.";
    "WIKI_SERVE_CLIENTS" (Choice(&["named", "anyone"]), Server, Restart) = "`named` with `WIKI_SERVE_TOKENS_FILE`, else `anyone`",
        "Who may call: `named` clients alone, or `anyone` on this machine, which needs a loopback address and no trusted proxy. With `named` the server does not start without a tokens file, so a forgotten file opens nothing.";
    "WIKI_SERVE_ALLOWED_HOSTS" (List, Server, Nothing) = "loopback names and the address itself",
        "More names under which the server is called, comma-separated, each with a port or without.";
    "WIKI_SERVE_ALLOWED_ORIGINS" (List, Server, Nothing) = "none",
        "Sites whose pages may call the server from a browser, comma-separated, such as `https://app.example.com`.";
    "WIKI_SERVE_TRUSTED_PROXIES" (List, Server, Nothing) = "none",
        "Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed, comma-separated addresses or ranges such as `10.0.0.0/8`; needs named clients.";
    "WIKI_SERVE_CALLER_KEYS" (Flag, Server, Restart) = "`false`",
        "Whether each caller brings a key of the wiki of its own, in the header `X-Wiki-Api-Token`; then a call without one is refused.";
    "WIKI_SERVE_RATE" (Number(1, 1_000_000), Server, Nothing) = "`600`",
        "The most requests of one client in a minute, 1 to 1000000.";
    "OTEL_EXPORTER_OTLP_ENDPOINT" (Text, Server, Restart) = "none: no spans",
        "The collector that gets spans of calls, by OTLP over HTTP as JSON, such as `http://collector.example.com:4318`; empty is none. Then requests to the wiki carry `traceparent`.";
    "WIKI_OTLP_HEADERS_FILE" (Path, Server, Restart) = "none",
        "A file of headers for every request to the collector, one `Name: value` a line, which its owner alone may read.";
    "WIKI_LOG" (Choice(&["off", "error", "warn", "info", "debug", "trace"]), Server, Restart) = "`info`",
        "How much the program logs: `off`, `error`, `warn`, `info`, `debug` or `trace`.";
    "WIKI_LOG_FORMAT" (Choice(&["text", "json"]), Server, Restart) = "`text`",
        "The form of a line of the log: `text` or `json`.";
    "WIKI_LOG_DIR" (Path, Server, Restart) = "none: stderr",
        "A directory for log files, one a day.";
}

impl Setting {
    /// The setting of a name in the environment.
    pub fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }
}

/// All settings as a table in Markdown.
pub fn table() -> String {
    let mut table = String::from("| name | default | in a site | meaning |\n|---|---|---|---|\n");
    for setting in SETTINGS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} |",
            setting.usual_name(),
            setting.default,
            setting.in_site.word(),
            setting.meaning
        );
    }
    table
}
