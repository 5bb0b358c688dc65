//! Bad input: every fault told, nothing sent.

use rmcp::model::{ClientRequest, CustomRequest, ErrorCode};
use rmcp::service::ServiceError;

use crate::prelude::*;

const TOOLS: [(&str, &str); 10] = [
    (SEARCH, ""),
    (LIST, ""),
    (BY_PATH, "path"),
    (BY_ID, "id"),
    (TREE, ""),
    (HISTORY, "id"),
    (TAGS, ""),
    (CREATE, "path title"),
    (UPDATE, "id"),
    (DELETE, "id"),
];

async fn served() -> (DemoWiki, Served) {
    sample(Setup::scripter).await
}

/// The faults of a call, as `path: message`; nothing went out to the wiki for it.
async fn faults((wiki, served): &(DemoWiki, Served), tool: &str, arguments: Value) -> Vec<String> {
    wiki.clear_requests();
    let error = served.call(tool, arguments.clone()).await;
    let error = error.expect_err(&arguments.to_string());
    assert_eq!(error["code"], "INVALID_INPUT", "{tool} {arguments}");
    assert_eq!(wiki.requests().len(), 0, "{tool} {arguments}");
    let fields = error["details"]["fields"].as_array().unwrap();
    assert!(!fields.is_empty());
    if let [fault] = &fields[..] {
        // The message of the one fault is the error's own, and said once.
        assert_eq!(fault.get("message"), None);
        let sentence = error["message"].as_str().unwrap();
        let sentence = sentence.trim_start_matches("The argument ");
        let sentence = sentence.strip_suffix('.').unwrap();
        let path = fault["path"].as_str().unwrap();
        return vec![sentence.replacen(path, &format!("{path}:"), 1)];
    }
    let told = |fault: &Value| {
        let text = |name: &str| fault[name].as_str().unwrap();
        format!("{}: {}", text("path"), text("message"))
    };
    fields.iter().map(told).collect()
}

/// The least arguments with which a tool can be called.
fn least(required: &str) -> Value {
    let value = |name: &str| match name {
        "id" => json!(1),
        _ => json!("words"),
    };
    let names = required.split_whitespace();
    Value::Object(names.map(|name| (name.to_owned(), value(name))).collect())
}

#[tokio::test]
async fn every_tool_refuses_an_unknown_argument_with_the_nearest_name() {
    let at = served().await;
    for (tool, required) in TOOLS {
        let mut arguments = least(required);
        arguments["zzzzzzzzzz"] = json!(1);
        let faults = faults(&at, tool, arguments).await;
        let expected = "zzzzzzzzzz: is not an argument of this tool; it takes ";
        assert!(faults[0].starts_with(expected), "{tool} {faults:?}");
    }
    for (tool, given, nearest) in [
        (SEARCH, "qeury", "query"),
        (LIST, "order_by", "orderBy"),
        (LIST, "tag", "tags"),
        (BY_PATH, "Path", "path"),
        (HISTORY, "Offset", "offset"),
        (CREATE, "script_css", "scriptCss"),
        (UPDATE, "published", "isPublished"),
        (DELETE, "confirmToken", "confirm"),
        (DELETE, "pageId", "id"),
        (BY_ID, "page_id", "id"),
    ] {
        let required = TOOLS.iter().find(|(name, _)| *name == tool).unwrap().1;
        let mut arguments = least(required);
        arguments[given] = json!("x");
        let told = faults(&at, tool, arguments).await;
        let [told] = &told[..] else {
            panic!("{told:?}");
        };
        let (meant, takes) = told.split_once("; it takes ").unwrap();
        let expected =
            format!("{given}: is not an argument of this tool (did you mean {nearest}?)");
        assert_eq!(meant, expected);
        assert!(takes.split(", ").any(|name| name == nearest), "{told}");
        assert!(!takes.ends_with('…'), "{told}");
    }
    // However many are unknown, the list is told once.
    let many = json!({ "id": 1, "zzzzzz": 1, "yyyyyy": 2 });
    let told = faults(&at, DELETE, many).await;
    let lists = told.iter().filter(|fault| fault.contains("it takes "));
    assert_eq!((told.len(), lists.count()), (2, 1), "{told:?}");
}

