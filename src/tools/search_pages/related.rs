//! Pages related to one: by links, by tags, by words that few other pages have.

use std::collections::HashMap;

use std::sync::Arc;

use super::by_meaning::near_page;
use super::scope::{SearchScope, listed};
use super::{Indexed, LocalePath, Output, SearchHit, Sought, permille};
use crate::error::Result;
use crate::page::{Locale, PagePath, PageReading};
use crate::tools::context::ToolContext;
use crate::tools::output::some_count;
use crate::wiki::AllPages;

/// The weight of a link in either direction; a word or tag weighs at most 1.
const LINK: f64 = 3.0;
/// The weight of the page that is nearest in meaning; that of the others falls with their rank.
const NEAREST: f64 = 2.0;
/// The most pages that count as near.
const MOST_NEAR: usize = 20;
/// The most tags or words that a reason names.
const MAX_NAMED: usize = 8;

#[derive(Default)]
struct Kinship {
    score: f64,
    reasons: Vec<String>,
}

type Kin = HashMap<LocalePath, Kinship>;

fn add(kin: &mut Kin, place: LocalePath, score: f64, reason: String) {
    let kinship = kin.entry(place).or_default();
    kinship.score += score;
    kinship.reasons.push(reason);
}

pub(super) async fn related(
    context: &ToolContext,
    id: i64,
    scope: SearchScope,
    limit: usize,
) -> Result<Output> {
    let scope = Arc::new(scope);
    let page = listed(&scope.listed, id)?;
    let mut kin = Kin::new();
    let (wiki, locale) = (&context.wiki, &page.locale);
    let links = wiki
        .links_within(&[locale].into(), locale, &page.path)
        .await?;
    for linking in links.to {
        let place = (page.locale.clone(), linking.path);
        add(&mut kin, place, LINK, "links to it".to_owned());
    }
    for target in links.from {
        let Some((locale, path)) = target.split_once('/') else {
            continue;
        };
        let place = (Locale::as_stored(locale), PagePath::as_stored(path));
        add(&mut kin, place, LINK, "is linked from it".to_owned());
    }
    by_tags(page, &scope.listed, &mut kin);
    let index = by_words(context, id, &scope, &mut kin).await;
    let meaning = match &index {
        Some(_) => by_meaning(context, id, &scope, &mut kin).await,
        None => None,
    };
    let mut found: Vec<(&PageReading, Kinship)> = scope
        .listed
        .iter()
        .filter(|other| other.id != Some(id) && scope.holds(&other.locale, &other.path))
        .filter_map(|other| {
            let kinship = kin.remove(&(other.locale.clone(), other.path.clone()))?;
            Some((other, kinship))
        })
        .collect();
    let elsewhere = if scope.is_fallback() {
        let related = |(locale, path): &&LocalePath| scope.holds_elsewhere(locale, path);
        kin.keys().filter(related).count()
    } else {
        0
    };
    // Ties keep the list's order, last changed first.
    found.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
    found.truncate(limit);
    let best = found.first().map_or(1.0, |(_, kinship)| kinship.score);
    let provisional = index.as_ref().and_then(Indexed::provisional);
    let permille_of = |kinship: &Kinship| match provisional {
        Some(_) => None,
        None => Some(permille(kinship.score, best)),
    };
    let hits = found
        .into_iter()
        .map(|(other, kinship)| SearchHit {
            score: permille_of(&kinship),
            provisional: provisional.clone(),
            reasons: kinship.reasons,
            ..SearchHit::of_page(other)
        })
        .collect();
    let in_content = index.is_some().then_some(super::CONTENT);
    Ok(Output {
        hits,
        searched_in: [super::WIKI].into_iter().chain(in_content).collect(),
        meaning,
        other_locales: some_count(elsewhere),
        index: index.and_then(Indexed::if_lacking),
        ..Output::default()
    })
}

/// The more pages have a tag, the less it weighs.
fn by_tags(page: &PageReading, listed: &AllPages, kin: &mut Kin) {
    let own = page.tags.as_deref().unwrap_or_default();
    let mut uses: HashMap<&str, f64> = HashMap::new();
    let tags_of = |page: &PageReading| -> Vec<String> {
        let tags = page.tags.as_deref().unwrap_or_default();
        tags.iter()
            .filter(|tag| own.contains(tag))
            .cloned()
            .collect()
    };
    for tag in listed.iter().flat_map(|page| page.tags.iter().flatten()) {
        *uses.entry(tag.as_str()).or_default() += 1.0;
    }
    for other in listed.iter() {
        let shared = tags_of(other);
        if !shared.is_empty() {
            let worth = shared.iter().filter_map(|tag| uses.get(tag.as_str()));
            let worth: f64 = worth.map(|uses| 1.0 / uses.max(2.0).log2()).sum();
            let place = (other.locale.clone(), other.path.clone());
            add(kin, place, worth, named("shares tags", &shared));
        }
    }
}

/// Without an index, the other reasons still count.
async fn by_words(
    context: &ToolContext,
    id: i64,
    scope: &Arc<SearchScope>,
    kin: &mut Kin,
) -> Option<Indexed> {
    if !context.index.is_on() {
        return None;
    }
    let covered = context.indexed().await.ok()?;
    for alike in context.index.alike(id, scope.filter(), 100).await.ok()? {
        let reason = named("has rare words in common", &alike.words);
        add(
            kin,
            (alike.page.locale, alike.page.path),
            alike.score,
            reason,
        );
    }
    Some(Indexed::new(covered, Sought::Related))
}

/// The nearest pages, each by its rank; returns a note if some or all lack.
async fn by_meaning(
    context: &ToolContext,
    id: i64,
    scope: &Arc<SearchScope>,
    kin: &mut Kin,
) -> Option<String> {
    let (near, note) = near_page(context, id, scope, MOST_NEAR).await;
    for (rank, near) in (0_u32..).zip(near.pages) {
        let worth = NEAREST / (1.0 + f64::from(rank) / 5.0);
        let place = (near.page.locale, near.page.path);
        add(kin, place, worth, "is near in meaning".to_owned());
    }
    note
}

fn named(reason: &str, names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
    format!("{reason}: {}", shown.join(", "))
}
