const known = new WeakMap<readonly object[], string | null>();

/** Id of the one edge that is selected; null with none or several. Looked for once in each list, however many ask. */
export function onlySelected(edges: readonly { id: string; selected?: boolean }[]): string | null {
  const found = known.get(edges);
  if (found !== undefined) return found;
  const [first, ...others] = edges.filter((edge) => edge.selected);
  const only = first && others.length === 0 ? first.id : null;
  known.set(edges, only);
  return only;
}
