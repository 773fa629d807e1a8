const MOST_NAMED = 10;

/** The users of a resource in words: `the agent "Scout"`, `the agents "Scout", "Writer" and 3 more`. */
export function namesInUse(kind: string, users: readonly { name: string }[]): string {
  const named = users.slice(0, MOST_NAMED).map(({ name }) => `"${name}"`);
  const more = users.length - named.length;
  const parts = more > 0 ? [...named, `${more} more`] : named;
  const last = parts.pop() ?? "";
  return `the ${kind}${users.length === 1 ? "" : "s"} ${parts.length ? `${parts.join(", ")} and ${last}` : last}`;
}
