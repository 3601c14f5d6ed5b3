//! Slots compared with a simple list, and their use in the buffers.
#![allow(clippy::unwrap_used)]

use drivelab_firmware::buffer::{Slots, WriteBuffer, WriteState, runs, share_of};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Do {
    Take(u32),
    Touch(usize),
    Hide(usize),
    Release(usize),
}

fn steps() -> impl Strategy<Value = Vec<Do>> {
    let step = prop_oneof![
        4 => (0_u32..40).prop_map(Do::Take),
        2 => (0_usize..8).prop_map(Do::Touch),
        1 => (0_usize..8).prop_map(Do::Hide),
        2 => (0_usize..8).prop_map(Do::Release),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    /// The list has the slots in order of use: slot, page, and whether it can be found.
    #[test]
    fn slots_do_what_a_list_does(steps in steps()) {
        const SLOTS: usize = 8;
        let mut slots = Slots::new(SLOTS);
        let mut list: Vec<(u16, u32, bool)> = Vec::new();
        for step in steps {
            match step {
                Do::Take(page) => {
                    if list.iter().any(|&(_, held, found)| found && held == page) {
                        continue;
                    }
                    let slot = slots.take(page);
                    prop_assert_eq!(slot.is_some(), list.len() < SLOTS);
                    list.extend(slot.map(|slot| (slot, page, true)));
                }
                Do::Touch(place) if place < list.len() => {
                    let entry = list.remove(place);
                    slots.touch(entry.0);
                    list.push(entry);
                }
                Do::Hide(place) if place < list.len() => {
                    slots.hide(list[place].0);
                    list[place].2 = false;
                }
                Do::Release(place) if place < list.len() => slots.release(list.remove(place).0),
                _ => {}
            }
            for page in 0..40 {
                let held = list.iter().find(|entry| entry.2 && entry.1 == page);
                prop_assert_eq!(slots.find(page), held.map(|entry| entry.0));
            }
            let held: Vec<u16> = slots.held().collect();
            prop_assert_eq!(held, list.iter().map(|entry| entry.0).collect::<Vec<_>>());
            prop_assert_eq!(slots.free(), SLOTS - list.len());
        }
    }

    #[test]
    fn runs_cover_the_bits_that_are_set(mask in any::<u32>()) {
        let mut covered = 0_u64;
        for run in runs(mask) {
            for sector in run.start / 512..run.end / 512 {
                covered |= 1 << sector;
            }
        }
        prop_assert_eq!(covered, u64::from(mask));
    }
}

#[test]
fn the_slots_of_all_servers_are_the_buffer() {
    for servers in 1..=15 {
        let all: usize = (0..servers).map(|server| share_of(server, servers)).sum();
        assert_eq!(all, 64);
    }
}

#[test]
fn a_page_that_is_flushed_takes_another_slot() {
    let mut buffer = WriteBuffer::new(2);
    let (first, _) = buffer.slot_for(9).unwrap();
    buffer.wrote(first, u32::MAX);
    assert_eq!(buffer.slot_for(9), Some((first, true)));
    buffer.flushing(first);
    let (second, was_there) = buffer.slot_for(9).unwrap();
    assert!(second != first && !was_there);
    assert_eq!(buffer.slots.find(9), Some(second));
    buffer.flushing(second);
    // Both are being flushed, so a writer must wait.
    assert_eq!(buffer.slot_for(9), None);
    buffer.release(first);
    assert!(buffer.slot_for(9).is_some());
}

#[test]
fn what_came_before_is_clean_when_its_slots_are_gone() {
    let mut buffer = WriteBuffer::new(4);
    let (old, _) = buffer.slot_for(1).unwrap();
    buffer.wrote(old, 1);
    let then = buffer.now();
    let (young, _) = buffer.slot_for(2).unwrap();
    buffer.wrote(young, 1);
    assert!(!buffer.is_clean_until(then));
    assert_eq!(buffer.next_dirty(Some(then)), Some(old));
    buffer.flushing(old);
    assert_eq!(buffer.state(old), WriteState::Flushing);
    assert!(!buffer.is_clean_until(then));
    buffer.release(old);
    assert!(buffer.is_clean_until(then));
    assert_eq!(buffer.next_dirty(Some(then)), None);
    assert_eq!(buffer.dirty(), 1);
}

#[test]
fn a_page_written_in_part_is_filled_up() {
    let mut buffer = WriteBuffer::new(1);
    let (slot, _) = buffer.slot_for(1).unwrap();
    buffer.data_mut(slot)[512..1024].fill(7);
    buffer.wrote(slot, 0b10);
    let page = vec![3; 16 << 10];
    assert_eq!(buffer.fill(slot, Some(&page)), (16 << 10) - 512);
    assert_eq!(buffer.mask(slot), u32::MAX);
    let data = buffer.data(slot);
    assert!(data[512..1024].iter().all(|&byte| byte == 7));
    assert!(
        data[..512]
            .iter()
            .chain(&data[1024..])
            .all(|&byte| byte == 3)
    );
}
