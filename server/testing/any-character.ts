import fc from "fast-check";

/** Of the surrogates, which are halves of a character, and how many they are. */
const [FIRST_HALF, HALVES] = [0xd800, 0x800];

/**
 * Any character of Unicode, for texts. What fast-check has for it (`unit: "binary"`) writes a table of all 1.1 million for each kind
 * of text that it is used for.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - HALVES })
  .map((number) => String.fromCodePoint(number < FIRST_HALF ? number : number + HALVES));
