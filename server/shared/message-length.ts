// Apart from the schemas that hold to them: a field that counts needs no more than the number.

/** Most characters of a message to the assistant. */
export const MAX_MESSAGE = 20_000;
/** Most characters of an answer to its question. */
export const MAX_ANSWER = 4000;
