import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { brotliCompressSync, constants, createDeflate, deflateSync, gzipSync } from "node:zlib";
import { docxFile, zipFile } from "#server/testing/office-files.ts";

// Files of a few kilobytes that unpack to gigabytes.

/** A PDF file of these objects, the first of them its catalog. */
function pdfOf(objects: (string | Buffer)[]): Uint8Array {
  const parts: Buffer[] = [Buffer.from("%PDF-1.4\n")];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n")]);
    offsets.push(length);
    length += part.length;
    parts.push(part);
  }
  const table = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF`,
    ),
  );
  return new Uint8Array(Buffer.concat(parts));
}

/** Looks for runs of one byte only, which is all that there is here: the same result for a fifth of the time. */
const RUNS = { strategy: constants.Z_RLE };
const MEGABYTE = Buffer.alloc(1024 * 1024, " ");

/** That many megabytes of spaces, packed, without ever holding them. */
async function packedSpaces(megabytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  await pipeline(
    Readable.from(Array.from({ length: megabytes }, () => MEGABYTE)),
    createDeflate(RUNS),
    async (packed: AsyncIterable<Buffer>) => {
      for await (const part of packed) parts.push(part);
    },
  );
  return Buffer.concat(parts);
}

/** A PDF whose one page is `megabytes` of spaces, packed twice, which makes it a few kilobytes. */
export async function pdfBomb(megabytes: number): Promise<Uint8Array> {
  const packed = deflateSync(await packedSpaces(megabytes), { level: 9 });
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
    Buffer.concat([
      Buffer.from(`<< /Length ${packed.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n`),
      packed,
      Buffer.from("\nendstream"),
    ]),
  ]);
}

/** A Word file with a part that unpacks to `megabytes`; its directory says a thousandth of that. */
export const docxBomb = (megabytes: number): Uint8Array =>
  zipFile({ "word/document.xml": " ".repeat(megabytes * 1024 * 1024) }, megabytes * 1024, RUNS);

/** A Word file that unpacks to what may be unpacked, and whose paragraphs take many times that as a tree. */
export const docxTreeBomb = (paragraphs: number): Uint8Array =>
  docxFile(
    Array.from({ length: paragraphs }, () => ({ text: "" })),
    {},
  );

/** The body of an answer that decodes to `megabytes`, as a server may send it. */
export const encodedBomb = (encoding: "gzip" | "br", megabytes: number): Buffer => {
  const body = Buffer.alloc(megabytes * 1024 * 1024, " ");
  return encoding === "gzip" ? gzipSync(body, RUNS) : brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
};

/** A page of elements that stand this deep inside each other. */
export const deepPage = (depth: number): Buffer => Buffer.from(`<html><body>${"<div>".repeat(depth)}deep`);
