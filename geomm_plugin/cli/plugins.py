"""`geomm plugins`: what is registered by whom, and whether it keeps the contracts."""

from __future__ import annotations

from geomm_plugin import registry
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show


@options.as_command
@options.option("--check", "Run the contracts on what this one registers.", metavar="PACKAGE")
@options.run_options()
def command(check: str | None, run: options.Run) -> None:
    """List plugins with their packages and what they register, or check those of a package.

    A check prints one line for each thing: ok, failed with the sentence of the contract that it
    breaks, or not checked, since its contract needs more than the package. The exit status is 1 if
    anything failed.

    \b
    Example:
        geomm plugins --check your-package
    """
    if check is not None:
        from geomm_plugin.testing import check_plugin

        with run.shown():
            found = check_plugin(check)
        run.report(None, "\n".join(map(str, found)))
        raise SystemExit(int(any(each.result == "failed" for each in found)))
    entries = registry.plugins.registered()
    for origin in registry.plugins.origins.values():
        show(f"{origin.plugin}  from {origin}")
        own = [each for each in entries if each.origin == origin]
        for kind in dict.fromkeys(each.kind for each in own):
            show(f"    {kind}s: {', '.join(each.name for each in own if each.kind == kind)}")
