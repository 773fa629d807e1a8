/** Text that PostgreSQL can keep: without U+0000, and with halves of surrogate pairs replaced by U+FFFD. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll("\u0000", "");

/** Parses JSON with every text in it cleaned, keys included where they would be refused. */
export const parseCleanJson = (text: string): unknown =>
  JSON.parse(text, (_, value) => (typeof value === "string" ? cleanText(value) : value));
