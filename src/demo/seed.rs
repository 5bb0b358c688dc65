//! The pages of the sample wiki: the handbook of a team that runs a service.

use time::{Duration, OffsetDateTime};

use super::access::Access;
use super::store::{Field, PageChange, PageRow, Store};
use super::{clock, css};

/// One page as it stands in the source.
struct Sample {
    place: (&'static str, &'static str),
    title: &'static str,
    description: &'static str,
    tags: &'static [&'static str],
    content: &'static str,
}

macro_rules! sample {
    ($locale:literal, $path:literal, $title:literal, $description:literal, [$($tag:literal),*], $file:literal) => {
        Sample {
            place: ($locale, $path),
            title: $title,
            description: $description,
            tags: &[$($tag),*],
            content: include_str!($file),
        }
    };
}

/// The page with a style sheet, a script and dates.
const DRESSED: &str = "releases/2-4";
/// The page that is not published. (And `glossary` has the title of its path,
/// which a move changes too: W14.)
const DRAFT: &str = "drafts/archiving";

/// The one asset: a picture of one point.
const PLAN: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc`\0\x02\0\0\x05\0\x01z^\xab?\0\0\0\0IEND\xaeB`\x82";
/// The one comment, on the first page.
const COMMENT: &str = "Could this page say *who* is on call?";

const SAMPLES: &[Sample] = &[
    sample!(
        "en",
        "home",
        "Handbook",
        "Where everything begins",
        [],
        "seed/en/home.md"
    ),
    sample!(
        "en",
        "docs",
        "Documentation",
        "What the service is made of",
        ["docs"],
        "seed/en/docs.md"
    ),
    sample!(
        "en",
        "docs/install/linux",
        "Installing on Linux",
        "A machine of your own, step by step",
        ["docs", "install", "linux"],
        "seed/en/linux.md"
    ),
    sample!(
        "en",
        "docs/install/docker",
        "Installing with Docker",
        "The quickest way to a running service",
        ["docs", "install", "docker"],
        "seed/en/docker.md"
    ),
    sample!(
        "en",
        "docs/configuration",
        "Configuration",
        "All settings and their defaults",
        ["docs", "reference"],
        "seed/en/configuration.md"
    ),
    sample!(
        "en",
        "docs/operations/backup",
        "Backup and restore",
        "What is kept, and how to get it back",
        ["docs", "operations", "postgres"],
        "seed/en/backup.md"
    ),
    sample!(
        "en",
        "docs/operations/monitoring",
        "Monitoring",
        "What is watched, and what a warning means",
        ["docs", "operations"],
        "seed/en/monitoring.md"
    ),
    sample!(
        "en",
        "docs/api/overview",
        "HTTP interface",
        "Paths, keys and errors",
        ["docs", "api", "reference"],
        "seed/en/api.md"
    ),
    sample!(
        "en",
        "runbooks/on-call",
        "On call",
        "A week of being the one who gets up",
        ["runbook"],
        "seed/en/on-call.md"
    ),
    sample!(
        "en",
        "runbooks/service-down",
        "Service does not answer",
        "Runbook for ledger_down",
        ["runbook", "operations"],
        "seed/en/service-down.md"
    ),
    sample!(
        "en",
        "runbooks/database-down",
        "Database is down",
        "Runbook for db_down",
        ["runbook", "operations", "postgres"],
        "seed/en/database-down.md"
    ),
    sample!(
        "en",
        "runbooks/disk-full",
        "Disk is full",
        "Runbook for disk_80",
        ["runbook", "operations"],
        "seed/en/disk-full.md"
    ),
    sample!(
        "en",
        "team/working-agreements",
        "Working agreements",
        "How we work together",
        ["team"],
        "seed/en/agreements.md"
    ),
    sample!(
        "en",
        "team/onboarding",
        "First week",
        "A list to tick off",
        ["team"],
        "seed/en/onboarding.md"
    ),
    sample!(
        "en",
        "team/meetings/planning",
        "Planning",
        "What was decided, and what is open",
        ["team", "meeting"],
        "seed/en/planning.md"
    ),
    sample!(
        "en",
        "team/meetings/review",
        "Review of the quarter",
        "What went well and what did not",
        ["team", "meeting"],
        "seed/en/retro.md"
    ),
    sample!(
        "en",
        "releases/2-4",
        "Release 2.4",
        "What is new and what to do first",
        ["release"],
        "seed/en/release.md"
    ),
    sample!(
        "en",
        "drafts/archiving",
        "Archiving old entries",
        "An idea, not yet agreed upon",
        ["draft"],
        "seed/en/archive.md"
    ),
    sample!(
        "en",
        "glossary",
        "glossary",
        "Words and what they mean here",
        ["reference"],
        "seed/en/glossary.md"
    ),
    sample!(
        "de",
        "home",
        "Handbuch",
        "Wo alles anfängt",
        [],
        "seed/de/home.md"
    ),
    sample!(
        "de",
        "docs/install/linux",
        "Installation unter Linux",
        "Eine eigene Maschine, Schritt für Schritt",
        ["docs", "install", "linux"],
        "seed/de/linux.md"
    ),
    sample!(
        "de",
        "runbooks/on-call",
        "Bereitschaft",
        "Eine Woche lang diejenige Person sein, die aufsteht",
        ["runbook"],
        "seed/de/on-call.md"
    ),
    sample!(
        "de",
        "glossary",
        "Glossar",
        "Wörter und was sie hier bedeuten",
        ["reference"],
        "seed/de/glossary.md"
    ),
];

/// The page with a history, and where its first version ended.
const EDITED: (&str, &str) = ("docs/configuration", "## Changing a setting");

/// Puts the sample pages into a store, as if one had been written every third day.
pub(super) fn plant(store: &mut Store) {
    let mut written = OffsetDateTime::now_utc() - Duration::days(90);
    for sample in SAMPLES {
        let page = PageRow {
            created_at: clock::iso(written),
            ..page(sample)
        };
        written += Duration::days(3);
        if page.path == EDITED.0 {
            plant_edited(store, page);
        } else {
            store.add(page);
        }
    }
    store.add_comment(1, "Mara", COMMENT);
    store.add_asset("docs/plan.png", "image/png", PLAN);
    store.settle();
}

/// Puts in the first half of a page, then writes the whole of it.
fn plant_edited(store: &mut Store, page: PageRow) {
    let first = page.content.split(EDITED.1).next().unwrap_or_default();
    let whole = PageChange {
        content: Field::Given(page.content.clone()),
        is_published: true,
        ..PageChange::default()
    };
    let id = store.add(PageRow {
        content: first.to_owned(),
        ..page
    });
    // With full access and such a page nothing can be refused.
    let _kept = store.begin_update(id, &whole, "updated", &Access::full());
    let _written = store.update_fields(id, &whole, &Access::full());
}

fn page(sample: &Sample) -> PageRow {
    let (locale, path) = sample.place;
    let page = PageRow {
        locale: locale.to_owned(),
        path: path.to_owned(),
        title: sample.title.to_owned(),
        description: Some(sample.description.to_owned()),
        content: sample.content.to_owned(),
        tags: sample.tags.iter().map(|tag| (*tag).to_owned()).collect(),
        is_published: path != DRAFT,
        ..PageRow::default()
    };
    if path != DRESSED {
        return page;
    }
    PageRow {
        publish_start_date: "2026-03-01T00:00:00.000Z".to_owned(),
        publish_end_date: "2026-12-31T23:59:59.000Z".to_owned(),
        script_css: css::stored(include_str!("seed/en/release.css")),
        script_js: include_str!("seed/en/release.js").to_owned(),
        ..page
    }
}
