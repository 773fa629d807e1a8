import { ThreadEvent } from "#server/features/assistant/schema.ts";

/** Names of the events of a thread. */
export const types = ThreadEvent.options.map((option) => option.shape.type.value);

/** An event as it was read; undefined for one of a kind that this version does not know. */
export const parse = (read: unknown): ThreadEvent | undefined => ThreadEvent.safeParse(read).data;
