import { expect, test } from "vitest";
import { contentOf } from "#server/platform/documents/page-content.ts";
import { readDocument } from "#server/platform/documents/read-document.ts";

const filler = "A treadle loom is worked with the feet, which leaves both hands free for the shuttle. ".repeat(8);

/** A page's text as each of its readers gives it: an uploaded file, an address in a knowledge source, the scraper. */
const READERS: [reader: string, read: (html: string) => Promise<string>][] = [
  ["file", (html) => readDocument(Buffer.from(html), "text/html").then(textOf)],
  ["URL", (html) => readDocument(Buffer.from(html), "text/html", { url: "https://example.com/" }).then(textOf)],
  [
    "scraper",
    (html) =>
      contentOf({ url: "https://example.com/", bytes: Buffer.from(html), contentType: "text/html", isCut: false }).then(
        ({ markdown }) => markdown,
      ),
  ],
];

const textOf = ({ sections }: { sections: { place: string; text: string }[] }) =>
  sections.map(({ place, text }) => `${place}\n${text}`).join("\n");

test.each(READERS)("reads a page that stands inside one form (%s)", async (_, read) => {
  const html = `<body><header>Weaving</header><form id="aspnetForm"><input type="hidden" value="state"><h1>Looms</h1><p>${filler}</p><button>Save</button></form></body>`;

  const text = await read(html);

  expect(text).toContain("A treadle loom");
  expect(text).not.toContain("Save");
});

test.each(READERS)("reads a short page that stands inside one form (%s)", async (_, read) => {
  const text = await read("<form><p>Closed on Monday.</p></form>");

  expect(text).toContain("Closed on Monday.");
});

test.each(READERS)("leaves out a form beside the text (%s)", async (_, read) => {
  const text = await read(
    `<h1>Looms</h1><p>${filler}</p><form><label>Subscribe</label><select>${`<option>${filler}</option>`.repeat(20)}</select></form>`,
  );

  expect(text).toContain("A treadle loom");
  expect(text).not.toContain("Subscribe");
});

test.each(
  READERS.flatMap(([reader, read]) =>
    [
      '<h2><button aria-expanded="true">What is a heddle?<svg><text>+</text></svg></button></h2>',
      "<button><h2>What is a heddle?</h2></button>",
      '<h2><form action="/open"><button>What is a heddle?</button></form></h2>',
      '<div role="heading" aria-level="2"><button>What is a heddle?</button></div>',
      "<details open><summary><button>What is a heddle?</button></summary></details>",
    ].map((heading) => [reader, heading, read] as const),
  ),
)("keeps the words of a control in a heading (%s: %s)", async (_, heading, read) => {
  const text = await read(`<article><h1>Looms</h1><p>${filler}</p>${heading}<p>It lifts the warp. ${filler}</p></article>`);

  expect(text).toContain("What is a heddle?");
});
