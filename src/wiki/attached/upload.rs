//! Sending a file, once, and making the folders that it needs.

use serde::Deserialize;

use super::super::client::{Wiki, below, encode};
use super::super::error::{WikiError, WikiResult};
use super::super::operations::generated::{AssetFolderCreate, asset_folder_create};
use super::super::transport::classify::{RawAnswer, read_mutation, refusal};
use crate::change::Change;
use crate::page::{AssetOf, Attached, MAX_ASSET_BYTES, PagePath, PageState};
use graphql_client::GraphQLQuery as _;

/// The name of both parts of the form (W37).
const PART: &str = "mediaUpload";
/// The wiki's answer to a form, also where it stored nothing (W37).
const DONE: &[u8] = b"ok";

/// The wiki's own refusal of a form.
#[derive(Deserialize)]
struct UploadRefusal {
    succeeded: bool,
}

impl Wiki {
    /// Checks that the bytes of a change are within what the wiki takes (W37).
    pub(in crate::wiki) fn check_upload(change: &Change) -> WikiResult<()> {
        match asset_of(change.after()) {
            Ok((_, asset)) if asset.bytes.size() <= MAX_ASSET_BYTES => Ok(()),
            Ok(_) => Err(WikiError::RequestTooLarge),
            Err(error) => Err(error),
        }
    }

    /// The id of the folder for a file, which is made where it is not there: with it those around it, each once.
    pub(in crate::wiki) async fn folder_for_upload(&self, change: &Change) -> WikiResult<i64> {
        let (state, asset) = asset_of(change.after())?;
        match asset.folder {
            Some(folder) => Ok(folder),
            None => self.made_folder(&state.path.folder(), &asset.makes).await,
        }
    }

    /// Sends a file to a folder, once. Returns the id of the asset.
    ///
    /// The wiki says `ok` where it stored nothing, too (W37), so its list is asked.
    pub(in crate::wiki) async fn upload(
        &self,
        change: &Change,
        folder: i64,
    ) -> WikiResult<Option<i64>> {
        let (state, asset) = asset_of(change.after())?;
        let address = below(&self.settings.base_url, std::iter::once("u"));
        let address = address.ok_or_else(impossible)?;
        let boundary = format!("wikijs-gate-{}", asset.bytes.sha256());
        let body = form(&boundary, folder, state.path.last_segment(), asset);
        let kind = format!("multipart/form-data; boundary={boundary}");
        let answer = self
            .transport
            .post_form(address, &kind, body, self.settings.time.write)
            .await?;
        understood(&answer)?;
        let Ok(listed) = self.all_assets_in(folder, &state.path.folder()).await else {
            return Ok(None);
        };
        let found = listed.into_iter().rev().find(|one| one.path == state.path);
        let old = change
            .before()
            .and_then(|before| before.updated_at.as_ref());
        match found {
            Some(found) if old.is_none_or(|old| !old.same(&found.updated_at)) => Ok(Some(found.id)),
            _ => Err(WikiError::Internal {
                kind: "it said ok and stored nothing",
            }),
        }
    }

    /// Makes folders, the outermost first; returns the id of the innermost.
    async fn made_folder(&self, path: &PagePath, makes: &[String]) -> WikiResult<i64> {
        let mut parent = 0;
        for made in makes {
            let made = PagePath::as_stored(made.as_str());
            parent = self.folder_there(&made.folder()).await?;
            let body = encode(&AssetFolderCreate::build_query(
                asset_folder_create::Variables {
                    parent,
                    slug: made.last_segment().to_owned(),
                },
            ))?;
            tracing::info!(folder = made.as_str(), "a folder of assets is made");
            let answer = self.transport.post(body, self.settings.time.write).await?;
            let data: asset_folder_create::ResponseData = read_mutation(&answer)?;
            let status = data
                .assets
                .and_then(|assets| assets.create_folder)
                .and_then(|made| made.response_result)
                .ok_or_else(impossible)?;
            if !status.succeeded {
                let message = status.message.as_deref().unwrap_or_default();
                return Err(refusal(status.error_code, &status.slug, message));
            }
        }
        if makes.is_empty() {
            return Ok(parent);
        }
        self.folder_there(path).await
    }
}

fn asset_of(state: Option<&PageState>) -> WikiResult<(&PageState, &AssetOf)> {
    match state.map(|state| (state, &state.thing)) {
        Some((state, Some(Attached::Asset(asset)))) => Ok((state, asset)),
        _ => Err(impossible()),
    }
}

fn impossible() -> WikiError {
    WikiError::malformed("the change")
}

/// The form: the folder, then the file (W37). The name was checked to have no quotes.
fn form(boundary: &str, folder: i64, name: &str, asset: &AssetOf) -> Vec<u8> {
    let name = name.replace(['"', '\r', '\n'], "_");
    let mime = asset.mime.replace(['\r', '\n'], " ");
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{PART}\"\r\n\r\n\
         {{\"folderId\":{folder}}}\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"{PART}\"; filename=\"{name}\"\r\n\
         Content-Type: {mime}\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(asset.bytes.as_bytes());
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    body
}

/// Reads the wiki's answer to a form. An answer that is not the wiki's own leaves the outcome open.
fn understood(answer: &RawAnswer) -> WikiResult<()> {
    let is_own =
        serde_json::from_slice::<UploadRefusal>(&answer.body).is_ok_and(|it| !it.succeeded);
    match answer.status {
        200 if answer.body.trim_ascii() == DONE => Ok(()),
        403 if is_own => Err(WikiError::forbidden("write:assets")),
        400 if is_own => Err(WikiError::Misunderstood),
        _ => Err(answer.as_error()),
    }
}
