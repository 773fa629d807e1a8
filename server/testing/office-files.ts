import { crc32, deflateRawSync, type ZlibOptions } from "node:zlib";

// Small office files for tests, made by hand: they hold no more than what a reader needs.

/**
 * A ZIP file.
 * @param claimedSize what its directory says of each file, in bytes, in place of the truth
 * @param packing how the files are packed ({}: as zlib does unless told); left out, they stay as they are
 */
export function zipFile(files: Record<string, string>, claimedSize?: number, packing?: ZlibOptions): Uint8Array {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [path, data] = [Buffer.from(name), Buffer.from(text)];
    const packed = packing ? deflateRawSync(data, packing) : data;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(packing ? 8 : 0, 4);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claimedSize ?? data.length, 18);
    common.writeUInt16LE(path.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, path, packed]);
    entries.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), Buffer.from([20, 0]), common, tail, path]));
    parts.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...parts, directory, end]));
}

const escaped = (text: string) => text.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** A Word file of these paragraphs; `heading` is the rank of those that are one. */
export function docxFile(paragraphs: { heading?: number; text: string }[], packing?: ZlibOptions): Uint8Array {
  const word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  const relations = "http://schemas.openxmlformats.org/package/2006/relationships";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const body = paragraphs.map(({ heading, text }) => {
    const style = heading === undefined ? "" : `<w:pPr><w:pStyle w:val="Heading${heading}"/></w:pPr>`;
    return `<w:p>${style}<w:r><w:t>${escaped(text)}</w:t></w:r></w:p>`;
  });
  const styles = [1, 2, 3].map(
    (rank) => `<w:style w:type="paragraph" w:styleId="Heading${rank}"><w:name w:val="heading ${rank}"/></w:style>`,
  );
  return zipFile(
    {
      "[Content_Types].xml":
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
      "_rels/.rels": `<Relationships xmlns="${relations}"><Relationship Id="r1" Type="${office}/officeDocument" Target="word/document.xml"/></Relationships>`,
      "word/_rels/document.xml.rels": `<Relationships xmlns="${relations}"><Relationship Id="r1" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
      "word/styles.xml": `<w:styles xmlns:w="${word}">${styles.join("")}</w:styles>`,
      "word/document.xml": `<w:document xmlns:w="${word}"><w:body>${body.join("")}</w:body></w:document>`,
    },
    undefined,
    packing,
  );
}

/** A PDF file with one line of text on each page. */
export function pdfFile(pages: string[], title = ""): Uint8Array {
  const text = (words: string) => `(${words.replace(/[\\()]/g, "\\$&")})`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${5 + index * 2} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    `<< /Title ${text(title)} >>`,
    ...pages.flatMap((line, index) => {
      const stream = `BT /F1 12 Tf 50 700 Td ${text(line)} Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${6 + index * 2} 0 R >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  return pdfOf(objects, 4);
}

/** A PDF of these objects, the first of which is its catalogue. */
function pdfOf(objects: string[], info?: number): Uint8Array {
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R${info ? ` /Info ${info} 0 R` : ""} >>\nstartxref\n${start}\n%%EOF`;
  return new Uint8Array(Buffer.from(file, "latin1"));
}

const onePage = (resources: string, content: string, annotations = "") => [
  "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << ${resources} >> /Contents 4 0 R${annotations && ` /Annots [${annotations}]`} >>`,
  `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
];

/**
 * A PDF whose font is not in the file and whose text is in one of the encodings that a reader has to know.
 * @param cmap name of the encoding, such as `90ms-RKSJ-H`
 * @param ordering collection of its characters, such as `Japan1`
 */
export const pdfWithCmap = (cmap: string, ordering: string, text: Uint8Array): Uint8Array =>
  pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    ...onePage("/Font << /F1 5 0 R >>", `BT /F1 12 Tf 50 700 Td <${Buffer.from(text).toString("hex")}> Tj ET`),
    `<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /${cmap} /DescendantFonts [6 0 R] >>`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Any /CIDSystemInfo << /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >> /FontDescriptor 7 0 R >>`,
    "<< /Type /FontDescriptor /FontName /Any /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
  ]);

/** A PDF with a form of these fields, each the entries of its dictionary. */
export const pdfForm = (fields: string[]): Uint8Array => {
  const references = fields.map((_, index) => `${5 + index} 0 R`).join(" ");
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${references}] >> >>`,
    ...onePage("", "", references),
    ...fields.map((entries) => `<< /Type /Annot /Subtype /Widget /Rect [0 0 100 20] ${entries} >>`),
  ]);
};
