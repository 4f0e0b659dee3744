"""Accounts. A world is an account on the server, and a child process selects the account through environment variables."""

from __future__ import annotations

import secrets

SECRET = "any"


def new_account() -> str:
    """Twelve random digits. The first one is not 0."""
    return str(10**11 + secrets.randbelow(9 * 10**11))


def environment_of(url: str, account: str, region: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL_DYNAMODB": url,
        "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": url,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "MAYFLY_URL": url,
        "MAYFLY_ACCOUNT": account,
    }
