//! Who knows whom: each room knows only the rooms above it in ARCHITECTURE.md's list, and no two
//! files of a room know each other. All imports and paths of the sources are read for it.
#![expect(
    clippy::string_slice,
    reason = "at places that were just found in the text"
)]

use crate::house::promises::files_that_contain;
use crate::prelude::*;

/// The marks of what is compiled for tests alone: of the same crate, or of those above it, too.
const FOR_TESTS: [&str; 2] = ["#[cfg(test)]", "#[cfg(any(test, feature = \"testing\"))]"];

/// A module, by the names from the crate's root: `page`, `page::html`, `page::html::scan`.
type Module = Vec<String>;

/// The sources, without tests, comments and texts.
#[derive(Default)]
struct Sources {
    code: BTreeMap<Module, String>,
    /// The names that a module passes on, and where they come from.
    passed_on: BTreeMap<Module, Vec<(String, Module)>>,
}

impl Sources {
    fn read() -> Self {
        let mut sources = Self::default();
        for (path, source) in crate::house::sources::sources() {
            if let Some(module) = module_of(&path) {
                sources.code.insert(module, without_comments(&source));
            }
        }
        // Modules that are compiled for tests alone.
        let tests: Vec<Module> = sources
            .code
            .iter()
            .flat_map(|(module, code)| {
                let names = FOR_TESTS.iter().flat_map(|mark| code.split(mark).skip(1));
                let names = names.filter_map(module_begun);
                names.map(|name| child(module, name)).collect::<Vec<_>>()
            })
            .collect();
        sources
            .code
            .retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        for code in sources.code.values_mut() {
            *code = without_tests(code);
        }
        let imports: Vec<_> = sources
            .code
            .iter()
            .map(|(module, code)| (module.clone(), imports(code)))
            .collect();
        for (module, imports) in imports {
            let passed_on = imports
                .into_iter()
                .filter(|import| import.is_passed_on)
                .filter_map(|import| {
                    let path = sources.absolute(&module, &import.path)?;
                    Some((import.name, path))
                })
                .collect();
            sources.passed_on.insert(module, passed_on);
        }
        sources
    }

    /// A path from the crate's root; none for one that leads out of the crate.
    fn absolute(&self, from: &[String], path: &[String]) -> Option<Module> {
        let mut at = from.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            name if self.code.contains_key(&child(from, name)) => {}
            _ => return None,
        }
        at.extend_from_slice(rest);
        Some(at)
    }

    /// The module in which what a path names is written, through what is passed on.
    fn home(&self, path: &[String]) -> Module {
        let mut path = path.to_vec();
        for _ in 0..9 {
            let depth = (0..=path.len())
                .rev()
                .find(|depth| self.code.contains_key(&path[..*depth]))
                .unwrap_or_default();
            let (module, rest) = path.split_at(depth);
            let next = rest.first().and_then(|name| {
                let passed_on = self.passed_on.get(module)?;
                let (_, path) = passed_on.iter().find(|(own, _)| own == name)?;
                Some([path.as_slice(), &rest[1..]].concat())
            });
            match next {
                Some(next) if next != path => path = next,
                _ => return module.to_vec(),
            }
        }
        panic!("{path:?} is passed on in a circle");
    }

    /// Whom each module knows.
    fn known(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let known = |(module, code): (&Module, &String)| {
            let imports = imports(code).into_iter();
            let imports = imports
                .filter(|import| !import.is_passed_on)
                .map(|it| it.path);
            let homes = imports
                .chain(paths(code))
                .filter_map(|path| self.absolute(module, &path))
                .map(|path| self.home(&path))
                .filter(|home| home != module && !home.is_empty())
                .collect();
            (module.clone(), homes)
        };
        self.code.iter().map(known).collect()
    }
}

/// What a `use` brings in, under which name.
struct Import {
    path: Vec<String>,
    name: String,
    is_passed_on: bool,
}

fn child(module: &[String], name: &str) -> Module {
    [module, &[name.to_owned()]].concat()
}

/// The module of a source file; none for the roots of crates.
fn module_of(path: &str) -> Option<Module> {
    let path = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let names: Vec<&str> = path.split('/').collect();
    let names = match names.as_slice() {
        ["core" | "lib" | "main"] | ["write", "lib"] => return None,
        [above @ .., "mod"] => above,
        all => all,
    };
    Some(names.iter().map(|name| (*name).to_owned()).collect())
}

fn without_comments(source: &str) -> String {
    let lines = source.lines();
    lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The module that the text begins with, if it is a file of its own.
fn module_begun(text: &str) -> Option<&str> {
    let line = text.trim_start().lines().next()?;
    line.split_once("mod ")?.1.strip_suffix(';')
}

/// The code without what is for tests: a line that ends in `;`, or a block to its closing brace.
fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        if !FOR_TESTS.contains(&line.trim()) {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        let is_line = |line: &str| line.ends_with(';') || line.ends_with("{}");
        for line in lines.by_ref() {
            if line == end || is_line(line) && line.len() - line.trim_start().len() == indent {
                break;
            }
        }
    }
    kept
}

