"""The native core: request streams, simulated drives, closed forms and trees.

Its errors are those of `drivelab.errors`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

# --- histogram -------------------------------------------------------------------------

HISTOGRAM_BINS: int
"""Bins of a latency histogram in fio's layout."""

def histogram_bin(latency_ns: int) -> int:
    """Return the bin that counts a latency."""

def histogram_value(bin: int) -> int:  # noqa: A002
    """Return the latency in ns that stands for a bin: its middle, as fio prints it."""

def histogram_range(bin: int) -> tuple[int, int]:  # noqa: A002
    """Return the smallest and the largest latency in ns that a bin counts."""

def histogram_percentile(histogram: dict[int, int], percent: float) -> int:
    """Return the latency in ns that `percent` of a hundred do not exceed (fio's definition)."""

class BatchMeans:
    """Consecutive completions as at most 64 batches: how sure their mean latency is."""

    def __init__(self) -> None: ...
    def push(self, latencies_ns: list[int], ends_ns: list[int]) -> None:
        """Add completions in their order; `UsageError` when there are not as many times."""

    @property
    def requests(self) -> int:
        """Completions pushed."""

    @property
    def mean_ns(self) -> float | None:
        """Mean of all latencies; `None` before the first."""

    def latency_batches(self) -> dict[str, Any]:
        """Return what `LatencyBatches` takes."""

# --- workload --------------------------------------------------------------------------

SECTOR_BYTES: int
MAX_QUEUE_DEPTH: int
MOST_STREAMS: int
MAX_REQUEST_BYTES: int

CharacteristicsTuple = tuple[float, int, int, int, float, float, int, int]

def validate_characteristics(characteristics: CharacteristicsTuple, capacity_bytes: int) -> None:
    """Raise `UsageError` when a range of this many bytes cannot be asked for the workload."""

PassTuple = tuple[str, bool, int, int, int, int | None]
"""`WholePass.as_tuple()`: direction, whether its order is random, bytes of a request, where the
file begins, its bytes, and after how many requests it stops."""

StimulusTuple = tuple[
    float, bool, list[tuple[int, float]], list[tuple[float, float]], int, int, int, int, int
]
"""`Stimulus.as_tuple()`: share of reads, whether random, sizes, zones, threads, queue depth, where
the range begins and how long it is, and where accesses in order begin."""

# Core, for the host or for the drive itself, from when to when in ns.
CoreWork = tuple[int, bool, int, int]
WindowTuple = tuple[int, int, int | None, int | None, float | None, int]
"""When counting begins and ends: requests and ns before it, requests and ns in it, the half-width
over the mean that ends it, and after how many requests that does so at the latest."""

class Stream:
    """Requests that belong together: one program of the host. A workload consists of streams."""

    @staticmethod
    def of_characteristics(
        workload: CharacteristicsTuple,
        *,
        name: str = "workload",
        rate_iops: float | None = None,
        is_poisson: bool = True,
    ) -> Stream:
        """Make a closed loop, or with a rate one whose requests arrive: at random or evenly."""

    @staticmethod
    def of_pass(pass_: PassTuple) -> Stream:
        """Make a pass over a file; `UsageError` when there is none."""

    @staticmethod
    def of_stimulus(
        stimulus: StimulusTuple, name: str, is_forced: bool, share: float | None
    ) -> Stream:
        """Make a closed loop of an access pattern: whether writes are forced, share if held."""

    @staticmethod
    def of_requests(requests: list[tuple[int, str, int, int]], name: str) -> Stream:
        """Make a list of requests that arrive at their times.

        Each is its time in ns, what it does, its offset and its bytes; `UsageError` where there
        is no such request.
        """

    def within(self, range_bytes: int, start_bytes: int = 0) -> Stream:
        """Return the same in so many bytes of the drive, its first or those from a place on."""

    def of_content(self, content: str) -> Stream:
        """Return the same whose written data looks so."""

    @property
    def requests(self) -> int | None:
        """How many requests it has, where it ends by itself."""

    @property
    def writes_anywhere(self) -> bool:
        """Whether it changes data at places that do not follow the zones of a drive."""

    @property
    def end_bytes(self) -> int | None:
        """From the drive's first byte to the last that it may address; `None` for all of it."""

    def generate(
        self, seed: int, index: int, count: int
    ) -> list[tuple[bytes, list[int], list[int]]]:
        """Return the first `count` requests of each of its loops, in its range.

        Directions (0 read, 1 write; one byte a request), offsets and sizes in bytes.
        """

    def described(self) -> dict[str, Any]:
        """Return what it asks for, by name."""

