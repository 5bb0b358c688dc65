use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::MAX_STATE;
use crate::audit::disk::layout::AuditLayout;
use crate::audit::testing::kept_path;
use crate::audit::{AuditError, AuditResult, KeptState};
use crate::page::testing::But as _;
use crate::page::{Date, Locale, PagePath, PageReading, PageState};
use crate::store::{LeaseMode, LeaseName};

fn page(title: &str) -> PageState {
    PageState {
        content: "# Ä\r\n\u{0}\u{2028}\n".to_owned(),
        editor: "markdown".to_owned(),
        tags: vec!["b".to_owned(), "a".to_owned()],
        is_published: true,
        publish_end_date: Date::from("soon".to_owned()),
        script_css: "body{color:red}".to_owned(),
        ..PageReading::bare(
            Some(7),
            Locale::as_stored("en"),
            PagePath::new("docs/a"),
            title.to_owned(),
        )
        .or_blank()
    }
}

fn keep(place: &AuditLayout, page: &PageState) -> AuditResult<KeptState> {
    let held = place
        .store
        .try_lease(&LeaseName::BLOBS, LeaseMode::Shared)?;
    let (name, length) = super::keep(&*place.store, page, &held.unwrap())?;
    assert_eq!(length, kept_path(place, name).metadata().unwrap().len());
    Ok(name)
}

fn kept(place: &AuditLayout, name: KeptState) -> AuditResult<PageState> {
    super::kept(&*place.store, name)
}

fn write_gz(path: &Path, content: &[u8]) {
    let mut packer = GzEncoder::new(std::fs::File::create(path).unwrap(), Compression::fast());
    packer.write_all(content).unwrap();
    packer.finish().unwrap();
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_kept_state_comes_back_as_it_was_and_equal_states_share_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let place = AuditLayout::new(dir.path().into(), "docs");
    let one = keep(&place, &page("One")).unwrap();
    let two = keep(&place, &page("Two")).unwrap();
    assert_eq!(keep(&place, &page("One")).unwrap(), one);
    assert_eq!(kept(&place, one).unwrap(), page("One"));
    assert_eq!(kept(&place, two).unwrap(), page("Two"));

    let mut expected = vec![format!("{one}.json.gz"), format!("{two}.json.gz")];
    expected.sort();
    assert_eq!(names(&place.directory().join("pages")), expected);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&kept_path(&place, one)), 0o600);
    assert_eq!(mode(&place.directory().join("pages")), 0o700);
    assert_eq!(mode(&place.directory()), 0o700);
}

#[test]
fn the_name_is_that_of_the_json_and_stays_so() {
    let name = KeptState::new(&serde_json::to_vec(&page("One")).unwrap());
    insta::assert_snapshot!(name, @"800d77365cefc209baab79555c0e084f8452ff807064a6fbad6f5336715c1150");
}

#[test]
fn a_state_that_was_tampered_with_is_refused_and_kept_anew_with_the_next_write() {
    let dir = tempfile::tempdir().unwrap();
    let place = AuditLayout::new(dir.path().into(), "docs");
    let name = keep(&place, &page("One")).unwrap();
    let path = kept_path(&place, name);

    let other = serde_json::to_vec(&page("Other")).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let damages: [&dyn Fn(); 4] = [
        &|| write_gz(&path, &other),
        &|| std::fs::write(&path, b"").unwrap(),
        &|| std::fs::write(&path, &whole[..whole.len() / 2]).unwrap(),
        &|| std::fs::write(&path, b"{}").unwrap(),
    ];
    for damage in damages {
        damage();
        assert_eq!(kept(&place, name), Err(AuditError::Damaged));
        assert_eq!(keep(&place, &page("One")), Ok(name));
        assert_eq!(kept(&place, name), Ok(page("One")));
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(kept(&place, name), Err(AuditError::Missing));
}

#[test]
fn a_file_that_unpacks_without_end_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let place = AuditLayout::new(dir.path().into(), "docs");
    let name = keep(&place, &page("One")).unwrap();
    write_gz(&kept_path(&place, name), &vec![b' '; MAX_STATE + 1]);
    assert_eq!(kept(&place, name), Err(AuditError::Damaged));
}

#[test]
fn what_could_not_be_read_back_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let place = AuditLayout::new(dir.path().into(), "docs");
    let large = page("Large").but(|it| it.content = "x".repeat(MAX_STATE));
    assert_eq!(keep(&place, &large), Err(AuditError::TooLarge));
    assert!(!place.directory().join("pages").exists());
}

#[test]
fn a_state_that_cannot_be_written_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let place = AuditLayout::new(dir.path().into(), "docs");
    let name = keep(&place, &page("One")).unwrap();
    std::fs::remove_file(kept_path(&place, name)).unwrap();
    // A directory in the way makes the rename fail, for root too.
    std::fs::create_dir(kept_path(&place, name)).unwrap();
    assert!(matches!(keep(&place, &page("One")), Err(AuditError::Io(_))));
    let names = names(&place.directory().join("pages"));
    assert_eq!(names, [format!("{name}.json.gz")]);
}

#[test]
fn a_state_with_anything_behind_its_end_is_damaged_and_is_kept_again() {
    let dir = tempfile::tempdir().unwrap();
    let place = AuditLayout::new(dir.path().into(), "docs");
    let name = keep(&place, &page("A")).unwrap();
    let path = kept_path(&place, name);
    let whole = std::fs::read(&path).unwrap();
    let mut second = Vec::new();
    let mut packer = GzEncoder::new(&mut second, Compression::fast());
    packer.write_all(b"{}").unwrap();
    packer.finish().unwrap();
    for behind in [&b"x"[..], &[0; 512], &second] {
        std::fs::write(&path, [&whole, behind].concat()).unwrap();
        assert_eq!(super::check(&*place.store, name), Err(AuditError::Damaged));
        assert_eq!(kept(&place, name), Err(AuditError::Damaged));
        assert_eq!(keep(&place, &page("A")), Ok(name));
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
    // The same behind the JSON within the file.
    let mut json = serde_json::to_vec(&page("A")).unwrap();
    json.push(b' ');
    write_gz(&path, &json);
    assert_eq!(super::check(&*place.store, name), Err(AuditError::Damaged));
}
