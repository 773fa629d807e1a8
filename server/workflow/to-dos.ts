import { z } from "zod";

// What an import of another program's file left to a person, kept in the data of the node that it is about: it goes where the node
// goes, and with it when that is deleted. It stops no run; what would is told among the problems.

/** In the address of the editor: it comes open with the list of them. */
export const CHECK_LIST = "#check-list";

/** Most of one node. */
export const MOST_TO_DOS = 30;

const ToDo = z.strictObject({ field: z.string().max(100).nullable(), message: z.string().min(1).max(1000) });
export type ToDo = z.infer<typeof ToDo>;

const ToDos = z.array(ToDo).max(MOST_TO_DOS);
const NONE: readonly ToDo[] = [];

/** What is left to do at a node; nothing where its data says so in no way that can be read. */
export function toDosOf(data: Readonly<Record<string, unknown>> | undefined): readonly ToDo[] {
  return data?.to_do === undefined ? NONE : (ToDos.safeParse(data.to_do).data ?? NONE);
}
