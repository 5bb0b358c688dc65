//! How figures look: a table for people, JSON for programs.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::figure::{Budget, Figure};

const HEAD: [&str; 6] = ["what", "measured", "budget", "wiki itself", "ratio", ""];

/// What is not measured here, and where it is.
const ELSEWHERE: &str = "Not measured here: the first build (4 minutes), which takes an empty target directory; \
                         measure it by hand or in CI. A busy machine shows in the wiki's own figures.";

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

/// Puts the figures of one measurement in place of its last ones in `docs/figures.md`.
pub(crate) fn write(name: &str, figures: &[Figure]) {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/figures.md");
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (head, rest) = page.split_once(&open).expect("a place for it");
    let (_, tail) = rest.split_once(&close).expect("an end of its place");
    let mut table =
        "| what | measured | budget | wiki itself | ratio |\n|---|--:|--:|--:|--:|\n".to_owned();
    for figure in figures {
        let [what, measured, budget, wiki, ratio, _] = row(figure);
        writeln!(
            table,
            "| {what} | {measured} | {budget} | {wiki} | {ratio} |"
        )
        .expect("a string takes any text");
    }
    fs::write(PAGE, format!("{head}{open}{table}{close}{tail}")).expect("the page is written");
}

/// The same for programs.
pub(crate) fn json(figures: &[Figure]) -> Value {
    let figures: Vec<Value> = figures
        .iter()
        .map(|figure| {
            let (bound, budget) = match figure.budget {
                Budget::AtMost(most) => ("atMost", most),
                Budget::AtLeast(least) => ("atLeast", least),
            };
            json!({
                "what": figure.what,
                "unit": figure.unit.symbol(),
                "measured": figure.measured,
                bound: budget,
                "wikiItself": figure.wiki,
                "ratio": figure.ratio(),
                "isKept": figure.is_kept(),
            })
        })
        .collect();
    json!({ "figures": figures, "notMeasured": ["first build"] })
}

fn row(figure: &Figure) -> [String; 6] {
    let unit = figure.unit;
    let amount = |value: f64| format!("{} {}", unit.number(value), unit.symbol());
    let budget = match figure.budget {
        Budget::AtMost(most) => format!("<= {}", amount(most)),
        Budget::AtLeast(least) => format!(">= {}", amount(least)),
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
        if figure.is_kept() { "ok" } else { "MISSED" }.to_owned(),
    ]
}
