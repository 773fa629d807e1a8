import type { BuiltRequest } from "#components/api-reference/request.ts";

// The same call in other words. The key never stands in them, only the variable that holds it.

interface SnippetOptions {
  /** Address before the path. */
  base: string;
  needsKey: boolean;
}

/** Text inside single quotes of a shell. */
const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlSnippet({ method, path, headers, body }: BuiltRequest, { base, needsKey }: SnippetOptions): string {
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}${shell(base + path)}`,
    ...(needsKey ? ['-H "Authorization: Bearer $TREADLE_KEY"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shell(body)}`]),
  ].join(" \\\n  ");
}

const indented = (text: string, by: string) => text.replaceAll("\n", `\n${by}`);

export function fetchSnippet({ method, path, headers, body }: BuiltRequest, { base, needsKey }: SnippetOptions): string {
  const lines = [
    ...(method === "GET" ? [] : [`  method: ${JSON.stringify(method)},`]),
    ...(needsKey || Object.keys(headers).length
      ? [
          "  headers: {",
          // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code that is shown
          ...(needsKey ? ["    Authorization: `Bearer ${process.env.TREADLE_KEY}`,"] : []),
          ...Object.entries(headers).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
          "  },",
        ]
      : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(body, "  ")}),`]),
  ];
  const options = lines.length ? `, {\n${lines.join("\n")}\n}` : "";
  return `const response = await fetch(${JSON.stringify(base + path)}${options});\nconsole.log(response.status, await response.text());`;
}

/** JSON as Python writes it: True, False and None. */
function python(value: unknown, indent: string): string {
  const inner = `${indent}    `;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value))
    return value.length ? `[\n${value.map((item) => `${inner}${python(item, inner)},\n`).join("")}${indent}]` : "[]";
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value);
  if (!entries.length) return "{}";
  return `{\n${entries.map(([name, item]) => `${inner}${JSON.stringify(name)}: ${python(item, inner)},\n`).join("")}${indent}}`;
}

export function pythonSnippet({ method, path, headers, body }: BuiltRequest, { base, needsKey }: SnippetOptions): string {
  const imports = ["import json", ...(needsKey ? ["import os"] : []), "import urllib.request"];
  const allHeaders = [
    ...(needsKey ? [`        "Authorization": f"Bearer {os.environ['TREADLE_KEY']}",`] : []),
    ...Object.entries(headers).map(([name, value]) => `        ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
  ];
  const lines = [
    `    ${JSON.stringify(base + path)},`,
    `    method=${JSON.stringify(method)},`,
    ...(allHeaders.length ? ["    headers={", ...allHeaders, "    },"] : []),
    ...(body === undefined ? [] : [`    data=json.dumps(${python(JSON.parse(body), "    ")}).encode(),`]),
  ];
  return `${imports.filter((line) => line !== "import json" || body !== undefined).join("\n")}\n\nrequest = urllib.request.Request(\n${lines.join("\n")}\n)\nwith urllib.request.urlopen(request) as response:\n    print(response.status, response.read().decode())`;
}
