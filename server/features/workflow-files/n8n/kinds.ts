import { http } from "#server/features/workflow-files/n8n/http.ts";
import { aggregate, batches, merge, splitOut } from "#server/features/workflow-files/n8n/lists.ts";
import { set } from "#server/features/workflow-files/n8n/set.ts";
import { at, base, langchain, recordOf, type SourceNode, wordOf } from "#server/features/workflow-files/n8n/source.ts";
import { type Kind, pair } from "#server/features/workflow-files/n8n/step.ts";
import { branch, switches, wait } from "#server/features/workflow-files/n8n/ways.ts";

// What each node of n8n becomes here. What has no row becomes a note.

const MOST_CODE = 90_000;

const code: Kind = {
  type: "codeNode",
  data(step) {
    const p = step.source.parameters;
    const text = ["jsCode", "functionCode", "pythonCode"].map((key) => wordOf(at(p, key))).find(Boolean) ?? "";
    const language = at(p, "pythonCode") === undefined ? "JavaScript" : "Python of n8n";
    const lines = text
      .slice(0, MOST_CODE / 2)
      .split("\n")
      .map((line) => `# ${line}`.trimEnd());
    const head = [`# Write this in Python: it was ${language}. “text” is what came before; the last line says what comes out.`, "#"];
    return { inputs: [pair("text", step.inputs()[0] ?? "")], code: [...head, ...lines].join("\n").slice(0, MOST_CODE).toWellFormed() };
  },
};

const runsWorkflow: Kind = {
  type: "workflowNode",
  data(step) {
    const p = step.source.parameters;
    const id = at(p, "workflowId");
    const name = wordOf(at(id, "cachedResultName"), wordOf(at(id, "value"), wordOf(id)));
    if (name.includes("$workflow.id"))
      step.toDo("n8n ran this same workflow once more. None may run itself here: put that part into a workflow of its own.", "workflow_id");
    else step.toDo(`n8n ran ${name ? `“${name.slice(0, 120)}”` : "a workflow"} here. Import that one too, then choose it.`, "workflow_id");
    if (at(p, "options", "waitForSubWorkflow") === false) step.toDo("n8n did not wait for its end. Here the node waits.");
    const values = Object.entries(recordOf(at(p, "workflowInputs", "value"))).slice(0, 100);
    return { workflow_id: "", params: Object.fromEntries(values.map(([key, value]) => [key.slice(0, 100), step.text(value, "params")])) };
  },
};

const respond: Kind = {
  type: "outputNode",
  data(step) {
    const p = step.source.parameters;
    const kind = wordOf(at(p, "respondWith"), "firstIncomingItem");
    if (kind === "redirect" || kind === "binary")
      step.toDo(`n8n answered with a ${kind === "binary" ? "file" : "redirect"}. Here the answer is the value.`, "value");
    if (at(p, "options", "responseCode") !== undefined)
      step.toDo("n8n answered with a status of its own. Here the answer is 200 when the run completes.");
    const value = kind === "json" || kind === "text" ? step.text(at(p, "responseBody"), "value") : "";
    return { value, format: kind === "json" ? "json" : "passthrough" };
  },
  passes: true,
};

const stop: Kind = {
  type: "terminateNode",
  data: (step) => ({
    status: "failed",
    message: step.text(at(step.source.parameters, "errorMessage") ?? at(step.source.parameters, "errorObject"), "message"),
  }),
};

const KINDS: ReadonlyMap<string, Kind> = new Map([
  [base("httpRequest"), http],
  [base("set"), set],
  [base("if"), branch],
  [base("filter"), branch],
  [base("switch"), switches],
  [base("wait"), wait],
  [base("splitInBatches"), batches],
  [base("splitOut"), splitOut],
  [base("aggregate"), aggregate],
  [base("merge"), merge],
  [base("code"), code],
  [base("function"), code],
  [base("functionItem"), code],
  [base("executeWorkflow"), runsWorkflow],
  [base("respondToWebhook"), respond],
  [base("stopAndError"), stop],
]);

/** What a node of n8n becomes by the table; undefined for one that has no row. */
export const kindOf = ({ type }: SourceNode): Kind | undefined => KINDS.get(type);

const namedTypes = (...names: string[]): ReadonlySet<string> => new Set(names.map(base));

/** Nodes that shape what they are given, as a Code node can. */
const SHAPING = namedTypes(
  ...["itemLists", "summarize", "renameKeys", "compareDatasets", "html", "htmlExtract", "xml", "markdown", "dateTime", "crypto"],
  ...["extractFromFile", "convertToFile", "moveBinaryData", "readBinaryFile", "spreadsheetFile"],
);
/** Nodes that give the items they were given, fewer or in another order. */
const SORTING = namedTypes("limit", "sort", "removeDuplicates");

/** What a person can put in the place of a node that is not known here. */
export function replacement({ type }: SourceNode): string {
  if (SHAPING.has(type) || SORTING.has(type)) return "Do the same in a Code node";
  if (!type.startsWith(langchain(""))) return "Call its service by an HTTP node";
  return /vectorStore|retriever/i.test(type) ? "Add the documents to Knowledge, and ask an agent that has them" : "Ask an agent for it";
}

/** True for a note's node of which is read what came to it. */
export const givesItsInput = ({ type }: SourceNode): boolean => SORTING.has(type);

/** True for a node that does nothing: what leads to it leads on to what follows. */
export const isIdle = ({ type }: SourceNode): boolean => type === base("noOp") || type === base("executionData");
export const isSticky = ({ type }: SourceNode): boolean => type === base("stickyNote");
