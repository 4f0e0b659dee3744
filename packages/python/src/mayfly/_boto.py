"""boto3's clients and resources, made ready. Nothing of the user's AWS configuration is read: no files, no environment, no
proxy. What is loaded for the first client, the services' models, the next ones share."""

from __future__ import annotations

import functools
import threading
from typing import Any

from ._account import SECRET
from .errors import MissingExtraError

# A session makes one client at a time; the clients themselves may be used by all threads.
_making = threading.Lock()


def client(service: str, url: str, account: str, region: str, **more: Any) -> Any:
    with _making:
        return _session().client(service, **_options(url, account, region, more))


def resource(service: str, url: str, account: str, region: str, **more: Any) -> Any:
    with _making:
        return _session().resource(service, **_options(url, account, region, more))


@functools.cache
def _session() -> Any:
    try:
        import boto3
        import botocore.session
    except ImportError as error:
        raise MissingExtraError("boto3", "boto3") from error
    return boto3.Session(botocore_session=botocore.session.Session(session_vars=unconfigured()))


def unconfigured() -> dict[str, Any]:
    """botocore's settings, each with its default alone: neither the environment nor a file has a name for it."""
    from botocore.configprovider import BOTOCORE_DEFAUT_SESSION_VARIABLES as settings

    unnamed = {name: (None, None, default, convert) for name, (_, _, default, convert) in settings.items()}
    unnamed["config_file"] = unnamed["credentials_file"] = (None, None, "/dev/null", None)
    return unnamed


def _options(url: str, account: str, region: str, more: dict[str, Any]) -> dict[str, Any]:
    from botocore.config import Config

    own = Config(proxies={})
    config = more.pop("config", None)
    return {
        "endpoint_url": url,
        "region_name": region,
        "aws_access_key_id": account,
        "aws_secret_access_key": SECRET,
        "config": own if config is None else own.merge(config),
        **more,
    }
