"""aiobotocore clients. Like the boto3 clients, they do not read the user's AWS configuration."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any, Optional

from .._account import SECRET
from .._boto import unconfigured
from ..errors import MissingExtraError

if TYPE_CHECKING:
    from .._instance import Instance


async def client(service: str, instance: Instance, account: str, region: str, **more: Any) -> Any:
    """An open client. The caller must close it."""
    session, config_type = _session()
    own = config_type(proxies={})
    config = more.pop("config", None)
    made = session.create_client(
        service,
        endpoint_url=instance.url,
        region_name=region,
        aws_access_key_id=account,
        aws_secret_access_key=SECRET,
        config=own if config is None else own.merge(config),
        **more,
    )
    client = await made.__aenter__()

    async def raise_its_death(operation: Any, caught_exception: Optional[Exception] = None, **_: Any) -> None:
        death = None if caught_exception is None else await asyncio.to_thread(instance.death, operation.name)
        if death is not None:
            raise death from None

    client.meta.events.register_first("needs-retry", raise_its_death)
    return client


@functools.cache
def _session() -> Any:
    try:
        from aiobotocore.config import AioConfig
        from aiobotocore.session import AioSession
    except ImportError as error:
        raise MissingExtraError("aiobotocore", "aio") from error
    return AioSession(session_vars=unconfigured()), AioConfig
