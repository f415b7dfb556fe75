# SPDX-License-Identifier: GPL-2.0-only
"""Why the flow cannot be followed further."""


class Contradiction(Exception):
    """Trace and code, or two packets, cannot both be right."""

    def __init__(self, packet, why):
        super().__init__(why)
        self.at = packet.at if packet else None
        self.why = why


class Unsaid(Contradiction):
    """The architecture does not say what this means."""


class Known(Unsaid):
    """The decoder is known to read this in another way: see README.md."""


class NoCode(Contradiction):
    """Code is missing at an address."""
