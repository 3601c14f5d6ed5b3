"""`kill -9` at random moments: nothing committed is lost or run again.

Each drive logs what it is asked for before it begins, so a measurement that is made twice
is seen even where its second result would never be stored.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from killable_campaign import Campaign, asked, stored

SIMULATED = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"


def killed_campaign(campaign: Campaign, kills: int, most_begun: int, batch: int) -> None:
    """Kill a campaign so often, holding after each kill what must hold, and let it finish."""
    moments = random.Random(f"{kills} {campaign.command[2].partition(':')[0]}")
    kept: dict[int, object] = {}
    begun: list[int] = []
    cut_short = 0
    for _ in range(kills):
        cut_short += campaign.kill(moments, most_begun)
        now, begun_now = stored(campaign.path), asked(campaign.log)
        assert {index: now[index] for index in kept} == kept, "a committed measurement is lost"
        assert not kept.keys() & set(begun_now[len(begun) :]), "a committed one is run again"
        # All that this start began and did not commit was in flight.
        assert len(set(begun_now[len(begun) :]) - now.keys()) <= batch
        kept, begun = dict(now), begun_now
    # A machine that stops for a moment may let some kills come too late.
    assert cut_short > kills // 2
    campaign.finish()
    now, begun_now = stored(campaign.path), asked(campaign.log)
    assert {index: now[index] for index in kept} == kept
    assert not kept.keys() & set(begun_now[len(begun) :])
    again = sum(count - 1 for count in Counter(begun_now).values())
    assert again <= kills * batch


@pytest.mark.parametrize("kind", ["simulated", "real"])
@pytest.mark.parametrize("number", [10, pytest.param(100, marks=pytest.mark.faults)])
def test_killed_campaign_exports_the_same_bytes(tmp_path: Path, kind: str, number: int) -> None:
    most_begun = 15
    count = (number + 2) * most_begun
    for name in ("undisturbed", "killed"):
        (tmp_path / name).mkdir()
    undisturbed = Campaign(f"fake:{kind}", tmp_path / "undisturbed", count)
    undisturbed.finish()
    campaign = Campaign(f"fake:{kind}", tmp_path / "killed", count)
    killed_campaign(campaign, number, most_begun, batch=1)
    assert set(asked(campaign.log)) == set(range(count))
    exports = [(one.path / "measurements.csv").read_bytes() for one in (undisturbed, campaign)]
    assert exports[0] == exports[1]


@pytest.mark.parametrize("number", [10, pytest.param(100, marks=pytest.mark.faults)])
def test_killed_campaign_on_a_simulated_drive(tmp_path: Path, number: int) -> None:
    batch, most_begun = 64, 1
    # Every kill may come after a batch that was begun; the next one is in flight then.
    count = (number + 2) * batch * 2
    for name in ("undisturbed", "killed"):
        (tmp_path / name).mkdir()
    undisturbed = Campaign(SIMULATED, tmp_path / "undisturbed", count)
    undisturbed.finish()
    campaign = Campaign(SIMULATED, tmp_path / "killed", count)
    killed_campaign(campaign, number, most_begun, batch)
    exports = [(one.path / "measurements.csv").read_bytes() for one in (undisturbed, campaign)]
    assert exports[0] == exports[1]


@pytest.mark.parametrize("number", [3, pytest.param(25, marks=pytest.mark.faults)])
def test_killed_campaign_on_a_file(
    require_tool: Callable[[str], Path], drive_folder: Path, tmp_path: Path, number: int
) -> None:
    require_tool("fio")
    path = drive_folder / f"killed-{number}.bin"
    campaign = Campaign(str(path), tmp_path, (number + 2) * 2)
    killed_campaign(campaign, number, most_begun=2, batch=1)
    assert sorted(stored(campaign.path)) == list(range((number + 2) * 2))
    assert not path.exists()
