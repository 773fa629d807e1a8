/** Shorter secrets are not masked: they would garble every text (contract, section 3). */
export const SHORTEST = 6;
/** Base64 of fewer characters could be anything. */
const SHORTEST_BASE64 = 8;

/** What each character counts as, by its code: the small letter, and of every blank the same. Made when it is first asked for. */
let folds: Uint16Array | undefined;

function allFolds(): Uint16Array {
  const table = new Uint16Array(0x1_0000);
  for (let code = 0; code < table.length; code++) {
    const character = String.fromCharCode(code);
    const small = character.toLowerCase();
    table[code] = /\s/.test(character) ? 0x20 : small.length === 1 ? small.charCodeAt(0) : code;
  }
  return table;
}

/** By the code of a character: the code that it is compared by. Letters in either case are the same, and so are all blanks. */
export function foldTable(): Uint16Array {
  folds ??= allFolds();
  return folds;
}

/** A text as it is compared; as long as before. */
export function folded(text: string): string {
  const table = foldTable();
  let result = "";
  for (let index = 0; index < text.length; index++) result += String.fromCharCode(table[text.charCodeAt(index)] ?? 0);
  return result;
}

/** What Base64 of any text makes of the secret in it: that depends on where in the text it begins, modulo three bytes. */
function inBase64(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    // Characters at both ends also hold bits of what stands around.
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const long = forms.filter((form) => form.length >= SHORTEST_BASE64);
  return [...long, ...long.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** Bytes as hexadecimal digits, together or apart. */
function inHex(bytes: Buffer): string[] {
  const pairs = [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));
  return ["", " ", ":"].map((between) => pairs.join(between));
}

/**
 * What a secret is recognised by, folded: as it is, with its line breaks made blanks, as an address is read, in Base64 and
 * in hexadecimal. What escapes single characters (JSON, Markdown, HTML, URLs) needs no forms: server/platform/masking/secret-finder.ts
 * reads through it. None for a secret that is too short.
 */
export function secretForms(secret: string): string[] {
  if (secret.length < SHORTEST) return [];
  const bytes = Buffer.from(secret.toWellFormed());
  const forms = [
    secret,
    // Of some letters the other case is two.
    secret.toUpperCase(),
    secret.toLowerCase(),
    secret.replace(/\s+/g, " "),
    secret.replaceAll("\\", "/"),
    ...inBase64(bytes),
    ...inHex(bytes),
  ];
  return [...new Set(forms.map(folded))].filter((form) => form.length >= SHORTEST);
}
