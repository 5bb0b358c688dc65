//! The files that all pages share, compiled in.

use super::reply::{BrowserResponse, asset};

pub(super) const STYLE: &str = include_str!("assets/review.css");
const ICON: &str = include_str!("assets/icon.svg");
const SCRIPT: &str = include_str!("assets/review.js");

/// A file by its name.
pub(super) fn of_name(name: &str) -> Option<BrowserResponse> {
    match name {
        "review.css" => Some(asset("text/css; charset=utf-8", STYLE)),
        "icon.svg" => Some(asset("image/svg+xml", ICON)),
        "review.js" => Some(asset("text/javascript; charset=utf-8", SCRIPT)),
        _ => None,
    }
}
