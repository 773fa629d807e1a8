const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True when PostgreSQL takes the text as a uuid. Ask before any query: a malformed id is simply not found. */
export const isUuid = (text: string): boolean => UUID.test(text);
