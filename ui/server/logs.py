"""The server's log as lines of JSON, if PACKVIZ_LOGS is `json`, without anything that a visitor typed or is.

A message is logged as its template only, since its arguments may be a visitor's text or address; an error as its type
and the places in the code, since its message may quote either.
"""

import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from streamlit import logger as streamlit_logger

_own = logging.getLogger("packviz")


class JsonLines(logging.Formatter):
    """Format a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: time, level, logger and event, the fields of our own events, the places of an error."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": str(record.msg),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            line["error"] = record.exc_info[0].__name__
            line["at"] = [f"{os.path.basename(each.filename)}:{each.lineno} {each.name}" for each in frames]
        return json.dumps(line, default=str)


def wanted() -> bool:
    """Return whether the environment asks for lines of JSON."""
    return os.environ.get("PACKVIZ_LOGS") == "json"


def set_up() -> None:
    """Make all loggers of this process, including those of Streamlit and its server, write lines of JSON."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    streamlit_logger.setup_formatter = _to_the_root  # for the loggers that Streamlit makes later
    for each in map(logging.getLogger, list(logging.root.manager.loggerDict)):
        _to_the_root(each)
    _own.setLevel(logging.INFO)


def tell(event: str, **fields: float | str) -> None:
    """Log an event. fields: numbers and fixed words; no visitor's text, no address."""
    if wanted():
        _own.info(event, extra={"fields": fields})


def _to_the_root(logger: logging.Logger) -> None:
    """Remove a logger's own handlers, so that its records go to the root logger."""
    logger.handlers, logger.propagate = [], True
    logger.setLevel(max(logger.level, logging.WARNING))
