//! The sites of a settings file: `[sites.NAME]`, and `default_site`.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::tables::Fault;
use crate::site::SiteName;

/// The most sites of one file.
const MOST: usize = 50;

/// A site's name, its place, and its members.
type Site<'a, 'b> = (
    SiteName,
    Range<usize>,
    Vec<(&'a Spanned<Cow<'b, str>>, &'a Spanned<DeValue<'b>>)>,
);

/// Reads the sites of a settings file, the site to use if none is named, and all faults.
pub(super) fn read<'a, 'b>(
    table: &'a DeTable<'b>,
) -> (Vec<Site<'a, 'b>>, Option<SiteName>, Vec<Fault>) {
    let mut faults: Vec<Fault> = Vec::new();
    let mut sites: Vec<Site<'a, 'b>> = Vec::new();
    let of = |name: &str| table.iter().find(|(key, _)| key.get_ref() == name);
    if let Some((key, value)) = of("sites") {
        match value.get_ref().as_table() {
            None => faults.push((
                Some(key.span()),
                "sites must be tables such as [sites.docs]".to_owned(),
            )),
            Some(tables) if tables.len() > MOST => {
                faults.push((
                    Some(key.span()),
                    format!("there are more than {MOST} sites"),
                ));
            }
            Some(tables) => {
                for (key, value) in tables {
                    match (key.get_ref().parse(), value.get_ref().as_table()) {
                        (Ok(name), Some(members)) => {
                            sites.push((name, key.span(), members.iter().collect()));
                        }
                        (Err(fault), _) => faults.push((Some(key.span()), fault)),
                        (Ok(_), None) => faults.push((
                            Some(key.span()),
                            "a site must be a table such as [sites.docs]".to_owned(),
                        )),
                    }
                }
                sites.sort_by_key(|(_, span, _)| span.start);
            }
        }
    }
    let default = of("default_site").and_then(|(key, value)| {
        let found = value.get_ref().as_str().and_then(|text| {
            let named = sites.iter().find(|(name, ..)| name.as_str() == text);
            named.map(|(name, ..)| name.clone())
        });
        if found.is_none() {
            let fault = "default_site must be the name of one of the sites, in quotes";
            faults.push((Some(key.span()), fault.to_owned()));
        }
        found
    });
    (sites, default, faults)
}
