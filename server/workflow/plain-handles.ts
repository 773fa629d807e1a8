/** An edge without the names "output" and "input", by which ports that have none may be called. */
export function withoutPlainHandles<Edge extends { sourceHandle?: unknown; targetHandle?: unknown }>(edge: Edge): Edge {
  const { sourceHandle, targetHandle, ...rest } = edge;
  const named = { ...(sourceHandle !== "output" && { sourceHandle }), ...(targetHandle !== "input" && { targetHandle }) };
  // cast: what is left out may be left out
  return { ...rest, ...Object.fromEntries(Object.entries(named).filter(([, name]) => name !== undefined)) } as Edge;
}