class RequestList:
    """The requests of streams in the order in which they are sent, packed.

    A request takes 16 bytes, little endian: its first sector (u64), how many (u32), and whether
    it reads (0), writes (1) or trims (2) as u32.
    """

    def __init__(self, streams: list[Stream], capacity_bytes: int, seed: int) -> None:
        """Begin with the first; `UsageError` where the order is known on a drive alone."""

    def next(self, count: int) -> bytes:
        """Return the next, `count` of them (16,777,216 at most), or fewer at the end."""

    @property
    def left_out(self) -> int:
        """How many flushes were left out so far: they have no place."""

class RequestCount:
    """What a list of packed requests holds."""

    def __init__(self, capacity_bytes: int) -> None: ...
    def add(self, packed: bytes) -> None:
        """Count more; `UsageError` for what is no request within the capacity."""

    def told(self) -> dict[str, tuple[int, int, int, int]]:
        """By kind: requests, bytes, different bytes, and where the last of them ends."""

# --- keyed content ---------------------------------------------------------------------

class KeyedContent:
    """The content by which a file shows that Drivelab wrote it; `key` has 32 bytes.

    Raises `UsageError` when the key has another length.
    """

    def __init__(self, key: bytes) -> None: ...
    @property
    def tag(self) -> bytes:
        """What fio writes at the end of each sector that it fills anew, 16 bytes."""

    @property
    def randseed(self) -> int:
        """The seed of the buffers that fio keeps, below 2**62."""

    def fill(self, start: int, bytes: int) -> bytes:  # noqa: A002
        """Return what a file is filled with from byte `start` on; both are of whole sectors."""

    def learn(self, buffers: bytes) -> None:
        """Learn the sectors that fio's buffers hold."""

    def tally(self, content: bytes) -> tuple[int, int, int]:
        """Count the sectors that carry the key, those of zeroes, and all others."""

# --- replay ----------------------------------------------------------------------------

class RequestStream:
    """A request stream with a cursor; everything before it has completed.

    Raises `UsageError` when the range cannot be asked for the workload.
    """

    def __init__(
        self,
        characteristics: CharacteristicsTuple,
        range_start: int,
        range_bytes: int,
        seed: int,
        index: int,
    ) -> None: ...
    @staticmethod
    def of_pass(pass_: PassTuple, seed: int, index: int) -> RequestStream:
        """Return the stream of a pass over a file, one request at a time.

        Raises `UsageError` when there is no such pass.
        """

    @property
    def position(self) -> int:
        """Requests before the cursor."""

    def iolog_segment(self, file_name: str, count: int) -> bytes:
        """Return the next `count` requests as text that fio replays; the cursor stays."""

    def complete(self, completions: Completions) -> None:
        """Move the cursor past completed requests.

        Raises `RunError`, and stays, when these are not the very next requests of the stream,
        in an order that its queue depth allows.
        """

class Completions:
    """What fio's latency log says, in the order of completion; `RunError` for anything else."""

    def __init__(self, log: bytes) -> None: ...
    @staticmethod
    def merged(logs: list[Completions]) -> Completions:
        """Return those of several logs of one start of fio, in the order of their times."""

    def __len__(self) -> int: ...
    @property
    def end_ns(self) -> int:
        """When the last one completed, in ns from the job's start."""

    def accesses(self) -> tuple[bytes, list[int], list[int]]:
        """Return directions, offsets and sizes, as `generate` does."""

    def operation(self, direction: str) -> dict[str, Any] | None:
        """Return what `OperationResult` takes of all reads or writes; `None` without any."""

