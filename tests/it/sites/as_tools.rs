//! Sites as tools.

use serde_json::{Value, json};
use wikijs_gate::server::http::Grant;

use super::{Many, site, three};
use crate::http::hosted::{Caller, Names};
use crate::testkit::Shows as _;

const LIST_SITES: &str = "wikijs_list_sites";
const STATUS: &str = "wikijs_site_status";
const SYNC: &str = "wikijs_sync_site";
const SETS: &str = "toolsets = [\"pages\", \"sites\"]\nmutations_enabled = true\nmutation_dry_run = false\nconfirm = \"preview\"\n";

#[tokio::test]
async fn a_caller_is_listed_its_own_sites_and_reads_the_status_of_each() {
    let [a, b, c] = three().await;
    let names = Names::new();
    let two = names.add(
        "two",
        Grant {
            sites: Some(vec!["a".to_owned(), "c".to_owned()]),
            ..Grant::default()
        },
    );
    let text = format!(
        "serve_tokens_file = {:?}\n{SETS}{}{}{}",
        names.path().to_str().unwrap(),
        site("a", &a, "index = \"memory\""),
        site("b", &b, ""),
        site("c", &c, "mutations_enabled = false")
    );
    let many = Many::start(&text).await;
    let listed = many.call("/c", &two, LIST_SITES, json!({})).await;
    let rows = listed["sites"].as_array().unwrap();
    let told: Vec<_> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["c", "a"], "{listed}");
    rows[0].shows(json!({ "answers": true, "openSets": 0, "rights": "reads, writes, deletes" }));
    assert_eq!(
        rows[1]["pages"],
        a.with_store(|store| store.pages().count())
    );
    // What the resource says, the tool says, at both sites.
    for (place, name) in [("/a", "a"), ("/c", "c"), ("/c", "a")] {
        let asked = many
            .call(place, &two, STATUS, json!({ "name": name }))
            .await;
        let read = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read",
            "params": { "uri": "wikijs://status" } });
        let at = many.post(&format!("/{name}"), &two, &read).await.message();
        let text = at["result"]["contents"][0]["text"].as_str().unwrap();
        let status: Value = serde_json::from_str(text).unwrap();
        assert_eq!(asked, status, "{place} {name}");
        assert_eq!(asked["site"], name);
    }
    let own = many.call("/c", &two, STATUS, json!({})).await;
    assert_eq!(own["site"], "c");
    let synced = many.call("/c", &two, SYNC, json!({ "name": "a" })).await;
    synced.shows(json!({ "name": "a", "isComplete": true }));
    // One that is not there and one that the grant does not allow are answered alike.
    for tool in [STATUS, SYNC] {
        let unknown = many
            .call("/a", &two, tool, json!({ "name": "nowhere" }))
            .await;
        for name in ["b", "", "A", "a/../b", "ä", &"x".repeat(200)] {
            let refused = many.call("/a", &two, tool, json!({ "name": name })).await;
            assert_eq!(refused, unknown, "{name}");
            assert_eq!(refused["code"], "INVALID_INPUT");
        }
    }
}

#[tokio::test]
async fn a_dead_site_is_listed_as_one_that_does_not_answer() {
    let [a, _, _] = three().await;
    let dead = "[sites.b]\nbase_url = \"http://127.0.0.1:9\"\napi_token = \"e30.e30.x\"\n";
    let many = Many::start(&format!("{SETS}{}{dead}", site("a", &a, ""))).await;
    let nobody = Caller::default();
    let listed = many.call("/a", &nobody, LIST_SITES, json!({})).await;
    listed["sites"][1].shows(json!({ "name": "b", "answers": false, "pages": null }));
    assert!(listed["sites"][1]["fault"].is_string(), "{listed}");
}
