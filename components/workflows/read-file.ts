/** What the REST API takes as a body, less what stands around the file (bytes). */
const MOST_BYTES = 4_000_000;

export type ReadFile = { file: Record<string, unknown> } | { fault: string };

/** The JSON object in a text that is to be a workflow, or what is wrong with it and what to do. */
export function parseFile(text: string): ReadFile {
  if (text.trim() === "") return { fault: "There is nothing in it. Choose a file that was exported from a workflow." };
  if (new Blob([text]).size > MOST_BYTES) return { fault: "It is larger than 4 MB, more than an import takes. Split the workflow first." };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { file: value as Record<string, unknown> };
    return { fault: "It is JSON, but no workflow. Choose a file that was exported here, or a React Flow graph with nodes and edges." };
  } catch {
    return { fault: "It is not JSON. Choose a .treadle.json file that was exported here, and paste it whole." };
  }
}
