//! Uploads, renames or deletes an asset.

use crate::change::{Change, Operation, Warning};
use crate::error::{Code, Failure, Result};
use crate::gates::{ChangeSet, TurnOf};
use crate::index::Pattern;
use crate::page::{
    AssetOf, Attached, Blob, PagePath, PageState, check_asset, check_new_asset_path,
    check_new_place, escape_hidden, extension, mime_of,
};
use crate::wiki::{Wiki, WikiError, asset_state};
use crate::words::{and_more, separated};

use super::{Agreed, CREATES, ChangeSource, ComparedSet, Made, WriteCall, target};
use crate::write::faults::bad_argument;
use crate::write::{ConflictCheck, EntryBuilder};

/// The most pages that are named as using an asset.
const MOST_NAMED: usize = 20;

/// A write to an asset.
#[derive(Debug, Clone)]
pub struct AssetWrite {
    /// Its path.
    pub path: PagePath,
    /// The operation.
    pub what: ToAsset,
}

/// An operation on an asset.
#[derive(Debug, Clone)]
pub enum ToAsset {
    /// These bytes go to its path.
    Upload {
        /// The bytes; none in a call that only confirms what was shown.
        bytes: Option<Blob>,
        /// True if an existing asset may be written over; `None` in a call that only confirms.
        replace: Option<bool>,
        /// True if missing folders may be made; `None` in a call that only confirms.
        create_folders: Option<bool>,
    },
    /// Another name in the same folder.
    Rename {
        /// The name.
        name: String,
    },
    /// It goes.
    Delete,
}

impl AssetWrite {
    const fn operation(&self) -> Operation {
        match self.what {
            ToAsset::Upload { .. } => Operation::UploadAsset,
            ToAsset::Rename { .. } => Operation::RenameAsset,
            ToAsset::Delete => Operation::DeleteAsset,
        }
    }

    /// The state of an asset of which nothing but the path is known.
    fn named(&self, wiki: &Wiki) -> PageState {
        let locale = wiki.locale_of_assets().clone();
        asset_state(locale, self.path.clone(), AssetOf::default())
    }

    /// Checks what can be checked before the wiki is asked.
    fn check(&self) -> Result<()> {
        match &self.what {
            ToAsset::Upload { bytes, .. } => {
                check_new_asset_path(&self.path).map_err(|fault| invalid("path", &fault))?;
                let Some(bytes) = bytes else {
                    return Err(Failure::new(
                        Code::InvalidInput,
                        "Give the file: as base64, as text, or by its name as file.",
                    ));
                };
                check_asset(&self.path, bytes.as_bytes()).map_err(|fault| {
                    if bytes.size() > crate::page::MAX_ASSET_BYTES {
                        return Failure::new(Code::TooLarge, format!("The file {fault}."));
                    }
                    Failure::new(Code::InvalidInput, format!("The file {fault}.")).hint(
                        "Nothing was sent. Send the whole file, under the extension of its type.",
                    )
                })
            }
            ToAsset::Rename { name } => {
                let new = self.renamed(name);
                check_new_asset_path(&new).map_err(|fault| invalid("name", &fault))?;
                if name.contains('/') {
                    return Err(invalid("name", "must be a name in the same folder"));
                }
                if extension(&new) != extension(&self.path) {
                    return Err(invalid("name", "must keep the extension: Wiki.js does"));
                }
                Ok(())
            }
            ToAsset::Delete => Ok(()),
        }
    }

    fn renamed(&self, name: &str) -> PagePath {
        self.path.folder().holding(name)
    }

    async fn change(&self, call: WriteCall<'_>) -> Result<Change> {
        let wiki = call.wiki();
        let named = self.named(wiki);
        match &self.what {
            ToAsset::Upload {
                bytes,
                replace,
                create_folders,
            } => {
                let of = AssetOf {
                    mime: mime_of(&self.path).to_owned(),
                    bytes: bytes.clone().unwrap_or_default(),
                    makes: self.folders(create_folders.unwrap_or_default()),
                    ..AssetOf::default()
                };
                let new = asset_state(named.locale.clone(), self.path.clone(), of);
                match target::if_there(wiki, &named).await? {
                    Some(_) if !replace.unwrap_or_default() => Err(WikiError::AssetExists.into()),
                    Some(before) => {
                        let mut after = before.clone();
                        after.take(crate::page::Field::Content, &new);
                        after.updated_at = None;
                        Ok(Change::between(before, after))
                    }
                    None => {
                        check_new_place(&self.path).map_err(|fault| invalid("path", &fault))?;
                        target::at_its_page(wiki, Change::add(new)).await
                    }
                }
            }
            ToAsset::Rename { name } => {
                let before = target::as_now(wiki, &named, &[]).await?.page;
                let new = self.renamed(name);
                let after = PageState {
                    title: new.last_segment().to_owned(),
                    path: new,
                    updated_at: None,
                    ..before.clone()
                };
                target::at_its_page(wiki, Change::between(before, after)).await
            }
            ToAsset::Delete => {
                let before = target::as_now(wiki, &named, &[]).await?;
                Ok(Change::delete(before.page))
            }
        }
    }

