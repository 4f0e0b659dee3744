"""The calls of the control API as values: what is sent, and how the answer is read. Who sends them, a World or an
AsyncWorld, is no matter here."""

from ._call import Call, executed, generic

__all__ = ["Call", "executed", "generic"]
