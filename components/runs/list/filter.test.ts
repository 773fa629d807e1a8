import { expect, test } from "vitest";
import { apiFilterOf, filterOf, isFiltered, nothingFiltered, textOfFilter } from "#components/runs/list/filter.ts";

const read = (query: string) => filterOf(new URLSearchParams(query));

test("the address says the filters, and what it cannot mean is not there", () => {
  expect(read("status=failed,nonsense,paused&trigger=api&workflow=w&q=%20tea%20&since=1d")).toEqual({
    ...{ q: "tea", statuses: ["paused", "failed"], triggers: ["api"], workflow: "w", since: "1d", from: undefined, to: undefined },
  });
  expect(read("since=3y&from=yesterday&page=4&status=")).toEqual(nothingFiltered);
  expect(isFiltered(read("page=4"))).toBe(false);
  expect(isFiltered(read("since=custom"))).toBe(false);
  expect(isFiltered(read("from=2026-11-01"))).toBe(true);
});

test("the same filters are the same text, whatever their order in the address", () => {
  const text = textOfFilter(read("workflow=w&status=failed,paused&q=tea"));
  expect(text).toBe(textOfFilter(read("q=tea&status=paused,failed&workflow=w&page=2")));
  expect(textOfFilter(filterOf(new URLSearchParams(text)))).toBe(text);
});

test("the API is asked from the minute on, and for whole days of the reader", () => {
  const now = Date.parse("2026-11-23T10:20:30.500Z");
  expect(apiFilterOf(read("since=1h&status=failed&workflow=w"), now)).toEqual({
    ...{ status: "failed", workflow_id: "w", from: "2026-11-23T09:20:00.000Z" },
  });
  const { from = "", to = "" } = apiFilterOf(read("from=2026-11-01&to=2026-11-01"), now);
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000);
});