/// All that is imported.
fn imports(code: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for (begin, is_passed_on) in uses(code) {
        let tree: String = code[begin..].split(';').next().unwrap().to_owned();
        let tree: String = tree.split_whitespace().collect::<Vec<_>>().join(" ");
        leaves(&[], &tree, is_passed_on, &mut imports);
    }
    imports
}

/// Where the trees of all `use` begin, and whether they are passed on.
fn uses(code: &str) -> Vec<(usize, bool)> {
    code.match_indices("use ")
        .filter_map(|(at, word)| {
            let line = &code[code[..at].rfind('\n').map_or(0, |end| end + 1)..at];
            let before = line.trim();
            let is_use = before.is_empty() || before.starts_with("pub");
            is_use.then_some((at + word.len(), !before.is_empty()))
        })
        .collect()
}

fn leaves(before: &[String], tree: &str, is_passed_on: bool, imports: &mut Vec<Import>) {
    let tree = tree.trim();
    if tree.is_empty() {
        return;
    }
    if let Some((stem, rest)) = tree
        .split_once("::")
        .filter(|(stem, _)| !stem.contains('{'))
    {
        leaves(&child(before, stem.trim()), rest, is_passed_on, imports);
        return;
    }
    if let Some(inner) = tree.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        let mut depth = 0;
        let parts = inner.split(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        for part in parts.collect::<Vec<_>>() {
            leaves(before, part, is_passed_on, imports);
        }
        return;
    }
    let (name, alias) = tree.split_once(" as ").unwrap_or((tree, tree));
    let path = match name {
        "self" => before.to_vec(),
        name => child(before, name),
    };
    imports.push(Import {
        path,
        name: alias.to_owned(),
        is_passed_on,
    });
}

/// All paths in the code that begin in this crate, outside of `use`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut rest = code.to_owned();
    for (begin, _) in uses(code).into_iter().rev() {
        let end = code[begin..]
            .find(';')
            .map_or(code.len(), |end| begin + end);
        rest.replace_range(begin..end, "");
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    rest.split(|c| !is_name(c))
        .filter(|path| path.contains("::") && !path.starts_with("::"))
        .map(|path| path.split("::").map(str::to_owned).collect())
        .collect()
}