class RecordedSegments:
    """A recorded trace in pieces for fio, with a cursor: what lies before it has completed."""

    @property
    def clock_ns(self) -> int:
        """How long what completed took, without the pauses between segments."""

    def next(self, commands: int, span_ns: int) -> tuple[int, int, int] | None:
        """Go on to at most so many commands, of so much time, or `None` at the end.

        Returns how many they are, the flushes among them, and ns until the last is due.
        """

    def timed_iologs(self, file_name: str, jobs: int, lead_ms: int) -> list[bytes]:
        """Return what each of several jobs sends at its times, from `lead_ms` after their start."""

    def closed_iolog(self, file_name: str) -> bytes:
        """Return what one job with a queue sends as it is answered."""

    def complete(self, logs: list[Completions], lead_ms: int) -> None:
        """Take the log of each job; `RunError` when it did not send what it was given."""

    def complete_closed(self, log: Completions, queue_depth: int) -> None:
        """Take the log of the one job; `RunError` when it did not send what it was given."""

    def operation(self, direction: str) -> dict[str, Any] | None:
        """Return what `OperationResult` takes of all reads or writes; `None` without any."""

    def lateness(self) -> dict[str, Any] | None:
        """Return what `Lateness` takes of all of them, each at least so late; `None` of none."""

class CompletionWindow:
    """The window in which completions count, and what counted.

    It opens when `warmup_requests` have completed and `warmup_ns` have passed, and closes at
    `requests` counted ones or `duration_ns` after it opened. With `half_width_ratio` it closes
    when at least `requests` are counted and that is reached, or at `max_requests`.
    """

    def __init__(
        self,
        *,
        warmup_requests: int,
        warmup_ns: int,
        requests: int | None,
        duration_ns: int | None,
        half_width_ratio: float | None = None,
        max_requests: int = 0,
    ) -> None: ...
    def add(
        self,
        completions: Completions,
        *,
        filling: int,
        draining: int,
        stopped_ns: int | None,
    ) -> None:
        """Add the completions of a job that started now, by the window's time.

        Its queue was filling until the first `filling` requests had completed and drained with
        the last `draining` ones, from `stopped_ns` on if time stopped it: nothing of that counts.
        """

    @property
    def now_ns(self) -> int:
        """Time that has passed."""

    @property
    def opened_ns(self) -> int | None:
        """When the window opened, if it did."""

    @property
    def duration_ns(self) -> int:
        """From its opening to its closing or, so far, to now."""

    @property
    def completed(self) -> int:
        """Requests that completed, counted or not."""

    @property
    def requests(self) -> int:
        """Counted requests."""

    @property
    def closed_by(self) -> str | None:
        """What `Measurement.stopped_by` says or, as long as it is open, `None`."""

    def batches(self) -> dict[str, Any]:
        """Return what `LatencyBatches` takes."""

    def operation(self, direction: str) -> dict[str, Any] | None:
        """Return what `OperationResult` takes of the counted reads or writes."""

# --- tree ------------------------------------------------------------------------------

class TreeEnsemble:
    """A validated sum of trees; a missing feature is NaN."""

    @staticmethod
    def from_arrays(arrays: dict[str, Any]) -> TreeEnsemble:
        """Build an ensemble from what `arrays` returns; `UsageError` when it is none."""

    def arrays(self) -> dict[str, Any]:
        """Return the arrays that describe the ensemble completely, as lists by name."""

    @property
    def trees(self) -> int:
        """Number of trees."""

    def predict(
        self, features: NDArray[np.float64], rows: int, columns: int, threads: int = 1
    ) -> bytes:
        """Return one float64 a row from row-major float64; threads do not change a bit."""

def fit_trees(
    features: NDArray[np.float64],
    rows: int,
    columns: int,
    targets: NDArray[np.float64],
    *,
    rounds: int,
    learning_rate: float,
    max_leaves: int,
    min_samples_leaf: int,
    ridge: float,
    max_bins: int,
    row_fraction: float,
    linear_leaves: bool,
    seed: int,
) -> TreeEnsemble:
    """Fit boosted trees to float64 targets; `UsageError` for bad data or parameters."""

