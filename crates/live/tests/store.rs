//! Stored data compared with an array of bytes.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use drivelab_live::data::{BackingError, FileStore, MemoryStore, Store, StoreError, Syncs};
use proptest::prelude::*;

const SIZE: u64 = 5 << 20;

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("drivelab-live-{}-{name}", std::process::id()))
}

fn bytes(store: &Store, offset: u64, size: u32) -> Vec<u8> {
    let mut read = vec![42];
    store.read(offset, size, &mut read).unwrap();
    assert_eq!(read[0], 42);
    read.split_off(1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn what_was_written_is_read(
        steps in prop::collection::vec((0..4_u8, 0..SIZE / 512, 1..2_000_u64, any::<u8>()), 1..30)
    ) {
        let name = path("property");
        let mut stores = [
            Store::Memory(MemoryStore::new(SIZE, SIZE)),
            Store::File(FileStore::open(&name, SIZE).unwrap()),
        ];
        let mut plain = vec![0; SIZE as usize];
        for (what, sector, sectors, value) in steps {
            let (offset, size) = (sector * 512, (sectors * 512).min(SIZE - sector * 512));
            let range = offset as usize..(offset + size) as usize;
            for store in &mut stores {
                match what {
                    0 => {
                        let data: Vec<u8> = (0..size).map(|at| value ^ at as u8).collect();
                        store.write(offset, &data).unwrap();
                        plain[range.clone()].copy_from_slice(&data);
                    }
                    1 => {
                        store.forget(offset, size).unwrap();
                        plain[range.clone()].fill(0);
                    }
                    2 => {
                        store.write_zeroes(offset, size).unwrap();
                        plain[range.clone()].fill(0);
                    }
                    _ => {}
                }
                prop_assert!(bytes(store, offset, size as u32) == plain[range.clone()]);
            }
        }
        for store in &stores {
            prop_assert!(bytes(store, 0, SIZE as u32) == plain);
        }
    }
}

#[test]
fn memory_has_a_bound_and_what_is_forgotten_makes_room() {
    let mut store = MemoryStore::new(1 << 40, 1 << 20);
    store.write(0, &[1; 1 << 20]).unwrap();
    assert_eq!(store.write(1 << 39, &[1; 512]), Err(StoreError::NoSpace));
    // Over existing data.
    store.write(4096, &[2; 4096]).unwrap();
    store.forget(0, 8192);
    assert_eq!(store.held_bytes(), (1 << 20) - 8192);
    // Elsewhere a page needs a table too.
    assert_eq!(store.write(1 << 39, &[3; 512]), Err(StoreError::NoSpace));
    store.forget(8192, 4096);
    store.write(1 << 39, &[3; 512]).unwrap();
    store.forget(0, 1 << 40);
    assert_eq!(store.held_bytes(), 0);
    // Nothing is stored beyond the end.
    assert_eq!(store.write(1 << 40, &[3; 512]), Err(StoreError::NoSpace));
}

#[test]
fn scattered_data_stay_within_the_bound_with_their_tables() {
    let mut store = MemoryStore::new(1 << 40, 1 << 20);
    let step = 2 << 20;
    let mut write = |place: u64| store.write(place * step, &[1; 4096]).is_ok();
    let written = (0..1_000).filter(|&place| write(place)).count() as u64;
    // Each takes its page and a table of 8 KiB; the table of one is free.
    assert_eq!(written, ((1 << 20) + 8192) / (4096 + 8192));
    // Tables disappear with their last page, however much is forgotten at a time.
    for place in 0..written {
        store.forget(place * step, 4096);
    }
    for place in 500..500 + written {
        store.write(place * step, &[1; 4096]).unwrap();
    }
    let mut whole = MemoryStore::new(SIZE, SIZE);
    whole.write(0, &[1; SIZE as usize]).unwrap();
}

#[test]
fn zeroes_that_keep_their_room_take_it() {
    let mut memory = MemoryStore::new(SIZE, SIZE);
    memory.write_zeroes(512, 4096).unwrap();
    assert_eq!(memory.held_bytes(), 8192);
    let name = path("zeroes");
    let mut store = Store::File(FileStore::open(&name, SIZE).unwrap());
    let held = || fs::metadata(&name).unwrap().blocks() * 512;
    assert_eq!(held(), 0);
    store.write_zeroes(0, 1 << 20).unwrap();
    assert!(held() >= 1 << 20);
    store.forget(0, 1 << 20).unwrap();
    assert_eq!(held(), 0);
}

#[test]
fn a_file_stays_if_it_is_kept_and_is_refused_where_it_does_not_fit() {
    let name = path("backing");
    drop(FileStore::open(&name, SIZE).unwrap());
    assert!(!name.exists());
    let mut store = FileStore::open(&name, SIZE).unwrap();
    assert!(store.keep());
    assert!(matches!(
        FileStore::open(&name, SIZE),
        Err(BackingError::InUse { .. })
    ));
    drop(store);
    for size in [SIZE - 512, SIZE + 512] {
        let refused = FileStore::open(&name, size);
        assert!(matches!(
            refused,
            Err(BackingError::Size { found: SIZE, .. })
        ));
    }
    let mut again = FileStore::open(&name, SIZE).unwrap();
    assert!(!again.keep());
    drop(again);
    fs::remove_file(&name).unwrap();
    let folder = FileStore::open(&std::env::temp_dir(), SIZE);
    assert!(matches!(
        folder,
        Err(BackingError::NoFile {
            what: "is a folder",
            ..
        })
    ));
    let device = FileStore::open("/dev/null".as_ref(), SIZE);
    assert!(matches!(device, Err(BackingError::NoFile { .. })));
    let link = path("link");
    std::os::unix::fs::symlink("/nowhere/at/all", &link).unwrap();
    let dangling = FileStore::open(&link, SIZE);
    fs::remove_file(&link).unwrap();
    assert!(matches!(
        dangling,
        Err(BackingError::NoFile {
            what: "is a link to nothing",
            ..
        })
    ));
    let missing = FileStore::open("/nowhere/at/all".as_ref(), SIZE).unwrap_err();
    assert!(missing.to_string().contains("mkdir -p"), "{missing}");
}

#[test]
fn the_last_sync_tells_whether_it_succeeded() {
    let name = path("syncs");
    let store = Store::File(FileStore::open(&name, SIZE).unwrap());
    assert!(store.syncs().unwrap().unwrap().finish());
    // A pipe cannot be synced.
    let (_, end) = std::io::pipe().unwrap();
    let syncs = Syncs::start(fs::File::from(OwnedFd::from(end))).unwrap();
    syncs.ask(1);
    assert!(!syncs.finish());
}
