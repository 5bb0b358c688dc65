//! Checks all of the record, when somebody asks for it, one check at a time; renders the result, and
//! the heads to keep elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use maud::{Markup, html};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::watch;

use super::super::markup::{self, Frame, counted, text};
use crate::audit::{Against, AuditLog, FileHead, LogVerification};

/// The most faults, runs and heads that a page shows.
const SHOWN: usize = 200;

/// The state of a check.
#[derive(Debug, Clone, Default)]
pub(crate) enum LogCheck {
    /// None was asked for yet.
    #[default]
    None,
    /// It is under way.
    Running {
        /// The number of files checked.
        done: usize,
        /// Of how many.
        whole: usize,
    },
    /// It is done.
    Done(Arc<LogCheckResult>),
    /// The log could not be read.
    Failed(String),
}

/// The result of a check.
#[derive(Debug)]
pub(crate) struct LogCheckResult {
    /// The parts that hold, and the faults.
    pub(crate) checked: LogVerification,
    /// Sentences about facts that the given evidence cannot prove.
    pub(crate) unproven: Vec<String>,
    /// The time at which it was done.
    pub(crate) at: OffsetDateTime,
    /// Its duration.
    pub(crate) took: Duration,
}

/// The last check, or the one under way; shared by all who ask.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checks(watch::Sender<LogCheck>);

impl Checks {
    /// The state of the check.
    pub(crate) fn now(&self) -> LogCheck {
        self.0.borrow().clone()
    }

    /// Waits until no check is under way, or for this long.
    pub(crate) async fn ended(&self, within: Duration) {
        let mut state = self.0.subscribe();
        let ended = state.wait_for(|now| !matches!(now, LogCheck::Running { .. }));
        // Whoever waited is shown how far it is.
        drop(tokio::time::timeout(within, ended).await);
    }

    /// Begins a check, unless one is under way.
    pub(crate) fn begin(&self, log: &AuditLog) {
        let begins = self.0.send_if_modified(|now| {
            let begins = !matches!(now, LogCheck::Running { .. });
            if begins {
                *now = LogCheck::Running { done: 0, whole: 0 };
            }
            begins
        });
        if !begins {
            return;
        }
        let (own, log) = (self.clone(), log.clone());
        // It goes on though whoever asked hangs up.
        let work = tokio::task::spawn_blocking(move || {
            let found = find(&log, |done, whole| {
                own.0.send_replace(LogCheck::Running { done, whole });
            });
            own.0.send_replace(found);
        });
        let own = self.clone();
        tokio::spawn(async move {
            if work.await.is_err() {
                own.0
                    .send_replace(LogCheck::Failed("the check broke off".to_owned()));
            }
        });
    }
}

/// Checks all of the record. Blocks.
pub(crate) fn find(log: &AuditLog, progress: impl FnMut(usize, usize)) -> LogCheck {
    let (begun, against) = (Instant::now(), Against::default());
    match log.upkeep.verify(&against, progress) {
        Err(error) => LogCheck::Failed(format!("{error}; {}", error.hint())),
        Ok(checked) => LogCheck::Done(Arc::new(LogCheckResult {
            unproven: checked.unproven(&against),
            checked,
            at: OffsetDateTime::now_utc(),
            took: begun.elapsed(),
        })),
    }
}

/// The page.
pub(super) fn page(
    check: &LogCheck,
    heads: &[FileHead],
    form_token: &str,
    mut frame: Frame,
) -> Markup {
    let is_running = matches!(check, LogCheck::Running { .. });
    let links = frame.links();
    let body = html! {
        main #main.record {
            p.back { a href=(links.to("/review/record")) { "← Record" } }
            h1 { "Is the record as it was written?" }
            p.by {
                "Every record is chained to the one before it. A check follows all chains, opens every kept page, "
                "and holds each run against what later runs saw of it."
            }
            (state(check))
            form method="post" action=(links.to("/review/record/check")) {
                input type="hidden" name="form_token" value=(form_token);
                @if !is_running {
                    button.primary type="submit" {
                        @if matches!(check, LogCheck::None) { "Check it" } @else { "Check it again" }
                    }
                }
            }
            h2 { "Heads" }
            p {
                "Keep these where nobody with write access to the log can change them: "
                code { "wikijs-gate audit verify --head heads.txt" }
                " then shows whether anything before them was changed or cut off. "
                a href=(links.to("/review/record/heads.txt")) download="heads.txt" { "Save heads.txt" }
            }
            (heads_table(heads))
        }
    };
    frame.again_in = is_running.then_some(1);
    markup::page("Check", &frame, &body)
}

