"""The one exception a user's mistake may raise."""


class UserError(Exception):
    """A mistake of the user: one line that names the thing and its remedy.

    The command line prints the message without a traceback and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class Unavailable(UserError):
    """Something outside that cannot be had now, such as a publisher's file.

    It is worth another try, and a run goes on with what does not need it.
    """


class Interrupted(Exception):
    """Something outside the pipeline ended a run: a killed worker, a server that is gone. What is finished is kept."""


class ServerLost(Interrupted):
    """The Prefect server went away under a run."""
