//! An anchor: a line that says how far runs had come, to be kept where those who may write the log
//! cannot change it.
//!
//! A line is one object of JSON. Where it is signed, its last member is the signature of all bytes
//! before `,"signature"`.

use serde::{Deserialize, Serialize, Serializer};

use super::super::{FileHead, PublicKey, RunId, SigningKey};

/// The form of anchor that is written.
pub(in crate::audit) const VERSION: u32 = 1;
/// The text between the signed part of a line and its signature.
const SIGNATURE: &str = ",\"signature\":\"";

/// A line that is written or was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::audit) struct Anchor {
    /// The form of anchor that is written: [`VERSION`].
    pub(in crate::audit) v: u32,
    pub(in crate::audit) time: String,
    pub(in crate::audit) wiki: String,
    /// The run that anchors.
    pub(in crate::audit) run: RunId,
    /// Its number among the anchors of that run, from 1.
    pub(in crate::audit) seq: u64,
    #[serde(serialize_with = "numbered")]
    pub(in crate::audit) heads: Vec<FileHead>,
    /// The runs that a purge is about to remove.
    #[serde(
        serialize_with = "numbered",
        skip_serializing_if = "Vec::is_empty",
        default
    )]
    pub(in crate::audit) removed: Vec<FileHead>,
    /// The id of the key that signed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::audit) key: Option<String>,
}

#[derive(Serialize)]
struct Numbered<'a> {
    #[serde(flatten)]
    head: &'a FileHead,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
}

/// Heads, each with the number of its run.
fn numbered<S: Serializer>(heads: &[FileHead], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(heads.iter().map(|head| Numbered {
        head,
        number: head.number(),
    }))
}

/// The result of checking a line's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::audit) enum Signed {
    /// It has none.
    No,
    /// It has one, and no key was given to check it with.
    Unchecked,
    /// One of the keys made it.
    Yes,
    /// None of the keys made it for this text.
    Wrong,
}

impl Anchor {
    /// The line, without its end, signed with the key if there is one.
    pub(in crate::audit) fn line(mut self, key: Option<&SigningKey>) -> serde_json::Result<String> {
        self.key = key.map(|key| key.public().id());
        let mut line = serde_json::to_string(&self)?;
        if let Some(key) = key {
            line.pop();
            let signature = key.sign(&line);
            line.extend([SIGNATURE, &signature, "\"}"]);
        }
        Ok(line)
    }

    /// Reads a line without its end, and checks its signature with any of some keys; nothing if
    /// it is no anchor, or one of a newer form.
    pub(in crate::audit) fn parse(line: &str, keys: &[PublicKey]) -> Option<(Self, Signed)> {
        let signed = line
            .strip_suffix("\"}")
            .and_then(|line| line.rsplit_once(SIGNATURE));
        let anchor: Self = serde_json::from_str(line).ok()?;
        let signed = match signed {
            None => Signed::No,
            Some(_) if keys.is_empty() => Signed::Unchecked,
            Some((text, signature)) => {
                if keys.iter().any(|key| key.verifies(text, signature)) {
                    Signed::Yes
                } else {
                    Signed::Wrong
                }
            }
        };
        (anchor.v == VERSION).then_some((anchor, signed))
    }

    /// True if a text may be the beginning of an anchor that was broken off.
    pub(in crate::audit) fn is_beginning(text: &str) -> bool {
        let begins = format!("{{\"v\":{VERSION},\"time\":\"");
        let is_whole = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        !is_whole && (text.starts_with(&begins) || begins.starts_with(text))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{FileHead, LineHash, RunId, SigningKey};
    use super::{Anchor, Signed, VERSION};

    fn line(key: Option<&SigningKey>) -> String {
        let head = FileHead {
            file: "20300102T090000Z-000012-00000000000000aa.jsonl".to_owned(),
            length: 77,
            hash: Some(LineHash::new(b"x")),
        };
        let anchor = Anchor {
            v: VERSION,
            time: "2030-01-02T09:00:00.000Z".to_owned(),
            wiki: "wiki,\"signature\":\"x\"}".to_owned(),
            run: RunId::new().unwrap(),
            seq: 3,
            heads: vec![head],
            removed: Vec::new(),
            key: None,
        };
        anchor.line(key).unwrap()
    }

    #[test]
    fn an_anchor_is_one_line_and_tells_the_runs_number() {
        let line = line(None);
        assert!(
            !line.contains('\n') && line.contains("\"number\":12"),
            "{line}"
        );
        let (anchor, signed) = Anchor::parse(&line, &[]).unwrap();
        assert_eq!((anchor.seq, anchor.heads.len(), signed), (3, 1, Signed::No));
        assert_eq!(anchor.heads[0].length, 77);
    }

    #[test]
    fn a_signature_holds_for_the_whole_line() {
        let (key, _) = SigningKey::generate().unwrap();
        let (other, _) = SigningKey::generate().unwrap();
        let line = line(Some(&key));
        let signed = |line: &str, keys: &[_]| Anchor::parse(line, keys).map(|(_, signed)| signed);
        let keys = [other.public(), key.public()];
        assert_eq!(signed(&line, &keys), Some(Signed::Yes));
        assert_eq!(signed(&line, &[]), Some(Signed::Unchecked));
        assert_eq!(signed(&line, &[other.public()]), Some(Signed::Wrong));
        let changed = line.replace("\"length\":77", "\"length\":78");
        assert_eq!(signed(&changed, &keys), Some(Signed::Wrong));
    }

    #[test]
    fn a_line_that_was_broken_off_is_told_from_one_that_is_none() {
        let line = line(None);
        for length in [1, 5, 20, line.len() - 1] {
            assert!(Anchor::is_beginning(line.split_at(length).0), "{length}");
        }
        assert!(!Anchor::is_beginning(&line) && !Anchor::is_beginning("hello"));
    }
}
