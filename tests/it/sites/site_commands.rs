//! The commands about sites, as an operator runs them.

use crate::prelude::*;

/// A settings file in a directory of its own.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new(text: &str) -> Self {
        let place = Self {
            dir: TempDir::new().unwrap(),
        };
        place.put(text);
        place
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("config.toml")
    }

    fn put(&self, text: &str) {
        let text = format!(
            "# mine\naudit_dir = \"audit\"\nindex = \"disk\"\nindex_dir = \"index\"\nhttp_max_retries = 0\n{text}"
        );
        fs::write(self.file(), text).unwrap();
        fs::set_permissions(self.file(), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// A command with this file.
    async fn run(&self, arguments: &[&str], stdin: &str) -> Ended {
        Command::new(arguments)
            .with("WIKI_CONFIG", self.file().to_str().unwrap())
            .hide(self.dir.path().to_str().unwrap(), "DIR")
            .stdin(stdin)
            .end()
            .await
    }

    /// The answer in JSON of a command, and its exit code.
    async fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let ended = self.run(&[arguments, &["--json"]].concat(), "").await;
        (ended.code, ended.json())
    }
}

fn site(name: &str, wiki: &DemoWiki) -> String {
    let (address, key) = (wiki.address(), &wiki.keys().admin);
    format!("[sites.{name}]\nbase_url = {address:?}\napi_token = {key:?}\n")
}

#[tokio::test]
async fn a_list_of_sites_says_of_each_whether_it_answers() {
    let good = wiki_of(&[("home", "first")]).await;
    let empty = wiki_of(&[]).await;
    let gone = wiki_of(&[]).await;
    let place = Place::new(&format!(
        "{}{}{}[sites.keyless]\nbase_url = \"http://127.0.0.1:9\"\n",
        site("good", &good),
        site("empty", &empty),
        site("gone", &gone)
    ));
    drop(gone);
    let (code, answer) = place.json(&["site", "list"]).await;
    assert_eq!(code, 1, "{answer}");
    let sites = answer["sites"].as_array().unwrap();
    let names: Vec<&Value> = sites.iter().map(|site| &site["name"]).collect();
    assert_eq!(names, ["good", "empty", "gone", "keyless"]);
    assert_eq!(sites[0]["address"], json!(format!("{}/", good.address())));
    assert_eq!(sites[0]["rights"], "reads, writes, deletes", "{answer}");
    assert!(sites[0]["keyEndsIn"].is_string(), "{answer}");
    assert_eq!(sites[0]["openSets"], 0, "{answer}");
    assert_eq!(sites[0]["index"], "none yet", "{answer}");
    assert_eq!(sites[1]["rights"], "sees no page", "{answer}");
    for of_good in [&sites[0], &sites[1]] {
        assert_eq!(of_good.get("fault"), None, "{answer}");
    }
    assert!(sites[2]["fault"].is_string(), "{answer}");
    let fault = sites[3]["fault"].as_str().unwrap();
    assert!(fault.contains("sites.keyless.api_token is missing; a site's key is never inherited"));
    let ended = place.run(&["site", "list"], "").await;
    assert!(!ended.told.contains(&good.keys().admin), "{}", ended.told);
}