/// The rooms in the order of ARCHITECTURE.md's list.
fn rooms() -> Vec<String> {
    let text = include_str!("../../../ARCHITECTURE.md");
    let rows = text
        .lines()
        .skip_while(|line| *line != "| room | what it does |");
    rows.skip(2)
        .map_while(|row| row.strip_prefix('|')?.split('|').next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(|room| {
            room.trim_end_matches('/')
                .trim_end_matches(".rs")
                .to_owned()
        })
        .collect()
}

#[test]
fn each_room_knows_only_the_rooms_above_it() {
    let (rooms, sources) = (rooms(), Sources::read());
    let own: BTreeSet<&String> = sources.code.keys().map(|module| &module[0]).collect();
    assert_eq!(own, rooms.iter().collect(), "the rooms in ARCHITECTURE.md");
    let place = |module: &Module| rooms.iter().position(|room| *room == module[0]);
    let mut wrong = BTreeSet::new();
    for (module, known) in sources.known() {
        for other in known.iter().filter(|other| other[0] != module[0]) {
            let is_apart = module[0] == "demo" && other[0] != "fields";
            if is_apart || place(other) > place(&module) {
                wrong.insert(format!("{} knows {}", module.join("::"), other.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// So that a changed line compiles no room that cannot know it.
#[test]
fn each_crate_has_the_rooms_that_follow_those_of_the_crate_below_it() {
    let of_crate = |root: &str| {
        let lines = root.lines().map(|line| line.trim_end_matches(';'));
        let rooms = lines.filter_map(|line| line.strip_prefix("pub mod "));
        rooms.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let crates = [
        include_str!("../../../src/core.rs"),
        include_str!("../../../src/write/lib.rs"),
        include_str!("../../../src/lib.rs"),
    ];
    let mut rooms = rooms().into_iter();
    for root in crates.map(of_crate) {
        assert_eq!(
            rooms.by_ref().take(root.len()).collect::<BTreeSet<_>>(),
            root
        );
    }
    assert_eq!(rooms.next(), None);
}

#[test]
fn no_two_files_of_a_room_know_each_other() {
    let known = Sources::read().known();
    let mut circles = BTreeSet::new();
    for (module, others) in &known {
        // A file and those of the directory below it are one module, cut for its length.
        let are_one = |other: &Module| other.starts_with(module) || module.starts_with(other);
        let others = others.iter().filter(|other| !are_one(other));
        for other in others.filter(|other| *other > module) {
            if known.get(other).is_some_and(|back| back.contains(module)) {
                circles.insert((module.join("::"), other.join("::")));
            }
        }
    }
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn imports_are_read_with_all_their_braces_and_names() {
    let code =
        "use super::a::{self, b::{C as D, E}};\npub(crate) use f::G;\nlet x = crate::h::i(2);";
    let imports: Vec<_> = imports(code)
        .into_iter()
        .map(|it| format!("{} {} {}", it.path.join("."), it.name, it.is_passed_on))
        .collect();
    let expected = [
        "super.a self false",
        "super.a.b.C D false",
        "super.a.b.E E false",
        "f.G G true",
    ];
    assert_eq!(imports, expected);
    assert_eq!(paths(code), [["crate", "h", "i"]]);
}

/// Where a page's fields stand one by one: in each of these the compiler stops for a new one, or
/// something is known of single fields. All else goes through the list in `fields`.
const FIELD_BY_FIELD: &[&str] = &[
    // What a call may ask for.
    "change::edits",
    "tools::create_page",
    "tools::update_page",
    // Two fields that the demonstration shows.
    "cli::demo::story",
    // The demo wiki.
    "demo::graphql::mutation",
    "demo::graphql::objects",
    "demo::graphql::page",
    "demo::seed",
    "demo::store::history",
    "demo::store::page",
    "demo::store::update",
    "demo::views",
    "fields",
    // How a page lies in files.
    "files::text",
    // How an answer tells them.
    "tools::output",
    // What the wiki's layers have, and what is sent.
    "wiki::operations::mutate",
    "wiki::pages::editor_view",
    "wiki::pages::page",
    "wiki::pages::version",
    // Which new values a kept state may hold.
    "write::source::proposal::values",
];

#[test]
fn the_fields_of_a_page_are_spelled_out_only_where_each_is_thought_of() {
    let names = ["publish_start_date", "PublishStartDate", "publishStartDate"];
    let found: BTreeSet<String> = Sources::read()
        .code
        .iter()
        .filter(|(_, code)| names.iter().any(|name| code.contains(name)))
        .map(|(module, _)| module.join("::"))
        .collect();
    let told = FIELD_BY_FIELD.iter().map(|module| (*module).to_owned());
    assert_eq!(found, told.collect());
}

/// The program ends with the call of a command: one that answered while a set is being sent would
/// cut the set short.
#[test]
fn only_servers_answer_while_a_set_is_being_sent() {
    let mut answering = files_that_contain("Timeouts::default()");
    // Compiled for tests alone.
    answering.retain(|file| file != "src/server/reload/tests.rs");
    // `config check` sends nothing.
    // The page of `review` goes on when a request has ended.
    let expected = [
        "src/cli/config/check.rs",
        "src/cli/review.rs",
        "src/cli/serve.rs",
        "src/server/reload.rs",
        "src/write/testing.rs",
    ];
    assert_eq!(answering, expected);
}

/// A function of the code: its name, the number of its parameters, and the lines of its body.
fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let lines = vec_of(code.lines().filter(|line| !line.trim().is_empty()));
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut functions = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split([' ', '(', '<']).collect();
        let Some(name) = words.iter().position(|word| *word == "fn") else {
            continue;
        };
        let ends = |line: &&str| line.ends_with(['{', ';', '}']);
        let Some(head) = lines[at..].iter().position(ends) else {
            continue;
        };
        let body = lines[at + head + 1..].iter();
        let body = body
            .take_while(|below| indent(below) > indent(line))
            .count();
        let body = if lines[at + head].ends_with('{') {
            body
        } else {
            0
        };
        let head = lines[at..=at + head].concat();
        functions.push((words[name + 1].to_owned(), parameters(&head), body));
    }
    functions
}

/// The number of parameters in the head of a function.
fn parameters(head: &str) -> usize {
    let name_ends = head.find("fn ").unwrap();
    let (mut depth, mut angles, mut count, mut is_any) = (0, 0, 0, false);
    let mut before = ' ';
    for c in head[name_ends..].chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '<' => angles += 1,
            '>' if before != '-' => angles -= 1,
            ',' if depth == 1 && angles == 0 => (count, is_any) = (count + 1, false),
            c if depth == 1 && !c.is_whitespace() => is_any = true,
            _ => {}
        }
        before = c;
        if c == ')' && depth == 0 && angles == 0 {
            break;
        }
    }
    count + usize::from(is_any)
}

#[test]
fn parameters_and_lines_of_a_function_are_counted_as_they_are_written() {
    let code = "impl A {
    async fn b<T: Into<C>>(
        &self,
        (d, e): (F, G),
        h: impl Fn(I) -> J,
    ) -> K<L> {
        let m = 1;
        n(m, 2)
    }

    fn o();
}

const fn p(q: R<'_, S>, t: [U; 2]) -> V {}
";
    let told = |name: &str, parameters, lines| (name.to_owned(), parameters, lines);
    let expected = [told("b", 3, 2), told("o", 0, 0), told("p", 2, 0)];
    assert_eq!(functions(code), expected);
}

/// The way of a write is read from top to bottom: each function of it fits on a screen.
#[test]
fn a_function_of_a_write_has_at_most_fifty_lines_and_five_parameters() {
    let mut wrong = Vec::new();
    for (module, code) in Sources::read().code {
        if module[0] != "write" {
            continue;
        }
        for (name, parameters, lines) in functions(&code) {
            if parameters > 5 || lines > 50 {
                let module = module.join("::");
                wrong.push(format!(
                    "{module}::{name}: {parameters} parameters, {lines} lines"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
