//! The files of `deploy/` name what this server has: settings, routes, ports, secrets, metrics.

use wikijs_gate::config::SETTINGS;
use wikijs_gate::server::metrics::METRICS;

use crate::http::hosted::initialize;
use crate::prelude::*;

const DEPLOYMENT: &str = "deploy/kubernetes/base/deployment.yaml";
const REPLICAS: &str = "deploy/kubernetes/overlays/replicas";
const SETTINGS_FILES: [&str; 3] = [
    "deploy/kubernetes/base/config.toml",
    "deploy/kubernetes/overlays/replicas/config.toml",
    "deploy/compose/config.toml",
];

fn nobody() -> Caller {
    Caller::default()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All files below a folder, with their texts.
fn all_below(folder: &str) -> Vec<(String, String)> {
    let files = files_below(&root().join(folder)).into_iter();
    let named = files.map(|file| file.strip_prefix(root()).unwrap().display().to_string());
    named.map(|name| (name.clone(), read(&name))).collect()
}

/// The values of a member, wherever it stands in a text of YAML.
fn values<'a>(text: &'a str, member: &str) -> Vec<&'a str> {
    let lines = text
        .lines()
        .map(|line| line.trim_start().trim_start_matches("- "));
    let values = lines.filter_map(|line| line.strip_prefix(member)?.strip_prefix(": "));
    values.map(|value| value.trim_matches('"')).collect()
}

/// The names and values of a settings file, those of its examples too.
fn settings(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().map(|line| line.trim_start_matches('#'));
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let pairs = lines.filter_map(|line| line.split_once(" = "));
    pairs.filter(|(name, _)| is_name(name)).collect()
}

fn is_setting(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.name == name)
}

#[test]
fn every_setting_of_the_files_is_one_of_ours() {
    let mut named = 0;
    for (path, text) in all_below("deploy") {
        let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
        for word in words.filter(|word| word.starts_with("WIKI_")) {
            assert!(is_setting(word) || word == "WIKI_CONFIG", "{path}: {word}");
            named += 1;
        }
    }
    for path in SETTINGS_FILES {
        for (name, _) in settings(&read(path)) {
            let variable = format!("WIKI_{}", name.to_ascii_uppercase());
            assert!(is_setting(&variable), "{path}: {name}");
            named += 1;
        }
    }
    assert!(named > 30, "{named}");
}

#[tokio::test]
async fn every_path_that_is_asked_is_a_route_and_every_port_is_the_servers() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    let mut asked = 0;
    for (path, text) in all_below("deploy/kubernetes") {
        for route in values(&text, "path")
            .into_iter()
            .filter(|it| it.starts_with('/'))
        {
            // Of a JSON patch, a place in the manifest.
            if route.starts_with("/spec") {
                continue;
            }
            assert_eq!(server.get(route).await.status, 200, "{path}: {route}");
            asked += 1;
        }
        for port in values(&text, "port") {
            let is_known = ["http", "8765", "53", "443", "5432"].contains(&port);
            assert!(is_known, "{path}: {port}");
        }
    }
    assert_eq!(asked, 3);
    assert_eq!(values(&read(DEPLOYMENT), "containerPort"), ["8765"]);
    for path in SETTINGS_FILES {
        let address = ("serve_address", "\"0.0.0.0:8765\"");
        assert!(settings(&read(path)).contains(&address), "{path}");
    }
    let nginx = read("deploy/compose/nginx.conf");
    for gate in ["gate-1", "gate-2"] {
        assert!(nginx.contains(&format!("server {gate}:8765 ")));
        assert!(read("deploy/compose/compose.yaml").contains(&format!("  {gate}: *server\n")));
    }
}

#[test]
fn every_image_is_that_of_the_registrys_entry_in_this_version() {
    let entry = read("packaging/server.json");
    let entry: Value = serde_json::from_str(&entry.replace("\"@VARIABLES@\"", "[]")).unwrap();
    let packages = entry["packages"].as_array().unwrap();
    let oci = packages.iter().find(|one| one["registryType"] == "oci");
    let image = oci.unwrap()["identifier"].as_str().unwrap();
    let image = image.strip_suffix(":@VERSION@").unwrap();
    let (mut named, mut tagged) = (0, 0);
    for (path, text) in all_below("deploy") {
        for found in values(&text, "image") {
            let (name, tag) = found.split_once(':').unwrap_or((found, ""));
            if ["postgres", "nginx"].contains(&name) {
                continue;
            }
            assert_eq!(name, image, "{path}");
            assert!(tag.is_empty() || tag == env!("CARGO_PKG_VERSION"), "{path}");
            named += 1;
        }
        for tag in values(&text, "newTag") {
            assert_eq!(tag, env!("CARGO_PKG_VERSION"), "{path}");
            tagged += 1;
        }
    }
    assert_eq!((named, tagged), (4, 2));
}

