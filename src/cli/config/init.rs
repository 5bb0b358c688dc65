//! `wikijs-gate config init`: a settings file, out of flags and answers.

use std::path::Path;

use tokio::runtime::Handle;

use super::meant_address::{MeantAddress, meant};
use crate::cli::doctor::{AccessFault, test_connection};
use crate::cli::file_faults;
use crate::cli::level::Levels;
use crate::cli::prelude::*;
use crate::cli::typing::{Prompter, Typing, is_like_key};
use crate::config::{InitFile, Settings, file_place, parse_base_url};
use crate::error::sentence;

/// Arguments of `config init`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  wikijs-gate config init
  pass wiki | wikijs-gate config init --base-url https://wiki.example.com --key-stdin
  wikijs-gate config init --base-url https://wiki.example.com --api-token-file ~/.wiki-key \\
    --mutations-enabled true --allowed-mutation-path-prefixes docs,blog")]
pub(in crate::cli) struct Arguments {
    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
    /// Read the key from standard input and keep it in the file
    #[arg(long)]
    key_stdin: bool,
    /// Write the file without testing address and key at the wiki
    #[arg(long)]
    untested: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

const ADDRESS: &str = "WIKI_BASE_URL";
const KEY: &str = "WIKI_API_TOKEN";
const KEY_FILE: &str = "WIKI_API_TOKEN_FILE";
const KEY_COMMAND: &str = "WIKI_TOKEN_COMMAND";
/// The settings that give the key.
const KEYS: [&str; 3] = [KEY, KEY_FILE, KEY_COMMAND];
const ENABLED: &str = "WIKI_MUTATIONS_ENABLED";
const DRY_RUN: &str = "WIKI_MUTATION_DRY_RUN";
const CONFIRM: &str = "WIKI_CONFIRM";
const STATIC_TOKEN: &str = "WIKI_MUTATION_CONFIRM_TOKEN";
const ALLOWED: &str = "WIKI_ALLOWED_MUTATION_PATH_PREFIXES";

const NO_ANSWER: &str = "no answer; nothing was written";
const ASKING: &str = "asking the wiki";

pub(super) async fn run(arguments: &Arguments) -> CommandResult {
    let path = file_place(start::given()).ok_or_else(|| {
        Exit::usage("there is no home directory to put the file in; name it with --config")
    })?;
    let shown = path.display();
    if !arguments.force && path.exists() {
        return Err(Exit::usage(format!(
            "{shown} is there; --force replaces it"
        )));
    }
    let mut draft = InitFile::default();
    fill(&mut draft, arguments.key_stdin).map_err(Exit::usage)?;
    if print::can_ask() {
        // Answers cannot mend faults in what was given.
        with_placeholders(&draft)
            .and_then(|whole| whole.check(&path))
            .map_err(Exit::usage)?;
    }
    let check = |draft: &InitFile| draft.check(&path);
    let policy = completed(&mut draft, &path, &check, arguments.untested, true)
        .await?
        .policy;
    draft
        .write(&path, arguments.force)
        .map_err(|error| Exit::failed(file_faults::unwritten(&path, error.kind())))?;
    let level = Levels::new(&policy.writes, &policy.set_by, policy.read_only.as_ref()).in_words();
    let words = format!(
        "{shown} is written, {level}\nnext: `wikijs-gate doctor`, then connect a client; `wikijs-gate config show` has every setting"
    );
    print::answer(arguments.json, &json!({ "file": path }), &words)
}

/// Asks at a terminal for what a draft lacks, `with_writes` also for what may be written, and tests
/// address and key at the wiki unless it stays `untested`. Returns the settings, checked.
///
/// # Errors
/// What is missing or wrong, with the exit code for it.
pub(in crate::cli) async fn completed(
    draft: &mut InitFile,
    path: &Path,
    check: &dyn Fn(&InitFile) -> Result<Settings, String>,
    untested: bool,
    with_writes: bool,
) -> Result<Settings, CommandError> {
    if print::can_ask() {
        // The wiki is asked in the middle of the questions.
        let held = tokio::task::block_in_place(|| {
            let mut typing = Typing::begin().ok_or_else(|| NO_ANSWER.to_owned())?;
            let mut interview = Interview {
                draft: &mut *draft,
                path,
                person: &mut typing,
                test: &mut |draft| {
                    if untested {
                        return Ok(None);
                    }
                    let tested = test_connection(check(draft)?.wiki);
                    Handle::current().block_on(print::in_progress(ASKING, tested))
                },
            };
            interview.hold(with_writes)
        });
        held.map_err(Exit::usage)?;
        return check(draft).map_err(Exit::usage);
    }
    is_whole(draft).map_err(Exit::usage)?;
    let settings = check(draft).map_err(Exit::usage)?;
    if untested {
        return Ok(settings);
    }
    let tested = Box::pin(test_connection(settings.wiki.clone()));
    let tested = print::in_progress(ASKING, tested).await;
    if let Some(found) = tested.map_err(Exit::usage)? {
        let (seen, todo) = (print::harmless(&found.seen), &found.todo);
        return Err(Exit::failed(format!(
            "{seen}; nothing was written. {todo} --untested writes it all the same."
        )));
    }
    Ok(settings)
}

/// Fills a draft from flags, then from stdin.
///
/// # Errors
/// No key came.
pub(in crate::cli) fn fill(draft: &mut InitFile, key_stdin: bool) -> Result<(), String> {
    for (name, value) in &start::given().flags {
        set(draft, name, value)?;
    }
    if key_stdin {
        let key = print::read_all()?;
        if key.is_empty() {
            return Err("no key was given; nothing was written".to_owned());
        }
        set(draft, KEY, &key)?;
    }
    Ok(())
}

/// Checks that a draft has an address and a key, where nobody can be asked.
fn is_whole(draft: &InitFile) -> Result<(), String> {
    if !draft.has(ADDRESS) {
        return Err("nobody can be asked here; pass --base-url".to_owned());
    }
    if !has_key(draft) {
        return Err("nobody can be asked here; pass --key-stdin or --api-token-file".to_owned());
    }
    Ok(())
}

fn has_key(draft: &InitFile) -> bool {
    KEYS.iter().any(|name| draft.has(name))
}

/// A draft with a placeholder address and key if it has none, so that everything else can be
/// checked.
fn with_placeholders(draft: &InitFile) -> Result<InitFile, String> {
    let mut whole = draft.clone();
    if !whole.has(ADDRESS) {
        set(&mut whole, ADDRESS, "https://wiki.example.com")?;
    }
    if !has_key(&whole) {
        set(&mut whole, KEY, "placeholder")?;
    }
    Ok(whole)
}

/// Tests the address and the key of a draft.
type Test<'a> = &'a mut dyn FnMut(&InitFile) -> Result<Option<AccessFault>, String>;

/// Asks for missing values; asks again after a bad answer.
struct Interview<'a> {
    draft: &'a mut InitFile,
    path: &'a Path,
    person: &'a mut dyn Prompter,
    test: Test<'a>,
}

