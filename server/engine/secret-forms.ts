/** Shorter secrets are not masked: they would garble every text (contract, section 3). */
export const SHORTEST = 6;
/** Base64 of fewer characters could be anything. */
const SHORTEST_BASE64 = 8;

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const inAscii = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What Base64 of any text makes of the secret in it: that depends on where in the text it begins, modulo three bytes. */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    // Characters at both ends also hold bits of what stands around.
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
}

const encoded = (text: string, characters: RegExp): string => text.replace(characters, (part) => encodeURIComponent(part));

/** In a URL: as a part of its own, and as an address that holds it is read (WHATWG: the path, the query). */
function inUrl(text: string): string[] {
  const path = /[\0-\x20"<>#?`{}\x7f-\uffff]+/g;
  const query = /[\0-\x20"<>#\x7f-\uffff]+/g;
  const forms = [encodeURIComponent(text), encodeURI(text), encoded(text.replaceAll("\\", "/"), path), encoded(text, query)];
  const small = forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  return [...forms, ...small].flatMap((form) => [form, form.replaceAll("%20", "+")]);
}

/**
 * The spellings in which a secret is recognised: as it is, with its line breaks made blanks, inside JSON (once or twice,
 * also with other letters as \uXXXX), inside a URL or a form, and in Base64. None for a secret that is too short.
 */
export function secretForms(secret: string): string[] {
  if (secret.length < SHORTEST) return [];
  const json = inJson(secret);
  const base64 = inBase64(secret).filter((form) => form.length >= SHORTEST_BASE64);
  const forms = [
    secret,
    secret.replace(/\s+/g, " "),
    json,
    inAscii(json),
    inJson(json),
    ...inUrl(secret.toWellFormed()),
    ...base64,
    ...base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_")),
  ];
  return [...new Set(forms)].filter((form) => form.length >= SHORTEST);
}
