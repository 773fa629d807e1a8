import { z } from "zod";
import { createSchema } from "zod-openapi";
import { type ApiDocument, type JsonSchema, objectsIn } from "#server/http/openapi/types.ts";
import { definitionOf, MAX_LABEL_LENGTH } from "#server/workflow/graph.ts";
import { nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";
import { Pinned } from "#server/workflow/schema.ts";

// The config of each node type in the document, from the schemas that a save checks.

/** Hints for forms, which say nothing to a client. */
const FORM_HINTS = ["template", "widget", "unit", "item", "advanced"];

/** Fields of `data` that nodes of every type have. */
const commonFields = z.looseObject({
  label: z.string().max(MAX_LABEL_LENGTH).optional().meta({ description: "Name in expressions, unique in the workflow", example: "Draft" }),
  disabled: z.boolean().optional().meta({ description: "true skips the node and passes on what leads to it. Default: false" }),
  pinned: Pinned.nullish().meta({ description: "Output that test runs take instead of running the node" }),
});

/** Name of a type's schema: `agentNode` is `AgentNode`. */
const schemaName = (type: string): string => type.charAt(0).toUpperCase() + type.slice(1);

/** Replaces the schema of a node by a union of those of its types, told apart by `type`. */
export function describeNodes(document: ApiDocument): void {
  const schemas = document.components.schemas ?? {};
  const base = schemas.GraphNode;
  if (!base) return;
  const mapping: Record<string, string> = {};
  for (const [type, { config }] of Object.entries(nodeDefinitions)) {
    const name = schemaName(type);
    const made = createSchema(commonFields.extend(config.shape), { io: "input", openapiVersion: "3.1.0" });
    const { schema, components } = JSON.parse(JSON.stringify(made)) as { schema: JsonSchema; components: Record<string, JsonSchema> };
    for (const part of objectsIn([schema, components]))
      for (const hint of FORM_HINTS) if (typeof part[hint] !== "object") delete part[hint];
    mapping[type] = `#/components/schemas/${name}`;
    schemas[name] = {
      ...base,
      title: definitionOf(type)?.title ?? name,
      description: definitionOf(type)?.summary ?? "",
      properties: { ...base.properties, type: { type: "string", const: type }, data: { $ref: `#/components/schemas/${name}Data` } },
    };
    Object.assign(schemas, { ...components, ...schemas, [`${name}Data`]: schema });
  }
  schemas.GraphNode = {
    description: "A node of a workflow; `type` says which fields `data` has",
    oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
    discriminator: { propertyName: "type", mapping },
  };
}
