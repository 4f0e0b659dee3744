from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes environment variables that the developer may have set. MAYFLY_LIBRARY stays set, because the tests need it in a
    checkout."""
    for name in ("MAYFLY_URL", "MAYFLY_BINARY"):
        monkeypatch.delenv(name, raising=False)
