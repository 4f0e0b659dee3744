"""A world's boto3 clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _boto
from .errors import hides_frames

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient, DynamoDBServiceResource
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

    from ._instance import Instance

__tracebackhide__ = hides_frames


class AwsClients:
    """The clients of a World. mayfly.aio has its own version of this class."""

    _instance: Instance

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}  # clients and resources by kind and service

    if TYPE_CHECKING:

        @property
        def account(self) -> str: ...

        @property
        def region(self) -> str: ...

    @property
    def dynamodb(self) -> DynamoDBClient:
        """The boto3 client for DynamoDB. Raises MissingExtraError if boto3 is not installed."""
        return self._once("client", "dynamodb")

    @property
    def streams(self) -> DynamoDBStreamsClient:
        """The boto3 client for DynamoDB Streams."""
        return self._once("client", "dynamodbstreams")

    @property
    def resource(self) -> DynamoDBServiceResource:
        """The boto3 resource for DynamoDB, used as in world.resource.Table("carts")."""
        return self._once("resource", "dynamodb")

    def client(self, service: str, **options: Any) -> Any:
        """A new boto3 client for this world, for example for "lambda". The options, such as `config`, are those of boto3's
        client()."""
        return _boto.client(service, self._instance, self.account, self.region, **options)

    def _once(self, kind: str, service: str) -> Any:
        made = self._made.get(kind + service)
        if made is None:
            make = _boto.client if kind == "client" else _boto.resource
            made = self._made[kind + service] = make(service, self._instance, self.account, self.region)
        return made

    def _close_clients(self) -> None:
        for made in self._made.values():
            client = made.meta.client if hasattr(made, "Table") else made
            client.close()
        self._made.clear()
