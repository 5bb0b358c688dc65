//! Parts of a page, its views, several at once, and what is hidden in it.

use crate::prelude::*;

/// Reads a page in the way that is asked for.
async fn read(served: &Served, id: i64, how: Value) -> Result<Value, Value> {
    let mut arguments = how;
    arguments["id"] = json!(id);
    served.call(BY_ID, arguments).await
}

fn add(wiki: &DemoWiki, path: &str, content: &str) -> i64 {
    wiki.with_store(|store| store.add(titled(path, &format!("Title of {path}"), content)))
}

fn names(answer: &Value) -> Vec<&str> {
    vec_of(answer.as_object().unwrap().keys().map(String::as_str))
}

/// The selector that a line of an outline begins with.
fn selector_of(line: &Value) -> &str {
    line.as_str().unwrap().split(' ').next().unwrap()
}

#[tokio::test]
async fn a_section_of_a_page_without_known_headings_leads_to_its_lines() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = wiki.with_store(|store| {
        let page = titled("guide", "Guide", "= Guide\n\n== Steps\n\nOne.\n");
        store.add(PageRow {
            editor: "asciidoc".to_owned(),
            ..page
        })
    });
    let error = read(&served, id, json!({ "section": "Steps" })).await;
    let error = error.unwrap_err();
    assert_eq!(error["code"], "SECTION_NOT_FOUND");
    says(&error["hint"], "by lines or offset");
    read(&served, id, json!({ "lines": "3-5" })).await.unwrap();
}

#[tokio::test]
async fn an_outline_tells_what_to_read_and_its_selectors_lead_there() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = id_of(&wiki, "docs/install/linux");
    let answer = read(&served, id, json!({ "view": "outline" }))
        .await
        .unwrap();
    let expected = [
        "id",
        "locale",
        "path",
        "title",
        "url",
        "updatedAt",
        "outline",
    ];
    assert_eq!(names(&answer), expected);
    let outline = &answer["outline"];
    assert_eq!(outline["headings"][2], "h2[1] Steps (108 words)");
    assert_eq!(outline["blocks"][1], "5 block:code[0] to [4]", "{outline}");
    for index in 0..5 {
        let section = format!("block:code[{index}]");
        let part = read(&served, id, json!({ "section": section })).await;
        assert!(part.unwrap()["content"].is_string());
    }
    for heading in outline["headings"].as_array().unwrap() {
        let section = selector_of(heading);
        let part = read(&served, id, json!({ "section": section }))
            .await
            .unwrap();
        let content = part["content"].as_str().unwrap();
        let text = content.trim_start_matches('#').trim().lines().next();
        let told = heading.as_str().unwrap().split_once(' ').unwrap().1;
        assert!(told.starts_with(&format!("{} (", text.unwrap())), "{told}");
        assert_eq!(part["part"]["section"], format!("heading:{section}"));
    }
}

