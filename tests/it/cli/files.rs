//! A wiki as files: pull, edit with plain tools, push; and what is not let through.

use std::os::unix::fs::symlink;
use std::process::Output;

use crate::cli::operators_way::steady;
use crate::prelude::*;

/// A wiki, a folder of its files, and the operator who works with both.
pub(crate) struct Work {
    pub(crate) wiki: Arc<DemoWiki>,
    pub(crate) key: String,
    pub(crate) dir: Arc<TempDir>,
    pub(crate) audit: Arc<TempDir>,
    pub(crate) settings: Vec<(&'static str, String)>,
}

impl Work {
    pub(crate) fn on(wiki: DemoWiki) -> Self {
        Self {
            key: wiki.keys().admin.clone(),
            wiki: Arc::new(wiki),
            dir: Arc::new(TempDir::new().unwrap()),
            audit: Arc::new(TempDir::new().unwrap()),
            settings: Vec::new(),
        }
    }

    /// With these pages pulled, and their ids.
    async fn of<const COUNT: usize>(texts: [(&str, &str); COUNT]) -> (Self, [i64; COUNT]) {
        let work = Self::pulled(wiki_of(&texts).await).await;
        let ids = texts.map(|(path, _)| id_of(&work.wiki, path));
        (work, ids)
    }

    /// Moves pages in the wiki, as others do.
    fn moves<const COUNT: usize>(&self, ids: [i64; COUNT], places: [&str; COUNT]) {
        self.wiki.with_store(|store| {
            for (id, path) in ids.into_iter().zip(places) {
                store.page_mut(id).unwrap().path = path.to_owned();
            }
        });
    }

    /// With the pages pulled.
    pub(crate) async fn pulled(wiki: DemoWiki) -> Self {
        let work = Self::on(wiki);
        work.good("pull", &[]).await;
        work
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.settings.push((name, value.to_owned()));
        self
    }

    /// With these tables of a settings file.
    pub(crate) fn with_rules(self, tables: &str) -> Self {
        let file = self.dir.path().join(".settings.toml");
        fs::write(&file, tables).unwrap();
        let file = file.to_str().unwrap().to_owned();
        self.with("WIKI_CONFIG", &file)
    }

    pub(crate) async fn run(&self, command: &str, more: &[&str]) -> Ended {
        self.run_in(self.dir.path(), command, more).await
    }

    pub(crate) async fn run_in(&self, dir: &Path, command: &str, more: &[&str]) -> Ended {
        let all = [&["files", command, dir.to_str().unwrap()], more].concat();
        self.command(&all).await
    }

    /// Runs any command of the program.
    pub(crate) async fn command(&self, arguments: &[&str]) -> Ended {
        let with = |command: Command, (name, value): &(&str, String)| command.with(name, value);
        self.variables()
            .iter()
            .fold(Command::new(arguments), with)
            .end()
            .await
    }

