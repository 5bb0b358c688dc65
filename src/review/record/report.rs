//! The record in one file, without a server: the same rows, stories and findings as in the browser,
//! whole on paper.
//!
//! No text of the log or the wiki is markup: the templates escape it. The content security policy
//! allows only the file's own style and script, by their hashes, and no other source.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::super::markup::{counted, text};
use super::super::reply::STYLE;
use super::call::{self, AllChanged, RecordLinks};
use super::cells;
use super::chart::Chart;
use super::check::{self, LogCheck};
use super::list_page;
use crate::audit::{
    AuditError, AuditLog, AuditResult, CallFilter, CallGroup, CallHistory, CallStats,
    CallVisibility, FileHead, GroupSurvey, Groups, Latest,
};
use crate::words::separated;

const OWN_STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");
/// The most calls that are listed; older ones are only counted.
const MAX_CALLS: usize = 10_000;
/// The most rows that unfold; the others name the command that shows them.
const MAX_UNFOLDED: usize = 1_000;
/// The most bytes of changes that a report holds.
const MAX_CHANGES: usize = 1 << 20;
/// Up to how many rows are printed with all that they unfold.
const UNFOLDED_ON_PAPER: usize = 200;

/// The record and the calls that a report is made of.
pub struct ReportRequest<'a> {
    /// The record.
    pub log: &'a AuditLog,
    /// The filter that selects the calls.
    pub filter: &'a CallFilter,
    /// The same in words, without the time.
    pub selection: &'a [String],
    /// The address of a call's page in the wiki.
    pub page_url: &'a (dyn Fn(&CallHistory) -> Option<String> + Sync),
}

/// The contents of a report, in numbers.
#[derive(Debug, Clone, Copy)]
pub struct ReportCounts {
    /// The number of calls that are listed.
    pub calls: usize,
    /// The number of older calls, which are only counted.
    pub older: u64,
    /// The number of lines of the log that cannot be read.
    pub unreadable: u64,
}

/// The reason why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum NoReport {
    /// The record cannot be read.
    #[error(transparent)]
    Unread(#[from] AuditError),
    /// The file cannot be written.
    #[error(transparent)]
    Unwritten(#[from] io::Error),
}

/// A report whose record was read.
pub struct ReadReport<'a> {
    report: &'a ReportRequest<'a>,
    figures: CallStats,
    chart: Chart,
    check: LogCheck,
    heads: Vec<FileHead>,
    /// Its contents, in numbers.
    pub held: ReportCounts,
    groups: Vec<CallGroup>,
}

