import type { Prisma } from "#prisma/generated/client.ts";

/**
 * JSON that may hold anything (a graph, a schema, what a model or a server says), as Prisma takes it for a column.
 *
 * Left to itself, Prisma copies each object key by key and takes some keys for its own: it loses `__proto__` and
 * `__prismaRawParameters__`, and throws at `{"__proto__": null}` and `{"$type": ""}`. What has a `toJSON` is taken over as that
 * gives it; this is how Prisma itself passes JSON on to its query compiler, as one text.
 */
export const jsonColumn = (value: object): Prisma.InputJsonValue => jsonTextColumn(JSON.stringify(value));

/** The same of a value that is JSON text already. */
export function jsonTextColumn(text: string): Prisma.InputJsonValue {
  const json = { $type: "Json", value: text };
  return { toJSON: () => json };
}
