"""Makes a child process on Windows end with this process, even if this process is killed."""

from __future__ import annotations

import ctypes
import sys

if sys.platform == "win32":
    from ctypes import wintypes

    _EXTENDED_LIMITS, _SILENT_BREAKAWAY_OK, _KILL_ON_JOB_CLOSE = 9, 0x1000, 0x2000
    _SET_QUOTA, _TERMINATE = 0x0100, 0x0001

    class _Limits(ctypes.Structure):
        """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

        _fields_ = (
            ("process_time", ctypes.c_int64),
            ("job_time", ctypes.c_int64),
            ("flags", wintypes.DWORD),
            ("working_set_min", ctypes.c_size_t),
            ("working_set_max", ctypes.c_size_t),
            ("processes_max", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority", wintypes.DWORD),
            ("scheduling", wintypes.DWORD),
            ("counters", ctypes.c_uint64 * 6),
            ("memory", ctypes.c_size_t * 4),
        )

    def end_with_this_process(pid: int) -> bool:
        """Puts the process into a job that nothing else refers to. Windows closes the job when this process ends, and then
        kills the process. False if Windows refuses."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        for function in (kernel.CreateJobObjectW, kernel.OpenProcess):
            function.restype = wintypes.HANDLE
        job = wintypes.HANDLE(kernel.CreateJobObjectW(None, None))
        limits = _Limits(flags=_KILL_ON_JOB_CLOSE | _SILENT_BREAKAWAY_OK)
        process = wintypes.HANDLE(kernel.OpenProcess(_SET_QUOTA | _TERMINATE, False, pid))
        if not job or not process:
            return False
        try:
            return bool(
                kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
                and kernel.AssignProcessToJobObject(job, process)
            )
        finally:
            kernel.CloseHandle(process)