#[tokio::test]
async fn a_part_is_named_by_selector_text_or_path() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = id_of(&wiki, "docs/install/linux");
    for (section, begins) in [
        ("Check", "## Check\n"),
        ("Installing on Linux/Check", "## Check\n"),
        ("heading:h2[2]", "## Check\n"),
        ("heading:h2[2]/block:code[0]", "```bash\ncurl"),
        ("Check/block:code[0]", "```bash\ncurl"),
        ("block:table[0]", "| what | least"),
        ("heading:h2[1]/block:code[2]?full=true", "   ```ini\n"),
    ] {
        let part = read(&served, id, json!({ "section": section }))
            .await
            .unwrap();
        assert!(
            part["content"].as_str().unwrap().starts_with(begins),
            "{section}: {part}"
        );
    }
    let steps = read(&served, id, json!({ "section": "Steps" }))
        .await
        .unwrap();
    let expected = json!(["4 block:code[0] to [3]", "1 block:list[0]"]);
    assert_eq!(steps["part"]["parts"], expected);
    let error = read(&served, id, json!({ "section": "Nowhere" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "SECTION_NOT_FOUND");
    assert_eq!(error["details"]["headings"].as_array().unwrap().len(), 5);
    let error = read(&served, id, json!({ "section": "block:cod[0]" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "INVALID_INPUT");
    says(&error["message"], "at character 6");
    let twice = add(&wiki, "twice", "# A\n\n# A\n");
    let error = read(&served, twice, json!({ "section": "A" }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "AMBIGUOUS_SECTION");
    let selector = &error["details"]["candidates"][1]["selector"];
    assert_eq!(selector, "heading:h1[1]");
}

#[tokio::test]
async fn what_only_readers_may_name_is_refused_for_edits() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = id_of(&wiki, "docs/install/linux");
    let sections = "block:code heading:h2[1]/block:code section[1]?full=true \
        Steps/block:code[0]?full=true Steps?full=true";
    for section in sections.split(' ') {
        let update = json!({ "id": id, "section": section, "sectionContent": "x" });
        fails(&served, UPDATE, update, "INVALID_INPUT").await;
    }
}

#[tokio::test]
async fn lines_are_read_with_their_numbers_on_demand() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = add(&wiki, "lines", "one\ntwo\nthree\nfour");
    let how = json!({ "lines": { "from": 2, "to": 3 }, "lineNumbers": true });
    let part = read(&served, id, how).await.unwrap();
    part.shows(json!({ "content": "2\ttwo\n3\tthree\n", "part": { "lines": "2-3" } }));
    let part = read(&served, id, json!({ "lines": { "from": 4, "to": 99 } }))
        .await
        .unwrap();
    assert_eq!(part["content"], "four");
    for (how, path) in json_rows::<(Value, &str)>(&json!([
        [{ "lines": { "from": 3, "to": 2 } }, "lines"],
        [{ "lines": { "from": 5, "to": 6 } }, "lines"],
        [{ "lines": "0-6" }, "lines"],
        [{ "lines": { "from": 1, "to": 2 }, "section": "x" }, "lines"],
        [{ "ids": [1] }, "ids"],
        [{ "maxBytes": 70_000 }, "maxBytes"],
    ])) {
        let error = read(&served, id, how.clone()).await.unwrap_err();
        assert_eq!(error["details"]["fields"][0]["path"], path, "{how} {error}");
    }
}

#[tokio::test]
async fn a_large_page_is_cut_at_a_line_and_goes_on_where_it_was_cut() {
    let (wiki, served) = sample(Setup::admin).await;
    let content = "Ein Satz mit Ümlauten und mehr.\n".repeat(1_900);
    let id = add(&wiki, "large", &content);
    let (mut whole, mut offset, mut calls) = (String::new(), 0, 0);
    loop {
        let part = read(&served, id, json!({ "offset": offset }))
            .await
            .unwrap();
        let text = part["content"].as_str().unwrap();
        assert!(text.len() <= 16_384 && text.ends_with('\n'));
        whole.push_str(text);
        calls += 1;
        let Some(next) = part["part"].get("nextOffset") else {
            break;
        };
        offset = next.as_u64().unwrap();
        let left = part["part"]["bytesLeft"].as_u64().unwrap();
        assert_eq!(usize::try_from(offset + left).unwrap(), content.len());
    }
    assert_eq!((whole == content, calls), (true, 4));
    let most = json!({ "maxBytes": 65_536 });
    let part = read(&served, id, most).await.unwrap();
    assert_eq!(part["content"].as_str().unwrap().len(), content.len());
    assert_eq!(part.get("part"), None);
}

#[tokio::test]
async fn a_page_of_4_mb_is_outlined_and_one_of_its_sections_read() {
    let (wiki, served) = sample(Setup::admin).await;
    let section = format!(
        "## Heading\n\n{}\n\n",
        "Words that fill a line.\n".repeat(80)
    );
    let id = add(&wiki, "huge", &section.repeat(2_100));
    for how in [
        json!({ "view": "outline" }),
        json!({ "section": "heading:h2[1000]" }),
        json!({ "section": "heading:h2[0]?full=true" }),
    ] {
        let answer = read(&served, id, how).await.unwrap();
        let text = serde_json::to_string_pretty(&answer).unwrap();
        assert!(
            text.len() < 20_000 + 8_000 * usize::from(answer.get("outline").is_some()),
            "{}",
            text.len()
        );
    }
    let outline = read(&served, id, json!({ "view": "outline" })).await;
    let outline = outline.unwrap()["outline"].clone();
    let next = outline["nextOffset"].as_u64().unwrap();
    let shown = outline["headings"].as_array().unwrap().len();
    assert_eq!(u64::try_from(shown).unwrap(), next);
    assert_eq!(outline["headingsLeft"].as_u64().unwrap() + next, 2_100);
    let on = read(&served, id, json!({ "view": "outline", "offset": next }))
        .await
        .unwrap();
    let selector = selector_of(&on["outline"]["headings"][0]);
    assert_eq!(selector, format!("h2[{next}]"));
}

#[tokio::test]
async fn several_pages_are_answered_or_refused_each_on_its_own_within_one_budget() {
    let (wiki, served) = sample(Setup::admin).await;
    let small = add(&wiki, "small", "small\n");
    let large = add(&wiki, "large", &"a line of the page\n".repeat(3_000));
    let ids = [large, 4_711, small, large];
    let answer = served.call(BY_ID, json!({ "ids": ids })).await.unwrap();
    let pages = answer["pages"].as_array().unwrap();
    assert_eq!(names(&answer), ["pages"]);
    assert_eq!(pages[1]["id"], 4_711);
    assert_eq!(pages[1]["error"]["code"], "PAGE_NOT_FOUND");
    pages[2].shows(json!({ "content": "small\n", "part": null }));
    let sizes = [0, 3].map(|at: usize| pages[at]["content"].as_str().unwrap().len());
    assert!(sizes[0].abs_diff(sizes[1]) < 20, "{sizes:?}");
    assert!(sizes[0] > 8_000 && sizes[0] * 2 <= 16_384, "{sizes:?}");
    let paths =
        json!({ "paths": ["small", "no/such", "https://example.org/x"], "view": "metadata" });
    let answer = served.call(BY_PATH, paths).await.unwrap();
    let codes = answer["pages"].as_array().unwrap().iter();
    let codes: Vec<&Value> = codes.map(|page| &page["error"]["code"]).collect();
    let expected = [
        &Value::Null,
        &json!("PAGE_NOT_FOUND"),
        &json!("INVALID_INPUT"),
    ];
    assert_eq!(codes, expected);
    assert_eq!(answer["pages"][0].get("content"), None);
    let many: Vec<i64> = (1..=21).collect();
    let error = call_err(&served, BY_ID, json!({ "ids": many })).await;
    assert_eq!(error["details"]["fields"][0]["path"], "ids");
}

#[tokio::test]
async fn max_bytes_bounds_the_texts_and_parts_of_several_pages_together() {
    let (wiki, served) = sample(Setup::admin).await;
    let text = "## A heading of some length\n\nä line of the page\n\n".repeat(200);
    let ids: Vec<i64> = (0..10)
        .map(|at| add(&wiki, &format!("long/p{at}"), &text))
        .collect();
    for (most, view) in [
        (2_000, json!({})),
        (2_000, json!({ "lineNumbers": true })),
        (4_000, json!({ "section": "heading:h2[3]" })),
        (2_000, json!({ "view": "outline" })),
        (2_000, json!({ "view": "rendered" })),
    ] {
        let mut arguments = view.clone();
        arguments["ids"] = json!(ids);
        arguments["maxBytes"] = json!(most);
        let answer = call_ok(&served, BY_ID, arguments).await;
        let pages = answer["pages"].as_array().unwrap();
        let bytes: usize = pages
            .iter()
            .map(|page| {
                let parts = page["part"]["parts"].as_array().into_iter().flatten();
                let texts = ["content", "rendered"].into_iter().map(|name| &page[name]);
                let texts = texts.chain(parts).filter_map(Value::as_str);
                texts.map(str::len).sum::<usize>()
            })
            .sum();
        assert!(bytes <= most, "{view}: {bytes}");
        let all = answer.to_string().len();
        assert!(all < most + 500 * ids.len(), "{view}: {all}");
    }
    // Each page says how to go on, and so it is read to its end.
    let several = json!({ "ids": ids, "maxBytes": 2_000 });
    let answer = call_ok(&served, BY_ID, several).await;
    for page in answer["pages"].as_array().unwrap() {
        let content = page["content"].as_str().unwrap();
        let part = &page["part"];
        assert_eq!(part["bytesLeft"], text.len() - content.len());
        assert_eq!(part["partsLeft"], 200);
        let on = json!({ "id": page["id"], "offset": part["nextOffset"], "maxBytes": 65_536 });
        let rest = call_ok(&served, BY_ID, on).await;
        assert_eq!(
            format!("{content}{}", rest["content"].as_str().unwrap()),
            text
        );
    }
}

#[tokio::test]
async fn an_old_version_is_read_in_every_view() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = add(&wiki, "old", "# Old\n\n*was* here\n");
    let update = json!({ "id": id, "content": "# New\n" });
    served.confirmed(UPDATE, update).await.unwrap();
    let history = served.call(HISTORY, json!({ "id": id })).await.unwrap();
    let version = history["entries"][0]["versionId"].clone();
    let how = |view: &str| json!({ "version": version, "view": view });
    let content = read(&served, id, how("content")).await.unwrap();
    content.shows(json!({ "content": "# Old\n\n*was* here\n", "version": version }));
    let outline = read(&served, id, how("outline")).await.unwrap();
    let expected = json!(["h1[0] Old (3 words)"]);
    assert_eq!(outline["outline"]["headings"], expected);
    let text = read(&served, id, how("text")).await.unwrap();
    assert_eq!(text["text"], "Old\n\nwas here\n");
    let rendered = read(&served, id, how("rendered")).await.unwrap();
    let expected = "<h1>Old</h1>\n<p><em>was</em> here</p>\n";
    assert_eq!(rendered["rendered"], expected);
    assert_eq!(rendered["part"]["renderedBy"], "this server, not the wiki");
    let metadata = read(&served, id, how("metadata")).await.unwrap();
    assert_eq!(metadata.get("content"), None);
    let error = read(&served, id, json!({ "version": 4_711 }))
        .await
        .unwrap_err();
    assert_eq!(error["code"], "VERSION_NOT_FOUND");
}

#[tokio::test]
async fn html_pages_have_outlines_and_parts() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = wiki.with_page(
        titled(
            "html",
            "HTML",
            "<h1>One</h1>\n<p>a</p>\n<h2>Two &amp; three</h2>\n<pre>code</pre>\n",
        )
        .but(|row| row.editor = "ckeditor".to_owned()),
    );
    let outline = read(&served, id, json!({ "view": "outline" }))
        .await
        .unwrap();
    let heading = &outline["outline"]["headings"][1];
    assert_eq!(*heading, "h2[0] Two & three (8 words)");
    for section in ["Two & three", "heading:h2[0]", "#two-three"] {
        let arguments = json!({ "path": format!("html#{}", section.trim_start_matches('#')) });
        let part = served.call(BY_PATH, arguments).await.unwrap();
        let content = &part["content"];
        assert_eq!(content, "<h2>Two &amp; three</h2>\n<pre>code</pre>\n");
    }
    let text = read(&served, id, json!({ "view": "text", "section": "One" }))
        .await
        .unwrap();
    assert_eq!(text["text"], "One\n\na\n\nTwo & three\n\ncode\n");
}

