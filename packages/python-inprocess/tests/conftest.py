from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes variables that the developer may have set, except MAYFLY_LIBRARY, which tests in a checkout need."""
    for name in ("MAYFLY_URL", "MAYFLY_BINARY"):
        monkeypatch.delenv(name, raising=False)
