//! The closed sets of words that a preset may use. Error messages list them from here.

use serde::{Serialize, Serializer};

pub use drivelab_ftl::{Allocation, Isolation, Pace, Replacement, StripingOrder, VictimPolicy};

macro_rules! choices {
    ($(#[$about:meta])* $name:ident { $($choices:tt)+ }) => {
        drivelab_ftl::named! { $(#[$about])* $name { $($choices)+ } }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}

/// Writes a choice of the firmware as its word.
macro_rules! written_by_word {
    ($($module:ident: $name:ty,)+) => { $(
        pub(super) mod $module {
            pub fn serialize<S: serde::Serializer>(choice: &$name, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(choice.word())
            }
        }
    )+ };
}

written_by_word! {
    pace_word: drivelab_ftl::Pace,
    victim_word: drivelab_ftl::VictimPolicy,
    order_word: drivelab_ftl::StripingOrder,
    allocation_word: drivelab_ftl::Allocation,
    isolation_word: drivelab_ftl::Isolation,
}

/// A choice that not every drive has.
pub(super) mod replacement_word {
    pub fn serialize<S: serde::Serializer>(
        choice: &Option<drivelab_ftl::Replacement>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(choice.map_or("", drivelab_ftl::Replacement::word))
    }
}

choices! {
    /// What kind of drive a preset describes.
    DriveKind {
        /// A solid-state drive.
        Ssd = "ssd",
        /// A hard disk.
        Hdd = "hdd",
        /// Equal drives in parallel, with stripes on each in turn.
        Raid0 = "raid0",
        /// An array of any level.
        Raid = "raid",
    }
}

choices! {
    /// The state of a drive before the first measured request.
    Condition {
        /// Never written: out of the box.
        Fresh = "fresh",
        /// Every logical page written once, sequentially.
        Filled = "filled",
        /// 128 KiB sequential writes of twice the capacity.
        Preconditioned = "preconditioned",
        /// Like preconditioned, with the erase counts that `[wear]` gives.
        Worn = "worn",
    }
}

choices! {
    /// Which pages of a drive hold data, and the order in which they were written.
    FillOrder {
        /// The first pages, one after another.
        InOrder = "in_order",
        /// Random pages in a random order, the same in every run.
        Random = "random",
    }
}

choices! {
    /// What the firmware maps, and where it keeps the map.
    MappingScheme {
        /// Any page may lie anywhere. The controller's memory holds the whole map.
        Page = "page",
        /// Any page may lie anywhere. The map lies on the flash, and the memory holds a part of it.
        DemandCachedPage = "demand_cached_page",
        /// Whole blocks. Overwrites go to a replacement block.
        Block = "block",
        /// Whole blocks. Overwrites go to a log block of their own.
        Bast = "bast",
        /// Whole blocks. Overwrites go to shared log blocks.
        Fast = "fast",
    }
}

choices! {
    /// How page operations reach the flash.
    Dispatch {
        /// One stage for the whole drive. The first operation in it waits until its unit is free.
        InOrder = "in_order",
        /// A queue at every unit. No operation waits for another unit.
        PerDie = "per_die",
    }
}

choices! {
    /// How the time that the firmware works is determined.
    FirmwareTime {
        /// It takes no time.
        Free = "free",
        /// The same time for every command.
        Fixed = "fixed",
        /// The sum of the costs of everything it does.
        Counted = "counted",
    }
}

choices! {
    /// When a write into the buffer completes.
    BufferPolicy {
        /// When its data is in the buffer.
        WriteBack = "write_back",
        /// When its data is programmed.
        WriteThrough = "write_through",
    }
}

choices! {
    /// The link between host and drive.
    HostInterface {
        /// Requests and data cross in no time, in any number.
        Free = "free",
        /// Serial ATA with native command queueing: one transfer at a time on the link.
        Sata = "sata",
        /// Serial attached SCSI: both directions at once.
        Sas = "sas",
        /// NVMe over PCI Express: both directions at once, several queue pairs.
        Nvme = "nvme",
    }
}

choices! {
    /// Which operations of one kind a die executes together on several of its planes.
    MultiPlane {
        /// None; they run one after another.
        Off = "off",
        /// Operations on pages at the same place in their blocks, as ONFI requires.
        SamePage = "same_page",
        /// Operations on different planes, on any pages.
        AnyPage = "any_page",
    }
}

choices! {
    /// What executes one operation at a time.
    WorkUnit {
        /// A die.
        Die = "die",
        /// A chip: its dies wait for one another.
        Chip = "chip",
    }
}

choices! {
    /// What goes first on a channel.
    ChannelOrder {
        /// A free die starts whenever an operation waits for it. Transfers go in the order of
        /// request.
        CommandsFirst = "commands_first",
        /// A die starts only when its channel is free and no data that was read waits for the
        /// channel.
        DataOutFirst = "data_out_first",
    }
}

choices! {
    /// What becomes of pages that are to read as zeroes, which the host does not send.
    WriteZeroes {
        /// Whole pages are given up, as by a trim.
        Deallocates = "deallocates",
        /// They are programmed.
        Programs = "programs",
    }
}

choices! {
    /// The order in which a die takes waiting operations.
    Order {
        /// The order in which they were emitted.
        FirstCome = "first_come",
        /// Reads of the host before programs and erases.
        ReadsFirst = "reads_first",
        /// Like `reads_first`; reads of streams with a better class also go before other reads.
        Priority = "priority",
    }
}

choices! {
    /// Which waiting access a hard disk serves next.
    SeekOrder {
        /// First come, first served.
        Fcfs = "fcfs",
        /// Shortest seek first.
        Sstf = "sstf",
        /// Shortest positioning time (seek plus rotation) first.
        Sptf = "sptf",
        /// In one direction as far as anything waits, then back.
        Elevator = "elevator",
    }
}
