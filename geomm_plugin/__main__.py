"""`python -m geomm_plugin` is the command `geomm`.

Little is imported here, so that Ctrl-C while modules load ends in a word, not in a traceback.
"""

import os

try:
    import _signal as signal  # type: ignore[import-not-found]  # `signal` loads others first
except ImportError:  # another Python
    import signal


def main() -> None:
    """Load the command line and run it."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where the caller ignores the signal
        signal.signal(signal.SIGINT, _stop_at_once)
    from geomm_plugin.cli import main as run

    signal.signal(signal.SIGINT, handler)
    try:
        run()
    finally:
        if handler is signal.default_int_handler:
            signal.signal(signal.SIGINT, _stop_at_once)  # while Python itself ends


def _stop_at_once(number: int, frame: object) -> None:
    """End here: nothing has been begun, or everything is done, so nothing is left to tidy up."""
    os.write(2, b"Stopped.\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
