"""Random operations have the same results as NumPy: see the package `model`."""

from __future__ import annotations

import pytest
from model import runner


def test_random_operations_agree_with_numpy(pytestconfig: pytest.Config) -> None:
    """The options `--operations` and `--seed` set the number and the seed; the default is the same in each run."""
    seed = f"{pytestconfig.getoption('--seed')}/{pytestconfig.getoption('--environment')}"
    runner.run(seed, pytestconfig.getoption("--operations"))


def test_a_difference_is_shown_by_few_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect in the reference is found, and unrelated operations are removed."""
    monkeypatch.setattr(runner.reference.Array, "append", lambda self, values, axis=0: None)
    with pytest.raises(AssertionError) as failure:
        runner.run("defect", 2_000)
    script = str(failure.value).partition("\n\n")[2].partition("Traceback")[0]
    operations = [line for line in script.splitlines() if " = " in line or ".append(" in line]
    assert ".append(" in script
    assert len(operations) <= 6
