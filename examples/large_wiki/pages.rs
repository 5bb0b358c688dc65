//! Pages of a large wiki, the same in every run: English with Chinese among it, German, Japanese.

use std::fmt::Write as _;

use wikijs_gate::demo::{DemoWiki, PageRow};

/// Bytes of a page, on average; 10,000 pages make 50 MB.
const BYTES: usize = 5_000;
/// A page in so many is long.
const LONG: usize = 100;

const ENGLISH: &str = "the of and to in service page request answer table index memory worker queue deploy restart backup restore database cluster node network gateway certificate token session cache metric alert runbook incident owner review change version release branch merge build test report figure budget customer invoice ledger account entry balance";
const GERMAN: &str = "der die und in den von Dienst Seite Anfrage Antwort Tabelle Verzeichnis Speicher Sicherung Wiederherstellung Datenbank Knoten Netzwerk Zertifikat Sitzung Zwischenspeicher Meldung Vorfall Prüfung Änderung Fassung Veröffentlichung Bericht Rechnung Konto Buchung Größe Übersicht";
const CHINESE: &str = "每周 会议 记录 服务 数据库 备份 恢复 网络 证书 缓存 报告 预算 客户 发票 账户 余额 版本 发布 测试 审核 变更 负责人 事件 警报 指标 部署 重启 队列 内存 索引";
const JAPANESE: &str = "東京 会議 記録 サービス データベース バックアップ 復元 ネットワーク 証明書 セッション キャッシュ レポート 予算 顧客 請求書 口座 残高 バージョン リリース テスト 変更 担当者 障害 警告 指標 配備 再起動 メモリ 索引";

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let high = u32::try_from(self.0 >> 33).unwrap_or_default();
        usize::try_from(high).unwrap_or_default() % sides.max(1)
    }
}

/// Puts so many pages into a wiki, each in its own locale or all in this one; gives the bytes of
/// their content.
pub(crate) fn plant(wiki: &DemoWiki, count: usize, all_in: Option<&str>) -> usize {
    wiki.with_store(|store| {
        (0..count)
            .map(|number| {
                let page = page_in(number, count, all_in);
                let bytes = page.content.len();
                store.add(page);
                bytes
            })
            .sum()
    })
}

/// One of so many pages, in its own locale or in this one.
pub(crate) fn page_in(number: usize, count: usize, all_in: Option<&str>) -> PageRow {
    let mut dice = Dice(u64::try_from(number).unwrap_or_default() * 7_919 + 17);
    let (locale, words, space) = match number % 10 {
        0..=3 => ("en", ENGLISH, " "),
        4 | 5 => ("en", CHINESE, ""),
        6 | 7 => ("de", GERMAN, " "),
        _ => ("ja", JAPANESE, ""),
    };
    let locale = all_in.unwrap_or(locale);
    let words: Vec<&str> = words.split(' ').collect();
    let word = |dice: &mut Dice| words.get(dice.roll(words.len())).copied().unwrap_or("x");
    let title = format!("{} {} {number}", word(&mut dice), word(&mut dice));
    let goal = if number.is_multiple_of(LONG) {
        BYTES * 10
    } else {
        BYTES * 9 / 10
    };
    let mut content = format!("# {title}\n\n");
    while content.len() < goal {
        let _ = write!(content, "## {} {}\n\n", word(&mut dice), word(&mut dice));
        for _ in 0..4 {
            for _ in 0..40 {
                content.push_str(word(&mut dice));
                content.push_str(space);
            }
            content.push_str(if space.is_empty() { "。\n\n" } else { ".\n\n" });
        }
        // Words that few pages have, and a link.
        let _ = write!(
            content,
            "Case term{:05} in [another page](/{locale}/area{}/page{}).\n\n",
            dice.roll(20_000),
            dice.roll(20),
            dice.roll(count)
        );
    }
    PageRow {
        locale: locale.to_owned(),
        path: format!("area{}/page{number}", number % 20),
        description: Some(format!("Page {number} of a large wiki")),
        tags: vec![
            format!("even{}", dice.roll(20)),
            format!("odd{}", dice.roll(20)),
        ],
        title,
        content,
        ..PageRow::default()
    }
}