def fit_linear_leaf_tree(
    features: NDArray[np.float64],
    rows: int,
    columns: int,
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    categorical: list[bool],
    *,
    quantile: float | None,
    max_depth: int,
    min_samples_leaf: int,
    ridge: float,
    max_bins: int,
    folds: int,
    standard_errors: float,
    threads: int,
) -> tuple[TreeEnsemble, dict[str, list[Any]], list[float]]:
    """Fit one tree; return it, what is known of its nodes, and importances of the columns.

    A quantile of None fits least squares. `UsageError` for bad data or parameters.
    """

def any_within(
    features: NDArray[np.float64], others: NDArray[np.float64], columns: int, radius: float
) -> bytes:
    """Return one byte a row: 1 where any of the others lies within the radius, else 0."""

# --- queueing --------------------------------------------------------------------------

def replay_loops(
    table: NDArray[np.float64],
    layout: dict[str, Any],
    costs: list[float],
    requests: int,
    doublings: int,
) -> bytes:
    """Replay about `requests` of each workload, rows of eight characteristics.

    As long as the mean is not sure that number is doubled, at most `doublings` times.

    `layout` holds the fields of `drivelab.models.queueing.Layout`. Returns float64, sixteen a row:
    the time from one completion to the next in ns, then how often each cost is on the critical path
    of a request. `UsageError` for what is no drive or workload.
    """

def forecast_trace(
    stream: Stream,
    range_bytes: int,
    layout: dict[str, Any],
    begin: list[int],
    costs: NDArray[np.float64],
    window_ns: float,
) -> bytes:
    """Serve a trace on a queueing model of a drive of `range_bytes`.

    From each of the windows `begin` on it has the next row of `costs`. Returns float64, thirteen
    for each window in which requests are due, outstanding or completed: its number; reads and
    writes that complete, their bytes; requests that are due, and those of them that are sent more
    than 1 ms late; the sums of the latencies of reads and of writes that complete, the longest of
    each; the sums of how late what is due is sent, and of how long requests are outstanding in it,
    in ns. `UsageError` for what is no drive, or a trace that does not fit.
    """

# --- csv -------------------------------------------------------------------------------

def read_cells(
    text: bytes, width: int, wanted: list[int]
) -> tuple[bytes, list[tuple[int, int, str]], tuple[int, str] | None]:
    """Read whole lines of comma-separated cells.

    Returns the wanted columns as float64, row after row, NaN where empty or odd; the odd cells
    (row, which of the wanted, text); and, then without values, a row with what is wrong.
    """

def write_cells(columns: list[tuple[str, NDArray[np.float64]]]) -> bytes:
    """Write columns as lines; each is ``exact``, ``rounded`` (6 digits) or ``flag``."""

# --- presets ---------------------------------------------------------------------------

def preset_names() -> list[str]:
    """Return the names of the package's presets, in alphabetical order."""

def preset_text(name: str) -> str:
    """Return the TOML text of one of the package's presets."""

def preset_keys(
    kind: str,
) -> list[tuple[str, str, str | None, str | None, tuple[int, int, str | None] | None]]:
    """Return every key: what it may hold, its unit, usual value, and place, step, name in a fit."""

def preset_exclusions(kind: str) -> list[tuple[str, str, str, str]]:
    """Return what settings exclude: setting, key, values that remain, and reason."""

def resolve_preset(toml_text: str, base_texts: dict[str, str]) -> tuple[str, str]:
    """Check a preset; return its resolved description as JSON and its hash.

    `base_texts` are presets beside the file, by name; they come before the package's.
    """

# --- panics ----------------------------------------------------------------------------

class PanicException(BaseException):
    """A panic of the core as PyO3 raises it: ``pyo3_runtime.PanicException``."""

def take_panic() -> tuple[str, str] | None:
    """Return place and message of the first panic since the last call, if there was one."""

def panic_on_purpose(in_thread: bool) -> None:
    """Panic, here or in a thread of the core, so that what becomes of it can be tested."""

