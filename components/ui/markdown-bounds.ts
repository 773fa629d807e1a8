// The parser's time grows with the square or cube of nested lists and quotes, and with the square of delimiters in one block.

/** Characters. */
const MAX_LENGTH = 50_000;
const MAX_LINES = 3000;
/** Bars, each of which may begin a cell of a table. */
const MAX_BARS = 5000;
/** List and quote markers at the beginning of lines. */
const MAX_MARKERS = 1000;
/** Markers that open a container (inside another one, or after a line or quote that ended), and underlines of headings. */
const MAX_NESTED_MARKERS = 300;
/** Markers on one line. */
const MAX_MARKERS_PER_LINE = 20;
/** Runs of emphasis, brackets and table bars between two blank lines. */
const MAX_DELIMITERS_PER_BLOCK = 1000;

const MARKER = /[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)|\[\^[^\]\s]{1,100}\]:)/y;
const DELIMITER = /\*+|_+|~+|`+|[[\]<]|(?:www\.|:\/\/|@)/g;

/** Number of list and quote markers at the beginning of a line, at most MAX_MARKERS_PER_LINE + 1. */
function countMarkers(line: string): number {
  let count = 0;
  MARKER.lastIndex = 0;
  while (count <= MAX_MARKERS_PER_LINE && MARKER.test(line)) count++;
  return count;
}

/** True for a text whose length, nesting and number of delimiters the parser handles quickly. Takes time linear in the text. */
export function isQuickMarkdown(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  let markers = 0;
  let nested = 0;
  let delimiters = 0;
  let bars = 0;
  let isAfterContainer = false;
  let isAfterBlank = true;

  const lines = text.split(/\r\n?|\n/);
  if (lines.length > MAX_LINES) return false;

  for (const line of lines) {
    if (line.trim() === "") {
      delimiters = 0;
      isAfterBlank = true;
      continue;
    }
    const count = countMarkers(line);
    const isIndented = /^[ \t]/.test(line);
    markers += count;
    const isContinued = isAfterContainer && !isIndented && !(isAfterBlank && line.startsWith(">"));
    if (count > 0) nested += isContinued ? count - 1 : count;
    if (/^ {0,3}=+[ \t]*$/.test(line)) nested++;
    isAfterBlank = false;
    isAfterContainer = count > 0 || (isAfterContainer && isIndented);
    delimiters += line.match(DELIMITER)?.length ?? 0;
    bars += line.split("|").length - 1;
    if (count > MAX_MARKERS_PER_LINE || markers > MAX_MARKERS || nested > MAX_NESTED_MARKERS) return false;
    if (delimiters > MAX_DELIMITERS_PER_BLOCK || bars > MAX_BARS) return false;
  }
  return true;
}
