//! `wikijs_upload_asset`: a file goes to a folder (toolset `assets`).

use super::prelude::*;
use crate::files::file_to_upload;
use crate::page::{Blob, PagePath};
use crate::write::{AssetWrite, ToAsset, WriteRequest};

/// The tool.
pub(super) struct UploadAsset;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// A preview's token (other arguments must be as there), or the operator's.
    #[garde(skip)]
    confirm: Option<String>,
    /// Folder and name, as docs/a.png.
    #[garde(custom(rule::required(rule::asset)))]
    path: String,
    #[garde(skip)]
    base64: Option<String>,
    #[garde(skip)]
    text: Option<String>,
    /// A path in the operator's folder for uploads.
    #[garde(skip)]
    file: Option<String>,
    /// Write over what is there.
    #[garde(skip)]
    replace: Option<bool>,
    /// Make missing folders, which nothing can remove.
    #[garde(skip)]
    create_folders: Option<bool>,
    #[garde(custom(rule::optional(rule::note)))]
    note: Option<String>,
}

impl WriteTool for UploadAsset {
    const NAME: &'static str = "wikijs_upload_asset";
    const DESCRIPTION: &'static str = "Upload a file (up to 5 MB) as base64, text or file; link it in pages as /folder/name. Without confirm you may get a preview and a token: show the user, then call again with path and confirm.";
    const EXPLAINED: Explained = &[TAKES_NO_TITLE];
    type Input = Input;

    async fn request(context: &ToolContext, input: Input) -> Result<RequestedWrite> {
        let bytes = given(context, input.base64, input.text, input.file).await?;
        let plan = WriteRequest::Asset(AssetWrite {
            path: PagePath::new(&input.path),
            what: ToAsset::Upload {
                bytes,
                replace: input.replace,
                create_folders: input.create_folders,
            },
        });
        Ok(RequestedWrite::new(plan, input.confirm, input.note))
    }
}

/// The bytes that a call gives, if it does.
async fn given(
    context: &ToolContext,
    base64: Option<String>,
    text: Option<String>,
    file: Option<String>,
) -> Result<Option<Blob>> {
    match (base64, text, file) {
        (None, None, None) => Ok(None),
        (Some(base64), None, None) => {
            if base64.starts_with("data:") {
                let fault = "begins with the prefix of a data address; send only what stands after \"base64,\"";
                return refuse("base64", fault);
            }
            let bytes = Blob::from_base64(&base64);
            bytes
                .map(Some)
                .map_err(|fault| invalid_argument("base64", fault))
        }
        (None, Some(text), None) => Ok(Some(Blob::from(text.into_bytes()))),
        (None, None, Some(file)) => from_folder(context, file).await.map(Some),
        _ => Err(Failure::new(
            Code::InvalidInput,
            "Give the file once: as base64, as text, or by its name as file.",
        )),
    }
}

/// The bytes of a file in the operator's folder for uploads.
async fn from_folder(context: &ToolContext, name: String) -> Result<Blob> {
    let folder = context.desk.policy().uploads.clone();
    let folder = folder.ok_or_else(|| {
        Failure::new(
            Code::InvalidInput,
            "The operator set no folder for uploads, so file names nothing.",
        )
        .hint("Nothing was sent. Send the bytes as base64 or text; upload_dir in the operator's settings file names a folder.")
    })?;
    // A disk can be slow, and others wait for this thread.
    let read = tokio::task::spawn_blocking(move || file_to_upload(&folder, &name)).await;
    let read =
        read.unwrap_or_else(|_| Err(Failure::new(Code::InternalError, "The file was not read.")));
    read.map(Blob::from)
}
