import { at, isRecord, type Json, numberIn, recordOf, type SourceNode, shown, wordOf } from "#server/features/workflow-files/n8n/source.ts";
import { after, credentialName, type Kind, outputOf, pair, rows, type Step } from "#server/features/workflow-files/n8n/step.ts";
import { eachExpression } from "#server/workflow/expression-scan.ts";

// HTTP Request of n8n, whose settings have had other names in each version.

export const METHODS: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
/** The service sets them itself. */
const SET_BY_US = /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|accept-encoding|proxy-.*)$/i;

/** Names and values, of a list as n8n has had it under several names, or of a JSON object in a text. */
function pairs(step: Step, list: unknown, json: unknown, field: string) {
  const found = rows(list).map((row) => pair(step.text(at(row, "name")).slice(0, 200), step.text(at(row, "value"), field)));
  if (wordOf(json) === "") return found;
  try {
    const object: unknown = JSON.parse(step.text(json, field));
    if (isRecord(object)) return [...found, ...Object.entries(object).map(([name, value]) => pair(name, shown(value)))];
  } catch {
    // Not JSON before it is filled in: a person has to look.
  }
  step.toDo(`n8n put the ${field} together as JSON. Write them as names and values: ${wordOf(json).slice(0, 300)}`, field);
  return found;
}

function authOf(step: Step): Json {
  const { parameters, credentials } = step.source;
  const kind = wordOf(
    at(parameters, "genericAuthType"),
    wordOf(at(parameters, "nodeCredentialType"), wordOf(at(parameters, "authentication"))),
  );
  if (wordOf(at(parameters, "authentication"), "none") === "none" && credentials.length === 0) return { kind: "none", credential: "" };
  const chosen = credentials.find((one) => one.kind === kind) ?? credentials[0];
  const credential = credentialName(chosen?.name || chosen?.kind || kind);
  const told = (message: string) => step.toDo(`${message} Add its secret to the project’s credentials as ${credential}.`, "auth");
  if (/basic/i.test(kind)) {
    told("n8n signed in with a user name and a password.");
    return { kind: "basic", credential, username: "" };
  }
  if (/header/i.test(kind)) {
    told("n8n sent a header of its credential. Say which header.");
    return { kind: "header", credential, header: "" };
  }
  if (/query/i.test(kind)) told(`n8n put a secret into the address. Write it into the query as {{credentials.${credential}}}.`);
  else if (/oauth/i.test(kind)) told("n8n signed in by OAuth, which is not done here. Use a token of that service instead.");
  else told(`n8n used its credential of the kind ${kind || "that the node has"}, taken here for a bearer token.`);
  return /query/i.test(kind) ? { kind: "none", credential: "" } : { kind: "bearer", credential };
}

function bodyOf(step: Step): Json {
  const p = step.source.parameters;
  const isNew = step.source.version >= 3;
  const isSent = isNew ? at(p, "sendBody") === true : /^(?:POST|PUT|PATCH)$/.test(wordOf(at(p, "requestMethod")));
  if (!isSent) return { body_type: "none" };
  const type = wordOf(at(p, isNew ? "contentType" : "options"), wordOf(at(p, "options", "bodyContentType"), "json"));
  const json = isNew
    ? at(p, "specifyBody") === "json" && at(p, "jsonBody")
    : at(p, "jsonParameters") === true && at(p, "bodyParametersJson");
  const list = at(p, "bodyParameters", "parameters") ?? at(p, "bodyParametersUi", "parameter");
  if (type === "multipart-form-data" || type === "binaryData") {
    step.toDo("n8n sent a file, which an HTTP node does not. Send its text, or its address.", "body");
    return { body_type: "form", body: pairs(step, list, "", "body") };
  }
  if (type.startsWith("form")) return { body_type: "form", body: pairs(step, list, json, "body") };
  if (type === "raw") return { body_type: "text", body: step.text(at(p, "body"), "body") };
  if (typeof json === "string") return { body_type: "json", body: step.text(json, "body") };
  const fields = pairs(step, list, "", "body").map(({ name, value }) => `${JSON.stringify(name)}: ${jsonValue(value)}`);
  return { body_type: "json", body: fields.length ? `{ ${fields.join(", ")} }` : "{}" };
}

/** A text as a value within a template of JSON: one that is an expression alone keeps its kind. */
const jsonValue = (text: string): string => {
  const [found] = eachExpression(text);
  const only = found?.source === text ? text.slice(2, -2) : undefined;
  return only === undefined ? JSON.stringify(text) : /\.output\s*$/.test(only) ? JSON.stringify(text) : `{{${only} | json}}`;
};

const isFull = ({ parameters }: SourceNode) =>
  at(parameters, "options", "response", "response", "fullResponse") === true || at(parameters, "options", "fullResponse") === true;

export const http: Kind = {
  type: "httpNode",
  data(step) {
    const p = step.source.parameters;
    const options = recordOf(at(p, "options"));
    const method = wordOf(at(p, "method"), wordOf(at(p, "requestMethod"), "GET"));
    if (!METHODS.includes(method)) step.toDo(`n8n asked by ${method.slice(0, 100)}. Choose the method.`, "method");
    for (const name of ["pagination", "batching", "proxy"])
      if (at(options, name) !== undefined)
        step.toDo(`n8n had the option ${name} here, which an HTTP node does not have. See whether it is missed.`);
    const isFile = wordOf(at(options, "response", "response", "responseFormat"), wordOf(at(p, "responseFormat"))) === "file";
    if (isFile) step.toDo("n8n kept the answer as a file. Here it is text.");
    const seconds = Math.round(numberIn(at(options, "timeout")) / 1000);
    const headers = pairs(
      step,
      at(p, "headerParameters", "parameters") ?? at(p, "headerParametersUi", "parameter"),
      at(p, "jsonHeaders") ?? at(p, "headerParametersJson"),
      "headers",
    );
    const retries = step.source.retries;
    return {
      method: METHODS.includes(method) ? method : "GET",
      url: step.text(at(p, "url"), "url"),
      query: pairs(
        step,
        at(p, "queryParameters", "parameters") ?? at(p, "queryParametersUi", "parameter"),
        at(p, "jsonQuery") ?? at(p, "queryParametersJson"),
        "query",
      ),
      headers: headers.filter(({ name }) => !SET_BY_US.test(name)),
      auth: authOf(step),
      ...bodyOf(step),
      ...(seconds >= 1 && { timeout: Math.min(300, seconds) }),
      ...(retries !== undefined && { retries }),
      ...(at(options, "response", "response", "neverError") === true && { accept: "any" }),
      ...(at(options, "redirect", "redirect", "followRedirects") === false && { follow_redirects: false }),
    };
  },
  reads({ label, source }, path) {
    if (!isFull(source)) return outputOf(label, path);
    const body = after(path, "body");
    if (body) return outputOf(label, body);
    const headers = after(path, "headers");
    if (headers) return { head: label, field: "headers", path: headers };
    return path[0] === "statusCode" ? { head: label, field: "status", path: [] } : undefined;
  },
};
