import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "#components/ui/markdown.tsx";

const html = (text: string): string => renderToStaticMarkup(Markdown({ children: text })).replace(/\n/g, "");

test("a table as models write it is one, with what stands in its cells", () => {
  const shown = html(
    "Here:\n\n| Fruit | Price |\n|:------|------:|\n| **Pear** | 3 € |\n| `a b` | [x](https://example.com) |\n| Plum |\n\nEnd.",
  );
  expect(shown).toContain("<thead><tr><th");
  expect(shown.replace(/ style="[^"]*"| target="_blank"| rel="noreferrer"/g, "")).toContain(
    "<tbody><tr><td><strong>Pear</strong></td><td>3 €</td></tr><tr><td><code>a b</code></td>" +
      '<td><a href="https://example.com">x</a></td></tr><tr><td>Plum</td><td></td></tr></tbody>',
  );
  expect(shown).toContain("text-align:right");
  expect(shown).toContain("<p>End.</p>");
});

test("it may follow a sentence at once, stand in a list, and do without outer bars", () => {
  expect(html("So:\nA | B\n--- | ---\n1 | 2")).toContain("<p>So:</p>");
  expect(html("So:\nA | B\n--- | ---\n1 | 2")).toContain("<td>1</td><td>2</td>");
  expect(html("- Item\n\n  | A | B |\n  |---|---|\n  | 1 | 2 |")).toMatch(/<li>.*<table>.*<td>2<\/td>.*<\/li>/);
});

test("a task says whether it is done", () => {
  expect(html("- [x] read\n- [ ] write")).toMatch(/aria-label="Done".* read.*aria-label="To do".* write/);
});

test("what is no table stays as it is", () => {
  for (const text of ["a | b", "| a | b |\n| 1 | 2 |", "| a | b |\n|---|\n| 1 |", "x\n\n---\n\ny | z"])
    expect(html(text)).not.toContain("<table>");
  expect(html("```\n| a | b |\n|---|---|\n```")).not.toContain("<table>");
  expect(html("Title\n---")).toContain("Title</h4>");
});
