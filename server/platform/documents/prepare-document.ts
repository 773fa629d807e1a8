import { type Chunk, chunkText } from "#server/platform/documents/chunk-text.ts";
import { type ReadOptions, readDocument } from "#server/platform/documents/read-document.ts";

/** A document, as it travels to the process that reads it. */
export interface RawDocument {
  bytes: Uint8Array;
  /** As `mediaTypeOf` gave it. */
  mediaType: string;
  options?: ReadOptions;
}

/** A document, ready to be stored and searched. */
export interface PreparedDocument {
  /** What the document itself says that it is called. */
  title: string | undefined;
  /** Charset that the bytes were decoded by; absent for PDF and DOCX. */
  charset?: string;
  text: string;
  /** A configuration of PostgreSQL's text search. */
  language: string;
  chunks: Chunk[];
}

/**
 * Reads the text out of a document and cuts it into pieces. A document can be made so that this takes minutes or gigabytes: call it in a
 * process of its own (`readDocumentApart`).
 * @throws AppError VALIDATION_ERROR that says what is wrong with the document
 */
export async function prepareDocument({ bytes, mediaType, options }: RawDocument): Promise<PreparedDocument> {
  const { title, charset, sections } = await readDocument(bytes, mediaType, options);
  const text = sections.map((section) => (section.place ? `${section.place}\n\n${section.text}` : section.text)).join("\n\n");
  return { title, ...(charset && { charset }), text, language: guessLanguage(text), chunks: chunkText(sections) };
}

// Words that are frequent in one language and rare in the others. Names are those of PostgreSQL's text search.
const COMMON: Record<string, string> = {
  english: "the and of to is that for with was are this have from not you which be by it",
  german: "der die und das ist nicht ein eine mit den auf für von dem sich auch wird sind im zu werden oder",
  french: "le les des et est une dans pour que qui sur pas avec du au sont par cette être ce vous",
  spanish: "el los las y es una en que por con para del se su no como más este lo son al",
  portuguese: "os as e é uma em que não para com do da dos das no na por mais ao são você",
  italian: "il gli e è una che di per con non del della sono nel alla più come lo questo si dei",
  dutch: "de het een en van is dat niet op te met voor zijn die aan er door wordt bij ook naar",
  swedish: "och att det som är en på för med av den till inte har om ett eller kan från",
  danish: "og at det er en på for med af den til ikke har om et eller kan fra der som",
  norwegian: "og å det er en på for med av den til ikke har om et eller kan fra som være",
  finnish: "ja on ei se että oli ovat mutta myös kun kuin tai joka hän sen voi ole",
  hungarian: "a az és hogy nem egy is van meg ez de csak már vagy mint el kell",
  romanian: "și este în nu la cu o pe care din să un mai sunt pentru au de prin",
  turkish: "ve bir bu için ile da de olarak çok daha gibi var ne olan kadar sonra değil",
};

const WORDS = Object.entries(COMMON).map(([language, words]) => [language, new Set(words.split(" "))] as const);

const SCRIPTS: [string, RegExp][] = [
  ["russian", /\p{Script=Cyrillic}/gu],
  ["greek", /\p{Script=Greek}/gu],
  ["arabic", /\p{Script=Arabic}/gu],
  ["hindi", /\p{Script=Devanagari}/gu],
];

/** How much of a text is looked at, in characters. */
const SAMPLE = 20_000;

/**
 * The language of a text, by its script and its most frequent small words.
 * @returns a configuration of PostgreSQL's text search; `simple` when nothing is clear
 */
export function guessLanguage(text: string): string {
  const sample = text.slice(0, SAMPLE).toLowerCase();
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  for (const [language, script] of SCRIPTS) if ((sample.match(script)?.length ?? 0) > letters / 2) return language;
  const words = sample.match(/\p{L}+/gu) ?? [];
  let best = { language: "simple", count: 0 };
  for (const [language, common] of WORDS) {
    const count = words.reduce((sum, word) => sum + Number(common.has(word)), 0);
    if (count > best.count) best = { language, count };
  }
  // One small word in ten is few for any of these languages; less is a list of names or a language that is not here.
  return best.count >= Math.max(1, words.length / 12) ? best.language : "simple";
}
