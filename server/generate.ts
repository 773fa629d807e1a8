import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { settingGroups } from "#server/platform/settings-schema.ts";

// Writes what the forms of pages are told of their schemas, the registries of node types (what the engine runs, what the canvas draws, and icons and colours alone) and .env.example. A node type is one
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

/**
 * What a page's forms show before their schemas come, by file: beside each `…-form-schema.ts` a description of every object schema
 * that it exports.
 */
async function formFiles(): Promise<Record<string, string>> {
  const { describeField } = await import(join(root, "components/forms/describe-field.ts"));
  const written: Record<string, string> = {};
  for (const path of (await readdir(join(root, "components"), { recursive: true })).sort()) {
    if (!path.endsWith("-form-schema.ts")) continue;
    const source = `#components/${path}`;
    const schemas = Object.entries(await import(join(root, "components", path))).filter(([, value]) => value instanceof z.ZodObject);
    const forms = schemas.map(([name, schema]) => {
      const fields = Object.entries((schema as z.ZodObject).shape).map(([field, value]) => [field, describeField(value)]);
      return `export const ${name[0]?.toLowerCase()}${name.slice(1)}: LaterSchema<typeof ${name}> = {\n  fields: ${JSON.stringify(Object.fromEntries(fields))},\n  load: () => import("${source}").then((module) => module.${name}),\n};\n`;
    });
    const header = `// Written by server/generate.ts. Run \`npm run gen\` after a change of ${path.split("/").pop()}.\n`;
    const types = `import type { LaterSchema } from "#components/forms/use-form.ts";\nimport type { ${schemas.map(([name]) => name).join(", ")} } from "${source}";\n`;
    written[`components/${path.replace(/-schema\.ts$/, ".gen.ts")}`] = `${header}${types}\n${forms.join("\n")}`;
  }
  return written;
}

/** Icon and colour of each type alone: a list that shows them need not know what the types do. */
async function looks(): Promise<string> {
  const folder = "components/workflow-editor/nodes";
  const rows: string[] = [];
  const icons = new Set<string>();
  for (const file of await nodeFiles(folder, ".tsx")) {
    const text = await readFile(join(root, folder, `${file}.tsx`), "utf8");
    const [, icon, role] = /^ {2}icon: (\w+),\n {2}role: ("\w+"),$/m.exec(text) ?? [];
    if (icon === undefined) throw new Error(`${file}.tsx must say its icon and then its role, each in a line.`);
    icons.add(icon);
    rows.push(`  ${camel(file)}: { icon: ${icon}, role: ${role} },`);
  }
  const imports = [
    `import { ${[...icons].sort().join(", ")} } from "lucide-react";`,
    'import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";',
    'import type { NodeType } from "#server/workflow/nodes/registry.gen.ts";',
  ];
  return `${HEADER}${imports.join("\n")}\n\nexport const nodeLooks: Record<NodeType, Pick<NodeUi, "icon" | "role">> = {\n${rows.join("\n")}\n};\n`;
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

const wanted: Record<string, string> = {
  ...(await formFiles()),
  "server/workflow/nodes/registry.gen.ts": await engineRegistry(),
  "components/workflow-editor/nodes/registry.gen.ts": await uiRegistry(),
  "components/workflow-editor/nodes/looks.gen.ts": await looks(),
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
