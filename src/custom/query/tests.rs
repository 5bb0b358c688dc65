use serde_json::{Value, json};

use super::{Query, UncheckedQuery};
use crate::custom::schema::testing;
use crate::words::separated;

fn check(text: &str) -> Result<Query, String> {
    let text = format!("# About it.\n{text}");
    let draft = UncheckedQuery::parse("q.graphql", &text);
    let checked = draft.and_then(|draft| draft.check(&testing::wiki()));
    checked.map_err(|faults| separated(faults, "\n"))
}

fn faults(text: &str) -> String {
    check(text).expect_err(text)
}

#[test]
fn a_query_becomes_a_tool_with_its_variables() {
    let text = "# Finds users.\n# By name.\nquery FindUsers($q: String!, $n: Int = 3, $tags: [String!], $kind: Kind! = SMALL, $at: Date) {\n  users { search(query: $q) { id called: name } }\n  pages { list(limit: $n, tags: $tags) { id } }\n  things(kind: $kind, at: $at) { id }\n}\n";
    let draft = UncheckedQuery::parse("find_users.graphql", text).expect("a query");
    let query = draft.check(&testing::wiki()).expect("a good query");
    assert_eq!(query.name, "custom_find_users");
    assert_eq!(query.title, "FindUsers");
    assert_eq!(query.description, "Finds users. By name.");
    assert!(query.touches_pages);
    let expected = json!({
        "type": "object",
        "properties": {
            "q": { "type": "string", "maxLength": 2000 },
            "n": { "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX, "default": 3 },
            "tags": { "type": "array", "items": { "type": "string", "maxLength": 2000 }, "maxItems": 100 },
            "kind": { "type": "string", "enum": ["LARGE", "SMALL"], "default": "SMALL" },
            "at": { "type": "string", "maxLength": 2000 },
        },
        "required": ["q"],
        "additionalProperties": false,
    });
    assert_eq!(Value::Object(query.input.clone()), expected);
}

#[test]
fn a_query_that_shows_no_page_is_known() {
    for (text, touches) in [
        ("{ users { list { id groups { name } } } }", false),
        ("{ system { info { currentVersion } } }", false),
        ("{ groups { single(id: 1) { pageRules { path } } } }", true),
        (
            "{ users { list { groups { rules: pageRules { p: path } } } } }",
            true,
        ),
        ("{ x: pages { list { id } } }", true),
    ] {
        assert_eq!(check(text).expect(text).touches_pages, touches, "{text}");
    }
}

#[test]
fn secrets_are_refused_however_they_are_named() {
    for text in [
        "{ authentication { apiKeys { id } } }",
        "{ a: authentication { b: apiKeys { c: id } } }",
        "{ mail { config { pass } } }",
        "{ search { searchEngines { x: config { v: value } } } }",
        "{ system { info { sslStatus } } }",
    ] {
        assert!(faults(text).contains("holds secrets"), "{text}");
    }
    assert!(check("{ authentication { apiState } }").is_ok());
}

#[test]
fn every_fault_is_told_with_its_place() {
    insta::assert_snapshot!(faults("query ($a: Int, $a: Gone, $f: Filter, $d: Int = \"x\") {\n  user { id }\n  users {\n    list(filtr: 1, filter: 2) { nme }\n    search { id }\n  }\n  pages\n  system { info { currentVersion { x } } }\n  things(kind: HUGE, filter: { kind: SMALL }, at: { a: 1 }) { id }\n}"), @r#"
    q.graphql:2:17: $a is of the type Gone, which the wiki does not have
    q.graphql:2:17: there are two variables $a
    q.graphql:2:27: $f is of the type Filter; a variable must be a scalar, an enum, or a list of them
    q.graphql:2:39: the default of $d must be Int
    q.graphql:3:3: Query has no field user; did you mean users?
    q.graphql:5:5: UserQuery.list has no argument filtr
    q.graphql:5:5: the argument filter of UserQuery.list must be String
    q.graphql:5:33: User has no field nme; did you mean name?
    q.graphql:6:5: UserQuery.search needs the argument query: String!
    q.graphql:8:3: pages is a PageQuery: say which of its fields, in braces
    q.graphql:9:19: currentVersion is a String and has no fields
    q.graphql:10:3: the argument kind of Query.things must be one of LARGE, SMALL
    q.graphql:10:3: the argument filter of Query.things needs the member words
    q.graphql:10:3: the argument at of Query.things must be Date
    q.graphql:2:8: $a is not used
    q.graphql:2:17: $a is not used
    q.graphql:2:27: $f is not used
    q.graphql:2:39: $d is not used
    "#);
    insta::assert_snapshot!(faults("query ($a: Int, $b: String, $l: [String]) { users { search(query: $b) { id } } pages { list(tags: $l, limit: $c, creatorId: $b) { id @defer @skip(if: $a) } } }"), @r#"
    q.graphql:2:53: the argument query of UserQuery.search is $b of the type String, not String!
    q.graphql:2:88: the argument tags of PageQuery.list is $l of the type [String], not [String!]
    q.graphql:2:88: the argument limit of PageQuery.list is $c, which is no variable of the query
    q.graphql:2:88: the argument creatorId of PageQuery.list is $b of the type String, not Int
    q.graphql:2:134: has @defer; a custom tool has no directives
    q.graphql:2:141: has @skip; a custom tool has no directives
    q.graphql:2:8: $a is not used
    "#);
    insta::assert_snapshot!(faults("{ a: users { list { id } } a: system { info { currentVersion } } __schema { types { name } } }"), @r#"
    q.graphql:2:28: a means two fields; give one of them an alias
    q.graphql:2:66: __schema asks for the schema, which no custom tool does
    "#);
    insta::assert_snapshot!(faults("mutation { users { delete(id: 1) } }"), @"q.graphql:2:1: holds a mutation; a custom tool only reads, so it must be one query");
    insta::assert_snapshot!(faults("subscription { a }"), @"q.graphql:2:1: holds a subscription; a custom tool only reads, so it must be one query");
    insta::assert_snapshot!(faults("{ users { list { id } } }\nquery B { users { list { id } } }\nmutation M { a }"), @r#"
    q.graphql:4:1: holds a mutation; a custom tool only reads, so it must be one query
    q.graphql:3:1: holds a second query; it must be exactly one
    "#);
    insta::assert_snapshot!(faults("{ users { list { id } }"), @"q.graphql:2:24: is no GraphQL: Unexpected end of input; Expected }");
    insta::assert_snapshot!(faults("fragment A on Query { users { list { id } } }"), @"q.graphql:2:1: holds the fragment A; a custom tool has no fragments, so write the fields out in its place");
    insta::assert_snapshot!(faults("type Query { a: Int }"), @"q.graphql:2:1: is no GraphQL: Unexpected `type[Name]`; Expected {, query, mutation, subscription or fragment");
}

#[test]
fn size_depth_and_aliases_are_bounded() {
    let aliases: Vec<String> = (0..1_000).map(|n| format!("a{n}: id")).collect();
    let aliases = aliases.join(" ");
    insta::assert_snapshot!(faults(&format!("{{ users {{ list {{ {aliases} }} }} }}")), @"q.graphql:2:248: there are more than 30 aliases");
    let deep = format!(
        "{{ users {{ list {{ {}id{} }} }} }}",
        "groups { users { ".repeat(8),
        "} }".repeat(8)
    );
    insta::assert_snapshot!(faults(&deep), @"q.graphql:2:103: its fields lie deeper than 12 in each other");
    assert!(faults(&"{ a ".repeat(3_000)).contains("is nested too deep"));
    let list = format!("query ($a: {}", "[".repeat(10_000));
    assert!(faults(&list).contains("is nested too deep"));
    assert!(faults(&"{ a ".repeat(59)).contains("is no GraphQL"));
    let fields = "id name ".repeat(300);
    insta::assert_snapshot!(faults(&format!("{{ users {{ list {{ {fields} }} }} }}")), @"q.graphql:2:1210: it asks for more than 300 fields");
    let large = format!("{{ users {{ list {{ id }} }} }} # {}", "x".repeat(1 << 20));
    assert!(faults(&large).contains("is larger than"));
    for odd in [
        "\u{0}",
        "{ a(b: 1e",
        "{ a(b: -) }",
        "{ a(b: \"\\u12\") }",
        "\"\"\"",
        "é",
        "{ a(b: 0é) }",
        "{ a(b: 1.é) }",
        "{ a(b: 1eé) }",
        "query ($é: Int) { a }",
    ] {
        assert!(check(odd).is_err(), "{odd:?}");
    }
}

#[test]
fn a_file_needs_a_name_and_a_description() {
    let told = |file: &str, text: &str| {
        separated(UncheckedQuery::parse(file, text).expect_err("faults"), "\n")
    };
    insta::assert_snapshot!(told("Find-Users.graphql", "{ users { list { id } } }"), @r#"
    Find-Users.graphql: its name becomes the tool's: a small letter, then small letters, digits and _, up to 57 characters, then .graphql
    Find-Users.graphql:1:1: must begin with lines of comment that say when to use it, up to 1000 characters
    "#);
    assert!(UncheckedQuery::parse("a.graphql", "\n\n# It lists.\n\n# Not this.\n{ a }").is_ok());
}

#[test]
fn every_fragment_is_refused_by_name_before_a_schema_is_asked() {
    let told = |text: &str| {
        let draft = UncheckedQuery::parse("q.graphql", &format!("# About it.\n{text}"));
        separated(draft.expect_err(text), "\n")
    };
    insta::assert_snapshot!(told("{ users { list { ...U } } } fragment U on User { id }"), @r"
    q.graphql:2:29: holds the fragment U; a custom tool has no fragments, so write the fields out in its place
    q.graphql:2:21: holds the fragment U; a custom tool has no fragments, so write the fields out in its place
    ");
    insta::assert_snapshot!(told("{ users { list { ... on User { id } } } }"), @"q.graphql:2:22: holds a fragment on User; a custom tool has no fragments, so write the fields out in its place");
    insta::assert_snapshot!(told("{ users { list { ... { id } } } }"), @"q.graphql:2:22: holds a fragment; a custom tool has no fragments, so write the fields out in its place");
    for text in [
        "{ ...A } fragment A on Mutation { users { delete(id: 1) } }",
        "{ users { list { id } } } fragment A on Mutation { users { delete(id: 1) } }",
        "{ ... on Mutation { users { delete(id: 1) } } }",
        "{ users { list { ... on Subscription { users { delete(id: 1) } } } } }",
        "{ ... on Query { pages { list { id } } } }",
        "{ ... on AuthenticationQuery { apiKeys { id } } }",
        "{ ...Gone }",
        "{ ...A } fragment A on Query { ...A }",
        "{ users { list { id ... @include(if: true) { name } } } }",
    ] {
        let faults = told(text);
        let are_fragments = faults.lines().all(|fault| fault.contains("no fragments"));
        assert!(are_fragments, "{text}: {faults}");
    }
}

#[test]
fn a_union_has_no_fields_and_an_interface_its_own() {
    const SCHEMA: &str = "interface Named { name: String } type A implements Named { name: String a: Int } union Any = A type Query { any: Any named: Named }";
    let schema = crate::custom::sdl::parse("schema.graphql", SCHEMA).expect("a schema");
    let told = |text: &str| {
        let draft = UncheckedQuery::parse("q.graphql", &format!("# About it.\n{text}"));
        let checked = draft.and_then(|draft| draft.check(&schema));
        separated(checked.err().unwrap_or_default(), "; ")
    };
    assert_eq!(told("{ any { __typename } named { name } }"), "");
    insta::assert_snapshot!(told("{ any { a } }"), @"q.graphql:2:9: Any has no field a");
    insta::assert_snapshot!(told("{ named { a } }"), @"q.graphql:2:11: Named has no field a");
}
