//! Audit logs of any past, written record by record, as the log would have at those times.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use wikijs_gate::audit::{FileHead, LineHash, Record};
use wikijs_gate::page::{Locale, PagePath, PageReading, PageState};

/// The wiki whose log it is: the one at this address.
pub(crate) const ADDRESS: &str = "https://wiki.example.com";
const WIKI: &str = "wiki.example.com";

/// The directory of the wiki's log.
pub(crate) fn place(dir: &Path) -> PathBuf {
    dir.join(WIKI)
}

/// A run that is held by nobody.
pub(crate) struct Script {
    path: PathBuf,
    file: BufWriter<File>,
    run: String,
    seq: u64,
    length: u64,
    prev: LineHash,
}

impl Script {
    /// Begins at a time (`2030-01-02T09:00:00`), with a record that has seen these runs.
    pub(crate) fn begin(dir: &Path, start: &str, run: &str, seen: &[FileHead]) -> Self {
        let runs = place(dir).join("runs");
        fs::create_dir_all(&runs).unwrap();
        let compact = start.replace(['-', ':'], "");
        let path = runs.join(format!("{compact}Z-{run}.jsonl"));
        let mut script = Self {
            file: BufWriter::new(File::create_new(&path).unwrap()),
            path,
            run: run.to_owned(),
            seq: 0,
            length: 0,
            prev: LineHash::FIRST,
        };
        script.add(start, &json!({ "event": "start", "runs": seen }));
        script
    }

    /// Puts a record with these members on record.
    pub(crate) fn add(&mut self, time: &str, members: &Value) {
        self.seq += 1;
        let mut record = json!({
            "v": 1, "seq": self.seq, "time": format!("{time}.000Z"), "run": self.run,
            "wiki": WIKI, "fields": [], "linesAdded": 0, "linesRemoved": 0, "ms": 12,
            "prev": self.prev, "hash": self.prev,
        });
        for (name, value) in members.as_object().unwrap() {
            record[name] = value.clone();
        }
        let record: Record = serde_json::from_value(record).unwrap();
        let mut line = serde_json::to_vec(&record).unwrap();
        // `,"hash":"…"}` is what is not hashed.
        line.truncate(line.len() - 75);
        self.prev = LineHash::new(&line);
        writeln!(line, ",\"hash\":\"{}\"}}", self.prev).unwrap();
        self.file.write_all(&line).unwrap();
        self.length += u64::try_from(line.len()).unwrap();
    }

    /// What a later run sees of it.
    pub(crate) fn head(&self) -> FileHead {
        FileHead {
            file: self.path.file_name().unwrap().to_str().unwrap().to_owned(),
            length: self.length,
            hash: Some(self.prev),
        }
    }

    /// Ends cleanly.
    pub(crate) fn close(mut self, time: &str) -> FileHead {
        self.add(time, &json!({ "event": "closed" }));
        self.kill()
    }

    /// Ends as a process that was killed does.
    pub(crate) fn kill(mut self) -> FileHead {
        self.file.flush().unwrap();
        self.head()
    }
}

/// Keeps a state of a page; its name.
pub(crate) fn keep(dir: &Path, page: &PageState) -> String {
    let json = serde_json::to_vec(page).unwrap();
    // Both are the SHA-256 of some bytes.
    let name = LineHash::new(&json).to_string();
    let pages = place(dir).join("pages");
    fs::create_dir_all(&pages).unwrap();
    let file = File::create(pages.join(format!("{name}.json.gz"))).unwrap();
    let mut packer = GzEncoder::new(file, Compression::fast());
    packer.write_all(&json).unwrap();
    packer.finish().unwrap();
    name
}

/// A page with this title and content.
pub(crate) fn page(path: &str, title: &str, content: &str) -> PageState {
    let path = PagePath::as_stored(path);
    PageState {
        content: content.to_owned(),
        editor: "markdown".to_owned(),
        is_published: true,
        ..PageReading::bare(Some(7), Locale::as_stored("en"), path, title.to_owned()).or_blank()
    }
}
