// A command line as a shell takes it apart: bash and its like, or cmd.exe. Own code, because what the registry has for it knows
// neither $'…' nor the carets of cmd, or brings a whole grammar of bash along.

/** A command's words, and what follows the command (a pipe, a redirection, another command); or why it cannot be read. */
export type CommandWords = { words: string[]; rest: string } | { fault: string };

const UNCLOSED = { fault: "A quote in the command is not closed. Was all of it copied?" };

/** The words of the first command in a text. */
export const wordsOf = (text: string): CommandWords => (isCmd(text) ? cmdWords(text) : bashWords(text));

/** Browsers write commands for cmd.exe with a caret before each quote, and one at the end of each line. */
const isCmd = (text: string): boolean => /\s\^"|\^[ \t]*\r?\n/.test(text) && !/\\\r?\n/.test(text);

const BASH =
  /[\\`][ \t]*\r?\n|\\(?<escaped>[\s\S])|'(?<plain>[^']*)'|\$'(?<ansi>(?:\\[\s\S]|[^'\\])*)'|\$?"(?<quoted>(?:\\[\s\S]|[^"\\])*)"|(?<space>[ \t]+)|(?<comment>(?<=\s)#[^\n]*)|(?<end>[\r\n;|<>]|&(?=[&\s]|$))|(?<open>['"])|[^\s'"\\;|<>&$`]+|[\s\S]/gy;

function bashWords(text: string): CommandWords {
  const words: string[] = [];
  let word: string | undefined;
  const close = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  for (const { 0: part, index, groups = {} } of text.matchAll(BASH)) {
    const { escaped, plain, ansi, quoted, space, comment, end, open } = groups;
    if (open !== undefined) return UNCLOSED;
    if (end !== undefined && (words.length > 0 || word !== undefined)) {
      // Which stream goes elsewhere: 2>&1.
      if ((end === ">" || end === "<") && /^\d$/.test(word ?? "")) word = undefined;
      close();
      return { words, rest: text.slice(index).trim() };
    }
    if (space !== undefined || comment !== undefined || end !== undefined) close();
    else if (!/^[\\`][ \t]*\r?\n$/.test(part)) {
      const inner = ansi === undefined ? quoted?.replace(/\\\r?\n/g, "").replace(/\\([$`"\\])/g, "$1") : ansiText(ansi);
      word = (word ?? "") + (escaped ?? plain ?? inner ?? part);
    }
  }
  close();
  return { words, rest: "" };
}

const ANSI: Record<string, string> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", e: "\x1b", E: "\x1b", f: "\f", v: "\v" };

/** What stands between the quotes of $'…'. Bytes that are written as such are those of UTF-8. */
function ansiText(inner: string): string {
  return inner.replace(
    /(?<bytes>(?:\\x[\dA-Fa-f]{1,2})+)|\\u(?<short>[\dA-Fa-f]{1,4})|\\U(?<long>[\dA-Fa-f]{1,8})|\\(?<octal>[0-7]{1,3})|\\(?<sign>[\s\S])/g,
    (...match) => {
      const { bytes, short, long, octal, sign } = match.at(-1) as Record<string, string | undefined>;
      if (bytes !== undefined)
        return new TextDecoder().decode(Uint8Array.from(bytes.slice(2).split("\\x"), (hex) => Number.parseInt(hex, 16)));
      if (sign !== undefined) return ANSI[sign] ?? sign;
      const code = Number.parseInt(short ?? long ?? octal ?? "", octal === undefined ? 16 : 8);
      return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

/** First cmd.exe takes its carets away, then the program takes its words apart. */
function cmdWords(text: string): CommandWords {
  let line = "";
  let isQuoted = false;
  let rest = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === '"') isQuoted = !isQuoted;
    if (sign === "^" && !isQuoted) {
      // Before the end of a line: the next one goes on, and what it begins with is taken as it is.
      const ended = /^\^[ \t]*\r?\n/.exec(text.slice(at, at + 100));
      at += ended?.[0].length ?? 1;
      line += text.charAt(at);
    } else if (!isQuoted && /[\r\n|&<>]/.test(sign) && line.trim() !== "") {
      rest = text.slice(at).trim();
      break;
    } else line += sign;
  }
  const words: string[] = [];
  let word: string | undefined;
  let isInside = false;
  for (const { 0: part } of line.matchAll(/\\\\|\\"|""|"|[\s\S]/g)) {
    if (part === '"' || (part === '""' && !isInside)) {
      word ??= "";
      if (part === '"') isInside = !isInside;
    } else if (!isInside && /^\s$/.test(part)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + (part.length > 1 ? part.charAt(1) : part);
  }
  if (isInside) return UNCLOSED;
  if (word !== undefined) words.push(word);
  return { words, rest };
}