    /// Runs lines in the folder by a command that takes them behind `-c`: the program is on its path
    /// and `$own`, the folder `$1`.
    pub(crate) async fn in_shell(&self, command: &str, lines: &str) -> Output {
        let own = Path::new(env!("CARGO_BIN_EXE_wikijs-gate"));
        let own_dir = own.parent().unwrap().to_str().unwrap();
        let mut words = command.split(' ');
        let mut process = std::process::Command::new(words.next().unwrap());
        process
            .args(words)
            .args(["-c", lines, "sh", self.dir.path().to_str().unwrap()])
            .current_dir(self.dir.path())
            .env_clear()
            .env(
                "PATH",
                format!("{own_dir}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            )
            .env("HOME", self.audit.path())
            .env("own", own)
            .envs(self.variables());
        tokio::task::spawn_blocking(move || process.output().unwrap())
            .await
            .unwrap()
    }

    /// What every command is set to.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let audit = self.audit.path().to_str().unwrap().to_owned();
        let usual = [
            ("WIKI_BASE_URL", self.wiki.address()),
            ("WIKI_API_TOKEN", self.key.clone()),
            ("WIKI_AUDIT_DIR", audit),
            ("WIKI_MUTATIONS_ENABLED", "true".to_owned()),
            ("WIKI_MUTATION_DRY_RUN", "false".to_owned()),
            ("WIKI_LOG", "off".to_owned()),
        ];
        usual.into_iter().chain(self.settings.clone()).collect()
    }

    /// Runs a command that must end well.
    pub(crate) async fn good(&self, command: &str, more: &[&str]) -> Ended {
        self.run(command, more).await.good()
    }

    /// `status` has nothing to tell.
    pub(crate) async fn is_as_in_the_wiki(&self) {
        let status = self.good("status", &[]).await;
        let is_same = status.stdout.ends_with("as in the wiki\n");
        assert!(is_same, "{}", status.told);
    }

    pub(crate) async fn status(&self) -> Value {
        let ended = self.good("status", &["--json"]).await;
        ended.json()
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.dir.path().join(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let file = self.dir.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn edit(&self, file: &str, old: &str, new: &str) {
        let text = self.read(file);
        assert!(text.contains(old), "{file}: {text}");
        self.write(file, &text.replacen(old, new, 1));
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        let (from, to) = (self.dir.path().join(from), self.dir.path().join(to));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(from, to).unwrap();
    }

    pub(crate) fn remove(&self, file: &str) {
        fs::remove_file(self.dir.path().join(file)).unwrap();
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.dir.path().join(file).exists()
    }
}

/// Each page by its place, without what no write gives back.
pub(crate) fn all(wiki: &DemoWiki) -> BTreeMap<(String, String), PageRow> {
    wiki.with_store(|store| {
        let pages = store.pages().map(timeless);
        pages
            .map(|page| ((page.locale.clone(), page.path.clone()), page))
            .collect()
    })
}

/// Every file of a folder but `.wikijs/`, with its text.
pub(crate) fn tree(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    fn below(dir: &Path, name: &str, tree: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let inner = format!("{name}{}", entry.file_name().to_str().unwrap());
            if inner == ".wikijs" || inner == ".git" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                below(&entry.path(), &format!("{inner}/"), tree);
            } else {
                tree.insert(inner, fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    below(dir, "", &mut found);
    found
}

fn text(path: &str, title: &str, content: &str) -> String {
    let _ = path;
    format!(
        "---\ntitle: {title}\ndescription:\npublished: true\ntags:\neditor: markdown\n---\n\n{content}"
    )
}

#[tokio::test]
async fn a_pull_brings_every_page_and_the_next_one_nothing() {
    let wiki = sample_wiki().await;
    wiki.with_page(PageRow {
        editor: "asciidoc".to_owned(),
        script_css: "h1{color:red}".to_owned(),
        script_js: "alert(1)".to_owned(),
        ..page("docs/styled", "= Styled")
    });
    let work = Work::pulled(wiki).await;
    let pages = all(&work.wiki);
    let count = tree(work.dir.path())
        .keys()
        .filter(|file| file.rsplit('.').next() == Some("md") && *file != "README.md")
        .count();
    let markdown = pages.values().filter(|page| page.editor == "markdown");
    assert_eq!(count, markdown.count());
    assert_eq!(work.read("en/docs/styled.adoc"), "= Styled");
    assert_eq!(work.read("en/docs/styled.css"), "h1{color:red}");
    assert_eq!(work.read("en/docs/styled.js"), "alert(1)");
    says(&work.read("README.md"), "must not follow instructions");

    let before = tree(work.dir.path());
    let again = work.good("pull", &[]).await;
    assert_eq!(again.stdout, "nothing changed in the wiki\n");
    assert_eq!(tree(work.dir.path()), before);
    work.is_as_in_the_wiki().await;
    assert!(mutations(&work.wiki).is_empty());
}

#[tokio::test]
async fn what_was_edited_moved_made_and_deleted_is_pushed_as_one_set_and_undone() {
    let wiki = wiki_of(&[
        ("docs/edited", "# Edited\n\nThe first line of it.\n"),
        ("docs/moved", "# Moved\n\nThis one moves elsewhere.\n"),
        (
            "docs/linking",
            "See [the other](/docs/moved) and [home](/home).\n",
        ),
        ("docs/deleted", "# Gone\n\nThis one is deleted.\n"),
        ("docs/kept", "# Kept\n"),
    ])
    .await;
    wiki.with_page(PageRow {
        script_css: "a{color:red}".to_owned(),
        publish_end_date: "2031-01-01T00:00:00.000Z".to_owned(),
        is_private: true,
        ..page("docs/full", "Text.\n")
    });
    let work = Work::pulled(wiki).await;
    let before = all(&work.wiki);
    work.edit("en/docs/edited.md", "The first line", "The changed line");
    work.edit("en/docs/full.md", "Text.", "Other text.");
    work.rename("en/docs/moved.md", "en/guides/moved.md");
    work.remove("en/docs/deleted.md");
    work.write("en/docs/new.md", "# New\n\nMade here.\n");

    let status = work.status().await;
    let ahead: Vec<(&str, &str)> = status["ahead"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            (
                line["what"].as_str().unwrap(),
                line["page"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("deleted", "en/docs/deleted"),
        ("changed", "en/docs/edited"),
        ("changed", "en/docs/full"),
        ("moved", "en/docs/moved"),
        ("new", "en/docs/new"),
    ];
    assert_eq!(ahead, expected);
    let diff = work.good("diff", &[]).await.stdout;
    says(&diff, "-The first line of it.\n+The changed line of it.\n");
    says(&diff, "--- a/en/docs/moved.md\n+++ b/en/guides/moved.md\n");

    let pushed = work
        .good("push", &["--delete", "--yes", "-m", "as agreed"])
        .await;
    let mut wanted = before.clone();
    let place = |path: &str| ("en".to_owned(), path.to_owned());
    wanted.remove(&place("docs/deleted"));
    wanted.get_mut(&place("docs/edited")).unwrap().content =
        "# Edited\n\nThe changed line of it.\n".to_owned();
    wanted.get_mut(&place("docs/full")).unwrap().content = "Other text.\n".to_owned();
    wanted.get_mut(&place("docs/linking")).unwrap().content =
        "See [the other](/guides/moved) and [home](/home).\n".to_owned();
    let moved = wanted.remove(&place("docs/moved")).unwrap();
    let moved = moved.but(|row| row.path = "guides/moved".to_owned());
    wanted.insert(place("guides/moved"), moved);
    let mut now = all(&work.wiki);
    let new = now.remove(&place("docs/new")).unwrap();
    assert_eq!(new.title.as_str(), "new");
    assert_eq!(new.content.as_str(), "# New\n\nMade here.\n");
    assert_eq!(now, wanted, "{}", pushed.told);

    // The folder is as the wiki now is: links that were mended elsewhere came, too.
    assert!(work.read("en/docs/linking.md").contains("/guides/moved"));
    assert!(work.read("en/docs/new.md").starts_with("---\ntitle: new\n"));
    work.is_as_in_the_wiki().await;

    let undone = work.command(&["undo", "last", "--yes"]).await.good();
    assert_eq!(all(&work.wiki), before, "{}", undone.told);
    work.good("pull", &[]).await;
    says(&work.read("en/docs/edited.md"), "The first line of it.");
    assert!(work.has("en/docs/deleted.md") && !work.has("en/docs/new.md"));
    assert!(work.has("en/docs/moved.md") && !work.has("en/guides/moved.md"));
}

#[tokio::test]
async fn changes_of_both_sides_are_merged_and_marked_where_they_overlap() {
    let lines = "one\ntwo\nthree\nfour\nfive\n";
    let wiki = wiki_of(&[("docs/a", lines), ("docs/b", lines), ("docs/c", lines)]).await;
    let work = Work::pulled(wiki).await;
    let other = |path: &str, content: &str| {
        let id = id_of(&work.wiki, path);
        work.wiki.with_store(|store| {
            let page = store.page_mut(id).unwrap();
            content.clone_into(&mut page.content);
            page.updated_at = "2031-01-01T00:00:00.000Z".to_owned();
        });
    };
    work.edit("en/docs/a.md", "one", "ONE");
    other("docs/a", "one\ntwo\nthree\nfour\nFIVE\n");
    work.edit("en/docs/b.md", "three", "mine");
    other("docs/b", "one\ntwo\ntheirs\nfour\nfive\n");
    other("docs/c", "one\ntwo\n");

    let refused = work.run("push", &["--yes"]).await.exits(3);
    for name in ["en/docs/a", "en/docs/b"] {
        let said = format!("{name}: was changed in the wiki, too; pull first");
        assert!(refused.stderr.contains(&said), "{}", refused.told);
    }
    assert!(mutations(&work.wiki).is_empty());

    work.run("pull", &[]).await.exits(3);
    ends(&work.read("en/docs/a.md"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert!(work.read("en/docs/c.md").ends_with("---\n\none\ntwo\n"));
    let marked = "<<<<<<< here\nmine\n=======\ntheirs\n>>>>>>> wiki\n";
    says(&work.read("en/docs/b.md"), marked);

    let refused = work.run("push", &["--yes"]).await;
    let said = "en/docs/b: has marked conflicts; resolve them first";
    assert!(refused.stderr.contains(said), "{}", refused.told);
    assert_eq!(work.status().await["conflicts"], json!(["en/docs/b"]));

    work.edit("en/docs/b.md", marked, "both\n");
    work.good("push", &["--yes"]).await;
    let content = |path: &str| {
        all(&work.wiki)[&("en".to_owned(), path.to_owned())]
            .content
            .clone()
    };
    assert_eq!(content("docs/a"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert_eq!(content("docs/b"), "one\ntwo\nboth\nfour\nfive\n");
}

#[tokio::test]
async fn what_a_merge_by_git_left_marked_is_not_pushed() {
    let marked = "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> origin/main\n";
    let example = format!("An example:\n\n```\n{marked}```\n");
    let wiki = wiki_of(&[
        ("docs/a", "one\ntwo\nthree\n"),
        (
            "docs/b",
            "The first line.\ntwo\nThe third line.\nThe fourth line.\nThe fifth line.\n",
        ),
        ("docs/git", &example),
    ])
    .await;
    let work = Work::pulled(wiki).await;
    work.edit("en/docs/a.md", "two\n", marked);
    work.edit("en/docs/b.md", "two\n", marked);
    work.rename("en/docs/b.md", "en/docs/moved.md");
    work.write("en/docs/new.md", marked);
    // Marks that the page has in the wiki are its text.
    work.edit("en/docs/git.md", "An example", "One more example");
    let refused = work.run("push", &["--yes"]).await.exits(3);
    for name in ["a", "moved", "new"] {
        let said = format!("en/docs/{name}: has marked conflicts; resolve them first");
        assert!(refused.stderr.contains(&said), "{name}: {}", refused.told);
    }
    lacks(&refused.stderr, "docs/git");
    assert!(mutations(&work.wiki).is_empty());
    let conflicts = work.status().await["conflicts"].clone();
    assert_eq!(
        conflicts,
        json!(["en/docs/new", "en/docs/a", "en/docs/moved"])
    );
    for name in ["a", "moved", "new"] {
        work.edit(&format!("en/docs/{name}.md"), marked, "both\n");
    }
    work.good("push", &["--yes"]).await;
    let texts = vec_of(all(&work.wiki).into_values().map(|page| page.content));
    assert_eq!(texts.len(), 4);
    let are_marked = texts.iter().filter(|text| text.contains("<<<<<<<"));
    assert_eq!(
        vec_of(are_marked),
        [&example.replace("An ex", "One more ex")]
    );
}

#[tokio::test]
async fn an_edit_here_outlives_a_delete_and_a_move_there() {
    let wiki = wiki_of(&[
        ("docs/gone", "# Gone\n\nDeleted in the wiki.\n"),
        ("docs/there", "# There\n\nMoves in the wiki.\n"),
        ("docs/back", "# Back\n\nDeleted here, changed there.\n"),
    ])
    .await;
    let work = Work::pulled(wiki).await;
    work.edit("en/docs/gone.md", "Deleted", "Edited here, deleted");
    work.edit("en/docs/there.md", "Moves", "Edited here, moves");
    work.remove("en/docs/back.md");
    let [gone, there, back] =
        ["docs/gone", "docs/there", "docs/back"].map(|path| id_of(&work.wiki, path));
    work.wiki.with_store(|store| {
        store.remove(gone);
        store.page_mut(there).unwrap().path = "guides/there".to_owned();
        let page = store.page_mut(back).unwrap();
        page.content.push_str("More.\n");
        page.updated_at = "2031-01-01T00:00:00.000Z".to_owned();
    });
    let pulled = work.good("pull", &[]).await;
    says(&work.read("en/docs/gone.md"), "Edited here, deleted");
    says(&work.read("en/guides/there.md"), "Edited here, moves");
    assert!(!work.has("en/docs/there.md"));
    assert!(work.read("en/docs/back.md").contains("More."));
    for said in ["the file stays, as a new page", "it is back"] {
        assert!(pulled.stdout.contains(said), "{}", pulled.told);
    }
}

#[tokio::test]
async fn a_page_that_the_wiki_moves_overwrites_no_work_of_this_folder() {
    let texts = [
        ("docs/a", "of a\n"),
        ("docs/b", "of b\n"),
        ("docs/c", "of c\n"),
    ];
    let (work, ids) = Work::of(texts).await;
    work.write("en/docs/new.md", "mine\n");
    work.edit("en/docs/b.md", "of b", "edited");
    work.moves(ids, ["docs/b", "docs/d", "docs/new"]);
    let pulled = work.good("pull", &[]).await;
    says(
        &pulled.stdout,
        "en/docs/c: moved in the wiki to en/docs/new, where another file",
    );
    assert_eq!(work.read("en/docs/new.md"), "mine\n");
    says(&work.read("en/docs/c.md"), "of c");
    says(&work.read("en/docs/d.md"), "edited");
    // One pull more where the edited page has left its place, one where the new file has.
    work.good("pull", &[]).await;
    says(&work.read("en/docs/b.md"), "of a");
    work.rename("en/docs/new.md", "en/docs/own.md");
    work.good("pull", &[]).await;
    says(&work.read("en/docs/new.md"), "of c");
    assert!(!work.has("en/docs/a.md") && !work.has("en/docs/c.md"));
    assert_eq!(work.read("en/docs/own.md"), "mine\n");
}

#[tokio::test]
async fn pages_that_change_places_in_the_wiki_change_them_here() {
    let texts = [
        ("docs/a", "of a\n"),
        ("docs/b", "of b\n"),
        ("docs/c", "of c\n"),
    ];
    let (work, ids) = Work::of(texts).await;
    for places in [
        ["docs/b", "docs/a", "docs/d"],
        ["docs/a", "docs/d", "docs/b"],
    ] {
        work.moves(ids, places);
        let pulled = work.good("pull", &[]).await;
        assert!(!pulled.stdout.contains("pull again"), "{}", pulled.told);
        for (path, (_, text)) in places.into_iter().zip(texts) {
            says(&work.read(&format!("en/{path}.md")), text);
        }
        work.is_as_in_the_wiki().await;
    }
    // Deleted here they come back, each to its new place.
    work.remove("en/docs/a.md");
    work.remove("en/docs/d.md");
    work.moves(ids, ["docs/b", "docs/a", "docs/d"]);
    let pulled = work.good("pull", &[]).await;
    assert!(!pulled.stdout.contains("pull again"), "{}", pulled.told);
    work.is_as_in_the_wiki().await;
}

#[tokio::test]
async fn a_page_that_the_wiki_puts_where_a_deleted_one_was_edited_here_overwrites_nothing() {
    let texts = [("docs/a", "of a\n"), ("docs/b", "of b\n")];
    let (work, [a, b]) = Work::of(texts).await;
    work.edit("en/docs/b.md", "of b", "edited");
    work.wiki.with_store(|store| {
        store.remove(b);
        store.page_mut(a).unwrap().path = "docs/b".to_owned();
    });
    let pulled = work.good("pull", &[]).await;
    says(
        &pulled.stdout,
        "moved in the wiki to en/docs/b, where another",
    );
    says(&work.read("en/docs/b.md"), "edited");
    says(&work.read("en/docs/a.md"), "of a");
}

#[tokio::test]
async fn a_page_that_the_wiki_puts_where_a_renamed_file_stands_overwrites_nothing() {
    let texts = [
        ("docs/a", "The whole text of a.\n"),
        ("docs/b", "The whole text of b.\n"),
    ];
    let (work, [a, _]) = Work::of(texts).await;
    work.rename("en/docs/b.md", "en/docs/x.md");
    work.rename("en/docs/a.md", "en/docs/y.md");
    work.good("pull", &[]).await;
    work.rename("en/docs/y.md", "en/docs/a.md");
    work.good("pull", &[]).await;
    work.wiki.with_store(|store| {
        store.page_mut(a).unwrap().path = "docs/x".to_owned();
        store.add(page("docs/y", "From the wiki, all of it.\n"));
    });
    let pulled = work.good("pull", &[]).await;
    says(
        &pulled.stdout,
        "moved in the wiki to en/docs/x, where another",
    );
    says(&work.read("en/docs/x.md"), "The whole text of b.");
    says(&work.read("en/docs/a.md"), "The whole text of a.");
    says(&work.read("en/docs/y.md"), "From the wiki, all of it.");
    // A page that was made there comes when the renamed file has left.
    work.rename("en/docs/y.md", "en/docs/z.md");
    work.good("pull", &[]).await;
    work.wiki
        .with_store(|store| store.add(page("docs/z", "Another.\n")));
    let refused = work.run("push", &["--yes"]).await.exits(3);
    let said = "en/docs/z: another page is there in the wiki; move this file";
    says(&refused.stderr, said);
    let pulled = work.good("pull", &[]).await;
    says(&pulled.stdout, "move that file, then pull");
    says(&work.read("en/docs/z.md"), "From the wiki, all of it.");
    work.rename("en/docs/z.md", "en/docs/y.md");
    work.good("pull", &[]).await;
    says(&work.read("en/docs/z.md"), "Another.");
}

#[tokio::test]
async fn a_file_for_a_page_whose_files_have_another_name_is_named() {
    let texts = [("docs/a", "1\n"), ("docs/A", "2\n"), ("docs/b", "3\n")];
    let work = Work::pulled(wiki_of(&texts).await).await;
    let said = "en/docs/A: it is for the page of en/docs/%41";
    // A page of another file that is moved there, and a new one.
    work.rename("en/docs/b.md", "en/docs/A.md");
    says(&work.run("push", &["--yes"]).await.exits(3).stderr, said);
    work.rename("en/docs/A.md", "en/docs/b.md");
    work.write("en/docs/A.md", "mine\n");
    says(&work.run("push", &["--yes"]).await.exits(3).stderr, said);
    assert!(mutations(&work.wiki).is_empty());
}

#[tokio::test]
async fn a_page_that_the_wiki_puts_where_a_deleted_one_was_is_not_taken_for_that_one() {
    let texts = [
        ("docs/a", "The whole text of a.\n"),
        ("docs/b", "The whole text of b.\n"),
        ("docs/c", "The whole text of c.\n"),
    ];
    let (work, ids) = Work::of(texts).await;
    // Renamed and then deleted here; a page that the wiki makes comes to the new name.
    work.rename("en/docs/a.md", "en/docs/x.md");
    work.good("pull", &[]).await;
    work.remove("en/docs/x.md");
    // Deleted here, and kept from where the wiki moved it.
    work.remove("en/docs/b.md");
    work.write("en/docs/y.md", "mine\n");
    work.wiki.with_store(|store| {
        store.add(page("docs/x", "From the wiki.\n"));
    });
    work.moves(ids, ["docs/a", "docs/y", "docs/b"]);
    work.good("pull", &[]).await;
    work.rename("en/docs/y.md", "en/docs/own.md");
    work.good("pull", &[]).await;
    work.good("pull", &[]).await;
    says(&work.read("en/docs/x.md"), "From the wiki.");
    says(&work.read("en/docs/b.md"), "The whole text of c.");
    says(&work.read("en/docs/y.md"), "The whole text of b.");
    let status = work.status().await;
    let ahead = status["ahead"].as_array().unwrap();
    let ahead = ahead.iter().map(|entry| (&entry["what"], &entry["page"]));
    let wanted = [
        (&json!("deleted"), &json!("en/docs/a")),
        (&json!("new"), &json!("en/docs/own")),
    ];
    assert_eq!(ahead.collect::<Vec<_>>(), wanted);
}

#[tokio::test]
async fn names_that_something_else_would_read_are_escaped_and_pushed_from_there() {
    let wiki = wiki_of(&[
        ("docs/CLAUDE", "Follow these instructions.\n"),
        ("docs/Agents", "And these, in any letter case.\n"),
        ("docs/Same", "One of two.\n"),
        ("docs/same", "The other of two.\n"),
        ("docs/con", "A device.\n"),
    ])
    .await;
    wiki.with_store(|store| {
        store.add(page("docs/old name.x", "Made by an old version.\n"));
        store.add(page("docs/.git/config", "[core]\n"));
    });
    let work = Work::pulled(wiki).await;
    let files = "en/docs/%43LAUDE.md en/docs/%41gents.md en/docs/Same.md en/docs/%73%61%6D%65.md \
        en/docs/%63on.md en/docs/old%20name%2Ex.md en/docs/%2Egit/config.md";
    for file in files.split(' ') {
        assert!(work.has(file), "{file}: {:?}", tree(work.dir.path()).keys());
    }
    work.edit("en/docs/%43LAUDE.md", "Follow", "Do not follow");
    work.edit("en/docs/%73%61%6D%65.md", "The other", "The second");
    work.edit("en/docs/old%20name%2Ex.md", "Made", "Was made");
    // An instruction of the folder's owner is no page.
    work.write("en/docs/CLAUDE.md", "Be brief.\n");
    let pushed = work.good("push", &["--yes"]).await;
    let content = |path: &str| {
        all(&work.wiki)[&("en".to_owned(), path.to_owned())]
            .content
            .clone()
    };
    let expected = "Do not follow these instructions.\n";
    assert_eq!(content("docs/CLAUDE"), expected);
    assert_eq!(content("docs/same"), "The second of two.\n");
    assert_eq!(content("docs/old name.x"), "Made by an old version.\n");
    let part = "old%20name%2Ex: Wiki.js makes no page at this path";
    says(&pushed.stdout, part);
    assert!(work.read("en/docs/CLAUDE.md").contains("Be brief."));
}

#[tokio::test]
async fn bad_files_are_named_all_at_once_and_nothing_is_sent() {
    let wiki = wiki_of(&[("docs/a", "a\n"), ("docs/b", "b\n"), ("docs/c", "c\n")]).await;
    let work = Work::pulled(wiki).await;
    work.edit("en/docs/a.md", "tags:", "tgas:");
    work.edit("en/docs/b.md", "published: true", "published: maybe");
    work.edit("en/docs/c.md", "editor: markdown", "editor: code");
    work.write("en/docs/no path.md", "x\n");
    work.write("en/login/x.md", "x\n");
    work.write("en/docs/d.html", &text("", "D", "<p>d</p>"));
    work.write("en/docs/d.md", "d\n");
    work.write("en/docs/empty.md", "");
    let long = "x".repeat(256);
    work.write(
        "en/docs/long.md",
        &format!("---\ntitle: {long}\n---\n\nx\n"),
    );
    work.write("en/docs/list.md", "---\ntags: [a, b]\n---\n\nx\n");
    let refused = work.run("push", &["--yes"]).await.exits(3);
    for said in [
        "en/docs/a.md:5: no field has the name \"tgas\"",
        "en/docs/b.md:4: published is true or false",
        "en/docs/c.md:6: the editor of a page cannot be changed here",
        "en/login/x: its path must not begin with \"login\"",
        "en/docs/d.html:1: the page has a file with another ending, too",
        "en/docs/empty: its content must not be blank",
        "en/docs/long: its title must have at most 255 characters",
        "en/docs/list.md:2: tags are written without brackets",
    ] {
        assert!(refused.stderr.contains(said), "{said}: {}", refused.told);
    }
    assert!(mutations(&work.wiki).is_empty());
    let status = work.good("status", &[]).await;
    let part = "en/docs/no path.md (no page's file has such a name)";
    says(&status.stdout, part);
}

#[tokio::test]
async fn a_folder_that_is_not_ours_or_of_another_wiki_or_damaged_is_refused_by_name() {
    let work = Work::pulled(wiki_of(&[("docs/a", "a\n")]).await).await;
    let foreign = TempDir::new().unwrap();
    fs::write(foreign.path().join("thesis.md"), "mine").unwrap();
    let refused = work.run_in(foreign.path(), "pull", &[]).await.exits(2);
    says(&refused.stderr, "the directory is not empty");
    let text = fs::read_to_string(foreign.path().join("thesis.md")).unwrap();
    assert_eq!(text, "mine");
    for command in ["status", "push"] {
        let more: &[&str] = if command == "push" { &["--yes"] } else { &[] };
        let refused = work.run_in(foreign.path(), command, more).await;
        says(&refused.stderr, "no folder of a wiki's files");
    }
    let other =
        Work::on(wiki_of(&[("docs/z", "z\n")]).await).but(|it| it.dir = Arc::clone(&work.dir));
    for command in ["pull", "status"] {
        let refused = other.run(command, &[]).await.exits(2);
        says(&refused.stderr, "this folder has the files of");
    }
    assert!(work.has("en/docs/a.md"));
    let refused = work.run("pull", &["--path", "docs"]).await;
    says(&refused.stderr, "this folder has all pages of the wiki");

    let id = id_of(&work.wiki, "docs/a");
    let base = format!(".wikijs/pages/{id}.json");
    work.edit(&base, "a\\n", "b\\n");
    let refused = work.run("status", &[]).await;
    says(&refused.stderr, &format!("{base} was edited or is damaged"));
    work.remove(&base);
    work.good("pull", &[]).await;
    work.is_as_in_the_wiki().await;
}

#[tokio::test]
async fn a_link_in_the_folder_leads_nowhere() {
    let work = Work::pulled(wiki_of(&[("docs/a", "a\n"), ("docs/b/c", "c\n")]).await).await;
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret.md"), "secret").unwrap();
    fs::write(outside.path().join("c.md"), "secret").unwrap();
    symlink(
        outside.path().join("secret.md"),
        work.dir.path().join("en/docs/stolen.md"),
    )
    .unwrap();
    work.remove("en/docs/a.md");
    symlink(
        outside.path().join("secret.md"),
        work.dir.path().join("en/docs/a.md"),
    )
    .unwrap();
    fs::remove_dir_all(work.dir.path().join("en/docs/b")).unwrap();
    symlink(outside.path(), work.dir.path().join("en/docs/b")).unwrap();

    work.good("push", &["--yes"]).await;
    lacks(&format!("{:?}", all(&work.wiki)), "secret");
    assert!(mutations(&work.wiki).is_empty());
    for path in ["docs/a", "docs/b/c"] {
        let id = id_of(&work.wiki, path);
        work.wiki.with_store(|store| {
            let page = store.page_mut(id).unwrap();
            "from the wiki".clone_into(&mut page.content);
            page.updated_at = "2031-01-01T00:00:00.000Z".to_owned();
        });
    }
    work.run("pull", &[]).await;
    let text = fs::read_to_string(outside.path().join("secret.md")).unwrap();
    assert_eq!(text, "secret");
    let text = fs::read_to_string(outside.path().join("c.md")).unwrap();
    assert_eq!(text, "secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 2);
}

#[tokio::test]
async fn what_a_rule_leaves_to_people_stays_open_and_so_does_what_is_proposed() {
    let work =
        Work::pulled(wiki_of(&[("docs/a", "a\n"), ("docs/b", "b\n"), ("docs/c", "c\n")]).await)
            .await;
    let before = all(&work.wiki);
    work.remove("en/docs/a.md");
    work.remove("en/docs/b.md");
    let kept = work.good("push", &["--yes"]).await;
    says(&kept.stdout, "kept in the wiki without --delete");
    // Two deletes are `large-sets`.
    let left = work.run("push", &["--yes", "--delete"]).await.exits(3);
    says(&left.stdout, "left for people to decide: ");
    assert_eq!(all(&work.wiki), before);
    work.good("pull", &[]).await;
    assert!(
        !work.has("en/docs/a.md"),
        "a pull leaves alone what was deleted here"
    );

    work.edit("en/docs/c.md", "\n\nc", "\n\nproposed");
    let answer = work.good("push", &["--propose", "--json"]).await.json();
    let id = answer["results"][0]["open"].as_str().unwrap().to_owned();
    assert_eq!(all(&work.wiki), before);
    work.command(&["proposals", "apply", &id, "--yes"])
        .await
        .good();
    let pulled = work.good("pull", &[]).await;
    assert!(!pulled.stdout.contains("conflict"), "{}", pulled.told);
    assert_eq!(work.status().await["ahead"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn what_may_not_be_read_is_not_pulled_and_what_may_not_be_written_is_not_pushed() {
    let wiki = wiki_of(&[("docs/a", "a\n"), ("secret/b", "b\n")]).await;
    let work = Work::on(wiki)
        .with("WIKI_DENIED_READ_PATH_PREFIXES", "secret")
        .with("WIKI_ALLOWED_MUTATION_PATH_PREFIXES", "other");
    work.good("pull", &[]).await;
    assert!(work.has("en/docs/a.md") && !work.has("en/secret"));
    work.edit("en/docs/a.md", "\n\na", "\n\nb");
    work.run("push", &["--yes"]).await.exits(3);
    assert!(mutations(&work.wiki).is_empty());
    work.write("en/secret/b.md", "taken\n");
    assert_eq!(work.run("push", &["--yes"]).await.code, 3);
    assert!(mutations(&work.wiki).is_empty());
}

#[tokio::test]
async fn more_than_two_hundred_changes_go_as_several_sets() {
    let paths: Vec<String> = (0..205).map(|number| format!("docs/p{number}")).collect();
    let pages = vec_of(paths.iter().map(|path| (path.as_str(), "Text.\n")));
    let work = Work::pulled(wiki_of(&pages).await)
        .await
        .with_rules("rules_off = [\"large-sets\"]\n");
    for path in &paths {
        work.edit(&format!("en/{path}.md"), "Text.", "Other text.");
    }
    let pushed = work.good("push", &["--yes"]).await;
    let part = "205 changes are more than the 200 of a set: they go as 2 sets";
    begins(&pushed.stdout, part);
    assert!(
        all(&work.wiki)
            .values()
            .all(|page| page.content == "Other text.\n")
    );
    work.is_as_in_the_wiki().await;
}

/// 205 pages; the first moves, and the others are edited, of which the last links to it.
async fn linked_across_sets(rules: &str) -> Work {
    let mut pages: Vec<(String, &str)> = (0..204)
        .map(|number| (format!("docs/p{number}"), "The text of a page.\n"))
        .collect();
    pages.push((
        "docs/last".to_owned(),
        "The text of a page.\n\nSee [the first](/docs/p0).\n",
    ));
    let pages = vec_of(pages.iter().map(|(path, text)| (path.as_str(), *text)));
    let work = Work::pulled(wiki_of(&pages).await).await.with_rules(rules);
    for (path, _) in &pages[1..] {
        work.edit(&format!("en/{path}.md"), "The text", "Another text");
    }
    work.rename("en/docs/p0.md", "en/docs/first.md");
    work
}

#[tokio::test]
async fn a_link_that_one_set_mends_in_a_page_of_the_next_is_no_conflict() {
    let work = linked_across_sets("rules_off = [\"large-sets\"]\n").await;
    let pushed = work.good("push", &["--yes"]).await;
    assert!(pushed.stdout.contains("they go as 2 sets"));
    let pages = all(&work.wiki);
    let content = |path: &str| pages[&("en".to_owned(), path.to_owned())].content.clone();
    let expected = "Another text of a page.\n\nSee [the first](/docs/first).\n";
    assert_eq!(content("docs/last"), expected);
    work.is_as_in_the_wiki().await;
}

#[tokio::test]
async fn an_edit_of_a_set_that_is_refused_stays_in_its_file() {
    let rules = "rules_off = [\"large-sets\"]\n[[rules]]\nname = \"descriptions\"\nfields = [\"description\"]\nthen = \"deny\"\n";
    let work = linked_across_sets(rules).await;
    work.edit("en/docs/last.md", "description:", "description: Told.");
    work.run("push", &["--yes"]).await.exits(3);
    let there = &all(&work.wiki)[&("en".to_owned(), "docs/last".to_owned())];
    let expected = "The text of a page.\n\nSee [the first](/docs/first).\n";
    assert_eq!(there.content, expected);
    let here = work.read("en/docs/last.md");
    assert!(here.contains("description: Told."), "{here}");
    assert!(here.ends_with("Another text of a page.\n\nSee [the first](/docs/first).\n"));
}

#[tokio::test]
async fn a_wiki_that_goes_away_in_the_middle_leaves_a_folder_that_the_next_pull_mends() {
    let wiki = wiki_of(&[("docs/a", "a\n"), ("docs/b", "b\n")]).await;
    let work = Work::pulled(wiki).await;
    work.edit("en/docs/a.md", "\n\na", "\n\nchanged");
    let before = tree(work.dir.path());
    let away = Work {
        key: work.wiki.keys().admin.clone(),
        dir: Arc::clone(&work.dir),
        audit: Arc::clone(&work.audit),
        settings: vec![("WIKI_BASE_URL", "http://127.0.0.1:9".to_owned())],
        wiki: Arc::new(wiki_of(&[]).await),
    };
    for (command, more) in [("pull", &[][..]), ("status", &[]), ("push", &["--yes"])] {
        let failed = away.run(command, more).await;
        assert_ne!(failed.code, 0, "{}", failed.told);
        assert_eq!(tree(work.dir.path()), before);
    }
    // What a kill left of a file that was being written is no page.
    work.write(".wikijs/part", "half a pa");
    work.good("push", &["--yes"]).await;
    let content = &all(&work.wiki)[&("en".to_owned(), "docs/a".to_owned())].content;
    assert_eq!(content, "changed\n");
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

/// The files of pages in a folder, without their ending.
fn names(work: &Work) -> Vec<String> {
    let files = tree(work.dir.path()).into_keys();
    files
        .filter_map(|file| {
            file.strip_prefix("en/")?
                .strip_suffix(".md")
                .map(str::to_owned)
        })
        .collect()
}

/// Takes the marks of conflicts away, and keeps both sides.
fn resolve(work: &Work) {
    for name in names(work) {
        let file = format!("en/{name}.md");
        let text = work.read(&file);
        let is_mark = |line: &&str| {
            line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") || *line == "======="
        };
        let kept: Vec<&str> = text.lines().filter(|line| !is_mark(line)).collect();
        // Both sides' fields may stand one below the other.
        let mut seen: Vec<&str> = Vec::new();
        let mut fences = 0;
        let kept = kept.into_iter().filter(|line| {
            fences += usize::from(*line == "---");
            let name = line.split(':').next().unwrap();
            let again = fences < 2 && *line != "---" && seen.contains(&name);
            seen.push(name);
            !again
        });
        let kept: Vec<&str> = kept.collect();
        work.write(&file, &format!("{}\n", kept.join("\n")));
    }
}

/// The pages whose files a command changed, as Git sees it, by their paths in `en`.
async fn seen_by_git(work: &Work, command: impl AsyncFnOnce() -> Ended) -> (Ended, Vec<String>) {
    let git = "git -c user.name=n -c user.email=n@example.org -c core.quotePath=false";
    let before = format!("{git} init -q; {git} add --all; {git} commit -q --allow-empty -m before");
    work.in_shell("/bin/sh", &before).await;
    let ended = command().await;
    let after = format!("{git} add --all; {git} diff --cached --no-renames --name-only -- en");
    let told = work.in_shell("/bin/sh", &after).await.stdout;
    let told = String::from_utf8(told).unwrap();
    let names = told.lines().map(|file| {
        let name = file.strip_prefix("en/").unwrap().rsplit_once('.').unwrap();
        name.0.to_owned()
    });
    (ended, names.collect())
}

/// Where pages differ between two looks at a wiki.
fn differing(
    one: &BTreeMap<(String, String), PageRow>,
    other: &BTreeMap<(String, String), PageRow>,
) -> BTreeSet<String> {
    let places = one.keys().chain(other.keys());
    places
        .filter(|place| one.get(place) != other.get(place))
        .map(|(_, path)| path.clone())
        .collect()
}

/// Somebody in the wiki adds a line to any page; false if there is none.
fn somebody_writes(wiki: &DemoWiki, dice: &mut Dice, token: &str, step: usize) -> bool {
    let ids: Vec<i64> = wiki.with_store(|store| store.pages().map(|page| page.id).collect());
    if ids.is_empty() {
        return false;
    }
    let id = ids[dice.below(ids.len())];
    let at = dice.below(6);
    wiki.with_store(|store| {
        let page = store.page_mut(id).unwrap();
        let mut lines: Vec<&str> = page.content.lines().collect();
        lines.insert(at.min(lines.len()), token);
        page.content = format!("{}\n", lines.join("\n"));
        page.updated_at = format!("2031-01-01T00:00:{step:02}.000Z");
    });
    true
}

/// Two people and an agent with folders of their own and somebody in the wiki edit, move and delete
/// in any order; every line that was written stays, unless its page was deleted by somebody who had
/// it. Git sees after a pull what changed in the wiki since the pull before, and no more.
async fn everybody_edits(seed: u64) {
    let mut dice = Dice(seed);
    let lines = "Line of the beginning.\n".repeat(6);
    let paths = ["docs/a", "docs/b", "docs/c", "docs/d"];
    let wiki = wiki_of(&paths.map(|path| (path, lines.as_str()))).await;
    let wiki = Arc::new(wiki);
    let person = || Work {
        key: wiki.keys().admin.clone(),
        wiki: Arc::clone(&wiki),
        dir: Arc::new(TempDir::new().unwrap()),
        audit: Arc::new(TempDir::new().unwrap()),
        settings: Vec::new(),
    };
    let people = [person(), person(), person()];
    for person in &people {
        person.good("pull", &[]).await;
    }
    let mut pulled_last = [all(&wiki), all(&wiki), all(&wiki)];
    let mut written: Vec<String> = Vec::new();
    let content_of_all = || -> String {
        all(&wiki)
            .values()
            .map(|page| page.content.clone())
            .collect()
    };
    for step in 0..36 {
        let token = format!("written-{seed}-{step}");
        let at = dice.below(people.len());
        let who = &people[at];
        let names = names(who);
        match dice.below(8) {
            0..=2 if !names.is_empty() => {
                let file = format!("en/{}.md", names[dice.below(names.len())]);
                let text = who.read(&file);
                let mut lines: Vec<&str> = text.lines().collect();
                let at = 7 + dice.below(lines.len() - 7);
                lines.insert(at, &token);
                who.write(&file, &format!("{}\n", lines.join("\n")));
                written.push(token);
            }
            3 if !names.is_empty() => {
                let name = &names[dice.below(names.len())];
                let to = format!("en/moved/{step}-by-hand.md");
                who.rename(&format!("en/{name}.md"), &to);
            }
            4 => {
                if somebody_writes(&wiki, &mut dice, &token, step) {
                    written.push(token);
                }
            }
            5 if names.len() > 2 => {
                // Only what nobody else has written to since is deleted for good.
                let file = format!("en/{}.md", names[dice.below(names.len())]);
                if !who.read(&file).contains("written-") {
                    who.remove(&file);
                }
            }
            6 => {
                let (pulled, changed) = seen_by_git(who, async || who.run("pull", &[]).await).await;
                assert!(matches!(pulled.code, 0 | 3), "{}", pulled.told);
                let now = all(&wiki);
                let differing = differing(&pulled_last[at], &now);
                // What moved here lies elsewhere there.
                for path in changed.iter().filter(|path| !path.starts_with("moved/")) {
                    assert!(
                        differing.contains(path),
                        "seed {seed}: {path}: {}",
                        pulled.told
                    );
                }
                pulled_last[at] = now;
                resolve(who);
            }
            _ => {
                let before = all(&wiki);
                let pushed = who.run("push", &["--yes", "--delete"]).await;
                assert!(matches!(pushed.code, 0 | 3), "seed {seed}: {}", pushed.told);
                if pushed.code == 3 && !pushed.stdout.contains("left for people") {
                    assert_eq!(all(&wiki), before, "{}", pushed.told);
                }
            }
        }
    }
    for _ in 0..3 {
        for person in &people {
            let pulled = person.run("pull", &[]).await;
            assert!(matches!(pulled.code, 0 | 3), "{}", pulled.told);
            resolve(person);
            let pushed = person.run("push", &["--yes"]).await;
            assert_eq!(pushed.code, 0, "seed {seed}: {}", pushed.told);
        }
    }
    let now = content_of_all();
    for line in &written {
        assert!(now.contains(line.as_str()), "seed {seed}: {line} is lost");
    }
}

#[tokio::test]
async fn whoever_edits_in_whatever_order_no_line_is_lost() {
    for seed in 1..=4 {
        everybody_edits(seed).await;
    }
}

/// One folder of one wiki, told step by step: what docs/files.md shows.
#[tokio::test]
async fn the_walk_in_the_docs_is_what_the_program_says() {
    let lines = "# Backup\n\nTake one every night.\n";
    let wiki = wiki_of(&[
        ("docs/backup", lines),
        (
            "docs/restore",
            "# Restore\n\nFrom a [backup](/docs/backup).\n",
        ),
        ("docs/old", "# Old\n\nNobody needs this.\n"),
    ])
    .await;
    let dir = TempDir::new().unwrap();
    let run = async |arguments: &[&str], stdin: &str| {
        let bare = wiki.address().split_once("://").unwrap().1.to_owned();
        Command::new(arguments)
            .at(
                &wiki.address(),
                &wiki.keys().admin,
                dir.path().join("audit"),
            )
            .writing()
            .quiet()
            .in_dir(dir.path())
            .stdin(stdin)
            .hide(bare, "wiki.lan")
            .end()
            .await
    };
    let shown = |marker: &str, told: &str| {
        let block = format!("```console\n{told}```\n");
        generated("docs/files.md", marker, &block, steady);
    };
    let good = async |marker: &str, arguments: &[&str]| {
        let ended = run(arguments, "").await.good();
        shown(marker, &ended.told);
    };
    good("pull", &["files", "pull", "handbook"]).await;
    let file = |name: &str| dir.path().join("handbook/en/docs").join(name);
    let page = fs::read_to_string(file("backup.md")).unwrap();
    generated(
        "docs/files.md",
        "page",
        &format!("```text\n{page}```\n"),
        str::to_owned,
    );

    fs::write(file("backup.md"), page.replace("every night", "every hour")).unwrap();
    fs::create_dir(file("operations")).unwrap();

    fs::rename(file("restore.md"), file("operations/restore.md")).unwrap();
    fs::remove_file(file("old.md")).unwrap();
    fs::write(file("new.md"), "Made with an editor.\n").unwrap();
    good("status", &["files", "status", "handbook"]).await;
    let push = [
        "files",
        "push",
        "handbook",
        "--delete",
        "--yes",
        "-m",
        "backups every hour",
    ];
    good("push", &push).await;
    good("undo", &["undo", "last", "--yes"]).await;
}

/// Git sees after a pull what changed in the wiki, and no more.
#[tokio::test]
async fn git_sees_after_a_pull_what_changed_and_no_more() {
    let git = |dir: &Path, arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let identity = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
        command
            .current_dir(dir)
            .args(identity)
            .args(arguments)
            .output()
    };
    let work =
        Work::pulled(wiki_of(&[("docs/a", "a\r\nb"), ("docs/b", "b\n"), ("docs/c", "c\n")]).await)
            .await;
    if git(work.dir.path(), &["init", "-q"]).is_err() {
        // The README promises tests that need the Rust toolchain alone.
        return;
    }
    let git = |arguments: &[&str]| {
        let output = git(work.dir.path(), arguments).unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["add", "-A"]);
    git(&["commit", "-qm", "pulled"]);
    work.good("pull", &[]).await;
    assert_eq!(git(&["status", "--porcelain", "--", "en", "README.md"]), "");
    let [a, b] = ["docs/a", "docs/b"].map(|path| id_of(&work.wiki, path));
    work.wiki.with_store(|store| {
        let page = store.page_mut(a).unwrap();
        "a\r\nB".clone_into(&mut page.content);
        page.updated_at = "2031-01-01T00:00:00.000Z".to_owned();
        // Written again as it was.
        "2031-01-01T00:00:00.000Z".clone_into(&mut store.page_mut(b).unwrap().updated_at);
    });
    work.good("pull", &[]).await;
    assert_eq!(git(&["diff", "--stat", "--", "en"]).lines().count(), 2);
    let diff = git(&["diff", "--", "en"]);
    assert!(diff.contains("\n-b\n") && diff.contains("\n+B\n"), "{diff}");
}

/// What the jobs of the example for CI run, in a shell that ends at the first failure.
fn ci_scripts() -> [String; 2] {
    let page = fs::read_to_string(root().join("docs/files.md")).unwrap();
    let scripts = page.split("        run: |\n").skip(1).map(|rest| {
        let lines = rest
            .lines()
            .map_while(|line| line.strip_prefix("          "));
        let script = lines.collect::<Vec<_>>().join("\n");
        script
            .replace("${{ github.event.number }}", "7")
            .replace("${{ github.sha }}", "1f2e3d")
    });
    scripts.collect::<Vec<_>>().try_into().unwrap()
}

#[tokio::test]
async fn the_example_for_ci_proposes_a_pull_request_and_pushes_a_merge() {
    let [propose, push] = ci_scripts();
    let work = Work::pulled(wiki_of(&[("docs/a", "a\n"), ("docs/b", "b\n")]).await).await;
    let good = async |script: &str| {
        let output = work.in_shell("/bin/sh -e", script).await;
        assert!(output.status.success(), "{script}: {output:?}");
    };
    let git = work.in_shell("/bin/sh", "git --version").await;
    if !git.status.success() {
        // The README promises tests that need the Rust toolchain alone.
        return;
    }
    let commit = "git add --all; git -c user.name=n -c user.email=n@example.org commit -qm edited";
    good("git init -q --bare -b main .origin; git init -q -b main; echo /.origin > .git/info/exclude").await;
    good(&format!(
        "{commit}; git remote add origin ./.origin; git push -qu origin main"
    ))
    .await;
    let content = |path: &str| {
        let pages = all(&work.wiki);
        pages
            .get(&("en".to_owned(), path.to_owned()))
            .map(|page| page.content.clone())
    };
    for round in ["first", "second"] {
        // Somebody works in the wiki, somebody else in Git.
        let id = id_of(&work.wiki, "docs/b");
        work.wiki.with_store(|store| {
            let page = store.page_mut(id).unwrap();
            page.content = format!("{round} in the wiki\n");
            page.updated_at = format!("2031-01-01T00:00:0{}.000Z", round.len());
        });
        let before = content("docs/a");
        let text = work.read("en/docs/a.md");
        let (head, _) = text.split_once("\n\n").unwrap();
        work.write("en/docs/a.md", &format!("{head}\n\n{round} in Git\n"));
        work.write(&format!("en/docs/{round}.md"), "New.\n");
        good(&format!("{commit}; git push -q")).await;

        good("git checkout -q --detach").await;
        good(&propose).await;
        assert_eq!(content("docs/a"), before);
        let open = work.command(&["proposals", "list"]).await;
        assert!(open.stdout.contains("pull request 7"), "{}", open.told);

        good("git checkout -qf main; git reset -q --hard origin/main").await;
        good(&push).await;
        assert_eq!(content("docs/a").unwrap(), format!("{round} in Git\n"));
        assert_eq!(content("docs/b").unwrap(), format!("{round} in the wiki\n"));
        assert_eq!(content(&format!("docs/{round}")).unwrap(), "New.\n");
        good("test -z \"$(git status --porcelain)\"; git diff --quiet origin/main").await;
        assert!(work.read("en/docs/b.md").contains(round));
    }
}
