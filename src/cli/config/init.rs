//! `wikijs-mcp config init`: a settings file, out of flags and answers.

use serde_json::json;

use crate::cli::exit::Exit;
use crate::cli::{Outcome, files, print, start};
use crate::config::{Draft, file_place, parse_base_url};

/// Arguments of `config init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wikijs-mcp config init
  pass wiki | wikijs-mcp config init --base-url https://wiki.example.com --key-stdin
  wikijs-mcp config init --base-url https://wiki.example.com --api-token-file ~/.wiki-key \\
    --mutations-enabled true --allowed-mutation-path-prefixes docs,blog")]
pub(super) struct Arguments {
    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
    /// Read the key from standard input and keep it in the file
    #[arg(long)]
    key_stdin: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

const ADDRESS: &str = "WIKI_BASE_URL";
const KEY: &str = "WIKI_API_TOKEN";
const KEY_FILE: &str = "WIKI_API_TOKEN_FILE";
const KEY_COMMAND: &str = "WIKI_TOKEN_COMMAND";
const ENABLED: &str = "WIKI_MUTATIONS_ENABLED";
const DRY_RUN: &str = "WIKI_MUTATION_DRY_RUN";
const ALLOWED: &str = "WIKI_ALLOWED_MUTATION_PATH_PREFIXES";

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let wrong = |error: String| (Exit::Usage, error);
    let path = file_place(start::given()).ok_or_else(|| {
        wrong("there is no home directory to put the file in; name it with --config".to_owned())
    })?;
    let shown = path.display();
    if !arguments.force && path.exists() {
        return Err(wrong(format!("{shown} is there; --force replaces it")));
    }
    let mut draft = Draft::default();
    let drafted = fill(&mut draft, arguments.key_stdin);
    drafted.map_err(wrong)?;
    draft.check(&path).map_err(wrong)?;
    draft
        .write(&path, arguments.force)
        .map_err(|error| (Exit::Failed, files::unwritten(&path, error.kind())))?;
    print::line(&if arguments.json {
        json!({ "file": path }).to_string()
    } else {
        format!("{shown} is written; look at it with `wikijs-mcp config show`")
    });
    Ok(Exit::Done)
}

/// Fills a draft from flags, then from stdin or a person.
fn fill(draft: &mut Draft, key_stdin: bool) -> Result<(), String> {
    for (name, value) in &start::given().flags {
        set(draft, name, value)?;
    }
    if key_stdin {
        set_key(draft, &print::read_all()?)?;
    }
    if print::can_ask() {
        return interview(draft, &mut print::prompt, &mut print::prompt_hidden);
    }
    if !draft.has(ADDRESS) {
        return Err("nobody can be asked here; pass --base-url".to_owned());
    }
    if !draft.has(KEY) && !draft.has(KEY_FILE) {
        return Err("nobody can be asked here; pass --key-stdin or --api-token-file".to_owned());
    }
    Ok(())
}

/// Asks a question; nothing if nobody answers any more.
type Ask<'a> = &'a mut dyn FnMut(&str) -> Option<String>;

/// Asks for what is needed and not known yet.
fn interview(draft: &mut Draft, ask: Ask<'_>, ask_hidden: Ask<'_>) -> Result<(), String> {
    const NO_ANSWER: &str = "no answer; nothing was written";
    let mut answer = |question: &str| ask(question).ok_or(NO_ANSWER);
    while !draft.has(ADDRESS) {
        let address = answer("Address of the wiki, such as https://wiki.example.com:")?;
        match parse_base_url(&address) {
            Ok(_) => set(draft, ADDRESS, &address)?,
            Err(error) => print::note(&format!("The address {}.", error.fault)),
        }
    }
    if !draft.has(KEY) && !draft.has(KEY_FILE) {
        let key = ask_hidden(
            "API key (not shown): paste it, or name a file that holds it as @FILE, or a command that prints it as !COMMAND:",
        )
        .ok_or(NO_ANSWER)?;
        match (key.strip_prefix('@'), key.strip_prefix('!')) {
            (Some(file), _) => set(draft, KEY_FILE, file)?,
            (_, Some(command)) => set(draft, KEY_COMMAND, command)?,
            _ => set_key(draft, &key)?,
        }
    }
    if draft.has(ENABLED) || draft.has(DRY_RUN) {
        return Ok(());
    }
    match answer("May agents write? no, preview (they propose only) or yes [no]:")?.as_str() {
        "" | "no" => return Ok(()),
        "preview" => set(draft, ENABLED, "true")?,
        "yes" => {
            set(draft, ENABLED, "true")?;
            set(draft, DRY_RUN, "false")?;
        }
        _ => return Err("the answer must be no, preview or yes; nothing was written".to_owned()),
    }
    if !draft.has(ALLOWED) {
        let paths = answer("Below which paths, such as docs,de:blog [everywhere]:")?;
        if !paths.is_empty() {
            set(draft, ALLOWED, &paths)?;
        }
    }
    Ok(())
}

fn set_key(draft: &mut Draft, key: &str) -> Result<(), String> {
    if key.is_empty() {
        return Err("no key was given; nothing was written".to_owned());
    }
    set(draft, KEY, key)
}

fn set(draft: &mut Draft, name: &'static str, value: &str) -> Result<(), String> {
    draft
        .set(name, value)
        .map_err(|error| format!("the current directory cannot be used: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::{Draft, interview};

    fn interviewed(answers: &[&str]) -> Result<Vec<String>, String> {
        let answers = answers.iter().map(|answer| (*answer).to_owned());
        let answers = RefCell::new(answers);
        let mut draft = Draft::default();
        let (mut shown, mut hidden) = (
            |question: &str| {
                assert!(!question.contains("key"), "{question}");
                answers.borrow_mut().next()
            },
            |question: &str| {
                assert!(question.contains("key"), "{question}");
                answers.borrow_mut().next()
            },
        );
        interview(&mut draft, &mut shown, &mut hidden)?;
        assert_eq!(answers.borrow_mut().next(), None);
        let text = draft.text();
        let set = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty());
        Ok(set.map(str::to_owned).collect())
    }

    #[test]
    fn a_person_says_where_the_key_is_and_what_may_be_written() {
        assert_eq!(
            interviewed(&["https://w", "e30.e30.x", ""]).unwrap(),
            ["base_url = \"https://w\"", "api_token = \"e30.e30.x\""]
        );
        // What is no address is asked for again.
        assert_eq!(
            interviewed(&["", "wiki", "https://w?x", "https://w", "e30.e30.x", "no"]).unwrap(),
            ["base_url = \"https://w\"", "api_token = \"e30.e30.x\""]
        );
        assert_eq!(
            interviewed(&["https://w", "@/keys/wiki", "preview", ""]).unwrap(),
            [
                "base_url = \"https://w\"",
                "api_token_file = \"/keys/wiki\"",
                "mutations_enabled = true"
            ]
        );
        assert_eq!(
            interviewed(&["https://w", "!pass wiki", "yes", "docs, blog"]).unwrap(),
            [
                "base_url = \"https://w\"",
                "token_command = [\"pass\",\"wiki\"]",
                "mutations_enabled = true",
                "mutation_dry_run = false",
                "allowed_mutation_path_prefixes = [\"docs\",\"blog\"]"
            ]
        );
    }

    #[test]
    fn an_answer_that_is_none_ends_it() {
        for answers in [
            &["https://w"][..],
            &["https://w", ""],
            &["https://w", "k", "perhaps"],
        ] {
            let told = interviewed(answers).unwrap_err();
            assert!(told.ends_with("nothing was written"), "{told}");
        }
    }
}