# --- simulated -------------------------------------------------------------------------

MOST_SIMULATED_NS: int
"""The most simulated time of a run."""

def available_cores() -> int:
    """Return how many cores this process may use."""

def counters() -> list[dict[str, str | None]]:
    """Return every counter that a run gives out, in the order of its keys.

    Each has ``key``, as ``drivelab simulate --json`` prints it (``flash.page_reads``), ``unit``,
    ``meaning``, ``of_array``, how the members of an array add up, and ``measured``, its name in
    `Measurement.extra`, or `None` where measurements do not tell it.
    """

class Scenario:
    """Several streams of requests on one simulated drive."""

    summary: str | None
    interval_ns: int | None
    window: WindowTuple
    occupancy: tuple[float, str, bool] | None
    """Share, order and steadiness of the pages with data; ``None`` where the drive decides."""

    def __init__(self, text: str, files: dict[str, str]) -> None:
        """Read a scenario; `files` gives the texts of the files that it names."""

    def streams(self) -> list[Stream]:
        """Return the streams, in order."""

def scenario_files(text: str) -> list[str]:
    """Return the files that a scenario names; none when it is no scenario."""

def scenario_names() -> list[str]:
    """Return the names of the package's scenarios, in alphabetical order."""

def scenario_text(name: str) -> str:
    """Return the TOML text of one of the package's scenarios."""

