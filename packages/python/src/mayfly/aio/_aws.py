"""A world's aiobotocore clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import hides_frames
from . import _clients

if TYPE_CHECKING:
    from types_aiobotocore_dynamodb import DynamoDBClient
    from types_aiobotocore_dynamodbstreams import DynamoDBStreamsClient

    from .._instance import Instance

__tracebackhide__ = hides_frames


class AsyncAwsClients:
    """The clients of an AsyncWorld. The synchronous World has its own version of this class."""

    _instance: Instance

    def __init__(self) -> None:
        self._clients: dict[str, Any] = {}  # clients by service

    if TYPE_CHECKING:

        @property
        def account(self) -> str: ...

        @property
        def region(self) -> str: ...

    async def dynamodb(self) -> DynamoDBClient:
        """The aiobotocore client for DynamoDB. Each call returns the same client, which the world closes. Raises
        MissingExtraError if aiobotocore is not installed."""
        return await self._once("dynamodb")

    async def streams(self) -> DynamoDBStreamsClient:
        """The aiobotocore client for DynamoDB Streams."""
        return await self._once("dynamodbstreams")

    async def client(self, service: str, **options: Any) -> Any:
        """A new open client for this world, for example for "lambda". Close it with `await client.close()`. The options are
        those of aiobotocore's create_client()."""
        return await _clients.client(service, self._instance, self.account, self.region, **options)

    async def _once(self, service: str) -> Any:
        made = self._clients.get(service)
        if made is None:
            made = await self.client(service)
            kept = self._clients.setdefault(service, made)
            if kept is not made:  # another task has created a client in the meantime
                await made.close()
            made = kept
        return made

    async def _close_clients(self) -> None:
        for client in self._clients.values():
            await client.close()
        self._clients.clear()