impl<'a> ReportRequest<'a> {
    /// Reads and checks the record; says how far it is. Blocks.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn read(
        &'a self,
        mut progress: impl FnMut(&dyn Fn() -> String),
    ) -> AuditResult<ReadReport<'a>> {
        let (mut figures, mut chart) = (CallStats::default(), Chart::default());
        let (mut survey, mut latest) = (GroupSurvey::default(), Latest::new(MAX_CALLS));
        let unreadable = self.log.calls.each(|call| {
            let is_taken = self.filter.takes(&call);
            survey.tell(&call, CallVisibility::Yes, is_taken);
            if is_taken {
                figures.count(&call);
                chart.count(&call);
                latest.add(call);
            }
            progress(&|| format!("{} calls read", figures.calls));
        })?;
        let check = check::find(self.log, |done, whole| {
            progress(&|| format!("{done} of {whole} files checked"));
        });
        let older = latest.older;
        let calls = latest.into_calls();
        Ok(ReadReport {
            report: self,
            figures,
            chart,
            check,
            heads: self.log.runs.heads()?,
            held: ReportCounts {
                calls: calls.len(),
                older,
                unreadable,
            },
            groups: Groups::collect(&survey, calls),
        })
    }

    /// A row that unfolds.
    fn row(&self, group: &CallGroup, changed: &AllChanged, unfolds: bool) -> Markup {
        let links = RecordLinks {
            served: None,
            wiki: self.page_url,
        };
        let Some(head) = group.head() else {
            return html! {};
        };
        let gate = head.gate().map_or("", |(gate, _)| gate);
        let time = head.records.first().map_or("", |record| &record.time);
        let words = |all: &mut dyn Iterator<Item = Option<&str>>| -> String {
            let own: BTreeSet<&str> = all.flatten().collect();
            separated(own.into_iter().map(text), "\n")
        };
        let whos = words(&mut group.all().map(|call| call.caller().who()));
        let tools = words(
            &mut group
                .all()
                .map(|call| call.latest(|record| record.tool.as_deref())),
        );
        html! {
            li.row data-call=(head.call) data-time=(text(time)) data-outcome=(head.ending.as_str())
                data-gate=(text(gate)) data-who=(whos) data-tool=(tools) {
                details {
                    summary.call { (cells::row(group)) }
                    div.story.whole {
                        @if unfolds { (call::group(group, changed, &links)) }
                        @else {
                            p.note {
                                "Only newer rows unfold on this page: "
                                code { "wikijs-gate audit show " (head.call) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Stands where the rows come. No text of a log is a comment in HTML.
const MARK: &str = "<!--rows-->";

impl ReadReport<'_> {
    /// Writes it, one row after the other. Blocks.
    ///
    /// # Errors
    /// If a kept page cannot be read or the report cannot be written.
    pub fn write(
        &self,
        out: &mut impl Write,
        mut progress: impl FnMut(&dyn Fn() -> String),
    ) -> Result<(), NoReport> {
        let page = self.page().into_string();
        let (begin, end) = page.split_once(MARK).unwrap_or((&page, ""));
        out.write_all(begin.as_bytes())?;
        let mut left = MAX_CHANGES;
        for (at, group) in self.groups.iter().enumerate() {
            progress(&|| format!("{at} of {} rows written", self.groups.len()));
            let calls = group.all().filter(|call| call.pages() == 1);
            let changed = call::read_changes(self.report.log, calls, &mut left)?;
            let row = self.report.row(group, &changed, at < MAX_UNFOLDED);
            out.write_all(row.into_string().as_bytes())?;
        }
        out.write_all(end.as_bytes())?;
        Ok(out.flush()?)
    }

    fn page(&self) -> Markup {
        let (style, script) = (format!("{STYLE}{OWN_STYLE}"), SCRIPT);
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
            hash(&style),
            hash(script)
        );
        let title = format!("Audit report: {}", text(self.report.log.wiki()));
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    title { (title) }
                    style { (PreEscaped(&style)) }
                }
                body {
                    a.skip href="#calls" { "Skip to the calls" }
                    main {
                        header.head {
                            h1 { "Audit report" }
                            button type="button" id="theme" hidden { "Theme: system" }
                            p #about { (self.about()) }
                        }
                        (list_page::summary(&self.figures))
                        (self.chart.drawing())
                        div.columns {
                            (bars("Refusals by gate", &self.figures.refusals_by_gate.by_count()))
                            (bars("Calls by client", &self.figures.calls_by_client.by_count()))
                        }
                        h2 { "Is it as it was written?" }
                        (self.check())
                        h2 #calls { "Calls" }
                        (filters())
                        p #count role="status" { (self.count()) }
                        @if self.groups.is_empty() { p.empty { "no calls" } }
                        @else {
                            ol.calls.rows.brief[self.groups.len() <= UNFOLDED_ON_PAPER] { (PreEscaped(MARK)) }
                        }
                        p.more hidden { button type="button" id="more" {} }
                        h2 { "Heads" }
                        p.quiet { "The last hash of every run when this report was made. A copy of this report shows later what was changed or cut off since." }
                        details.heads { summary { (counted(self.heads.len(), "run", "runs")) } (check::heads_table(&self.heads)) }
                    }
                    script { (PreEscaped(script)) }
                }
            }
        }
    }

    fn about(&self) -> String {
        let time = |time: OffsetDateTime| {
            let whole = time.format(&Rfc3339).unwrap_or_default();
            whole.get(..19).unwrap_or(&whole).replace('T', " ")
        };
        let CallFilter { since, until, .. } = self.report.filter;
        let period = match (since.map(time), until.map(time)) {
            (None, None) => "all that is on record".to_owned(),
            (Some(since), None) => format!("from {since}"),
            (None, Some(until)) => format!("from the beginning until {until}"),
            (Some(since), Some(until)) => format!("from {since} until {until}"),
        };
        let mut narrowed = vec![String::new()];
        narrowed.extend_from_slice(self.report.selection);
        let narrowed = narrowed.join(", ");
        let made = time(OffsetDateTime::now_utc());
        let wiki = self.report.log.wiki();
        text(&format!(
            "{wiki}, {period}{narrowed}. Made {made}; all times are UTC."
        ))
    }

    fn count(&self) -> String {
        let ReportCounts {
            calls,
            older,
            unreadable,
        } = self.held;
        let mut says = format!(
            "{} in {}",
            counted(calls, "call", "calls"),
            counted(self.groups.len(), "row", "rows")
        );
        if older > 0 {
            let older = counted(older, "older one that is", "older ones that are");
            let _ = write!(says, ", and {older} only counted");
        }
        if unreadable > 0 {
            // Writing to a string cannot fail.
            let lines = counted(unreadable, "line", "lines");
            let _ = write!(says, "; {lines} of the log could not be read");
        }
        says
    }

    fn check(&self) -> Markup {
        html! {
            @match &self.check {
                LogCheck::Done(finding) => (check::found(finding)),
                LogCheck::Failed(why) => p.news.bad { "The log could not be checked: " (text(why)) },
                LogCheck::None | LogCheck::Running { .. } => {},
            }
        }
    }
}

/// Counts with bars, the largest first.
fn bars(head: &str, rows: &[(&str, u64)]) -> Markup {
    const SHOWN: usize = 12;
    let most = rows
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(1)
        .max(1);
    html! {
        section.bars {
            h2 { (head) }
            @if rows.is_empty() { p.quiet { "none" } }
            ul {
                @for (word, count) in rows.iter().take(SHOWN) {
                    li {
                        bdi { (text(word)) } span.quiet { (count) }
                        svg viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true" {
                            rect width=(count.saturating_mul(100).div_ceil(most)) height="3" {}
                        }
                    }
                }
                @if rows.len() > SHOWN { li.quiet { "and " (rows.len() - SHOWN) " more" } }
            }
        }
    }
}

/// The filters that narrow the rows; the script shows and fills them.
fn filters() -> Markup {
    html! {
        form.filters id="filters" role="search" aria-label="Filter the calls" hidden {
            label { span { "Search" } input type="text" id="search" placeholder="page, call, reason" autocomplete="off" spellcheck="false"; }
            @for (id, label) in [("outcome", "Outcome"), ("gate", "Gate"), ("who", "Client or person"), ("tool", "Tool")] {
                label { span { (label) } select id=(id) { option value="" { "all" } } }
            }
            label { span { "Sorted by" }
                select id="sorted" {
                    option value="-time" { "newest first" } option value="time" { "oldest first" }
                    option value="page" { "page" } option value="who" { "person" } option value="outcome" { "outcome" }
                }
            }
            label { span { "From (UTC)" } input type="date" id="from"; }
            label { span { "To (UTC)" } input type="date" id="to"; }
            div.act { button type="reset" { "Clear" } }
        }
    }
}

fn hash(text: &str) -> String {
    format!(
        "sha256-{}",
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    )
}

#[cfg(test)]
mod tests {
    use super::{OWN_STYLE, SCRIPT, STYLE};

    #[test]
    fn nothing_of_a_report_comes_from_elsewhere_or_makes_markup_of_text() {
        for part in [OWN_STYLE, SCRIPT, STYLE] {
            for bad in [
                "http:",
                "https:",
                "//cdn",
                "url(",
                "innerHTML",
                "@import",
                "</",
            ] {
                assert!(!part.contains(bad), "{bad}");
            }
        }
    }
}