/// The members of the secrets in the example, as `NAME/MEMBER`.
fn secrets() -> BTreeSet<String> {
    let text = read("deploy/kubernetes/base/secret.example.yaml");
    let of_each = text.split("---\n").flat_map(|secret| {
        let name = values(secret, "name")[0].to_owned();
        let (_, members) = secret.split_once("stringData:\n").unwrap();
        let members = members
            .lines()
            .filter_map(|line| line.split_once(": REPLACE"));
        let members = members.map(move |(member, _)| format!("{name}/{}", member.trim()));
        members.collect::<Vec<_>>()
    });
    of_each.collect()
}

#[test]
fn every_secret_that_the_manifests_take_is_in_the_example() {
    let secrets = secrets();
    assert_eq!(secrets.len(), 5);
    let deployment = read(DEPLOYMENT);
    assert_eq!(values(&deployment, "secretName"), ["wikijs-gate"]);
    let mount = "/etc/wikijs-gate/secret";
    assert!(values(&deployment, "mountPath").contains(&mount));
    let mut taken = BTreeSet::new();
    let mut texts = vec![deployment];
    texts.extend(SETTINGS_FILES[..2].iter().map(|path| read(path)));
    for text in &texts {
        let below = format!("{mount}/");
        let files = text.split(&below).skip(1);
        let names = files.map(|rest| rest.split(|c: char| !c.is_ascii_lowercase()).next());
        taken.extend(names.map(|name| format!("wikijs-gate/{}", name.unwrap())));
    }
    let monitor = read("deploy/kubernetes/base/servicemonitor.yaml");
    let (_, credentials) = monitor.split_once("credentials:\n").unwrap();
    let of = |member| values(credentials, member)[0].to_owned();
    taken.insert(format!("{}/{}", of("name"), of("key")));
    assert_eq!(taken, secrets);
    // The server alone reads what is mounted: by its group.
    let mode = |member| values(&texts[0], member)[0].to_owned();
    assert_eq!(mode("defaultMode"), "0400");
    assert_eq!(mode("fsGroup"), mode("runAsUser"));
}

#[test]
fn files_that_the_settings_name_are_mounted_and_the_state_is_where_the_image_has_it() {
    let overlay = read(&format!("{REPLICAS}/deployment.yaml"));
    for text in [read(DEPLOYMENT), overlay] {
        let mounts = values(&text, "mountPath");
        for file in values(&text, "value") {
            let is_below = |mount: &&str| Path::new(file).starts_with(mount);
            assert!(mounts.iter().any(is_below), "{file}");
        }
        assert!(mounts.contains(&"/var/lib/wikijs-gate"));
    }
    assert!(read("Dockerfile").contains("\nVOLUME /var/lib/wikijs-gate\n"));
    let compose = read("deploy/compose/compose.yaml");
    for place in ["config.toml", "secrets", "clients"] {
        assert!(
            compose.contains(&format!(" - ./{place}:/etc/wikijs-gate/{place}")),
            "{place}"
        );
    }
}

#[test]
fn the_servers_of_compose_reach_their_database_by_a_socket_in_a_volume_that_both_have() {
    let settings_file = read("deploy/compose/config.toml");
    let store = settings(&settings_file)
        .into_iter()
        .find(|(name, _)| *name == "store");
    let (_, address) = store.unwrap();
    assert!(
        address.starts_with("\"postgres://wikijs_gate@%2Frun%2Fpostgresql/"),
        "{address}"
    );
    let compose = read("deploy/compose/compose.yaml");
    let mounts = compose.matches("- socket:/").count();
    assert_eq!(mounts, 2);
    assert!(compose.contains("    - socket:/run/postgresql:ro\n"));
    // `/var/run` is `/run` in the image.
    assert!(compose.contains("      - socket:/var/run/postgresql\n"));
    assert!(compose.contains("\nvolumes:\n  database:\n  socket:\n"));
    assert_eq!(
        values(&compose, "command")[0],
        "[postgres, -c, listen_addresses=127.0.0.1]"
    );
}

#[test]
fn a_server_that_ends_gets_the_time_that_the_service_gives_it() {
    let unit = read("packaging/wikijs-gate.service");
    let given = unit
        .lines()
        .find_map(|line| line.strip_prefix("TimeoutStopSec="));
    let given: u64 = given.unwrap().parse().unwrap();
    let deployment = read(DEPLOYMENT);
    let number = |member| values(&deployment, member)[0].parse::<u64>().unwrap();
    assert!(number("terminationGracePeriodSeconds") >= number("seconds") + given);
    let compose = read("deploy/compose/compose.yaml");
    assert_eq!(values(&compose, "stop_grace_period"), [format!("{given}s")]);
}

