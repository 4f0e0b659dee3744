"""boto3 clients and resources. They ignore the user's AWS configuration: files, environment variables and proxy settings.
They share the service models that the first client loads."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, Optional

from ._account import SECRET
from ._fork import Lock
from .errors import MissingExtraError

if TYPE_CHECKING:
    from ._instance import Instance

# Sessions are not thread-safe, but clients are.
_making = Lock()


def client(service: str, instance: Instance, account: str, region: str, **more: Any) -> Any:
    with _making:
        made = _session().client(service, **_options(instance.url, account, region, more))
    _raise_its_death(made, instance)
    return made


def resource(service: str, instance: Instance, account: str, region: str, **more: Any) -> Any:
    with _making:
        made = _session().resource(service, **_options(instance.url, account, region, more))
    _raise_its_death(made.meta.client, instance)
    return made


def _raise_its_death(client: Any, instance: Instance) -> None:
    """Makes a call to a dead server raise EndedError immediately. boto3 would otherwise retry for half a minute."""

    def look(operation: Any, caught_exception: Optional[Exception] = None, **_: Any) -> None:
        death = None if caught_exception is None else instance.death(operation.name)
        if death is not None:
            raise death from None

    client.meta.events.register_first("needs-retry", look)


@functools.cache
def _session() -> Any:
    try:
        import boto3
        import botocore.session
    except ImportError as error:
        raise MissingExtraError("boto3", "boto3") from error
    return boto3.Session(botocore_session=botocore.session.Session(session_vars=unconfigured()))


def unconfigured() -> dict[str, Any]:
    """botocore's settings with their default values. The names of environment variables and of settings in files are removed,
    so that neither the environment nor a file changes a value."""
    from botocore.configprovider import BOTOCORE_DEFAUT_SESSION_VARIABLES as settings

    unnamed = {name: (None, None, default, convert) for name, (_, _, default, convert) in settings.items()}
    unnamed["config_file"] = unnamed["credentials_file"] = (None, None, os.devnull, None)
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
