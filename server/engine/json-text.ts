/** Text as JSON text of the value that it stands for: an object or a list as it is, anything else as a string (contract, section 4). */
export function embedded(text: string): string {
  const bare = text.trim();
  const isContainer = (bare.startsWith("{") && bare.endsWith("}")) || (bare.startsWith("[") && bare.endsWith("]"));
  if (isContainer) {
    try {
      JSON.parse(bare);
      return bare;
    } catch {
      // Text that only looks like JSON stays text.
    }
  }
  return JSON.stringify(text);
}

/** A JSON array of texts, those that are JSON embedded as such. */
export const listText = (texts: readonly string[]): string => `[${texts.map(embedded).join(",")}]`;

/** A JSON object of texts by name, those that are JSON embedded as such. */
export const objectText = (entries: readonly (readonly [string, string])[]): string =>
  `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${embedded(text)}`).join(",")}}`;
