"""A small client of the Treadle API. It needs Python 3.11 or newer and nothing else."""

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any, Literal, NotRequired, TypedDict

Status = Literal["pending", "queued", "running", "paused", "completed", "failed", "rejected", "cancelled"]


class WorkflowSummary(TypedDict):
    id: str
    name: str
    enabled: bool
    version: int


class Run(TypedDict):
    execution_id: str
    status: Status


class Review(TypedDict):
    node_id: str
    label: str
    decision: Literal["approved", "rejected"] | None
    comment: str | None


class Execution(TypedDict):
    id: str
    status: Status
    output: str | None
    error: str | None
    reviews: list[Review]


class Event(TypedDict):
    type: str
    execution_id: str
    timestamp: str
    node_id: NotRequired[str]
    content: NotRequired[str]
    title: NotRequired[str]
    status: NotRequired[Status]
    output: NotRequired[str | None]
    error: NotRequired[str]


class TreadleError(Exception):
    """An answer that is no success. Its text says what to do next."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body["detail"])
        self.code: str = body["error_code"]
        self.status: int = body["status"]
        self.errors: list[dict[str, str]] = body.get("errors", [])


MAX_WAIT_SECONDS = 60


class Treadle:
    def __init__(
        self,
        url: str = os.environ["TREADLE_URL"],
        key: str = os.environ["TREADLE_KEY"],
        project: str | None = os.environ.get("TREADLE_PROJECT"),
    ) -> None:
        """`project` is a slug. A user of several projects must name one."""
        self.url = url
        self.headers = {"Authorization": f"Bearer {key}"}
        if project:
            self.headers["X-Project-Slug"] = project

    def _open(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        """Sends a request and repeats it after a 429, up to five times.

        Raises a 429 that asks for more than 60 seconds, such as that of the hourly limit.
        """
        for attempt in range(6):
            request = urllib.request.Request(
                self.url + path,
                method=method,
                data=None if body is None else json.dumps(body).encode(),
                headers={**self.headers, "Content-Type": "application/json", **(headers or {})},
            )
            try:
                return urllib.request.urlopen(request)
            except urllib.error.HTTPError as error:
                seconds = int(error.headers.get("Retry-After", "1"))
                if error.code != 429 or attempt == 5 or seconds > MAX_WAIT_SECONDS:
                    raise TreadleError(json.load(error)) from None
                time.sleep(seconds)

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        with self._open(method, path, body, headers) as response:
            text = response.read()
        return json.loads(text) if text else None

    def workflows(self) -> Iterator[WorkflowSummary]:
        """All of them, page by page."""
        page, seen = 1, 0
        while True:
            found = self.call("GET", f"/workflows?page={page}&per_page=100")
            yield from found["items"]
            page, seen = page + 1, seen + len(found["items"])
            if seen >= found["total"] or not found["items"]:
                return

    def execute(
        self, workflow_id: str, text: str | None, idempotency_key: str, params: dict[str, Any] | None = None
    ) -> Run:
        """Starts a run with a text, or with `params` of a params trigger.

        Repeating it with the same key within 24 hours starts nothing new.
        """
        path = f"/workflows/{workflow_id}/execute"
        given = {"input": text, "params": params}
        body = {name: value for name, value in given.items() if value is not None}
        return self.call("POST", path, body, {"Idempotency-Key": idempotency_key})

    def approve(self, execution_id: str, comment: str) -> Execution:
        path = f"/executions/{execution_id}/approve"
        return self.call("POST", path, {"decision": "approved", "comment": comment})

    def follow(self, execution_id: str) -> Iterator[Event]:
        """The events of an execution until it ends, over broken lines too."""
        last_id = "0"
        while True:
            try:
                with self._open("GET", f"/executions/{execution_id}/stream", headers={"Last-Event-ID": last_id}) as lines:
                    for line in lines:
                        name, _, value = line.decode().rstrip("\n").partition(": ")
                        if name == "id":
                            last_id = value
                        if name != "data":
                            continue
                        event: Event = json.loads(value)
                        yield event
                        if event["type"] in ("execution_complete", "execution_failed"):
                            return
            except (OSError, http.client.HTTPException):
                time.sleep(1)  # the line broke: go on after the last event