impl Interview<'_> {
    fn hold(&mut self, with_writes: bool) -> Result<(), String> {
        self.ask_connection()?;
        if with_writes {
            self.ask_writes()?;
        }
        Ok(())
    }

    fn ask_connection(&mut self) -> Result<(), String> {
        loop {
            self.ask_address()?;
            self.ask_key()?;
            let Some(wrong) = (self.test)(self.draft)? else {
                break;
            };
            self.person.tell(&format!(
                "This does not work: {}. {}",
                wrong.seen, wrong.todo
            ));
            let question =
                "Answer again, keep it all the same, or end? again, keep or end [again]:";
            match self.one_of(question, &["again", "keep", "end"])? {
                "keep" => break,
                "end" => return Err("nothing was written".to_owned()),
                _ if wrong.is_key => {
                    for name in KEYS {
                        self.draft.unset(name);
                    }
                }
                _ => self.draft.unset(ADDRESS),
            }
        }
        Ok(())
    }

    fn ask_address(&mut self) -> Result<(), String> {
        let mut of_page = String::new();
        while !self.draft.has(ADDRESS) {
            let address = self.ask("Address of the wiki, such as https://wiki.example.com:")?;
            if is_like_key(&address) {
                self.person
                    .tell("That looks like a key; it is asked for after the address.");
                continue;
            }
            match (parse_base_url(&address), meant(&address)) {
                (_, Some(MeantAddress::WithScheme(meant))) => self.person.tell(&format!(
                    "The address must begin with https:// or http://; type {meant}"
                )),
                (_, Some(MeantAddress::OfPage(meant))) if address != of_page => {
                    self.person.tell(&format!(
                        "That looks like the address of a page; type {meant}, or the same once more if the wiki lies below this path."
                    ));
                    of_page = address;
                }
                (Ok(_), _) => set(self.draft, ADDRESS, &address)?,
                (Err(error), _) => self.person.tell(&format!("The address {}.", error.fault)),
            }
        }
        Ok(())
    }

    fn ask_key(&mut self) -> Result<(), String> {
        while !has_key(self.draft) {
            let question = "API key (not shown), which an administrator of the wiki makes under Administration, API Access: paste it, or name a file that holds it as @FILE, or a command that prints it as !COMMAND:";
            let key = self.person.ask(question, true).ok_or(NO_ANSWER)?;
            let (name, value) = match (key.strip_prefix('@'), key.strip_prefix('!')) {
                (Some(file), _) => (KEY_FILE, file),
                (_, Some(command)) => (KEY_COMMAND, command),
                _ => (KEY, key.as_str()),
            };
            self.try_to_set(name, value)?;
        }
        Ok(())
    }

    fn ask_writes(&mut self) -> Result<(), String> {
        if self.draft.has(ENABLED) || self.draft.has(DRY_RUN) {
            return Ok(());
        }
        let question =
            "What may agents do? 1 read, 2 propose and people decide, 3 write after a preview [1]:";
        let confirm = match self.one_of(question, &["1", "2", "3"])? {
            "2" => "review",
            "3" => "preview",
            _ => return Ok(()),
        };
        set(self.draft, ENABLED, "true")?;
        set(self.draft, DRY_RUN, "false")?;
        // Whoever set a static token has it asked for.
        if !self.draft.has(CONFIRM) && !self.draft.has(STATIC_TOKEN) {
            set(self.draft, CONFIRM, confirm)?;
        }
        while !self.draft.has(ALLOWED) {
            let paths = self.ask("Below which paths, such as docs,de:blog [everywhere]:")?;
            if paths.is_empty() {
                break;
            }
            self.try_to_set(ALLOWED, &paths)?;
        }
        Ok(())
    }

    fn ask(&mut self, question: &str) -> Result<String, String> {
        Ok(self.person.ask(question, false).ok_or(NO_ANSWER)?)
    }

    /// Asks for one of these words until it is one; no answer is the first.
    fn one_of(&mut self, question: &str, words: &[&'static str]) -> Result<&'static str, String> {
        loop {
            let answer = self.ask(question)?.to_lowercase();
            let first = words.first().filter(|_| answer.is_empty());
            let word = first.or_else(|| words.iter().find(|word| **word == answer));
            if let Some(word) = word {
                return Ok(word);
            }
            self.person
                .tell(&format!("The answer must be one of {}.", words.join(", ")));
        }
    }

    /// Takes an answer if the settings would be good with it, and says why not otherwise. No
    /// fault repeats the answer, which may be a secret.
    fn try_to_set(&mut self, name: &'static str, value: &str) -> Result<(), String> {
        let mut alone = InitFile::default();
        set(&mut alone, name, value)?;
        match with_placeholders(&alone)?.check(self.path) {
            Ok(_) => set(self.draft, name, value),
            Err(fault) => {
                self.person.tell(&sentence(&fault));
                Ok(())
            }
        }
    }
}

fn set(draft: &mut InitFile, name: &'static str, value: &str) -> Result<(), String> {
    draft
        .set(name, value)
        .map_err(|error| format!("the current directory cannot be used: {}", error.kind()))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::path::Path;

    use super::{AccessFault, InitFile, Interview, Prompter};

    /// Answers from a list, and keeps what was said.
    #[derive(Default)]
    struct Scripted {
        answers: VecDeque<&'static str>,
        told: Vec<String>,
    }

    impl Prompter for Scripted {
        fn ask(&mut self, question: &str, is_secret: bool) -> Option<String> {
            assert_eq!(question.contains("key"), is_secret, "{question}");
            self.answers.pop_front().map(str::to_owned)
        }

        fn tell(&mut self, what: &str) {
            self.told.push(what.to_owned());
        }
    }

    /// The settings made by these answers, and the messages shown. The test refuses a key with
    /// `bad` in it, and any address but `https://w`.
    fn interviewed(answers: &[&'static str]) -> (Result<Vec<String>, String>, Vec<String>) {
        let mut person = Scripted {
            answers: answers.iter().copied().collect(),
            told: Vec::new(),
        };
        let mut draft = InitFile::default();
        let mut test = |draft: &InitFile| {
            let file = draft.text();
            let wrong = |is_key| AccessFault {
                is_key,
                seen: "it is wrong".to_owned(),
                todo: "Correct it.".to_owned(),
            };
            Ok(if !file.contains("\nbase_url = \"https://w\"") {
                Some(wrong(false))
            } else if file.contains("bad") {
                Some(wrong(true))
            } else {
                None
            })
        };
        let held = Interview {
            draft: &mut draft,
            path: Path::new("/config.toml"),
            person: &mut person,
            test: &mut test,
        }
        .hold(true);
        let file = draft.text();
        let set = file
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty());
        let set = set.map(str::to_owned).collect();
        assert!(person.answers.is_empty(), "{:?}", person.answers);
        (held.map(|()| set), person.told)
    }

    const KEY: &str = "api_token = \"good\"";
    const ADDRESS: &str = "base_url = \"https://w\"";

    #[test]
    fn a_person_says_where_the_key_is_and_what_may_be_written() {
        let (set, told) = interviewed(&["https://w", "good", ""]);
        assert_eq!(
            (set.unwrap(), told.len()),
            (vec![ADDRESS.to_owned(), KEY.to_owned()], 0)
        );
        let (set, _) = interviewed(&["https://w", "!echo good", "3", "docs, blog"]);
        assert_eq!(
            set.unwrap(),
            [
                ADDRESS,
                "token_command = [\"echo\",\"good\"]",
                "mutations_enabled = true",
                "mutation_dry_run = false",
                "confirm = \"preview\"",
                "allowed_mutation_path_prefixes = [\"docs\",\"blog\"]"
            ]
        );
    }

    #[test]
    fn after_a_bad_answer_the_same_is_asked_again() {
        let (set, told) = interviewed(&[
            "",
            "wiki",
            "https://w?x",
            "eyJhbGciOi.a.b",
            "https://w", // the address
            "",
            "two words",
            "@/no/such/file",
            "!",
            "good", // the key
            "perhaps",
            "2", // writes
            "a//../b",
            "docs",
        ]);
        assert_eq!(
            set.unwrap(),
            [
                ADDRESS,
                KEY,
                "mutations_enabled = true",
                "mutation_dry_run = false",
                "confirm = \"review\"",
                "allowed_mutation_path_prefixes = [\"docs\"]"
            ]
        );
        assert_eq!(told.len(), 10, "{told:?}");
        assert!(told.iter().all(|told| !told.ends_with("..")), "{told:?}");
        for secret in ["eyJ", "two words", "good"] {
            assert!(!told.concat().contains(secret), "{told:?}");
        }
    }

    #[test]
    fn an_address_without_a_scheme_or_of_a_page_is_answered_with_what_to_type() {
        for (given, meant) in [
            ("w", "type https://w"),
            (
                "wiki.example.com:3000",
                "type https://wiki.example.com:3000",
            ),
            ("localhost:3000/en/home", "type https://localhost:3000"),
            ("https://w/en/home", "type https://w,"),
            ("https://w/e/pt-br/docs/a", "type https://w,"),
            (
                "http://w:3000/below/en/home#top",
                "type http://w:3000/below,",
            ),
        ] {
            let (set, told) = interviewed(&[given, "https://w", "good", "1"]);
            assert_eq!(set.unwrap(), [ADDRESS, KEY]);
            let [told] = &told[..] else {
                panic!("{given}: {told:?}");
            };
            assert!(told.contains(meant), "{given}: {told}");
        }
        // Below such a path there can be a wiki, too.
        let twice = [
            "https://w/it/wiki",
            "https://w/it/wiki",
            "good",
            "keep",
            "1",
        ];
        let (set, told) = interviewed(&twice);
        assert_eq!(set.unwrap(), ["base_url = \"https://w/it/wiki\"", KEY]);
        assert_eq!(told.len(), 2, "{told:?}");
        for own in [
            "https://w",
            "https://w/base",
            "https://w/en",
            "https://w/en/",
        ] {
            let (_, told) = interviewed(&[own, "good", "keep", "1"][..]);
            assert!(!told.concat().contains("type "), "{own}: {told:?}");
        }
    }

    #[test]
    fn what_the_wiki_does_not_take_is_asked_for_again_or_kept() {
        let (set, told) = interviewed(&["https://x", "good", "again", "https://w", "1"]);
        assert_eq!(set.unwrap(), [ADDRESS, KEY]);
        assert_eq!(told, ["This does not work: it is wrong. Correct it."]);
        let (set, _) = interviewed(&["https://w", "bad", "", "good", "1"]);
        assert_eq!(set.unwrap(), [ADDRESS, KEY]);
        let (set, _) = interviewed(&["https://w", "bad", "keep", "1"]);
        assert_eq!(set.unwrap(), [ADDRESS, "api_token = \"bad\""]);
        let (set, _) = interviewed(&["https://w", "bad", "end"]);
        assert_eq!(set.unwrap_err(), "nothing was written");
    }

    #[test]
    fn who_answers_no_more_has_nothing_written() {
        for answers in [&[][..], &["https://w"], &["https://w", "good"]] {
            let told = interviewed(answers).0.unwrap_err();
            assert_eq!(told, "no answer; nothing was written");
        }
    }
}
