//! Checks the rights of the key at a page.

use serde::Serialize;

use super::finding::DoctorFinding;
use super::tools::{Can, ToolRights, with};
use crate::cli::prelude::*;
use crate::gates::{Policy, PolicyLevel};
use crate::page::{PagePath, PageReading};
use crate::tools::{ToolSelection, Toolset};
use crate::wiki::{ListQuery, PageRights, Right, Wiki, WikiError};

/// The number of recently changed pages that are searched for a published one: only writers of a
/// draft see their rights on it.
const LOOKED_AT: usize = 20;
/// The path of the page that a new wiki asks for first.
const HOME: &str = "home";

/// The rights of the key at a page, by tool.
#[derive(Debug, Serialize)]
pub(super) struct RightsReport {
    page: String,
    tools: Vec<ToolRights>,
}

impl RightsReport {
    /// The table for a person.
    pub(super) fn print(&self) {
        let mut table = Table::new("tool | can do | missing");
        for row in &self.tools {
            let paint = match row.can {
                Can::All => Paint::Green,
                Can::Part | Can::Unknown => Paint::Yellow,
                Can::Nothing => Paint::Red,
            };
            table.row(vec![
                format!("  {}", row.tool).into(),
                Cell::painted(row.can.word(), paint),
                row.missing.join("; ").into(),
            ]);
        }
        print::line("");
        table.print();
        print::line("");
    }
}

pub(super) async fn found(
    wiki: &Wiki,
    (policy, surface): (&Policy, &ToolSelection),
    reference: Option<&str>,
) -> (Vec<DoctorFinding>, Option<RightsReport>) {
    let failed = |failure: Failure| {
        (
            vec![DoctorFinding::wrong(failure.message, failure.hint.as_str())],
            None,
        )
    };
    let page = match page(wiki, policy, reference).await {
        Ok(Some(page)) => page,
        Ok(None) => {
            let found = found_without_page(wiki, policy, surface).await;
            return found.unwrap_or_else(|error| failed(error.into()));
        }
        Err(failure) if failure.code == Code::PageNotFound => {
            let wrong =
                DoctorFinding::wrong("the key sees no such page", "Name another page by --page.");
            return (vec![wrong], None);
        }
        Err(failure) => return failed(failure),
    };
    let rights = async {
        let rights = wiki.rights(&page).await?;
        if surface.has_any_of(Toolset::Assets) {
            return wiki.with_assets(rights).await;
        }
        Ok::<_, WikiError>(rights)
    };
    let rights = match rights.await {
        Ok(rights) => rights,
        Err(error) => return failed(error.into()),
    };
    let place = format!("{}:{}", page.locale, page.path);
    let found = findings(&rights, policy, &place);
    let seen = RightsReport {
        page: place,
        tools: with(&rights, surface),
    };
    (found, Some(seen))
}

/// Checks the rights where the key sees no page: at the place of a page to come, if the wiki tells
/// them there.
async fn found_without_page(
    wiki: &Wiki,
    policy: &Policy,
    surface: &ToolSelection,
) -> Result<(Vec<DoctorFinding>, Option<RightsReport>), WikiError> {
    let prefix = policy.allowed.iter().flatten().next();
    let locale = prefix.and_then(|prefix| prefix.locale.as_ref());
    let locale = locale.unwrap_or(&wiki.settings().default_locale);
    let path = prefix.map_or_else(|| PagePath::as_stored(HOME), |prefix| prefix.path.clone());
    let rights = wiki.rights_at(locale, &path).await?;
    if rights.has(Right::ReadPages).is_some() {
        let page = format!("{locale}:{path}");
        let found = findings(&rights, policy, &format!("{page}, where no page is yet"));
        let tools = with(&rights, surface);
        return Ok((found, Some(RightsReport { page, tools })));
    }
    let sees_none = wiki
        .list(&ListQuery::newest_first(), 1)
        .await?
        .pages
        .is_empty();
    let finding = if sees_none {
        DoctorFinding::warning(
            "not looked at, since the key sees no page at all: the wiki is empty, or the key's group may not read",
            "Make the wiki's first page in its own editor, or give the key's group read:pages; then run this again.",
        )
    } else {
        let below = prefix.map_or_else(String::new, |prefix| format!(" below {prefix}"));
        DoctorFinding::warning(
            format!(
                "not looked at, since the key sees no page{below}: whether it may read or write is not known"
            ),
            "Name a page that the wiki has by --page.",
        )
    };
    Ok((vec![finding], None))
}

fn findings(rights: &PageRights, policy: &Policy, place: &str) -> Vec<DoctorFinding> {
    let those = |state: Option<bool>| {
        let those = Right::ALL.into_iter();
        let those = those.filter(|right| rights.has(*right) == state);
        those.map(Right::name).collect::<Vec<_>>().join(", ")
    };
    let (had, unknown) = (those(Some(true)), those(None));
    let mut found = vec![DoctorFinding::good(format!("at {place}: {had}"))];
    if !unknown.is_empty() {
        found.push(DoctorFinding::warning(
            format!("could not be found out: {unknown}"),
            "Let GET requests for pages pass the gateway before the wiki, or name a published page by --page.",
        ));
    }
    let level = policy.writes.level();
    if level != PolicyLevel::Off && rights.has(Right::WritePages) == Some(false) {
        let what = if level == PolicyLevel::DryRun {
            "previews of writes"
        } else {
            "writes"
        };
        found.push(DoctorFinding::warning(
            format!("{what} are on, and the key may not write here"),
            "Give the key's group write:pages, or leave writes off.",
        ));
    }
    found
}

/// The page that was named, or the one changed last, below the first allowed prefix.
async fn page(
    wiki: &Wiki,
    policy: &Policy,
    reference: Option<&str>,
) -> Result<Option<PageReading>> {
    if let Some(reference) = reference {
        return Ok(Some(wiki.resolve(reference, None).await?.page));
    }
    let prefix = policy.allowed.iter().flatten().next();
    let query = ListQuery {
        path: prefix.map(|prefix| prefix.path.clone()),
        locale: prefix.and_then(|prefix| prefix.locale.clone()),
        ..ListQuery::newest_first()
    };
    let pages = wiki.list(&query, LOOKED_AT).await?.pages;
    let published = pages.iter().find(|page| page.is_published == Some(true));
    Ok(published.or(pages.first()).cloned())
}