fn state(check: &LogCheck) -> Markup {
    html! {
        @match check {
            LogCheck::None => {},
            LogCheck::Running { done, whole } => {
                div.news role="status" {
                    label for="checking" { "Being checked: " (done) " of " (whole) " files" }
                    " " progress #checking value=(done) max=(*whole.max(&1)) {}
                }
            },
            LogCheck::Failed(why) => p.news.bad role="alert" { "The log could not be read: " (text(why)) },
            LogCheck::Done(finding) => (found(finding)),
        }
    }
}

/// The result of a check.
pub(super) fn found(finding: &LogCheckResult) -> Markup {
    let LogCheckResult {
        checked, unproven, ..
    } = finding;
    let at = finding.at.format(&Rfc3339).unwrap_or_default();
    let second = at.get(..19).unwrap_or_default().replace('T', " ");
    let open = checked
        .runs
        .iter()
        .filter_map(|run| Some((run.file.as_str(), run.open_end()?)));
    let open: Vec<_> = open.collect();
    html! {
        section.finding aria-label="What the check found" {
            @if checked.runs.is_empty() && checked.wrong.is_empty() {
                p.news.doubt { b { "Nothing is on record yet." } }
            } @else if checked.wrong.is_empty() {
                p.news.good { b { "All of it holds." } " " (time_of(&second, finding)) }
            } @else {
                p.news.bad role="alert" {
                    b { (counted(checked.wrong.len(), "thing is", "things are")) " wrong." }
                    " " (time_of(&second, finding))
                }
                ul.faults {
                    @for wrong in checked.wrong.iter().take(SHOWN) { li { (text(&wrong.to_string())) } }
                    @if checked.wrong.len() > SHOWN { li { "and " (checked.wrong.len() - SHOWN) " more" } }
                }
            }
            p.quiet {
                (counted(checked.runs.len(), "run", "runs")) ", " (checked.records()) " records, "
                (checked.pages) " kept pages, " (checked.proposals) " proposals, " (checked.purged) " files purged"
            }
            @for says in unproven { p.warning { b { "Not proven: " } (text(says)) } }
            @for back in checked.clock.iter().take(20) {
                p.warning {
                    b { "Clock: " } (text(&back.run)) ", line " (back.line) ": it had been set back from "
                    (text(&back.before)) " to " (text(&back.time))
                }
            }
            @if !open.is_empty() {
                details {
                    summary { (counted(open.len(), "run has", "runs have")) " an open end" }
                    ul { @for (file, says) in open.iter().take(SHOWN) { li { code { (text(file)) } " " (says) } } }
                }
            }
        }
    }
}

fn time_of(second: &str, finding: &LogCheckResult) -> Markup {
    html! {
        span.quiet {
            "Checked " (second) " UTC, in " (finding.took.as_millis()) " ms"
        }
    }
}

/// The heads of all runs.
pub(super) fn heads_table(heads: &[FileHead]) -> Markup {
    html! {
        @if heads.is_empty() { p.quiet { "There is no run yet." } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="heads" {
                table.records.heads {
                    thead { tr { th { "Run" } th { "Bytes" } th { "Hash of the last line" } } }
                    tbody {
                        @for head in heads.iter().rev().take(SHOWN) {
                            tr {
                                td { (text(&head.file)) }
                                td { (head.length) }
                                td { @if let Some(hash) = head.hash { (hash) } @else { "-" } }
                            }
                        }
                    }
                }
            }
            @if heads.len() > SHOWN { p.quiet { "and " (heads.len() - SHOWN) " older ones" } }
        }
    }
}