class Measuring:
    """Results in the order of the work, while threads measure ahead; close it."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> dict[str, Any]:
        """Wait for the next result; `RunError` when that workload failed."""

    def close(self) -> None:
        """Give up what is not taken, and end the threads."""

class Session:
    """A simulated drive whose steps go on from each other (`SimulatedDrive.session`).

    After a step that failed or was interrupted its state is lost, until it is purged or a state
    is loaded: `RunError`.
    """

    def purge(self) -> None:
        """Erase everything."""

    def run(
        self,
        streams: list[Stream],
        window: WindowTuple,
        *,
        place: int,
        total_bytes: int | None,
    ) -> dict[str, Any]:
        """Send streams at the same time until the first of window, bytes and their own end is over.

        ``streams`` is what each did. Random numbers are keyed by the session's seed and the place.
        """

    def idle(self, nanoseconds: int, place: int) -> None:
        """Leave the drive alone for so much simulated time."""

    def save(self) -> bytes:
        """Return the state between two steps."""

    def load(self, state: bytes) -> None:
        """Take up what `save` gave on the same drive; `UsageError` for anything else."""

def live_round_trip_ns() -> int:
    """Return how long a message takes to another thread and back, at best."""

class LiveAsked:
    """How a drive is to be served."""

    def __init__(
        self,
        *,
        name: str,
        description: str,
        socket: Path | None,
        port: int | None,
        block_bytes: int | None,
        backing: Path | None,
        memory_bytes: int,
        seed: int,
        dilation: float,
        cpu: int | None,
        late_ns: int,
        has_delay: bool,
        by_equations: bool,
        power_cuts: tuple[int, int, bool] | None,
    ) -> None:
        """Exactly one of `socket` and `port` is given; a `dilation` is 1 to 100,000.

        `power_cuts` are the times between them and without power, ns, and whether all is lost.
        """

class LiveServer:
    """A drive that is served until it is stopped or nobody holds this."""

    uri: str
    port: int | None
    block_path: str | None
    made_backing: bool

    def told(self) -> dict[str, Any]:
        """Return what was served up to some tenths of a second ago."""

    def watched(self, after: int) -> dict[str, Any] | None:
        """Return how it stood at the end of the last second; nothing if none is later than `after`.

        Seconds have numbers from 1 on. What was served in that one and in all is as `told` has it;
        `stretch` is what the drive did in it, `None` where nothing is simulated, and `media` what
        it did in all.
        """

    def stop(self) -> dict[str, Any]:
        """End it, and return what was served."""

    def is_over(self) -> bool:
        """Return whether it ended by itself, or its drive failed."""

class SimulatedDrive:
    """A simulated drive in its preset's condition."""

    capacity_bytes: int
    state_bytes: int
    config_hash: str
    variability: Literal["none", "on", "off"]

    def __init__(
        self,
        text: str,
        bases: dict[str, str] | None = None,
        *,
        varies: bool = True,
        like: SimulatedDrive | None = None,
    ) -> None:
        """Read a preset; `bases` gives the texts of presets outside the package.

        Without `varies` every run takes the preset's own times, whatever its variability. The
        state that runs begin with is that of `like` where only times, the host's side and buffers
        differ.
        """

    def filled(self, share: float, order: str, steady: bool) -> SimulatedDrive:
        """Return the drive with other pages that hold data before a run."""

    def filled_words(self) -> str | None:
        """Say which pages hold data in its condition, where the preset says it."""

    def resolved_json(self) -> str:
        """Return the resolved preset as JSON."""

    def session(self, *, seed: int) -> Session:
        """Return a drive of its own in the preset's condition."""

    def variability_factors(self, indices: list[int], seed: int, duration_ns: int) -> list[float]:
        """Return by how much each measurement of that length takes longer than the preset says."""

    def measure(
        self,
        work: list[tuple[int, list[Stream], WindowTuple, int | None]],
        *,
        seed: int,
        workers: int,
        range_bytes: int | None = None,
    ) -> Measuring:
        """Start to measure.

        Each is its index, the key of its random numbers beside the seed; what is sent at the same
        time; when counting begins and ends; and the writing that the drive has settled to before,
        in its first `range_bytes`: the bytes of each piece where it was at random, 0 where it was
        in order, `None` for the prepared state. Streams that end by themselves end it too.
        """

    def prepare(self) -> None:
        """Bring the drive into its condition, as the first run would."""

    def simulate(
        self,
        streams: list[Stream],
        window: WindowTuple,
        *,
        seed: int,
        interval_ns: int | None,
        log_requests: int | None,
        firmware: Path | None = None,
        from_state: tuple[Path, bytes] | None = None,
        keeps_state: bool = False,
        progress: Callable[[float, int, int, int, bool], None] | None = None,
    ) -> dict[str, Any]:
        """Run streams from the prepared state, or a snapshot, and tell everything.

        A snapshot comes with the name of its file, for messages; neither it nor keeping the state
        goes with a `firmware`.
        `progress` is called some times a second with the share of the way to the window's end,
        requests completed, simulated time in ns, requests outstanding, and whether the window is
        closed and they drain.
        """

    def serve(
        self, asked: LiveAsked, *, from_state: tuple[Path, bytes] | None = None
    ) -> LiveServer:
        """Serve the drive to programs, in its condition or a saved state with its file's name."""

    def record_span(
        self,
        streams: list[Stream],
        window: WindowTuple,
        *,
        seed: int,
        from_ns: int,
        to_ns: int,
        most: int,
    ) -> tuple[list[dict[str, Any]], list[CoreWork]]:
        """Return the flash operations under way in a span of a run, at most `most` and one more.

        Beside them stands the work of the controller's cores, as many at most. Times are ns from
        the beginning of the run; operations are in order of emission.
        """

    def record_timeline(
        self, direction: str, record_bytes: int
    ) -> tuple[list[dict[str, Any]], list[CoreWork]]:
        """Return the flash operations of one request on the idle drive, and the work of cores."""

# --- closed form -----------------------------------------------------------------------

class ClosedForm:
    """Equations 1 to 7 of Yoo et al. 2014 for one drive; refuses drives outside their condition."""

    def __new__(cls, toml_text: str, base_texts: dict[str, str]) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def page_size_bytes(self) -> int: ...
    @property
    def capacity_bytes(self) -> int: ...
    @property
    def rho(self) -> int: ...
    def record(self, direction: str, record_bytes: int) -> dict[str, int]:
        """Return the latency of one request and its parts, in ns and counts."""

# --- table -----------------------------------------------------------------------------

def parquet_table(
    columns: list[tuple[str, str, list[Any]]], properties: list[tuple[str, str]]
) -> bytes:
    """Return a table as a Parquet file.

    A column is a name, a kind (``text``, ``integer``, ``real``, ``integers``) and a cell a row,
    `None` where it is empty. Properties are kept beside the table.
    """

