import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { settingGroups } from "#server/platform/settings-schema.ts";

// Writes the two registries of node types (what the engine runs, and what the canvas draws) and .env.example. A node type is one
// file in server/workflow/nodes and one in components/workflow-editor/nodes; forgetting the second is a compile error
// (`satisfies NodeUiRegistry`).

const root = join(import.meta.dirname, "..");
const HEADER = "// Written by server/generate.ts. Run `npm run gen` after adding a node type.\n";

const camel = (file: string) => file.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

async function nodeFiles(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(join(root, folder));
  return names
    .filter((name) => name.endsWith(`-node${ending}`))
    .map((name) => name.slice(0, -ending.length))
    .sort();
}

async function engineRegistry(): Promise<string> {
  const files = await nodeFiles("server/workflow/nodes", ".ts");
  const imports = files.map((file) => `import { ${camel(file)} } from "#server/workflow/nodes/${file}.ts";`);
  return `${HEADER}${imports.join("\n")}\n\nexport const nodeDefinitions = { ${files.map(camel).join(", ")} } as const;\nexport type NodeType = keyof typeof nodeDefinitions;\n`;
}

async function uiRegistry(): Promise<string> {
  const files = await nodeFiles("components/workflow-editor/nodes", ".tsx");
  const imports = files.map((file) => `import { ${camel(file)}Ui } from "#components/workflow-editor/nodes/${file}.tsx";`);
  const rows = files.map((file) => `  ${camel(file)}: ${camel(file)}Ui,`);
  const types = 'import type { NodeUiRegistry } from "#components/workflow-editor/nodes/types.ts";';
  return `${HEADER}${[...imports, types].join("\n")}\n\nexport const nodeUis = {\n${rows.join("\n")}\n} satisfies NodeUiRegistry;\n`;
}

/** Lines of at most 120 characters, as comments. */
const comment = (text: string): string => `# ${text.replace(/(.{1,118})(?: |$)/g, "$1\n# ").slice(0, -3)}`;

/** A default with a blank in it would need quotes, which not everybody who reads such files takes off: an empty one means it, too. */
const settingsExample = (): string =>
  [
    comment("Every setting. All are optional on one machine: `npm start` alone works. An empty value counts as not set."),
    comment("Written by server/generate.ts from server/platform/settings-schema.ts."),
    ...settingGroups.flatMap(({ title, rows }) => [
      `\n# ---- ${title} ----`,
      ...rows.map(({ name, preset, meaning }) => `\n${comment(meaning)}\n${name}=${preset?.includes(" ") ? "" : (preset ?? "")}`),
    ]),
    "",
  ].join("\n");

const wanted = {
  "server/workflow/nodes/registry.gen.ts": await engineRegistry(),
  "components/workflow-editor/nodes/registry.gen.ts": await uiRegistry(),
  ".env.example": settingsExample(),
};
const isCheck = process.argv.includes("--check");
const stale: string[] = [];
for (const [file, text] of Object.entries(wanted)) {
  if ((await readFile(join(root, file), "utf8").catch(() => "")) === text) continue;
  if (isCheck) stale.push(file);
  else await writeFile(join(root, file), text);
}
if (stale.length) {
  process.stderr.write(`Not up to date, run \`npm run gen\`: ${stale.join(", ")}\n`);
  process.exitCode = 1;
}
