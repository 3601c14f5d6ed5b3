//! A map that several handles and threads share: it behaves like a map with one owner, and its
//! tables become the same map again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Arc, Mutex};

use drivelab_ftl::{
    Action, Allocation, Exclusive, Firmware, FlashLayout, Lpn, Memory, Operation, OperationBuffer,
    OperationKind, Pace, PageMap, PageRun, Policies, Ppn, Shared, TablesError,
};

const LAYOUT: FlashLayout = FlashLayout {
    planes: 4,
    blocks_per_plane: 32,
    pages_per_block: 48,
    logical_pages: 4 * 20 * 48,
    reserve_blocks: 2,
};

fn policies() -> Policies {
    Policies {
        pace: Pace::WholeBlock,
        background_blocks: Some(6),
        ..Policies::USUAL
    }
}

fn next(state: &mut u64) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 32) as u32
}

fn write(map: &mut PageMap<impl Memory>, page: u32, out: &mut OperationBuffer) {
    let run = PageRun::whole(Action::Write, Lpn(page), 1);
    map.submit(&[run], out).unwrap();
}

/// Random writes, trims and background collection, drawn from `seed`.
fn work(map: &mut PageMap<impl Memory>, seed: u64) -> Vec<Operation> {
    let mut out = OperationBuffer::default();
    let mut state = seed;
    for _ in 0..20_000 {
        let page = next(&mut state) % LAYOUT.logical_pages;
        match next(&mut state) % 16 {
            0 => {
                let run = PageRun::whole(Action::Trim, Lpn(page), 1);
                map.submit(&[run], &mut out).unwrap();
            }
            1..5 => {
                map.collect_in_background(page % LAYOUT.planes, 8, &mut out);
            }
            _ => write(map, page, &mut out),
        }
    }
    out.operations().to_vec()
}

fn check_every_page_once(map: &PageMap<Shared>) {
    let mut held = vec![false; LAYOUT.physical_pages() as usize];
    for page in 0..LAYOUT.logical_pages {
        if let Some(place) = map.physical(Lpn(page)) {
            assert!(map.is_valid(place), "{page}");
            assert!(!std::mem::replace(&mut held[place.0 as usize], true));
        }
    }
    for (place, is_held) in held.into_iter().enumerate() {
        assert_eq!(map.is_valid(Ppn(place as u32)), is_held, "{place}");
    }
}

#[test]
fn shared_and_exclusive_maps_emit_the_same_operations() {
    let mut one = PageMap::<Exclusive>::erased(LAYOUT, policies()).unwrap();
    let shared = PageMap::<Shared>::erased(LAYOUT, policies()).unwrap();
    let (mut first, mut second) = (shared.clone(), shared.clone());
    assert_eq!(work(&mut one, 7), work(&mut first, 7));
    // Another handle continues where the first has stopped.
    assert_eq!(work(&mut one, 8), work(&mut second, 8));
    check_every_page_once(&shared);
}

#[test]
fn threads_with_a_lock_a_plane_lose_no_page() {
    let map = PageMap::<Shared>::erased(LAYOUT, policies()).unwrap();
    let locks: Vec<Mutex<()>> = (0..LAYOUT.planes).map(|_| Mutex::default()).collect();
    let written: Vec<Vec<u32>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u64)
            .map(|thread| {
                let (mut map, locks) = (map.clone(), &locks);
                scope.spawn(move || {
                    let mut out = OperationBuffer::default();
                    let mut state = thread + 1;
                    let mut pages = Vec::new();
                    for step in 0..30_000 {
                        let page = next(&mut state) % LAYOUT.logical_pages;
                        let plane = page % LAYOUT.planes;
                        let _lock = locks[plane as usize].lock().unwrap();
                        if step % 4 == 0 {
                            map.collect_in_background(plane, 8, &mut out);
                        } else {
                            write(&mut map, page, &mut out);
                            pages.push(page);
                        }
                        if step % 100 == 0 {
                            assert!(
                                out.operations()
                                    .iter()
                                    .all(|operation| operation.kind != OperationKind::Read
                                        || operation.ppn.0 < u32::MAX)
                            );
                            out.clear();
                        }
                    }
                    pages
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    check_every_page_once(&map);
    for page in written.into_iter().flatten() {
        assert!(map.physical(Lpn(page)).is_some(), "{page}");
    }
}

/// Tables of 8-byte words, in which every cell is aligned.
fn over(tables: &[Arc<Vec<u64>>], policies: Policies) -> Result<PageMap<Shared>, TablesError> {
    // SAFETY: each vector is large enough, and lives as long as a handle to its table.
    unsafe {
        PageMap::over_tables(LAYOUT, policies, |index, table| {
            assert!(table.bytes() <= tables[index].len() * 8);
            let keeper: Arc<Vec<u64>> = Arc::clone(&tables[index]);
            (keeper.as_ptr().cast(), keeper)
        })
    }
}

fn kept(map: &PageMap<Shared>) -> Vec<Arc<Vec<u64>>> {
    let mut tables = Vec::new();
    map.table_contents(|bytes| {
        let words = bytes.chunks(8).map(|word| {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            u64::from_ne_bytes(whole)
        });
        tables.push(Arc::new(words.collect()));
        Ok::<(), ()>(())
    })
    .unwrap();
    tables
}

#[test]
fn tables_that_were_kept_go_on_as_the_map_would_have() {
    let mut map = PageMap::<Shared>::erased(LAYOUT, policies()).unwrap();
    work(&mut map, 3);
    let tables = kept(&map);
    let sizes = PageMap::<Shared>::tables(&LAYOUT);
    assert_eq!(sizes.len(), tables.len());
    let mut again = over(&tables, policies()).unwrap();
    assert_eq!(work(&mut map, 4), work(&mut again, 4));
    check_every_page_once(&again);
}

#[test]
fn maps_that_move_pages_between_planes_are_not_shared() {
    let map = PageMap::<Shared>::erased(LAYOUT, policies()).unwrap();
    let policies = Policies {
        allocation: Allocation::RoundRobin,
        ..policies()
    };
    let refused = over(&kept(&map), policies).err();
    assert_eq!(refused, Some(TablesError::NotStatic));
}