#[test]
fn nginx_passes_on_what_the_page_on_proxies_says() {
    let page = read("docs/install/behind-a-proxy.md");
    let (_, block) = page.split_once("```nginx\n").unwrap();
    let block = block.split("```").next().unwrap();
    let lines = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect()
    };
    let expected = lines(&block.replace("127.0.0.1:8765", "gates"));
    let own = lines(&read("deploy/compose/nginx.conf"));
    assert!(
        own.windows(expected.len()).any(|part| part == expected),
        "{expected:#?}"
    );
}

/// The metrics that an expression names, each with the labels that it asks for.
fn asked_of(expression: &str) -> Vec<(String, Vec<String>)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = expression.match_indices("wikijs_gate_");
    let asked = starts.map(|(at, _)| {
        let rest = expression.get(at..).unwrap();
        let name: String = rest.chars().take_while(|c| is_word(*c)).collect();
        let rest = rest.get(name.len()..).unwrap();
        let labels = rest
            .strip_prefix('{')
            .and_then(|rest| rest.split('}').next());
        let labels = labels.into_iter().flat_map(|labels| labels.split("\","));
        let labels = labels.map(|one| one.split(['=', '!']).next().unwrap().trim().to_owned());
        (name, labels.filter(|one| !one.is_empty()).collect())
    });
    asked.collect()
}

/// The labels of `by (…)` in an expression.
fn grouped_by(expression: &str) -> Vec<String> {
    let lists = expression.split("by (").skip(1);
    let lists = lists.flat_map(|rest| rest.split(')').next().unwrap().split(','));
    lists.map(|label| label.trim().to_owned()).collect()
}

/// All expressions of the alerts and of the dashboard.
fn expressions() -> Vec<String> {
    let alerts = read("deploy/prometheus/alerts.yml");
    let alerts = alerts.split("expr:").skip(1);
    let alerts = alerts.map(|rest| rest.split("labels:\n").next().unwrap().to_owned());
    let mut found: Vec<String> = alerts.collect();
    assert_eq!(found.len(), 12);
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/wikijs-gate.json")).unwrap();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            found.push(target["expr"].as_str().unwrap().to_owned());
        }
    }
    assert!(found.len() > 25);
    found
}

#[tokio::test]
async fn alerts_and_dashboard_ask_for_metrics_and_labels_that_the_server_has() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    server.post(&nobody(), &initialize("2025-11-25")).await;
    let scraped = server.get("/metrics").await.body;
    let outside = ["job", "namespace", "instance", "site", "le"];
    for expression in expressions() {
        let asked = asked_of(&expression);
        assert!(!asked.is_empty(), "{expression}");
        let mut labels: BTreeSet<String> = outside.map(str::to_owned).into();
        for (name, own) in asked {
            let of_histogram = ["_bucket", "_sum", "_count"].into_iter();
            let names = of_histogram.filter_map(|ending| name.strip_suffix(ending));
            let names: Vec<&str> = names.collect();
            let is_it = |it: &&wikijs_gate::server::metrics::Metric| {
                it.name == name || it.kind == "histogram" && names.contains(&it.name)
            };
            let metric = METRICS.iter().find(is_it);
            let metric = metric.unwrap_or_else(|| panic!("{name}: {expression}"));
            let head = format!("# TYPE {} {}\n", metric.name, metric.kind);
            assert!(scraped.contains(&head), "{name}");
            let known = metric.labels.split(", ");
            let known = known.map(|label| label.trim_matches('`').to_owned());
            labels.extend(known);
            for label in own {
                assert!(labels.contains(&label), "{label}: {expression}");
            }
        }
        for label in grouped_by(&expression) {
            assert!(labels.contains(&label), "{label}: {expression}");
        }
    }
}

#[tokio::test]
async fn every_label_of_a_scrape_is_in_the_table_of_metrics() {
    let wiki = sample_wiki().await;
    let server = Setup::readonly(&wiki).host().await;
    let (caller, arguments) = (nobody(), json!({ "id": 1 }));
    let refused = server
        .call(&caller, crate::testkit::DELETE, arguments)
        .await;
    refused.unwrap_err();
    let scraped = server.get("/metrics").await.body;
    let mut labelled = 0;
    for line in scraped.lines().filter(|line| !line.starts_with('#')) {
        let (name, own) = asked_of(line).swap_remove(0);
        let metric = METRICS
            .iter()
            .find(|it| name == it.name || name.starts_with(&format!("{}_", it.name)));
        let metric = metric.unwrap_or_else(|| panic!("{line}"));
        for label in own.into_iter().filter(|label| label != "le") {
            assert!(metric.labels.contains(&format!("`{label}`")), "{line}");
            labelled += 1;
        }
    }
    assert!(labelled > 5, "{scraped}");
}

