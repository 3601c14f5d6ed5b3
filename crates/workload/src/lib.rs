//! Request streams.
//!
//! A workload consists of [`Stream`]s: plain values that a drive takes as they are.
//!
//! [`Characteristics`] is the workload vector of Huang et al. 2011, equation 4. [`Generator`] turns
//! it into an endless stream of requests. It does the same for a [`WholePass`] over a file, which
//! is what Boito et al. 2015 measure, and for a [`Stimulus`] of the performance test specification.
//! Nothing here knows time: in a closed loop the drive decides when the next request is drawn.
//!
//! [`RequestStream`] gives a stream to fio in pieces and checks fio's reports ([`completions`])
//! against it. [`RequestList`] gives streams to consumers that take requests without times, and
//! [`RequestCount`] counts what it holds. [`KeyedContent`] is the data that shows that Drivelab
//! wrote a file.

mod arrivals;
mod characteristics;
mod generator;
mod iolog;
mod keyed_content;
mod latency_log;
mod mixture;
mod paced;
mod packed;
mod permutation;
mod random;
mod recorded_segments;
mod replay;
mod request_list;
mod stimulus;
mod stream;
mod touched;
mod whole_pass;
mod windows;
mod zoned;

pub use arrivals::Arrivals;
pub use characteristics::{
    Characteristics, CharacteristicsError, MAX_QUEUE_DEPTH, MAX_REQUEST_BYTES,
};
pub use generator::Generator;
pub use iolog::{Iolog, IologNameError, iolog};
pub use keyed_content::{KEY_BYTES, KeyedContent, KeyedContentError, Tally};
pub use latency_log::{Completion, LatencyLogError, completions};
pub use paced::{Paced, PacedReader, PacedSource, SharedSource};
pub use packed::{KindCount, PACKED_BYTES, PACKED_KINDS, RequestCount, pack};
pub use permutation::Permutation;
pub use random::{Chance, Share, keyed_rng, uniform_below};
pub use recorded_segments::{RecordedSegment, RecordedSegments, SegmentEnd};
pub use replay::{QueueEnds, ReplayError, RequestStream, count};
pub use request_list::{RequestList, RequestListError};
pub use stimulus::{Loop, MAX_THREADS, Stimulus};
pub use stream::{Key, Requests, Source, Stream, WriteMode};
pub use touched::Touched;
pub use whole_pass::WholePass;
pub use windows::{
    Gap, Kind, MOST_CLASSES, MOST_REGIONS, MOST_VALUES, MOST_WINDOWS, Pairs, Place, Region, Train,
    Window, WindowedRequests, Windows, WindowsError,
};
pub use zoned::{Zoned, ZonedRequests, ZonesFound};
