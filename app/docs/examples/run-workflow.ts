import { randomUUID } from "node:crypto";
import { follow, success, treadle } from "./client.ts";

const { execution_id } = success(
  await treadle.POST("/workflows/{workflow_id}/execute", {
    params: {
      path: { workflow_id: process.env.WORKFLOW_ID ?? "" },
      header: { "Idempotency-Key": randomUUID() }, // repeating this call starts nothing new
    },
    body: { input: "Write a line about looms." },
  }),
);
for await (const event of follow(execution_id)) {
  if (event.type === "node_delta") process.stderr.write(event.content);
  if (event.type === "execution_paused") console.log(`Waits for a person: ${event.title}`);
  if (event.type === "execution_complete") console.log(`${event.status}: ${event.output}`);
  if (event.type === "execution_failed") console.log(`failed: ${event.error}`);
}
