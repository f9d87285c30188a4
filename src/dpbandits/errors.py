"""The one error that bad input raises."""


class InputError(ValueError):
    """Bad input, said in one line that names the file or argument, the key and what is allowed.

    The command line prints the line and exits with status 2; Python callers catch a ValueError.
    """

    def __init__(self, message: str) -> None:
        """Keep the message on one line, whatever a library put into it."""
        super().__init__(" ".join(message.split()))
