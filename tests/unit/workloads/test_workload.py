"""Any workload: its kinds, as JSON and back, in a line for people, and where it goes."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from drivelab.errors import UsageError
from drivelab.workloads.characteristics import Characteristics
from drivelab.workloads.scenario import Scenario, said_by
from drivelab.workloads.side_by_side import Part, SideBySide
from drivelab.workloads.stimuli import Stimuli
from drivelab.workloads.stimulus import Stimulus
from drivelab.workloads.trace import Trace
from drivelab.workloads.whole_pass import WholePass
from drivelab.workloads.workload import KINDS, Workload, workload_json, workload_of_json

MIB = 2**20
READS = Stimulus.of_size(4096, 1.0, 8 * MIB, threads=2, queue_depth=16)
WRITES = Stimulus.of_size(128 * 1024, 0.0, MIB, is_random=False, range_start_bytes=8 * MIB)
BESIDE = """requests = 100
[[stream]]
name = "log"
queue_depth = 1
range_bytes = 1048576
[[stream]]
name = "backup"
requests_csv = "backup.csv"
"""
BACKUP = "at_ns,action,offset_bytes,size_bytes\n0,read,4194304,8192\n"
WORKLOADS = {
    "mixed": Characteristics(
        write_ratio=0.3, queue_depth=4, write_size=16384, write_random=0.0, write_stride=65536
    ),
    "reads": Characteristics(),
    "pass": WholePass("write", True, 64 * 1024, 10 * MIB, start_bytes=MIB),
    "partial": WholePass("read", False, 64 * 1024, 10 * MIB, first_requests=5),
    "stimulus": Stimuli((READS,)),
    "at once": Stimuli((READS, WRITES), (0.75, 0.25)),
    "scenario": Scenario(BESIDE, (("backup.csv", BACKUP),)),
    "everywhere": Scenario('summary = "a log"\n[[stream]]\nname = "log"\nqueue_depth = 1'),
    "trace": Trace(((0, "read", MIB, 4096), (5_000, "write", 0, 512), (9_000, "flush", 0, 0))),
    "beside": SideBySide(
        (
            Part("web", Characteristics(), 4 * MIB, rate_iops=100.0, is_poisson=False),
            Part("old", Trace(((0, "write", 0, 4096),)), MIB, 4 * MIB, content="zero", copies=2),
        ),
        duration_ns=10**9,
        warmup_ns=10**8,
        requests=500,
    ),
}


def test_the_kinds_are_those_of_the_type() -> None:
    assert set(KINDS.values()) == set(get_args(Workload))
    assert {type(one) for one in WORKLOADS.values()} == set(KINDS.values())


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_comes_back_from_json(name: str) -> None:
    workload = WORKLOADS[name]
    text = json.dumps(workload_json(workload))
    assert workload_of_json(json.loads(text)) == workload
    assert hash(workload) == hash(workload_of_json(json.loads(text)))


@pytest.mark.parametrize(
    ("name", "line", "footprint"),
    [
        (
            "mixed",
            "70 % reads of 4 KiB at random and 30 % writes of 16 KiB in order with gaps of 64 KiB, "
            "4 outstanding",
            None,
        ),
        ("reads", "reads of 4 KiB at random, 1 outstanding", None),
        ("pass", "writes a file of 10 MiB by 64 KiB at random", 11 * MIB),
        ("partial", "reads the first 5 requests of a file of 10 MiB by 64 KiB in order", 10 * MIB),
        ("stimulus", "reads of 4 KiB at random, 2 x 16 outstanding", 8 * MIB),
        (
            "at once",
            "reads of 4 KiB at random, 2 x 16 outstanding next to "
            "writes of 128 KiB in order, 1 x 1 outstanding",
            9 * MIB,
        ),
        ("scenario", "streams log, backup", 4 * MIB + 8192),
        ("everywhere", "a log", None),
        ("trace", "1 read and 1 write and 1 flush recorded over 9.00 us", MIB + 4096),
        ("beside", "web, old, each in its part of the drive", 5 * MIB),
    ],
)
def test_it_is_described_in_a_line(name: str, line: str, footprint: int | None) -> None:
    assert WORKLOADS[name].describe() == line
    assert WORKLOADS[name].footprint_bytes == footprint


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"kind": "trace"},
        {"kind": "characteristics"},
        {"kind": "whole_pass", "direction": "read"},
        {"kind": "whole_pass", "nonsense": 1},
        {"kind": "stimuli"},
        {"kind": "stimuli", "stimuli": []},
        {"kind": "stimuli", "stimuli": [{"sizes": 1}]},
        {"kind": "stimuli", "stimuli": [READS.to_json()], "shares": [0.5, 0.5]},
        {"kind": "stimuli", "stimuli": [READS.to_json()], "shares": ["much"]},
        {"kind": ["stimuli"]},
        {"kind": "scenario"},
        {"kind": "scenario", "text": "requests = 1"},
        {"kind": "scenario", "text": BESIDE},
        {"kind": "scenario", "text": BESIDE, "files": {"backup.csv": 1}},
        {"kind": "trace", "requests": []},
        {"kind": "trace", "requests": [[0, "read", 0]]},
        {"kind": "trace", "requests": [["now", "read", 0, 512]]},
        {"kind": "trace", "requests": [[0, "erase", 0, 512]]},
        {"kind": "trace", "requests": [[0, "read", 0, 100]]},
        {"kind": "trace", "requests": [[5, "read", 0, 512], [4, "read", 0, 512]]},
    ],
)
def test_what_is_no_workload_is_refused(data: object) -> None:
    with pytest.raises(UsageError):
        workload_of_json(data)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"direction": "sideways"}, "direction is 'sideways'; allowed: read or write"),
        ({"is_random": 1}, "is_random is 1; allowed: true or false"),
        ({"request_bytes": "4k"}, "request_bytes is '4k'; allowed: a whole number"),
        ({"request_bytes": 0}, "request_bytes is 0; allowed: a multiple of 512"),
        ({"start_bytes": -512}, "start_bytes is -512; allowed: a whole number from 0"),
        ({"file_bytes": 5}, "request_bytes is 65536; allowed: at most file_bytes, 5"),
        ({"start_bytes": 3}, "the range starts at 3 .*; allowed: multiples of 512"),
        ({"request_bytes": 1 << 62}, "allowed: a multiple of 512 from 512 to 67108864"),
        ({"rounds": 2}, "'rounds' is no attribute of a pass; allowed: direction, is_random, req"),
    ],
)
def test_an_impossible_pass_is_refused_as_it_is_read(values: dict[str, object], said: str) -> None:
    stored = {**workload_json(WORKLOADS["pass"]), **values}
    with pytest.raises(UsageError, match=said):
        workload_of_json(stored)


A_STIMULUS = READS.to_json()
REQUESTS = r"allowed: (a list of )?requests \(ns from the beginning; read, write, trim or"
SIZES = "allowed: (a list of )?pairs of bytes and a share"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"kind": "trace"}, "a trace lacks requests"),
        ({"kind": "trace", "requests": None}, f"requests is None; {REQUESTS}"),
        ({"kind": "trace", "requests": [5]}, f"requests has 5 at place 0; {REQUESTS}"),
        ({"kind": "trace", "requests": [[0, "read", 0]]}, f"the trace has .* place 0; {REQUESTS}"),
        ({"kind": "trace", "requests": [[0.5, "read", 0, 512]]}, REQUESTS),
        ({"kind": "trace", "requests": [[0, None, 0, 512]]}, REQUESTS),
        ({"kind": "trace", "requests": [[-1, "read", 0, 512]]}, REQUESTS),
        ({"kind": "trace", "requests": [[0, "read", 0, 1 << 70]]}, REQUESTS),
        (
            {"kind": "trace", "requests": [[0, "rd", 0, 512]]},
            'no action "rd"; allowed: read',
        ),
        ({"kind": "stimuli"}, "a workload of stimuli lacks stimuli"),
        ({"kind": "stimuli", "stimuli": None}, "stimuli is None; allowed: a list of stimuli"),
        ({"kind": "stimuli", "stimuli": [None]}, "stimuli has None at place 0; allowed: stimuli"),
        ({"kind": "stimuli", "stimuli": [{}]}, "a stimulus lacks read_ratio, sizes, range_bytes"),
        (
            {"kind": "stimuli", "stimuli": [A_STIMULUS], "shares": ["x"]},
            "shares has 'x' at place 0; allowed: numbers, one for each stimulus",
        ),
        (
            {"kind": "stimuli", "stimuli": [A_STIMULUS], "shares": 5},
            "shares is 5; allowed: a list of numbers, one for each stimulus",
        ),
        *(
            ({"kind": "stimuli", "stimuli": [{**A_STIMULUS, **change}]}, said)
            for change, said in [
                ({"sizes": None}, f"sizes is None; {SIZES}"),
                ({"sizes": [[4096]]}, rf"sizes has \(4096,\) at place 0; {SIZES}"),
                ({"sizes": [["a", 1.0]]}, SIZES),
                ({"zones": [[None, 1]]}, "zones has .*; allowed: pairs of a share of accesses"),
                ({"read_ratio": None}, "read_ratio is None; allowed: 0 to 1"),
                ({"threads": "4"}, "threads is '4'; allowed: a whole number"),
                ({"range_bytes": 1 << 70}, "range_bytes is .*; allowed: a whole number"),
                ({"is_random": "yes"}, "is_random is 'yes'; allowed: true or false"),
                ({"bogus": 1}, "'bogus' is no attribute of a stimulus; allowed: read_ratio, sizes"),
            ]
        ),
        ({"kind": "scenario", "text": None}, "text is None; allowed: a scenario in TOML"),
        ({"kind": "scenario", "text": BESIDE, "files": 5}, "files is 5; allowed: texts by their"),
        ({"kind": "whole_pass"}, "a pass lacks direction, is_random, request_bytes, file_bytes"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_workloads(data: object, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        workload_of_json(data)
    text = str(refused.value)
    assert len(text.splitlines()) == 1
    assert not any(word in text for word in ("NoneType", "tuple", "__init__", "object is not"))


def test_what_a_program_gives_is_looked_at_too() -> None:
    with pytest.raises(UsageError, match=f"the trace has None at place 1; {REQUESTS}"):
        Trace(((0, "read", 0, 512), None))
    with pytest.raises(UsageError, match=r"stimuli is .*; allowed: a list of stimuli"):
        Stimuli(READS)
    with pytest.raises(UsageError, match="shares has 'a' at place 0; allowed: numbers"):
        Stimuli((READS,), ("a",))
    with pytest.raises(UsageError, match="files is None; allowed: a list of pairs of a name and"):
        Scenario(BESIDE, None)


SAYS = """# a comment
requests = 1_000
[[stream]]
name = "log"
write_ratio = 1.0
queue_depth = 1
[[stream]]
name = "list"
requests_csv = "list.csv"
"""
LIST = "at_ns,action,offset_bytes,size_bytes\n0,read,0,4096\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (SAYS.replace("# a comment", "# another"), LIST),
        (SAYS.replace("1_000", " 1000   # as many"), LIST),
        (SAYS.replace('name = "log"\nwrite_ratio = 1.0', "write_ratio=1\nname='log'"), LIST),
        (SAYS, LIST.replace(",", ", ").replace("\n", "\n\n")),
    ],
)
def test_scenarios_that_say_the_same_are_equal(text: str, rows: str) -> None:
    one = Scenario(SAYS, (("list.csv", LIST),))
    same = Scenario(text, (("list.csv", rows),))
    assert one == same
    assert hash(one) == hash(same)
    assert said_by([one.to_json()]) == said_by([same.to_json()])
    # Each keeps its text, for whoever prints or repeats it.
    assert same.to_json() == {"text": text, "files": {"list.csv": rows}}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (SAYS.replace("1_000", "1_001"), LIST),
        (SAYS.replace("queue_depth = 1", "queue_depth = 2"), LIST),
        (SAYS.replace('"log"', '"logs"'), LIST),
        (SAYS.replace("requests = 1_000", 'summary = "x"\nrequests = 1_000'), LIST),
        (SAYS, LIST.replace("4096", "8192")),
        (SAYS, LIST + "0,read,0,4096\n"),
    ],
)
def test_scenarios_that_say_something_else_differ(text: str, rows: str) -> None:
    one = Scenario(SAYS, (("list.csv", LIST),))
    other = Scenario(text, (("list.csv", rows),))
    assert one != other
    assert said_by(one.to_json()) != said_by(other.to_json())
    assert one != SAYS


def test_only_scenarios_are_replaced_by_what_they_say() -> None:
    for value in [
        *({"text": "a = 1"}, {"text": "a = 1", "files": {}, "more": 1}, {"text": 1, "files": {}}),
        *([1, {"a": ["text"]}], "text", None, {"text": "a = ", "files": {}}),
        *(workload_json(each) for each in WORKLOADS.values() if each.kind != "scenario"),
    ]:
        assert said_by(value) == value
