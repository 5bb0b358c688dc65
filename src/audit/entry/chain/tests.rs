use proptest::prelude::*;
use time::macros::datetime;

use super::{ChainBreak, ChainFault, RunFileEnd, Verified, verify};
use crate::audit::entry::members::{Record, RecordStamp};
use crate::audit::{AuditEntry, AuditEvent, CallId, LineHash, RunId};

/// The lines of a run: a start, some refusals, and its end.
fn lines(count: u64) -> Vec<Vec<u8>> {
    let run = RunId::new().unwrap();
    let mut prev = LineHash::FIRST;
    (1..=count)
        .map(|seq| {
            let stamp = RecordStamp {
                seq,
                time: datetime!(2030-01-02 03:04:05 UTC),
                run,
                wiki: "docs",
                site: None,
                prev,
            };
            let mut record = match seq {
                1 => Record::bare(AuditEvent::Start, &stamp),
                seq if seq == count => Record::bare(AuditEvent::Closed, &stamp),
                _ => Record::new(
                    &AuditEntry::new(CallId::new().unwrap(), AuditEvent::Refusal),
                    &stamp,
                ),
            };
            let line = record.seal().unwrap();
            prev = record.hash;
            line
        })
        .collect()
}

fn file(lines: &[Vec<u8>]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| line.iter().copied().chain([b'\n']))
        .collect()
}

fn check(lines: &[Vec<u8>]) -> Result<Verified, ChainBreak> {
    verify(file(lines).as_slice())
}

fn broken<T>(line: u64, fault: ChainFault) -> Result<T, ChainBreak> {
    Err(ChainBreak { line, fault })
}

#[test]
fn an_untouched_run_holds() {
    let lines = lines(6);
    let verified = check(&lines).unwrap();
    assert_eq!((verified.records, verified.end), (6, RunFileEnd::Closed));
    let last = format!("\"hash\":\"{}\"}}", verified.last);
    assert!(lines[5].ends_with(last.as_bytes()));
}

#[test]
fn an_empty_file_is_an_open_run_without_records() {
    assert_eq!(
        check(&[]),
        Ok(Verified {
            records: 0,
            last: LineHash::FIRST,
            end: RunFileEnd::Open
        })
    );
}

#[test]
fn a_changed_line_shows() {
    for number in 1..=6 {
        let mut lines = lines(6);
        let line = &mut lines[number - 1];
        let at = line.windows(4).position(|bytes| bytes == b"docs").unwrap();
        line[at] = b'x';
        let number = u64::try_from(number).unwrap();
        assert_eq!(check(&lines), broken(number, ChainFault::Changed));
    }
}

#[test]
fn a_line_that_was_changed_with_its_hash_shows_in_the_next() {
    let mut lines = lines(6);
    let mut record = Record::parse(&lines[2]).unwrap();
    record.event = AuditEvent::Preview;
    lines[2] = record.seal().unwrap();
    assert_eq!(check(&lines), broken(4, ChainFault::Unlinked));
}

#[test]
fn removed_lines_show_with_their_numbers() {
    let mut lines = lines(6);
    lines.drain(1..3);
    assert_eq!(
        check(&lines),
        broken(2, ChainFault::Removed { first: 2, last: 3 })
    );
    lines.remove(0);
    assert_eq!(
        check(&lines),
        broken(1, ChainFault::Removed { first: 1, last: 3 })
    );
}

#[test]
fn lines_out_of_order_show() {
    let mut lines = lines(6);
    lines.swap(2, 4);
    assert_eq!(check(&lines), broken(3, ChainFault::Reordered { due: 3 }));
}

#[test]
fn a_repeated_line_shows() {
    let mut lines = lines(6);
    lines.insert(3, lines[1].clone());
    assert_eq!(check(&lines), broken(4, ChainFault::Repeated { seq: 2 }));
}

#[test]
fn a_line_that_was_put_in_with_the_right_number_and_hash_shows_in_the_next() {
    let mut lines = lines(6);
    let mut forged = Record::parse(&lines[2]).unwrap();
    forged.ms = 99;
    lines.insert(2, forged.seal().unwrap());
    assert_eq!(check(&lines), broken(4, ChainFault::Repeated { seq: 3 }));
}

