/**
 * Up to `most` bytes of a body; the rest is not waited for.
 * @returns isCut: the body was longer, and `bytes` is its beginning
 */
export async function readUpTo({ body }: Request | Response, most: number): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    chunks.push(value);
    if (size > most) {
      await reader.cancel().catch(() => undefined);
      return { bytes: Buffer.concat(chunks).subarray(0, most), isCut: true };
    }
  }
  return { bytes: Buffer.concat(chunks), isCut: false };
}
