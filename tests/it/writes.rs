//! Writes that go well, and what else they must not do.

use serde_json::json;

use crate::harness::{Setup, id_of, sample_wiki, told};

#[tokio::test]
async fn a_write_is_previewed_confirmed_applied_and_on_record() {
    let wiki = sample_wiki().await;
    let served = Setup::of(&wiki, |keys| &keys.scripter).serve().await;
    let id = id_of(&wiki, "releases/2-4");
    let preview = served
        .call(
            "wikijs_update_page",
            json!({ "id": id, "title": "Two four" }),
        )
        .await
        .unwrap();
    assert_eq!(
        preview["changes"],
        json!({ "title": { "before": "Release 2.4", "after": "Two four" } })
    );
    let applied = served
        .call(
            "wikijs_update_page",
            json!({ "id": id, "confirm": preview["confirm"] }),
        )
        .await
        .unwrap();
    assert_eq!(applied["outcome"], "applied");
    assert_eq!(applied["changed"], json!(["title"]));
    assert_eq!(
        told(&served.records()),
        ["preview", "attempt update", "outcome update applied"]
    );
}
