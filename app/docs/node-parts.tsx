import { z } from "zod";
import { guideText } from "#app/docs/guide-text.ts";
import { NodeRun, nodePages, pageOf, RUN_WORDS } from "#app/docs/nodes/node-example.ts";
import { type ApiSchema, describeSchema, typeName } from "#components/api-reference/openapi.ts";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { Link } from "#components/ui/link.tsx";
import { type NodeType, nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";

// What the pages of nodes are made of, beside their prose.

interface FieldSchema extends ApiSchema {
  template?: boolean;
  properties?: Record<string, FieldSchema>;
  items?: FieldSchema;
  anyOf?: FieldSchema[];
}

/** Every type of node, with what it does. */
export function NodeTable() {
  return (
    <table>
      <thead>
        <tr>
          <th>Node</th>
          <th>What it does</th>
        </tr>
      </thead>
      <tbody>
        {nodePages.map(({ href, label, summary }) => (
          <tr key={href}>
            <td>
              <Link href={href}>{label}</Link>
            </td>
            <td>{summary}.</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The fields of an object, those of what it holds behind them. */
function fieldsOf({ properties = {} }: FieldSchema, before = ""): [name: string, schema: FieldSchema][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${before}${name}`;
    const inner = [schema, ...(schema.anyOf ?? [])].flatMap((one) => [
      ...fieldsOf(one, `${path}.`),
      ...fieldsOf(one.items ?? {}, `${path}[].`),
    ]);
    return [[path, schema] as [string, FieldSchema], ...inner];
  });
}

const hasExpressions = ({ template, anyOf = [] }: FieldSchema): boolean => template === true || anyOf.some(hasExpressions);

/** False for a default of nothing at all. */
const saysMore = (preset: unknown): boolean => preset !== undefined && preset !== "" && JSON.stringify(preset).length > 2;

/** Every field of a node's data, as its schema has it. */
export function NodeFields({ type }: { type: NodeType }) {
  const schema = z.toJSONSchema(nodeDefinitions[type].config, { io: "input", unrepresentable: "any" });
  return (
    <table className="max-sm:block">
      <thead className="max-sm:sr-only">
        <tr>
          <th>Field</th>
          <th>Value</th>
          <th>Meaning</th>
        </tr>
      </thead>
      <tbody className="max-sm:block">
        {fieldsOf(schema as FieldSchema).map(([name, field]) => (
          <tr key={name} className="max-sm:flex max-sm:flex-wrap max-sm:gap-x-3 max-sm:border-b max-sm:py-1.5">
            <td className="max-sm:border-0 max-sm:p-0">
              <code>{name}</code>
            </td>
            <td className="max-sm:border-0 max-sm:p-0">
              {typeName(field)}
              {saysMore(field.default) && <span className="text-ink-faint"> default {JSON.stringify(field.default)}</span>}
            </td>
            <td className="max-sm:w-full max-sm:border-0 max-sm:p-0">
              {field.title && <strong>{field.title}. </strong>}
              {describeSchema(field)}
              {hasExpressions(field) && <span className="text-ink-faint"> Takes expressions.</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const runOf = async (type: NodeType) => NodeRun.parse(JSON.parse(await guideText(`nodes/${pageOf(type)}/run.json`)));

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A workflow with the node in it, to be copied into an import, and what a run of it is given and comes to. */
export async function NodeExample({ type }: { type: NodeType }) {
  const { run } = await runOf(type);
  return (
    <>
      <CodeBlock label="workflow" code={await guideText(`nodes/${pageOf(type)}/example.json`)} />
      <p>Copy it, and paste it under Import above the list of workflows. A run of it:</p>
      <table>
        <tbody>
          {Object.entries(run).map(([name, value]) => (
            <tr key={name}>
              <th scope="row" className="whitespace-nowrap">
                {RUN_WORDS[name as keyof typeof run]}
              </th>
              <td>
                <code className="whitespace-pre-wrap break-words">{shown(value)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** What stops the node: problems that are told before a run, and how a run fails. */
export async function NodeErrors({ type }: { type: NodeType }) {
  const { errors } = await runOf(type);
  return (
    <table>
      <thead>
        <tr>
          <th>When</th>
          <th>It says</th>
        </tr>
      </thead>
      <tbody>
        {errors.map(({ when, error }) => (
          <tr key={when}>
            <td>{when}</td>
            <td>{error}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