# --- trace -----------------------------------------------------------------------------

UNKNOWN_NS: int
"""A time in a column of a trace that the trace does not tell."""
UNKNOWN_PROCESS: int
"""A process in a column of a trace that the trace does not tell."""
TRACE_OPERATIONS: list[str]
"""The operations that the numbers of a column stand for: read, write, trim, flush, other."""

def trace_formats() -> list[dict[str, Any]]:
    """Return every format of traces: its name, title, layout, what its records tell.

    ``place`` says what positions in it count: ``line``, ``row`` or ``byte``; ``has_address_unit``
    whether the unit of its addresses can be given.
    """

TRACE_FITS: list[str]
"""How addresses of a trace are fitted to a drive: ``keep``, ``wrap``, ``scale``."""

USUAL_TRACE_DEPTH: int
"""The most requests outstanding of a replay of files at recorded times."""

class TraceSurvey:
    """A trace that is read once for a replay: what it holds, and where it falls on a drive.

    `UsageError` when it is no trace, or cannot be replayed so; `RunError` when a file cannot be
    read on.
    """

    @staticmethod
    def of_files(
        paths: list[str], options: dict[str, Any], fit: str, needs_depth: bool
    ) -> TraceSurvey:
        """Open files; `options` are the keywords of `TraceReader`, ``format`` among them."""

    @staticmethod
    def of_requests(requests: list[tuple[int, str, int, int]], fit: str) -> TraceSurvey:
        """Take a list: ns, what is done, offset and bytes of each, in order."""

    @property
    def requests(self) -> int:
        """Requests looked at so far."""

    def go_on(self, requests: int) -> bool:
        """Look at so many more, or a few more than that; `False` at the end."""

    def finish(self) -> SurveyedTrace:
        """Return what was found; the survey is over."""

class SurveyedTrace:
    """A trace that was read once, and is read again while it is sent."""

    def facts(self) -> dict[str, Any]:
        """Return what was found.

        ``format``, ``requests``, ``commands`` by kind, ``bytes``, ``span_ns``, ``devices`` with
        their requests, ``rounded``, ``cut``, ``left_out``, ``skipped``, ``largest_bytes``,
        ``alignment_bytes`` of which all places and sizes are multiples (0 of flushes alone),
        ``depth_mean`` and ``depth_max`` where asked for, ``cautions``, ``content`` by which the
        requests are known, ``end_bytes`` that it takes of a drive.
        """

    def stream(self, name: str, *, speed: float | None, depth: int | None) -> Stream:
        """Return its requests, `speed` times as fast as recorded or as fast as they are answered.

        With a depth at most so many are outstanding.
        """

    def segments(
        self, range_start: int, range_bytes: int, *, speed: float | None, depth: int
    ) -> RecordedSegments:
        """Return the same in pieces for fio, which keeps one depth, on a part of a drive."""

