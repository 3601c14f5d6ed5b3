"""`drivelab drives show`, `new` and `import`: what they print, write and refuse."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mqsim_file import DEVICE, FLASH, HOST, ssdconfig

from drivelab._core import preset_names
from drivelab.cli import main as cli
from drivelab.drives.presets.mqsim import import_ssdconfig
from drivelab.drives.presets.mqsim_words import KNOWN
from drivelab.drives.presets.source import read_preset
from drivelab.drives.presets.values import fitted_figures


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(capsys, *words: str) -> dict[str, Any]:
    assert cli.main(["drives", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def values(shown: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {value["key"]: value for value in shown["values"]}


@pytest.mark.parametrize("name", preset_names())
def test_every_value_of_a_shown_preset_has_its_graded_source(name: str, capsys) -> None:
    shown = values(answer(capsys, "show", f"sim:{name}", "--values-only"))
    grades = {"paper", "datasheet", "recalled", "fitted", "assumed"}
    said = [value for value in shown.values() if value["preset"] is not None]
    # An array says little more than its member.
    assert len(said) >= 4
    assert [value["key"] for value in said if value["grade"] not in grades] == []


def test_sources_follow_the_preset_that_a_drive_starts_from(capsys) -> None:
    Path("mine.toml").write_text(
        'base = "x25m"\nname = "mine"\nsummary = "s"\n[timing]\n'
        "read_cell_ns = 41_000  # assumed: a little slower\n"
    )
    shown = values(answer(capsys, "show", "mine.toml", "--values-only"))
    assert shown["timing.read_cell_ns"] == {
        "key": "timing.read_cell_ns",
        "value": 41_000,
        "grade": "assumed",
        "source": "a little slower",
        "preset": "mine.toml",
    }
    channels = shown["geometry.channels"]
    assert (channels["value"], channels["grade"], channels["preset"]) == (10, "paper", "x25m")
    # Said nowhere: what a SATA drive queues by default is in the preset, the pairs are not.
    cli.main(["drives", "show", "mine.toml", "--values-only"])
    text = capsys.readouterr().out
    assert "# assumed: a little slower (mine.toml)" in text


@pytest.mark.parametrize(
    ("lines", "comment"),
    [
        ("  [ timing ]\n  read_cell_ns = 41_000  # assumed: a little slower", "a little slower"),
        ("[timing] # times\n\tread_cell_ns=41_000 # assumed: a little slower", "a little slower"),
        ("timing = { read_cell_ns = 41_000 }  # assumed: a little slower", None),
        ("[mapping]\n['timing']\nread_cell_ns = 41_000  # assumed: a little slower", None),
        ("[timing]\n'read_cell_ns' = 41_000  # assumed: a little slower", None),
    ],
)
def test_a_value_of_ones_own_never_has_the_source_of_another(
    lines: str, comment: str | None, capsys
) -> None:
    Path("mine.toml").write_text(f'base = "x25m"\nname = "mine"\nsummary = "s"\n{lines}\n')
    shown = values(answer(capsys, "show", "mine.toml", "--values-only"))["timing.read_cell_ns"]
    assert (shown["value"], shown["source"], shown["preset"]) == (41_000, comment, "mine.toml")


def test_every_figure_that_a_value_was_fitted_to_is_found() -> None:
    text = (
        "[timing]\n"
        "a = 1  # fitted: published.second-b, published.first and the link\n"
        "  b = 2 # fitted: other times, published.third\n"
        "c = 3  # assumed: unlike published.fourth\n"
    )
    assert fitted_figures(text) == {"first", "second-b", "third"}


FIGURE = """
condition = "one at a time"
tolerance_ratio = 0.1
direction = "read"
queue_depth = 1
size_bytes = 4096
random_ratio = 1.0
"""


def test_published_figures_are_next_to_simulated_ones(capsys) -> None:
    Path("mine.toml").write_text(
        'base = "x25m"\nname = "mine"\nsummary = "s"\n'
        "timing.read_cell_ns = 40_000  # fitted: published.latency, with the others\n"
        f"[published.latency]\nlatency_ns = 85_000\n{FIGURE}"
        f"[published.rate]\nthroughput_iops = 23_529\n{FIGURE}"
        f"[published.other]\nbandwidth_bytes_per_second = 24_094_000\n{FIGURE}"
    )
    # A read takes 12.57 + 40 + 16.43 us, and 4 KiB on the link at 256 MB/s 16 us: 85 us.
    rows = {row["figure"]: row for row in answer(capsys, "show", "mine.toml")["published"]}
    latency, rate, other = (rows[name] for name in ("latency", "rate", "other"))
    assert latency["simulated"] == pytest.approx(85_000, rel=1e-3)
    assert (latency["agrees"], latency["used_for"]) == (True, "fitting")
    assert rate["simulated"] == pytest.approx(1e9 / 85_000, rel=1e-3)
    assert rate["difference_ratio"] == pytest.approx(-0.5, abs=1e-3)
    assert (rate["agrees"], rate["used_for"]) == (False, "test")
    assert other["simulated"] == pytest.approx(4096e9 / 85_000, rel=1e-3)
    assert cli.main(["drives", "show", "mine.toml"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "rate: one at a time 23,529 IOPS, simulated 11,765, -50.0 %: DIFFERS" in text


@pytest.mark.parametrize("name", preset_names())
def test_a_new_preset_behaves_as_the_one_it_is_like(name: str, capsys) -> None:
    made = answer(capsys, "new", "mine.toml", "--like", name)
    assert made["drive"] == "sim:mine.toml"
    resolved, configuration_hash = read_preset("mine.toml").resolved()
    assert resolved["name"] == "mine"
    assert configuration_hash == read_preset(name).resolved()[1]
    text = Path("mine.toml").read_text()
    # Every key of presets is there, said or to be said, with what it may hold.
    optional, required = {
        "ssd": ("queue_pair_depth", "# an integer from 1 to 256\nchannels = "),
        "hdd": ("flush_command_ns", "# an integer from 1 to 64\nheads = "),
        "raid0": ("outlier_factor", "# an integer from 1 to 16\nmembers = "),
        "raid": ("outlier_factor", "# 0 or 1 or 5 or 6 or 10\nlevel = "),
    }[resolved["kind"]]
    assert f"# {optional} =" in text or optional in resolved["variability"]
    assert required in text


def test_a_new_preset_measures_as_it_is_and_replaces_nothing(capsys) -> None:
    assert cli.main(["drives", "new", "mine.toml"]) == 0
    assert "`drivelab measure sim:mine.toml`" in capsys.readouterr().out
    assert cli.main(["measure", "sim:mine.toml", "--requests", "50"]) == 0
    before = Path("mine.toml").read_text()
    Path("mine.toml").write_text(before + "# changed\n")
    capsys.readouterr()
    assert cli.main(["drives", "new", "mine.toml"]) == 2
    assert "was changed since Drivelab wrote it" in capsys.readouterr().err
    assert cli.main(["drives", "new", "mine.toml", "--force"]) == 0
    assert Path("mine.toml").read_text() == before


@pytest.mark.parametrize("name", ['a"b.toml', "a\\b{c}.toml", "\N{GREEK SMALL LETTER MU} s.toml"])
def test_a_new_preset_of_a_file_with_any_name_can_be_read(name: str, capsys) -> None:
    Path(name).write_text('base = "x25m"\nname = "mine"\nsummary = "s"\n')
    answer(capsys, "new", "new.toml", "--like", name)
    resolved, configuration_hash = read_preset("new.toml").resolved()
    assert resolved["summary"] == f"begun as {name}"
    assert configuration_hash == read_preset("x25m").resolved()[1]


@pytest.mark.parametrize("words", [("a\nb/new.toml",), ("new.toml", "--like", "a\nb/mine.toml")])
def test_paths_that_would_spill_out_of_a_comment_are_refused(words, capsys) -> None:
    Path("a\nb").mkdir()
    Path("a\nb/mine.toml").write_text('base = "x25m"\nname = "mine"\nsummary = "s"\n')
    assert cli.main(["drives", "new", *words]) == 2
    refused = capsys.readouterr().err
    assert "'a\\nb/" in refused
    assert "has characters that do not print; rename it" in refused
    assert not Path(words[0]).exists()


ARRAY = """
kind = "raid0"
name = "one"
summary = "s"
member = "{}"
members = 2
stripe_bytes = 65_536
variability.sigma = 0.0
"""


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ("mine", "it would not behave as one.toml, whose presets are in the same folder"),
        # The package's own of that name is another drive.
        ("apex", "sub/new.toml: it would not behave as one.toml"),
    ],
)
def test_an_array_is_not_written_where_its_member_is_another(
    member: str, said: str, capsys
) -> None:
    base = "base = 'x25m'\nname = 'm'\nsummary = 's'\ntiming.read_cell_ns = 7\n"
    Path(f"{member}.toml").write_text(base)
    Path("one.toml").write_text(ARRAY.format(member))
    Path("sub").mkdir()
    assert cli.main(["drives", "new", "sub/new.toml", "--like", "one.toml"]) == 2
    refused = capsys.readouterr().err
    assert said in refused
    assert "write it into that folder" in refused
    assert not Path("sub/new.toml").exists()
    assert cli.main(["drives", "new", "new.toml", "--like", "one.toml"]) == 0
    assert read_preset("new.toml").resolved()[1] == read_preset("one.toml").resolved()[1]


def imported(capsys, changes: dict[str, str | None] | None = None) -> dict[str, Any]:
    Path("ssdconfig.xml").write_text(ssdconfig(changes))
    return answer(capsys, "import", "ssdconfig.xml", "-o", "drive.toml", "--force")


@pytest.mark.parametrize("is_written", ["true", "false"])
def test_what_an_import_advises_works(is_written: str, capsys) -> None:
    changes = {"Enabled_Preconditioning": is_written}
    assert imported(capsys, changes)["condition"] == (
        "preconditioned" if is_written == "true" else "fresh"
    )
    assert cli.main(["drives", "import", "ssdconfig.xml", "-o", "drive.toml", "--force"]) == 0
    said = capsys.readouterr().out.partition("\n\n")[0].replace("\n", " ")
    words = said.split("`drivelab ")[1].partition("`")[0].split()
    few = ["--requests", "50"]
    assert cli.main([*words, *few]) == 0
    if is_written == "false":
        found = re.search("`(condition = [^`]+)` in drive.toml to `(condition = [^`]+)`", said)
        assert found is not None
        text = Path("drive.toml").read_text()
        assert found[1] in text
        Path("drive.toml").write_text(text.replace(found[1], found[2]))
    assert cli.main(["measure", "sim:drive.toml", *few]) == 0


def test_an_imported_drive_is_the_one_described(capsys) -> None:
    conversion = imported(capsys)
    resolved, _ = read_preset("drive.toml").resolved()
    assert resolved["geometry"] == {
        "channels": 2,
        "ways_per_channel": 3,
        "dies_per_way": 2,
        "planes_per_die": 2,
        "blocks_per_plane": 128,
        "pages_per_block": 64,
        "page_size_bytes": 8192,
        # Of 24 planes x 128 x 64 pages a fifth is spare: 0.25 of what the host sees.
        "user_capacity_bytes": 24 * 128 * 64 * 4 // 5 * 8192,
        "plane_mode": False,
    }
    timing = resolved["timing"]
    assert timing["read_cell_ns"] == [60_000, 80_000]
    assert timing["program_cell_ns"] == [500_000, 500_000] or timing["program_cell_ns"] == 500_000
    # 8192 bytes at 400 MB/s.
    assert timing["read_register_ns"] == timing["write_register_ns"] == 20_480
    assert timing["erase_cell_ns"] == 3_800_000
    # Four lanes of 0.5 GB/s.
    assert resolved["host"]["link_bytes_per_second"] == 2_000_000_000
    assert resolved["host"]["queue_pair_depth"] == 1024
    # A page of each of 24 planes; a million bytes would be 122.
    assert resolved["buffer"]["write_buffer_bytes"] == 24 * 8192
    # A twentieth of 128 blocks would be 6, and RGA looks at log2 of them.
    collection = resolved["collection"]
    assert (collection["reserve_blocks_per_plane"], collection["victim_choices"]) == (10, 7)
    # Two numbers of 18 bits and 16 sectors take 7 bytes.
    mapping = resolved["mapping"]
    assert mapping["scheme"] == "demand_cached_page"
    assert mapping["cached_entries"] == 2_097_152 // 7
    # One command a chip, what was read first on the channel, the map before everything.
    scheduling = resolved["scheduling"]
    assert (scheduling["unit"], scheduling["channel"]) == ("chip", "data_out_first")
    assert (scheduling["multi_plane"], scheduling["map_reads_first"]) == ("same_page", True)
    assert scheduling["starvation_limit"] == 65_536
    assert resolved["wear"] == {"least_worn_first": True, "static_spread": 100}
    assert resolved["scheduling"]["order"] == "priority"
    # Every setting is listed once, taken over or not.
    used = [each["setting"] for each in conversion["imported"]]
    unused = [each["setting"] for each in conversion["without_counterpart"]]
    assert sorted(used + unused) == sorted(HOST | DEVICE | FLASH)
    assert {"Page_Metadat_Capacity", "Page_Read_Latency_CSB"} <= set(unused)
    assert cli.main(["measure", "sim:drive.toml", "--requests", "50"]) == 0


def test_a_drive_with_its_whole_map_in_memory_has_times_of_the_cache(capsys) -> None:
    conversion = imported(capsys, {"Ideal_Mapping_Table": "true"})
    resolved, _ = read_preset("drive.toml").resolved()
    assert "scheme" not in resolved.get("mapping", {})
    # tRCD + tCL; 800 MT/s of 4 bytes, two a cycle.
    assert resolved["buffer"]["memory_ns"] == 27
    assert resolved["buffer"]["memory_bytes_per_second"] == 6_400_000_000
    assert resolved["buffer"]["memory_takes_writes"] is True
    assert "CMT_Capacity" in {each["setting"] for each in conversion["without_counterpart"]}
    used = [each["setting"] for each in conversion["imported"]]
    unused = [each["setting"] for each in conversion["without_counterpart"]]
    assert sorted(used + unused) == sorted(HOST | DEVICE | FLASH)


@pytest.mark.parametrize(("share", "blocks", "kept"), [("0.05", 2048, 102), ("0.005", 2048, 10)])
def test_collection_begins_where_mqsim_s_does(share, blocks, kept, capsys) -> None:
    imported(capsys, {"GC_Exec_Threshold": share, "Block_No_Per_Plane": str(blocks)})
    resolved, _ = read_preset("drive.toml").resolved()
    assert resolved["collection"]["reserve_blocks_per_plane"] == kept


def test_other_words_of_mqsim_are_understood_or_reported(capsys) -> None:
    changes: dict[str, str | None] = {
        "HostInterface_Type": "SATA",
        "IO_Queue_Depth": "32",
        "Flash_Technology": "TLC",
        "Transaction_Scheduling_Policy": "FLIN",
        "GC_Block_Selection_Policy": "RANDOM_PP",
        "Plane_Allocation_Scheme": "PWDC",
        "Static_Wearleveling_Enabled": "false",
        "Enabled_Preconditioning": "false",
        "Nobody_Knows": "7",
    }
    conversion = imported(capsys, changes)
    resolved, _ = read_preset("drive.toml").resolved()
    assert resolved["timing"]["read_cell_ns"] == [60_000, 70_000, 80_000]
    assert (resolved["host"]["interface"], resolved["host"]["commands"]) == ("sata", 32)
    assert resolved["condition"] == "fresh"
    assert "static_spread" not in resolved["wear"]
    reasons = {each["setting"]: each["reason"] for each in conversion["without_counterpart"]}
    assert reasons["Nobody_Knows"] == "no setting of MQSim that Drivelab knows"
    assert "'RANDOM_PP'" in reasons["GC_Block_Selection_Policy"]
    assert "'FLIN'" in reasons["Transaction_Scheduling_Policy"]
    assert reasons["PCIe_Lane_Count"] == "the link is SATA"
    assert resolved["mapping"]["order"] == "pwdc"
    assert "collection.policy" in {each["key"] for each in conversion["assumed"]}


@pytest.mark.parametrize(
    ("setting", "words", "key", "value"),
    [
        ("Plane_Allocation_Scheme", (None,), "mapping.order", "cwdp"),
        ("Transaction_Scheduling_Policy", (None, "FLIN"), "scheduling.order", "first_come"),
        ("Address_Mapping", ("HYBRID",), "mapping.scheme", "page"),
    ],
)
def test_what_no_word_of_mqsim_says_is_assumed(
    setting: str, words: tuple[str | None, ...], key: str, value: str, capsys
) -> None:
    table, name = key.split(".")
    for word in words:
        conversion = imported(capsys, {setting: word})
        assert [each["key"] for each in conversion["assumed"]].count(key) == 1
        assert setting not in {each["setting"] for each in conversion["imported"]}
        assert tomllib.loads(Path("drive.toml").read_text())[table][name] == value
    # Where MQSim says it, nothing is assumed.
    assert key not in {each["key"] for each in imported(capsys)["assumed"]}


@pytest.mark.parametrize(
    ("setting", "word"), [(setting, word) for setting, words in KNOWN.items() for word in words]
)
def test_every_word_that_mqsim_reads_is_accepted(setting: str, word: str) -> None:
    for given in (word, word.lower()):
        import_ssdconfig(ssdconfig({setting: given}).encode(), "made")


ENTITIES = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>\n'


@pytest.mark.parametrize(
    ("changes", "reason", "remedy"),
    [
        (
            {"Flash_Channel_Count": "1000"},
            "geometry.channels = 1000 is not possible; allowed: an integer from 1 to 256",
            "change Flash_Channel_Count ('1000')",
        ),
        ({"Page_Capacity": "4224"}, "page_size_bytes = 4224", "change Page_Capacity ('4224')"),
        ({"IO_Queue_Depth": "0"}, "queue_pair_depth = 0", "change IO_Queue_Depth ('0')"),
        (
            {"GC_Exec_Threshold": "1.0"},
            "Block_No_Per_Plane 128 leaves no block for data: collection keeps 128 blocks of each "
            "plane free (GC_Exec_Threshold 1.0 x Block_No_Per_Plane 128, cut to a whole number and "
            "at least 10)",
            "lower GC_Exec_Threshold to at most 0.1796; Overprovisioning_Ratio alone is not "
            "enough, as it is at most 0.8",
        ),
        (
            {"Block_No_Per_Plane": "90000000"},
            "Block_No_Per_Plane is '90000000'",
            "allowed: a whole number from 1 to 1048576",
        ),
        (
            {"Data_Cache_Capacity": "99999999999999999999"},
            "Data_Cache_Capacity is '99999999999999999999'",
            "allowed: a whole number from 0 to 999999999999999999",
        ),
        (
            {"CMT_Capacity": "0"},
            "CMT_Capacity 0 holds no entry of the map",
            "allowed: at least 7 bytes, those of an entry, or Ideal_Mapping_Table true for the "
            "whole map",
        ),
        (
            {"Overprovisioning_Ratio": "0"},
            "Overprovisioning_Ratio 0 leaves 0 spare pages",
            "raise Overprovisioning_Ratio to at least 0.102",
        ),
        (
            {"PCIe_Lane_Count": "0"},
            "host.link_bytes_per_second = 0 is not possible",
            "host.link_bytes_per_second is PCIe_Lane_Bandwidth x PCIe_Lane_Count x 10^9: "
            "change PCIe_Lane_Bandwidth ('0.5') or PCIe_Lane_Count ('0')",
        ),
        (
            {"Channel_Transfer_Rate": "1", "Flash_Channel_Width": "1", "Page_Capacity": "1048576"},
            "timing.read_register_ns = 1048576000 is not possible",
            "change Page_Capacity ('1048576') or Channel_Transfer_Rate ('1') or "
            "Flash_Channel_Width ('1')",
        ),
        (
            {"Block_No_Per_Plane": "20000", "Page_No_Per_Block": "16384"},
            "below 4294967295",
            "change Block_No_Per_Plane ('20000') or Page_Capacity ('8192')",
        ),
    ],
)
def test_impossible_values_are_reported_by_the_settings_that_they_come_from(
    changes: dict[str, str | None], reason: str, remedy: str, capsys
) -> None:
    Path("bad.xml").write_text(ssdconfig(changes))
    assert cli.main(["drives", "import", "bad.xml", "-o", "drive.toml"]) == 2
    refused = capsys.readouterr().err
    assert refused.startswith("drivelab: bad.xml: ")
    assert reason in refused
    assert refused.endswith(f"{remedy}\n")
    assert refused.count("\n") == 1
    # A preset that was never written has no lines.
    assert " line " not in refused
    assert not Path("drive.toml").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (ssdconfig(before=ENTITIES), "declares a document type"),
        ("", "it is empty; name MQSim's ssdconfig.xml"),
        (ssdconfig()[:-40], "it is not XML"),
        (ssdconfig({"Seed": "&x;"}), "it is not XML: undefined entity"),
        ("<a/>", "its outermost element is 'a', not Execution_Parameter_Set"),
        (ssdconfig({"Seed": "<b>1</b>"}), "'b' is not a setting"),
        (ssdconfig({"Page_Capacity": None}), "Page_Capacity is missing; allowed: a whole number"),
        (ssdconfig({"Page_Capacity": "8 KiB"}), "Page_Capacity is '8 KiB'; allowed: a whole"),
        (ssdconfig({"Page_Capacity": "5000"}), "page_size_bytes = 5000"),
        (ssdconfig({"Overprovisioning_Ratio": "nan"}), "allowed: a number from 0 to 0.8"),
        (ssdconfig({"Overprovisioning_Ratio": "0.01"}), "spare"),
        (
            ssdconfig({"Transaction_Scheduling_Policy": "FOO"}),
            "Transaction_Scheduling_Policy is 'FOO'; allowed: OUT_OF_ORDER or "
            "PRIORITY_OUT_OF_ORDER or FLIN\n",
        ),
        (
            ssdconfig({"Plane_Allocation_Scheme": "XYZ"}),
            "Plane_Allocation_Scheme is 'XYZ'; allowed: CWDP or CWPD or CDWP or CDPW or CPWD or ",
        ),
        (ssdconfig({"Plane_Allocation_Scheme": "CWDD"}), "is 'CWDD'; allowed: CWDP or CWPD"),
        (
            ssdconfig({"GC_Block_Selection_Policy": "GREEDI"}),
            "allowed: GREEDY or RGA or RANDOM or FIFO or RANDOM_P or RANDOM_PP\n",
        ),
        (ssdconfig({"Caching_Mechanism": "SIMPEL"}), "allowed: SIMPLE or ADVANCED\n"),
        (ssdconfig({"Data_Cache_Sharing_Mode": "X"}), "allowed: SHARED or EQUAL_PARTITIONING\n"),
        (ssdconfig({"CMT_Sharing_Mode": "X"}), "allowed: SHARED or EQUAL_PARTITIONING\n"),
        (ssdconfig({"Flash_Comm_Protocol": "NVDDR3"}), "allowed: NVDDR2\n"),
        (
            ssdconfig({"CMD_Suspension_Support": "ERASES"}),
            "allowed: NONE or ERASE or PROGRAM or PROGRAM_ERASE\n",
        ),
        (ssdconfig({"Preemptible_GC_Enabled": "flase"}), "is 'flase'; allowed: true or false\n"),
        (ssdconfig({"Enable_ResponseTime_Logging": "no"}), "is 'no'; allowed: true or false\n"),
        (ssdconfig({"Memory_Type": "PCM"}), "Memory_Type is 'PCM'; allowed: FLASH"),
        (ssdconfig({"Flash_Technology": "QLC"}), "allowed: SLC or MLC or TLC"),
        (ssdconfig({"Channel_Transfer_Rate": "0"}), "have to be above 0"),
        (ssdconfig({"Use_Copyback_for_GC": "maybe"}), "allowed: true or false"),
        (ssdconfig().replace("us-ascii", "utf-99"), "it is not XML"),
    ],
)
def test_what_is_no_ssdconfig_is_one_clear_line(content: str, said: str, capsys) -> None:
    Path("bad.xml").write_text(content)
    assert cli.main(["drives", "import", "bad.xml"]) == 2
    refused = capsys.readouterr().err
    assert refused.startswith("drivelab: bad.xml: ")
    assert refused.count("\n") == 1
    assert said in refused
    assert not Path("bad.toml").exists()


def test_a_template_is_toml_with_every_comment_inside_a_line() -> None:
    assert cli.main(["drives", "new", "mine.toml"]) == 0
    assert tomllib.loads(Path("mine.toml").read_text())["geometry"]["channels"] == 10
