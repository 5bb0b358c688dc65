//! The pages of the sample wiki: the handbook of a team that runs a service.

use async_graphql::MaybeUndefined;
use time::{Duration, OffsetDateTime};

use super::store::{PageChange, PageRow, Store};
use crate::demo::{Access, clock, css};

/// The page with a style sheet, a script and dates.
const DRESSED: &str = "releases/2-4";
/// The page that is not published. (And `glossary` has the title of its path,
/// which a move changes too: W14.)
const DRAFT: &str = "drafts/archiving";

/// The one asset: a picture of one point.
const PLAN: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc`\0\x02\0\0\x05\0\x01z^\xab?\0\0\0\0IEND\xaeB`\x82";
/// The one comment, on the first page.
const COMMENT: &str = "Could this page say *who* is on call?";

/// The pages. Each file begins with place, title, description and tags, a line each, and an empty
/// line; its content follows.
const SAMPLES: [&str; 23] = [
    include_str!("seed/en/home.md"),
    include_str!("seed/en/docs.md"),
    include_str!("seed/en/linux.md"),
    include_str!("seed/en/docker.md"),
    include_str!("seed/en/configuration.md"),
    include_str!("seed/en/backup.md"),
    include_str!("seed/en/monitoring.md"),
    include_str!("seed/en/api.md"),
    include_str!("seed/en/on-call.md"),
    include_str!("seed/en/service-down.md"),
    include_str!("seed/en/database-down.md"),
    include_str!("seed/en/disk-full.md"),
    include_str!("seed/en/agreements.md"),
    include_str!("seed/en/onboarding.md"),
    include_str!("seed/en/planning.md"),
    include_str!("seed/en/retro.md"),
    include_str!("seed/en/release.md"),
    include_str!("seed/en/archive.md"),
    include_str!("seed/en/glossary.md"),
    include_str!("seed/de/home.md"),
    include_str!("seed/de/linux.md"),
    include_str!("seed/de/on-call.md"),
    include_str!("seed/de/glossary.md"),
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
        content: MaybeUndefined::Value(page.content.clone()),
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

fn page(sample: &str) -> PageRow {
    let mut lines = sample.splitn(5, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (locale, path) = next().split_once('/').unwrap_or_default();
    let page = PageRow {
        locale: locale.to_owned(),
        path: path.to_owned(),
        title: next().to_owned(),
        description: Some(next().to_owned()),
        tags: { next().split_terminator(", ") }
            .map(str::to_owned)
            .collect(),
        content: next().trim_start().to_owned(),
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
