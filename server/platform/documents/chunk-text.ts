/** A part of a document with its place: the path of headings, or the page. */
export interface Section {
  place: string;
  text: string;
}

/** A piece of a document that is found, read and cited as one. */
export type Chunk = Section;

/** How long a piece may be, in UTF-16 units. */
const MOST = 1000;
/** How much of the end of a piece the next one begins with, so that no thought is cut in two. */
const OVERLAP = 150;
/** With the overlap before it, a part still fits into one piece. */
const MOST_PART = MOST - OVERLAP;
const MOST_CHUNKS = 20_000;

type Range = [from: number, to: number];

const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });
const words = new Intl.Segmenter(undefined, { granularity: "word" });

/** Ranges that end after each match. */
function* splitAfter(text: string, pattern: RegExp): Generator<string> {
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const to = match.index + match[0].length;
    yield text.slice(from, to);
    from = to;
  }
  if (from < text.length) yield text.slice(from);
}

function* segments(text: string, segmenter: Intl.Segmenter): Generator<string> {
  for (const { segment } of segmenter.segment(text)) yield segment;
}

function* inSlices(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    // Not between the halves of a surrogate pair.
    const isInPair = /[\ud800-\udbff]/.test(text.charAt(from + MOST_PART - 1));
    const to = from + MOST_PART - (isInPair ? 1 : 0);
    yield text.slice(from, to);
    from = to;
  }
}

// From the best place to cut to the last resort. A language without blanks is cut between its words, and only what has no
// border at all (a long code) is cut anywhere.
const LEVELS: ((text: string) => Iterable<string>)[] = [
  (text) => splitAfter(text, /\n[^\S\n]*\n\s*/g),
  (text) => splitAfter(text, /\n/g),
  (text) => segments(text, sentences),
  (text) => splitAfter(text, /\s+/g),
  (text) => segments(text, words),
  inSlices,
];

/** Cuts a text into parts that each fit, each at the best border there is. */
function partsOf(text: string, from = 0, level = 0): Range[] {
  if (level > 0 && text.length <= MOST_PART) return [[from, from + text.length]];
  const split = LEVELS[level];
  if (!split) return [[from, from + text.length]];
  const ranges: Range[] = [];
  let at = from;
  for (const part of split(text)) {
    // One by one: a call takes no hundred thousand arguments, and a long log has as many lines.
    for (const range of partsOf(part, at, level + 1)) ranges.push(range);
    at += part.length;
  }
  return ranges;
}

/** Where the piece after one that ends at `end` begins: at a sentence of its last words, else at a word. */
function overlapStart(text: string, from: number, end: number): number {
  const earliest = Math.max(from + 1, end - OVERLAP);
  const tail = text.slice(earliest, end);
  // The first segment may have begun before the window, so it does not count.
  const starts = [...sentences.segment(tail)].slice(1).map(({ index }) => index);
  if (starts[0] !== undefined) return earliest + starts[0];
  const space = /\s+/.exec(tail);
  return space ? earliest + space.index + space[0].length : end;
}

function chunksOfSection({ place, text }: Section): Chunk[] {
  const parts = partsOf(text);
  const chunks: Chunk[] = [];
  let start = 0;
  let end = 0;
  const close = () => {
    const piece = text.slice(start, end).trim();
    if (piece) chunks.push({ place, text: piece });
  };
  for (const [, to] of parts) {
    // Blank ends do not count: they are cut off.
    if (text.slice(start, to).trimEnd().length > MOST && end > start) {
      close();
      const next = overlapStart(text, start, end);
      // A long part takes the room of the overlap.
      start = text.slice(next, to).trimEnd().length > MOST ? end : next;
    }
    end = to;
  }
  close();
  return chunks;
}

/**
 * Cuts a document into pieces of up to about 1,000 characters, on the borders of paragraphs where there are any, never in
 * the middle of a word. A piece begins with the last sentence of the one before, and never reaches beyond its section.
 * @returns at most 20,000 pieces, in reading order
 */
export function chunkText(sections: readonly Section[]): Chunk[] {
  const chunks: Chunk[] = [];
  for (const section of sections) {
    for (const chunk of chunksOfSection(section)) chunks.push(chunk);
    if (chunks.length >= MOST_CHUNKS) return chunks.slice(0, MOST_CHUNKS);
  }
  return chunks;
}
