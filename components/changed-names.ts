/** Resources that an answer names: the first ones, and how many there are. */
interface Changed {
  items: readonly { name: string }[];
  total: number;
}

/** Names that a toast shows. */
const MAX_NAMED = 3;

/** Formats resources that a change was written into, such as “A”, “B” and 2 more. */
export function formatChanged({ items, total }: Changed): string {
  const named = items.slice(0, MAX_NAMED).map(({ name }) => `“${name}”`);
  const more = total - named.length;
  return [named.join(", "), ...(more > 0 ? [`${more} more`] : [])].join(" and ");
}
