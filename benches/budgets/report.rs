//! How figures look: a table for people, JSON for programs.

use std::fmt::Write as _;

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
        Budget::AtMost(most) => format!("<= {most} {}", unit.symbol()),
        Budget::AtLeast(least) => format!(">= {least} {}", unit.symbol()),
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
