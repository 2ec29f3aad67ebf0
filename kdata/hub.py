"""What may go wrong with the Hugging Face Hub."""

from __future__ import annotations


def errors() -> tuple[type[Exception], ...]:
    """What its client raises for a refusal, a bad name, or no answer.

    Errors of the connection are those of the HTTP library below, which is httpx or, from 2.4 on, httpx2; the Hub's own
    error is derived from it.
    """
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    return (*(base for base in HfHubHTTPError.__bases__ if issubclass(base, Exception)), HFValidationError)
