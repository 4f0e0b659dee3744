from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What whoever runs these tests has set is no part of them; but for the library, which a checkout has nowhere else."""
    for name in ("MAYFLY_URL", "MAYFLY_BINARY"):
        monkeypatch.delenv(name, raising=False)