#[test]
fn a_line_of_something_else_is_no_record() {
    let mut lines = lines(6);
    lines[1] = b"hello".to_vec();
    assert_eq!(check(&lines), broken(2, ChainFault::NotARecord));
    lines[1] = format!("{{{}", super::trailer(LineHash::new(b"{"))).into_bytes();
    assert_eq!(check(&lines), broken(2, ChainFault::NotARecord));
}

#[test]
fn nothing_follows_the_end_of_a_run() {
    let mut lines = lines(6);
    let closed = Record::parse(&lines[5]).unwrap();
    let mut more = Record {
        seq: 7,
        prev: closed.hash,
        event: AuditEvent::Outcome,
        ..closed
    };
    lines.push(more.seal().unwrap());
    assert_eq!(check(&lines), broken(7, ChainFault::AfterClosed));
}

#[test]
fn lines_cut_off_at_the_end_leave_an_open_end() {
    let lines = lines(6);
    let verified = check(&lines[..4]).unwrap();
    assert_eq!((verified.records, verified.end), (4, RunFileEnd::Open));
}

#[test]
fn a_last_line_cut_anywhere_is_half_written() {
    let lines = lines(4);
    let whole = file(&lines[..2]);
    for kept in 1..=lines[2].len() {
        let mut cut = whole.clone();
        cut.extend_from_slice(&lines[2][..kept]);
        let verified = verify(cut.as_slice()).unwrap();
        let records = if kept == lines[2].len() { 3 } else { 2 };
        assert_eq!(verified.records, records);
        assert_eq!(verified.end, RunFileEnd::HalfWritten);
    }
    let mut zeros = whole;
    zeros.extend([0; 100]);
    let end = verify(zeros.as_slice()).unwrap().end;
    assert_eq!(end, RunFileEnd::HalfWritten);
}

#[test]
fn a_last_line_that_is_not_the_beginning_of_the_record_due_is_tampering() {
    let lines = lines(6);
    let with_rest = |rest: &[u8]| {
        let mut file = file(&lines[..3]);
        file.extend_from_slice(rest);
        verify(file.as_slice())
    };
    assert_eq!(with_rest(b"hello"), broken(4, ChainFault::NotARecord));
    assert_eq!(with_rest(&lines[4][..30]), broken(4, ChainFault::Changed));
    let mut changed = lines[3].clone();
    changed[60] ^= 1;
    assert_eq!(with_rest(&changed), broken(4, ChainFault::Changed));
}

#[test]
fn nothing_half_written_follows_the_end_of_a_run() {
    let lines = lines(3);
    let mut file = file(&lines);
    file.extend_from_slice(b"{\"v\":1,\"seq\":4,");
    assert!(verify(file.as_slice()).is_err());
}

#[test]
fn a_chain_of_newer_records_can_be_followed() {
    let body = format!(
        "{{\"v\":9,\"seq\":1,\"event\":\"new\",\"what\":[],\"prev\":\"{}\"",
        LineHash::FIRST
    );
    let hash = LineHash::new(body.as_bytes());
    let line = format!("{body}{}\n", super::trailer(hash));
    assert_eq!(
        verify(line.as_bytes()),
        Ok(Verified {
            records: 1,
            last: hash,
            end: RunFileEnd::Open
        })
    );
}

proptest! {
    #[test]
    fn any_flipped_byte_shows(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let lines = lines(5);
        let mut file = file(&lines);
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        match verify(file.as_slice()) {
            Err(_) => {}
            // The very last line end, which is not part of a record.
            Ok(verified) => {
                prop_assert_eq!(at, file.len() - 1);
                prop_assert_eq!(verified.end, RunFileEnd::HalfWritten);
            }
        }
    }

    #[test]
    fn nothing_from_outside_makes_it_panic(file in any::<Vec<u8>>()) {
        let _ = verify(file.as_slice());
    }
}
