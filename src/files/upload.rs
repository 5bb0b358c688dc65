//! A file that is sent to the wiki as it is, from a folder of the operator's.

use std::io;
use std::path::Path;

use super::error::TOO_LARGE;
use crate::error::{Code, Failure, Result};
use crate::files::{FilesError, Folder};
use crate::page::MAX_ASSET_BYTES;

/// The bytes of a file in a folder, by its name there. Nothing is read through a link, and no name
/// that begins with a dot.
///
/// # Errors
/// `INVALID_INPUT` if there is no such plain file, `TOO_LARGE` beyond what Wiki.js takes (W37). The
/// folder's own path is not told.
pub fn file_to_upload(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let fault = |said: &str| {
        Failure::new(Code::InvalidInput, format!("file {said}."))
            .hint("Nothing was sent. Name a file by its path in the operator's folder for uploads, or send its bytes as base64 or text.")
    };
    if name.split('/').any(|part| part.starts_with('.')) {
        return Err(fault("must have no part that begins with a dot"));
    }
    let most = u64::try_from(MAX_ASSET_BYTES).unwrap_or(u64::MAX);
    let read = Folder::open(folder).and_then(|folder| folder.read(name, most));
    match read {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(fault("names no file in the folder for uploads")),
        Err(error) => Err(match error.kind() {
            io::ErrorKind::FileTooLarge => Failure::new(
                Code::TooLarge,
                format!("The file cannot be sent: {TOO_LARGE}."),
            ),
            io::ErrorKind::InvalidInput => {
                fault("must be a path in the folder for uploads, such as pictures/a.png")
            }
            _ => fault(&format!("cannot be read: {}", FilesError::in_words(&error))),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::file_to_upload;
    use crate::error::Code;
    use crate::page::MAX_ASSET_BYTES;

    #[test]
    fn only_a_plain_file_of_the_folder_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, outside) = (dir.path().join("in"), dir.path().join("secret.csv"));
        fs::create_dir_all(folder.join("sub/.git")).unwrap();
        fs::write(&outside, "secret").unwrap();
        for name in ["a.csv", ".env", "sub/b.csv", "sub/.git/config"] {
            fs::write(folder.join(name), name).unwrap();
        }
        symlink(&outside, folder.join("link.csv")).unwrap();
        symlink(dir.path(), folder.join("up")).unwrap();
        let pipe = rustix::fs::CWD;
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mkfifoat(pipe, folder.join("pipe.csv"), mode).unwrap();
        let large = fs::File::create(folder.join("large.csv")).unwrap();
        large.set_len(1 << 40).unwrap();
        let most = fs::File::create(folder.join("most.csv")).unwrap();
        most.set_len(u64::try_from(MAX_ASSET_BYTES).unwrap())
            .unwrap();

        for name in ["a.csv", "sub/b.csv"] {
            assert_eq!(file_to_upload(&folder, name).unwrap(), name.as_bytes());
        }
        assert_eq!(
            file_to_upload(&folder, "most.csv").unwrap().len(),
            MAX_ASSET_BYTES
        );
        for (name, said) in [
            ("none.csv", "names no file"),
            ("none/a.csv", "names no file"),
            ("../secret.csv", "begins with a dot"),
            ("sub/../../secret.csv", "begins with a dot"),
            (".env", "begins with a dot"),
            ("sub/.git/config", "begins with a dot"),
            ("/etc/passwd", "must be a path in the folder"),
            ("sub//b.csv", "must be a path in the folder"),
            ("", "must be a path in the folder"),
            ("a.csv\0", "must be a path in the folder"),
            ("link.csv", "links are not followed"),
            ("up/secret.csv", "links are not followed"),
            ("a.csv/b", "links are not followed"),
            ("pipe.csv", "no plain file"),
            ("sub", "no plain file"),
        ] {
            let failure = file_to_upload(&folder, name).unwrap_err();
            assert_eq!(failure.code, Code::InvalidInput, "{name}");
            assert!(
                failure.message.contains(said),
                "{name}: {}",
                failure.message
            );
            let own = dir.path().to_string_lossy().into_owned();
            assert!(!failure.message.contains(&own), "{name}");
        }
        let large = file_to_upload(&folder, "large.csv").unwrap_err();
        assert_eq!(large.code, Code::TooLarge);
    }
}