class TraceReader:
    """A block trace, read as a stream: memory does not grow with it.

    The format is told by the content unless it is named; files are plain, gzip or zstd, and
    several are merged by their times. `UsageError` when the trace or an option is wrong or a
    file is damaged, `RunError` when the system cannot read it on.

    Parameters
    ----------
    skip_bad_lines
        Count and leave out what is wrong; else the first one is an error.
    devices
        Only requests to these, by name.
    device_bytes
        Requests that end beyond are bad.
    time_unit_ns, sector_bytes
        Units of times and of addresses where they are not the format's.
    sort_window
        A request may come behind so many later ones; 0 for none.
    columns
        Of a Parquet file, what (``arrival``, ``offset``, ``size``, ``operation``, ``device``,
        ``response``, ``queue``, ``device_time``, ``process``) stands in which column.
    """

    def __init__(
        self,
        paths: list[Path] | list[str],
        *,
        format: str | None = None,  # noqa: A002
        skip_bad_lines: bool = False,
        devices: list[str] | None = None,
        device_bytes: int | None = None,
        time_unit_ns: int | None = None,
        sector_bytes: int | None = None,
        sort_window: int = 4096,
        columns: list[tuple[str, str]] | None = None,
    ) -> None: ...
    @property
    def format(self) -> str:
        """The name of the format."""

    @property
    def devices(self) -> list[tuple[str, int]]:
        """The devices so far, in the order in which they appear, with their requests."""

    def next_batch(self, least: int = 65_536) -> dict[str, bytes] | None:
        """Return the next requests in the order of arrival; `None` at the end.

        Columns for `numpy.frombuffer`: ``arrival_ns`` (after the first request),
        ``offset_bytes``, ``size_bytes``, ``response_ns``, ``queue_ns``, ``device_ns`` and
        ``position`` of uint64, ``device`` (a place in `devices`), ``process`` and ``file`` of
        uint32, ``operation`` (a place in `TRACE_OPERATIONS`) of uint8.
        """

    def checks(self) -> dict[str, Any]:
        """Return what was found so far, of the whole trace once `next_batch` returned `None`.

        ``findings`` holds what was found (``count``, ``is_bad``, first ``places`` as file and
        position), ``cautions`` what speaks against units and clock (name and sentence),
        ``operations`` requests and bytes of each.
        """

class TraceCharacterizer:
    """What a trace asks of a drive, counted in one pass and bounded memory.

    `UsageError` when more than 100,000 windows hold requests.

    Parameters
    ----------
    window_ns
        The length of windows; none without.
    """

    def __init__(self, *, window_ns: int | None = None) -> None: ...
    def add(self, reader: TraceReader, least: int = 65_536) -> int:
        """Count the next requests of a trace, and return how many; 0 at its end."""

    def finish(self) -> dict[str, Any]:
        """End the trace, and return what it asks for.

        Of all requests, as of each device and of `other_devices`: ``OP_requests`` and
        ``OP_bytes`` of each operation, the characteristics of Huang et al. 2011, equation 4
        (``write_ratio``, ``read_size_bytes``, ``read_random``, ``read_stride_bytes``, ...;
        ``queue_depth`` where completions are known), and ``read_sequential_requests``,
        ``strided``, ``backward``, ``random`` and ``adjacent``.

        ``arrivals`` holds ``gap_cv``, the histogram ``gaps`` and ``counted``, arrivals over
        1 ms to 1 min; ``read`` and ``write`` hold ``sizes``, ``service`` (histograms of
        ``response``, ``queue`` and ``device`` times), ``ranks`` (requests in order by how many
        other streams came between), ``run_streams`` and ``run_requests`` (by powers of two of
        a stream's bytes), ``held`` (cache blocks, accesses held) and ``block_accesses``.

        ``footprint`` holds bytes; ``heat`` grids of uint32, column by column; ``devices`` the
        64 busiest; ``windows`` columns of float64, ``begin_ns`` and ``duration_ns`` of uint64.
        Histograms have ``bins`` as pairs of bin and count in the layout of `histogram_range`.
        """

class TraceWriter:
    """A trace that is written as ``spc``, ``fio-iolog``, ``mqsim`` or ``parquet``.

    A request that the format cannot hold is a `UsageError`, or with `leave_out` left out.
    Compression is ``none``, ``gzip`` or ``zstd``. What cannot be written is a `RunError`.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        format: str,  # noqa: A002
        compression: str = "none",
        leave_out: bool = False,
    ) -> None: ...
    def write(self, batch: dict[str, NDArray[Any]], devices: list[str]) -> None:
        """Write requests: columns as `TraceReader.next_batch` has them, as arrays.

        ``response_ns``, ``queue_ns``, ``device_ns`` and ``process`` may be missing.
        """

    def copy(self, reader: TraceReader, least: int = 65_536) -> int:
        """Write the next requests of a trace, and return how many; 0 at its end."""

    def finish(self) -> dict[str, Any]:
        """End the file, and return what became of the requests.

        ``requests``, ``left_out`` by operation, ``times_rounded``, ``responses_dropped``,
        ``queue_events_dropped``, ``processes_dropped``, ``devices_numbered``.
        """