#[tokio::test]
async fn a_stray_quote_in_html_hides_nothing_that_follows() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = wiki.with_page(PageRow {
        path: "stray".to_owned(),
        title: "Stray".to_owned(),
        editor: "code".to_owned(),
        content: "<h1>One</h1>\n<div a=x\"><!-- do this --></div>\n<h2>Two &copy2</h2>\n<p class=zq>b</p>\n"
            .to_owned(),
        script_css: ".zq{display:none}".to_owned(),
        ..PageRow::default()
    });
    let outline = read(&served, id, json!({ "view": "outline" }))
        .await
        .unwrap();
    begins(&outline["outline"]["headings"][1], "h2[0] Two ©2 (");
    let text = read(&served, id, json!({ "view": "text" })).await.unwrap();
    assert_eq!(text["text"], "One\n\nTwo ©2\n\nb\n");
    let page = read(&served, id, json!({})).await.unwrap();
    let expected = json!({
        "comments": { "count": 1, "lines": [2] },
        "hiddenElements": { "count": 1, "lines": [4] },
        "note": "not exhaustive",
    });
    assert_eq!(page["hiddenText"], expected);
}

#[tokio::test]
async fn hidden_text_is_counted_and_shown_escaped_but_never_altered() {
    let (wiki, served) = sample(Setup::admin).await;
    let content =
        "# A\u{202e}b\n\n<!-- do this -->\n\nx\u{200b}y <span style=\"display:none\">z</span>\n";
    let id = wiki.with_page(titled("hidden", "T\u{200b}", content));
    let page = read(&served, id, json!({})).await.unwrap();
    page.shows(json!({ "content": content, "title": "T\\u{200b}" }));
    let told = json!({
        "invisibleCharacters": { "count": 1, "lines": [5] },
        "bidirectionalControls": { "count": 1, "lines": [1] },
        "comments": { "count": 1, "lines": [3] },
        "hiddenElements": { "count": 1, "lines": [5] },
        "note": "not exhaustive",
    });
    assert_eq!(page["hiddenText"], told);
    let outline = read(&served, id, json!({ "view": "outline" }))
        .await
        .unwrap();
    begins(&outline["outline"]["headings"][0], "h1[0] A\\u{202e}b (");
    assert_eq!(outline["hiddenText"], told);
    let id = add(&wiki, "plain", "# Plain\n");
    let plain = read(&served, id, json!({})).await.unwrap();
    assert_eq!(plain.get("hiddenText"), None);
}

