import { expect, test } from "vitest";
import { CreateAgentInput, UpdateAgentInput } from "#server/features/agents/schema.ts";
import { importWorkflow } from "#server/features/workflow-files/import.ts";
import { ImportWorkflowInput } from "#server/features/workflow-files/schema.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { db } from "#server/platform/db/client.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

test("names with braces are refused where they are given, of nodes and of agents; dots and brackets are welcome", async () => {
  const admin = await database.newAdmin();
  const called = (label: string) => graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode", { label }] }, edges: ["t>o"] });
  const { id: workflow_id } = await createWorkflow(admin, { name: "Flow", ...called("GPT-4.1 [new]") });
  const refused = { code: "VALIDATION_ERROR", message: expect.stringContaining("leave braces out of the label") };
  await expect(createWorkflow(admin, { name: "Flow", ...called("{{x}}") })).rejects.toMatchObject(refused);
  await expect(updateWorkflow(admin, { workflow_id, ...called("a}") })).rejects.toMatchObject(refused);
  await expect(importWorkflow(admin, ImportWorkflowInput.parse({ file: called("{a") }))).rejects.toMatchObject(refused);

  const agent = { name: "GPT-4.1 [new]", llm_key_id: admin.project.id, model: "m" };
  expect(CreateAgentInput.safeParse(agent).success).toBe(true);
  for (const name of ["{", "a}b", "{{trigger.output}}"]) {
    expect(CreateAgentInput.safeParse({ ...agent, name }).error?.issues[0]?.message).toContain("Leave out braces");
    expect(UpdateAgentInput.safeParse({ agent_id: admin.project.id, name }).error?.issues[0]?.message).toContain("Leave out braces");
    const file = {
      ...{ format: "treadle-workflow", version: 1, name: "Flow", description: "", ...called("o") },
      requires: { agents: [{ key: "writer", name }], mcp_servers: [], rag_sources: [], skills: [], credentials: [] },
    };
    await expect(importWorkflow(admin, ImportWorkflowInput.parse({ file }))).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("Leave out braces"),
    });
  }

  // Saved before braces were refused: it goes on running.
  await db().workflowSnapshot.updateMany({ where: { workflow_id }, data: { graph: JSON.parse(JSON.stringify(called("{old}"))) } });
  await expect(executeWorkflow(admin, { workflow_id, input: "x" })).resolves.toMatchObject({ status: "pending" });
});
