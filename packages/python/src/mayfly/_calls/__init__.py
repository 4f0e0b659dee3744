"""Calls to the server as values. Each value contains a request and the functions that read its response, so that World and
AsyncWorld can share this code."""

from ._call import Call, executed, generic

__all__ = ["Call", "executed", "generic"]
