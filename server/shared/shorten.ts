/** Cuts a text to `max` characters, the last of which is then an ellipsis. */
export const shorten = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1).toWellFormed()}…` : text);
