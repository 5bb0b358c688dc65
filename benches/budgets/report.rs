//! How figures look: a table for people, JSON for programs.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::figure::{Budget, Figure};
use crate::missed;

const HEAD: [&str; 6] = ["what", "measured", "budget", "wiki itself", "ratio", ""];

/// Says what only a measurement by its name gives.
const ELSEWHERE: &str = "Measured by name alone, since they take minutes: build (`just build-times`), heavy and soak \
                         (`just heavy`). A busy machine shows in the wiki's own figures.";

/// A table: the first column to the left, numbers to the right.
pub(crate) fn table(figures: &[Figure]) -> String {
    let mut rows: Vec<[String; 6]> = vec![HEAD.map(str::to_owned)];
    rows.extend(figures.iter().map(row));
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let mut text = String::new();
    for [what, measured, budget, wiki, ratio, verdict] in &rows {
        writeln!(
            text,
            "{what:<a$}  {measured:>b$}  {budget:>c$}  {wiki:>d$}  {ratio:>e$}  {verdict}",
            a = width(0),
            b = width(1),
            c = width(2),
            d = width(3),
            e = width(4),
        )
        .expect("a string takes any text");
    }
    writeln!(text, "{ELSEWHERE}").expect("a string takes any text");
    text
}

/// Puts the figures of one measurement in place of its last ones in `docs/figures.md`. A figure that was not measured
/// this time stays as it was.
pub(crate) fn write(name: &str, figures: &[Figure]) {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/figures.md");
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let page = replaced(&page, name, |old| table_of_page(old, figures));
    let missed = list_of_missed(&page);
    let page = replaced(&page, "missed", |_| missed);
    fs::write(PAGE, page).expect("the page is written");
}

/// The page with another text between two markers, made of what is there.
fn replaced(page: &str, marker: &str, text: impl FnOnce(&str) -> String) -> String {
    let (open, close) = (
        format!("<!-- {marker} -->\n"),
        format!("<!-- /{marker} -->"),
    );
    let (head, rest) = page.split_once(&open).expect("a place for it");
    let (old, tail) = rest.split_once(&close).expect("an end of its place");
    format!("{head}{open}{}{close}{tail}", text(old))
}

fn table_of_page(old: &str, figures: &[Figure]) -> String {
    const HEAD: &str =
        "| what | measured | budget | wiki itself | ratio |\n|---|--:|--:|--:|--:|\n";
    let is_of = |line: &str, figure: &Figure| line.starts_with(&format!("| {} |", figure.what));
    let old: Vec<&str> = old.lines().skip(2).collect();
    let kept = old.iter().map(|line| {
        let now = figures.iter().find(|figure| is_of(line, figure));
        now.map_or_else(|| (*line).to_owned(), line_of_page)
    });
    let is_new = |figure: &&Figure| !old.iter().any(|line| is_of(line, figure));
    let new = figures.iter().filter(is_new).map(line_of_page);
    let lines: Vec<String> = kept.chain(new).collect();
    format!("{HEAD}{}\n", lines.join("\n"))
}

fn line_of_page(figure: &Figure) -> String {
    let [what, measured, budget, wiki, ratio, _] = row(figure);
    let missed = if figure.is_kept() { "" } else { MISSED };
    format!("| {what} | {measured} | {budget}{missed} | {wiki} | {ratio} |")
}

/// The mark of a budget that is missed.
const MISSED: &str = " *missed*";

/// A line for each missed budget of the page.
fn list_of_missed(page: &str) -> String {
    let missed = page
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains(MISSED));
    let names = missed.filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let lines: Vec<String> = names
        .map(|what| format!("- *missed*, {what}: {}.\n", why_missed(what)))
        .collect();
    if lines.is_empty() {
        "- none\n".to_owned()
    } else {
        lines.concat()
    }
}

fn why_missed(what: &str) -> &'static str {
    missed::reason(what).unwrap_or("nobody knows why yet")
}

/// The same for programs.
pub(crate) fn json(figures: &[Figure]) -> Value {
    let figures: Vec<Value> = figures
        .iter()
        .map(|figure| {
            let (bound, budget) = match figure.budget {
                Budget::AtMost(most) => ("atMost", Some(most)),
                Budget::AtLeast(least) => ("atLeast", Some(least)),
                Budget::NotSet => ("atMost", None),
            };
            json!({
                "what": figure.what,
                "unit": figure.unit.symbol(),
                "measured": figure.measured,
                bound: budget,
                "wikiItself": figure.wiki,
                "ratio": figure.ratio(),
                "isKept": figure.is_kept(),
                "whyMissed": (!figure.is_kept()).then(|| why_missed(figure.what)),
            })
        })
        .collect();
    json!({ "figures": figures })
}

fn row(figure: &Figure) -> [String; 6] {
    let unit = figure.unit;
    let amount = |value: f64| format!("{} {}", unit.number(value), unit.symbol());
    let budget = match figure.budget {
        Budget::AtMost(most) => format!("<= {}", amount(most)),
        Budget::AtLeast(least) => format!(">= {}", amount(least)),
        Budget::NotSet => "not set yet".to_owned(),
    };
    let verdict = match (figure.is_kept(), missed::reason(figure.what)) {
        (true, None) => "ok".to_owned(),
        (true, Some(_)) => "ok, though it is listed as missed".to_owned(),
        (false, _) => format!("MISSED: {}", why_missed(figure.what)),
    };
    [
        figure.what.to_owned(),
        amount(figure.measured),
        budget,
        figure.wiki.map(amount).unwrap_or_default(),
        figure
            .ratio()
            .map(|ratio| format!("{ratio:.2}"))
            .unwrap_or_default(),
        verdict,
    ]
}