#[tokio::test]
async fn every_tool_names_what_is_required_and_missing() {
    let at = served().await;
    for (tool, required) in TOOLS {
        if required.is_empty() {
            continue;
        }
        let wanted = required.split_whitespace();
        let wanted: Vec<String> = wanted.map(|name| format!("{name}: is required")).collect();
        // What else may stand in its place, and where it comes from, is said behind that.
        let told = faults(&at, tool, json!({})).await;
        if required == "id" {
            let other = if tool == BY_ID { BY_PATH } else { "page" };
            assert!(told[0].contains(other), "{tool}: {told:?}");
        }
        let begin = |fault: &String| fault.split([',', ';']).next().unwrap().to_owned();
        assert_eq!(vec_of(told.iter().map(begin)), wanted, "{tool}");
    }
}

#[tokio::test]
async fn every_argument_of_every_tool_refuses_null_and_another_type() {
    let at = served().await;
    let registry = at.1.app.registry();
    for (tool, required) in TOOLS {
        let definition = registry.find(tool).unwrap();
        for (name, schema) in definition.input["properties"].as_object().unwrap() {
            let kind = schema["type"].as_str().unwrap();
            let a = ["a", "an"][usize::from(kind.starts_with(['a', 'i', 'o']))];
            let wrong = [
                (json!(null), "null; leave it out instead"),
                (json!({}), "an object"),
                (json!(1.5), "a number"),
                (json!(true), "a boolean"),
                (json!("x"), "a string"),
                (json!([1]), "an array"),
            ];
            for (value, given) in wrong {
                if given.ends_with(&format!(" {kind}")) {
                    continue;
                }
                let mut arguments = least(required);
                arguments[name] = value;
                let faults = faults(&at, tool, arguments).await;
                let wanted = format!("{name}: must be {a} {kind}, not {given}");
                // Where an id is wanted, a text leads on to the tool that takes one.
                let [fault] = &faults[..] else {
                    panic!("{tool}: {faults:?}");
                };
                assert_eq!(fault.split(';').next(), wanted.split(';').next(), "{tool}");
            }
        }
    }
}

