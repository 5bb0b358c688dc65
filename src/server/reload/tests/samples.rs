//! A change of each setting, to be taken over or to wait for a restart.

use super::Sample;
use crate::page::testing::But as _;

/// A sample for every setting, in the order of `SETTINGS`.
#[expect(clippy::too_many_lines, reason = "one line for each setting")]
pub(super) fn samples() -> Vec<Sample<'static>> {
    let of = |name, was: &'static str, is: &'static str| Sample {
        name,
        was: Some(was).filter(|was| !was.is_empty()),
        is: Some(is).filter(|is| !is.is_empty()),
        beside: Vec::new(),
        without: &[],
        takes_restart: false,
    };
    let restart = |name, was, is| of(name, was, is).but(|sample| sample.takes_restart = true);
    let beside = |sample, lines: &[(&'static str, &'static str)]| Sample {
        beside: lines.to_vec(),
        ..sample
    };
    let no_key = |sample| Sample {
        without: &["api_token"],
        ..sample
    };
    let person = [("confirm", "\"person\"")];
    let embeds = [
        ("embeddings_url", "\"http://127.0.0.1:30/v1\""),
        ("embeddings_model", "\"m\""),
    ];
    let by_site = [("memory", "\"site\"")];
    let with_peer = [by_site[0], ("memory_peer", "\"https://a.example/mcp\"")];
    vec![
        restart(
            "base_url",
            "\"http://127.0.0.1:20\"",
            "\"http://127.0.0.1:21\"",
        ),
        of("api_token", "\"one\"", "\"two\""),
        no_key(of("api_token_file", "\"key1\"", "\"key2\"")),
        no_key(of(
            "token_command",
            "[\"echo\", \"one\"]",
            "[\"echo\", \"two\"]",
        )),
        restart("graphql_path", "\"/graphql\"", "\"/other\""),
        of("default_locale", "\"en\"", "\"de\""),
        of("default_editor", "\"markdown\"", "\"code\""),
        of("mutations_enabled", "true", "false"),
        of("mutation_dry_run", "false", "true"),
        of(
            "mutation_confirm_token",
            "\"open sesame, please\"",
            "\"open sesame, thanks\"",
        ),
        of("confirm", "\"preview\"", "\"review\""),
        beside(of("person_timeout_s", "50", "60"), &person),
        of(
            "review_url",
            "\"https://a.example/review\"",
            "\"https://b.example/review\"",
        ),
        beside(of("confirm_fallback", "\"preview\"", ""), &person),
        of("allowed_mutation_path_prefixes", "", "[\"docs\"]"),
        of(
            "denied_mutation_path_prefixes",
            "[\"hr\"]",
            "[\"hr\", \"legal\"]",
        ),
        of("allowed_read_path_prefixes", "", "[\"docs\"]"),
        of("denied_read_path_prefixes", "[\"hr\"]", "[\"legal\"]"),
        of("denied_read_tags", "", "[\"secret\"]"),
        of("trash_prefix", "\"trash\"", "\"bin\""),
        of("upload_dir", "\"up1\"", "\"up2\""),
        of("toolsets", "[\"pages\", \"undo\"]", "[\"pages\"]"),
        of("tools", "", "[\"wikijs_undo_write\"]").but(|sample| sample.without = &["toolsets"]),
        of("exclude_tools", "", "[\"wikijs_delete_page\"]"),
        of("read_only", "", "true"),
        of("custom_tools_dir", "\"custom1\"", "\"custom2\""),
        of("json_indent", "0", "2"),
        of("http_timeout_ms", "1000", "2000"),
        of("http_max_retries", "1", "2"),
        of("http_retry_total_ms", "1000", "2000"),
        of("http_write_timeout_ms", "1000", "2000"),
        of(
            "proxy",
            "\"http://a.example:3128\"",
            "\"http://b.example:3128\"",
        ),
        of("ca_file", "", "\"ca.pem\""),
        of("extra_headers_file", "\"headers1\"", "\"headers2\""),
        beside(
            of("client_cert_file", "\"cert1\"", "\"cert2\""),
            &[("client_key_file", "\"tlskey1\"")],
        ),
        beside(
            of("client_key_file", "\"tlskey1\"", "\"tlskey2\""),
            &[("client_cert_file", "\"cert1\"")],
        ),
        restart("audit_dir", "\"audit\"", "\"audit2\""),
        restart("store", "", "\"local\""),
        restart("store_password_file", "", "\"key1\""),
        restart("store_password_command", "", "[\"true\"]"),
        of("audit_keep_days", "10", "20"),
        of("audit_keep_mb", "10", "20"),
        restart("audit_anchors", "", "\"anchors\""),
        beside(
            restart("audit_signing_key", "", "\"signing\""),
            &[("audit_anchors", "\"anchors\"")],
        ),
        of("memory", "\"client\"", "\"site\""),
        beside(
            of(
                "memory_peer",
                "\"https://a.example/mcp\"",
                "\"https://b.example/mcp\"",
            ),
            &by_site,
        ),
        beside(of("memory_peer_token_file", "", "\"key1\""), &with_peer),
        beside(
            of("memory_peer_token_command", "", "[\"echo\", \"one\"]"),
            &with_peer,
        ),
        of("proposals_keep_days", "10", "20"),
        of("index", "\"memory\"", "\"off\""),
        of("index_load", "20", "30"),
        of("index_dir", "\"index1\"", "\"index2\""),
        beside(
            of(
                "embeddings_url",
                "\"http://127.0.0.1:30/v1\"",
                "\"http://127.0.0.1:31/v1\"",
            ),
            &embeds[1..],
        ),
        beside(of("embeddings_model", "\"m\"", "\"n\""), &embeds[..1]),
        beside(of("embeddings_per_day", "10", "20"), &embeds),
        beside(of("embeddings_key_file", "", "\"key1\""), &embeds),
        beside(
            of("embeddings_key_command", "", "[\"echo\", \"one\"]"),
            &embeds,
        ),
        of("mirror", "\"off\"", "\"on\""),
        beside(of("mirror_keep_days", "10", "20"), &[("mirror", "\"on\"")]),
        beside(of("mirror_keep_mb", "10", "20"), &[("mirror", "\"on\"")]),
        restart("serve_address", "", "\"127.0.0.1:1\""),
        beside(
            restart("serve_cert_file", "\"cert1\"", "\"cert2\""),
            &[("serve_key_file", "\"tlskey1\"")],
        ),
        beside(
            restart("serve_key_file", "\"tlskey1\"", "\"tlskey2\""),
            &[("serve_cert_file", "\"cert1\"")],
        ),
        restart("serve_tokens_file", "\"tokens\"", "\"tokens2\""),
        restart("serve_clients", "", "\"named\""),
        of("serve_allowed_hosts", "", "[\"wiki.example.com\"]"),
        of("serve_allowed_origins", "", "[\"https://a.example\"]"),
        of("serve_trusted_proxies", "", "[\"10.0.0.0/8\"]"),
        restart("serve_caller_keys", "", "true"),
        of("serve_rate", "100", "50"),
        restart(
            "otel_exporter_otlp_endpoint",
            "",
            "\"http://127.0.0.1:4318\"",
        ),
        restart("otlp_headers_file", "\"signing\"", "\"headers1\""),
        restart("log", "\"info\"", "\"debug\""),
        restart("log_format", "\"text\"", "\"json\""),
        restart("log_dir", "\"log1\"", "\"log2\""),
    ]
}
