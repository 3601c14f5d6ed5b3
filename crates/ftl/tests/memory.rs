//! The bytes that the state of a drive takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use drivelab_ftl::{FlashLayout, PageMap, Undo};

const MIB: u64 = 1 << 20;

/// Drives of 4 KiB pages, 256 a block, with 7 % over-provisioning.
fn drive(user_bytes: u64) -> FlashLayout {
    let logical_pages = user_bytes / 4096;
    let planes = 256;
    let blocks = (logical_pages as f64 * 1.07 / f64::from(planes) / 256.0).ceil();
    FlashLayout {
        planes,
        blocks_per_plane: blocks as u32,
        pages_per_block: 256,
        logical_pages: logical_pages as u32,
        reserve_blocks: 4,
    }
}

#[test]
fn a_state_takes_at_most_ten_bytes_a_page() {
    for user_bytes in [MIB << 10, MIB << 16, MIB << 20, MIB << 23] {
        let mut layout = drive(user_bytes);
        let whole = PageMap::<Undo>::table_bytes(&layout);
        // The marks of changes: one bit for 128 bytes.
        let marks = whole / 1024;
        assert!(
            whole + marks <= 10 * layout.physical_pages() + 64 * MIB,
            "{layout:?}"
        );
        // Blocks of sixteen pages need more for every page.
        layout.blocks_per_plane *= 16;
        layout.pages_per_block /= 16;
        let whole = PageMap::<Undo>::table_bytes(&layout);
        assert!(whole + whole / 1024 <= 10 * layout.physical_pages() + 64 * MIB);
    }
}

/// A write costs a bit of the marks, which exist already.
#[test]
fn undoing_needs_less_than_sixteen_bytes_a_page_changed() {
    let layout = drive(MIB << 16);
    let whole = PageMap::<Undo>::table_bytes(&layout);
    // When more than a quarter of the chunks is marked, the marks are dropped.
    let changed = u64::from(layout.logical_pages) / 4 / 32;
    assert!(whole / 1024 <= 16 * changed);
}

/// The prepared state has no reverse map; the one worker has everything.
#[test]
fn a_drive_of_one_tebibyte_with_one_worker_stays_below_4_gib() {
    let layout = drive(MIB << 20);
    let whole = PageMap::<Undo>::table_bytes(&layout);
    let prepared = whole - PageMap::<Undo>::reverse_map_bytes(&layout);
    let both = prepared + whole + whole / 1024;
    assert!(both + 256 * MIB < 4096 * MIB, "{} MiB", both / MIB);
}
