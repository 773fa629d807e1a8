import { graphOf } from "#e2e/api/graphs.ts";
import type { World } from "#server/testing/api/world.ts";

export const cron = { cron_expression: "0 8 * * 1", timezone: "Europe/Berlin", default_input: "Monday" };

/** A graph with every type of node, and every field of their configs. */
export const everyNode = ({ ids, mark }: World) =>
  graphOf(
    {
      t: [
        "trigger",
        {
          kind: "params",
          parameters: [{ name: "city", label: "City", type: "select", required: true, default: "Oslo", options: ["Oslo", "Como"] }],
          input_label: "Where",
          payload_path: "$.a",
          ...cron,
          active: true,
          allowed_methods: ["POST"],
          response_mode: "async",
        },
      ],
      a: ["agent", { agent_id: ids.agent, input: "Go to {{trigger.city}}", timeout: 60, on_error: "continue", retries: 1 }],
      b: ["branch", { condition: "len(output) > 3" }],
      l: ["loop", { items_expression: '["a", "b"]', max_iterations: 10, concurrency: 2, on_item_error: "continue" }],
      i: ["output", { value: "{{l.current_item}}", format: "markdown" }],
      h: [
        "humanLoop",
        { title: mark, description: "Look", timeout_hours: 0.5, notification_email: "a@example.com", display_value: "{{a.output}}" },
      ],
      o: ["output", { value: "{{h.comment}}", format: "json" }],
      x: ["terminate", { status: "failed", message: "No" }],
      n: ["note", { content: "# Note", color: "blue" }],
    },
    ["t>a", "a>b", "b.true>l", "l.body>i", "b.false>h", "h.approved>o", "h.rejected>x"],
  );

/** A file with an agent, and a graph with something of everything that files tell apart. */
export const workflowFile = ({ name }: Pick<World, "name">) => ({
  format: "treadle-workflow",
  version: 1,
  name: name(),
  description: "All",
  ...graphOf(
    { t: ["trigger", { kind: "manual" }], a: ["agent", { agent_id: "writer", input: "{{credentials.CRM_TOKEN}}" }], o: ["output"] },
    ["t>a", "a>o"],
  ),
  requires: {
    agents: [
      {
        key: "writer",
        name: name(),
        description: "Writes",
        provider: "openai",
        model: "echo",
        system_prompt: "Be brief",
        temperature: 0.5,
        max_tokens: 100,
        tools: ["web_search"],
        output_schema: { type: "object" },
        mcp_servers: [],
        rag_sources: ["Handbook"],
        skills: ["Style"],
      },
    ],
    mcp_servers: [],
    rag_sources: [{ name: "Handbook" }],
    skills: [{ name: "Style", description: "", prompt: "Plain words.", model: "" }],
    credentials: ["CRM_TOKEN"],
  },
});
