use std::path::Path;
use std::time::Duration;

use super::super::file::File;
use super::{Tables, schema};
use crate::notify::{NotifyTo, Occasion};
use crate::rules::Then;

fn read(text: &str) -> Result<Tables, Vec<String>> {
    File::parse(Path::new("/etc/x/config.toml"), text)
        .map(|file| file.tables)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

/// The faults, without the file's name.
fn faults(text: &str) -> Vec<String> {
    let faults = read(text).unwrap_err().into_iter();
    faults
        .map(|fault| fault.trim_start_matches("/etc/x/config.toml:").to_owned())
        .collect()
}

#[test]
fn rules_and_checks_are_read_whole() {
    let tables = read(
        r#"
mutations_enabled = true
rules_off = ["large-sets"]

[[rules]]
name = "legal"
then = "review"
why = "Ada looks at what binds us"
paths = ["legal", "de:recht"]
operations = ["update", "delete"]
fields = ["content"]
tags = ["Contract*"]
clients = ["ci"]
warnings = ["dead_link", "check:words"]
lines_removed_over = 0
pages_over = 3
deletes_over = 1
writes_per_day_over = 100

[[rules]]
name = "all"
then = "preview"

[[checks]]
name = "words"
argv = ["bin/words", "--strict"]
cwd = "work"
env = { MODE = "x" }
paths = "docs"
timeout = 3

[[checks]]
name = "plain"
argv = ["vale"]
"#,
    )
    .unwrap();
    let told: Vec<String> = tables.rules.rules().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with("secrets (deny)"));
    assert_eq!(
        told[1],
        "legal (review): a set of pages at or below legal or de:recht of changes of the kind update or delete of pages with the tag \"contract*\" in content by ci with the warning dead_link or check:words that removes more than 0 lines with more than 3 pages asked for with more than 1 deleted by a client with more than 100 writes in 24 hours waits until a person decides; Ada looks at what binds us"
    );
    assert_eq!(tables.rules.rules().last().unwrap().then, Then::Preview);
    let [words, plain] = tables.checks.as_slice() else {
        panic!("{:?}", tables.checks);
    };
    assert_eq!(words.argv, ["/etc/x/bin/words", "--strict"]);
    assert_eq!(words.cwd, Path::new("/etc/x/work"));
    assert_eq!(words.timeout, Duration::from_secs(3));
    assert_eq!(words.env, [("MODE".to_owned(), "x".to_owned())]);
    assert_eq!(plain.argv.as_slice(), &["vale".to_owned()][..]);
    assert_eq!(plain.timeout, Duration::from_secs(10));
    assert_eq!(plain.cwd, Path::new("/etc/x"));
    assert_eq!(read("").unwrap(), Tables::default());
}

#[test]
fn people_get_grants_and_every_word_that_cannot_be_meant_is_told() {
    let start = "[oauth]\nissuer = \"https://id.example.com\"\naudiences = [\"https://g/mcp\"]\n";
    let text = format!(
        "{start}review_client_id = \"page\"\nreview_secret_file = \"page.secret\"\n[[oauth.grants]]\n\
         groups = [\"docs\"]\nrole = \"agent\"\nwrite = true\ntoolsets = [\"undo\"]\ntools = [\"custom_x\"]\nrate = 9\n\
         [[oauth.grants]]\neverybody = true\nrole = \"reviewer\"\ndecides_own = true\n"
    );
    let oauth = read(&text).unwrap().oauth.unwrap();
    let secret = oauth.review_secret_file.as_deref();
    assert_eq!(secret, Some(Path::new("/etc/x/page.secret")));
    assert_eq!(&*oauth.groups_claim, "groups");
    assert_eq!(&*oauth.scopes.read, "wiki:read");
    let [writer, reviewer] = oauth.grants.as_slice() else {
        panic!("{:?}", oauth.grants);
    };
    let tools = writer.may.tools.as_ref().unwrap();
    assert!(
        tools.contains(&"custom_x".to_owned()) && tools.contains(&"wikijs_undo_write".to_owned())
    );
    assert!(!writer.may.read_only && writer.may.rate == Some(9));
    assert!(reviewer.decides_own && !reviewer.may.read_only);
    for (more, fault) in [
        (
            "issuers = 1\n",
            "4: \"issuers\" is no member of a sign-in; did you mean issuer?",
        ),
        (
            "review_secret_file = \"x\"\n",
            "1: review_secret_file and review_key_file mean nothing without review_client_id",
        ),
        (
            "review_client_id = \"https://g/mcp\"\n",
            "1: audiences has the review page's client id, so that its id tokens would open /mcp; leave it out",
        ),
        (
            "scopes = { read = \"a b\" }\n",
            "4: read must be one scope without spaces, or empty",
        ),
        (
            "[[oauth.grants]]\ngroups = [\"a\"]\nrole = \"metrics\"\n",
            "6: role has \"metrics\", which is none of agent, reviewer, auditor",
        ),
        (
            "[[oauth.grants]]\nrole = \"agent\"\n",
            "4: a grant names groups, subjects or email_domains, or says everybody = true",
        ),
        (
            "[[oauth.grants]]\neverybody = true\n",
            "4: a grant needs role",
        ),
        (
            "[[oauth.grants]]\neverybody = true\nrole = \"agent\"\ntools = [\"get_page_by_path\"]\n",
            "4: a grant's tools has \"get_page_by_path\", which is no tool; did you mean wikijs_get_page_by_path?",
        ),
        (
            "[[oauth.grants]]\neverybody = true\nrole = \"auditor\"\nwrite = true\n",
            "4: write is for the role agent alone",
        ),
        (
            "[[oauth.grants]]\neverybody = true\nrole = \"auditor\"\nprefixes = [\"a\"]\n",
            "4: a grant: prefixes means nothing to a client of the role auditor",
        ),
        (
            "[[oauth.grants]]\nemail_domains = [\"@x.org\"]\nrole = \"agent\"\n",
            "5: email_domains has \"@x.org\", which must be a domain such as example.com",
        ),
    ] {
        assert_eq!(faults(&format!("{start}{more}")), [fault], "{more}");
    }
    for (issuer, audiences) in [
        ("http://id.example.com", "[\"a\"]"),
        ("https://id.example.com?x", "[\"a\"]"),
        ("https://u@id.example.com", "[\"a\"]"),
        ("https://id.example.com", "[]"),
    ] {
        let text = format!("[oauth]\nissuer = {issuer:?}\naudiences = {audiences}\n");
        assert_eq!(faults(&text).len(), 1, "{text}");
    }
    assert_eq!(faults("[oauth]\n").len(), 2);
    assert!(read("[oauth]\nissuer = \"http://127.0.0.1:1\"\naudiences = \"a\"\n").is_ok());
}