    /// A warning with the pages that name the asset which is to go from its path, as far as the content
    /// index has them by now.
    async fn users(&self, call: WriteCall<'_>) -> Option<Warning> {
        let is_upload = matches!(self.what, ToAsset::Upload { .. });
        if is_upload || !call.index.is_on() {
            return None;
        }
        let pattern = Pattern::of_asset(&self.path).ok()?;
        let site = call.wiki().linked_site().await.ok()?;
        let sought = (self.path.clone(), pattern);
        let found = call.index.users_of(sought, site, MOST_NAMED);
        let found = found.await.ok().filter(|found| !found.hits.is_empty())?;
        let paths = { found.hits.iter() }.map(|hit| escape_hidden(hit.page.path.as_str()));
        let paths = separated(paths, ", ") + &and_more(found.left);
        let message = format!("pages name this asset and would show it no more: {paths}.");
        Some(Warning::new("asset_used", message))
    }

    /// Its folders, the outermost first, if they may be made.
    fn folders(&self, may_be_made: bool) -> Vec<String> {
        let folders = self.path.folders().filter(|_| may_be_made);
        folders.map(str::to_owned).collect()
    }
}

impl ChangeSource for AssetWrite {
    fn tell(&self, wiki: &Wiki, record: &mut EntryBuilder) {
        let locale = wiki.locale_of_assets();
        record.is_at(self.operation(), locale, &self.path);
    }

    async fn turn(&self, _: WriteCall<'_>) -> TurnOf {
        CREATES
    }

    /// Warns that the wiki may change a picture as it stores it.
    async fn said(&self, _: WriteCall<'_>, set: &ChangeSet) -> Vec<Warning> {
        let after = set.first().change.after();
        let is_svg = after.is_some_and(|after| extension(&after.path) == "svg");
        if !is_svg || !matches!(self.what, ToAsset::Upload { .. }) {
            return Vec::new();
        }
        vec![Warning::new(
            "svg_sanitised",
            "the wiki may take scripts and handlers out of an SVG as it stores it; then unverified names content, and undo goes by what was stored.",
        )]
    }

    async fn made(&self, call: WriteCall<'_>) -> Made {
        self.check()?;
        let set = ChangeSet::single(call.id, self.change(call).await?);
        let set = set.warned(self.users(call).await);
        Ok(ComparedSet::of(set, ConflictCheck::None))
    }

    async fn agrees(&self, _: WriteCall<'_>, shown: &ChangeSet) -> Agreed {
        let change = &shown.first().change;
        let after = change.after();
        let asset = match after.and_then(|after| after.thing.as_ref()) {
            Some(Attached::Asset(asset)) => Some(asset),
            _ => None,
        };
        let is_it = match &self.what {
            ToAsset::Upload {
                bytes,
                replace,
                create_folders,
            } => {
                let makes = asset.is_some_and(|asset| !asset.makes.is_empty());
                let is_same = |asset: &AssetOf| bytes.as_ref().is_none_or(|it| asset.bytes == *it);
                asset.is_some_and(is_same)
                    && (replace.unwrap_or(true) || change.before().is_none())
                    && (create_folders.unwrap_or(true) || !makes)
            }
            ToAsset::Rename { name } => {
                let new = self.renamed(name);
                after.is_some_and(|after| after.path == new)
            }
            ToAsset::Delete => after.is_none(),
        };
        Ok(is_it
            && !shown.is_list()
            && shown.proposal().is_none()
            && change.operation() == self.operation()
            && change.target().path == self.path)
    }
}

fn invalid(field: &str, fault: &str) -> Failure {
    bad_argument(field, format!("{field} {fault}."), fault)
}