#[tokio::test]
async fn a_scraper_with_a_token_may_use_an_address_and_nobody_else_may() {
    let wiki = sample_wiki().await;
    let names = Names::new();
    let agent = names.add("agent", wikijs_gate::server::http::Grant::default());
    let server = Setup::readonly(&wiki).naming(&names).host().await;
    let status = async |caller: &Caller| server.send("GET", "/metrics", caller, "").await.status;
    let by_address = agent.clone().with("host", "10.1.2.3:8765");
    assert_eq!(status(&by_address).await, 200);
    assert_eq!(
        status(&by_address.with("origin", "https://evil.example")).await,
        403
    );
    assert_eq!(status(&nobody().with("host", "10.1.2.3:8765")).await, 401);
    assert_eq!(
        status(
            &nobody()
                .with("authorization", "Bearer wjs_no")
                .with("host", "10.1.2.3:8765")
        )
        .await,
        401
    );
    let plain = Setup::readonly(&wiki).host().await;
    let other = nobody().with("host", "10.1.2.3:8765");
    let answer = plain.send("GET", "/metrics", &other, "").await;
    assert_eq!(answer.status, 403);
}

/// The digest of a server's settings, by its readiness and by its metrics.
async fn digest(server: &Hosted) -> String {
    let answer = server.get("/readyz").await;
    assert_eq!(answer.status, 200);
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    let digest = body["settingsDigest"].as_str().unwrap().to_owned();
    let line = format!("\nwikijs_gate_settings_info{{digest=\"{digest}\"}} 1\n");
    says(&server.get("/metrics").await.body, &line);
    digest
}

#[tokio::test]
async fn replicas_have_one_digest_unless_who_may_do_what_differs() {
    const RULE: &str = "[[rules]]\nname = \"legal\"\npaths = [\"legal\"]\nthen = \"review\"\n";
    let wiki = sample_wiki().await;
    let first = digest(&Setup::editor(&wiki).host().await).await;
    // Another key, directory, address and time limit make no other policy.
    let second = Setup::readonly(&wiki).with("WIKI_HTTP_TIMEOUT_MS", "7000");
    assert_eq!(digest(&second.host().await).await, first);
    let mut digests = BTreeSet::from([first.clone()]);
    for other in [
        Setup::editor(&wiki).dry(),
        Setup::editor(&wiki).with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "docs"),
        Setup::editor(&wiki).with("WIKI_DENIED_READ_TAGS", "hr"),
        Setup::editor(&wiki).toolsets("pages,undo"),
        Setup::editor(&wiki).with("WIKI_MEMORY", "site"),
        Setup::editor(&wiki).with_tables(RULE),
    ] {
        assert!(digests.insert(digest(&other.host().await).await));
    }
    let dir = TempDir::new().unwrap();
    let doctor = Command::new(&["doctor"])
        .at(&wiki.address(), &wiki.keys().editor, dir.path())
        .writing()
        .with("WIKI_SERVE_ADDRESS", "127.0.0.1:0")
        .end()
        .await;
    let part = format!("have these settings if /readyz shows {first}");
    says(&doctor.told, &part);
}

#[tokio::test]
async fn metrics_tell_what_waits_what_is_paused_and_what_is_wrong() {
    let wiki = sample_wiki().await;
    let mut setup = Setup::admin(&wiki).with("WIKI_CONFIRM", "review");
    setup.thinking = Some(Duration::ZERO);
    let server = setup.host().await;
    let change = json!({ "id": id_of(&wiki, "home"), "title": "New" });
    server
        .call(&nobody(), crate::testkit::UPDATE, change)
        .await
        .unwrap();
    let metrics = server.get("/metrics").await.body;
    for line in [
        "\nwikijs_gate_proposals_waiting 1\n",
        "\nwikijs_gate_oldest_proposal_seconds ",
        "\nwikijs_gate_writes_paused 0\n",
        "\nwikijs_gate_recovered_unknown_total 0\n",
        "\nwikijs_gate_check_ok{check=\"settings\"} 1\n",
        "\nwikijs_gate_check_ok{check=\"wiki\"} 1\n",
        "\nwikijs_gate_check_ok{check=\"audit\"} 1\n",
    ] {
        says(&metrics, line);
    }
    Command::operator(&wiki, server.dir.path(), &["pause", "a trial"])
        .end()
        .await
        .good();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(server.dir.path(), open).unwrap();
    wiki.set_api_disabled(true);
    let asked = Setup::admin(&wiki).host().await.get("/metrics").await.body;
    says(&asked, "\nwikijs_gate_check_ok{check=\"wiki\"} 0\n");
    let metrics = server.get("/metrics").await.body;
    says(&metrics, "\nwikijs_gate_writes_paused 1\n");
    says(&metrics, "\nwikijs_gate_check_ok{check=\"audit\"} 0\n");
}
