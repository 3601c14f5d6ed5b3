//! Submission entries, PRP lists and completion entries.
#![allow(clippy::unwrap_used)]

use drivelab_firmware::host::HostMemory;
use drivelab_firmware::nvme::{
    Command, Completion, MAX_TRANSFER_BYTES, Operation, Sectors, Status, TRANSFER_PAGES, entry,
    walk,
};
use proptest::prelude::*;

const CAPACITY: u64 = 100_000;
const PAGE: u64 = 4096;

fn read(first: u64, count: u32) -> Command {
    Command {
        identifier: 3,
        operation: Operation::Read(Sectors { first, count }),
        prp: [PAGE, 0],
    }
}

fn refused(change: impl FnOnce(&mut [u8; 64])) -> Option<Status> {
    let mut bytes = entry(&read(0, 8));
    change(&mut bytes);
    Command::parse(&bytes, CAPACITY).err()
}

proptest! {
    #[test]
    fn a_command_is_read_as_it_was_written(
        identifier in any::<u16>(),
        (first, count, is_forced, ranges) in (0..CAPACITY - 1024, 1_u32..=1024, any::<bool>(), 1_u32..=256),
        prp in any::<[u64; 2]>(),
        which in 0..4,
    ) {
        let sectors = Sectors { first, count };
        let operation = match which {
            0 => Operation::Flush,
            1 => Operation::Read(sectors),
            2 => Operation::Write { sectors, is_forced },
            _ => Operation::Deallocate { ranges },
        };
        let command = Command { identifier, operation, prp };
        prop_assert_eq!(Command::parse(&entry(&command), CAPACITY), Ok(command));
        prop_assert_eq!(Command::identifier_of(&entry(&command)), identifier);
    }

    #[test]
    fn no_entry_makes_the_front_end_fail(words in prop::collection::vec(any::<u64>(), 8)) {
        let mut bytes = [0; 64];
        for (place, word) in bytes.chunks_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        if let Ok(command) = Command::parse(&bytes, CAPACITY)
            && let Operation::Read(sectors) | Operation::Write { sectors, .. } = command.operation
        {
            prop_assert!(sectors.first + u64::from(sectors.count) <= CAPACITY);
        }
    }

    #[test]
    fn completions_are_read_as_they_were_written(
        (identifier, head, phase) in any::<(u16, u16, bool)>(),
        status in 0_u16..0x7FFF,
    ) {
        let completion = Completion { identifier, status: Status(status), head, phase };
        prop_assert_eq!(Completion::from_bytes(&completion.to_bytes()), completion);
    }

    #[test]
    fn no_list_is_read_beyond_the_memory(
        prp in any::<[u64; 2]>(),
        small in any::<[u16; 2]>(),
        is_small in any::<bool>(),
        bytes in 1..=MAX_TRANSFER_BYTES,
    ) {
        let memory = HostMemory::new(1 << 16);
        let prp = if is_small { small.map(u64::from) } else { prp };
        let mut pages = 0;
        let _ = walk(&memory, prp, bytes, |index, _| pages = pages.max(index + 1));
        prop_assert!(pages <= TRANSFER_PAGES);
    }
}

#[test]
fn what_is_not_supported_is_refused() {
    assert_eq!(refused(|_| {}), None);
    assert_eq!(
        refused(|bytes| bytes[0] = 0x7F),
        Some(Status::INVALID_OPCODE)
    );
    // A fused command, and a scatter-gather list.
    assert_eq!(refused(|bytes| bytes[1] = 1), Some(Status::INVALID_FIELD));
    assert_eq!(
        refused(|bytes| bytes[1] = 0x40),
        Some(Status::INVALID_FIELD)
    );
    assert_eq!(
        refused(|bytes| bytes[4] = 2),
        Some(Status::INVALID_NAMESPACE)
    );
    // 1025 sectors are more than 512 KiB.
    let large = refused(|bytes| bytes[48..50].copy_from_slice(&1024_u16.to_le_bytes()));
    assert_eq!(large, Some(Status::INVALID_FIELD));
}

#[test]
fn sectors_end_where_the_namespace_does() {
    let parse = |first, count| Command::parse(&entry(&read(first, count)), CAPACITY);
    assert!(parse(CAPACITY - 8, 8).is_ok());
    assert_eq!(parse(CAPACITY - 7, 8), Err(Status::OUT_OF_RANGE));
    assert_eq!(parse(u64::MAX, 8), Err(Status::OUT_OF_RANGE));
}

fn pages(memory: &HostMemory, prp: [u64; 2], bytes: u32) -> Result<Vec<u64>, Status> {
    let mut found = Vec::new();
    walk(memory, prp, bytes, |index, page| {
        assert_eq!(index, found.len());
        found.push(page);
    })?;
    Ok(found)
}

fn put(memory: &HostMemory, at: u64, entries: &[u64]) {
    for (place, entry) in (at..).step_by(8).zip(entries) {
        memory.write(place, &entry.to_le_bytes()).unwrap();
    }
}

#[test]
fn pages_come_from_one_entry_two_or_a_list() {
    let memory = HostMemory::new(1 << 20);
    let all = pages(&memory, [8 * PAGE, 0], 4096).unwrap();
    assert_eq!(all, [8 * PAGE]);
    // With an offset it reaches into a second page.
    let all = pages(&memory, [8 * PAGE + 512, 3 * PAGE], 4096).unwrap();
    assert_eq!(all, [8 * PAGE + 512, 3 * PAGE]);
    put(&memory, PAGE, &[20 * PAGE, 21 * PAGE, 22 * PAGE]);
    let all = pages(&memory, [8 * PAGE, PAGE], 16 << 10).unwrap();
    assert_eq!(all, [8 * PAGE, 20 * PAGE, 21 * PAGE, 22 * PAGE]);
}

#[test]
fn a_list_goes_on_on_another_page() {
    let memory = HostMemory::new(1 << 20);
    // Two entries are left on the page; the last one names the next list.
    put(&memory, 2 * PAGE - 16, &[20 * PAGE, 5 * PAGE]);
    put(&memory, 5 * PAGE, &[21 * PAGE, 22 * PAGE]);
    let all = pages(&memory, [8 * PAGE, 2 * PAGE - 16], 16 << 10).unwrap();
    assert_eq!(all, [8 * PAGE, 20 * PAGE, 21 * PAGE, 22 * PAGE]);
    // If it suffices for all, it is an entry like the others.
    let all = pages(&memory, [8 * PAGE, 2 * PAGE - 16], 12 << 10).unwrap();
    assert_eq!(all, [8 * PAGE, 20 * PAGE, 5 * PAGE]);
}

#[test]
fn wrong_pages_are_refused() {
    let memory = HostMemory::new(1 << 20);
    let wrong = Err(Status::INVALID_PRP_OFFSET);
    assert_eq!(pages(&memory, [8 * PAGE + 2, 0], 512), wrong);
    assert_eq!(pages(&memory, [8 * PAGE, PAGE + 4], 8192), wrong);
    assert_eq!(pages(&memory, [8 * PAGE, PAGE + 4], 16 << 10), wrong);
    put(&memory, PAGE, &[20 * PAGE + 512]);
    assert_eq!(pages(&memory, [8 * PAGE, PAGE], 16 << 10), wrong);
    let nowhere = pages(&memory, [8 * PAGE, 1 << 40], 16 << 10);
    assert_eq!(nowhere, Err(Status::TRANSFER_ERROR));
}
