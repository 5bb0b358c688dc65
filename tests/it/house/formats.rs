//! docs/formats.md: what lies on the disk, written from the types that read and write it.

use wikijs_gate::page::Field;

use crate::prelude::*;

fn source(file: &str) -> String {
    let sources = root().join("src");
    fs::read_to_string(sources.join(file)).unwrap()
}

/// The text between two others.
fn between<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    let (_, rest) = text.split_once(open).unwrap();
    rest.split_once(close).unwrap().0
}

/// The members of a type, as a table.
fn members(file: &str, name: &str) -> String {
    let source = source(file);
    table(between(
        &source,
        &format!("pub struct {name} {{\n"),
        "\n}\n",
    ))
}

/// The members of a record, out of the one list of them.
fn record() -> String {
    let source = source("audit/entry/members.rs");
    let mut body = between(&source, "pub struct Record {\n", "\n        }\n").to_owned();
    let list = between(&source, "\nmembers! {\n", "\n}\n");
    for (group, doc) in [("who", "who_doc"), ("what", "doc")] {
        let in_macro = format!("$( #[doc = ${doc}]\n");
        let (head, rest) = body.split_once(&in_macro).unwrap();
        let (_, tail) = rest.split_once(")*").unwrap();
        let own = between(list, &format!("    {group} {{\n"), "\n    }");
        let own = own.lines().map(|line| match line.split_once(" = ") {
            Some((member, rest)) if rest.contains("absent if") => {
                format!("#[serde(skip_serializing_if)]\npub {},\n", member.trim())
            }
            Some((member, _)) => format!("pub {},\n", member.trim()),
            None => format!("{line}\n"),
        });
        body = format!("{head}\n{}{tail}", own.collect::<String>());
    }
    table(&body)
}

/// The names of members in JSON, and what their comments say.
fn table(body: &str) -> String {
    let (mut meaning, mut own) = (String::new(), None);
    let (mut is_rare, mut is_flat) = (false, false);
    let mut table = String::from("| member | meaning |\n|---|---|\n");
    for line in body.lines().map(str::trim) {
        if let Some(said) = line.strip_prefix("/// ") {
            let _ = write!(
                meaning,
                "{}{said}",
                if meaning.is_empty() { "" } else { " " }
            );
        } else if line.starts_with("#[serde") {
            is_rare |= line.contains("skip_serializing_if");
            is_flat |= line.contains("flatten");
            if let Some((_, renamed)) = line.split_once("rename = \"") {
                own = renamed.split('"').next().map(str::to_owned);
            }
        } else if let Some(member) = line
            .strip_prefix("pub ")
            .or(line.strip_prefix("pub(super) "))
        {
            let member = member.split(':').next().unwrap();
            let shown = own.take().unwrap_or_else(|| camel_case(member));
            let rare = if is_rare { " *May be absent.*" } else { "" };
            // A change's members have a table of their own.
            if !(is_flat && line.contains("ProposedChange")) {
                let _ = writeln!(table, "| `{shown}` | {}{rare} |", plain(&meaning));
            }
            (meaning, is_rare, is_flat) = (String::new(), false, false);
        } else if line.starts_with("v:") {
            table.push_str("| `v` | The version of the line. |\n");
        }
    }
    table
}

/// A comment without its links to other items.
fn plain(comment: &str) -> String {
    comment
        .replace("[`", "`")
        .replace("`]", "`")
        .replace('|', "\\|")
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap().to_owned();
    for word in words {
        let (first, rest) = word.split_at(1);
        camel += &first.to_uppercase();
        camel += rest;
    }
    camel
}

#[test]
fn the_page_on_formats_says_what_the_types_are() {
    generated("docs/formats.md", "record", &record(), str::to_owned);
    for [marker, file, name] in text_rows(
        "
        head => audit/run/heads.rs => FileHead
        proposal => audit/documents/proposal.rs => Proposal
        proposed-change => audit/documents/proposal.rs => ProposedChange
        draft => audit/documents/draft.rs => Draft
        draft-change => audit/documents/draft.rs => DraftChange
        approval => gates/approvals/standing.rs => StandingApproval
        pause => audit/documents/pause_file.rs => PauseInfo
        memory-line => memory/line.rs => MemoryLine
        memory => memory/entry.rs => Memory
    ",
    ) {
        generated(
            "docs/formats.md",
            marker,
            &members(file, name),
            str::to_owned,
        );
    }
    let fields = vec_of(Field::ALL.iter().map(|field| format!("`{}`", field.name())));
    let text = format!("{}\n", fields.join(", "));
    generated("docs/formats.md", "fields", &text, str::to_owned);
}
