import { expect, test } from "vitest";
import { markdownSections } from "#server/platform/documents/markdown-sections.ts";
import { guessLanguage } from "#server/platform/documents/prepare-document.ts";
import { mediaTypeOf, readDocument } from "#server/platform/documents/read-document.ts";
import { searchText } from "#server/shared/search-text.ts";
import { docxFile, pdfFile, pdfForm, pdfWithCmap, zipFile } from "#server/testing/office-files.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("Markdown: each section has the path of its headings, and fences hold no headings", () => {
  const text =
    "Intro\n\n# House\n\n## Night\nQuiet from ten.\n\n```sh\n# not a heading\n```\n\n## Day ##\n\n### Empty\n\nGarden\n======\nRoses [here](http://x)\n";
  expect(markdownSections(text)).toEqual([
    { place: "", text: "Intro" },
    { place: "House › Night", text: "Quiet from ten.\n\n```sh\n# not a heading\n```" },
    { place: "House › Day › Empty", text: "Empty" },
    { place: "Garden", text: "Roses [here](http://x)" },
  ]);
});

test.each([
  ["code on one line in three backticks", "```echo hi```"],
  ["a fence whose lines begin with longer text", "```\n``` not the end\n# comment\n```"],
  ["a fence inside a longer fence", "````md\n```\n# comment\n```\n````"],
  ["preformatted HTML", "<pre>\n# comment\n</pre>"],
  ["an HTML comment", "<!--\n# comment\n-->"],
  ["a comment on one line", "<!-- # comment -->"],
])("finds no heading in %s", (_, block) => {
  expect(markdownSections(`# A\n\n${block}\n\n## B\n\nText`)).toEqual([
    { place: "A", text: block },
    { place: "A › B", text: "Text" },
  ]);
});

test("PDF: text by page, with the title of the document", async () => {
  const file = pdfFile(["The boiler is in the cellar.", "The key hangs behind the door."], "House book");
  expect(mediaTypeOf(file, "x.bin")).toBe("application/pdf");
  await expect(readDocument(file, "application/pdf")).resolves.toEqual({
    title: "House book",
    sections: [
      { place: "Page 1", text: "The boiler is in the cellar." },
      { place: "Page 2", text: "The key hangs behind the door." },
    ],
  });
});

test.each([
  ["GBK-EUC-H", "GB1", [0xc4, 0xe3, 0xba, 0xc3], "你好"],
  ["UniGB-UCS2-H", "GB1", [0x4f, 0x60, 0x59, 0x7d], "你好"],
  ["90ms-RKSJ-H", "Japan1", [0x93, 0xfa, 0x96, 0x7b], "日本"],
  ["KSCms-UHC-H", "Korea1", [0xc7, 0xd1, 0xb1, 0xb9], "한국"],
  ["ETen-B5-V", "CNS1", [0xa4, 0xa4, 0xa4, 0xe5], "中文"],
])("reads a PDF with the predefined CMap %s", async (cmap, ordering, text, expected) => {
  const { sections } = await readDocument(pdfWithCmap(cmap, ordering, Uint8Array.from(text)), "application/pdf");

  expect(sections).toEqual([{ place: "Page 1", text: expected }]);
});

test.each([
  ["a name that ends in .pdf", "a.pdf", ""],
  ["a declared type", "download", "application/pdf"],
  ["neither a name nor a type", "download", "application/octet-stream"],
])("reads a PDF after other bytes, given %s", async (_, name, declared) => {
  const file = Buffer.concat([bytes("HTTP/1.1 200 OK\r\n\r\n".padEnd(1018)), pdfFile(["The boiler is in the cellar."])]);

  const { sections } = await readDocument(file, mediaTypeOf(file, name, declared));

  expect(sections).toEqual([{ place: "Page 1", text: "The boiler is in the cellar." }]);
});

test("takes a text that mentions the header of a PDF for text", () => {
  expect(mediaTypeOf(bytes("A PDF begins with %PDF-1.4."), "notes.txt")).toBe("text/plain");
});

test("reads the values of a PDF form with their labels", async () => {
  const file = pdfForm([
    "/FT /Tx /T (name) /TU (Full name) /V (Ada Lovelace)",
    "/FT /Tx /T (form1[0].#subform[0].City[0]) /V <FEFF004B00F6006C006E>",
    "/FT /Ch /Ff 131072 /T (Plan) /Opt [[(s) (Small)] [(l) (Large)]] /V (l)",
    "/FT /Btn /T (Newsletter) /V /Yes /AS /Yes",
    "/FT /Btn /T (Terms) /V /Off /AS /Off",
    "/FT /Tx /T (Empty)",
  ]);

  const { sections } = await readDocument(file, "application/pdf");

  expect(sections).toEqual([{ place: "Page 1", text: "Full name: Ada Lovelace\nform1.City: Köln\nPlan: Large\nNewsletter: Yes" }]);
});

test("leaves out the hidden fields of a PDF form", async () => {
  const file = pdfForm(["/FT /Tx /T (Shown) /V (a)", "/FT /Tx /T (Hidden) /F 2 /V (b)", "/FT /Tx /T (Password) /Ff 8192 /V (c)"]);

  const { sections } = await readDocument(file, "application/pdf");

  expect(sections).toEqual([{ place: "Page 1", text: "Shown: a" }]);
});

test("names a field once that stands in several places", async () => {
  const file = pdfForm(["/FT /Tx /T (Name) /V (Ada)", "/FT /Tx /T (Name) /V (Ada)"]);

  const { sections } = await readDocument(file, "application/pdf");

  expect(sections).toEqual([{ place: "Page 1", text: "Name: Ada" }]);
});