#[tokio::test]
async fn a_site_is_added_once_and_only_if_its_wiki_takes_the_key() {
    let (a, b) = (wiki_of(&[]).await, wiki_of(&[]).await);
    let place = Place::new(&site("a", &a));
    let before = place.text();
    let (at_a, at_b) = (a.address(), b.address());
    for (name, address, key, code, why) in [
        ("a", &at_b, &b.keys().admin, 2, "has a site a"),
        (
            "b",
            &at_a,
            &a.keys().admin,
            2,
            "the site a has this address already",
        ),
        (
            "b",
            &at_b,
            &"not-a-key".to_owned(),
            1,
            "nothing was written",
        ),
        ("B", &at_b, &b.keys().admin, 2, "small letters"),
    ] {
        let add = ["site", "add", name, "--base-url", address, "--key-stdin"];
        let ended = place.run(&add, key).await;
        assert_eq!(ended.code, code, "{}", ended.told);
        assert!(ended.stderr.contains(why), "{}", ended.told);
        assert_eq!(place.text(), before);
    }
    let nobody = place
        .run(&["site", "add", "b", "--base-url", &at_b], "")
        .await;
    assert_eq!(nobody.code, 2, "{}", nobody.told);
    let add = ["site", "add", "b", "--base-url", &at_b, "--key-stdin"];
    place.run(&add, &b.keys().admin).await.good();
    assert!(place.text().starts_with(&before), "{}", place.text());
    let mode = fs::metadata(place.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let status = place.run(&["site", "status", "b"], "").await;
    // Its wiki has no page, which is a warning.
    assert_eq!(status.code, 6, "{}", status.told);
}

#[tokio::test]
async fn a_site_is_taken_out_only_by_a_yes() {
    let (a, b) = (wiki_of(&[]).await, wiki_of(&[]).await);
    let place = Place::new(&format!("{}# of b\n{}", site("a", &a), site("b", &b)));
    let before = place.text();
    let ended = place.run(&["site", "remove", "a"], "y\n").await;
    assert_eq!((ended.code, place.text()), (2, before), "{}", ended.told);
    assert!(ended.stderr.contains("pass --yes"), "{}", ended.told);
    let missing = place.run(&["site", "remove", "c", "--yes"], "").await;
    let error = "error: there is no site c; there are a, b\n";
    assert_eq!((missing.code, &*missing.stderr), (2, error));
    let (code, answer) = place.json(&["site", "remove", "a", "--yes"]).await;
    assert_eq!((code, &answer["removed"]), (0, &json!("a")), "{answer}");
    let left = place.text();
    ends(&left, &format!("# of b\n{}", site("b", &b)));
    begins(&left, "# mine\n");
    lacks(&left, "[sites.a]");
}

#[tokio::test]
async fn the_settings_of_a_site_are_checked_and_shown_with_their_origin() {
    let (a, b) = (wiki_of(&[]).await, wiki_of(&[]).await);
    let top = "mutations_enabled = true\ndenied_mutation_path_prefixes = [\"hr\"]\n";
    let own = "denied_mutation_path_prefixes = [\"x\"]\n";
    let place = Place::new(&format!("{top}{}{own}{}", site("a", &a), site("b", &b)));
    let (code, answer) = place.json(&["config", "show", "--site", "a"]).await;
    assert_eq!(code, 0, "{answer}");
    let of = |name: &str| {
        let all = answer["settings"].as_array().unwrap();
        let found = all.iter().find(|setting| setting["name"] == name);
        found.unwrap().clone()
    };
    let file = place.file();
    assert_eq!(
        of("WIKI_BASE_URL"),
        json!({ "name": "WIKI_BASE_URL", "value": a.address(), "from": "file", "site": "a", "file": file, "line": 9 })
    );
    assert_eq!(
        of("WIKI_MUTATIONS_ENABLED"),
        json!({ "name": "WIKI_MUTATIONS_ENABLED", "value": "true", "from": "file", "file": file, "line": 6 })
    );
    assert_eq!(
        of("WIKI_DENIED_MUTATION_PATH_PREFIXES"),
        json!({ "name": "WIKI_DENIED_MUTATION_PATH_PREFIXES", "value": "x", "serverValue": "hr", "from": "file", "site": "a", "file": file, "line": 11 })
    );
    let shown = place.run(&["--site", "a", "config", "show"], "").await;
    says(&shown.stdout, "x (and the server's: hr)");
    assert!(!shown.stdout.contains(&a.keys().admin), "{}", shown.told);
    let none = place.run(&["config", "show", "--site", "c"], "").await;
    assert_eq!(
        (none.code, none.stderr.as_str()),
        (2, "error: there is no site c; there are a, b\n")
    );
    // All faults of all sites at once; one site's alone where it is named.
    place.put(&format!(
        "{top}{}api_token = \"\"\n[sites.b]\nbase_url = {:?}\n",
        site("a", &a).replace("api_token", "default_locale"),
        a.address()
    ));
    let (code, answer) = place.json(&["config", "check"]).await;
    let faults = answer["faults"].as_array().unwrap();
    let of = |word: &str| {
        faults
            .iter()
            .any(|fault| fault.as_str().unwrap().contains(word))
    };
    assert_eq!(code, 2, "{answer}");
    assert!(of("sites.a.api_token"), "{answer}");
    assert!(of("sites.b.api_token"), "{answer}");
    let (_, answer) = place.json(&["config", "check", "--site", "b"]).await;
    assert!(!answer.to_string().contains("sites.a"), "{answer}");
}

#[tokio::test]
async fn the_index_of_one_site_is_cleared() {
    let (a, b) = (wiki_of(&[("a/1", "apple")]).await, wiki_of(&[]).await);
    let place = Place::new(&format!("{}{}", site("a", &a), site("b", &b)));
    for name in ["a", "b"] {
        let refreshed = place.run(&["index", "refresh", "--site", name], "").await;
        refreshed.good();
    }
    let clear = ["index", "clear", "--site", "a"];
    let (code, answer) = place.json(&clear).await;
    assert_eq!((code, &answer["indexes"]), (0, &json!(1)), "{answer}");
    let (_, answer) = place.json(&clear).await;
    assert_eq!(answer["removed"], false, "{answer}");
    let (_, answer) = place.json(&["index", "clear", "--site", "b"]).await;
    assert_eq!(answer["indexes"], 1, "{answer}");
    place.run(&["index", "clear"], "").await.exits(2);
}

#[tokio::test]
async fn a_refresh_reads_what_changed_of_one_site_and_says_why_it_cannot() {
    let (a, b) = (wiki_of(&[("a/1", "apple")]).await, wiki_of(&[]).await);
    let place = Place::new(&format!("{}{}", site("a", &a), site("b", &b)));
    let nameless = place.run(&["index", "refresh"], "").await.exits(2);
    says(&nameless.stderr, "there are a, b");
    let refresh = ["index", "refresh", "--site", "a"];
    let whole = |pages: u64| json!({ "pages": pages, "of": pages, "isComplete": true });
    assert_eq!(place.json(&refresh).await, (0, whole(1)));
    a.with_store(|store| store.add(page("a/2", "banana")));
    assert_eq!(place.json(&refresh).await, (0, whole(2)));
    a.clear_requests();
    let told = place.run(&refresh, "").await;
    assert_eq!(told.code, 0);
    assert_eq!(told.stdout.as_str(), "2 of 2 pages are indexed\n");
    // What did not change is not read again.
    let fields = a.requests().into_iter().flat_map(|seen| seen.fields);
    assert!(fields.into_iter().all(|field| !field.contains("single")));
    let (_, list) = place.json(&["site", "list"]).await;
    assert_eq!(list["sites"][0]["index"], "2 pages on disk", "{list}");
    assert_eq!(
        place.json(&["index", "refresh", "--site", "b"]).await,
        (0, whole(0))
    );
    drop(a);
    let dead = place.run(&refresh, "").await.exits(1);
    lacks(&dead.stderr, "a server may be filling");
    let memory = [&refresh[..], &["--index", "memory"]].concat();
    place.run(&memory, "").await.exits(2);
}
