"""Calls to the control API as values. Each has a request and a function that reads the response, so that World and AsyncWorld
share them."""

from ._call import Call, executed, generic

__all__ = ["Call", "executed", "generic"]