#[test]
fn what_is_misspelt_is_told_with_the_line_and_the_nearest_known_word() {
    for (text, fault) in [
        (
            "[[rules]]\nname = \"x\"\nthen = \"deny\"\npath = [\"a\"]\n",
            "4: \"path\" is no member of a rule; did you mean paths?",
        ),
        (
            "[[rules]]\nname = \"x\"\nthen = \"revew\"\n",
            "3: then has \"revew\", which is none of preview, person, review, deny; did you mean review?",
        ),
        (
            "[[rules]]\nname = \"x\"\nthen = \"deny\"\nwarnings = [\"deadlink\"]\n",
            "4: warnings has \"deadlink\", which is none of dead_link, same_title, path_differs_by_case, links_break, own_links_break, literal_escapes, markdown_in_html, much_removed, heading_dropped, tags_dropped, script_added, foreign_resource_added, hidden_text_added, secret_added, css_rules_dropped, cannot_return, unpublished, in_code, not_in_block; did you mean dead_link?",
        ),
        (
            "[[rules]]\nname = \"x\"\nthen = \"deny\"\nfields = [\"scriptJS\"]\n",
            "4: fields has \"scriptJS\", which is none of locale, path, title, description, content, editor, tags, isPublished, isPrivate, publishStartDate, publishEndDate, scriptCss, scriptJs; did you mean scriptJs?",
        ),
        (
            "[[rules]]\nname = \"x\"\nthen = \"deny\"\noperations = [\"remove\"]\n",
            "4: operations has \"remove\", which is none of create, update, move, delete, add-comment, change-comment, delete-comment, upload-asset, rename-asset, delete-asset; did you mean move?",
        ),
        (
            "[[checks]]\nname = \"words\"\nargv = [\"x\"]\n[[rules]]\nname = \"x\"\nthen = \"deny\"\nwarnings = \"check:word\"\n",
            "7: warnings has \"check:word\", and there is no such check; did you mean check:words?",
        ),
        (
            "rules_off = [\"secret\"]\n",
            "1: rules_off has \"secret\", which is none of secrets, large-sets; did you mean secrets?",
        ),
        (
            "[[checks]]\nname = \"x\"\nargv = [\"x\"]\ncommand = \"y\"\n",
            "4: \"command\" is no member of a check",
        ),
        (
            "[[ruls]]\nname = \"x\"\n",
            "1: \"ruls\" is no setting; did you mean rules?",
        ),
    ] {
        assert_eq!(faults(text), [fault], "{text}");
    }
}

