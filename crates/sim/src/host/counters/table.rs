//! The table of counters, one row each.
//!
//! ```text
//!   /// What it says: a sentence, as documents have it.
//!   name: type, unit, how members join, where a run gives it out[, what else];
//! ```
//!
//! A row with `fn` is computed ([`super::derived`]), not counted. `measured` gives the counter's
//! name in each measurement. `firmware` says that the firmware counts it, and under which name.
//! [`Place`] lists where a run reports counters, [`super::joining`] the ways to combine them.

use drivelab_ftl::{Counts, EraseCounts};

use super::joining::{Added, Derived, Join, Listed, Mean, OverBlocks, Rule, Sum};
use super::value::{Countable, Value};
use super::{Counter, Place};

macro_rules! counters {
    // A counter: its field and its row.
    (@rows $head:tt [$($fields:tt)*] [$($rows:tt)*] [$($firmware:tt)*]
        $(#[doc = $meaning:literal])+
        $name:ident: $kind:ty, $unit:literal, $join:ident, $place:ident
        $(, measured $measured:literal)? $(, firmware $count:ident)?;
        $($rest:tt)*
    ) => {
        counters! {
            @rows $head
            [$($fields)* {$(#[doc = $meaning])+ $name: $kind, $join}]
            [$($rows)* {
                $name [$($meaning),+] $unit, $join, $place, [$($measured)?],
                <$kind as Countable>::SUFFIX, <$kind as Countable>::PARTS,
                |counters| counters.$name.value()
            }]
            [$($firmware)* $({$name $count})?]
            $($rest)*
        }
    };
    // A computed value: its row.
    (@rows $head:tt [$($fields:tt)*] [$($rows:tt)*] [$($firmware:tt)*]
        $(#[doc = $meaning:literal])+
        fn $name:ident, $unit:literal, $place:ident $(, measured $measured:literal)?;
        $($rest:tt)*
    ) => {
        counters! {
            @rows $head [$($fields)*]
            [$($rows)* {
                $name [$($meaning),+] $unit, Derived, $place, [$($measured)?], "", &[],
                |counters| Value::from(counters.$name())
            }]
            [$($firmware)*]
            $($rest)*
        }
    };
    (@rows {$(#[$about:meta])* $counters:ident, $object:literal}
        [$({$(#[$doc:meta])+ $field:ident: $kind:ty, $joins:ident})*]
        [$({
            $name:ident [$($meaning:literal),+] $unit:literal, $join:ident, $place:ident,
            [$($measured:literal)?], $suffix:expr, $parts:expr, $read:expr
        })*]
        $firmware:tt
    ) => {
        $(#[$about])*
        pub struct $counters {
            $($(#[$doc])+ pub $field: $kind,)*
        }

        impl $counters {
            /// The object in which a run reports them.
            pub const OBJECT: &'static str = $object;

            /// The table.
            pub const ROWS: &'static [Counter<Self>] = &[$(Counter {
                name: stringify!($name),
                place: Place::$place,
                unit: $unit,
                meaning: concat!($($meaning),+).trim_ascii_start(),
                of_array: <$join as Rule>::WORDS,
                measured: counters!(@option $($measured)?),
                suffix: $suffix,
                parts: $parts,
                read: $read,
            }),*];

            /// Combines the counters of an array's members; `None` if there are none.
            pub fn joined<'a>(members: impl Iterator<Item = &'a Self> + Clone) -> Option<Self> {
                members.clone().next()?;
                Some(Self {
                    $($field: <$joins as Join<$kind>>::join(members.clone().map(|m| &m.$field)),)*
                })
            }
        }

        counters! { @firmware $counters $firmware }
    };
    (@firmware $counters:ident []) => {};
    (@firmware $counters:ident [$({$name:ident $count:ident})+]) => {
        impl $counters {
            /// Adds what the firmware counted between `before` and `now`.
            pub(crate) fn take_firmware(&mut self, now: &Counts, before: &Counts) {
                $(self.$name = now.$count - before.$count;)+
            }
        }
    };
    (@option) => { None };
    (@option $value:literal) => { Some($value) };
    ($(#[$about:meta])* $counters:ident in $object:literal { $($rows:tt)* }) => {
        counters! { @rows {$(#[$about])* $counters, $object} [] [] [] $($rows)* }
    };
}

counters! {
    /// What the flash did. An operation counts in the window in which the flash executes it. What
    /// the firmware counts belongs to the window of the firmware's decision.
    #[derive(Clone, Debug, Default, PartialEq)]
    FlashCounters in "flash" {
        /// flash pages read inside the window; `flash` is `null` for a hard disk
        page_reads: u64, "pages", Sum, Object, measured "page_reads";
        /// pages programmed for the host
        host_page_programs: u64, "pages", Sum, Object, measured "host_page_programs";
        /// pages that collection moved
        collection_page_programs: u64, "pages", Sum, Object, measured "collection_page_programs";
        /// pages that wear levelling moved
        wear_page_programs: u64, "pages", Sum, Object;
        /// pages copied from SLC blocks to dense ones; 0 on a drive without them
        fold_page_programs: u64, "pages", Sum, Object;
        /// pages that refreshes moved, because they were old or their blocks were read often; 0 on
        /// a drive without `[refresh]`
        refresh_page_programs: u64, "pages", Sum, Object;
        /// blocks that were refreshed
        refreshed_blocks: u64, "blocks", Sum, Object, firmware refreshes;
        /// blocks whose data was older than `refresh.retention_ns` when the run was over, and whose
        /// refresh had not begun; 0 on a drive without that key
        overdue_blocks: u64, "blocks", Sum, Object;
        /// pages that collection and wear levelling moved inside their plane, without crossing
        /// the channel
        copyback_page_programs: u64, "pages", Sum, Object;
        /// reads repeated inside the window because a block is worn; `null` for a drive whose times
        /// do not change with wear
        read_retries: Option<u64>, "times", Sum, Object;
        /// blocks erased inside the window
        block_erases: u64, "blocks", Sum, Object, measured "block_erases";
        /// time that all cores of the controller together worked inside the window; 0 if the
        /// firmware is free
        core_busy_ns: u64, "ns", Sum, Object;
        /// blocks that collection chose and emptied, as the firmware decided inside the window;
        /// flash operations count when they are done
        collections: u64, "blocks", Sum, Object, firmware collections;
        /// valid pages that collection moved, as the firmware decided inside the window
        collection_moves: u64, "pages", Sum, Object, firmware moves;
        /// valid pages that wear levelling moved, as the firmware decided inside the window
        wear_moves: u64, "pages", Sum, Object, firmware wear_moves;
        /// blocks that became bad inside the window, as the firmware decided; `null` for a drive
        /// whose blocks do not fail
        retired_blocks: Option<u64>, "blocks", Sum, Object;
        /// bad blocks when the run was over, including those from the factory; `null` for a drive
        /// whose blocks do not fail
        bad_blocks: Option<u64>, "blocks", Sum, Object;
        /// merges that copied nothing, on a drive that maps blocks; 0 on one that maps pages
        switch_merges: u64, "merges", Sum, Object, firmware switch_merges;
        /// merges that copied the rest of a block behind its log
        partial_merges: u64, "merges", Sum, Object, firmware partial_merges;
        /// merges that copied the pages of a block together
        full_merges: u64, "merges", Sum, Object, firmware full_merges;
        /// map entries found in the controller's memory, on a drive whose map lies on the flash; 0
        /// on other drives
        map_hits: u64, "entries", Sum, Object, firmware map_hits;
        /// map entries that were not in the controller's memory
        map_misses: u64, "entries", Sum, Object, firmware map_misses;
        /// flash pages of the map that were read
        map_page_reads: u64, "pages", Sum, Object;
        /// flash pages of the map that were programmed
        map_page_programs: u64, "pages", Sum, Object;
        /// written pages that were packed with others instead of programmed by themselves, on a
        /// drive that compresses; 0 on other drives
        packed_pages: u64, "pages", Sum, Object, firmware packed_pages;
        /// written pages that were all zeroes and take no space, on a drive that compresses; 0 on
        /// other drives
        zero_pages: u64, "pages", Sum, Object, firmware zero_pages;
        /// pages read from the write buffer
        buffer_hit_pages: u64, "pages", Sum, Object, measured "buffer_hit_pages";
        /// pages written over a page that waited in the write buffer
        coalesced_pages: u64, "pages", Sum, Object;
        /// pages that reads found in the read cache or on their way into it
        cache_hit_pages: u64, "pages", Sum, Object;
        /// pages that reads did not find in the read cache; 0 without one
        cache_miss_pages: u64, "pages", Sum, Object;
        /// pages read ahead into the read cache
        read_ahead_pages: u64, "pages", Sum, Object;
        /// page programs over pages that the host wrote (its programs and, on a drive that
        /// compresses, pages that needed none); `null` without any
        fn write_amplification_ratio, "ratio", Object, measured "write_amplification_ratio";
        /// how often blocks were erased, when the run was over and the drive drained
        erase_counts: Option<EraseCounts>, "erases", OverBlocks, Object;
        /// flash pages programmed in the whole run, for the host and for collection; `null` for a
        /// hard disk
        page_programs: u64, "pages", Sum, Run;
        /// by channel, share of the window in which it transferred; `null` for a hard disk and for
        /// an array
        channel_utilisation_ratio: Vec<f64>, "ratio", Listed, Run,
            measured "channel_utilisation_ratio";
        /// by unit, share of the window in which it worked or held an operation; unit u is on
        /// channel u mod channels; `null` for a hard disk and for an array
        unit_utilisation_ratio: Vec<f64>, "ratio", Listed, Run, measured "die_utilisation_ratio";
        /// reads of moves by copyback
        copyback_page_reads: u64, "pages", Sum, Core;
    }
}

counters! {
    /// What a drive with placement handles did, as its firmware decided inside the window.
    #[derive(Clone, Debug, Default, PartialEq)]
    PlacementCounters in "placement" {
        /// by placement handle, pages that the host wrote with it; `placement` is absent for a
        /// drive without handles
        host_pages: Vec<u64>, "pages", Added, Object;
        /// by placement handle, pages of its data that were programmed: for the host, and by
        /// collection from reclaim units that held only its data
        media_pages: Vec<u64>, "pages", Added, Object;
        /// times that a handle went on to another reclaim unit
        unit_switches: u64, "times", Sum, Object;
        /// reclaim units whose valid pages collection began to move: "media reallocated"
        moved_units: u64, "units", Sum, Object;
        /// reclaim units that held no valid page when they were collected
        empty_units: u64, "units", Sum, Object;
        /// pages written with a handle or into a group that the drive does not have; they went to
        /// the first handle or to another group: "invalid placement identifier"
        invalid_pages: u64, "pages", Sum, Object;
        /// pages written into another reclaim group because theirs was full
        displaced_pages: u64, "pages", Sum, Object;
    }
}

counters! {
    /// What a drive with namespaces did for each of them. An operation counts in the window in
    /// which it ends.
    #[derive(Clone, Debug, Default, PartialEq)]
    NamespaceCounters in "namespaces" {
        /// by namespace, pages of its data programmed for the host; `namespaces` is absent for a
        /// drive without namespaces
        host_pages: Vec<u64>, "pages", Added, Object;
        /// by namespace, pages of its data programmed: for the host, and where the drive moves
        /// data
        media_pages: Vec<u64>, "pages", Added, Object;
    }
}

counters! {
    /// What happened to the zones of a drive, as its firmware judged commands inside the window.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    ZoneCounters in "zones" {
        /// appends that were carried out; `zones` is absent for a drive without zones
        appends: u64, "commands", Sum, Object;
        /// zones that were reset, without those that were empty
        resets: u64, "zones", Sum, Object;
        /// zones that were finished before they were full
        finishes: u64, "zones", Sum, Object;
        /// zones that the host opened
        opens: u64, "zones", Sum, Object;
        /// zones that the host closed
        closes: u64, "zones", Sum, Object;
        /// zones that the drive closed so that another could be open
        drive_closes: u64, "zones", Sum, Object;
        /// zones that were written to their end
        filled_zones: u64, "zones", Sum, Object;
        /// commands refused because they did not write at their zone's write pointer: "zone invalid
        /// write"
        refused_not_at_pointer: u64, "commands", Sum, Object;
        /// commands refused because their zone was full: "zone is full"
        refused_full: u64, "commands", Sum, Object;
        /// commands refused because they went past the end of their zone: "zone boundary error"
        refused_across_end: u64, "commands", Sum, Object;
        /// commands refused because no more zones may be active: "too many active zones"
        refused_too_many_active: u64, "commands", Sum, Object;
        /// commands refused because no more zones may be open: "too many open zones"
        refused_too_many_open: u64, "commands", Sum, Object;
        /// commands refused because their zone could not be opened or closed: "invalid zone state
        /// transition"
        refused_transition: u64, "commands", Sum, Object;
        /// writes refused because they were not whole pages, and appends that were too large or not
        /// at the beginning of a zone: "invalid field in command"
        refused_invalid: u64, "commands", Sum, Object;
        /// commands refused, for any of these reasons
        fn refused_commands, "commands", Object;
        /// the most zones that were open at once
        most_open: u64, "zones", Sum, Object;
        /// the most zones that were active at once: open, or begun and closed
        most_active: u64, "zones", Sum, Object;
    }
}

counters! {
    /// What a hard disk did. An access counts in the window in which it ends.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    DiskCounters in "disk" {
        /// reads of the platters inside the window; `disk` is `null` for other drives
        media_reads: u64, "accesses", Sum, Object, measured "media_reads";
        /// writes to the platters, from the write cache and past it
        media_writes: u64, "accesses", Sum, Object, measured "media_writes";
        /// bytes read from the platters and written to them
        media_bytes: u64, "bytes", Sum, Object, measured "media_bytes";
        /// reads that found everything in the disk's memory
        cache_hit_reads: u64, "reads", Sum, Object, measured "cache_hit_reads";
        /// bytes read ahead, whether or not they were read later
        read_ahead_bytes: u64, "bytes", Sum, Object, measured "read_ahead_bytes";
        /// bytes written again before they left the write cache
        replaced_bytes: u64, "bytes", Sum, Object, measured "replaced_bytes";
        /// share of the window in which an access was served, without reading ahead
        utilisation_ratio: f64, "ratio", Mean, Object, measured "utilisation_ratio";
    }
}

counters! {
    /// What an array with copies or parity did, in addition to what its members did.
    #[derive(Clone, Debug, Default, PartialEq)]
    ArrayCounters in "array" {
        /// reads sent to members, for the host and for the array itself; `array` is absent for
        /// RAID-0 and for single drives
        member_reads: u64, "commands", Sum, Object;
        /// writes sent to members
        member_writes: u64, "commands", Sum, Object;
        /// parity read, to update it or to compute what is missing
        parity_read_bytes: u64, "bytes", Sum, Object;
        /// parity written
        parity_write_bytes: u64, "bytes", Sum, Object;
        /// updates of a row that read the overwritten data and parity
        read_modify_writes: u64, "times", Sum, Object, measured "read_modify_writes";
        /// updates of a row that read the data that was not written
        reconstruct_writes: u64, "times", Sum, Object, measured "reconstruct_writes";
        /// updates of a row that read nothing
        full_stripe_writes: u64, "times", Sum, Object, measured "full_stripe_writes";
        /// reads of the host that needed a missing member; with parity, counted by row
        degraded_reads: u64, "reads", Sum, Object, measured "degraded_reads";
        /// bytes of a member that were rebuilt
        rebuilt_bytes: u64, "bytes", Sum, Object, measured "rebuilt_bytes";
        /// bytes of that member that were not rebuilt when the window closed; `null` if no member
        /// is rebuilt
        rebuild_left_bytes: Option<u64>, "bytes", Sum, Object;
        /// from the opening of the window to the end of the rebuild, if it ended in the window
        rebuild_ended_ns: Option<u64>, "ns", Sum, Object;
        /// bytes per second at which the member was rebuilt, until the rebuild ended
        fn rebuild_bytes_per_second, "bytes/s", Object;
        /// time that the rest would take at that speed
        fn rebuild_left_seconds, "s", Object;
        /// how long the window was open, in the array's time
        window_ns: u64, "ns", Sum, Core;
    }
}

counters! {
    /// The energy that a window took from the power supply.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    Energy in "energy" {
        /// energy of the cell arrays inside the window; `energy` is `null` where the preset has
        /// no `[energy]`
        cell_joules: f64, "joules", Sum, Object;
        /// energy of transfers on the channels
        channel_joules: f64, "joules", Sum, Object;
        /// energy of the drive without any work
        idle_joules: f64, "joules", Sum, Object;
        /// all three energies together
        fn joules, "joules", Object;
        /// mean power over the window
        mean_watts: f64, "watts", Sum, Object;
        /// requests a second and watt, which is requests a joule
        fn iops_per_watt, "requests a joule", Object;
        /// requests of the window
        requests: u64, "requests", Sum, Core;
    }
}

#[cfg(test)]
mod tests {
    use super::super::described;
    use super::*;

    #[test]
    fn every_key_stands_once_and_every_meaning_is_a_sentence_of_its_own() {
        let described = described();
        for (place, one) in described.iter().enumerate() {
            assert!(described[..place].iter().all(|other| other.key != one.key));
            assert!(one.meaning.len() > 9 && !one.meaning.ends_with('.'));
            assert!(!one.meaning.contains("  ") && !one.meaning.contains('\n'));
        }
        let keys: Vec<_> = described.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys[0], "flash.page_reads");
        assert!(keys.contains(&"flash.erase_counts.least"));
        assert!(keys.contains(&"unit_utilisation_ratio[]"));
        assert!(!keys.contains(&"flash.copyback_page_reads"));
    }

    #[test]
    fn an_array_has_what_its_members_have_together() {
        let member = |reads: u64, share: f64| FlashCounters {
            page_reads: reads,
            host_page_programs: reads,
            collection_page_programs: 1,
            read_retries: Some(reads),
            unit_utilisation_ratio: vec![share],
            ..FlashCounters::default()
        };
        let members = [member(1, 0.5), member(3, 1.0)];
        let joined = FlashCounters::joined(members.iter()).unwrap_or_default();
        assert_eq!((joined.page_reads, joined.read_retries), (4, Some(4)));
        assert_eq!(joined.unit_utilisation_ratio, [0.5, 1.0]);
        assert_eq!(joined.write_amplification_ratio(), Some(1.5));
        assert_eq!(joined.bad_blocks, None);
        assert!(FlashCounters::joined([].iter()).is_none());
    }

    #[test]
    fn rows_read_what_was_counted() {
        let counters = DiskCounters {
            media_reads: 7,
            utilisation_ratio: 0.25,
            ..DiskCounters::default()
        };
        let values: Vec<_> = DiskCounters::ROWS
            .iter()
            .map(|row| (row.name, (row.read)(&counters)))
            .collect();
        assert_eq!(values[0], ("media_reads", Value::Count(Some(7))));
        assert_eq!(values[6], ("utilisation_ratio", Value::Real(Some(0.25))));
    }
}