#[tokio::test]
async fn scripts_that_do_not_fit_are_named_and_left_out() {
    let (wiki, served) = sample(Setup::admin).await;
    let id = wiki.with_page(PageRow {
        path: "dressed".to_owned(),
        title: "Dressed".to_owned(),
        content: "x\n".to_owned(),
        script_css: "a{}".repeat(9_000),
        script_js: "f()".to_owned(),
        ..PageRow::default()
    });
    for view in ["content", "metadata"] {
        let page = read(&served, id, json!({ "view": view })).await.unwrap();
        page.shows(json!({ "scriptCss": null, "scriptJs": "f()" }));
        assert_eq!(page["part"]["leftOut"], json!(["scriptCss"]));
    }
}

#[tokio::test]
async fn only_a_view_of_the_content_counts_as_having_read_it() {
    let wiki = sample_wiki().await;
    for (view, is_read) in [
        ("content", true),
        ("outline", false),
        ("metadata", false),
        ("text", false),
    ] {
        let id = add(&wiki, &format!("read/{view}"), "# A\n\nb\n");
        let served = Setup::admin(&wiki).serve().await;
        read(&served, id, json!({ "view": view })).await.unwrap();
        let another = Setup::admin(&wiki).serve().await;
        let update = json!({ "id": id, "content": "# Theirs\n" });
        another.confirmed(UPDATE, update).await.unwrap();
        let update = json!({ "id": id, "content": "# Ours\n" });
        let result = served.call(UPDATE, update).await;
        let is_conflict = result
            .as_ref()
            .is_err_and(|error| error["code"] == "EDIT_CONFLICT");
        assert_eq!(is_conflict, is_read, "{view}: {result:?}");
    }
}

