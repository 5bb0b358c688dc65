//! Prints the findings of the checks: line by line for people, at the end for programs.

use serde::Serialize;

use super::finding::{DoctorFinding, FindingLevel};
use super::rights::RightsReport;
use crate::cli::prelude::*;
use crate::cli::print::counted;
use crate::cli::table::at_words;

/// A finding and the check that it is of.
#[derive(Debug, Serialize)]
struct ReportLine {
    check: &'static str,
    #[serde(flatten)]
    finding: DoctorFinding,
}

/// All that was found.
#[derive(Debug)]
pub(super) struct DoctorReport {
    lines: Vec<ReportLine>,
    /// The rights of the key, if known.
    pub(super) rights: Option<RightsReport>,
    is_json: bool,
}

impl DoctorReport {
    pub(super) const fn new(is_json: bool) -> Self {
        Self {
            lines: Vec::new(),
            rights: None,
            is_json,
        }
    }

    /// Adds what a check found, and shows it to a person at once.
    pub(super) fn add(
        &mut self,
        check: &'static str,
        findings: impl IntoIterator<Item = DoctorFinding>,
    ) {
        for finding in findings {
            if !self.is_json {
                show(check, &finding);
            }
            self.lines.push(ReportLine { check, finding });
        }
    }

    /// Shows a person the table of tools.
    pub(super) fn show_rights(&self) {
        if let Some(seen) = self.rights.as_ref().filter(|_| !self.is_json) {
            seen.print();
        }
    }

    /// Ends the report.
    pub(super) fn print(&self) {
        let (wrong, warnings) = (
            self.count(FindingLevel::Wrong),
            self.count(FindingLevel::Warning),
        );
        if self.is_json {
            print::value(&json!({
                "wrong": wrong,
                "warnings": warnings,
                "checks": self.lines,
                "rights": self.rights,
            }));
            return;
        }
        print::line("");
        let warned = counted(warnings, "warning", "warnings");
        print::line(&match (wrong, warnings) {
            (0, 0) => "All is well.".to_owned(),
            (0, _) => format!("{warned}."),
            (wrong, 0) => format!("{wrong} wrong."),
            (wrong, _) => format!("{wrong} wrong, {warned}."),
        });
    }

    pub(super) fn exit(&self) -> Exit {
        match self.lines.iter().map(|line| line.finding.verdict).max() {
            Some(FindingLevel::Wrong) => Exit::Wrong,
            Some(FindingLevel::Warning) => Exit::Warned,
            Some(FindingLevel::Good | FindingLevel::Skipped) | None => Exit::Done,
        }
    }

    fn count(&self, verdict: FindingLevel) -> usize {
        let lines = self.lines.iter();
        lines.filter(|line| line.finding.verdict == verdict).count()
    }
}

fn show(check: &str, finding: &DoctorFinding) {
    let (word, paint) = match finding.verdict {
        FindingLevel::Good => ("good", Paint::Green),
        FindingLevel::Skipped => ("skipped", Paint::Dim),
        FindingLevel::Warning => ("warning", Paint::Yellow),
        FindingLevel::Wrong => ("wrong", Paint::Red),
    };
    let word = print::painted(&format!("{word:<8}"), paint);
    let told = broken(&finding.seen, 0);
    say!("{check:<9} {word} {}", told.join(&below(0)));
    if let Some(todo) = &finding.todo {
        let told = broken(todo, ARROW.len());
        let indent = " ".repeat(INDENT);
        say!("{indent}{ARROW}{}", told.join(&below(ARROW.len())));
    }
}

/// The mark before what to do.
const ARROW: &str = "-> ";

/// A line end, and the indent of a finding's next line.
fn below(more: usize) -> String {
    format!("\n{}", " ".repeat(INDENT + more))
}

/// The column at which a finding's text begins in its line.
const INDENT: usize = 19;

/// A text broken into lines that fit after the indent and `more` columns.
fn broken(text: &str, more: usize) -> Vec<String> {
    let room = print::width().map_or(usize::MAX, |width| {
        width.saturating_sub(INDENT + more).max(1)
    });
    at_words(&print::harmless(text), room)
}
