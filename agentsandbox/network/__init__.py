"""The network by permission: policies, the client of a sandbox, and its own loopback.

`policy` says what may be reached, `messages` has what a host's function gets and returns. `client`
is what commands use: `ctx.host.network` is the `Network` of the sandbox, and its module describes
how to send a request.
"""

from agentsandbox.network.messages import Request, Response
from agentsandbox.network.policy import NetworkPolicy

__all__ = ["NetworkPolicy", "Request", "Response"]