/// Each view with each kind of key, in a line: what is answered, what is named as missing.
#[tokio::test]
async fn every_view_answers_every_kind_of_key_with_what_it_may_see() {
    let wiki = sample_wiki().await;
    let keys = wiki.keys().clone();
    let id = id_of(&wiki, "releases/2-4");
    let table = |blocked: bool| {
        wiki.set_reader_view_blocked(blocked);
        let (wiki, keys) = (&wiki, &keys);
        async move {
            let mut lines = Vec::new();
            for (name, key) in [
                ("admin", keys.admin.as_str()),
                ("editor", &keys.editor),
                ("scripter", &keys.scripter),
                ("writer", &keys.writer),
                ("readonly", &keys.readonly),
                ("reader", &keys.reader),
                ("guest", "nonsense"),
                ("expired", &wiki.expired_key()),
                ("revoked", &keys.revoked),
            ] {
                let served = Setup::at(&wiki.address(), key).serve().await;
                for view in ["content", "outline", "metadata", "rendered", "text"] {
                    let told = match read(&served, id, json!({ "view": view })).await {
                        Err(error) => error["code"].as_str().unwrap().to_owned(),
                        Ok(page) => {
                            let missing = page
                                .get("unavailable")
                                .map_or(0, |missing| missing.as_object().unwrap().len());
                            let shown = page.get(view).is_some() || view == "metadata";
                            let is_named = view == "metadata"
                                || shown != page["unavailable"][view].is_string();
                            assert!(is_named, "{name} {view} {page}");
                            format!("{}{missing}", if shown { "+" } else { "-" })
                        }
                    };
                    lines.push(told);
                }
            }
            let lines: Vec<String> = lines.chunks(5).map(|line| line.join(" ")).collect();
            lines.join("\n")
        }
    };
    let all = "+0 +0 +0 +0 +0";
    let [expired, revoked] = ["KEY_REJECTED"; 2].map(|code| [code; 5].join(" "));
    let reader = "-7 -2 +8 +0 +0";
    let expected = [
        all,
        all,
        all,
        all,
        "+5 +0 +5 +0 +0",
        reader,
        reader,
        &expired,
        &revoked,
    ]
    .join("\n");
    assert_eq!(table(false).await, expected);
    let reader = "-7 -2 +8 -1 -1";
    let expected = [
        all,
        all,
        all,
        // Styles are proven by the view that readers see.
        "+1 +0 +1 -1 -1",
        "+5 +0 +5 -1 -1",
        reader,
        reader,
        &expired,
        &revoked,
    ]
    .join("\n");
    assert_eq!(table(true).await, expected);
}

