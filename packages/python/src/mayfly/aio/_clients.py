"""aiobotocore's clients, made ready as boto3's are: nothing of the user's AWS configuration is read."""

from __future__ import annotations

import functools
from typing import Any

from .._account import SECRET
from .._boto import unconfigured
from ..errors import MissingExtraError


async def client(service: str, url: str, account: str, region: str, **more: Any) -> Any:
    """One that is entered; it has to be left by __aexit__."""
    session, config_type = _session()
    own = config_type(proxies={})
    config = more.pop("config", None)
    made = session.create_client(
        service,
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=account,
        aws_secret_access_key=SECRET,
        config=own if config is None else own.merge(config),
        **more,
    )
    return await made.__aenter__()


@functools.cache
def _session() -> Any:
    try:
        from aiobotocore.config import AioConfig
        from aiobotocore.session import AioSession
    except ImportError as error:
        raise MissingExtraError("aiobotocore", "aio") from error
    return AioSession(session_vars=unconfigured()), AioConfig