#[test]
fn what_is_missing_or_of_another_kind_is_told() {
    for (text, fault) in [
        (
            "rules = 1\n",
            "1: rules must be tables, each under a line [[rules]]",
        ),
        (
            "[rules]\nname = \"x\"\n",
            "1: rules must be tables, each under a line [[rules]]",
        ),
        ("[[rules]]\nname = \"x\"\n", "1: a rule needs then"),
        ("[[rules]]\nthen = \"deny\"\n", "1: a rule needs name"),
        ("[[checks]]\nname = \"x\"\n", "1: a check needs argv"),
        (
            "[[rules]]\nname = \"a b\"\nthen = \"deny\"\n",
            "1: a rule's name must have 1 to 60 letters, digits, \"-\" and \"_\"",
        ),
        (
            "[[rules]]\nname = \"secrets\"\nthen = \"deny\"\n",
            "1: the name \"secrets\" is a built-in rule's; give this one another",
        ),
        (
            "[[rules]]\nname = \"x\"\nthen = \"deny\"\n[[rules]]\nname = \"x\"\nthen = \"deny\"\n",
            "1: two rules have the name \"x\"",
        ),
        (
            "[[rules]]\nname = \"x\"\nthen = \"deny\"\npaths = []\n",
            "4: paths must be an array of texts that is not empty, or one text",
        ),
        (
            "[[rules]]\nname = \"x\"\nthen = \"deny\"\npaths = [\"a//b\"]\n",
            "4: paths has \"a//b\", which must be made of whole segments, without \"//\", \".\" or \"..\"",
        ),
        (
            "[[rules]]\nname = \"x\"\nthen = \"deny\"\npages_over = -1\n",
            "4: pages_over must be a whole number from 0 to 1000000, without quotes",
        ),
        (
            "[[checks]]\nname = \"x\"\nargv = []\n",
            "3: argv must be a program and its arguments, such as [\"vale\", \"--output=line\"]",
        ),
        (
            "[[checks]]\nname = \"x\"\nargv = [\"y\"]\ntimeout = 0\n",
            "4: timeout must be a whole number of seconds from 1 to 60",
        ),
        (
            "[[checks]]\nname = \"x\"\nargv = [\"y\"]\nenv = { A = 1 }\n",
            "4: env must be a table of texts, such as { MODE = \"strict\" }",
        ),
    ] {
        assert_eq!(faults(text), [fault], "{text}");
    }
    let two = faults("[[rules]]\nthn = \"deny\"\npaths = 1\n");
    assert_eq!(two.len(), 4, "all at once: {two:?}");
}

#[test]
fn every_member_is_read() {
    let source = concat!(
        include_str!("../tables.rs"),
        include_str!("check.rs"),
        include_str!("notify.rs")
    );
    for schema in [schema::rules(), schema::checks(), schema::notify()] {
        for (member, _) in schema["items"]["properties"].as_object().unwrap() {
            let reads = format!("(\"{member}\"");
            assert!(source.contains(&reads), "{member}");
        }
    }
}

#[test]
fn a_notify_is_a_command_or_an_address_and_no_fault_repeats_the_address() {
    let told = read(
        r#"
[[notify]]
name = "chat"
url = "https://hooks.example.org/secret"
on = ["waiting", "unknown"]

[[notify]]
name = "mail"
argv = ["./tell", "ops"]
timeout = 3
"#,
    )
    .unwrap();
    let [chat, mail] = told.notify.as_slice() else {
        panic!("{:?}", told.notify);
    };
    assert_eq!(chat.on, [Occasion::Waiting, Occasion::Unknown]);
    assert!(!format!("{chat:?}").contains("secret"), "{chat:?}");
    assert_eq!((mail.on.len(), mail.timeout.as_secs()), (7, 3));
    let NotifyTo::Command(command) = &mail.to else {
        panic!("{mail:?}");
    };
    assert_eq!((&*command.name, command.timeout), ("mail", mail.timeout));
    assert!(command.argv[0].ends_with("/tell"), "{command:?}");
    for (text, fault) in [
        (
            "[[notify]]\nname = \"a\"\n",
            "1: a notify needs either url or argv",
        ),
        (
            "[[notify]]\nname = \"a\"\nurl = \"ftp://secret\"\n",
            "3: url must be an http or https address",
        ),
        (
            "[[notify]]\nname = \"a\"\nurl = \"http://h/\"\non = \"waitng\"\n",
            "4: on has \"waitng\", which is none of waiting, decided, partly_applied, unknown, key_ends, deleted, many_changed; did you mean waiting?",
        ),
        (
            "[[notify]]\nname = \"a\"\nurl = \"http://h/\"\nenv = { A = \"1\" }\n",
            "1: a notify with url takes no env",
        ),
        (
            "[[notify]]\nname = \"a\"\nurl = \"http://h/\"\n[[notify]]\nname = \"a\"\nurl = \"http://i/\"\n",
            "4: two notify tables have the name \"a\"",
        ),
    ] {
        assert_eq!(faults(text), [fault], "{text}");
    }
}