/// What names a part is never left aside in silence.
#[tokio::test]
async fn a_section_behind_a_name_cannot_go_with_lines_or_another_section() {
    let (_wiki, served) = sample(Setup::admin).await;
    for (arguments, at) in [
        (json!({ "lines": { "from": 1, "to": 2 } }), "lines"),
        (json!({ "section": "heading:h2[1]" }), "section"),
    ] {
        let mut arguments = arguments;
        arguments["path"] = json!("docs/configuration#Changing a setting");
        let error = served.call(BY_PATH, arguments).await.unwrap_err();
        assert_eq!(error["details"]["fields"][0]["path"], at);
    }
    let past = json!({ "path": "docs/configuration", "offset": 1_000_000 });
    let error = served.call(BY_PATH, past).await.unwrap_err();
    assert_eq!(error["details"]["fields"][0]["path"], "offset");
}

/// The wiki makes a heading of front matter and takes those of tabs out: selectors are the source's.
#[tokio::test]
async fn a_selector_of_the_outline_names_the_same_section_in_every_view() {
    let wiki = sample_wiki().await;
    let text = "---\ntitle: fm\n---\n\n# Top\n\none\n\n## Same\n\ntwo\n\n## Same\n\nthree\n";
    let id = add(&wiki, "views", text);
    let served = Setup::admin(&wiki).serve().await;
    for section in ["heading:h2[1]", "heading:h2[0]", "Top"] {
        let read = async |view: &str| {
            let arguments = json!({ "id": id, "view": view, "section": section });
            let page = served.call(BY_ID, arguments).await;
            page.unwrap()[view].as_str().unwrap().to_owned()
        };
        let last = |text: &str| text.trim_end().lines().last().unwrap().to_owned();
        assert_eq!(
            last(&read("text").await),
            last(&read("content").await),
            "{section}"
        );
    }
    let anchor = json!({ "path": "views#same-1" });
    let page = served.call(BY_PATH, anchor).await.unwrap();
    assert_eq!(page["content"], "## Same\n\nthree\n");
}

/// Who may not read a page's source is told what to do: a reader reads the text, a guest's key is
/// none of this wiki.
#[tokio::test]
async fn what_a_key_cannot_read_comes_with_what_to_do() {
    let wiki = sample_wiki().await;
    let id = id_of(&wiki, "home");
    let hint = async |key: &str| {
        let served = Setup::at(&wiki.address(), key).serve().await;
        let page = served.call(BY_ID, json!({ "id": id })).await;
        page.unwrap()["hint"].clone()
    };
    let reader = hint(&wiki.keys().reader).await;
    assert_eq!(reader, "view: text or rendered needs read:pages alone.");
    let guest = hint("nonsense").await;
    assert!(guest.as_str().unwrap().contains("as a guest's"), "{guest}");
    assert_eq!(hint(&wiki.keys().admin).await, Value::Null);
}