test("DOCX: headings become places", async () => {
  const file = docxFile([
    { heading: 1, text: "Garden" },
    { heading: 2, text: "Roses" },
    { text: "Cut them in March." },
    { heading: 1, text: "Cellar" },
    { text: "Keep it dry." },
  ]);
  const { sections } = await readDocument(file, mediaTypeOf(file, "garden.docx"));
  expect(sections).toEqual([
    { place: "Garden › Roses", text: "Cut them in March." },
    { place: "Cellar", text: "Keep it dry." },
  ]);
});

test("HTML: scripts and navigation are left out, tables keep their rows", async () => {
  const html =
    "<html><head><title>Prices</title><script>alert(1)</script></head><body><nav>Home About</nav><h1>Prices</h1><p>Per <b>month</b>.</p><table><tr><th>Plan</th><th>Euro</th></tr><tr><td>Small</td><td>9</td></tr></table></body></html>";
  const { title, sections } = await readDocument(bytes(html), "text/html");
  expect(title).toBe("Prices");
  const text = sections.map((section) => section.text).join("\n");
  expect(text).toContain("Per **month**.");
  expect(text).toContain("Plan | Euro\nSmall | 9");
  expect(text).not.toMatch(/alert|About/);
});

test("names a Markdown document by its front matter", async () => {
  await expect(readDocument(bytes("---\ntitle: House rules\n---\n# Night\n\nQuiet from ten."), "text/markdown")).resolves.toEqual({
    title: "House rules",
    charset: "utf-8",
    sections: [{ place: "Night", text: "Quiet from ten." }],
  });
});

test("texts in old encodings are read", async () => {
  const latin = Uint8Array.from(Buffer.from("Grüße aus Köln", "latin1"));
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("Grüße aus Köln", "utf16le")]);
  for (const file of [latin, utf16])
    await expect(readDocument(file, mediaTypeOf(file, "a.txt"))).resolves.toMatchObject({
      sections: [{ place: "", text: "Grüße aus Köln" }],
    });
});

test.each([
  ["a picture", Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 0]), "a.png", /cannot be read/],
  ["another ZIP file", zipFile({ "a.txt": "x" }), "a.zip", /cannot be read/],
  ["a text that calls itself PDF", bytes("hello"), "a.pdf", /damaged/],
])("%s is refused", (_, file, name, message) => {
  expect(() => mediaTypeOf(file, name)).toThrow(message);
});

test.each([
  ["a broken PDF", bytes("%PDF-1.7 nothing"), "application/pdf", /PDF is damaged/],
  [
    "a broken Word file",
    zipFile({ "a.txt": "x" }),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    /Word file is damaged/,
  ],
  [
    "a Word file that says that it unpacks to gigabytes",
    zipFile({ "word/document.xml": "x" }, 3_000_000_000),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    /more than 100 MiB/,
  ],
  [
    "a Word file that unpacks to more than it says",
    zipFile({ "word/document.xml": "x".repeat(110_000_000) }, 1000, {}),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    /more than 100 MiB/,
  ],
  ["a page without text", pdfFile([""]), "application/pdf", /holds no text.*OCR/],
  ["nothing but blanks", bytes(" \n\t"), "text/plain", /holds no text/],
])("%s says what is wrong", async (_, file, type, message) => {
  await expect(readDocument(file, type)).rejects.toThrow(message);
});

test.each([
  ["The key hangs behind the door and it is not for guests.", "english"],
  ["Der Schlüssel hängt hinter der Tür und ist nicht für Gäste.", "german"],
  ["La clé est derrière la porte et elle n'est pas pour les invités.", "french"],
  ["La llave está detrás de la puerta y no es para los huéspedes.", "spanish"],
  ["Ключ висит за дверью", "russian"],
  ["我们在北京学习", "simple"],
  ["XJ-900 QX7 RT-12", "simple"],
])("%s: %s", (text, language) => {
  expect(guessLanguage(text)).toBe(language);
});

test("a script without blanks is searched by pairs of characters", () => {
  expect(searchText("买北京票 now 猫")).toBe(" 买北 北京 京票  now  猫 ");
});

test("a page or an XML file in an encoding of its own is read in it; what the server declared counts before", async () => {
  const nihongo = [0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea]; // in Shift JIS
  const file = (before: string, after: string) => Buffer.concat([Buffer.from(before), Buffer.from(nihongo), Buffer.from(after)]);
  const read = async (...[content, type, declared]: [Uint8Array, string, string?]) => {
    const { sections } = await readDocument(content, type, declared === undefined ? {} : { declared });
    return sections[0]?.text;
  };
  const page = file('<html><head><meta charset="shift_jis"></head><body><p>', "</p></body></html>");
  expect(await read(page, "text/html")).toBe("日本語");
  expect(await read(page, "text/html", "text/html")).toBe("日本語");
  expect(await read(file('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>', "</p>"), "text/html")).toBe(
    "日本語",
  );
  expect(await read(file('<?xml version="1.0" encoding="Shift_JIS"?><a>', "</a>"), "text/xml")).toContain("日本語");
  expect(await read(bytes('<meta charset="shift_jis"><p>äöü</p>'), "text/html", "text/html; charset=utf-8")).toBe("äöü");
  expect(await read(bytes('<meta charset="no-such"><p>äöü</p>'), "text/html")).toBe("äöü");
});

test("a text of marks that only a word processor reads is refused, however it is called", () => {
  for (const name of ["letter.rtf", "letter.txt", "letter"])
    expect(() => mediaTypeOf(bytes("{\\rtf1\\ansi Dear Ada}"), name, "text/rtf")).toThrow("This kind of file cannot be read.");
});
