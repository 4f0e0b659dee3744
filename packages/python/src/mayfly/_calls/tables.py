from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union, get_args

from .._literals import KeyType, StreamView
from ._call import Call, nothing, operation

#: A key attribute: the name of a string attribute, or a name and a type, ("year", "N").
KeyAttribute = Union[str, tuple[str, KeyType]]
#: The attributes of an index: all, only the keys, or the keys and the listed ones.
Projection = Union[Literal["ALL", "KEYS_ONLY"], list[str], tuple[str, ...]]

_LISTS = ("AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes")


@dataclass(frozen=True)
class Index:
    """A secondary index of a table: Index("by_owner", key="owner", sort=("at", "N")).

    A global index needs `key`, its partition key. A local index (local=True) has the table's partition key and needs
    `sort`. Raises ValueError if the argument that the index needs is missing, or if `projection` is invalid."""

    name: str
    key: Optional[KeyAttribute] = None
    sort: Optional[KeyAttribute] = None
    projection: Projection = "ALL"
    local: bool = False

    def __post_init__(self) -> None:
        if self.local and self.sort is None:
            raise ValueError(f"The local index {self.name!r} needs a sort key: add sort=….")
        if self.local and self.key is not None:
            raise ValueError(f"The local index {self.name!r} has the table's partition key: remove key={self.key!r}.")
        if not self.local and self.key is None:
            raise ValueError(f"The global index {self.name!r} needs a partition key: add key=…, or local=True.")
        is_text = isinstance(self.projection, str)
        if not self.projection or (is_text and self.projection not in ("ALL", "KEYS_ONLY")):
            raise ValueError(
                f'The projection of the index {self.name!r} must be "ALL", "KEYS_ONLY" or a list of attribute names, '
                f"got {self.projection!r}."
            )


def create(
    name: str,
    key: KeyAttribute,
    sort: Optional[KeyAttribute],
    stream: Union[bool, StreamView],
    indexes: Sequence[Index],
    more: Mapping[str, Any],
) -> Call[dict[str, Any]]:
    """The result is the table's description. Raises ValueError or TypeError for invalid arguments."""
    _check_indexes(indexes)
    types = _AttributeTypes()
    body: dict[str, Any] = {"TableName": name, "KeySchema": _key_schema(types, f"the table {name!r}", key, sort)}
    for index in indexes:
        where = f"the index {index.name!r}"
        own_key = key if index.key is None else index.key
        shown = {
            "IndexName": index.name,
            "KeySchema": _key_schema(types, where, own_key, index.sort),
            "Projection": _projection(index.projection),
        }
        body.setdefault("LocalSecondaryIndexes" if index.local else "GlobalSecondaryIndexes", []).append(shown)
    body["AttributeDefinitions"] = list(types.definitions())
    if stream:
        view = "NEW_AND_OLD_IMAGES" if stream is True else stream
        if view not in get_args(StreamView):
            raise ValueError(f"stream must be True, False or one of {', '.join(get_args(StreamView))}, got {stream!r}.")
        body["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    if "ProvisionedThroughput" not in more:
        body["BillingMode"] = "PAY_PER_REQUEST"
    _merge(body, more)
    return operation("CreateTable", body, lambda answer: dict(answer["TableDescription"]))


def enable_ttl(table: str, attribute: str) -> Call[None]:
    """Raises TypeError if `attribute` is not a string, and ValueError if it is empty."""
    if not isinstance(attribute, str) or not attribute:
        kind = ValueError if attribute == "" else TypeError
        raise kind(f"ttl must be the name of an attribute, got {attribute!r}.")
    specification = {"Enabled": True, "AttributeName": attribute}
    return operation("UpdateTimeToLive", {"TableName": table, "TimeToLiveSpecification": specification}, nothing)


def _check_indexes(indexes: Sequence[Index]) -> None:
    form = 'indexes must be a list such as [Index("by_owner", key="owner")]'
    if isinstance(indexes, Index):
        raise TypeError(f"{form}, got one index: put it into [ ].")
    for each in indexes:
        if not isinstance(each, Index):
            raise TypeError(f"{form}, got {each!r} in it.")


class _AttributeTypes:
    """The types of a table's key attributes. An attribute has the same type in the table and in all indexes."""

    def __init__(self) -> None:
        self._types: dict[str, tuple[str, str]] = {}  # attribute -> (type, the table or index that used it first)

    def add(self, attribute: KeyAttribute, where: str) -> str:
        """Adds an attribute and returns its name. Raises TypeError or ValueError if the attribute is invalid
        or already has another type."""
        if not isinstance(attribute, str) and not (isinstance(attribute, (tuple, list)) and len(attribute) == 2):
            raise TypeError(
                f'A key attribute of {where} must be a name, or a name and a type such as ("year", "N"), got {attribute!r}.'
            )
        name, kind = (attribute, "S") if isinstance(attribute, str) else attribute
        if kind not in get_args(KeyType):
            raise ValueError(f'The type of {name!r} in {where} must be "S", "N" or "B", got {kind!r}.')
        known, first = self._types.setdefault(name, (kind, where))
        if known != kind:
            raise ValueError(
                f'The attribute {name!r} has the type "{known}" in {first} and "{kind}" in {where}. Give it one type '
                f'everywhere; a name alone has the type "S", and ({name!r}, "N") makes it a number.'
            )
        return name

    def definitions(self) -> Iterator[dict[str, str]]:
        for name, (kind, _) in self._types.items():
            yield {"AttributeName": name, "AttributeType": kind}


def _key_schema(types: _AttributeTypes, where: str, key: KeyAttribute, sort: Optional[KeyAttribute]) -> list[dict[str, str]]:
    schema = [{"AttributeName": types.add(key, where), "KeyType": "HASH"}]
    if sort is not None:
        schema.append({"AttributeName": types.add(sort, where), "KeyType": "RANGE"})
    return schema


def _projection(projection: Projection) -> dict[str, Any]:
    if isinstance(projection, str):
        return {"ProjectionType": projection}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projection)}


def _merge(body: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Adds the caller's other members of CreateTable. Lists of attributes and indexes are appended to the lists in `body`.
    All other members replace the values in `body`."""
    for member, value in more.items():
        if not member[:1].isupper():
            raise TypeError(
                f"create_table() got an unexpected argument {member!r}. Further arguments are members of CreateTable, such "
                "as Tags=[…]."
            )
        if member in _LISTS:
            body[member] = body.get(member, []) + [each for each in value if each not in body.get(member, [])]
        else:
            body[member] = value