#[tokio::test]
async fn several_faults_are_told_together_with_the_names_that_callers_know() {
    let at = served().await;
    let create = json!({
        "title": 1, "content": null, "isPublished": "yes", "tags": ["a", 2, null],
        "publish_start_date": "x", "scriptCss": [],
    });
    let expected = [
        "title: must be a string, not a number",
        "content: must be a string, not null; leave it out instead",
        "isPublished: must be a boolean, not a string",
        "tags[1]: must be a string, not a number",
        "tags[2]: must be a string, not null; leave it out instead",
        "publish_start_date: is not an argument of this tool (did you mean publishStartDate?); it takes confirm, path, folder, title, content, fromPage, section, replaceAll, outsideCode, locale, description, editor, tags, isPublished, isPrivate, publishStartDate, publishEndDate, scriptCss, scriptJs, note, detail, propose",
        "scriptCss: must be a string, not an array",
        "path: is required",
    ];
    assert_eq!(faults(&at, CREATE, create).await, expected);
    let update = json!({
        "id": 0, "path": "a b", "locale": "english", "title": " ", "content": "\n",
        "description": "d".repeat(256), "tags": ["ok", " ", "a,b", "x".repeat(256)],
        "publishStartDate": "tomorrow", "publishEndDate": "2026-02-30",
        "scriptCss": "\0", "scriptJs": "a\0b",
    });
    let mut told = faults(&at, UPDATE, update).await;
    told.sort();
    let expected = [
        "content: must not be blank: Wiki.js refuses a page without content",
        "description: must have at most 255 characters",
        "id: must be at least 1",
        "locale: must be a locale code such as \"en\" or \"pt-br\"",
        "path: must not contain a space: Wiki.js refuses it or cannot show the page",
        "publishEndDate: must be a date in ISO 8601, such as \"2030-01-31T09:00:00Z\", or \"\" for none",
        "publishStartDate: must be a date in ISO 8601, such as \"2030-01-31T09:00:00Z\", or \"\" for none",
        "scriptCss: must not contain the character NUL",
        "scriptJs: must not contain the character NUL",
        "tags[1]: must not be blank",
        "tags[2]: must not contain a comma: give each tag as an item of its own",
        "tags[3]: must have at most 255 characters",
        "title: must not be blank",
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn numbers_and_lengths_out_of_range_are_told_with_their_limit() {
    let at = served().await;
    let (words, long) = ("ä".repeat(501), "x".repeat(256));
    for (tool, name, value, fault) in json_rows::<(&str, &str, Value, &str)>(&json!([
        [LIST, "limit", 0, "be at least 1"],
        [LIST, "limit", 101, "be at most 100"],
        [LIST, "limit", -1, "be at least 1"],
        [LIST, "limit", u64::MAX, "be at most 100"],
        [SEARCH, "limit", i64::MIN, "be at least 1"],
        [SEARCH, "query", "", "have at least 1 character"],
        [SEARCH, "query", words, "have at most 500 characters"],
        [TREE, "depth", 6, "be at most 5"],
        [TREE, "mode", "pages", "be one of FOLDERS, PAGES, ALL"],
        [
            LIST,
            "orderBy",
            "NAME",
            "be one of CREATED, ID, PATH, TITLE, UPDATED"
        ],
        [HISTORY, "offset", -1, "be at least 0"],
        [HISTORY, "offset", 1_000_001, "be at most 1000000"],
        [BY_ID, "id", 2_147_483_648_i64, "be at most 2147483647"],
        [BY_ID, "id", -7, "be at least 1"],
        [DELETE, "id", 0, "be at least 1"],
        [TAGS, "query", long, "have at most 255 characters"],
        [LIST, "tags", vec!["x"; 101], "have at most 100 items"],
        [BY_PATH, "path", "a\0", "not contain the character NUL"],
    ])) {
        let mut arguments = match tool {
            SEARCH => json!({ "query": "x" }),
            HISTORY => json!({ "id": 1 }),
            _ => json!({}),
        };
        arguments[name] = value;
        let expected = format!("{name}: must {fault}");
        assert_eq!(faults(&at, tool, arguments).await, [expected], "{tool}");
    }
}

#[tokio::test]
async fn several_numbers_out_of_range_are_told_together() {
    let at = served().await;
    let arguments = json!({ "id": 0, "offset": -1, "limit": 1_000 });
    let expected = "id: must be at least 1, offset: must be at least 0, limit: must be at most 100";
    assert_eq!(faults(&at, HISTORY, arguments).await.join(", "), expected);
}

#[tokio::test]
async fn the_limits_themselves_are_within_range() {
    let (_wiki, served) = served().await;
    for (tool, arguments) in json_rows(&json!([
        [LIST, { "limit": 100 }],
        [SEARCH, { "query": "ä".repeat(500), "limit": 1 }],
        [TREE, { "depth": 5, "mode": "FOLDERS" }],
        [HISTORY, { "id": 1, "offset": 1_000_000, "limit": 100 }],
        [TAGS, { "query": "x".repeat(255) }],
    ])) {
        served.call(tool, arguments).await.unwrap();
    }
    let arguments = json!({ "id": 2_147_483_647 });
    fails(&served, BY_ID, arguments, "PAGE_NOT_FOUND").await;
}

/// Values that are out of range or of a wrong type, for arguments of a type.
fn out_of_bounds(kind: &str) -> Vec<Value> {
    let numbers = [
        json!(-1),
        json!(i64::MIN),
        json!(5_000_000_000_i64),
        json!(u64::MAX),
        json!(1.5),
    ];
    let texts = ["", "x", &"ä".repeat(700)].map(Value::from);
    let mut values = [numbers.to_vec(), texts.to_vec()].concat();
    match kind {
        "array" => {
            values = vec_of(values.iter().map(|value| json!([value])));
            values.extend([json!([]), json!(vec!["x"; 101]), json!(vec![1; 101])]);
        }
        "object" => values = vec_of(values.iter().map(|value| json!({ "from": value }))),
        _ => {}
    }
    values
}

#[tokio::test]
async fn no_tool_words_a_number_or_a_length_by_the_types_of_the_program() {
    let toolsets = "pages,undo,proposals,drafts,memory,delegate,comments,assets,checks,sites";
    let check = "[[checks]]\nname = \"words\"\nargv = [\"true\"]\n";
    let setup = |wiki: &DemoWiki| Setup::scripter(wiki).toolsets(toolsets).with_tables(check);
    let (_wiki, served) = sample(setup).await;
    for tool in served.app.registry().definitions() {
        let known = tool.input.get("properties").and_then(Value::as_object);
        let Some(known) = known else { continue };
        let required = tool.input.get("required").and_then(Value::as_array);
        for (name, property) in known {
            for value in out_of_bounds(property["type"].as_str().unwrap()) {
                let needed = required.into_iter().flatten().filter_map(Value::as_str);
                let least = |name: &str| match tool.input["properties"][name]["type"].as_str() {
                    Some("integer") => (name.to_owned(), json!(1)),
                    _ => (name.to_owned(), json!("words")),
                };
                let mut arguments = Value::Object(needed.map(least).collect());
                arguments[name] = value;
                let Err(error) = served.call(tool.name, arguments.clone()).await else {
                    continue;
                };
                let told = error.to_string();
                for word in ["u32", "i64", "u64", "usize", "length is", " than -"] {
                    let at = format!("{} {name}: {told}", tool.name);
                    assert!(!told.contains(word), "{at}");
                }
                if error["code"] == "INVALID_INPUT" {
                    let bare = [" lower than ", " greater than "];
                    assert!(!bare.iter().any(|word| told.contains(word)), "{told}");
                }
            }
        }
    }
    let wanted = |more: Value| {
        let mut wanted = json!({ "task": "t", "prefixes": ["docs"] });
        wanted
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        wanted
    };
    for (more, fault) in json_rows::<(Value, &str)>(&json!([
        [{ "writes": -1 }, "writes must be at least 0"],
        [{ "writes": 5_000_000_000_i64 }, "writes must be a smaller number than 5000000000"],
        [{ "prefixes": [] }, "prefixes must have at least 1 item"],
        [{ "prefixes": ["ä".repeat(256)] }, "prefixes[0] must have at most 255 characters"],
        [{ "task": "" }, "task must have at least 1 character"],
    ])) {
        let error = served.call(DELEGATE, wanted(more)).await.unwrap_err();
        assert_eq!(error["message"], format!("The argument {fault}."));
    }
}

#[tokio::test]
async fn editor_and_is_private_of_an_update_say_why_they_cannot_be() {
    let at = served().await;
    let arguments = json!({ "id": 1, "editor": "code", "isPrivate": true, "title": "x" });
    let expected = [
        "editor: cannot be changed: Wiki.js ignores it in an update",
        "isPrivate: cannot be changed: Wiki.js ignores it in an update",
    ];
    assert_eq!(faults(&at, UPDATE, arguments).await, expected);
}

#[tokio::test]
async fn a_place_where_a_page_shall_come_to_be_is_checked() {
    let at = served().await;
    let (long, shorter) = ("p".repeat(256), "p".repeat(255));
    let all = ",/,///,login,Login/x,logout,register,verify,favicons,fonts,img/a,js,svg,a,a/b,ä/x,\
        fr,FR/x,pt-br,a.b,docs/a.b,a b,docs/a\u{a0}b,docs\\x,docs//x,docs/100%,docs/x?,docs/x#y,\
        docs/\t,docs/\0,docs/\u{200b}x,docs/\u{202e}x,docs/\u{feff},..,../docs";
    for path in all.split(',').chain([&*long]) {
        let create = json!({ "path": path, "title": "T", "content": "c" });
        let update = json!({ "id": 1, "path": path });
        for (tool, arguments) in [(CREATE, create), (UPDATE, update)] {
            let faults = faults(&at, tool, arguments).await;
            assert_eq!(faults.len(), 1, "{path:?} {faults:?}");
            assert!(faults[0].starts_with("path: must "), "{path:?} {faults:?}");
            let is_clean = !faults[0].chars().any(char::is_control);
            assert!(is_clean, "{path:?} {faults:?}");
        }
    }
    let all = "docs/new /docs/new/ umläut/日本 en-gbx/y docs/login docs/a";
    for path in all.split(' ').chain([&*shorter]) {
        let create = json!({ "path": path, "title": "T", "content": "c" });
        let preview = at.1.call(CREATE, create).await;
        assert_eq!(preview.unwrap()["preview"], true, "{path}");
    }
}

#[tokio::test]
async fn dates_are_iso_8601_or_empty() {
    let at = served().await;
    let id = id_of(&at.0, "home");
    let wrong =
        "tomorrow,2026,2026-13-01,2026-02-30,01.02.2026,2026-01-01T25:00:00Z, ,2026-01-01\0";
    for date in wrong.split(',') {
        for name in ["publishStartDate", "publishEndDate"] {
            let faults = faults(&at, UPDATE, json!({ "id": id, name: date })).await;
            begins(&faults[0], &format!("{name}: must be a date in ISO 8601"));
        }
    }
    let right = ",2026-01-01,2026-01-01T10:00:00Z,2026-01-01T10:00:00.000+02:00";
    for date in right.split(',') {
        let update = json!({ "id": id, "publishStartDate": date });
        at.1.call(UPDATE, update).await.unwrap();
    }
}

#[tokio::test]
async fn how_many_items_there_are_is_looked_at_before_what_they_are() {
    let at = served().await;
    let many = "at most 100 items";
    for (tool, arguments, name, fault) in json_rows::<(&str, Value, &str, &str)>(&json!([
        [BY_ID, { "ids": vec![0; 21] }, "ids", "at most 20 items"],
        [BY_ID, { "ids": [] }, "ids", "at least 1 item"],
        [LIST, { "fields": vec![1; 101] }, "fields", many],
        [UPDATE, { "id": 1, "tags": vec![""; 60_000] }, "tags", many],
    ])) {
        let expected = format!("{name}: must have {fault}");
        assert_eq!(faults(&at, tool, arguments).await, [expected], "{tool}");
    }
}

#[tokio::test]
async fn of_many_faults_the_first_twenty_are_listed_with_how_many_there_are() {
    let at = served().await;
    let many: Value = (0..300).map(|n| (format!("a{n}"), json!(n))).collect();
    let error = at.1.call(TAGS, many).await.unwrap_err();
    let expected = "300 arguments are not valid; details.fields lists the first 20.";
    assert_eq!(error["message"], expected);
    assert_eq!(error["details"]["faults"], 300);
    let fields = error["details"]["fields"].as_array().unwrap();
    assert_eq!((fields.len(), &fields[19]["path"]), (20, &json!("a19")));
    let tags = json!({ "id": 1, "tags": vec![" "; 100] });
    let error = at.1.call(UPDATE, tags).await.unwrap_err();
    assert_eq!(error["details"]["faults"], 100);
    assert_eq!(error["details"]["fields"][19]["path"], "tags[19]");
}

#[tokio::test]
async fn an_invalid_write_is_on_record_as_a_refusal() {
    let at = served().await;
    faults(&at, UPDATE, json!({ "id": "x" })).await;
    faults(&at, LIST, json!({ "limit": 0 })).await;
    assert_eq!(told(&at.1.records()), ["refusal INVALID_INPUT"]);
}

#[tokio::test]
async fn names_that_nobody_can_read_are_cut_and_escaped() {
    let at = served().await;
    let name = format!("\u{1b}[31m\n{}", "x".repeat(5_000));
    let mut arguments = json!({});
    arguments[&name] = json!(1);
    let faults = faults(&at, TAGS, arguments).await;
    assert!(faults[0].len() < 300, "{}", faults[0].len());
    assert!(!faults[0].chars().any(char::is_control), "{faults:?}");
}

/// The JSON-RPC error of a request that is broken.
fn rejected<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> (ErrorCode, String) {
    match result {
        Err(ServiceError::McpError(error)) => (error.code, error.message.into_owned()),
        other => panic!("no protocol error: {other:?}"),
    }
}

#[tokio::test]
async fn unknown_tools_and_malformed_requests_are_protocol_errors_and_the_connection_lives_on() {
    let (wiki, served) = served().await;
    let hint = "unknown tool: wikijs_move_page; call wikijs_update_page with path";
    for (tool, message) in [
        ("wikijs_move_page", hint),
        (
            "wikijs_nothing\u{1b}",
            "unknown tool: wikijs_nothing\\u{1b}",
        ),
    ] {
        let unknown = CallToolRequestParams::new(tool);
        let rejected = rejected(served.client.call_tool(unknown).await);
        assert_eq!(rejected, (ErrorCode::INVALID_PARAMS, message.to_owned()));
    }
    let (call, malformed) = ("tools/call", "malformed params of tools/call");
    let (invalid, unknown) = (ErrorCode::INVALID_PARAMS, ErrorCode::METHOD_NOT_FOUND);
    let no_object = json!({ "name": TAGS, "arguments": [] });
    for (method, params, code, message) in [
        (call, json!({}), invalid, malformed),
        (call, json!({ "name": 1 }), invalid, malformed),
        (call, no_object, invalid, malformed),
        ("no/such", json!({}), unknown, "no/such"),
    ] {
        let request = CustomRequest::new(method, Some(params.clone()));
        let request = ClientRequest::CustomRequest(request);
        let rejected = rejected(served.client.send_request(request).await);
        assert_eq!(rejected, (code, message.to_owned()), "{method} {params}");
    }
    assert_eq!(wiki.requests().len(), 0);
    served.call(TAGS, json!({})).await.unwrap();
}
